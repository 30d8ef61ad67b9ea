"""Endless streams of words without boundaries: Joulin & Mikolov 2015, section 5.1 and table 1.

A network predicts the next symbol of a stream such as aabb·ab·aaabbb·… (the dots are not there). Only what can be known
counts: from the first ``b`` on all further ones, and the ``a`` that begins the next word. A word of a task here is a
stream: some of the paper's sequences after one another (we call them pieces), the last one possibly cut short.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from stacklens.automata.pda import Output, Symbol, Word
from stacklens.automata.tables import BoolArray
from stacklens.errors import StacklensError
from stacklens.languages.tasks.base import Kind, Split, Task

__all__ = ["PIECES", "SIZES", "StreamTask", "curriculum"]

SIZES: dict[Split, tuple[int, int]] = {"train": (2, 19), "test": (2, 59)}  # n < 20 in training, up to 60 in the test
PIECES = 10  # in a stream that ``sample`` draws


def curriculum(epoch: int, n_max: int, smallest: int = 2) -> tuple[int, int]:
    """Return the smallest and the largest n of an epoch (from 0): up to ``max(min(epoch + 3, n_max), 3) - 1``.

    >>> [curriculum(epoch, n_max=15) for epoch in (0, 1, 11, 12, 50)]
    [(2, 2), (2, 3), (2, 13), (2, 14), (2, 14)]
    """
    return smallest, max(min(epoch + 3, n_max), 3) - 1


class StreamTask(Task):
    """Predict the next symbol of a stream; the size of a piece is its n, whose meaning each task says.

    >>> from stacklens.languages.tasks.counting_streams import CountingStream
    >>> task = CountingStream("anbn")
    >>> task.expected("aabbab")
    [None, None, 'b', 'a', None, 'a']
    >>> task.deterministic("aabbab"), task.pieces("aabbab")
    ([2, 3, 5], ['aabb', 'ab'])
    >>> [len(words) for words in task.words_by_n(2, 4, count=5).values()]
    [5, 5, 5]
    """

    @property
    def kind(self) -> Kind:
        """Return that an output is the next symbol."""
        return "next symbol"

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols of the stream."""
        return self.alphabet

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

    @property
    def smallest(self) -> int:
        """Return the smallest n that is drawn: 2, as in the authors' program."""
        return 2

    def expected(self, word: Word) -> list[Output]:
        """Return, for each symbol of a stream, the next one, None where it is open."""
        return [output for output, _ in self._read(word)]

    def deterministic(self, word: Word) -> list[int]:
        """Return the positions of a stream after which the next symbol is known: those that count."""
        return [t for t, output in enumerate(self.expected(word)) if output is not None]

    def pieces(self, word: Word) -> list[str]:
        """Return the pieces that a stream consists of; the last may be cut short."""
        ends = [t + 1 for t, (_, ended) in enumerate(self._read(word)) if ended]
        bounds = [0, *ends, *([len(word)] if len(word) > max(ends, default=0) else [])]
        return ["".join(word[start:end]) for start, end in pairwise(bounds)]

    def _read(self, word: Word) -> list[tuple[Symbol | None, bool]]:
        """Return, for each symbol, the next one if that is known, and whether a piece ends with it."""
        start, rest, read = "", "", list[tuple[Symbol | None, bool]]()
        for t, symbol in enumerate(word):
            if rest and symbol != rest[0]:
                raise StacklensError(f"no stream of {self.name}: {symbol!r} at position {t + 1}, expected {rest[0]!r}")
            if rest:
                start, rest = start + symbol, rest[1:]
            else:
                start += symbol
                found = self._rest(start)
                if found is None:
                    read.append((None, False))
                    continue
                rest = found
            read.append((rest[0], False) if rest else (self._first, True))
            start = start if rest else ""
        return read

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
