"""Stack symbols for learning: which pushed values are taken for the same.

A symbol is the 1-tail of the step that pushed it (Biermann & Feldman 1972, "On the synthesis of finite-state machines
from samples of their behavior", k-tails): what the network does to its stacks and says on each letter that is read
right after the push. Longer tails tell too much apart, and values alone may lie anywhere: K-means clusters of them are
the other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stacklens.extract.search.learning.run_tree import BOTTOM_CELL, Runs, RunTree
from stacklens.extract.search.quantisers import cluster

__all__ = ["BOTTOM_SYMBOL", "UNKNOWN_SYMBOL", "CellSymbols", "clustered_symbols", "letter_symbols", "tail_symbols"]

BOTTOM_SYMBOL = -1
UNKNOWN_SYMBOL = -2  # of a value on which too little was read
_DIES, _UNASKED = -1, -2  # in the place of what a letter leads to


@dataclass(frozen=True)
class CellSymbols:
    """Which stack symbol each cell of a tree holds.

    Attributes:
        name: what a report calls this choice.
        numbers: the symbol of each cell, (C,); -1 for the bottom, -2 where it is not known.
        names: the symbols' names.
    """

    name: str
    numbers: np.ndarray
    names: tuple[str, ...]


def letter_symbols(tree: RunTree) -> CellSymbols:
    """Return the symbols of a network that pushes the letter that it reads."""
    runs = tree.runs
    numbers = runs.letters[runs.makers]
    numbers[BOTTOM_CELL] = BOTTOM_SYMBOL
    return CellSymbols("letters", numbers, tree.network.letters)


def clustered_symbols(tree: RunTree, stacks: Sequence[int], number: int, seed: int) -> CellSymbols:
    """Return as symbols at most ``number`` K-means clusters of the values on each of ``stacks``."""
    runs = tree.runs
    numbers = np.full(len(runs.below), UNKNOWN_SYMBOL)
    numbers[BOTTOM_CELL] = BOTTOM_SYMBOL
    most = 0
    for stack in stacks:
        here = np.flatnonzero(runs.stacks == stack)
        if len(here):
            found = cluster(runs.values[here].astype(np.float64), number, seed)
            numbers[here] = found.assign(runs.values[here].astype(np.float64))
            most = max(most, len(found.centres))
    return CellSymbols(f"{most} clusters of pushed values", numbers, tuple(f"s{i}" for i in range(most)))


def tail_symbols(tree: RunTree, stacks: Sequence[int]) -> CellSymbols:
    """Return the 1-tails of the steps that pushed on ``stacks`` as symbols.

    A value pushed on the last level of the tree has no symbol that is known. Letters that no word of the task goes on
    with, and outputs that do not count, are no part of a tail.
    """
    runs, seen = tree.runs, list(stacks)
    known, tails = _tails(tree, runs, seen)
    place = np.full(len(runs.parents), UNKNOWN_SYMBOL)
    place[known] = tails
    cells = np.flatnonzero(np.isin(runs.stacks, seen))
    numbers = np.full(len(runs.below), UNKNOWN_SYMBOL)
    numbers[cells] = place[runs.makers[cells]]
    used, again = np.unique(numbers[numbers >= 0], return_inverse=True)
    numbers[numbers >= 0] = again
    numbers[BOTTOM_CELL] = BOTTOM_SYMBOL
    return CellSymbols("1-tails", numbers, tuple(f"s{i}" for i in range(len(used))))


def _tails(tree: RunTree, runs: Runs, stacks: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes that pushed and whose next letters are all in the tree, and a number for the tail of each."""
    did = np.concatenate([runs.operations[:, stacks], _numbered(runs.outputs)[:, None], runs.verdicts[:, None]], 1)
    did = np.where(runs.rejected[:, None], _DIES, did)
    _, steps = np.unique(did, axis=0, return_inverse=True)
    steps = np.where(runs.rejected, _DIES, steps.ravel())
    after = np.full((len(runs.parents), len(tree.network.letters)), _UNASKED)
    after[runs.parents[1:], runs.letters[1:]] = steps[1:]
    if tree.network.task_kind == "next set":  # what was not predicted dies
        after[after == _UNASKED] = _DIES
    pushes = (runs.pushed[:, stacks] >= 0).any(1)
    known = np.flatnonzero(runs.followed & pushes)
    if not len(known):
        return known, known
    tails = np.unique(after[known], axis=0, return_inverse=True)[1].ravel()
    return known, tails


def _numbered(outputs: np.ndarray) -> np.ndarray:
    """Return a number for each of ``outputs``, which may be too large for an array's."""
    known = {number: place for place, number in enumerate(dict.fromkeys(outputs.tolist()))}
    return np.array([known[number] for number in outputs.tolist()], np.int64)
