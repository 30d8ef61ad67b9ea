"""The page without a browser: views and addresses, what is shown of a view, and what the server answers."""

from __future__ import annotations

import ast
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from tests.viz.networks import heat_map, said

from stacklens.errors import UnknownNameError
from stacklens.extract.by_name import specification_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import Extraction, extract
from stacklens.models.io import ZOO
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace
from stacklens.viz.dashboard import networks as uploads
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction
from stacklens.viz.dashboard.networks import load, network_names, random_word
from stacklens.viz.dashboard.probe_page import TABLES, drawn, figure_lines, table_lines, tabled
from stacklens.viz.dashboard.steps import LONGEST_WORD, steps_of
from stacklens.viz.dashboard.view import PAGE_NAMES, View, address_of, view_of
from stacklens.viz.figures import FIGURES

ROOT = Path(__file__).parents[2]
NAME = "marnn-stack-rnn-dyck-2"


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    client: FlaskClient = new_application().server.test_client()
    return client


def answer(client: FlaskClient, output: str, inputs: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """Return what the server answers to a page whose parts have these values; the first input has changed."""
    there = [one for one in json.loads(client.get("/_dash-dependencies").text) if output in one["output"]]
    (found,) = [one for one in there if {*inputs} <= {given["id"] for given in one["inputs"]}]
    parts = [part.split(".") for part in found["output"].strip(".").split("...")]
    outputs = [{"id": name, "property": what} for name, what in parts]
    changed = next(one for one in found["inputs"] if one["id"] in inputs)
    body = {
        "output": found["output"],
        "outputs": outputs if len(outputs) > 1 else outputs[0],
        "inputs": [{**one, "value": inputs.get(one["id"])} for one in found["inputs"]],
        "state": [{**one, "value": state.get(one["id"])} for one in found.get("state", [])],
        "changedPropIds": [f"{changed['id']}.{changed['property']}"],
    }
    reply = client.post("/_dash-update-component", json=body)
    assert reply.status_code == 200, reply.text
    response: dict[str, Any] = json.loads(reply.text)["response"]
    return response


@given(
    page=st.sampled_from(PAGE_NAMES),
    network=st.text(max_size=9),
    word=st.none() | st.text(max_size=9),
    rounded=st.booleans(),
    figure=st.text(min_size=1, max_size=5),
    step=st.integers(0, 99_999),
)
def test_an_address_says_all_of_a_view(
    page: str, network: str, word: str | None, rounded: bool, figure: str, step: int
) -> None:
    view = View(page, network, word, rounded, figure, step)
    assert view_of(address_of(view)) == view


@pytest.mark.parametrize(
    "search", [None, "", "?", "?step=x", "?step=-1", "?step=²", "?rounded=yes&x=y", "?&&=", "?step=", "?page=x"]
)
def test_an_address_that_makes_no_sense_is_the_usual_view(search: str | None) -> None:
    assert view_of(search) == View()


@pytest.mark.parametrize("name", network_names())
def test_every_network_of_the_zoo_has_words_and_is_shown(name: str) -> None:
    word = random_word(name, 3)
    assert word == random_word(name, 3)
    assert len({random_word(name, seed) for seed in range(5)}) > 1
    found = steps_of(name, word)
    assert found.problem is None
    assert len(found.letters) == len(found.notes) >= 1
    assert [who for who, _, _ in found.verdicts][:2] == ["network", "rounded network"]
    assert drawn(View("probe", name, word)).data


def test_the_rounded_network_is_shown_where_it_is_asked_for() -> None:
    net = load(NAME).model
    found = heat_map(drawn(View("probe", NAME, "([])", rounded=True)))
    np.testing.assert_array_equal(found, trace(Rounded(net), "([])").actions[0, :, 0].T)


def test_a_figure_says_whether_it_runs_over_steps() -> None:
    assert drawn(View("probe", NAME, "([])")).layout.meta == {"over_steps": True}
    assert drawn(View("probe", NAME, "([])", figure="map")).layout.meta == {"over_steps": False}


def test_notes_tell_every_step() -> None:
    notes = steps_of("nnpda-palindrome", "aca").notes
    assert [note.split(" · ")[0] for note in notes] == ["step 1 reads a", "step 2 reads c", "step 3 reads a"]
    assert "operation push · stack a 0.9" in notes[0]
    assert steps_of("nnpda-palindrome", "ccc").notes[-1].endswith("rejected")


def test_notes_of_a_long_word_stay_short() -> None:
    found = steps_of("nnpda-palindrome", "a" * 1_000)
    assert len(found.notes) == 1_000
    assert max(map(len, found.notes)) < 120
    assert drawn(View("probe", "nnpda-palindrome", "a" * 1_000)).data


@pytest.mark.parametrize(
    ("network", "word", "problem"),
    [
        (NAME, "(x", "symbol 'x' is not in the alphabet ( ) [ ]."),
        ("none", "", "unknown network 'none': expected one of baby-ntm-dyck-2, "),
        (NAME, "(" * (LONGEST_WORD + 1), "this word has 10,001 characters; expected at most 10,000."),
        ("upload-1", "", "no file upload-1 here; files are kept for a day: open it again."),
    ],
)
def test_what_is_wrong_with_a_word_is_said_in_one_sentence(network: str, word: str, problem: str) -> None:
    found = steps_of(network, word)
    assert found.problem is not None
    assert found.problem.startswith(problem)
    assert problem in said(drawn(View("probe", network, word)))


def test_an_unknown_figure_is_said_in_one_sentence() -> None:
    assert "unknown figure 'x': expected one of actions, " in said(drawn(View("probe", NAME, "", figure="x")))


@pytest.mark.parametrize("figure", FIGURES)
def test_the_python_lines_make_the_same_figure(figure: str) -> None:
    view = View("probe", "nnpda-palindrome", "aca", rounded=figure != "rounding", figure=figure)
    lines = figure_lines(view).splitlines()
    names = run_lines("\n".join([*lines[:-1], f"figure = {lines[-1].removesuffix('.show()')}"]))
    found = drawn(view)
    assert json.loads(names["figure"].to_json())["data"] == json.loads(found.to_json())["data"]


def test_a_network_without_an_automaton_is_shown_without_one_and_with_one_once_it_is_extracted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    view = View("probe", "nnpda-palindrome", "aca")
    assert "automaton" not in [who for who, *_ in steps_of(view.network, "aca").verdicts]
    checkpoint = load(view.network)
    result = extract(checkpoint.model, specification_of(checkpoint), ExtractionConfig(max_length=5))
    keep_extraction(view.network, ExtractionSettings(), result)
    assert steps_of(view.network, "aca").verdicts[-1] == ("automaton", "accepted", True)
    assert "state" in [note.text for note in drawn(view).layout.annotations]
    assert "pda = sl.extract(network).automaton\n" in figure_lines(view)


def test_the_python_lines_extract_as_the_automaton_that_is_drawn_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    view = View("probe", "nnpda-parentheses", "(())")
    checkpoint, settings = load(view.network), ExtractionSettings(max_length=5, language="dyck-1")
    result = extract(checkpoint.model, specification_of(checkpoint, "dyck-1"), settings.config())
    keep_extraction(view.network, settings, result)
    asked: list[tuple[Any, ...]] = []

    def quickly(*arguments: Any) -> Extraction:
        asked.append(arguments)
        return result

    monkeypatch.setattr("stacklens.extract.extraction.extract", quickly)
    run_lines(figure_lines(view).replace(".show()", ""))
    ((_, language, config, _),) = asked
    assert (language.name, config) == ("dyck-1", ExtractionConfig(max_length=5))


def test_whatever_a_file_is_called_the_python_lines_name_it_and_do_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    title = 'x"); print("hm'
    name = uploads.keep_upload((ZOO / "nnpda-1n0n.pt").read_bytes(), title).name
    for lines in (figure_lines(View("probe", name, "10")), table_lines(View("probe", name, "10"), "steps")):
        texts = [node.value for node in ast.walk(ast.parse(lines)) if isinstance(node, ast.Constant)]
        assert title in texts


@pytest.mark.parametrize("name", TABLES)
def test_the_python_lines_make_the_same_table(name: str) -> None:
    view = View("probe", NAME, "([)")
    names = run_lines(table_lines(view, name).replace("print(", "table = ("))
    assert names["table"].equals(tabled(view, name))


def run_lines(lines: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(lines, names)
    return names


def test_a_network_has_to_be_in_the_zoo() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown network '../x': expected one of "):
        load("../x")


def test_the_server_gives_the_page_and_its_own_files_only(client: FlaskClient) -> None:
    page = client.get("/").text
    assert "probe.js" in page
    assert "style.css" in page
    assert "http://" not in page
    assert "https://" not in page
    assert client.get("/_dash-layout").status_code == 200


def test_an_address_fills_the_controls(client: FlaskClient) -> None:
    found = answer(client, "kind.value", {"address": "?network=nnpda-1n0n&word=10&step=2&rounded=1"}, {})
    values = {name: value.get("value", value.get("data")) for name, value in found.items()}
    shown = {"network": "nnpda-1n0n", "word": "10", "kind": "rounded", "figure": "paper", "step": 2}
    assert values == {**shown, "page": "probe"}
    found = answer(client, "kind.value", {"address": "?network=none&figure=none"}, {})
    assert (found["network"]["value"], found["figure"]["value"]) == (View.network, View.figure)
    assert found["word"]["value"]


def test_a_word_gives_verdicts_and_steps(client: FlaskClient) -> None:
    choice = {"network": NAME, "word": "([)", "kind": "soft", "page": "probe"}
    found = answer(client, "verdicts.children", choice, {})
    assert found["letters"]["data"] == list("([)")
    assert found["step"]["max"] == 3
    texts = [badge["props"]["children"] for badge in found["verdicts"]["children"]]
    assert texts[0] == "✗ network: symbol 3 was not predicted"
    assert texts[2] == "✗ language: not a member"


def test_a_word_gives_a_figure_in_the_theme(client: FlaskClient) -> None:
    choice = {"network": NAME, "word": "([)", "kind": "soft", "page": "probe", "figure": "paper", "theme": "dark"}
    found = answer(client, "picture.figure", choice, {})
    assert found["picture"]["figure"]["layout"]["paper_bgcolor"] == "#16181D"
    assert "sl.load" in found["picture-line"]["children"]
    assert answer(client, "picture.figure", {**choice, "page": "trust"}, {}) == {}


def test_an_automaton_that_arrives_while_a_word_is_shown_is_drawn(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    name = "nnpda-palindrome"
    choice = {"network": name, "word": "aca", "kind": "soft", "page": "probe", "figure": "paper", "extracted": None}
    assert "automaton=" not in answer(client, "picture.figure", choice, {})["picture-line"]["children"]
    checkpoint = load(name)
    keep_extraction(
        name,
        ExtractionSettings(),
        extract(checkpoint.model, specification_of(checkpoint), ExtractionConfig(max_length=5)),
    )
    ended = {"network": name, "settings": vars(ExtractionSettings()), "problem": None}
    found = answer(client, "picture.figure", {**choice, "extracted": ended}, {})
    assert "automaton=" in found["picture-line"]["children"]


def test_a_table_gives_rows_and_columns(client: FlaskClient) -> None:
    choice = {"network": NAME, "word": "([)", "kind": "soft", "page": "probe", "table": "steps"}
    found = answer(client, "steps.rowData", choice, {})["steps"]
    assert [row["symbol"] for row in found["rowData"]] == list("([)")
    recogniser = {**choice, "network": "nnpda-1n0n", "word": "10", "table": "predictions"}
    found = answer(client, "steps.rowData", recogniser, {})
    assert found["steps"]["rowData"] == []
    assert found["steps-line"]["children"].startswith("this nnpda is a recogniser and predicts nothing")


def test_another_word_is_given_where_the_old_one_cannot_be_read(client: FlaskClient) -> None:
    found = answer(client, "word.value@", {"random": 2, "network": NAME}, {"word": "()"})
    assert found["word"]["value"] == random_word(NAME, 2)
    kept = {"network": NAME}
    body = answer(client, "word.value@", kept, {"word": "abc"})
    assert body["word"]["value"] == random_word(NAME, 0)


@pytest.mark.parametrize(("button", "begins"), [("csv", "word,step,symbol"), ("json", '{\n "schema": 1')])
def test_the_trace_comes_as_a_file(client: FlaskClient, button: str, begins: str) -> None:
    found = answer(client, "file.data", {button: 1}, {"network": NAME, "word": "()", "kind": "rounded"})
    assert found["file"]["data"]["filename"] == f"{NAME}.{button}"
    assert found["file"]["data"]["content"].startswith(begins)


def test_no_file_comes_of_a_word_that_cannot_be_read(client: FlaskClient) -> None:
    assert answer(client, "file.data", {"csv": 1}, {"network": NAME, "word": "x", "kind": "soft"}) == {}


def test_the_file_at_the_top_offers_the_application_and_its_server() -> None:
    found = runpy.run_path(str(ROOT / "app.py"))
    assert found["app"].server is found["server"]


@pytest.mark.slow
def test_the_first_users_may_come_all_at_once() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.probe_page import show
new_application()
with ThreadPoolExecutor(10) as users:
    name = "marnn-stack-rnn-dyck-2"
    jobs = [users.submit(show, name, "()" * n, "soft", "probe", "paper", None, None) for n in range(1, 21)]
assert all(job.result()[0].data for job in jobs)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
