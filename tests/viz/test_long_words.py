"""Long words: one after another for all users, shared by all panels, and everybody else is answered meanwhile."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.viz.test_dashboard import answer

from stacklens.probe.trace import trace
from stacklens.viz.dashboard import probe_page as probing
from stacklens.viz.dashboard import steps, turns
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.probe_page import drawn
from stacklens.viz.dashboard.steps import LONGEST_STACKS, LONGEST_WORD, steps_of
from stacklens.viz.dashboard.turns import LONG, NotYetError, Turns
from stacklens.viz.dashboard.view import View

NAME = "marnn-stack-rnn-dyck-2"
LONG_WORD = "()" * LONG
RULE = f"words of more than {LONG} symbols are worked on one at a time"


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    client: FlaskClient = new_application().server.test_client()
    return client


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Turns:
    """Return the turns of this test."""
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    mine = Turns(waiting=3, soon=0.05)
    monkeypatch.setattr(turns, "_turns", mine)
    return mine


class Gate:
    """Work that goes on until it is let through."""

    def __init__(self) -> None:
        self.open, self.begun = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.open.wait(60)
        return "done"


def test_pieces_are_done_one_at_a_time_in_the_order_they_came(own: Turns) -> None:
    gate, done = Gate(), list[str]()
    with pytest.raises(NotYetError, match=f"^{RULE}: the result appears here by itself$"):
        own.result("gate", gate)
    for number, name in enumerate("ab", 1):
        with pytest.raises(NotYetError, match=rf"; {number} pieces? of work comes? first: the result appears"):
            own.result(name, functools.partial(done.append, name))
    with pytest.raises(NotYetError, match=r"; 3 wait, which is the most: try again in a minute$"):
        own.result("c", lambda: done.append("c"))
    assert done == []
    gate.open.set()
    own.result("b", lambda: done.append("again"), patience=60)
    assert done == ["a", "b"]
    assert own.result("gate", lambda: "other") == "done"


def test_what_nobody_asks_for_any_more_is_not_done(own: Turns) -> None:
    gate, done = Gate(), list[str]()
    works: dict[str, Callable[[], Any]] = {
        "gate": gate,
        **{name: functools.partial(done.append, name) for name in ("left", "wanted")},
    }
    for name, work in works.items():
        with pytest.raises(NotYetError):
            own.result(name, work)
    own._pieces["left"].asked -= 1_000
    gate.open.set()
    own.result("wanted", lambda: None, patience=60)
    assert done == ["wanted"]


def test_what_goes_wrong_is_said_to_whoever_asked_and_the_next_piece_is_done(own: Turns) -> None:
    def wrong() -> None:
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        own.result("wrong", wrong, patience=60)
    assert own.result("right", lambda: 1, patience=60) == 1


def test_old_results_go_and_so_does_the_thread(own: Turns) -> None:
    for number in range(30):
        assert own.result(number, functools.partial(int, number), patience=60) == number
    assert len(own._pieces) <= 10
    for thread in threading.enumerate():
        if "_do_all" in thread.name:
            thread.join(60)
            assert not thread.is_alive()


def choice(word: str) -> dict[str, Any]:
    return {"network": NAME, "word": word, "kind": "soft", "page": "probe"}


def test_eight_users_with_long_words_keep_nobody_from_being_answered(client: FlaskClient, own: Turns) -> None:
    gate = Gate()
    with pytest.raises(NotYetError):
        own.result("somebody's", gate)
    assert gate.begun.wait(60)
    for number in range(8):
        long = "()" * (LONG + number)
        found = answer(client, "verdicts.children", choice(long), {})
        assert found["problem"]["children"].startswith(RULE)
        assert found["letters"]["data"] == []
        said = answer(client, "picture.figure", {**choice(long), "figure": "actions"}, {})["picture"]["figure"][
            "layout"
        ]
        assert "worked on one at a time" in str(said).replace("<br>", " ")
    found = answer(client, "verdicts.children", choice("()"), {})
    assert found["problem"]["children"] is None
    assert found["letters"]["data"] == ["(", ")"]
    gate.open.set()


def test_a_long_word_is_shown_once_it_has_had_its_turn(client: FlaskClient) -> None:
    for _ in range(600):
        found = answer(client, "verdicts.children", choice(LONG_WORD), {})
        if found["letters"]["data"]:
            break
        threading.Event().wait(0.05)
    assert found["letters"]["data"] == list(LONG_WORD)
    assert found["verdicts"]["children"] != []


def test_verdicts_figure_and_table_of_a_long_word_share_what_the_network_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def counted(model: Any, words: Any, **given: Any) -> Any:
        if len(words[0]) == len(long):  # what an earlier test began may still be going on
            asked.append(len(words[0]))
        return trace(model, words, **given)

    monkeypatch.setattr(steps, "trace", counted)
    long = "[]" * LONGEST_STACKS
    assert steps_of(NAME, long).problem is None
    for figure in ("actions", "hidden", "map"):
        assert drawn(View("probe", NAME, long, figure=figure)).data
    assert len(probing.tabled(View("probe", NAME, long), "steps")) == len(long)
    assert asked == [len(long)] * 2  # the network and the rounded one


def test_no_network_runs_only_to_say_that_its_stacks_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> None:
        raise AssertionError("the network runs")

    monkeypatch.setattr(steps, "trace", run)
    assert drawn(View("probe", NAME, "([" * (LONGEST_WORD // 2), figure="paper")).data == ()


def test_a_verdict_on_a_deep_word_takes_a_time_that_grows_with_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> None:
        raise AssertionError("a run copies its stacks at every step")

    monkeypatch.setattr("stacklens.automata.pda.PushdownAutomaton.run", run)
    verdicts = steps_of(NAME, "(" * (LONG + 1)).verdicts
    assert verdicts[-1] == ("language", "not a member", False)


def test_the_page_says_how_long_a_word_may_be(client: FlaskClient) -> None:
    said = f"at most {LONGEST_WORD:,} symbols; words of more than {LONG} are worked on one at a time, for all users"
    assert said in client.get("/_dash-layout").text
