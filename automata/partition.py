"""Tables of what each state does, and the exact partition of those that do the same (Moore's refinement).

A table forgets names: states are numbers, and a row says for each head and letter what is known. What is absent from a
row never happens in any run and is unspecified; a rejection that does happen is a cell like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stacklens.automata.pda import Output, StackOp, Symbol, Tops

__all__ = [
    "REJECT",
    "Arrays",
    "Column",
    "Integers",
    "Label",
    "StateTable",
    "TableCell",
    "arrays",
    "coarsest_partition",
    "quotient",
    "rename_row",
    "unlike_symbols",
]

Column = tuple[Symbol, Tops]  # a letter and the tops with which it is read
Label = tuple[tuple[StackOp, ...], Output] | None  # what is done; None: reject
TableCell = tuple[Label, int]  # and the next state
REJECT: TableCell = (None, -1)
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class StateTable:
    """What is known of each state: a row of cells, and whether it accepts (None: it decides about no word)."""

    rows: Sequence[Mapping[Column, TableCell]]
    accepting: Sequence[bool | None]


def coarsest_partition(table: StateTable, symbols: Sequence[Symbol] = ()) -> tuple[list[int], dict[Symbol, Symbol]]:
    """Return a class for each state, and for each stack symbol the first of ``symbols`` that does the same.

    The coarsest partition such that two states of a class do the same with each letter and tops, two symbols of a class
    have the same done with them in each state, and "the same" means: operation by operation, with pushed symbols and
    next states of the same class, and the same output. For states alone it is the minimisation of Sun et al. 1993,
    section 3.6, where (letter, top, operation) counts as one letter of a finite automaton; unspecified cells are one
    more value here. A round is a numpy pass over the whole table.

    >>> coarsest_partition(StateTable([{}, {}, {("a", ("x",)): REJECT}], [True, True, True]), ["x", "y"])
    ([0, 0, 1], {'x': 'x', 'y': 'y'})
    """
    cells = arrays(table)
    places = _places(cells.columns, symbols)
    states, alike = _number(cells.accepting[:, None]), dict.fromkeys(symbols, 0)
    sizes = (-1, -1)
    while sizes != (sizes := (int(states.max()), len(set(alike.values())))):
        done = _classes_of_labels(cells.labels, alike)[cells.numbers]
        following = np.append(states, -1)[cells.targets]  # -1, no target, points at the last
        states = _number(np.column_stack([states, done, following]))
        padded = np.pad(np.stack([done, following]), ((0, 0), (0, 0), (0, 1)), constant_values=-1)
        if symbols:
            views = padded[:, :, places].transpose(2, 0, 1, 3).reshape(len(symbols), -1)
            numbers = _number(np.column_stack([list(alike.values()), views])).tolist()
            alike = dict(zip(symbols, numbers, strict=True))
    first: dict[int, Symbol] = {}
    return states.tolist(), {symbol: first.setdefault(number, symbol) for symbol, number in alike.items()}


def unlike_symbols(table: StateTable, symbols: Sequence[Symbol]) -> NDArray[np.bool_]:
    """Return (symbols, symbols): whether some state does one thing with one symbol in sight, and another with another.

    Which symbols are pushed does not count, as two of these may become one: two that are not unlike may still differ.
    """
    if len(symbols) < 2:
        return np.zeros((len(symbols), len(symbols)), dtype=bool)
    cells = arrays(table)
    classes: dict[object, int] = {}
    kinds = [
        classes.setdefault(repr(label and ([(op.pop, op.push is None) for op in label[0]], label[1])), len(classes))
        for label in cells.labels
    ]
    shown = np.pad(np.array([*kinds, -1])[cells.numbers], ((0, 0), (0, 1)), constant_values=-1)
    rows = shown[:, _places(cells.columns, symbols)].transpose(1, 0, 2).reshape(len(symbols), -1)
    unlike = np.zeros((len(symbols), len(symbols)), dtype=bool)
    for number, row in enumerate(rows):
        unlike[number] = ((rows != row) & (rows >= 0) & (row >= 0)).any(1)
    return unlike


def _classes_of_labels(labels: Sequence[Label], alike: Mapping[Symbol, int]) -> Integers:
    """Return a number for each label, the same where the pushed symbols are alike; the last, -1, is for no label."""
    numbers: dict[object, int] = {}
    classes = []
    for label in labels:
        done = label and ([(op.pop, op.push and alike.get(op.push, op.push)) for op in label[0]], label[1])
        classes.append(numbers.setdefault(repr(done), len(numbers)))
    return np.array([*classes, -1], dtype=np.int64)


def _places(columns: Sequence[Column], symbols: Sequence[Symbol]) -> Integers:
    """Return (symbols, places): the column that reads a symbol in a place (a letter and the other tops), else -1."""
    number = {symbol: i for i, symbol in enumerate(symbols)}
    places: dict[object, int] = {}
    found = [
        (number[top], places.setdefault((letter, tops[:i], tops[i + 1 :]), len(places)), j)
        for j, (letter, tops) in enumerate(columns)
        for i, top in enumerate(tops)
        if top in number
    ]
    index = np.full((len(symbols), len(places)), -1, dtype=np.int64)
    for symbol, place, column in found:
        index[symbol, place] = column
    return index


@dataclass(frozen=True)
class Arrays:
    """A table as arrays: each cell the number of its label and its target; -1 is what is unspecified."""

    accepting: Integers  # (states,)
    numbers: Integers  # (states, columns)
    targets: Integers  # (states, columns); -1 after a rejection too
    columns: list[Column]
    labels: list[Label]


def arrays(table: StateTable) -> Arrays:
    """Return the table as arrays."""
    columns = {column: i for i, column in enumerate(dict.fromkeys(column for row in table.rows for column in row))}
    labels: dict[Label, int] = {}
    numbers = np.full((len(table.rows), len(columns)), -1, dtype=np.int64)
    targets = np.full((len(table.rows), len(columns)), -1, dtype=np.int64)
    for state, row in enumerate(table.rows):
        for column, (label, target) in row.items():
            numbers[state, columns[column]] = labels.setdefault(label, len(labels))
            targets[state, columns[column]] = target
    accepting = np.array([-1 if accepts is None else accepts for accepts in table.accepting], dtype=np.int64)
    return Arrays(accepting, numbers, targets, list(columns), list(labels))


def _number(rows: Integers) -> Integers:
    """Return a number for each row, the same for equal rows, in the order in which they come first."""
    # Sorting one hash a row is much faster than sorting rows; a collision is noticed, and then rows are sorted.
    factors = np.random.default_rng(0).integers(1, 2**63, size=rows.shape[1], dtype=np.uint64)
    hashes = rows.astype(np.uint64) @ factors
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first[inverse]], rows):
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbers: Integers = rank[inverse.reshape(-1)]
    return numbers


def quotient(table: StateTable, classes: Sequence[int], renamed: Mapping[Symbol, Symbol]) -> StateTable:
    """Return the table of the classes (numbered from 0), with the stack symbols ``renamed``.

    A class does whatever one of its members is known to do; the caller has made sure that no two of them differ.
    """
    rows: list[dict[Column, TableCell]] = [{} for _ in range(max(classes) + 1)]
    accepting: list[bool | None] = [None] * len(rows)
    for number, row, accepts in zip(classes, table.rows, table.accepting, strict=True):
        accepting[number] = accepts if accepting[number] is None else accepting[number]
        for column, (label, target) in rename_row(row, renamed):
            rows[number][column] = label, classes[target] if label is not None else -1
    return StateTable(rows, accepting)


def rename_row(row: Mapping[Column, TableCell], renamed: Mapping[Symbol, Symbol]) -> list[tuple[Column, TableCell]]:
    """Return the cells of a row with its stack symbols renamed; a column may come twice then."""
    if not renamed:
        return list(row.items())
    return [
        ((letter, tuple(renamed.get(top, top) for top in tops)), (_rename_label(cell[0], renamed), cell[1]))
        for (letter, tops), cell in row.items()
    ]


def _rename_label(label: Label, renamed: Mapping[Symbol, Symbol]) -> Label:
    if label is None:
        return None
    operations = (op if op.push is None else StackOp(op.pop, renamed.get(op.push, op.push)) for op in label[0])
    return tuple(operations), label[1]
