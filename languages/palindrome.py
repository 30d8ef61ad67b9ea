"""Palindromes with a marked middle, w c w^R: Sun et al. 1993, section 4.3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Symbol, Transition, Word, push
from stacklens.errors import StacklensError
from stacklens.languages.base import Language
from stacklens.languages.words import check_alphabet, make_word

__all__ = ["MarkedPalindromes"]


@dataclass(frozen=True)
class MarkedPalindromes(Language):
    """The words w ``marker`` w^R, where w is any word over ``letters``, possibly empty.

    Raises:
        StacklensError: there are no letters, two symbols are the same, or one is empty or has whitespace in it.

    >>> language = MarkedPalindromes()
    >>> list(language.words(3)), language.first_dead("abca")
    (['c', 'aca', 'bcb'], 4)
    >>> "01#10" in MarkedPalindromes("01", "#")
    True
    """

    letters: Sequence[Symbol] = "ab"
    marker: Symbol = "c"

    def __post_init__(self) -> None:
        object.__setattr__(self, "letters", tuple(self.letters))
        if not self.letters:
            raise StacklensError("palindromes without letters: expected at least one")
        check_alphabet(self.alphabet)

    @property
    def name(self) -> str:
        """Return ``palindrome`` for w c w^R over a and b, else that with letters and marker: ``palindrome-01-#``."""
        plain = self.alphabet == ("a", "b", "c")
        return "palindrome" if plain else f"palindrome-{''.join(self.letters)}-{self.marker}"

    @cached_property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the letters and, last, the marker."""
        return (*self.letters, self.marker)

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return two states: one pushes letters up to the marker, the other, which accepts, pops them."""
        letters, bottom = tuple(self.letters), "⊥"
        transitions: dict[Key, Transition] = {}
        for top in (bottom, *letters):
            transitions["push", self.marker, (top,)] = Transition("pop", (NONE,))
            for letter in letters:
                transitions["push", letter, (top,)] = Transition("push", (push(letter),))
        for letter in letters:
            transitions["pop", letter, (letter,)] = Transition("pop", (POP,))
        return PushdownAutomaton(
            ("push", "pop"), self.alphabet, letters, transitions, "push", frozenset({"pop"}), bottom=bottom
        )

    def __contains__(self, word: Word) -> bool:
        half = len(word) // 2
        return len(word) % 2 == 1 and word[half] == self.marker and self.is_live(word)

    def is_live(self, prefix: Word) -> bool:
        """Return whether ``prefix`` is letters only, or letters, the marker and a start of the letters reversed."""
        symbols = list(prefix)
        half = symbols.index(self.marker) if self.marker in symbols else len(symbols)
        left, right = symbols[:half], symbols[half + 1 :]
        return all(symbol in self.letters for symbol in left) and right == left[::-1][: len(right)]

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet."""
        if self._has_length(length):
            for half in product(self.letters, repeat=length // 2):
                yield self._mirror(half)

    def _mirror(self, half: Sequence[Symbol]) -> Word:
        return make_word((*half, self.marker, *reversed(half)), self.alphabet)

    def _has_length(self, length: int) -> bool:
        return length >= 0 and length % 2 == 1

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        """Return a member, all members of ``length`` being equally likely."""
        return self._mirror([self.letters[i] for i in rng.integers(len(self.letters), size=length // 2).tolist()])

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word:
        return self._member(2 * depth + 1, rng)
