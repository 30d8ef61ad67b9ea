"""Blocks of letters whose numbers depend on each other: a^n b^n, a^n b^n c^n, a^n b^{2n}, a^n b^m c^{n+m}."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from ..automata.pda import NONE, POP, Key, PushdownAutomaton, Symbol, Transition, Word, push
from ..core.errors import StacklensError
from ..core.validation import check_alphabet
from .language import Language
from .words import make_word


@dataclass(frozen=True)
class Blocks(Language):
    """Words of one block of each symbol, in order: ``free`` blocks of any sizes from 1 on, which fix all others.

    Args:
        name: the language's name.
        alphabet: the symbols of the blocks.
        weights: how many times as long as the free blocks together each block after them is.
        states: of the reference automaton: one a free block, then as many as the last block's weight; empty where
            several blocks depend on the same free ones, which no pushdown automaton can count.
        free: 1 or 2.

    Raises:
        StacklensError: two symbols are the same, or one is empty or has whitespace in it.

    >>> list(SUM_BLOCKS.words(6)), SUM_BLOCKS.first_dead("abccc")
    (['abcc', 'aabccc', 'abbccc'], 5)
    >>> list(equal_blocks(3).words(6)), equal_blocks(3).is_live("aabbb"), TWICE_AS_MANY.automaton.accepts("aabbbb")
    (['abc', 'aabbcc'], False, True)
    """

    name: str = ""
    alphabet: tuple[Symbol, ...] = ()
    weights: tuple[int, ...] = (1,)
    states: tuple[str, ...] = ()
    free: int = 1

    def __post_init__(self) -> None:
        check_alphabet(self.alphabet)

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return the automaton that pushes one cell for every symbol of the free blocks, and pops them with the last.

        Raises:
            StacklensError: there is none.
        """
        if not self.states:
            raise StacklensError(
                f"{self.name} has no reference automaton: it is not context-free, so no pushdown automaton with one "
                "stack accepts it; compare with the language itself"
            )
        cell, bottom, last = self.alphabet[0], "⊥", self.states[-1]
        pushes = [Transition(state, (push(cell),)) for state in self.states[: self.free]]
        # The last block goes round its states, and pops with each arrival in the last of them.
        cycle = [Transition(state, (POP if state == last else NONE,)) for state in self.states[self.free :]]
        steps: dict[Key, Transition] = {(self.states[0], cell, (bottom,)): pushes[0]}
        for state, symbol, here, following in zip(
            self.states, self.alphabet, pushes, [*pushes[1:], cycle[0]], strict=False
        ):
            steps[state, symbol, (cell,)] = here
            steps[state, self.alphabet[self.alphabet.index(symbol) + 1], (cell,)] = following
        for state, following in zip(self.states[self.free :], [*cycle[1:], cycle[0]], strict=True):
            steps[state, self.alphabet[-1], (cell,)] = following
        return PushdownAutomaton(
            self.states, self.alphabet, (cell,), steps, self.states[0], frozenset({last}), bottom=bottom
        )

    def __contains__(self, word: Word) -> bool:
        sizes = self._sizes(word)
        return sizes is not None and len(sizes) == len(self.alphabet) and sizes == self._whole(sizes[: self.free])

    def first_dead(self, word: Word) -> int | None:
        """Return the number of symbols after which blocks are out of order or too large, None if ``word`` is live."""
        # Dead prefixes stay dead, so bisection finds the first one.
        n = bisect_left(range(len(word) + 1), True, key=lambda n: not self._can_grow(word[:n]))
        return n if n <= len(word) else None

    def _can_grow(self, prefix: Word) -> bool:
        sizes = self._sizes(prefix)
        if sizes is None or len(sizes) <= self.free:
            return sizes is not None
        whole = self._whole(sizes[: self.free])
        return sizes[:-1] == whole[: len(sizes) - 1] and sizes[-1] <= whole[len(sizes) - 1]

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet."""
        yield from (self._word(sizes) for sizes in self._all_sizes(length))

    def _sizes(self, word: Word) -> tuple[int, ...] | None:
        """Return the sizes of the blocks that there are, None where the letters are out of order or one is left out."""
        blocks = [(symbol, sum(1 for _ in block)) for symbol, block in groupby(word)]
        in_order = [symbol for symbol, _ in blocks] == list(self.alphabet[: len(blocks)])
        return tuple(size for _, size in blocks) if in_order else None

    def _whole(self, free: tuple[int, ...]) -> tuple[int, ...]:
        return (*free, *(weight * sum(free) for weight in self.weights))

    def _all_sizes(self, length: int) -> list[tuple[int, ...]]:
        """Return the sizes of all members of ``length``, the one with the longest first block first."""
        n, rest = divmod(length, 1 + sum(self.weights))
        if rest or n < self.free:
            return []
        return [self._whole((n,) if self.free == 1 else (n - m, m)) for m in range(1, n if self.free == 2 else 2)]

    def _word(self, sizes: tuple[int, ...]) -> Word:
        return make_word([x for x, n in zip(self.alphabet, sizes, strict=True) for _ in range(n)], self.alphabet)

    def _has_length(self, length: int) -> bool:
        return bool(self._all_sizes(length))

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        choices = self._all_sizes(length)
        return self._word(choices[int(rng.integers(len(choices)))])

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:
        return self._member(depth * (1 + sum(self.weights)), rng) if depth >= self.free else None


def counted_pairs(first: Symbol, second: Symbol) -> Blocks:
    """Return the words ``first^n second^n`` with n >= 1, so that the empty word is not one of them.

    >>> language = counted_pairs("1", "0")
    >>> language.name, list(language.words(6)), language.first_dead("1001")
    ('1n0n', ['10', '1100', '111000'], 3)
    """
    return Blocks(f"{first}n{second}n", (first, second), states=("push", "pop"))


def equal_blocks(k: int) -> Blocks:
    """Return the words a^n b^n c^n … over the first ``k`` letters, n >= 1: no pushdown automaton accepts them.

    Raises:
        StacklensError: ``k`` is not from 3 to 26.
    """
    if not 3 <= k <= 26:
        raise StacklensError(f"{k} equal blocks: expected 3 to 26 (for two there is anbn)")
    letters = "abcdefghijklmnopqrstuvwxyz"[:k]
    return Blocks("".join(f"{letter}n" for letter in letters), tuple(letters), (1,) * (k - 1))


TWICE_AS_MANY = Blocks("anb2n", ("a", "b"), (2,), ("push", "half", "pop"))
SUM_BLOCKS = Blocks("anbmcnm", ("a", "b", "c"), (1,), ("a", "b", "c"), free=2)
