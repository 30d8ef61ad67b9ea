"""The page without a browser: views and addresses, what is shown of a view, and what the server answers."""

from __future__ import annotations

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
from stacklens.models.loading import ZOO
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace
from stacklens.viz.dashboard.application import new_application
from stacklens.viz.dashboard.networks import load, network_names, random_word
from stacklens.viz.dashboard.probing import LONGEST, probed, python_line
from stacklens.viz.dashboard.view import View, address_of, view_of

ROOT = Path(__file__).parents[2]
NAME = "marnn-stack-rnn-dyck-2"


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    client: FlaskClient = new_application().server.test_client()
    return client


def answer(client: FlaskClient, output: str, inputs: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """Return what the server answers to a page whose parts have these values; the first input has changed."""
    (found,) = [one for one in json.loads(client.get("/_dash-dependencies").text) if output in one["output"]]
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
    network=st.text(max_size=9),
    word=st.none() | st.text(max_size=9),
    rounded=st.booleans(),
    figure=st.text(min_size=1, max_size=5),
    step=st.integers(0, 99_999),
)
def test_an_address_says_all_of_a_view(network: str, word: str | None, rounded: bool, figure: str, step: int) -> None:
    view = View(network, word, rounded, figure, step)
    assert view_of(address_of(view)) == view


@pytest.mark.parametrize(
    "search", [None, "", "?", "?step=x", "?step=-1", "?step=²", "?rounded=yes&x=y", "?&&=", "?step="]
)
def test_an_address_that_makes_no_sense_is_the_usual_view(search: str | None) -> None:
    assert view_of(search) == View()


@pytest.mark.parametrize("name", network_names())
def test_every_network_of_the_zoo_has_words_and_is_shown(name: str) -> None:
    word = random_word(name, 3)
    assert word == random_word(name, 3)
    found = probed(View(name, word))
    assert found.problem is None
    assert found.figure.data
    assert len(found.letters) == len(found.notes) >= 1
    assert [who for who, _, _ in found.verdicts][:2] == ["network", "rounded network"]


def test_the_rounded_network_is_shown_where_it_is_asked_for() -> None:
    net = load(NAME).model
    found = heat_map(probed(View(NAME, "([])", rounded=True)).figure)
    np.testing.assert_array_equal(found, trace(Rounded(net), "([])").actions[0, :, 0].T)


def test_the_band_stands_over_the_step_and_the_last_one_at_most() -> None:
    for step, place in ((1, 1), (3, 3), (9, 4)):
        (band,) = probed(View(NAME, "([])", step=step)).figure.layout.shapes
        assert (band.x0, band.x1) == (place - 0.5, place + 0.5)
    assert not probed(View(NAME, "([])", figure="map")).figure.layout.shapes


def test_notes_tell_every_step() -> None:
    notes = probed(View("nnpda-palindrome", "aca")).notes
    assert [note.split(" · ")[0] for note in notes] == ["step 1 reads a", "step 2 reads c", "step 3 reads a"]
    assert "operation push · stack a 0.9" in notes[0]
    assert probed(View("nnpda-palindrome", "ccc")).notes[-1].endswith("rejected")


def test_notes_of_a_long_word_stay_short() -> None:
    found = probed(View("nnpda-palindrome", "a" * 1_000))
    assert len(found.notes) == 1_000
    assert max(map(len, found.notes)) < 120
    assert found.figure.data


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        (View(NAME, "(x"), "symbol 'x' is not in the alphabet ( ) [ ]."),
        (View("none", ""), "unknown network 'none': expected one of baby-ntm-dyck-2, "),
        (View(NAME, "", figure="x"), "unknown figure 'x': expected one of actions, "),
        (View(NAME, "(" * (LONGEST + 1)), "this word has 10,001 characters; expected at most 10,000."),
    ],
)
def test_what_is_wrong_with_a_view_is_said_in_one_sentence(view: View, problem: str) -> None:
    found = probed(view)
    assert found.problem is not None
    assert found.problem.startswith(problem)
    assert problem in said(found.figure)


def test_the_python_lines_make_the_same_figure() -> None:
    view = View("nnpda-palindrome", "aca", rounded=True, figure="actions")
    lines = python_line(view).replace(".show()", "").replace('"models/zoo/', 'ZOO + "/').splitlines()
    names: dict[str, Any] = {"ZOO": str(ZOO)}
    exec("\n".join(lines[:-1]) + f"\nfigure = {lines[-1]}", names)
    np.testing.assert_array_equal(heat_map(names["figure"]), heat_map(probed(view).figure))


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
    values = {name: next(iter(value.values())) for name, value in found.items()}
    assert values == {"network": "nnpda-1n0n", "word": "10", "kind": "rounded", "figure": "paper", "step": 2}
    found = answer(client, "kind.value", {"address": "?network=none&figure=none"}, {})
    assert (found["network"]["value"], found["figure"]["value"]) == (View.network, View.figure)
    assert found["word"]["value"]


def test_a_word_gives_figure_verdicts_and_steps(client: FlaskClient) -> None:
    choice = {"network": NAME, "word": "([)", "kind": "soft", "figure": "paper", "theme": "dark"}
    found = answer(client, "picture.figure", choice, {"step": 2})
    assert found["letters"]["data"] == list("([)")
    assert found["step"]["max"] == 3
    texts = [badge["props"]["children"] for badge in found["verdicts"]["children"]]
    assert texts[0] == "✗ network: symbol 3 was not predicted"
    assert texts[2] == "✗ language: not a member"
    assert found["picture"]["figure"]["layout"]["shapes"][0]["x0"] == 1.5


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
from stacklens.viz.dashboard.application import new_application
from stacklens.viz.dashboard.callbacks import show
new_application()
with ThreadPoolExecutor(10) as users:
    jobs = [users.submit(show, "marnn-stack-rnn-dyck-2", "()" * n, "soft", "paper", None, 1) for n in range(1, 21)]
assert [job.result()[-1] for job in jobs] == list(range(2, 41, 2))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
