"""The Trust page without a browser: what the server answers before and after an extraction, and for many words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.viz.networks import said
from tests.viz.test_dashboard import answer

from stacklens.extract.by_name import specification_of
from stacklens.extract.evaluation.word_list import PARTIES
from stacklens.extract.extraction import Extraction, ExtractionConfig, extract
from stacklens.models.io import Checkpoint
from stacklens.viz.dashboard import trust_page as trusting
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction
from stacklens.viz.dashboard.networks import load, network_names
from stacklens.viz.dashboard.python_lines import trust_lines
from stacklens.viz.dashboard.trust_page import LONGEST, judged_words, known_specification, words_to_try
from stacklens.viz.dashboard.view import View, address_of

NAME = "nnpda-1n0n"
UNSEEN = "nnpda-parentheses"
SMALL = ExtractionConfig(max_length=5, long_words=40, long_lengths=(10, 20), deep_words=2, depth=9, height=4, walks=4)


@cache
def small_extraction(name: str) -> Extraction:
    checkpoint = load(name)
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


def shown(client: FlaskClient, network: str) -> dict[str, Any]:
    return answer(client, "trust-claims.children", {"network": network, "page": "trust"}, {})


def texts(part: Any) -> str:
    """Return all text of a part of the page as it comes over the wire."""
    if isinstance(part, dict):
        return texts(part["props"].get("children"))
    return "".join(map(texts, part)) if isinstance(part, list) else str(part or "")


def test_an_extracted_network_shows_claims_checks_and_transitions(client: FlaskClient) -> None:
    found = shown(client, NAME)
    assert found["trust-extracted"]["hidden"] is False
    assert "✓ proof: the automaton is equal to that of the language 1n0n for all words" in texts(
        found["trust-claims"]["children"]
    )
    checks = found["trust-checks"]["rowData"]
    assert checks[0] == {
        "words": "all words",
        "up to length": 5,
        "checked": 63,
        "accepted": 2,
        "automaton and": "language",
        "disagreements": 0,
        "counterexample": "",
    }
    assert [column["field"] for column in found["trust-checks"]["columnDefs"]] == list(checks[0])
    assert found["trust-covered"]["children"].startswith("4 of 4 transitions are taken by")
    assert len(found["trust-coverage"]["rowData"]) == 4


def test_another_network_offers_the_page_where_it_can_be_extracted(client: FlaskClient) -> None:
    found = shown(client, UNSEEN)
    assert found["trust-extracted"]["hidden"] is True
    assert texts(found["trust-note"]["children"]) == (
        f"{UNSEEN} has not been extracted yet: extract it on the Automaton page."
    )
    assert found["trust-note"]["children"][1]["props"]["href"] == f"?page=automaton&network={UNSEEN}"


@pytest.mark.parametrize("output", ["trust-claims.children", "trust-accuracy.figure", "trust-judged.rowData"])
def test_an_automaton_that_arrives_while_the_page_is_shown_appears(
    output: str, client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    look = {"extracted": None, "network": NAME, "page": "trust"}
    before = answer(client, output, look, {"trust-words": "10"})
    keep_extraction(NAME, ExtractionSettings(), small_extraction(NAME))
    ended = {"network": NAME, "settings": vars(ExtractionSettings()), "problem": None}
    assert answer(client, output, {**look, "extracted": ended}, {"trust-words": "10"}) != before


def test_without_an_automaton_there_are_claims_and_no_transitions(client: FlaskClient) -> None:
    found = shown(client, "buffered-neural-stack-reversal")
    assert "✗ automaton: none: no finite set of states was found" in texts(found["trust-claims"]["children"])
    assert found["trust-covered"]["children"] == "There is no automaton, so there are no transitions."
    assert found["trust-coverage"]["rowData"] == []


def test_a_network_that_is_gone_is_one_sentence(client: FlaskClient) -> None:
    found = shown(client, "upload-gone")
    assert "upload-gone" in found["trust-note"]["children"]
    figure = answer(client, "trust-accuracy.figure", {"network": "upload-gone", "page": "trust"}, {})
    assert "Nothing to draw" in str(figure["trust-accuracy"]["figure"]["layout"]["annotations"])


@pytest.mark.parametrize("output", ["trust-claims.children", "trust-accuracy.figure", "trust-judged.rowData"])
def test_nothing_is_answered_while_another_page_is_shown(output: str, client: FlaskClient) -> None:
    assert answer(client, output, {"network": NAME, "page": "probe"}, {"trust-words": "10"}) == {}


def test_the_figure_has_the_automaton_where_there_is_one(client: FlaskClient) -> None:
    for name, parties in (
        (NAME, {"network", "rounded network", "automaton"}),
        (UNSEEN, {"network", "rounded network"}),
    ):
        found = answer(client, "trust-accuracy.figure", {"network": name, "page": "trust", "theme": "dark"}, {})
        assert {line["name"] for line in found["trust-accuracy"]["figure"]["data"]} == parties
        assert found["trust-accuracy"]["figure"]["layout"]["paper_bgcolor"] == "#16181D"


def test_words_are_judged_and_lead_to_the_step_where_runs_part(client: FlaskClient) -> None:
    found = answer(client, "trust-judged.rowData", {"network": NAME, "page": "trust"}, {"trust-words": "10\n110\nε\n"})
    rows = found["trust-judged"]["rowData"]
    assert [row["word"] for row in rows] == ["10", "110", "ε"]
    assert [row["automaton"] for row in rows] == ["✓ accepts", "✗ rejects", "✗ rejects"]
    assert [row["open"] for row in rows] == [
        address_of(View("probe", NAME, word, step=step)) for word, step in (("10", 2), ("110", 3), ("", 1))
    ]
    assert "open" not in [column["field"] for column in found["trust-judged"]["columnDefs"]]
    assert found["trust-said"]["children"] == "✓ 3 words: all agree."
    assert found["trust-problem"]["children"] is None


def test_the_words_that_are_not_agreed_on_can_be_shown_alone(client: FlaskClient) -> None:
    name = "stack-rnn-anbn"
    text = "aabb\n" + "a" * 45 + "b" * 45
    both = judged_words(name, text)
    one = judged_words(name, text, only_different=True)
    assert (len(both.frame), len(one.frame)) == (2, 1)
    assert one.said == "✗ 2 words: not all agree on 1 of them. There is no automaton to compare with yet."
    step = one.frame["parts at"].iloc[0]
    assert one.frame["open"].tolist() == [address_of(View("probe", name, "a" * 45 + "b" * 45, step=step))]
    del client


def test_what_is_wrong_with_the_words_is_one_sentence_and_the_table_is_empty(client: FlaskClient) -> None:
    found = answer(client, "trust-judged.rowData", {"network": NAME, "page": "trust"}, {"trust-words": "10\n1x"})
    assert found["trust-problem"]["children"] == "line 2: symbol 'x' is not in the alphabet 1 0."
    assert found["trust-judged"]["rowData"] == []


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
    assert judged_words(NAME, text).problem == problem


def test_words_are_offered_where_there_are_none_that_the_network_reads(client: FlaskClient) -> None:
    for given, offered in (("", True), ("abc", True), ("10\n", False)):
        found = answer(client, "trust-words.value", {"network": NAME, "page": "trust"}, {"trust-words": given})
        assert (found.get("trust-words", {}).get("value") == words_to_try(NAME, 0)) == offered


def test_words_with_a_mistake_stay_until_another_network_is_looked_at(client: FlaskClient) -> None:
    look = {"page": "trust", "network": NAME}
    there = {"trust-words": "10\n1x", "trust-asked": [NAME, 0]}
    assert "trust-words" not in answer(client, "trust-words.value", look, there)
    other = answer(client, "trust-words.value", look, {**there, "trust-asked": ["nnpda-palindrome", 0]})
    assert other["trust-words"]["value"] == words_to_try(NAME, 0)
    assert other["trust-asked"]["data"] == [NAME, 0]


def test_words_that_another_network_reads_are_its_own_from_then_on(client: FlaskClient) -> None:
    state = {"trust-words": "10", "trust-asked": ["nnpda-palindrome", 0]}
    found = answer(client, "trust-words.value", {"page": "trust", "network": NAME}, state)
    assert found == {"trust-asked": {"data": [NAME, 0]}}


@pytest.mark.parametrize("name", network_names())
def test_the_words_that_are_offered_can_be_judged(name: str, client: FlaskClient) -> None:
    del client
    found = judged_words(name, words_to_try(name, 3))
    assert found.problem is None
    assert len(found.frame) >= 10
    assert set(found.frame["rounded network"]) != {""}


def test_what_a_network_was_trained_on_may_be_unknown(monkeypatch: pytest.MonkeyPatch, client: FlaskClient) -> None:
    stranger = Checkpoint(load(NAME).model, {"kind": "recognition", "language": "a-secret"}, {})
    monkeypatch.setattr(trusting, "load", lambda _: stranger)
    assert known_specification(UNSEEN) is None
    assert words_to_try(UNSEEN, 0) == "ε\n1\n0"
    assert "what this network was trained on is not known" in said(trusting.accuracy("nnpda-palindrome"))
    (row,) = judged_words(UNSEEN, "10").frame.to_dict("records")
    assert [name for name in row if name in PARTIES] == ["network", "rounded network"]
    del client


def test_what_was_extracted_by_other_settings_is_shown_and_its_lines_say_so(client: FlaskClient) -> None:
    name = "neural-stack-reversal"
    checkpoint = load(name)
    settings = ExtractionSettings(max_length=3, seed=2, language="reversal")
    keep_extraction(name, settings, extract(checkpoint.model, specification_of(checkpoint), settings.config()))
    assert shown(client, name)["trust-extracted"]["hidden"] is False
    lines = trust_lines("claims", name)
    assert f"network = sl.load({name!r})\n" in lines
    assert "result = sl.extract(network, 'reversal', max_length=3, seed=2)\n" in lines


@pytest.mark.parametrize("panel", ["claims", "checks", "coverage", "accuracy", "judged"])
def test_the_python_lines_run(panel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stacklens.extract.extraction.extract", lambda *_: small_extraction(NAME))
    (tmp_path / "words.txt").write_text("10\n110\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    lines = trust_lines(panel, NAME).replace(".show()", "").splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines[:-1]) + f"\nfound = {lines[-1]}", names)
    assert len(names["found"].data if panel == "accuracy" else names["found"]) > 1
