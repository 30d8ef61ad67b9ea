"""What the server answers to the Automaton page."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from flask.testing import FlaskClient
from tests.automata.strategies import dyck

from stacklens.automata.formats.json import from_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.by_name import specification_of
from stacklens.extract.extraction import Extraction, ExtractionConfig, extract
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.automaton_views import drift_view, extracted_and_settings, run_view, shown
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction, known
from stacklens.viz.dashboard.networks import load
from stacklens.viz.dashboard.python_lines import automaton_lines
from stacklens.viz.report import report_page

ROOT = Path(__file__).parents[2]
NAME = "nnpda-palindrome"
QUICK = ExtractionConfig(max_length=4, long_words=100, deep_words=1, depth=30, height=5, walks=5)
LOOK = {"page": "automaton", "network": NAME, "automaton-form": "minimised", "word": "abcba", "kind": "soft"}


@pytest.fixture(scope="module")
def result() -> Extraction:
    checkpoint = load(NAME)
    return extract(checkpoint.model, specification_of(checkpoint), QUICK)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, result: Extraction) -> Iterator[FlaskClient]:
    """Yield a server that knows the automaton of one network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STACKLENS_CACHE", str(tmp_path_factory.mktemp("store")))
        keep_extraction(NAME, ExtractionSettings(), result)
        yield new_application().server.test_client()


def answer(client: FlaskClient, output: str, values: dict[str, Any], changed: str = "page") -> dict[str, Any]:
    """Return what the server answers to a page with these values; ``changed`` is the part that was."""
    reply = client.post("/_dash-update-component", json=body_of(client, output, values, changed))
    if reply.status_code == 204:  # nothing changes
        return {}
    assert reply.status_code == 200, reply.text
    response: dict[str, Any] = json.loads(reply.text)["response"]
    return response


def body_of(client: FlaskClient, output: str, values: dict[str, Any], changed: str) -> dict[str, Any]:
    """Return what a browser sends."""
    (found,) = [one for one in json.loads(client.get("/_dash-dependencies").text) if output in one["output"]]
    parts = [part.rsplit(".", 1) for part in found["output"].strip(".").split("...")]
    outputs = [{"id": name, "property": what} for name, what in parts]
    (input_,) = [one for one in found["inputs"] if one["id"] == changed]
    return {
        "output": found["output"],
        "outputs": outputs if len(outputs) > 1 else outputs[0],
        "inputs": [{**one, "value": values.get(one["id"])} for one in found["inputs"]],
        "state": [{**one, "value": values.get(one["id"])} for one in found.get("state", [])],
        "changedPropIds": [f"{input_['id']}.{input_['property']}"],
    }


def test_the_page_says_what_was_found(client: FlaskClient) -> None:
    found = answer(client, "automaton-says.children", LOOK)
    assert found["automaton-found"]["hidden"] is False
    first, horizons, sizes = found["automaton-says"]["children"]
    assert first["props"]["children"]["props"]["children"].startswith(
        "Proved equal to palindrome; the rounded network "
    )
    assert [item["props"]["children"][0]["props"]["children"] for item in horizons["props"]["children"]] == [
        "✓ horizon, rounded network",
        "✗ horizon, network",
    ]
    assert sizes["props"]["children"].startswith("2 states, 2 stack symbols, 11 transitions; before minimisation ")
    assert "checked    words on which the automaton differs" in found["automaton-summary"]["children"]


def test_of_a_network_that_was_never_extracted_there_is_nothing_to_show(client: FlaskClient) -> None:
    found = answer(client, "automaton-says.children", {**LOOK, "network": "nnpda-1n0n"})
    assert found["automaton-found"]["hidden"] is True
    assert found["automaton-says"]["children"] == "Nothing has been read out of this network yet: extract does it."
    assert answer(client, "automaton-svg.data", {**LOOK, "network": "nnpda-1n0n"}) == {}


def test_nothing_is_worked_out_for_another_page(client: FlaskClient) -> None:
    for output in (
        "says.children",
        "svg.data",
        "run.data",
        "stacks.figure",
        "map.figure",
        "visits.rowData",
        "steps.rowData",
    ):
        assert answer(client, f"automaton-{output}", {**LOOK, "page": "probe"}) == {}


def test_drawing_definition_and_transitions(client: FlaskClient) -> None:
    found = answer(client, "automaton-svg.data", LOOK)
    assert found["automaton-svg"]["data"]["svg"].count('class="state"') == 2
    assert found["automaton-definition"]["children"].startswith("M = (Q, Σ, Γ, δ, q₀, ⊥, F)")
    assert len(found["automaton-transitions"]["rowData"]) == 11
    raw = answer(client, "automaton-svg.data", {**LOOK, "automaton-form": "raw"})
    assert raw["automaton-svg"]["data"]["svg"].count('class="state"') == 2


def test_the_run_is_told_by_numbers_of_states_and_rules(client: FlaskClient, result: Extraction) -> None:
    run = answer(client, "automaton-run.data", LOOK)["automaton-run"]["data"]
    assert result.automaton is not None
    states = [run["states"][run["rules"][rule][1]] for rule in run["steps"]]
    assert states == [configuration.state for configuration in result.automaton.run("abcba")][1:]
    assert run["stuck"] is None
    cut = answer(client, "automaton-run.data", {**LOOK, "word": "acb"})["automaton-run"]["data"]
    assert (len(cut["steps"]), cut["stuck"]) == (2, "rejected: q1 has no transition on b with a on top")
    assert answer(client, "automaton-run.data", {**LOOK, "word": "axb"})["automaton-run"]["data"] is None


def test_a_browser_can_follow_the_stacks(client: FlaskClient, result: Extraction) -> None:
    run = answer(client, "automaton-run.data", LOOK)["automaton-run"]["data"]
    assert result.automaton is not None
    stack: list[str] = []
    for rule, configuration in zip(run["steps"], list(result.automaton.run("abcba"))[1:], strict=True):
        ((pop, pushed),) = run["rules"][rule][2]
        del stack[len(stack) - pop :]
        stack += [] if pushed is None else [pushed]
        assert tuple(stack) == configuration.stacks[0]


def test_the_run_is_told_step_by_step(client: FlaskClient) -> None:
    rows = answer(client, "automaton-steps.rowData", {**LOOK, "word": "acb"})["automaton-steps"]["rowData"]
    assert [row["operation"] for row in rows] == ["push a", "none", "rejects"]
    assert answer(client, "automaton-steps.rowData", {**LOOK, "word": "x"})["automaton-steps"]["rowData"] == []


def test_figures_are_those_of_the_network_that_is_chosen(client: FlaskClient) -> None:
    for kind, title in (("soft", "nnpda on abcba"), ("rounded", "nnpda, rounded on abcba")):
        figure = answer(client, "automaton-stacks.figure", {**LOOK, "kind": kind})["automaton-stacks"]["figure"]
        assert figure["layout"]["title"]["text"].startswith(title)
        assert figure["layout"]["meta"] == {"over_steps": True}
    map_ = answer(client, "automaton-map.figure", {**LOOK, "theme": "dark"})["automaton-map"]["figure"]
    assert {points["name"] for points in map_["data"]} == {"start", "q0", "q1", "rejected"}
    assert map_["layout"]["paper_bgcolor"] == "#16181D"


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("axb", "Nothing to draw: symbol 'x' is not in the alphabet a b c."),
        ("a" * 1_001, "Stacks are drawn for words of at most 1,000 symbols."),
    ],
)
def test_stacks_that_cannot_be_drawn_say_why(client: FlaskClient, word: str, says: str) -> None:
    figure = answer(client, "automaton-stacks.figure", {**LOOK, "word": word})["automaton-stacks"]["figure"]
    assert figure["layout"]["annotations"][0]["text"] == says


def test_the_visits_of_a_state_or_of_the_first(client: FlaskClient) -> None:
    for state, shown_ in ((None, "q0"), ("q1", "q1"), ("gone", "q0")):
        found = answer(client, "automaton-visits.rowData", {**LOOK, "automaton-state": state})
        assert found["automaton-visited"]["children"] == f"Words that visit {shown_}"
        assert [column["field"] for column in found["automaton-visits"]["columnDefs"]] == [
            "word",
            "step",
            "h1",
            "h2",
            "h3",
        ]
        words = {row["word"] for row in found["automaton-visits"]["rowData"]}
        assert ("" in words) == (shown_ == "q0")


@pytest.mark.parametrize("suffix", ["dot", "json", "jff", "svg"])
def test_the_automaton_comes_as_a_file(client: FlaskClient, result: Extraction, suffix: str) -> None:
    found = answer(client, "automaton-file.data", LOOK, f"automaton-save-{suffix}")
    assert found["automaton-file"]["data"]["filename"] == f"{NAME}.{suffix}"
    if suffix == "json":
        assert from_json(found["automaton-file"]["data"]["content"]) == result.automaton


def test_what_a_format_cannot_say_is_said(client: FlaskClient, result: Extraction) -> None:
    pda = replace(dyck([("(", ")")]), end_marker="e")
    keep_extraction("nnpda-parentheses", ExtractionSettings(), replace(result, automaton=pda))
    look = {**LOOK, "network": "nnpda-parentheses"}
    found = answer(client, "automaton-file.data", look, "automaton-save-jff")
    assert found["automaton-problem"]["children"].startswith("Cannot save JFLAP: ")
    assert "automaton-file" not in found


def test_a_network_without_a_faithful_automaton_says_why(client: FlaskClient, result: Extraction) -> None:
    reason = "the network does not use its stack as one"
    keep_extraction("neural-stack-reversal", ExtractionSettings(), replace(result, automaton=None, reason=reason))
    look = {**LOOK, "network": "neural-stack-reversal", "word": "01"}
    found = answer(client, "automaton-says.children", look)
    assert found["automaton-says"]["children"] == f"No faithful automaton was found: {reason}."
    assert found["automaton-found"]["hidden"] is True
    assert answer(client, "automaton-svg.data", look) == {}


def test_what_was_asked_for_here_comes_before_what_others_found(client: FlaskClient, result: Extraction) -> None:
    del client  # its store is in use
    keep_extraction(NAME, ExtractionSettings(seed=5), result)
    for done, settings in (
        (None, ExtractionSettings()),
        ({"network": NAME, "settings": vars(ExtractionSettings(seed=5))}, ExtractionSettings(seed=5)),
        ({"network": "nnpda-1n0n", "settings": vars(ExtractionSettings(seed=5))}, ExtractionSettings()),
    ):
        found = extracted_and_settings(NAME, done)
        assert found is not None
        assert found[0] == settings


def test_the_verdict_is_of_the_automaton_that_is_shown(client: FlaskClient, result: Extraction) -> None:
    nothing = PushdownAutomaton(("q0",), ("a", "b", "c"), ("a",), {}, "q0")
    keep_extraction(NAME, ExtractionSettings(seed=7), replace(result, automaton=nothing))
    done = {"network": NAME, "settings": vars(ExtractionSettings(seed=7)), "problem": None}
    for page, ended, says in (
        ("automaton", done, "✗ automaton: rejected"),
        ("automaton", {**done, "network": "nnpda-1n0n"}, "✓ automaton: accepted"),
        ("automaton", None, "✓ automaton: accepted"),
        ("probe", done, "✓ automaton: accepted"),  # which draws what extract-pda finds by default
    ):
        found = answer(client, "verdicts.children", {**LOOK, "page": page, "extracted": ended}, "extracted")
        assert found["verdicts"]["children"][-1]["props"]["children"] == says


@pytest.mark.parametrize(
    ("network", "says"), [(NAME, "too many words."), ("nnpda-1n0n", None), (None, "too many words.")]
)
def test_what_went_wrong_with_another_network_is_not_said_here(
    client: FlaskClient, network: str | None, says: str | None
) -> None:
    ended = {"network": network, "settings": None, "problem": "too many words."}
    values = {"network": NAME, "automaton-ended": ended}
    reply = client.post(
        "/_dash-update-component", json=body_of(client, "automaton-done.data", values, "automaton-ended")
    )
    content = json.loads(reply.text)
    assert content["response"] == {"automaton-problem": {"children": says}}
    assert "sideUpdate" not in content  # what other pages show is as it was


def test_other_pages_hear_of_an_automaton(client: FlaskClient) -> None:
    ended = {"network": "nnpda-1n0n", "settings": vars(ExtractionSettings()), "problem": None}
    values = {"network": NAME, "automaton-ended": ended}
    reply = client.post(
        "/_dash-update-component", json=body_of(client, "automaton-done.data", values, "automaton-ended")
    )
    content = json.loads(reply.text)
    assert content["response"]["automaton-done"]["data"] == ended
    assert content["sideUpdate"]["extracted"]["data"] == ended


def test_python_lines_name_every_setting_that_is_not_the_usual_one() -> None:
    assert ExtractionSettings().call() == "sl.extract(network)"
    assert ExtractionSettings(max_length=0).call() == "sl.extract(network, max_length=0)"
    strange = ExtractionSettings(states=3, seed=1, language="dyck-1")
    assert strange.call() == "sl.extract(network, 'dyck-1', states=3, seed=1)"


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
    one = replace(shown(NAME, None, "raw"), settings=ExtractionSettings(max_length=4, language="palindrome"))
    lines = automaton_lines(one, "abcba", rounded)
    for text in lines.values():
        exec(text, {})
    assert len(lines) == len(asked) == 8
    assert {arguments[2] for arguments in asked} == {ExtractionConfig(max_length=4)}
    assert {arguments[1].name for arguments in asked} == {"palindrome"}
    assert (tmp_path / "automaton.svg").read_text(encoding="utf-8").count(
        'class="node"'
    ) == 3  # two states, and where the arrow begins
    titles = [figure.layout.title.text for figure in figures]
    assert titles[0].startswith(f"nnpda{', rounded' if rounded else ''} on abcba: accepted")
    assert titles[1].startswith("Hidden vectors of the ")


def test_a_report_shows_who_visits_which_state(result: Extraction) -> None:
    page = report_page(result, [], "report")
    assert "Hidden vectors by state" in page
    assert re.search(r"How often 60 words, short ones and others, visit each state: q0 \d+; q1 \d+\.", page)
    states = tuple(f"q{number}" for number in range(61))
    large = replace(result, automaton=PushdownAutomaton(states, ("a", "b", "c"), ("a", "b"), {}, "q0"))
    assert "No drawing: this automaton has 61 states and 0 edges" in report_page(large, [], "report")


def test_a_long_word_takes_little_room(client: FlaskClient) -> None:
    del client
    word = "a" * 4_999 + "c" + "a" * 5_000
    one = shown(NAME, None, None)
    assert known(NAME) is not None
    run = run_view(one, word)
    assert len(run["steps"]) == 9_999
    assert run["stuck"] is not None
    assert len(json.dumps(run)) < 100_000


@pytest.mark.slow
def test_a_job_that_one_server_starts_is_followed_by_another(client: FlaskClient) -> None:
    other = new_application().server.test_client()
    found = re.search(r'"end_id":"([^"]+)"', client.get("/").text)
    assert found is not None
    values = {"network": NAME, "automaton-language": "nonsense", "automaton-extract": 1}
    body = body_of(client, "automaton-ended.data", values, "automaton-extract")
    begun = json.loads(client.post(f"/_dash-update-component?endId={found[1]}", json=body).text)
    handles = f"endId={found[1]}&cacheKey={begun['cacheKey']}&job={begun['job']}"
    for _ in range(600):
        reply = json.loads(other.post(f"/_dash-update-component?{handles}", json=body).text)
        if "response" in reply:
            break
        time.sleep(0.1)
    assert reply["response"]["automaton-ended"]["data"]["problem"].startswith("unknown language 'nonsense'")


def test_what_drifts_is_drawn_where_a_word_that_goes_round_breaks_the_network(result: Extraction) -> None:
    one = shown(NAME, None, None)
    assert (drift_view(one, "light") is None) == (result.drift is None)
    entry = {
        "word": "()()()",
        "cycle": "()",
        "symbol": ")",
        "decision": "output )",
        "quantity": "hidden unit 1",
        "per_cycle": 0.1,
        "cycles": [1, 2, 3],
        "values": [0.1, 0.2, 0.6],
        "margins": [0.4, 0.3, -0.1],
        "threshold": 0.5,
        "first_broken": 3,
    }
    drifting = replace(one, known=replace(one.known, report={**one.known.report, "drift": entry}))
    figure = drift_view(drifting, "dark")
    assert figure is not None
    assert list(figure.data[0]["y"]) == entry["values"]
    assert "broken at cycle 3" in figure.layout.title.text
