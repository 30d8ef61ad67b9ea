"""The memories of a scan: all their cells at every step, and how gradients go back through them.

A memory is made for one run: `read` and `write` at every step in turn, `begin_back`, then `shares_back`, `step_back`
and `read_back` at every step from the last to the first.

Networks, stacks and words stand last in every array, (…, N, stacks, B), so that a share is multiplied with whole rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from stacklens.models.kernels.scan_units import Array

__all__ = ["ScanMemory", "ScanRing", "ScanStack"]


class ScanMemory(ABC):
    """What stacks and rings share: columns of cells with one more at either end.

    Args:
        cells: before the first step, (C, D, N, stacks, B).
        shares: of the operations, (T, operations, N, stacks, B), filled by whoever runs the scan before `write`.
        room: how many cells there are at most.
        depth: how many are read.
        empty: what a cell holds that was never written.
    """

    def __init__(self, cells: Array, shares: Array, room: int, depth: int, empty: float) -> None:
        height, steps = len(cells), len(shares)
        self.room, self.depth, self.shares = room, depth, shares
        self.columns = np.full((steps + 1, room + 2, *cells.shape[1:]), empty, cells.dtype)
        self.columns[0, 1 : height + 1] = cells
        self.pushed = self.columns[:steps, 0]  # where pushed values go, (T, D, N, stacks, B)
        self.heights = [min(height + t, room) for t in range(steps + 1)]  # cells below are empty before step t

    def read(self, t: int) -> Array:
        """Return the topmost cells before step ``t``, (depth, D, N, stacks, B)."""
        top: Array = self.columns[t, 1 : self.depth + 1]
        return top

    @abstractmethod
    def write(self, t: int) -> None:
        """Make the cells after step ``t`` from its shares and pushed values."""

    def begin_back(self) -> None:
        """After the last step no gradient comes from the cells."""
        self.of_column = np.zeros_like(self.columns[0])
        self._other = np.zeros_like(self.columns[0])  # of the step before, in turn
        self._of_shares: Array = np.empty_like(self.shares[0])
        self._ones = np.ones(self.of_column.shape[0] * self.of_column.shape[1], self.columns.dtype)

    def _product(self, one: Array, other: Array, out: Array) -> None:
        """Put the sum over cells of a product into ``out`` (N, stacks, B), by a product with ones."""
        products = (one * other).reshape(-1, out.size)
        np.dot(self._ones[: len(products)], products, out=out.reshape(-1))

    @abstractmethod
    def shares_back(self, t: int) -> Array:
        """Return the gradient of the shares of step ``t``, (operations, N, stacks, B)."""

    @abstractmethod
    def step_back(self, t: int) -> Array:
        """Return the gradient of the pushed values of step ``t``, and go back to the cells before that step."""

    def read_back(self, of_reading: Array) -> None:
        """Add the gradient of what was read of the cells, (depth, D, N, stacks, B)."""
        self.of_column[1 : self.depth + 1] += of_reading


class ScanStack(ScanMemory):
    """Superposition stacks (see `stacks.superposition`); a column holds what a step's operations choose from.

    Above the cells stands the pushed value, below them an empty cell; a push chooses from one above, a pop from one
    below. Cells that no push has reached stay as they are, so no step works on them.
    """

    def write(self, t: int) -> None:
        """Mix what push, pop and no-op leave (Joulin & Mikolov 2015, eqs. 4 and 5)."""
        column, shares, height = self.columns[t], self.shares[t], self.heights[t + 1]
        new = np.multiply(column[:height], shares[0], out=self.columns[t + 1, 1 : height + 1])
        new += column[2 : height + 2] * shares[1]
        if len(shares) == 3:
            new += column[1 : height + 1] * shares[2]

    def shares_back(self, t: int) -> Array:
        """Return the gradient of the shares of step ``t``."""
        height, column = self.heights[t + 1], self.columns[t]
        of_new = self.of_column[1 : height + 1]
        for place, out in zip((0, 2, 1), self._of_shares, strict=False):  # push, pop, no-op
            self._product(of_new, column[place : place + height], out)
        return self._of_shares

    def step_back(self, t: int) -> Array:
        """Return the gradient of the pushed values of step ``t``, and go back to the cells before that step."""
        height, shares = self.heights[t + 1], self.shares[t]
        of_new, of_column = self.of_column[1 : height + 1], self._other
        np.multiply(of_new, shares[0], out=of_column[:height])
        of_column[height : height + 2] = 0  # what lies below is never looked at again: earlier stacks are no higher
        of_column[2 : height + 2] += of_new * shares[1]
        if len(shares) == 3:
            of_column[1 : height + 1] += of_new * shares[2]
        self.of_column, self._other = of_column, self.of_column
        of_pushed: Array = of_column[0]
        return of_pushed


class ScanRing(ScanMemory):
    """Rings (see `stacks.ring`), whose five operations are three moves that go round, with two cells put to 0.

    Above the first cell stands the last once more, below the last the first.
    """

    def __init__(self, cells: Array, shares: Array, room: int, depth: int, empty: float) -> None:
        super().__init__(cells, shares, room, depth, empty)
        self.pushed = np.empty_like(self.pushed)  # what is new is added to the first cell
        self._wrap(0)

    def _wrap(self, t: int) -> None:
        column = self.columns[t]
        column[0], column[-1] = column[-2], column[1]

    def write(self, t: int) -> None:
        """Mix what the five operations leave, and add the new element (Suzgun et al. 2019, 3.3)."""
        rotate_right, rotate_left, stay, pop_right, pop_left = self.shares[t]
        column, after = self.columns[t], self.columns[t + 1]
        new = np.multiply(column[:-2], rotate_right + pop_right, out=after[1:-1])
        new += column[1:-1] * stay
        new += column[2:] * (rotate_left + pop_left)
        new[-1] -= column[1] * pop_left
        new[0] -= column[-2] * pop_right
        new[0] += self.pushed[t]
        self._wrap(t + 1)

    def shares_back(self, t: int) -> Array:
        """Return the gradient of the shares of step ``t``."""
        of_new, column = self.of_column[1:-1], self.columns[t]
        right, left, stay, cut_right, cut_left = out = self._of_shares
        for place, moved in enumerate((right, stay, left)):
            self._product(of_new, column[place : place + self.room], moved)
        self._product(of_new[0], column[-2], cut_right)
        self._product(of_new[-1], column[1], cut_left)
        np.subtract(out[:2], out[3:], out=out[3:])
        return out

    def step_back(self, t: int) -> Array:
        """Return the gradient of the pushed values of step ``t``, and go back to the cells before that step."""
        rotate_right, rotate_left, stay, pop_right, pop_left = self.shares[t]
        of_new, of_column = self.of_column[1:-1], self._other
        np.multiply(of_new, rotate_right + pop_right, out=of_column[:-2])
        of_column[-2:] = 0
        of_column[1:-1] += of_new * stay
        of_column[2:] += of_new * (rotate_left + pop_left)
        of_column[-2] += of_column[0] - of_new[0] * pop_right
        of_column[1] += of_column[-1] - of_new[-1] * pop_left
        self.of_column, self._other = of_column, self.of_column
        of_pushed: Array = of_new[0]
        return of_pushed
