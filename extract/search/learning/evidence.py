"""What a tree of runs says of a machine that is to be learned: a partial Mealy machine over letters and tops.

An entry at a node says what the network did there on a letter, the stacks showing what they do: its moves, its output
and the next node. Everything is numbered, so that entries are compared as numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stacklens.extract.search.learning.run_tree import BOTTOM_CELL, SILENT, RunTree
from stacklens.extract.search.learning.tail_symbols import UNKNOWN_SYMBOL, CellSymbols
from stacklens.extract.search.machine import Window
from stacklens.models.rounding import Operation

__all__ = ["DIES", "NOWHERE", "VERDICT", "Entry", "Evidence", "Move", "gather"]

Entry = tuple[int, int, int]  # the move's number, the output's, and the next node
Move = tuple[tuple[Operation, Window | None], ...]  # for each stack what is done, and the window that a push makes
DIES = -1  # the move of a step that is rejected
NOWHERE = -1  # the next node where there is none
VERDICT = -1  # the key of the verdict on the word that ends at a node: an entry whose output is that verdict


@dataclass(frozen=True)
class Evidence:
    """What is known of each node of a tree, and what the numbers stand for.

    Attributes:
        entries: for each node what is known there, by key: `VERDICT`, or letter * len(heads) + head.
        heads: for each number the window that each stack shows.
        moves: for each number what is done to each stack.
        sizes: how many nodes there are at and under each node.
        by_state: for recognisers, whether words may be accepted on stacks that are not empty.
    """

    entries: list[dict[int, Entry]]
    heads: list[tuple[Window, ...]]
    moves: list[Move]
    sizes: list[int]
    by_state: bool


def gather(tree: RunTree, stacks: tuple[int, ...], symbols: CellSymbols) -> Evidence:
    """Return what ``tree`` says of a machine that sees ``stacks`` only, and whose cells hold ``symbols``.

    Without a stack in sight it has one that it never uses. What happens where a symbol is not known is left out.
    """
    runs, depth = tree.runs, tree.network.depth
    windows = _windows(tree, stacks, symbols.numbers)
    heads, places = _numbered(windows.reshape(len(windows), -1))
    shown = [tuple(tuple(row[i : i + depth]) for i in range(0, len(row), depth)) for row in heads.tolist()]
    certain = (windows != UNKNOWN_SYMBOL).all((1, 2))
    done = runs.operations[:, list(stacks)] if stacks else np.zeros((len(windows), 1), np.int64)
    made = np.where((done & Operation.PUSH)[..., None] > 0, windows, UNKNOWN_SYMBOL)
    moves, moved = _numbered(np.concatenate([done[..., None], made], -1).reshape(len(windows), -1))
    entries: list[dict[int, Entry]] = [{} for _ in runs.parents]
    laid = ((done & Operation.PUSH) == 0)[..., None] | (windows != UNKNOWN_SYMBOL)
    known = certain[runs.parents] & (runs.rejected | laid.all((1, 2)))
    known[0] = False
    keys = runs.letters * len(shown) + places[runs.parents]
    moved[runs.rejected] = DIES
    for node in np.flatnonzero(known).tolist():
        target = NOWHERE if moved[node] == DIES else node
        entries[runs.parents[node]][int(keys[node])] = (int(moved[node]), runs.outputs[node], target)
    _enter_unpredicted(tree, entries, places, certain, len(shown))
    by_state = _enter_verdicts(tree, stacks, entries)
    return Evidence(
        entries, shown, [_move(row, windows.shape[1], depth) for row in moves.tolist()], _sizes(tree), by_state
    )


def _windows(tree: RunTree, stacks: tuple[int, ...], numbers: np.ndarray) -> np.ndarray:
    """Return the symbols that each of ``stacks`` shows after each node, (N, S, depth), top first."""
    cells, seen = tree.runs.tops[:, list(stacks)], []
    if not stacks:
        cells = np.full((len(cells), 1), BOTTOM_CELL)
    for _ in range(tree.network.depth):
        seen.append(numbers[cells])
        cells = tree.runs.below[cells]
    return np.stack(seen, -1)


def _numbered(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different ones of ``rows`` (N, W), and the place of each row among them, (N,)."""
    distinct, places = np.unique(rows, axis=0, return_inverse=True)
    return distinct, places.ravel()


def _move(row: list[int], n_stacks: int, depth: int) -> Move:
    parts = [row[i : i + depth + 1] for i in range(0, n_stacks * (depth + 1), depth + 1)]
    operations = [(Operation(operation), tuple(window)) for operation, *window in parts]
    return tuple((operation, window if operation.pushes else None) for operation, window in operations)


def _enter_unpredicted(
    tree: RunTree, entries: list[dict[int, Entry]], places: np.ndarray, certain: np.ndarray, n_heads: int
) -> None:
    """Enter that a letter that was not predicted dies: it was never read."""
    network, runs = tree.network, tree.runs
    if network.task_kind != "next set":
        return
    letters = range(len(network.alphabet))
    dies = (DIES, SILENT, NOWHERE)
    for node in np.flatnonzero(certain & ~runs.rejected).tolist():
        said = runs.outputs[node]
        if node == 0:
            first = network.first
            said = sum(1 << x for x in letters if first is None or network.alphabet[x] in first)
        elif said == SILENT:
            continue
        for x in letters:
            if not said >> x & 1:
                entries[node][x * n_heads + int(places[node])] = dies


def _enter_verdicts(tree: RunTree, stacks: tuple[int, ...], entries: list[dict[int, Entry]]) -> bool:
    """Enter the verdicts; return whether some word is accepted on stacks that are not empty.

    Where none is, a state says what it does of empty stacks only.
    """
    runs = tree.runs
    empty = (runs.tops[:, list(stacks)] == BOTTOM_CELL).all(1)
    by_state = bool((runs.verdicts[~empty] > 0).any())
    for node in np.flatnonzero((runs.verdicts >= 0) & (empty | by_state)).tolist():
        entries[node][VERDICT] = (0, int(runs.verdicts[node]), NOWHERE)
    return by_state


def _sizes(tree: RunTree) -> list[int]:
    """Return how many nodes there are at and under each node."""
    parents = tree.runs.parents.tolist()
    sizes = [1] * len(parents)
    for node in range(len(parents) - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    return sizes
