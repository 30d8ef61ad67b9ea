"""Accuracy by size: who is right is known beforehand, and a picture of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.accuracy import SizeScores, scores_by_size
from stacklens.extract.by_name import specification_of
from stacklens.extract.specification import Specification
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import ZOO, Checkpoint, load_network


@cache
def subject(name: str) -> tuple[Checkpoint, Specification]:
    checkpoint = load_network(ZOO / f"{name}.pt")
    specification = specification_of(checkpoint)
    assert specification is not None
    return checkpoint, specification


def scores(name: str, automaton: PushdownAutomaton | None = None, largest: int = 12, words: int = 5) -> SizeScores:
    checkpoint, specification = subject(name)
    return scores_by_size(checkpoint.model, specification, automaton, largest=largest, words=words)


def right(found: SizeScores, who: str, sort: str) -> set[float]:
    frame = found.to_frame()
    return set(frame[(frame["who"] == who) & (frame["sort"] == sort)]["accuracy"])


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *(("nnpda-palindrome", "length"), ("marnn-stack-rnn-dyck-2", "length"), ("stack-rnn-anbmcnm", "n")),
        *(("stack-rnn-memorization", "n"), ("neural-stack-reversal", "size"), ("neural-stack-delayed-xor", "size")),
    ],
)
def test_the_reference_automaton_is_always_right(name: str, size: str) -> None:
    automaton = subject(name)[1].automaton()
    found = scores(name, automaton)
    assert found.size == size
    assert {one.right - one.words for one in found.scores if one.who == "automaton"} == {0}
    assert {one.who for one in found.scores} == {"network", "rounded network", "automaton"}
    assert max(one.high for one in found.scores) == 12
    assert all(0 < one.words <= 5 and 0 <= one.right <= one.words for one in found.scores)


def test_who_rejects_everything_is_right_on_near_misses_alone() -> None:
    automaton = get_language("palindrome").automaton
    found = scores("nnpda-palindrome", replace(automaton, accepting=frozenset()))
    assert right(found, "automaton", "members") == {0.0}
    assert right(found, "automaton", "near-misses") == {1.0}


def test_the_soft_network_fails_on_long_pieces_and_the_rounded_one_does_not() -> None:
    found = scores("stack-rnn-anbn", largest=50, words=4)
    by_n = {one.low: one.right for one in found.scores if one.who == "network"}
    assert [by_n[n] for n in range(2, 26)] == [4] * 24
    assert [by_n[n] for n in range(45, 51)] == [0] * 6
    assert right(found, "rounded network", "pieces") == {1.0}


def test_the_same_seed_gives_the_same_scores_in_an_order() -> None:
    found = scores("nnpda-1n0n")
    assert found == scores("nnpda-1n0n")
    assert [one.sort for one in found.scores] == ["members"] * 6 + ["near-misses"] * 6 + (
        ["members"] * 6 + ["near-misses"] * 6
    )
    assert [(one.low, one.high) for one in found.scores[:3]] == [(1, 2), (3, 4), (5, 6)]
