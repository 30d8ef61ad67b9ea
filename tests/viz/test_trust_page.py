"""Claims, checks, accuracy and many words without a browser: what the server answers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.models.representatives import REPRESENTATIVES
from tests.viz.page_client import asked, filled

from stacklens.core.errors import StacklensError
from stacklens.extract.by_name import specification_of
from stacklens.extract.claims import disagreements_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.models.checkpoint import ZOO
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction, shipped
from stacklens.viz.dashboard.networks import checkpoint_of, keep_upload
from stacklens.viz.dashboard.opening import keep_file
from stacklens.viz.dashboard.panels import LONGEST, claims_with_words, judged_words, panel_lines, words_to_try

NAME = "nnpda-1n0n"
UNSEEN = "nnpda-parentheses"
SMALL = ExtractionConfig(max_length=5, long_words=40, long_lengths=(10, 20), deep_words=2, depth=9, height=4, walks=4)


@cache
def small_extraction(name: str) -> Extraction:
    checkpoint = checkpoint_of(name)
    in_vain = replace(SMALL, method="learn", budget=1e-9)  # it ends before anything is found
    config = in_vain if name.startswith("buffered") else SMALL
    return extract(checkpoint.model, specification_of(checkpoint), config)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """Yield the page, in whose store two networks have been extracted, one of them in vain."""
    before = os.environ.get("STACKLENS_CACHE")
    os.environ["STACKLENS_CACHE"] = str(tmp_path_factory.mktemp("store"))
    for name in (NAME, "buffered-neural-stack-reversal"):
        keep_extraction(name, ExtractionSettings(), small_extraction(name))
    yield new_application().server.test_client()
    del os.environ["STACKLENS_CACHE"]
    if before is not None:
        os.environ["STACKLENS_CACHE"] = before


def test_an_extracted_network_shows_claims_checks_and_transitions(client: FlaskClient) -> None:
    claims = {claim["what"]: claim for claim in asked(client, "network", network=NAME)["claims"]}
    assert claims["proof"]["says"].startswith("the automaton is equal to that of the language 1n0n for all words")
    assert claims["proof"]["sign"] == "✓"
    found = filled(client, "checks", network=NAME)
    checks = found.table("checks")
    assert list(checks[0])[:4] == ["words", "up to length", "checked", "accepted"]
    assert list(checks[0].values()) == ["all words", 5, 63, 2, "language", 0, ""]
    assert found.said[0].startswith("4 of 4 transitions are taken by")
    assert len(found.table("coverage")) == 4
    assert [one and one["word"] for one in found.opens("checks")] == [row["counterexample"] or None for row in checks]


def test_every_claim_that_names_a_word_has_it_to_be_opened(client: FlaskClient) -> None:
    del client
    found = shipped("marnn-stack-rnn-dyck-2")
    assert found is not None
    claims = claims_with_words(found.report)
    words = {claim["what"]: claim["word"] for claim in claims}
    rounded = {claim["what"] for claim in claims if claim["rounded"]}
    assert rounded == {"result", "checked against the rounded network", "horizon, rounded network"}
    horizon = found.report["horizon"]["rounded network"]["shortest_difference"]["word"]
    assert words["horizon, rounded network"] == horizon
    assert words["automaton"] is None
    for word, who in disagreements_of(found.report):
        (judged,) = judged_words("marnn-stack-rnn-dyck-2", word)[0].to_dict("records")
        assert judged["agree"] == "✗", (word, who)


def test_a_network_that_is_gone_is_one_sentence(client: FlaskClient) -> None:
    for route in ("network", "words"):
        assert "upload-gone" in asked(client, route, 400, network="upload-gone")["problem"]
    for drawer in ("checks", "words", "automaton", "figures"):
        (said_,) = filled(client, drawer, network="upload-gone").said
        assert said_ == "no file upload-gone here; files are kept for a day: open it again."


def test_the_figure_has_the_automaton_where_there_is_one_and_its_horizon(client: FlaskClient) -> None:
    own = keep_upload((ZOO / f"{UNSEEN}.pt").read_bytes(), "mine.pt").name
    for name, parties in ((NAME, {"network", "rounded network", "automaton"}), (own, {"network", "rounded network"})):
        (figure,) = filled(client, "accuracy", network=name, theme="dark").figures
        assert {line["name"] for line in figure["data"]} == parties
        assert figure["layout"]["paper_bgcolor"] == "#16181D"
        marked = [note["text"] for note in figure["layout"]["annotations"] if "horizon" in note["text"]]
        assert bool(marked) == (name == NAME)


def test_causes_are_told_with_a_figure_where_they_were_asked(client: FlaskClient) -> None:
    found = filled(client, "causes", network="marnn-stack-rnn-dyck-2")
    (verdict,) = (one["children"] for one in found.of_type("B"))
    claims = {one["what"]: one for one in asked(client, "network", network="marnn-stack-rnn-dyck-2")["claims"]}
    assert verdict.lower() == f"{claims['mechanism']['sign']} {claims['mechanism']['says']}."
    assert re.match(r"✓ Of four automata that are proved equal, the raw one is what the network computes \(", verdict)
    rows = found.table("interchanges")
    assert {row["automaton"].split()[0] for row in rows} == {"minimised", "raw", "learned", "reference"}
    assert list(rows[0])[2:7] == ["told apart", "score", "random partitions", "permuted labels", "random weights"]
    assert rows[0]["told apart"] == "743"
    assert rows[0]["score"].startswith("0.903 (")
    assert any(str(one).startswith("The shortest of what goes wrong most often with states") for one in found.said)
    (figure,) = found.figures
    assert [trace["name"] for trace in figure["data"]] == [
        name for what in ("states", "symbols") for name in (what, f"{what}, random partitions")
    ]


def test_where_nothing_was_interchanged_a_line_says_how(client: FlaskClient) -> None:
    own = keep_upload((ZOO / f"{UNSEEN}.pt").read_bytes(), "mine.pt").name
    assert filled(client, "causes", network=own).said == ["nothing has been read out of this network yet."]
    (how,) = filled(client, "causes", network=NAME).said
    assert "the button extract again makes them" in how
    assert f"extract-pda {NAME} --causal" in how
    kept = keep_file((ZOO / "buffered-neural-stack-reversal.json").read_bytes(), "r.json")
    (how,) = filled(client, "causes", network=kept).said
    assert "stacklens probe causal r.json makes them" in how
    assert "--causal --save r.json" in how


def test_a_verdict_that_only_a_file_says_is_marked_so(client: FlaskClient) -> None:
    kept = keep_file((ZOO / "marnn-stack-rnn-dyck-2.json").read_bytes(), "r.json")
    (verdict,) = (one["children"] for one in filled(client, "causes", network=kept).of_type("B"))
    assert verdict.startswith("? Of four automata")
    assert "as stored, not checked" in verdict


def test_words_are_judged_and_lead_to_the_step_where_runs_part(client: FlaskClient) -> None:
    found = filled(client, "words", network=NAME, words="10\n110\nε\n")
    rows = found.table("words")
    assert [row["word"] for row in rows] == ["10", "110", "ε"]
    assert [row["automaton"] for row in rows] == ["✓ accepts", "✗ rejects", "✗ rejects"]
    assert [(one["word"], one["step"]) for one in found.opens("words")] == [("10", 2), ("110", 3), ("", 1)]
    assert found.said == ["✓ 3 words: all agree."]


def test_what_is_wrong_with_the_words_is_one_sentence(client: FlaskClient) -> None:
    found = filled(client, "words", network=NAME, words="10\n1x")
    assert found.said == ["line 2: symbol 'x' is not in the alphabet 1 0."]
    assert found.of_type("AgGrid") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("10\n" * 2_001, "these are 2,001 words; expected at most 2,000 at once."),
        ("1\n" * 9_000, "these are 9,000 lines; expected at most 2,000 words at once."),
        ("111000111000\n" * 1_000, "these words have 12,000 symbols in all; expected at most 10,000 at once."),
        ("1" * (LONGEST + 1), "the longest word has 2,001 symbols; expected at most 2,000 here."),
    ],
)
def test_more_than_the_page_judges_at_once_is_refused_in_one_sentence(
    text: str, problem: str, client: FlaskClient
) -> None:
    del client
    with pytest.raises(StacklensError) as refused:
        judged_words(NAME, text)
    assert f"{refused.value}." == problem


@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_the_words_that_are_offered_can_be_judged(name: str, client: FlaskClient) -> None:
    del client
    frame, *_ = judged_words(name, words_to_try(name, 3))
    assert len(frame) >= 10
    assert set(frame["rounded network"]) != {""}


@pytest.mark.parametrize("panel", ["claims", "checks", "coverage", "accuracy", "causes", "interchanges", "judged"])
def test_the_python_lines_run(panel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stacklens.extract.extraction.extract", lambda *_: small_extraction(NAME))
    (tmp_path / "words.txt").write_text("10\n110\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    lines = panel_lines(panel, NAME).replace(".show()", "").splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines[:-1]) + f"\nfound = {lines[-1]}", names)
    drawn = {"accuracy": "data", "causes": "data", "interchanges": "automata"}
    assert len(getattr(names["found"], drawn[panel]) if panel in drawn else names["found"]) > 1
