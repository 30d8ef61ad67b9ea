"""Endless streams of words without boundaries: Joulin & Mikolov 2015, section 5.1 and table 1."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from stacklens.automata.compiled import BoolArray
from stacklens.automata.pda import NONE, Key, Output, PushdownAutomaton, Symbol, Transition, Word
from stacklens.errors import NoWordError, StacklensError
from stacklens.languages.tasks.task import Split, Task, TaskKind

__all__ = ["PIECES", "SIZES", "StreamAfter", "StreamTask", "curriculum"]

SIZES: dict[Split, tuple[int, int]] = {"train": (2, 19), "test": (2, 59)}  # n < 20 in training, up to 60 in the test
PIECES = 10  # in a stream that ``sample`` draws

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

    >>> from stacklens.languages.tasks.stream_patterns import CountingStream
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
        """Return how a piece that begins with ``start`` must go on, None where that is open.

        Raises:
            StacklensError: no piece begins so.
        """

    @property
    @abstractmethod
    def _first(self) -> Symbol | None:
        """Return the symbol with which every piece begins, None if there are several."""

    def expected(self, word: Word) -> list[Output]:
        """Return, for each symbol of a stream, the next one, None where it is open."""
        return self._read(word)[0]

    def pieces(self, word: Word) -> list[str]:
        """Return the pieces that a stream consists of; the last may be cut short."""
        ends = self._read(word)[1]
        bounds = [0, *ends, *([len(word)] if len(word) > max(ends, default=0) else [])]
        return ["".join(word[start:end]) for start, end in pairwise(bounds)]

    def _read(self, word: Word) -> tuple[list[Output], list[int]]:
        """Return, for each symbol, the next one, None where it is open; and where pieces end."""
        text, outputs, ends = "".join(word), list[Output](), list[int]()
        begin = end = 0
        while end < len(text):
            end += 1
            rest = self._known_rest(text[begin:end])
            if rest is None:
                outputs.append(None)
                continue
            follows = text[end : end + len(rest)]
            if not rest.startswith(follows):
                self._refuse(follows, rest, end)
            outputs += [*rest, self._first][: len(follows) + 1]
            begin = end = end + len(rest)
            if len(follows) == len(rest):
                ends.append(end)
        return outputs, ends

    def _refuse(self, follows: str, rest: str, end: int) -> NoReturn:
        """Raise an error that says where ``follows``, which begins at ``end``, is not as ``rest``."""
        wrong = next(i for i, (symbol, other) in enumerate(zip(follows, rest, strict=False)) if symbol != other)
        position = f"{follows[wrong]!r} at position {end + wrong + 1}, expected {rest[wrong]!r}"
        raise NoWordError(f"no stream of {self.name}: {position}")

    def _known_rest(self, start: str) -> str | None:
        """Return how a piece goes on (see `_rest`), looked up where it is known: thousands of pieces begin alike."""
        known = self._rests
        if start not in known:
            if len(known) >= _MOST_KNOWN:
                known.clear()
            known[start] = self._rest(start)
        return known[start]

    @cached_property
    def _rests(self) -> dict[str, str | None]:
        return {}

    def words_by_n(self, low: int = 2, high: int = 59, count: int = 200, seed: int = 0) -> dict[int, list[str]]:
        """Return ``count`` random pieces of each size from ``low`` to ``high``: the paper's test, in the order read.

        The authors' program reads them all as one stream, stacks emptied only at its beginning; for the scores see
        `pieces_correct`.
        """
        rng = np.random.default_rng(seed)
        return {n: [self.piece(n, rng) for _ in range(count)] for n in range(low, high + 1)}

    def stream(self, pieces: int, sizes: tuple[int, int], seed: int = 0) -> str:
        """Return a stream of ``pieces`` pieces whose sizes are drawn evenly from ``sizes``, both ends included.

        Raises:
            StacklensError: there are no pieces of these sizes.
        """
        return self._stream(pieces, sizes, np.random.default_rng(seed))

    def _stream(self, pieces: int, sizes: tuple[int, int], rng: np.random.Generator) -> str:
        low, high = max(sizes[0], self.smallest), sizes[1]
        if high < low:
            raise StacklensError(
                f"{self.name} has no pieces of sizes {sizes[0]} to {high}: they begin at {self.smallest}"
            )
        return "".join(self.piece(n, rng) for n in rng.integers(low, high + 1, size=pieces).tolist())

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        sizes = lengths or (self.smallest if split == "train" else SIZES[split][0], SIZES[split][1])
        return [self._stream(PIECES, sizes, rng) for _ in range(n)]

    def pieces_correct(self, pieces: Sequence[str], hits: npt.NDArray[Any]) -> BoolArray:
        """Return which pieces of a stream are right, ``(..., S)``: everything in them that can be known is predicted.

        That includes, for the counting tasks, the first symbol of the next piece.

        Args:
            pieces: the S pieces that, after one another, are the stream.
            hits: ``(..., T)`` bool, whether the output after each symbol of the stream was right, as from
                ``Examples.hits``.

        Raises:
            StacklensError: the stream is not as long as ``hits``.
        """
        ends = list(accumulate(map(len, pieces)))
        if not ends or np.shape(hits)[-1] != ends[-1]:
            raise StacklensError(f"{np.shape(hits)[-1]} outputs for pieces of {sum(map(len, pieces))} symbols in all")
        fine = np.asarray(hits, np.bool_) | ~np.array(self.scored("".join(pieces)), np.bool_)
        return np.asarray(np.logical_and.reduceat(fine, [0, *ends[:-1]], axis=-1), np.bool_)


@dataclass(frozen=True)
class StreamAfter(Task):
    """The streams of ``task`` with the symbol ``before`` in front of each, after which nothing counts.

    >>> from stacklens.languages.tasks.stream_patterns import CountingStream
    >>> task = StreamAfter(CountingStream("anbn"), "b")
    >>> task.name, task.expected("baabbab")
    ('anbn-after-b', [None, None, None, 'b', 'a', None, 'a'])
    >>> task.reference.transduce("baabb")
    [None, None, None, 'b', 'a']
    """

    task: StreamTask
    before: Symbol

    def __post_init__(self) -> None:
        if self.before not in self.task.alphabet:
            raise StacklensError(
                f"streams of {self.task.name} cannot begin after {self.before!r}: expected one of "
                f"{' '.join(self.task.alphabet)}"
            )

    @property
    def name(self) -> str:
        """Return the task's name and what comes before."""
        return f"{self.task.name}-after-{self.before}"

    @property
    def kind(self) -> TaskKind:
        """Return that an output is the next symbol."""
        return self.task.kind

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols of the stream."""
        return self.task.alphabet

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols of the stream."""
        return self.task.output_alphabet

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
