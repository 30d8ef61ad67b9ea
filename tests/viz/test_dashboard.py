"""The page without a browser: views and addresses, what is shown of a view, and what the server answers."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from tests.face.quick import QUICK, read_once
from tests.models.representatives import EVERY
from tests.viz.networks import said
from tests.viz.page_client import asked, filled

from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.by_name import specification_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.report import load_result
from stacklens.models.checkpoint import ZOO
from stacklens.viz.dashboard import networks as uploads
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction
from stacklens.viz.dashboard.networks import checkpoint_of, random_word
from stacklens.viz.dashboard.panels import LONGEST_WORD, TABLES, drawn, figure_lines, table_lines, tabled
from stacklens.viz.dashboard.requests import DRAWERS, FORMER, View, view_of
from stacklens.viz.dashboard.routes import network_answer, word_answer
from stacklens.viz.figures import FIGURES

NAME = "marnn-stack-rnn-dyck-2"


@given(
    network=st.text(max_size=9),
    word=st.none() | st.text(max_size=9),
    rounded=st.booleans(),
    figure=st.text(min_size=1, max_size=5),
    step=st.integers(0, 99_999),
    drawer=st.sampled_from(DRAWERS),
)
def test_an_address_says_all_of_a_view(
    network: str, word: str | None, rounded: bool, figure: str, step: int, drawer: str
) -> None:
    view = View(network, word, rounded, figure, step, drawer)
    parts = {**asdict(view), "rounded": int(rounded)}
    assert view_of(f"?{urlencode({name: part for name, part in parts.items() if part is not None})}") == view


def test_links_to_the_former_pages_open_what_has_taken_their_place() -> None:
    assert [view_of(f"?page={page}").drawer for page in FORMER] == list(FORMER.values())


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
    found = word_answer(name, word, False)
    assert len(found["letters"]) >= 1
    assert drawn(View(name, word)).data
    assert network_answer(name)["automaton"]["svg"].count('class="state"') >= 1


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


def test_an_automaton_that_is_extracted_anew_is_shown_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    name, nothing = "nnpda-palindrome", PushdownAutomaton(("q0",), ("a", "b", "c"), ("a",), {}, "q0")
    assert len(word_answer(name, "aca", False)["run"]["taken"]) == 3
    checkpoint = checkpoint_of(name)
    result = read_once(checkpoint.model, specification_of(checkpoint), ExtractionConfig(**QUICK))
    keep_extraction(name, ExtractionSettings(), replace(result, minimised=nothing))
    assert word_answer(name, "aca", False)["run"]["taken"] == []
    assert "state" in [note.text for note in drawn(View(name, "aca")).layout.annotations]
    assert "pda = sl.extract(network).automaton\n" in figure_lines(View(name, "aca"))


def test_whatever_a_file_is_called_the_python_lines_name_it_and_do_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    title = 'x"); print("hm'
    name = uploads.keep_upload((ZOO / "nnpda-1n0n.pt").read_bytes(), title).name
    for lines in (figure_lines(View(name, "10")), table_lines(View(name, "10"), "steps")):
        texts = [node.value for node in ast.walk(ast.parse(lines)) if isinstance(node, ast.Constant)]
        assert title in texts


@pytest.mark.parametrize("name", TABLES)
def test_the_python_lines_make_the_same_table(name: str) -> None:
    view = View(NAME, "([)")
    names = run_lines(table_lines(view, name).replace("print(", "table = ("))
    assert names["table"].equals(tabled(view, name))


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
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_comes_with_what_its_address_asks_for(client: FlaskClient) -> None:
    found = first(client, "?network=nnpda-1n0n&word=10&step=2&rounded=1")
    assert found["word"] == {**word_answer("nnpda-1n0n", "10", True)}
    assert found["network"]["title"] == "nnpda-1n0n"
    assert first(client, "?network=nnpda-1n0n")["word"]["word"] == random_word("nnpda-1n0n", 0)
    assert "word" not in first(client, "?network=nnpda-1n0n&word=x")


def test_an_unknown_network_in_a_link_opens_no_other(client: FlaskClient) -> None:
    assert first(client, "?network=none&word=10") == {}
    assert asked(client, "network", 400, network="none")["problem"].startswith("unknown network 'none': expected one")


def test_no_word_can_end_the_data_in_the_page(client: FlaskClient, tmp_path: Path) -> None:
    del tmp_path
    assert "<!--<script>" not in client.get("/?network=nnpda-1n0n&word=<!--<script></script>").text


def test_a_figure_comes_in_the_theme_with_its_lines(client: FlaskClient) -> None:
    found = filled(client, "figures", network=NAME, word="([)", theme="dark")
    (figure,), (lines,) = found.figures, found.lines
    assert figure["layout"]["paper_bgcolor"] == "#16181D"
    assert "sl.load" in lines
    (spoken,) = (one["aria-label"] for one in found.of_type("Div") if one.get("role") == "img")
    assert spoken.startswith(figure["layout"]["title"]["text"])


@pytest.mark.parametrize(("suffix", "begins"), [("csv", "word,step,symbol"), ("trace", '{\n "schema": 1')])
def test_the_trace_comes_as_a_file(client: FlaskClient, suffix: str, begins: str) -> None:
    answer = client.get(f"/api/file?network={NAME}&word=()&rounded=1&suffix={suffix}")
    name = "trace.json" if suffix == "trace" else "csv"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{NAME}.{name}"'
    assert answer.text.startswith(begins)
    asked(client, "file", 400, network=NAME, word="x", suffix=suffix)
