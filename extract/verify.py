"""Checks: the automaton against what it should do or a network, on all words up to a length, on long and deep ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stacklens.automata.enumeration import word_at
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract.answers import automaton_answers, automaton_answers_on_all, network_answers
from stacklens.extract.reference import Reference
from stacklens.languages.words import format_word, make_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.models.verdicts import answers_on_all

__all__ = ["Agreement", "Kind", "agree_on", "agree_on_all"]

Kind = Literal["exhaustive", "long", "deep"]


@dataclass(frozen=True)
class Agreement:
    """How often an automaton and something else gave the same answers.

    Attributes:
        kind: "exhaustive" (all words up to `max_length`), "long" or "deep" (words drawn from a seed).
        other: what the automaton was compared with: "language", "network" or "rounded network".
        max_length: the longest word checked.
        words: how many words were checked, the empty one included.
        accepted: how many of them the automaton accepts, or does not cut short where it is no recogniser.
        disagreements: on how many the two differ.
        counterexample: a shortest word on which they differ, or None.
    """

    kind: Kind
    other: str
    max_length: int
    words: int
    accepted: int
    disagreements: int
    counterexample: Word | None = None

    def __str__(self) -> str:
        what = {"exhaustive": "words, all", "long": "words", "deep": "deep words"}[self.kind]
        found = f"{self.disagreements:,} disagreements in {self.words:,} {what} of length <= {self.max_length}"
        if self.counterexample is not None:
            found += f", first on {format_word(self.counterexample)!r}"
        return f"automaton and {self.other}: {found}"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "checks"."""
        word = self.counterexample
        return {
            "kind": self.kind,
            "between": ["automaton", self.other],
            "max_length": self.max_length,
            "words": self.words,
            "accepted": self.accepted,
            "disagreements": self.disagreements,
            "counterexample": None if word is None else format_word(word),
        }


def agree_on_all(
    pda: PushdownAutomaton, model: StackModel[Any], other: Reference | None, max_length: int
) -> Agreement | None:
    """Return the agreement on all words up to ``max_length``, prefixes shared on both sides.

    The automaton is compared with ``other``, or with ``model`` itself where that is None. The result is None where
    ``other`` has no answers for all words.
    """
    theirs = answers_on_all(model, max_length) if other is None else other.answers_on_all(model, max_length)
    if theirs is None:
        return None
    words, accepted, disagreements, counterexample = 0, 0, 0, None
    for length, (mine, their) in enumerate(zip(automaton_answers_on_all(pda, model, max_length), theirs, strict=True)):
        different = np.flatnonzero(mine != their)
        if counterexample is None and len(different):
            symbols = word_at(int(different[0]), length, pda.input_alphabet)
            counterexample = make_word(symbols, pda.input_alphabet)
        words, accepted = words + len(mine), accepted + int(_accepted(mine, model).sum())
        disagreements += len(different)
    return Agreement("exhaustive", _name(model, other), max_length, words, accepted, disagreements, counterexample)


def agree_on(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    other: Reference | None,
    words: Sequence[Word],
    kind: Kind,
    scored: np.ndarray | None = None,
) -> Agreement:
    """Return the agreement on ``words`` with ``other``, or with ``model`` itself where that is None.

    Only ``scored`` answers count, where these are given.
    """
    mine = automaton_answers(pda, model, words)
    theirs = network_answers(model, words) if other is None else other.answers(model, words)
    wrong = mine != theirs if scored is None else (mine != theirs) & scored
    different = [words[i] for i in np.flatnonzero(wrong.any(1)).tolist()]
    longest = max(map(len, words), default=0)
    first = min(different, key=len) if different else None
    ends = mine[np.arange(len(words)), [max(0, len(word) - 1) for word in words] if mine.shape[1] > 1 else 0]
    accepted = int(_accepted(ends, model).sum())
    return Agreement(kind, _name(model, other), longest, len(words), accepted, len(different), first)


def _accepted(answers: np.ndarray, model: StackModel[Any]) -> np.ndarray:
    accepted: np.ndarray = answers > 0 if model.task_kind == "recognition" else answers >= 0
    return accepted


def _name(model: StackModel[Any], other: Reference | None) -> str:
    if other is not None:
        return "language"
    return "rounded network" if isinstance(model, Rounded) else "network"
