"""Compatible merging: states, and stack symbols, that nothing observed in any run tells apart become one.

Unspecified cells are compatible with anything, so compatibility is not transitive and the order of trials matters; it
is the order of the states here, so the same automaton always gives the same result. A merge carries on to the states
that determinism then forces to be one, and is undone as a whole where that meets a conflict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from stacklens.automata.pda import Symbol
from stacklens.automata.refinement import Cell, Column, Table, arrays, rename_row

__all__ = ["merge_states", "merge_symbols"]


def merge_states(table: Table) -> list[int]:
    """Return a class for each state, numbered by first member: each joins the first that it is compatible with.

    The number of trials grows with the square of the number of states, less the pairs that some word tells apart.

    >>> merge_states(Table([{("a", ("⊥",)): (None, -1)}, {("b", ("⊥",)): (None, -1)}], [None, True]))
    [0, 0]
    """
    folding, candidates = _Folding(table), ~_told_apart(table)
    for state in range(len(table.rows)):
        for earlier in np.flatnonzero(candidates[state, :state]).tolist():
            if folding.parent[state] != state:
                break
            if folding.parent[earlier] == earlier:
                folding.merge(earlier, state)
    return folding.classes()


def _told_apart(table: Table) -> NDArray[np.bool_]:
    """Return (states, states): whether some sequence of specified cells ends in a conflict between the two."""
    cells = arrays(table)
    apart = np.zeros((len(table.rows), len(table.rows)), dtype=bool)
    for column in (cells.accepting, *cells.numbers.T):
        apart |= (column[:, None] != column) & (column[:, None] >= 0) & (column >= 0)
    before = -1
    while before != (before := int(apart.sum())):
        for column in cells.targets.T:
            known = np.flatnonzero(column >= 0)
            apart[np.ix_(known, known)] |= apart[np.ix_(column[known], column[known])]
    return apart


def merge_symbols(table: Table, symbols: Sequence[Symbol]) -> tuple[list[int], dict[Symbol, Symbol]] | None:
    """Return the classes of states that making two stack symbols one forces, and ``{gone: kept}``, for the first two.

    Two symbols can be one when, with one renamed to the other everywhere, every state's cells agree or can be made to
    agree by merging the states that they lead to. None where no two can.
    """
    for j, gone in enumerate(symbols):
        for kept in symbols[:j]:
            folding = _Folding(Table([{}] * len(table.rows), table.accepting))
            if folding.load(table, {gone: kept}):
                return folding.classes(), {gone: kept}
    return None


class _Folding:
    """A partition of states with the union of its members' cells, which can be taken back step by step."""

    def __init__(self, table: Table) -> None:
        self.rows = [dict(row) for row in table.rows]
        self.accepting = list(table.accepting)
        self.parent = list(range(len(self.rows)))
        self.forced: list[tuple[int, int]] = []  # pairs that determinism makes one
        self.trail: list[tuple[int, Column | None]] = []  # (state, cell that it got); None: its acceptance was set
        self.joined: list[int] = []

    def find(self, state: int) -> int:
        while self.parent[state] != state:
            state = self.parent[state]
        return state

    def classes(self) -> list[int]:
        numbers: dict[int, int] = {}
        return [numbers.setdefault(self.find(state), len(numbers)) for state in range(len(self.parent))]

    def load(self, table: Table, renamed: Mapping[Symbol, Symbol]) -> bool:
        """Return whether the renamed rows contradict nothing; if they do, this folding is of no more use."""
        for state, row in enumerate(table.rows):
            if not all(self.put(state, column, cell) for column, cell in rename_row(row, renamed)):
                return False
        return self.close()

    def merge(self, a: int, b: int) -> bool:
        """Return whether ``a`` and ``b`` could be made one; if not, everything is as it was."""
        self.forced, self.trail, self.joined = [(a, b)], [], []
        if self.close():
            return True
        for state in reversed(self.joined):
            self.parent[state] = state
        for state, column in reversed(self.trail):
            if column is None:
                self.accepting[state] = None
            else:
                del self.rows[state][column]
        return False

    def close(self) -> bool:
        while self.forced:
            a, b = sorted(map(self.find, self.forced.pop()))
            if a != b and not self.join(a, b):
                return False
        return True

    def join(self, a: int, b: int) -> bool:
        self.parent[b] = a
        self.joined.append(b)
        return self.accept(a, self.accepting[b]) and all(self.put(a, *item) for item in self.rows[b].items())

    def accept(self, state: int, accepts: bool | None) -> bool:
        if accepts is None or self.accepting[state] == accepts:
            return True
        if self.accepting[state] is not None:
            return False
        self.accepting[state] = accepts
        self.trail.append((state, None))
        return True

    def put(self, state: int, column: Column, cell: Cell) -> bool:
        """Add a cell to a row; where there is one, both must do the same, and their next states become one."""
        known = self.rows[state].get(column)
        if known is None:
            self.rows[state][column] = cell
            self.trail.append((state, column))
            return True
        if known[0] != cell[0]:
            return False
        if known[1] != cell[1]:
            self.forced.append((known[1], cell[1]))
        return True
