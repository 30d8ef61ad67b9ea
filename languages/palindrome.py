"""Palindromes with a marked middle, w c w^R, also with other letters after it.

w c w^R: Sun et al. 1993, section 4.3. w # w^R and w # phi(w^R): Suzgun et al. 2019, section 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from ..automata.pda import NONE, POP, Key, PushdownAutomaton, Symbol, Transition, Word, push
from ..core.errors import StacklensError
from ..core.validation import check_alphabet
from .language import Language
from .words import make_word

_NAMES = {
    ("ab", "c", ""): "palindrome",
    ("abc", "#", ""): "simple-palindrome",
    ("abc", "#", "xyz"): "homomorphic-palindrome",
}


@dataclass(frozen=True)
class MarkedPalindromes(Language):
    """The words w ``marker`` phi(w^R), where w is any word over ``letters``.

    Args:
        letters: the letters of w.
        marker: the middle.
        images: phi of each letter, or None where phi changes nothing.
        empty: whether w may be empty.

    Raises:
        StacklensError: there are no letters, not one image a letter, two symbols are the same, or one is empty or has
            whitespace in it.

    >>> language = MarkedPalindromes()
    >>> list(language.words(3)), language.first_dead("abca")
    (['c', 'aca', 'bcb'], 4)
    >>> "01#10" in MarkedPalindromes("01", "#"), "abc#zyx" in MarkedPalindromes("abc", "#", "xyz")
    (True, True)
    """

    letters: Sequence[Symbol] = "ab"
    marker: Symbol = "c"
    images: Sequence[Symbol] | None = None
    empty: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "letters", tuple(self.letters))
        images = self.letters if self.images is None else tuple(self.images)
        object.__setattr__(self, "images", None if images == self.letters else images)
        if not self.letters:
            raise StacklensError("palindromes without letters: expected at least one")
        if len(images) != len(self.letters) or (self.images is not None and self.marker in images):
            raise StacklensError(f"images {images} of {self.letters}: expected one a letter, none of them the marker")
        check_alphabet(self.alphabet)

    @property
    def name(self) -> str:
        """Return the name of one of the papers' languages, else letters, marker and images: ``palindrome-01-#``.

        Where w may not be empty the name ends with ``-nonempty``.
        """
        parts = "".join(self.letters), self.marker, "".join(self.images or ())
        name = _NAMES.get(parts) or "-".join(filter(None, ("palindrome", *parts)))
        return name if self.empty else f"{name}-nonempty"

    @cached_property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the letters, the marker and, last, those images that are no letters."""
        others = dict.fromkeys(image for image in self.images or () if image not in self.letters)
        return (*self.letters, self.marker, *others)

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return two states: one pushes letters up to the marker, the other, which accepts, pops them."""
        letters, bottom = tuple(self.letters), "⊥"
        transitions: dict[Key, Transition] = {}
        for top in (bottom, *letters):
            if self.empty or top != bottom:
                transitions["push", self.marker, (top,)] = Transition("pop", (NONE,))
            for letter in letters:
                transitions["push", letter, (top,)] = Transition("push", (push(letter),))
        for letter in letters:
            transitions["pop", self._image[letter], (letter,)] = Transition("pop", (POP,))
        return PushdownAutomaton(
            ("push", "pop"), self.alphabet, letters, transitions, "push", frozenset({"pop"}), bottom=bottom
        )

    def __contains__(self, word: Word) -> bool:
        symbols, half = list(word), len(word) // 2
        left = symbols[:half]
        return (
            self._has_length(len(word))
            and all(symbol in self.letters for symbol in left)
            and symbols[half:] == [self.marker, *self._second(left)]
        )

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet."""
        if self._has_length(length):
            for half in product(self.letters, repeat=length // 2):
                yield self._mirror(half)

    def _mirror(self, half: Sequence[Symbol]) -> Word:
        return make_word((*half, self.marker, *self._second(half)), self.alphabet)

    def _second(self, half: Sequence[Symbol]) -> list[Symbol]:
        return [self._image[symbol] for symbol in reversed(half)]

    @cached_property
    def _image(self) -> dict[Symbol, Symbol]:
        return dict(zip(self.letters, self.images or self.letters, strict=True))

    def _has_length(self, length: int) -> bool:
        return length >= (1 if self.empty else 3) and length % 2 == 1

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        return self._mirror([self.letters[i] for i in rng.integers(len(self.letters), size=length // 2).tolist()])

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:
        return self._member(2 * depth + 1, rng) if self._has_length(2 * depth + 1) else None
