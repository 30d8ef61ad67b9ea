"""Many configurations at once: stepped, judged and merged as arrays; their stacks are nodes of one trie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stacklens.automata.stack_trie import StackTrie
from stacklens.automata.tables import BoolArray, IntArray, Tables

__all__ = ["Configurations"]


@dataclass(frozen=True, eq=False)
class Configurations:
    """M configurations of one automaton; their stacks live in one trie, which steps extend.

    A stack is ``pushed`` (0 for nothing) on the trie's ``node``, both ``(n_stacks, M)``: what the last step pushed gets
    a node only when it is settled, which the last step of all can do without.

    >>> from stacklens.automata.pda import PushdownAutomaton, Transition, push
    >>> from stacklens.automata.tables import compile_tables
    >>> once = {("q", "a", ("⊥",)): Transition("q", (push("A"),))}
    >>> pda = PushdownAutomaton(("q",), ("a", "b"), ("A",), once, "q", acceptance="empty stack")
    >>> start = Configurations.start(compile_tables(pda), StackTrie(1))
    >>> after, places = start.step(np.arange(2))
    >>> start.accepted().tolist(), after.accepted().tolist(), places.tolist()
    ([True], [False], [0])
    """

    tables: Tables
    trie: StackTrie
    state: IntArray  # (M,)
    good: BoolArray  # (M,) whether the last output accepts; always False where acceptance does not ask for it
    node: IntArray
    pushed: IntArray

    @staticmethod
    def start(tables: Tables, trie: StackTrie) -> Configurations:
        """Return the one configuration before the first symbol."""
        good = tables.accepting_outputs[:1] & (tables.acceptance == "output")
        stacks = np.zeros((len(tables.place), 1), np.int32)
        return Configurations(tables, trie, np.array([tables.initial], np.int32), good, stacks, stacks)

    def __len__(self) -> int:
        return len(self.state)

    def rows(self, rows: slice | IntArray) -> Configurations:
        """Return some of the configurations."""
        return replace(
            self, state=self.state[rows], good=self.good[rows], node=self.node[:, rows], pushed=self.pushed[:, rows]
        )

    def step(self, letters: npt.NDArray[np.intp]) -> tuple[Configurations, npt.NDArray[np.intp]]:
        """Return the configurations after each of ``letters``, without the dead, and their flat places in (M, X)."""
        _, n_letters, n_heads = self.tables.target.shape
        tops = np.where(self.pushed > 0, self.pushed, self.trie.symbol[self.node])
        rows = self.state.astype(np.intp)[:, None] * n_letters + letters
        cells = (rows * n_heads + (self.tables.place @ tops)[:, None]).reshape(-1)
        target = self.tables.target.reshape(-1)[cells]
        places = np.flatnonzero(target >= 0)
        cell, source = cells[places], places // max(len(letters), 1)
        node, pushed = self._operate(cell, source)
        good = np.zeros(len(cell), np.bool_)
        if self.tables.acceptance == "output":
            good = self.tables.accepting_outputs[self.tables.output.reshape(-1)[cell]]
        return replace(self, state=target[places], good=good, node=node, pushed=pushed), places

    def _operate(self, cell: npt.NDArray[np.intp], source: npt.NDArray[np.intp]) -> tuple[IntArray, IntArray]:
        """Return the stacks of ``source`` after the operations in the tables' ``cell``."""
        n_stacks = len(self.node)
        pop = self.tables.pop.reshape(-1, n_stacks)[cell].T
        push = self.tables.push.reshape(-1, n_stacks)[cell].T
        node, pushed = self.node[:, source], self.pushed[:, source]
        node = np.where(pop & (pushed == 0), self.trie.parent[node], node)
        # Two pushed symbols only meet after an end marker, where all that counts is that the stack is not empty.
        return node, np.where(push > 0, push, np.where(pop, 0, pushed))

    def accepted(self) -> BoolArray:
        """Return whether words that lead here are accepted, ``(M,)``; an end marker is still to be read."""
        if self.tables.end is None:
            return self._accepting()
        ends, places = self.step(np.array([self.tables.end]))
        accepted = np.zeros(len(self), np.bool_)
        accepted[places] = ends._accepting()
        return accepted

    def _accepting(self) -> BoolArray:
        empty: BoolArray = ((self.node == 0) & (self.pushed == 0)).all(axis=0)
        return self.tables.accepts(self.state, empty, self.good)

    def settle(self) -> Configurations:
        """Return the same configurations with every stack a node."""
        node = self.trie.push(self.node, self.pushed)
        return replace(self, node=node, pushed=_nothing(node.shape))

    @staticmethod
    def merge(parts: Sequence[Configurations]) -> tuple[Configurations, IntArray]:
        """Return the distinct ones among settled configurations, and which of these each one is."""
        state, good = np.concatenate([part.state for part in parts]), np.concatenate([part.good for part in parts])
        node = np.concatenate([part.node for part in parts], axis=1)
        which = state * 2 + good
        for nodes in node:  # a rank stays below the number of configurations, so that the key cannot overflow
            which = _rank(np.multiply(which, len(parts[0].trie), dtype=np.int64) + nodes)
        one = np.zeros(which.max() + 1, np.int32)
        one[which] = np.arange(len(which), dtype=np.int32)  # any representative will do
        node = node[:, one]
        return replace(parts[0], state=state[one], good=good[one], node=node, pushed=_nothing(node.shape)), which


def _rank(keys: npt.NDArray[np.int64]) -> IntArray:
    """Return the place of each key among the distinct keys."""
    limit = int(keys.max()) + 1
    if limit > 8 * len(keys):
        return np.unique(keys, return_inverse=True)[1].astype(np.int32)
    present = np.zeros(limit, np.bool_)  # dense keys need no sorting, which is ten times as fast
    present[keys] = True
    rank: IntArray = (np.cumsum(present, dtype=np.int32) - 1)[keys]
    return rank


def _nothing(shape: tuple[int, ...]) -> IntArray:
    return np.broadcast_to(np.int32(0), shape)  # takes no memory
