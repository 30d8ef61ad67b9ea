"""Agreement of an automaton with what it should do, or with a network, on all words up to a length or on given ones.

Accepted words are counted a second time, by dynamic programming without running any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from stacklens.automata.counting import count_words
from stacklens.automata.enumeration import word_at
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract.answers import (
    accepted_answers,
    automaton_answers,
    automaton_answers_on_all,
    differences,
    network_answers,
)
from stacklens.extract.specification import Specification
from stacklens.extract.verification.counterexamples import BUDGET, shorten
from stacklens.extract.wording import agreement_claim
from stacklens.languages.words import format_word, make_word
from stacklens.models.base import StackModel
from stacklens.models.inference import answers_on_all
from stacklens.models.rounding import Rounded

__all__ = [
    "AcceptedCounts",
    "Agreement",
    "CheckKind",
    "agree_on",
    "agree_on_all",
    "count_again",
    "differing",
    "first_contradiction",
    "side_name",
]

# words of the analog network, which contradict nothing, are shortened with so many times less effort: the shortest of
# them is shortened on for its horizon
_LESS = 16
_ERRS = 0.05  # with this probability at most a bound on errors is wrong, for both automata that may be checked together
_MOST_COUNTED = 5_000  # transitions
CheckKind = Literal[
    "exhaustive", "long", "deep", "covering", "driven", "pumped", "sampled", "nested", "conformance", "random"
]


@dataclass(frozen=True)
class Agreement:
    """How often an automaton and something else gave the same answers.

    Attributes:
        kind: "exhaustive" (all words up to `max_length`), "long" or "deep" (words drawn from a seed), "covering" (every
            transition and every two in a row), "driven" (every input at every height of the stack), "pumped" (cycles
            of the automaton, repeated; what is counted are families of words, and the search ends where some break),
            "sampled" (the words of the search for states, where the automaton is given out although it errs on some),
            "nested" (what a black box counts to every depth), "conformance" (the W-method) or "random" (drawn anew).
        other: what the automaton was compared with: "language", "network" or "rounded network".
        max_length: the longest word checked.
        words: how many words were checked, the empty one included.
        accepted: how many of them the automaton accepts, or does not cut short where it is no recogniser.
        disagreements: on how many the two differ.
        counterexample: a word on which they differ, or None: a shortest one among all words, else a short one.
        by_length: for "exhaustive", how many words of each length are accepted; else empty.
        made_of: for "pumped", the counterexample as its parts, and how often each comes.
        more_states: for "conformance": what has at most so many states more than the automaton, and answers these words
            as it does, is equal to it. None where that holds for no number, since only some of the words were asked.
        drawn: for "random", from which distribution.
    """

    kind: CheckKind
    other: str
    max_length: int
    words: int
    accepted: int
    disagreements: int
    counterexample: Word | None = None
    by_length: tuple[int, ...] = ()
    made_of: str | None = None
    more_states: int | None = None
    drawn: str | None = None

    @property
    def error_bound(self) -> float | None:
        """Return on which share of words so drawn, at most, both differ, with 95 % confidence; None if not known.

        It is exact for words drawn independently, without a difference. Half of the 5 % is for the automaton that was
        mended after the first check, where there was one.
        """
        if self.kind != "random" or self.disagreements or not self.words:
            return None
        return float(1 - (_ERRS / 2) ** (1 / self.words))

    def __str__(self) -> str:
        first = "" if self.counterexample is None else f", first on {format_word(self.counterexample)!r}"
        return f"automaton and {self.other}: {agreement_claim(self.to_dict())}{first}"

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
            **({} if self.made_of is None else {"made_of": self.made_of}),
            **({"more_states": self.more_states} if self.kind == "conformance" else {}),
            **({} if self.drawn is None else {"drawn": self.drawn, "epsilon": self.error_bound, "delta": _ERRS}),
        }


def first_contradiction(checks: Sequence[Agreement]) -> Agreement | None:
    """Return the first check against the language or the rounded network that found a disagreement, None for none."""
    decisive = (check for check in checks if check.other != "network")
    return next((check for check in decisive if check.disagreements), None)


def agree_on_all(
    pda: PushdownAutomaton, model: StackModel[Any], other: Specification | None, max_length: int
) -> Agreement | None:
    """Return the agreement on all words up to ``max_length``, prefixes shared on both sides.

    The automaton is compared with ``other``, or with ``model`` itself where that is None. The result is None where
    ``other`` has no answers for all words.
    """
    theirs = answers_on_all(model, max_length) if other is None else other.answers_on_all(model, max_length)
    if theirs is None:
        return None
    words, disagreements, counterexample = 0, 0, None
    accepted: list[int] = []
    for length, (mine, their) in enumerate(zip(automaton_answers_on_all(pda, model, max_length), theirs, strict=True)):
        different = np.flatnonzero(differences(mine, their))
        if counterexample is None and len(different):
            symbols = word_at(int(different[0]), length, pda.input_alphabet)
            counterexample = make_word(symbols, pda.input_alphabet)
        words, disagreements = words + len(mine), disagreements + len(different)
        accepted.append(int(accepted_answers(mine, model, length).sum()))
    name = side_name(model, other)
    return Agreement(
        "exhaustive", name, max_length, words, sum(accepted), disagreements, counterexample, tuple(accepted)
    )


def agree_on(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    other: Specification | None,
    words: Sequence[Word],
    kind: CheckKind,
    domain: Specification | None = None,
) -> Agreement:
    """Return the agreement on ``words`` with ``other``, or with ``model`` itself where that is None.

    Only answers that count for ``domain`` are compared, where this is given. The counterexample may be a word like one
    of ``words``, and shorter (see `counterexamples.shorten`).
    """
    mine = automaton_answers(pda, model, words)
    wrong = _wrong(mine, model, other, words, domain)
    different = [words[i] for i in np.flatnonzero(wrong).tolist()]
    longest = max(map(len, words), default=0)
    first = None
    if different:
        budget = BUDGET if other is not None or isinstance(model, Rounded) else BUDGET // _LESS
        first = shorten(min(different, key=len), lambda words: differing(pda, model, other, words, domain), pda, budget)
    lengths = np.array([len(word) for word in words], dtype=int)
    ends = mine[np.arange(len(words)), np.maximum(lengths - 1, 0) if mine.shape[1] > 1 else 0]
    accepted = int(accepted_answers(ends, model, lengths).sum())
    return Agreement(kind, side_name(model, other), longest, len(words), accepted, len(different), first)


def _wrong(
    mine: np.ndarray,
    model: StackModel[Any],
    other: Specification | None,
    words: Sequence[Word],
    domain: Specification | None,
) -> np.ndarray:
    """Return on which words the automaton's answers ``mine`` are not the other's, (N,) bool."""
    theirs = network_answers(model, words) if other is None else other.answers(model, words)
    scored = None if domain is None else domain.scored(words)
    wrong: np.ndarray = np.any(differences(mine, theirs, scored), axis=1)
    return wrong


def differing(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    other: Specification | None,
    words: Sequence[Word],
    domain: Specification | None,
) -> np.ndarray:
    """Return on which of any words the automaton and the other differ, (N,) bool; on those that are meant only."""
    meant = np.ones(len(words), dtype=bool) if domain is None else domain.meant(words)
    kept = [words[i] for i in np.flatnonzero(meant).tolist()]
    if kept:
        meant[meant] = _wrong(automaton_answers(pda, model, kept), model, other, kept, domain)
    return meant


def side_name(model: StackModel[Any], other: Specification | None) -> str:
    """Return what a check against ``other``, or ``model`` where that is None, is called: see `Agreement.other`."""
    if other is not None:
        return "language"
    return "rounded network" if isinstance(model, Rounded) else "network"


@dataclass(frozen=True)
class AcceptedCounts:
    """How many words of each length are accepted, found in two ways.

    Attributes:
        exhaustive: by running all words of each length, from 0.
        counted: by `automata.counting`.
    """

    exhaustive: tuple[int, ...]
    counted: tuple[int, ...]

    @property
    def equal(self) -> bool:
        """Return whether both ways agree at every length."""
        return self.exhaustive == self.counted

    @property
    def first_different(self) -> int | None:
        """Return the first length at which they do not, None if they do."""
        pairs = enumerate(zip(self.exhaustive, self.counted, strict=True))
        return next((length for length, (one, other) in pairs if one != other), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "counts"."""
        return {"exhaustive": list(self.exhaustive), "counted": list(self.counted), "equal": self.equal}


def count_again(pda: PushdownAutomaton, checks: Sequence[Agreement], recogniser: bool) -> AcceptedCounts | None:
    """Return the counts of the first check on all words, and those by dynamic programming.

    Who is no recogniser accepts what it does not cut short. None where no check was on all words, or the automaton has
    several stacks, or is so large that this took longer than running them.
    """
    exhaustive = next((check.by_length for check in checks if check.by_length), None)
    if exhaustive is None or pda.n_stacks > 1 or len(pda.transitions) > _MOST_COUNTED:
        return None
    if not recogniser:
        pda = replace(pda, acceptance="final state", accepting=frozenset(pda.states))
    return AcceptedCounts(exhaustive, tuple(count_words(pda, len(exhaustive) - 1)))
