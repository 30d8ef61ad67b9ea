"""A task of one's own is as good as those that come along."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

import stacklens as sl
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition
from stacklens.errors import StacklensError
from stacklens.extract.by_name import specification_for
from stacklens.languages.tasks.own import OwnTask

STEPS: dict[Key, Transition] = {
    (state, bit, ("⊥",)): Transition(str(int(state != bit)), (NONE,), str(int(state != bit)))
    for state in "01"
    for bit in "01"
}
PARITY = PushdownAutomaton(("0", "1"), ("0", "1"), (), STEPS, "0", frozenset("01"))


def parities(word: Any) -> list[str]:
    if "2" in word:
        raise ValueError("there is no 2")
    return [str(ones % 2) for ones in accumulate(map(int, word))]


def draw(size: int, rng: np.random.Generator) -> str:
    return "".join(rng.choice(["0", "1"], size))


def test_an_automaton_is_proved_equal_to_a_task_of_ones_own_or_different() -> None:
    asked = specification_for(OwnTask("parity", "01", parities, draw, reference=PARITY))
    assert asked is not None
    assert isinstance(asked.compare(PARITY), sl.Equal)
    stuck = {key: replace(step, target="0") for key, step in STEPS.items()}
    found = asked.compare(replace(PARITY, transitions=stuck))
    assert isinstance(found, sl.Different)
    assert parities(found.word) != list(replace(PARITY, transitions=stuck).transduce(found.word))


def test_sizes_are_those_given() -> None:
    task = OwnTask("parity", "01", parities, draw, sizes={"train": (3, 4)})
    assert {len(word) for word in task.sample(30).words} == {3, 4}
    assert {len(word) for word in task.sample(30, (1, 2)).words} == {1, 2}
    assert min(len(word) for word in task.sample(30, split="test").words) > 20


def test_what_does_not_fit_is_told() -> None:
    task = OwnTask("parity", "01", parities, draw)
    with pytest.raises(StacklensError, match="no word of parity begins with 012: there is no 2"):
        task.expected("012")
    with pytest.raises(StacklensError, match="the task short says 1 outputs for 2 symbols; expected one a symbol"):
        OwnTask("short", "01", lambda _: ["0"], draw).expected("00")
    with pytest.raises(StacklensError, match="kind is 'recognition'; expected transduction, next symbol or next set"):
        OwnTask("parity", "01", parities, draw, kind="recognition")
