"""Endless streams of words without boundaries: Joulin & Mikolov 2015, section 5.1 and table 1."""

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..automata.enumeration import BoolArray
from ..automata.pda import NONE, Key, Output, PushdownAutomaton, State, Symbol, Transition, Word
from ..automata.rewriting import with_head_outputs
from ..core.errors import NoWordError, StacklensError, UnknownNameError
from .classic import SUM_BLOCKS, TWICE_AS_MANY, Blocks, MarkedPalindromes, counted_pairs, equal_blocks
from .task import BOTTOM, Split, Task

SIZES: dict[Split, tuple[int, int]] = {"train": (2, 19), "test": (2, 59)}  # n < 20 in training, up to 60 in the test
PIECES = 10  # in a stream that ``sample`` draws

T = TypeVar("T")
_BEFORE = "before"
_MOST_KNOWN = 50_000  # beginnings of pieces


def curriculum(epoch: int, n_max: int, smallest: int = 2) -> tuple[int, int]:
    """Return the smallest and the largest n of an epoch (from 0): up to ``max(min(epoch + 3, n_max), 3) - 1``.

    >>> [curriculum(epoch, n_max=15) for epoch in (0, 1, 11, 12, 50)]
    [(2, 2), (2, 3), (2, 13), (2, 14), (2, 14)]
    """
    return smallest, max(min(epoch + 3, n_max), 3) - 1


class StreamTask(Task):
    """Predict the next symbol of a stream; the size of a piece is its n, whose meaning each task says.

    >>> task = CountingStream("anbn")
    >>> task.expected("aabbab")
    [None, None, 'b', 'a', None, 'a']
    >>> task.pieces("aabbab")
    ['aabb', 'ab']
    >>> [len(words) for words in task.words_by_n(2, 4, count=5).values()]
    [5, 5, 5]
    """

    kind = "next symbol"
    smallest = 2

    @abstractmethod
    def piece(self, n: int, rng: np.random.Generator) -> str:
        """Return a random piece of size ``n``."""

    @abstractmethod
    def _rest(self, start: str) -> str | None:
        """Return how a piece that begins with ``start`` must go on, None where that is open."""

    @property
    @abstractmethod
    def _first(self) -> Symbol | None:
        """Return the symbol with which every piece begins, None if there are several."""

    def expected(self, word: Word) -> list[Output]:
        return self._read(word)[0]

    def pieces(self, word: Word) -> list[str]:
        """Return the pieces that a stream consists of; the last may be cut short."""
        ends = self._read(word)[1]
        bounds = [0, *ends, *([len(word)] if len(word) > max(ends, default=0) else [])]
        return ["".join(word[start:end]) for start, end in pairwise(bounds)]

    def _read(self, word: Word) -> tuple[list[Output], list[int]]:
        """Return, for each symbol, the next one, None where it is open; and where pieces end."""
        text, outputs, ends, known = "".join(word), list[Output](), list[int](), self._rests
        begin = end = 0
        while end < len(text):
            end += 1
            start = text[begin:end]
            if start not in known:  # thousands of pieces begin alike
                if len(known) >= _MOST_KNOWN:
                    known.clear()
                known[start] = self._rest(start)
            rest = known[start]
            if rest is None:
                outputs.append(None)
                continue
            # The rest of the piece is fixed: it has to follow, as far as the word goes.
            follows = text[end : end + len(rest)]
            if not rest.startswith(follows):
                wrong = next(i for i, (symbol, other) in enumerate(zip(follows, rest, strict=False)) if symbol != other)
                position = f"{follows[wrong]!r} at position {end + wrong + 1}, expected {rest[wrong]!r}"
                raise NoWordError(f"no stream of {self.name}: {position}")
            outputs += [*rest, self._first][: len(follows) + 1]
            begin = end = end + len(rest)
            if len(follows) == len(rest):
                ends.append(end)
        return outputs, ends

    def _begun(self, found: T | None, start: str) -> T:
        if found is None:
            raise NoWordError(f"no stream of {self.name}: none of its pieces begins with {start}")
        return found

    @cached_property
    def _rests(self) -> dict[str, str | None]:
        return {}

    def words_by_n(self, low: int = 2, high: int = 59, count: int = 200, seed: int = 0) -> dict[int, list[str]]:
        """Return ``count`` random pieces of each size from ``low`` to ``high``: the paper's test, in the order read.
        The authors' program reads them as one stream, stacks emptied at its beginning; scores: `pieces_correct`.
        """
        rng = np.random.default_rng(seed)
        return {n: [self.piece(n, rng) for _ in range(count)] for n in range(low, high + 1)}

    def stream(self, pieces: int, sizes: tuple[int, int], rng: np.random.Generator) -> str:
        """Return a stream of ``pieces`` pieces whose sizes are drawn evenly from ``sizes``, both ends included. Raises
        StacklensError: there are no pieces of these sizes.
        """
        low, high = max(sizes[0], self.smallest), sizes[1]
        if high < low:
            raise StacklensError(
                f"{self.name} has no pieces of sizes {sizes[0]} to {high}: they begin at {self.smallest}"
            )
        return "".join(self.piece(n, rng) for n in rng.integers(low, high + 1, size=pieces).tolist())

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        sizes = lengths or (self.smallest if split == "train" else SIZES[split][0], SIZES[split][1])
        return [self.stream(PIECES, sizes, rng) for _ in range(n)]

    def pieces_correct(self, pieces: Sequence[str], hits: npt.NDArray[Any]) -> BoolArray:
        """Return which pieces of a stream are right, ``(..., S)``: everything in them that can be known is predicted.
        That includes, for the counting tasks, the first symbol of the next piece.

        ``pieces``: the S pieces that, after one another, are the stream. ``hits``: ``(..., T)`` bool, whether the
        output after each symbol of the stream was right, as from ``Examples.hits``.
        """
        # where pieces end in the stream; what cannot be known is right
        ends = list(accumulate(map(len, pieces)))
        if not ends or np.shape(hits)[-1] != ends[-1]:
            raise StacklensError(f"{np.shape(hits)[-1]} outputs for pieces of {sum(map(len, pieces))} symbols in all")
        fine = np.asarray(hits, np.bool_) | ~np.array(self.scored("".join(pieces)), np.bool_)
        return np.asarray(np.logical_and.reduceat(fine, [0, *ends[:-1]], axis=-1), np.bool_)


@dataclass(frozen=True)
class StreamAfter(Task):
    """The streams of ``task`` with the symbol ``before`` in front of each, after which nothing counts.

    >>> task = StreamAfter(CountingStream("anbn"), "b")
    >>> task.name, task.expected("baabbab")
    ('anbn-after-b', [None, None, None, 'b', 'a', None, 'a'])
    >>> task.reference.transduce("baabb")
    [None, None, None, 'b', 'a']
    """

    task: StreamTask
    before: Symbol
    kind = "next symbol"

    def __post_init__(self) -> None:
        if self.before not in self.task.alphabet:
            raise StacklensError(
                f"streams of {self.task.name} cannot begin after {self.before!r}: expected one of "
                f"{' '.join(self.task.alphabet)}"
            )

    @property
    def name(self) -> str:
        return f"{self.task.name}-after-{self.before}"

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        return self.task.alphabet

    @cached_property
    def reference(self) -> PushdownAutomaton | None:
        """Return the task's automaton behind a state that reads the symbol before; None where the task has none."""
        pda = self.task.reference
        if pda is None:
            return None
        start = next(name for name in (_BEFORE, f"{_BEFORE} the stream") if name not in pda.states)
        first: dict[Key, Transition] = {(start, self.before, (pda.bottom,)): Transition(pda.initial, (NONE,))}
        return replace(
            pda,
            states=(start, *pda.states),
            initial=start,
            accepting=pda.accepting | {start},
            transitions={**first, **pda.transitions},
            initial_output=None,
        )

    def expected(self, word: Word) -> list[Output]:
        """Return None for the symbol before, then what the task expects."""
        if not word:
            return []
        if word[0] != self.before:
            raise NoWordError(f"no stream of {self.name}: {word[0]!r} at position 1, expected {self.before!r}")
        return [None, *self.task.expected(word[1:])]

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        return [f"{self.before}{''.join(word)}" for word in self.task._words(n, lengths, split, rng)]


# ---- The streams of Joulin & Mikolov 2015, table 1: counting patterns, memorisation and binary addition ----

PATTERNS: dict[str, Blocks] = {
    blocks.name: blocks
    for blocks in (counted_pairs("a", "b"), equal_blocks(3), equal_blocks(4), TWICE_AS_MANY, SUM_BLOCKS)
}
_NUMBER = "(0|1[01]*)"


@dataclass(frozen=True)
class CountingStream(StreamTask):
    """Streams of one of the ``PATTERNS``. The size of a piece is n; that of a^n b^m c^{n+m} is n + m. What counts
    begins with the first ``b`` (the first ``c`` where m is free) and ends with the next piece's ``a``.

    >>> CountingStream("anbmcnm").expected("abbccca")
    [None, None, None, 'c', 'c', 'a', None]
    >>> CountingStream("anb2n").reference.transduce("abbaabbbb")
    [None, 'b', 'a', None, None, 'b', 'b', 'b', 'a']
    """

    pattern: str
    _first = "a"

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            raise UnknownNameError("counting pattern", self.pattern, list(PATTERNS))

    @property
    def name(self) -> str:
        return self.pattern

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        return self._blocks.alphabet

    @property
    def _blocks(self) -> Blocks:
        return PATTERNS[self.pattern]

    def piece(self, n: int, rng: np.random.Generator) -> str:
        m = int(rng.integers(1, n)) if self._blocks.free == 2 else 0
        sizes = self._blocks.whole((n - m, m) if m else (n,))
        return "".join(self._blocks.word(sizes))

    def _rest(self, start: str) -> str | None:
        sizes, free = self._begun(self._blocks.sizes(start), start), self._blocks.free
        if len(sizes) <= free:
            return None
        return "".join(self._blocks.word(self._blocks.whole(sizes[:free])))[len(start) :]

    @cached_property
    def reference(self) -> PushdownAutomaton | None:
        """Return the automaton that counts on one stack, accepting at the end of a piece; None for three counts."""
        if not self._blocks.states:
            return None
        *before, end = self._blocks.states[self._blocks.free :]  # in which the last letter is read

        def following(state: State, top: Symbol) -> Symbol | None:
            if state == end:
                return self._first if top == BOTTOM else self.alphabet[-1]
            return self.alphabet[-1] if state in before else None

        return with_head_outputs(_whole_pieces(self._blocks.automaton), following)


def _whole_pieces(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton of any number of words of ``pda``, whose runs are on an empty stack at their ends alone."""
    start: dict[Key, Transition] = {
        (state, letter, (top,)): step
        for (initial, letter, (top,)), step in pda.transitions.items()
        if initial == pda.initial and top == pda.bottom
        for state in pda.accepting
    }
    return replace(pda, transitions={**pda.transitions, **start}, accepting=pda.accepting | {pda.initial})


@dataclass(frozen=True)
class Memorization(StreamTask):
    """Streams of w = w^R, with w over 1, 2 and not empty; the size of a piece is the length of w. What counts is w^R;
    how the next piece begins cannot be known. Letters are drawn evenly.

    >>> Memorization().expected("2122=22121")
    [None, None, None, None, '2', '2', '1', '2', None, None]
    """

    name = "memorization"
    alphabet = ("=", "1", "2")
    _first = None

    def piece(self, n: int, rng: np.random.Generator) -> str:
        w = "".join(str(digit) for digit in rng.integers(1, 3, size=n).tolist())
        return f"{w}={w[::-1]}"

    def _rest(self, start: str) -> str | None:
        match = self._begun(re.fullmatch("([12]+)(=?)", start), start)
        return match[1][::-1] if match[2] else None

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton that pushes w and pops it, accepting at the end of a piece."""
        palindromes = MarkedPalindromes("12", "=", empty=False).automaton

        def following(state: State, top: Symbol) -> Symbol | None:
            return top if state in palindromes.accepting and top != BOTTOM else None

        return with_head_outputs(_whole_pieces(replace(palindromes, input_alphabet=self.alphabet)), following)


@dataclass(frozen=True)
class Addition(StreamTask):
    """Streams of binary additions with the result in reverse: ``101+1=011.``; the size is the digits of both numbers.
    What counts, in training too, is the result with its ``.``. Numbers have no leading zeros. How many of the digits
    are the first number's is drawn evenly, 0 digits making the number 0, as in the authors' program.

    >>> Addition().expected("101+1=011.")
    [None, None, None, None, None, '0', '1', '1', '.', None]
    """

    name = "addition"
    alphabet = ("+", "=", ".", "0", "1")
    _first = None
    smallest = 0
    reference = None  # both numbers would have to be read from their ends at once, which takes two stacks

    def piece(self, n: int, rng: np.random.Generator) -> str:
        first = int(rng.integers(n + 1))
        numbers = ["1" + "".join(map(str, rng.integers(2, size=k - 1))) if k else "0" for k in (first, n - first)]
        start = f"{numbers[0]}+{numbers[1]}="
        return start + (self._rest(start) or "")

    def _rest(self, start: str) -> str | None:
        match = self._begun(re.fullmatch(rf"{_NUMBER}(\+({_NUMBER}(=?))?)?", start), start)
        if not match[5]:
            return None
        total = int(match[1], 2) + int(match[4], 2)
        return f"{total:b}"[::-1] + "."
