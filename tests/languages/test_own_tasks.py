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
from stacklens.models.own.black_box import BlackBox

STEPS: dict[Key, Transition] = {
    (state, bit, ("⊥",)): Transition(str(int(state != bit)), (NONE,), str(int(state != bit)))
    for state in "01"
    for bit in "01"
}
PARITY = PushdownAutomaton(("0", "1"), ("0", "1"), (), STEPS, "0", frozenset("01"))


NO_WORD: Any = None


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


def test_what_does_not_fit_is_told() -> None:
    task = OwnTask("parity", "01", parities, draw)
    with pytest.raises(StacklensError, match="no word of parity begins with 012: there is no 2"):
        task.expected("012")
    with pytest.raises(StacklensError, match="the task short gives 1 outputs for 2 symbols; expected one a symbol"):
        OwnTask("short", "01", lambda _: ["0"], draw).expected("00")
    with pytest.raises(StacklensError, match="kind is 'recognition'; expected transduction, next symbol or next set"):
        OwnTask("parity", "01", parities, draw, kind="recognition")
    with pytest.raises(StacklensError, match="gives the output 1 on 01; expected '0', '1' or None"):
        OwnTask("numbers", "01", lambda word: [1 for _ in word], draw).expected("01")
    with pytest.raises(StacklensError, match=r"expected of the task top fails on \): IndexError.*expected ValueError"):
        OwnTask("top", "()", lambda _: [[].pop()], draw).expected(")")
    with pytest.raises(StacklensError, match=r"draw of the task none fails on size \d+: TypeError.*expected a word"):
        OwnTask("none", "01", parities, lambda *_: NO_WORD).sample(1)


def after_brackets(word: Any) -> list[set[str]]:
    """Return what may come next, as the documentation asks: ValueError where nothing closes."""
    depths = list(accumulate(1 if symbol == "(" else -1 for symbol in word))
    if min(depths, default=0) < 0:
        raise ValueError("it closes what is not open")
    return [{"(", ")"} if depth else {"("} for depth in depths]


def draw_brackets(size: int, rng: np.random.Generator) -> str:
    """Return a word that may well be empty."""
    inner = int(rng.integers(size // 2 + 1))
    return "(" * inner + ")" * inner + "()" * (size // 2 - inner) * int(rng.integers(2))


BRACKETS = OwnTask("brackets", "()", after_brackets, draw_brackets, kind="next set")


def test_what_raises_off_the_language_is_a_rejection_from_there_on() -> None:
    words = ["", "(())", "())((", ")", "(" * 30 + ")" * 31 + "()"]
    box = BlackBox(lambda some: [frozenset("()") for _ in some], ("(", ")"), first=("(", ")"))
    asked = specification_for(BRACKETS)
    assert asked is not None
    answers = asked.answers(box, words)
    for word, row in zip(words, answers.tolist(), strict=True):
        live = next((n for n in range(len(word)) if word[: n + 1].count("(") < word[: n + 1].count(")")), len(word))
        assert row[:live] == [1 + 2 * (word[: n + 1].count("(") > word[: n + 1].count(")")) for n in range(live)]
        assert set(row[live:]) <= {-1}


@pytest.mark.slow
def test_a_network_is_extracted_that_parts_from_the_task_off_its_words() -> None:
    def says(words: list[tuple[str, ...]]) -> list[frozenset[str]]:
        return [frozenset("()") if sum(1 if x == "(" else -1 for x in word) % 3 else frozenset("(") for word in words]

    result = sl.extract(BlackBox(says, ("(", ")")), BRACKETS, max_length=8, quiet=True)
    assert result.status == 1  # it counts modulo 3
    word = next(check.counterexample for check in result.checks if check.other == "language")
    assert word is not None
    assert "language" in result.why()
