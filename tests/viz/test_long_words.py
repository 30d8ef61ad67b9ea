"""Long words: one after another for all users, shared by all panels, and everybody else is answered meanwhile."""

from __future__ import annotations

import functools
import threading
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from tests.viz.page_client import asked, filled

from stacklens.viz.dashboard import requests as turns
from stacklens.viz.dashboard.requests import LONG, NotYetError, Turns

NAME = "marnn-stack-rnn-dyck-2"
LONG_WORD = "()" * LONG
RULE = f"words of more than {LONG} symbols are worked on one at a time"


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


def test_what_goes_wrong_is_said_to_whoever_asked_and_the_next_piece_is_done(own: Turns) -> None:
    def wrong() -> None:
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        own.result("wrong", wrong, patience=60)
    assert own.result("right", lambda: 1, patience=60) == 1


def test_eight_users_with_long_words_keep_nobody_from_being_answered(client: FlaskClient, own: Turns) -> None:
    gate = Gate()
    with pytest.raises(NotYetError):
        own.result("somebody's", gate)
    assert gate.begun.wait(60)
    for number in range(8):
        long = "()" * (LONG + number)
        assert asked(client, "word", 202, network=NAME, word=long)["wait"].startswith(RULE)
        found = filled(client, "figures", network=NAME, word=long, figure="actions")
        assert found.said[0].startswith(RULE)
        assert found.later is not None
    assert asked(client, "word", network=NAME, word="()")["letters"] == ["(", ")"]
    gate.open.set()


def test_a_long_word_is_shown_once_it_has_had_its_turn(client: FlaskClient) -> None:
    for _ in range(600):
        answer = client.get(f"/api/word?network={NAME}&word={LONG_WORD}")
        if answer.status_code == 200:
            break
        threading.Event().wait(0.05)
    found = answer.json
    assert found is not None
    assert found["letters"] == list(LONG_WORD)
    assert {len(row["at"]) for row in found["rows"] if row["type"] == "operation"} == {len(LONG_WORD)}
