"""Checks: the automaton against a language or a network, on all words up to a length and on long and deep ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stacklens.automata.enumeration import accepts_all, word_at
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.automata.simulation import accepts_many
from stacklens.automata.tables import encode_words
from stacklens.errors import StacklensError
from stacklens.languages.base import Language
from stacklens.languages.words import format_word, make_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.models.verdicts import verdicts_on, verdicts_on_all

__all__ = ["Agreement", "Kind", "agree_on", "agree_on_all", "deep_words", "long_words", "members_of_all"]

Kind = Literal["exhaustive", "long", "deep"]
Other = Language | StackModel[Any]


@dataclass(frozen=True)
class Agreement:
    """How often an automaton and something else gave the same verdict.

    Attributes:
        kind: "exhaustive" (all words up to `max_length`), "long" or "deep" (words drawn from a seed).
        other: what the automaton was compared with: "language", "network" or "rounded network".
        max_length: the longest word checked.
        words: how many words were checked, the empty one included.
        accepted: how many of them the automaton accepts.
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


def agree_on_all(pda: PushdownAutomaton, other: Other, max_length: int) -> Agreement:
    """Return the agreement on all words up to ``max_length``, prefixes shared on both sides.

    A language's side comes from the members that its definition gives, not from its reference automaton.
    """
    if isinstance(other, Language):
        theirs = members_of_all(other, pda.input_alphabet, max_length)
    else:
        theirs = verdicts_on_all(other, max_length)
    words, accepted, disagreements, counterexample = 0, 0, 0, None
    for length, (mine, their) in enumerate(zip(accepts_all(pda, max_length), theirs, strict=True)):
        different = np.flatnonzero(mine != their)
        if counterexample is None and len(different):
            symbols = word_at(int(different[0]), length, pda.input_alphabet)
            counterexample = make_word(symbols, pda.input_alphabet)
        words, accepted = words + len(mine), accepted + int(mine.sum())
        disagreements += len(different)
    return Agreement("exhaustive", _name(other), max_length, words, accepted, disagreements, counterexample)


def agree_on(pda: PushdownAutomaton, other: Other, words: Sequence[Word], kind: Kind) -> Agreement:
    """Return the agreement on ``words``."""
    mine = accepts_many(pda, words)
    if isinstance(other, Language):
        theirs = np.array([word in other for word in words], dtype=bool)
    else:
        theirs = verdicts_on(other, words)
    different = [words[i] for i in np.flatnonzero(mine != theirs).tolist()]
    longest = max(map(len, words), default=0)
    first = min(different, key=len) if different else None
    return Agreement(kind, _name(other), longest, len(words), int(mine.sum()), len(different), first)


def long_words(language: Language, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
    """Return ``n`` words: half of them uniformly random, a quarter members, a quarter near-misses.

    Where the language has no members of such lengths, random words stand in their place.
    """
    quarter = n // 4
    words: list[Word] = []
    for positive in (True, False):
        try:
            words += language.sample(quarter, lengths, positive, seed)
        except StacklensError:  # no member of these lengths
            continue
    return words + language.sample(n - len(words), lengths, None, seed)


def deep_words(language: Language, n: int, depth: int, seed: int) -> list[Word]:
    """Return ``n`` members nested ``depth`` deep and, for each, a near-miss: random words never get that deep."""
    members = language.deep(n, depth, seed)
    rng = np.random.default_rng(seed)
    return [*members, *(language.near_miss(word, rng) for word in members)]


def members_of_all(language: Language, alphabet: tuple[str, ...], max_length: int) -> list[np.ndarray]:
    """Return which words of each length are members, in lexicographic order of ``alphabet``, (k**n,) bool each."""
    k = len(alphabet)
    members = [np.zeros(k**n, dtype=bool) for n in range(max_length + 1)]
    by_length: dict[int, list[Word]] = {}
    for word in language.words(max_length):
        by_length.setdefault(len(word), []).append(word)
    for length, words in by_length.items():
        codes, _ = encode_words(words, alphabet)
        members[length][codes.astype(np.int64) @ k ** np.arange(length)[::-1]] = True
    return members


def _name(other: Other) -> str:
    if isinstance(other, Language):
        return "language"
    return "rounded network" if isinstance(other, Rounded) else "network"
