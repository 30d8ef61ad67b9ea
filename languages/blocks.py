"""Blocks of letters whose numbers depend on each other: a^n b^n c^n, a^n b^{2n}, a^n b^m c^{n+m}, as many a as b."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, takewhile

import numpy as np

from ..automata.pda import NONE, POP, Key, PushdownAutomaton, Symbol, Transition, Word, push
from ..core.errors import StacklensError
from ..core.validation import check_alphabet
from .language import Language
from .words import make_word

_BOTTOM = "⊥"
BlockSizes = tuple[int, ...]  # how many symbols each block has


class _Blocks(Language):
    """Words of one block of each letter, in the order of the alphabet, with numbers that a subclass allows."""

    @abstractmethod
    def _all_counts(self, length: int) -> list[BlockSizes]:
        """Return the numbers of all members of ``length``, the one with the longest first block first."""

    @abstractmethod
    def _can_grow(self, counts: BlockSizes) -> bool:
        """Return whether some member begins with blocks of these sizes, of which only the last may grow."""

    def __contains__(self, word: Word) -> bool:
        counts = self._counts(word)
        return counts is not None and len(counts) == len(self.alphabet) and self._is_member(counts)

    @abstractmethod
    def _is_member(self, counts: BlockSizes) -> bool:
        """Return whether blocks of these sizes, all letters being there, make a member."""

    def is_live(self, prefix: Word) -> bool:
        """Return whether ``prefix`` is blocks in order that are not too large for each other."""
        counts = self._counts(prefix)
        return counts is not None and self._can_grow(counts)

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet."""
        yield from (self._word(counts) for counts in self._all_counts(length))

    def _counts(self, word: Word) -> BlockSizes | None:
        """Return the sizes of the blocks that there are, None where the letters are out of order or one is left out."""
        blocks = [(symbol, sum(1 for _ in block)) for symbol, block in groupby(word)]
        in_order = [symbol for symbol, _ in blocks] == list(self.alphabet[: len(blocks)])
        return tuple(size for _, size in blocks) if in_order else None

    def _word(self, counts: BlockSizes) -> Word:
        return make_word([x for x, n in zip(self.alphabet, counts, strict=True) for _ in range(n)], self.alphabet)

    def _has_length(self, length: int) -> bool:
        return bool(self._all_counts(length))

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        choices = self._all_counts(length)
        return self._word(choices[int(rng.integers(len(choices)))])


@dataclass(frozen=True)
class EqualBlocks(_Blocks):
    """The words a^n b^n c^n … over the first ``k`` letters, n >= 1 and k >= 3: no pushdown automaton accepts them.

    Raises:
        StacklensError: ``k`` is not from 3 to 26.

    >>> list(EqualBlocks(3).words(6)), EqualBlocks(3).is_live("aabbb"), EqualBlocks(4).name
    (['abc', 'aabbcc'], False, 'anbncndn')
    """

    k: int

    def __post_init__(self) -> None:
        if not 3 <= self.k <= 26:
            raise StacklensError(f"{self.k} equal blocks: expected 3 to 26 (for two there is anbn)")

    @property
    def name(self) -> str:
        """Return the letters, each followed by n."""
        return "".join(f"{letter}n" for letter in self.alphabet)

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the first ``k`` letters."""
        return tuple("abcdefghijklmnopqrstuvwxyz"[: self.k])

    @property
    def automaton(self) -> PushdownAutomaton:
        """Raise an error: there is none.

        Raises:
            StacklensError: always.
        """
        raise StacklensError(
            f"{self.name} has no reference automaton: it is not context-free, so no pushdown automaton with one stack "
            "accepts it; compare with the language itself"
        )

    def _is_member(self, counts: BlockSizes) -> bool:
        return len(set(counts)) == 1

    def _can_grow(self, counts: BlockSizes) -> bool:
        return len(set(counts[:-1])) <= 1 and (not counts or counts[-1] <= counts[0])

    def _all_counts(self, length: int) -> list[BlockSizes]:
        return [(length // self.k,) * self.k] if length > 0 and length % self.k == 0 else []

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:  # noqa: ARG002 (nothing to draw)
        return self._word((depth,) * self.k) if depth >= 1 else None  # what any machine must count up to


@dataclass(frozen=True)
class TwiceAsMany(_Blocks):
    """The words a^n b^{2n}, n >= 1.

    >>> list(TwiceAsMany().words(6)), TwiceAsMany().automaton.accepts("aabbbb")
    (['abb', 'aabbbb'], True)
    """

    name = "anb2n"
    alphabet = ("a", "b")

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return three states: one pushes a; every second b pops one."""
        steps: dict[Key, Transition] = {
            ("push", "a", (_BOTTOM,)): Transition("push", (push("a"),)),
            ("push", "a", ("a",)): Transition("push", (push("a"),)),
            ("push", "b", ("a",)): Transition("half", (NONE,)),
            ("half", "b", ("a",)): Transition("pop", (POP,)),
            ("pop", "b", ("a",)): Transition("half", (NONE,)),
        }
        return PushdownAutomaton(
            ("push", "half", "pop"), self.alphabet, ("a",), steps, "push", frozenset({"pop"}), bottom=_BOTTOM
        )

    def _is_member(self, counts: BlockSizes) -> bool:
        return counts[1] == 2 * counts[0]

    def _can_grow(self, counts: BlockSizes) -> bool:
        return len(counts) < 2 or counts[1] <= 2 * counts[0]

    def _all_counts(self, length: int) -> list[BlockSizes]:
        return [(length // 3, 2 * length // 3)] if length > 0 and length % 3 == 0 else []

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:  # noqa: ARG002 (nothing to draw)
        return self._word((depth, 2 * depth)) if depth >= 1 else None


@dataclass(frozen=True)
class SumBlocks(_Blocks):
    """The words a^n b^m c^{n+m}, n, m >= 1.

    >>> list(SumBlocks().words(6)), SumBlocks().first_dead("abccc")
    (['abcc', 'aabccc', 'abbccc'], 5)
    """

    name = "anbmcnm"
    alphabet = ("a", "b", "c")

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return three states: two push an a for every a and b, the third pops one for every c."""
        steps: dict[Key, Transition] = {
            ("a", "a", (_BOTTOM,)): Transition("a", (push("a"),)),
            ("a", "a", ("a",)): Transition("a", (push("a"),)),
            ("a", "b", ("a",)): Transition("b", (push("a"),)),
            ("b", "b", ("a",)): Transition("b", (push("a"),)),
            ("b", "c", ("a",)): Transition("c", (POP,)),
            ("c", "c", ("a",)): Transition("c", (POP,)),
        }
        return PushdownAutomaton(("a", "b", "c"), self.alphabet, ("a",), steps, "a", frozenset({"c"}), bottom=_BOTTOM)

    def _is_member(self, counts: BlockSizes) -> bool:
        return counts[2] == counts[0] + counts[1]

    def _can_grow(self, counts: BlockSizes) -> bool:
        return len(counts) < 3 or counts[2] <= counts[0] + counts[1]

    def _all_counts(self, length: int) -> list[BlockSizes]:
        half = length // 2
        return [(half - m, m, half) for m in range(1, half)] if length % 2 == 0 else []

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:
        return self._member(2 * depth, rng) if depth >= 2 else None


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
