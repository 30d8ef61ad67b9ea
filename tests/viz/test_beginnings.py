"""The beginning of a long word: shown before its turn has come, and what the whole word says there."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.models.representatives import REPRESENTATIVES
from tests.viz.page_client import asked

from stacklens.viz.dashboard.extractions import known
from stacklens.viz.dashboard.networks import checkpoint_of, random_word
from stacklens.viz.dashboard.routes import beginning_answer, word_answer

DYCK, LONG = "marnn-stack-rnn-dyck-2", "([]([]))" * 75

pytestmark = pytest.mark.usefixtures("own_store")


def values(row: dict[str, Any]) -> list[Any]:
    """Return what a row shows at each step, whatever numbers its names have."""
    if row["type"] == "heat":
        return list(row["values"])
    return [None if place < 0 else row["names"][place] for place in row.get("at", [])]


@pytest.mark.parametrize("name", REPRESENTATIVES)
@pytest.mark.parametrize("rounded", [False, True])
def test_a_beginning_says_what_the_whole_word_says_there(name: str, rounded: bool) -> None:
    word = (random_word(name, 3) * 300)[:600]
    begun = beginning_answer(name, word, rounded, 1)
    model = checkpoint_of(name).model
    if begun is None:
        found = known(name)
        assert model.end is not None or not model.real_time or found is None or found.automaton is None
        return
    whole = word_answer(name, word, rounded)
    assert (len(begun["letters"]), begun["of"]) == (240, len(whole["letters"]))
    rows = {row["name"]: row for row in whole["rows"]}
    assert [name for name in rows if name in {row["name"] for row in begun["rows"]}] == [
        row["name"] for row in begun["rows"]
    ]  # deeper cells of the stack may come later
    for first in begun["rows"]:
        row = rows[first["name"]]
        assert values(first) == values(row)[: len(values(first))], row["name"]
        marks = first.get("marks") or ""
        assert marks == (row.get("marks") or "")[: len(marks)]
    assert begun["wrong"] == [step for step in whole["wrong"] if step <= 240]


def test_only_a_long_word_at_an_early_step_has_a_beginning(client: FlaskClient) -> None:
    begun = asked(client, "word", network=DYCK, word=LONG, beginning=1, step=300)["beginning"]
    assert (len(begun["letters"]), begun["of"]) == (400, 600)
    assert begun["sentence"] == [{"text": "The first 400 of 600 symbols are shown; the others are being read."}]
    for word, step in ((LONG, 401), (LONG[:500], 1), (LONG, 599)):
        assert asked(client, "word", network=DYCK, word=word, beginning=1, step=step) == {"beginning": None}
    said = asked(client, "word", 400, network=DYCK, word=LONG + "x", beginning=1, step=1)["problem"]
    assert said == "symbol 'x' is not in the alphabet ( ) [ ]."
