"""What the server says of what was read out of a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from flask.testing import FlaskClient
from tests.automata.strategies import dyck
from tests.viz.page_client import asked, filled

from stacklens.automata.formats.json import from_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.core.errors import StacklensError
from stacklens.extract.by_name import specification_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.models.checkpoint import ZOO
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction
from stacklens.viz.dashboard.networks import checkpoint_of, keep_upload
from stacklens.viz.dashboard.panels import panel_lines, shown
from stacklens.viz.report import report_page

NAME = "nnpda-palindrome"
QUICK = ExtractionConfig(max_length=4, long_words=100, deep_words=1, depth=30, height=5, walks=5)


@pytest.fixture(scope="module")
def result() -> Extraction:
    checkpoint = checkpoint_of(NAME)
    return extract(checkpoint.model, specification_of(checkpoint), QUICK)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, result: Extraction) -> Iterator[FlaskClient]:
    """Yield a server that knows the automaton of one network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STACKLENS_CACHE", str(tmp_path_factory.mktemp("store")))
        keep_extraction(NAME, ExtractionSettings(), result)
        yield new_application().server.test_client()


def test_what_was_found_comes_with_its_claims(client: FlaskClient, result: Extraction) -> None:
    found = asked(client, "network", network=NAME)
    assert found["headline"].startswith("Proved equal to palindrome; the rounded network ")
    assert {claim["what"] for claim in found["claims"]} >= {"proof", "certificate", "horizon, network"}
    assert "checked    words on which the automaton differs" in found["summary"]
    words = [claim["word"] for claim in found["claims"] if claim["what"] == "horizon, network"]
    assert words == [result.horizon["network"].to_dict()["shortest_difference"]["word"]]


def test_what_comes_with_the_zoo_is_there_at_once_and_what_is_found_anew_takes_its_place(
    client: FlaskClient, result: Extraction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    before = asked(client, "network", network="nnpda-1n0n")
    assert before["headline"].startswith("Proved equal to 1n0n")
    reason = "the network does not use its stack as one"
    keep_extraction("nnpda-1n0n", ExtractionSettings(), replace(result, minimised=None, reason=reason))
    found = asked(client, "network", network="nnpda-1n0n")
    assert (found["automaton"], found["why"]) == (None, f"no faithful automaton was found: {reason}")


def test_a_network_of_ones_own_has_nothing_before_it_is_extracted(client: FlaskClient) -> None:
    name = keep_upload((ZOO / "stack-rnn-anbn.pt").read_bytes(), "mine.pt").name
    assert asked(client, "network", network=name)["extracted"] is False
    for drawer in ("automaton", "checks"):
        assert filled(client, drawer, network=name).said == ["nothing has been read out of this network yet."]


def test_drawing_and_transitions_also_before_minimisation(client: FlaskClient, result: Extraction) -> None:
    found = asked(client, "network", network=NAME)["automaton"]
    groups = [re.findall(r'data-name="(.*?)" data-group="(.*?)"', one["svg"]) for one in (found, found["before"])]
    assert groups[0] == [("q0", "0"), ("q1", "1")]
    assert result.merged is not None
    assert [(name, f"q{group}") for name, group in groups[1]] == list(result.merged.states.items())
    assert found["merged"].startswith("Merged: states q0 = ")
    assert all(name in found["merged"] for name, _ in groups[1])
    for raw in (False, True):
        assert len(filled(client, "automaton", network=NAME, raw=raw).table("rules")) >= 11
    dot = client.get(f"/api/file?network={NAME}&suffix=dot&raw=1").text
    assert dot.count("fillcolor") == len(groups[1])


def test_both_automata_run_on_the_word_and_end_where_their_states_are_one(client: FlaskClient) -> None:
    merged = shown(NAME).known.merged
    assert merged is not None
    for word in ("abcba", "acb", ""):
        found = asked(client, "word", network=NAME, word=word)
        names = [[run["states"][state] for state in run["after"]] for run in (found["run"], found["before"])]
        assert names[0] == [merged.states[state] for state in names[1]]
        assert (found["run"]["stuck"] is None) == (found["before"]["stuck"] is None)
    long = asked(client, "word", network="marnn-stack-rnn-dyck-2", word="()" * 300, beginning=1, step=1)["beginning"]
    assert len(long["before"]["after"]) == len(long["run"]["after"]) < 600


@pytest.mark.parametrize(
    ("name", "says", "beside"),
    [
        ("buffered-neural-stack-reversal", "Before minimisation it is the same automaton.", False),
        ("stack-rnn-memorization", "Merged: stack symbols s1/s0 = s1/s0 s1/s1 s1/⊥; s2/s0 = s2/s0 s2/s1.", True),
    ],
)
def test_what_was_merged_is_one_line(client: FlaskClient, name: str, says: str, beside: bool) -> None:
    found = asked(client, "network", network=name)["automaton"]
    assert (found["merged"], found["before"] is not None) == (says, beside)
    assert ("data-group" in found["svg"]) == beside
    assert (asked(client, "word", network=name, word="1")["before"] is not None) == beside


def test_a_result_without_the_automaton_before_or_with_another_one_is_shown_all_the_same(client: FlaskClient) -> None:
    del client
    one = shown(NAME)
    assert replace(one, known=replace(one.known, raw=None)).beside == (
        None,
        "The machine before minimisation is not known.",
    )
    other = dyck([("(", ")")])
    assert replace(one, known=replace(one.known, raw=other)).beside == (other, "Which states were merged is not known.")
    with pytest.raises(StacklensError, match="does not hold the machine before minimisation"):
        _ = replace(one, known=replace(one.known, raw=None), raw=True).automaton


def test_the_run_is_told_step_by_step(client: FlaskClient) -> None:
    found = filled(client, "automaton", network=NAME, word="acb")
    assert [row["operation"] for row in found.table("run")] == ["push a", "none", "rejects"]
    wrong = filled(client, "automaton", network=NAME, word="x")
    assert wrong.said[-1] == "symbol 'x' is not in the alphabet a b c."
    assert wrong.table("rules") == found.table("rules")


def test_figures_are_those_of_the_network_that_is_chosen(client: FlaskClient) -> None:
    for rounded, title in ((False, "nnpda on abcba"), (True, "nnpda, rounded on abcba")):
        (figure,) = filled(client, "figures", network=NAME, figure="stacks", word="abcba", rounded=rounded).figures
        assert figure["layout"]["title"]["text"].startswith(title)
    (map_,) = filled(client, "figures", network=NAME, figure="states", theme="dark").figures
    assert {points["name"] for points in map_["data"]} == {"start", "q0", "q1", "rejected"}
    assert map_["layout"]["paper_bgcolor"] == "#16181D"


def test_the_visits_of_a_state_or_of_the_first(client: FlaskClient) -> None:
    for state, shown_ in (("", "q0"), ("q1", "q1"), ("gone", "q0")):
        found = filled(client, "automaton", network=NAME, state=state)
        assert found.of_type("H3")[0]["children"] == f"words that visit {shown_}"
        rows, opens = found.table("visits"), found.opens("visits")
        assert list(rows[0]) == ["word", "step", "h1", "h2", "h3"]
        assert ("" in {row["word"] for row in rows}) == (shown_ == "q0")
        assert [one["word"] for one in opens] == [row["word"] for row in rows]


@pytest.mark.parametrize("suffix", ["dot", "json", "jff", "svg"])
def test_the_automaton_comes_as_a_file(client: FlaskClient, result: Extraction, suffix: str) -> None:
    answer = client.get(f"/api/file?network={NAME}&suffix={suffix}")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{NAME}.{suffix}"'
    if suffix == "json":
        assert from_json(answer.text) == result.automaton


@pytest.mark.parametrize("rounded", [False, True])
def test_the_python_lines_of_every_panel_work(
    client: FlaskClient, result: Extraction, rounded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del client
    figures: list[go.Figure] = []
    asked: list[tuple[Any, ...]] = []

    def quickly(*arguments: Any) -> Extraction:
        asked.append(arguments)
        return result

    monkeypatch.setattr("stacklens.extract.extraction.extract", quickly)
    monkeypatch.setattr(go.Figure, "show", lambda figure: figures.append(figure))
    monkeypatch.chdir(tmp_path)
    settings = ExtractionSettings(max_length=4, language="palindrome")
    monkeypatch.setattr("stacklens.viz.dashboard.panels.settings_known", lambda _: settings)
    for panel in ("drawing", "stacks", "steps", "transitions", "definition", "map", "drift", "visits"):
        exec(panel_lines(panel, NAME, "abcba", rounded, raw=True), {})
    assert len(asked) == 8
    assert {arguments[2] for arguments in asked} == {ExtractionConfig(max_length=4)}
    assert {arguments[1].name for arguments in asked} == {"palindrome"}
    assert (tmp_path / "automaton.svg").read_text(encoding="utf-8").count(
        'class="node"'
    ) == 4  # three states, and where the arrow begins
    titles = [figure.layout.title.text for figure in figures]
    assert titles[0].startswith(f"nnpda{', rounded' if rounded else ''} on abcba: accepted")
    assert titles[1].startswith("Hidden vectors of the ")


def test_a_report_shows_who_visits_which_state(result: Extraction) -> None:
    page = report_page(result, [], "report")
    assert "Hidden vectors by state" in page
    assert re.search(r"How often 60 words, short ones and others, visit each state: q0 \d+; q1 \d+\.", page)
    states = tuple(f"q{number}" for number in range(61))
    large = replace(result, minimised=PushdownAutomaton(states, ("a", "b", "c"), ("a", "b"), {}, "q0"))
    assert "No drawing: this automaton has 61 states and 0 edges" in report_page(large, [], "report")
