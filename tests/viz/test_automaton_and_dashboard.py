"""The page of an automaton, and the parts of the dashboard."""

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.strategies import dyck, palindromes, pushdown_automata, words_of
from tests.face.quick import quick_result
from tests.viz.networks import EVERY, said
from tests.viz.page_client import asked, filled

from stacklens.automata.formats.dot import group_places
from stacklens.automata.formats.json import from_json
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition
from stacklens.core.errors import StacklensError
from stacklens.extract.by_name import specification_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation.automaton_runs import run_table, visit_table, visiting_words
from stacklens.extract.result import Extraction
from stacklens.extract.saved import load_result
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.probe.trace import trace
from stacklens.viz.bench.drawing import bench_drawing
from stacklens.viz.dashboard import networks as uploads
from stacklens.viz.dashboard.app import network_answer, new_application, word_answer
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction
from stacklens.viz.dashboard.networks import keep_upload, random_word
from stacklens.viz.dashboard.panels import (
    LONGEST_WORD,
    TABLES,
    drawn,
    figure_lines,
    panel_lines,
    shown,
    table_lines,
    tabled,
)
from stacklens.viz.dashboard.requests import PAGE, View, view_of
from stacklens.viz.figures import FIGURES, discrete_panel
from stacklens.viz.report import report_page

# ---- What the server says of what was read out of a network. ----
NAME = "nnpda-palindrome"


@pytest.fixture
def result() -> Extraction:
    return quick_result(NAME)


def test_what_was_found_comes_with_its_claims(visitor: FlaskClient, result: Extraction) -> None:
    found = asked(visitor, "network", network=NAME)
    assert found["headline"].startswith("Proved equal to palindrome; the rounded network ")
    assert {claim["what"] for claim in found["claims"]} >= {"proof", "certificate", "horizon, network"}
    assert "checked    words on which the automaton differs" in found["summary"]
    assert found["advice"] == result.why()
    words = [claim["word"] for claim in found["claims"] if claim["what"] == "horizon, network"]
    assert words == [result.horizon["network"].to_dict()["shortest_difference"]["word"]]


def test_what_comes_with_the_zoo_is_there_at_once_and_what_is_found_anew_takes_its_place(
    visitor: FlaskClient, result: Extraction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    assert asked(visitor, "network", network=NAME)["headline"].startswith("Proved equal to palindrome")
    assert len(word_answer(NAME, "aca", False)["run"]["taken"]) == 3
    nothing = PushdownAutomaton(("q0",), ("a", "b", "c"), ("a",), {}, "q0")
    keep_extraction(NAME, ExtractionSettings(), replace(result, minimised=nothing))
    assert word_answer(NAME, "aca", False)["run"]["taken"] == []
    assert "state" in [note.text for note in drawn(View(NAME, "aca")).layout.annotations]
    assert "pda = sl.extract(network).automaton\n" in figure_lines(View(NAME, "aca"))
    reason = "the network does not use its stack as one"
    keep_extraction(NAME, ExtractionSettings(), replace(result, minimised=None, reason=reason))
    found = asked(visitor, "network", network=NAME)
    assert (found["automaton"], found["why"]) == (None, f"no faithful automaton was found: {reason}")


def test_a_network_of_ones_own_has_nothing_before_it_is_extracted(visitor: FlaskClient) -> None:
    name = keep_upload((ZOO / "stack-rnn-anbn.pt").read_bytes(), "mine.pt").name
    assert asked(visitor, "network", network=name)["extracted"] is False
    for drawer in ("automaton", "checks"):
        assert filled(visitor, drawer, network=name).said == ["nothing has been read out of this network yet."]


def test_drawing_and_transitions_also_before_minimisation(visitor: FlaskClient, result: Extraction) -> None:
    found = asked(visitor, "network", network=NAME)["automaton"]
    groups = [re.findall(r'data-name="(.*?)" data-group="(.*?)"', one["svg"]) for one in (found, found["before"])]
    assert groups[0] == [("q0", "0"), ("q1", "1")]
    assert [(name, f"q{group}") for name, group in groups[1]] == list(result.merged.states.items())
    assert found["merged"].startswith("Merged: states q0 = ")
    assert all(name in found["merged"] for name, _ in groups[1])
    for raw in (False, True):
        assert len(filled(visitor, "automaton", network=NAME, raw=raw).table("rules")) >= 11
    assert visitor.get(f"/api/file?network={NAME}&suffix=dot&raw=1").text.count("fillcolor") == len(groups[1])


def test_both_automata_run_on_the_word_and_end_where_their_states_are_one(visitor: FlaskClient) -> None:
    merged = shown(NAME).known.merged
    for word in ("abcba", "acb", ""):
        found = asked(visitor, "word", network=NAME, word=word)
        names = [[run["states"][state] for state in run["after"]] for run in (found["run"], found["before"])]
        assert names[0] == [merged.states[state] for state in names[1]]
        assert (found["run"]["stuck"] is None) == (found["before"]["stuck"] is None)
    long = asked(visitor, "word", network="marnn-stack-rnn-dyck-2", word="()" * 300, beginning=1, step=1)["beginning"]
    assert len(long["before"]["after"]) == len(long["run"]["after"]) < 600


@pytest.mark.parametrize(
    ("name", "says", "beside"),
    [
        ("buffered-neural-stack-reversal", "Before minimisation it is the same automaton.", False),
        ("stack-rnn-memorization", "Merged: stack symbols s1/s0 = s1/s0 s1/s1 s1/⊥; s2/s0 = s2/s0 s2/s1.", True),
    ],
)
def test_what_was_merged_is_one_line(visitor: FlaskClient, name: str, says: str, beside: bool) -> None:
    found = asked(visitor, "network", network=name)["automaton"]
    assert (found["merged"], found["before"] is not None) == (says, beside)
    assert ("data-group" in found["svg"]) == beside
    assert (asked(visitor, "word", network=name, word="1")["before"] is not None) == beside


def test_a_result_without_the_automaton_before_or_with_another_one_is_shown_all_the_same(visitor: FlaskClient) -> None:
    del visitor
    one = shown(NAME)
    assert replace(one, known=replace(one.known, raw=None)).beside == (
        None,
        "The machine before minimisation is not known.",
    )
    other = dyck([("(", ")")])
    assert replace(one, known=replace(one.known, raw=other)).beside == (other, "Which states were merged is not known.")
    with pytest.raises(StacklensError, match="does not hold the machine before minimisation"):
        _ = replace(one, known=replace(one.known, raw=None), raw=True).automaton


def test_the_run_is_told_step_by_step(visitor: FlaskClient) -> None:
    found = filled(visitor, "automaton", network=NAME, word="acb")
    assert [row["operation"] for row in found.table("run")] == ["push a", "none", "rejects"]
    wrong = filled(visitor, "automaton", network=NAME, word="x")
    assert wrong.said[-1] == "symbol 'x' is not in the alphabet a b c."
    assert wrong.table("rules") == found.table("rules")


def test_figures_are_those_of_the_network_that_is_chosen(visitor: FlaskClient) -> None:
    for rounded, title in ((False, "nnpda on abcba"), (True, "nnpda, rounded on abcba")):
        (figure,) = filled(visitor, "figures", network=NAME, figure="stacks", word="abcba", rounded=rounded).figures
        assert figure["layout"]["title"]["text"].startswith(title)
    (map_,) = filled(visitor, "figures", network=NAME, figure="states", theme="dark").figures
    assert {points["name"] for points in map_["data"]} == {"start", "q0", "q1", "rejected"}
    assert map_["layout"]["paper_bgcolor"] == "#16181D"


def test_the_visits_of_a_state_or_of_the_first(visitor: FlaskClient) -> None:
    for state, shown_ in (("", "q0"), ("q1", "q1"), ("gone", "q0")):
        found = filled(visitor, "automaton", network=NAME, state=state)
        assert found.of_type("H3")[0]["children"] == f"words that visit {shown_}"
        rows, opens = found.table("visits"), found.opens("visits")
        assert list(rows[0]) == ["word", "step", "h1", "h2", "h3"]
        assert ("" in {row["word"] for row in rows}) == (shown_ == "q0")
        assert [one["word"] for one in opens] == [row["word"] for row in rows]


@pytest.mark.parametrize(
    ("suffix", "ending", "begins"),
    [
        ("dot", "dot", "digraph"),
        ("json", "json", "{"),
        ("jff", "jff", "<?xml"),
        ("svg", "svg", "<?xml"),
        ("csv", "csv", "word,step,symbol"),
        ("trace", "trace.json", '{\n "schema": 1'),
    ],
)
def test_automaton_and_trace_come_as_files(
    visitor: FlaskClient, result: Extraction, suffix: str, ending: str, begins: str
) -> None:
    answer = visitor.get(f"/api/file?network={NAME}&word=aca&rounded=1&suffix={suffix}")
    assert answer.headers["Content-Disposition"] == f"attachment; filename={NAME}.{ending}"
    assert answer.text.startswith(begins)
    if suffix == "json":
        assert from_json(answer.text) == result.automaton
    if suffix in ("csv", "trace"):
        asked(visitor, "file", 400, network=NAME, word="x", suffix=suffix)


def test_the_python_lines_of_every_panel_work(
    result: Extraction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[go.Figure] = []
    asked: list[tuple[Any, ...]] = []

    def quickly(*arguments: Any) -> Extraction:
        asked.append(arguments)
        return result

    monkeypatch.setattr("stacklens.extract.extraction.extract", quickly)
    monkeypatch.setattr(go.Figure, "show", lambda figure: figures.append(figure))
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("aca\nab\n", encoding="utf-8")
    settings = ExtractionSettings(max_length=4, language="palindrome")
    monkeypatch.setattr("stacklens.viz.dashboard.panels.settings_known", lambda _: settings)
    panels = [panel for panel in PAGE["lines"] if panel != "learning"]  # whose curve no file of the zoo keeps
    for panel in (*panels, "stacks", "map"):
        exec(panel_lines(panel, NAME, "abcba", rounded=len(asked) >= len(panels), raw=True), {})
    assert len(asked) == len(panels) + 2
    assert {arguments[2] for arguments in asked} == {ExtractionConfig(max_length=4)}
    assert {arguments[1].name for arguments in asked} == {"palindrome"}
    nodes = Path("automaton.svg").read_text(encoding="utf-8").count('class="node"')
    assert nodes == 4  # three states, and where the arrow begins
    titles = "\n".join(str(figure.layout.title.text) for figure in figures)
    for title in ("nnpda on abcba: accepted", "nnpda, rounded on abcba: accepted", "Hidden vectors of the "):
        assert title in titles


def test_a_report_shows_who_visits_which_state(result: Extraction) -> None:
    page = report_page(result, [], "report")
    assert "Hidden vectors by state" in page
    assert re.search(r"How often 60 words, short ones and others, visit each state: q0 \d+; q1 \d+\.", page)
    states = tuple(f"q{number}" for number in range(61))
    large = replace(result, minimised=PushdownAutomaton(states, ("a", "b", "c"), ("a", "b"), {}, "q0"))
    assert "No drawing: this automaton has 61 states and 0 edges" in report_page(large, [], "report")


NET = load_network(ZOO / "nnpda-palindrome.pt")


def parts(svg: str, name: str) -> list[ElementTree.Element]:
    """Return the elements of a drawing that have the class ``name``."""
    return [element for element in ElementTree.fromstring(svg).iter() if element.get("class") == name]


def rules_in(elements: Iterable[ElementTree.Element]) -> list[int]:
    """Return the numbers of the rules whose lines are among the elements of a drawing."""
    return sorted(int(number) for one in elements for number in one.get("data-rules", "").split())


@settings(max_examples=50)
@given(pda=pushdown_automata())
def test_every_state_and_every_rule_of_a_drawing_can_be_found_once(pda: PushdownAutomaton) -> None:
    for one in (pda, replace(pda, transitions=dict(list(pda.transitions.items())[::-1]))):  # equal, in another order
        svg, joined = bench_drawing(one)["svg"], [(key[0], step.target) for key, step in one.transitions.items()]
        found = {int(state.get("data-state", "")): state.get("data-name") for state in parts(svg, "state")}
        assert found == dict(enumerate(one.states))
        assert rules_in(ElementTree.fromstring(svg).iter()) == list(range(len(joined)))
        for edge in parts(svg, "edge"):
            if edge.get("data-from"):
                ends = tuple(one.states[int(edge.get(f"data-{end}", ""))] for end in ("from", "to"))
                assert rules_in(edge.iter()) == [number for number, pair in enumerate(joined) if pair == ends]


@settings(max_examples=20)
@given(pda=pushdown_automata(), data=st.data())
def test_a_drawing_beside_another_has_its_groups_and_still_every_rule(
    pda: PushdownAutomaton, data: st.DataObject
) -> None:
    groups = {state: data.draw(st.sampled_from(["q0", "q1", "q10"])) for state in pda.states[1:]}
    found = bench_drawing(pda, groups)
    places, said = (
        group_places(groups),
        {one.get("data-name"): one.get("data-group") for one in parts(found["svg"], "state")},
    )
    assert said == {state: str(places[groups[state]]) if state in groups else None for state in pda.states}
    assert rules_in(ElementTree.fromstring(found["svg"]).iter()) == list(range(len(pda.transitions)))
    assert sum(len(edge["rules"]) for edge in found["edges"]) == len(pda.transitions)


def test_symbols_are_no_markup() -> None:
    pda = PushdownAutomaton(
        ("<q&>",), ("<script>",), (), {("<q&>", "<script>", ("⊥",)): Transition("<q&>", (NONE,))}, "<q&>"
    )
    svg = bench_drawing(pda)["svg"]
    (state,) = parts(svg, "state")
    assert state.get("data-name") == "<q&>"
    assert not [element for element in ElementTree.fromstring(svg).iter() if "script" in element.tag]


@given(data=st.data(), pda=pushdown_automata())
def test_the_table_is_the_run_and_ends_with_a_step_that_rejects(data: st.DataObject, pda: PushdownAutomaton) -> None:
    (word, *_) = data.draw(words_of(pda).filter(bool))
    configurations, table = list(pda.run(word)), run_table(pda, word)
    steps = len(word) + (pda.end_marker is not None)
    whole = len(configurations) == steps + 1
    assert len(table) == (steps if whole else len(configurations))
    assert table["step"].tolist() == list(range(1, len(table) + 1))
    for before, after, row in zip(configurations, [*configurations[1:], None], table.itertuples(), strict=False):
        assert (row.state, row.top) == (before.state, " ".join(before.tops(pda.bottom)))
        if after is None:
            assert (row.operation, row.next, row.stack) == ("rejects", "", "")
            continue
        step = pda.transitions[before.state, str(row.symbol), before.tops(pda.bottom)]
        assert (row.operation, row.next) == (", ".join(map(str, step.operations)), after.state)
        if max(map(len, after.stacks)) <= 20:
            assert row.stack == " | ".join(map(" ".join, after.stacks))
    assert whole or table["operation"].iloc[-1] == "rejects"


def test_the_discrete_stack_from_its_top_and_from_its_bottom() -> None:
    pda = dyck([("(", ")"), ("[", "]")])
    top, bottom = (discrete_panel(pda, "([]]", from_the_bottom=low).traces[0] for low in (False, True))
    np.testing.assert_array_equal(top.z, [[0, 1, 0, np.nan], [np.nan, 0, np.nan, np.nan]])
    np.testing.assert_array_equal(bottom.z, [[0, 0, 0, np.nan], [np.nan, 1, np.nan, np.nan]])
    assert top.text.tolist() == [["(", "[", "(", ""], ["", "(", "", ""]]
    assert (list(top.y), list(bottom.y)) == (["top", "2"], [0.5, 1.5])


def test_visits_are_all_moments_in_a_state_and_no_others() -> None:
    words = ["", "acb", "aca", "bb"]
    seen = trace(NET.model, words)
    table = visit_table(palindromes(), seen, "v")
    assert table[["state", "word", "step"]].to_numpy().tolist() == [["v", "acb", 2], ["v", "aca", 2], ["v", "aca", 3]]
    assert table.columns.tolist() == ["state", "word", "step", "h1", "h2", "h3"]
    for _, word, step, *hidden in table.itertuples(index=False):
        np.testing.assert_array_equal(hidden, seen.hidden[words.index(word), step])
    every = visit_table(palindromes(), seen)
    first = every[every.state == "u"][["word", "step"]].to_numpy().tolist()
    assert first[:4] == [["", 0], ["acb", 0], ["acb", 1], ["aca", 0]]


def test_words_that_visit_states_are_short_and_drawn_different_and_the_same_again() -> None:
    specification = specification_of(NET)
    words = visiting_words(NET.model, specification)
    assert words == visiting_words(NET.model, specification)
    assert words != visiting_words(NET.model, specification, seed=1)
    assert len(set(words)) == len(words) <= 60
    assert words[0] == ""
    assert set("abc") <= set(words)
    assert max(map(len, words)) > 8
    assert max(map(len, visiting_words(NET.model, None))) > 8


# ---- The page without a browser: views and addresses, what is shown of a view, and what the server answers. ----
DASHBOARD_NAME = "marnn-stack-rnn-dyck-2"


@given(st.text(max_size=9), st.none() | st.text(max_size=9), st.booleans(), st.integers(0, 99_999))
def test_an_address_says_all_of_a_view(network: str, word: str | None, rounded: bool, step: int) -> None:
    parts = {"network": network, "word": word, "rounded": int(rounded), "step": step}
    search = urlencode({name: part for name, part in parts.items() if part is not None})
    assert view_of(f"?{search}") == View(network, word, rounded, step=step)


@pytest.mark.parametrize(
    "search", [None, "", "?", "?step=x", "?step=-1", "?step=²", "?rounded=yes&x=y", "?&&=", "?step=", "?page=x"]
)
def test_an_address_that_makes_no_sense_is_the_usual_view(search: str | None) -> None:
    assert view_of(search) == View()


@pytest.mark.parametrize("name", EVERY)
def test_every_network_of_the_zoo_has_words_and_is_shown(name: str) -> None:
    word = random_word(name, 3)
    assert word == random_word(name, 3)
    assert len({random_word(name, seed) for seed in range(5)}) > 1
    assert len(word_answer(name, word, False)["letters"]) >= 1
    assert drawn(View(name, word)).data
    assert network_answer(name)["automaton"]["svg"].count('class="state"') >= 1


@pytest.mark.parametrize(
    ("network", "word", "problem"),
    [
        (DASHBOARD_NAME, "(x", "symbol 'x' is not in the alphabet ( ) [ ]."),
        ("none", "", "unknown network 'none': expected one of baby-ntm-dyck-2, "),
        (DASHBOARD_NAME, "(" * (LONGEST_WORD + 1), "this word has 10,001 characters; expected at most 10,000."),
        ("upload-1", "", "no file upload-1 here; files are kept for a day: open it again."),
    ],
)
def test_what_is_wrong_with_a_word_is_said_in_one_sentence(network: str, word: str, problem: str) -> None:
    client = new_application().server.test_client()
    assert asked(client, "word", 400, network=network, word=word)["problem"].startswith(problem)
    assert problem in said(drawn(View(network, word)))


@pytest.mark.parametrize("figure", FIGURES)
def test_the_python_lines_make_the_same_figure(figure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = load_result(ZOO / "nnpda-palindrome.json")
    monkeypatch.setattr("stacklens.extract.extraction.extract", lambda *_: found)
    view = View("nnpda-palindrome", "aca", rounded=figure != "rounding", figure=figure)
    lines = figure_lines(view).splitlines()
    names = run_lines("\n".join([*lines[:-1], f"figure = {lines[-1].removesuffix('.show()')}"]))
    assert json.loads(names["figure"].to_json())["data"] == json.loads(drawn(view).to_json())["data"]


def test_whatever_a_file_is_called_the_python_lines_name_it_and_do_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    title = 'x"); print("hm'
    name = uploads.keep_upload((ZOO / "nnpda-1n0n.pt").read_bytes(), title).name
    for lines in (figure_lines(View(name, "10")), table_lines(View(name, "10"), "steps")):
        assert title in [node.value for node in ast.walk(ast.parse(lines)) if isinstance(node, ast.Constant)]


@pytest.mark.parametrize("name", TABLES)
def test_the_python_lines_make_the_same_table(name: str) -> None:
    view = View(DASHBOARD_NAME, "([)")
    assert run_lines(table_lines(view, name).replace("print(", "table = ("))["table"].equals(tabled(view, name))


def run_lines(lines: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(lines, names)
    return names


def test_the_server_gives_the_page_and_its_own_files_only(client: FlaskClient) -> None:
    page = client.get("/").text
    for name in sorted(set(re.findall(r'"(/(?:assets|_dash-component)[^"]*)"', page))):
        with client.get(name) as answer:
            assert answer.status_code == 200, name
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page
    for name in ("/assets/../app.py", "/assets/%2e%2e/app.py", "/assets/none.js"):
        assert client.get(name).status_code == 404


def first(client: FlaskClient, search: str) -> dict[str, Any]:
    """Return what stands in the page before it has asked for anything."""
    found = re.search(r'id="at-first">(.*?)</script>', client.get(f"/{search}").text)
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_comes_with_what_its_address_asks_for(client: FlaskClient) -> None:
    found = first(client, "?network=nnpda-1n0n&word=10&step=2&rounded=1")
    assert found["word"] == {**word_answer("nnpda-1n0n", "10", True)}
    assert found["network"]["title"] == "nnpda-1n0n"
    assert first(client, "?network=nnpda-1n0n")["word"]["word"] == random_word("nnpda-1n0n", 0)
    assert "word" not in first(client, "?network=nnpda-1n0n&word=x")
    assert first(client, "?network=none&word=10") == {}  # which opens no other


def test_no_word_can_end_the_data_in_the_page(client: FlaskClient) -> None:
    assert "<!--<script>" not in client.get("/?network=nnpda-1n0n&word=<!--<script></script>").text
