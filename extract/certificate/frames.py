"""The stacks of all short words at once: cells that share what lies below them, as boxes.

A frame is a cell together with what may lie below it. Words whose stacks agree up to a point share frames, and frames
may be merged: the box of the new one holds those of both, and below it lies what lay below either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from stacklens.automata.pda import Symbol
from stacklens.extract.certificate.intervals import Box
from stacklens.extract.certificate.nearness import groups

__all__ = ["BOTTOM", "FrameSymbol", "Frames"]

FrameSymbol = tuple[Symbol | None, Symbol]  # the automaton's stack symbol, and the letter that laid it

BOTTOM = 0  # the number of the frame below all others, which is no cell
_MOST_BELOW = 4  # frames that are told apart below one
_NEARER = 1.2  # a grid is not more than so much coarser than it has to be


class Frames:
    """Frames, each with a number: the box of what it shows, and its cells.

    A cell is laid once, on the cells of one frame. A frame is a cell, or a set of cells of one symbol, of which it is
    not known which one is there.

    Args:
        size: how many numbers a frame shows: its own cell's, and those below that the network sees.
    """

    def __init__(self, size: int) -> None:
        self._low, self._high = np.zeros((1, size)), np.zeros((1, size))
        self.size, self.count = size, 1
        self._kinds: dict[FrameSymbol | None, int] = {None: BOTTOM}
        self.symbols: list[FrameSymbol | None] = [None]
        self.kinds = np.zeros(1, np.int64)
        self._cells = [np.zeros(1, np.int64)]
        self._under = [np.zeros(0, np.int64)]  # of a cell: those that may lie below
        self._sets: dict[bytes, int] = {}
        self._below: dict[int, tuple[int, ...]] = {BOTTOM: (BOTTOM,)}

    def boxes(self, numbers: np.ndarray) -> Box:
        """Return what frames show, (N, size)."""
        return Box(self._low[numbers], self._high[numbers])

    def lay(self, symbol: FrameSymbol, shown: Box, on: Iterable[Sequence[int]]) -> np.ndarray:
        """Return new cells (N,) of a symbol, one for each box of ``shown`` (N, size), each on one of some frames."""
        kind = self._kinds.setdefault(symbol, len(self._kinds))
        if kind == len(self.symbols):
            self.symbols.append(symbol)
        return self._lay(kind, shown, map(self._union, on))

    def anything(self) -> int:
        """Return a new frame that stands for any stack: below it is itself; what it shows has to be known elsewhere."""
        nothing = Box(np.zeros((1, self.size)), np.zeros((1, self.size)))
        number = int(self.lay((None, f"any {self.count}"), nothing, [(BOTTOM,)])[0])
        self._below[number] = (number,)
        return number

    def merge(self, numbers: Iterable[int], since: int) -> int:
        """Return a frame that holds frames of one symbol: one of them, if there is one only.

        If all are cells laid since there were ``since`` frames, it is one cell, on whatever they lie on.
        """
        parts = sorted(set(numbers))
        if len(parts) == 1:
            return parts[0]
        if parts[0] >= since and all(len(self._cells[part]) == 1 for part in parts):
            under = _distinct([self._under[part] for part in parts])
            return int(self._lay(int(self.kinds[parts[0]]), self._around(parts), [under])[0])
        return self._set(self._union(parts))

    def below(self, number: int) -> tuple[int, ...]:
        """Return the frames one of which lies below a frame; below the bottom is itself."""
        if number not in self._below:
            cells = _distinct([self._under[cell] for cell in self._cells[number].tolist()])
            middle = (self._low[cells] + self._high[cells]) / 2
            order, starts = groups(middle, self.kinds[cells], _MOST_BELOW)
            parts = np.split(cells[order], starts[1:])
            self._below[number] = tuple(self._set(np.sort(part)) for part in parts)
        return self._below[number]

    def _lay(self, kind: int, shown: Box, under: Iterable[np.ndarray]) -> np.ndarray:
        numbers = self._new(kind, shown)
        self._cells += [np.array([number]) for number in numbers.tolist()]
        self._under += under
        return numbers

    def _union(self, frames: Sequence[int]) -> np.ndarray:
        return _distinct([self._cells[frame] for frame in frames])

    def _set(self, cells: np.ndarray) -> int:
        """Return the frame of ``cells``, in order and of one symbol."""
        if len(cells) == 1:
            return int(cells[0])
        name = cells.tobytes()
        if name not in self._sets:
            self._sets[name] = int(self._new(int(self.kinds[cells[0]]), self._around(cells))[0])
            self._cells.append(cells)
            self._under.append(np.zeros(0, np.int64))
        return self._sets[name]

    def _around(self, frames: Sequence[int] | np.ndarray) -> Box:
        return Box(self._low[frames].min(0, keepdims=True), self._high[frames].max(0, keepdims=True))

    def _new(self, kind: int, shown: Box) -> np.ndarray:
        n, size = len(shown.low), len(self.kinds)
        if self.count + n > size:
            more = max(n, size)
            self._low = np.concatenate([self._low, np.zeros((more, self._low.shape[1]))])
            self._high = np.concatenate([self._high, np.zeros((more, self._high.shape[1]))])
            self.kinds = np.concatenate([self.kinds, np.zeros(more, np.int64)])
        numbers = np.arange(self.count, self.count + n)
        self._low[numbers], self._high[numbers], self.kinds[numbers] = shown.low, shown.high, kind
        self.count += n
        return numbers


def _distinct(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
