"""All words up to a length, split by their beginnings into chunks that can be verified apart from each other.

How the words are split depends on the alphabet and the length only, and what a chunk says is integers and words: so the
sum is the same to the last bit, whoever did the chunks in whatever order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np

from stacklens.automata.enumeration import count_all, word_at
from stacklens.automata.pda import PushdownAutomaton, Symbol
from stacklens.extract.answers import accepted_answers, automaton_answers_on_all, differences
from stacklens.models.base import StackModel
from stacklens.models.machine import one_thread
from stacklens.models.rounding import Rounded
from stacklens.models.verdicts import answers_on_all

__all__ = ["Compared", "Other", "Tally", "Work", "stem_length"]

Other = Literal["language", "rounded network", "network"]
_CHUNKS = 64  # at least about so many, for workers to share
_LEAST, _MOST = 1 << 16, 1 << 22  # words of a chunk: worth a task of its own, and little enough to lose or to hold


@dataclass(frozen=True)
class Compared:
    """On how many words the automaton and something else differ, and a shortest of these; of a sum, the first one."""

    disagreements: int = 0
    first: tuple[Symbol, ...] | None = None

    def __add__(self, other: Self) -> Compared:
        words = [word for word in (self.first, other.first) if word is not None]
        return Compared(self.disagreements + other.disagreements, min(words, key=len, default=None))


@dataclass(frozen=True)
class Tally:
    """What a number of words gave: how many the automaton accepts of each length, and how it compares."""

    accepted: tuple[int, ...]
    compared: dict[str, Compared]
    words: int

    def __add__(self, other: Self) -> Tally:
        pairs = zip(self.accepted, other.accepted, strict=True)
        compared = {name: mine + other.compared[name] for name, mine in self.compared.items()}
        return Tally(tuple(a + b for a, b in pairs), compared, self.words + other.words)

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as plain data."""
        compared = {name: [found.disagreements, found.first] for name, found in self.compared.items()}
        return {"words": self.words, "accepted": list(self.accepted), "compared": compared}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Tally:
        """Return what `to_dict` gave."""
        compared = {
            name: Compared(int(number), None if first is None else tuple(first))
            for name, (number, first) in content["compared"].items()
        }
        return cls(tuple(map(int, content["accepted"])), compared, int(content["words"]))


@dataclass(frozen=True)
class Work:
    """An automaton that is compared with others on all words up to a length, and how these are split.

    Attributes:
        pda: the automaton.
        model: the network, whose task says what an answer is.
        reference: the automaton of what it should do; None to compare with the network alone.
        max_length: the longest words.
        stem: chunk 0 has the words shorter than this, every other chunk those that begin with one word of this length.
    """

    pda: PushdownAutomaton
    model: StackModel[Any]
    reference: PushdownAutomaton | None
    max_length: int
    stem: int
    alphabet: tuple[Symbol, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alphabet", tuple(self.model.alphabet))

    @property
    def others(self) -> tuple[Other, ...]:
        """Return what the automaton is compared with."""
        return ("rounded network", "network") if self.reference is None else ("language", "rounded network", "network")

    @property
    def chunks(self) -> range:
        """Return the chunks' numbers; there is no chunk 0 where no word is short enough for it."""
        return range(0 if self.stem else 1, 1 + len(self.alphabet) ** self.stem)

    @property
    def nothing(self) -> Tally:
        """Return the tally of no words."""
        return Tally((0,) * (self.max_length + 1), {other: Compared() for other in self.others}, 0)

    def words(self, chunk: int) -> int:
        """Return how many words a chunk has."""
        return count_all(len(self.alphabet), self.stem - 1 if chunk == 0 else self.max_length - self.stem)

    def tally(self, chunk: int) -> tuple[int, Tally]:
        """Return the number of the chunk, and what its words gave."""
        prefix = () if chunk == 0 else word_at(chunk - 1, self.stem, self.alphabet)
        further = self.stem - 1 if chunk == 0 else self.max_length - self.stem
        with one_thread():
            mine = list(automaton_answers_on_all(self.pda, self.model, further, prefix))
            accepted = [0] * (self.max_length + 1)
            for length, answers in enumerate(mine, start=len(prefix)):
                accepted[length] = int(accepted_answers(answers, self.model).sum())
            compared: dict[str, Compared] = {
                other: _compare(mine, self._answers(other, prefix, further), prefix, self.alphabet)
                for other in self.others
            }
        return chunk, Tally(tuple(accepted), compared, sum(map(len, mine)))

    def _answers(self, other: Other, prefix: tuple[Symbol, ...], further: int) -> Iterable[np.ndarray]:
        if other == "language":
            assert self.reference is not None, "it is among the others only where it is given"
            return automaton_answers_on_all(self.reference, self.model, further, prefix)
        model = Rounded(self.model) if other == "rounded network" else self.model
        return answers_on_all(model, further, prefix=[self.alphabet.index(symbol) for symbol in prefix])


def stem_length(n_symbols: int, max_length: int) -> int:
    """Return how long the beginnings are by which all words up to ``max_length`` are split.

    >>> stem_length(3, 15), stem_length(3, 8), stem_length(2, 20)
    (4, 0, 5)
    """
    most = min(max(count_all(n_symbols, max_length) // _CHUNKS, _LEAST), _MOST)
    return next(stem for stem in range(max_length + 1) if count_all(n_symbols, max_length - stem) <= most)


def _compare(
    mine: list[np.ndarray], theirs: Iterable[np.ndarray], prefix: tuple[Symbol, ...], alphabet: tuple[Symbol, ...]
) -> Compared:
    disagreements, first = 0, None
    for length, (ours, other) in enumerate(zip(mine, theirs, strict=True)):
        different = np.flatnonzero(differences(ours, other))
        if first is None and len(different):
            first = (*prefix, *word_at(int(different[0]), length, alphabet))
        disagreements += len(different)
    return Compared(disagreements, first)
