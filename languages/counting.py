"""Counting languages: as many of one symbol as of another.

1^n 0^n: Sun et al. 1993, section 4.2. a^n b^n: Joulin & Mikolov 2015, table 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

import numpy as np

from stacklens.automata.pda import POP, Key, PushdownAutomaton, Symbol, Transition, Word, push
from stacklens.languages.base import Language
from stacklens.languages.words import check_alphabet, make_word

__all__ = ["CountedPairs"]


@dataclass(frozen=True)
class CountedPairs(Language):
    """The words ``first^n second^n`` with n >= 1, so that the empty word is not one of them.

    Raises:
        StacklensError: the two symbols are the same, or one is empty or has whitespace in it.

    >>> language = CountedPairs("1", "0")
    >>> language.name, list(language.words(6)), language.first_dead("1001")
    ('1n0n', ['10', '1100', '111000'], 3)
    """

    first: Symbol
    second: Symbol

    def __post_init__(self) -> None:
        check_alphabet(self.alphabet)

    @property
    def name(self) -> str:
        """Return both symbols with an exponent, such as ``1n0n``."""
        return f"{self.first}n{self.second}n"

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the two symbols."""
        return (self.first, self.second)

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return two states: one pushes ``first``, the other, which accepts, pops it with ``second``."""
        first, second, bottom = self.first, self.second, "⊥"
        more, less = Transition("push", (push(first),)), Transition("pop", (POP,))
        transitions: dict[Key, Transition] = {
            ("push", first, (bottom,)): more,
            ("push", first, (first,)): more,
            ("push", second, (first,)): less,
            ("pop", second, (first,)): less,
        }
        return PushdownAutomaton(
            ("push", "pop"), self.alphabet, (first,), transitions, "push", frozenset({"pop"}), bottom=bottom
        )

    def __contains__(self, word: Word) -> bool:
        return len(word) > 0 and list(word) == self._symbols(len(word) // 2)

    def is_live(self, prefix: Word) -> bool:
        """Return whether ``prefix`` is some of ``first`` and then at most as many of ``second``."""
        n = sum(1 for _ in takewhile(lambda symbol: symbol == self.first, prefix))
        return len(prefix) <= 2 * n and all(symbol == self.second for symbol in prefix[n:])

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the only member of ``length``, if there is one."""
        if self._has_length(length):
            yield make_word(self._symbols(length // 2), self.alphabet)

    def _symbols(self, n: int) -> list[Symbol]:
        return [self.first] * n + [self.second] * n

    def _has_length(self, length: int) -> bool:
        return length >= 2 and length % 2 == 0

    def _member(self, length: int, rng: np.random.Generator) -> Word:  # noqa: ARG002 (there is nothing to draw)
        return make_word(self._symbols(length // 2), self.alphabet)

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:  # noqa: ARG002 (as above)
        return make_word(self._symbols(depth), self.alphabet) if depth >= 1 else None
