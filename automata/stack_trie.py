"""Stacks as numbers: every stack content is one node of a trie, its top on the node of what lies below."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stacklens.automata.tables import IntArray

__all__ = ["StackTrie"]


class StackTrie:
    """Hash-consed stacks over symbols 1 to ``n_symbols``; node 0 is the empty stack.

    ``parent[node]`` is the stack after a pop and ``symbol[node]`` the top, both 0 for the empty stack. Equal stacks are
    the same node. The arrays are longer than the trie, and replaced when it grows: read them afresh after a push.

    >>> trie = StackTrie(2)
    >>> nodes = trie.push(np.array([0, 0, 0], np.int32), np.array([1, 2, 1], np.int32))
    >>> nodes.tolist(), trie.symbol[nodes].tolist(), trie.parent[nodes].tolist(), len(trie)
    ([2, 1, 2], [1, 2, 1], [0, 0, 0], 3)
    """

    def __init__(self, n_symbols: int) -> None:
        self._width = n_symbols + 1
        self._size = 1
        self.parent: IntArray = np.zeros(64, np.int32)
        self.symbol: npt.NDArray[np.integer] = np.zeros(64, np.min_scalar_type(-n_symbols - 1))  # small: there are many
        self._child: IntArray = np.full(64 * self._width, -1, np.int32)  # [node * width + symbol], -1 for none
        self._child[0] = 0  # to push 0, nothing, leads from a node to itself: no case apart

    def __len__(self) -> int:
        return self._size

    def push(self, nodes: IntArray, symbols: IntArray) -> IntArray:
        """Return the nodes of the stacks ``nodes`` with ``symbols`` on top, 0 for nothing; arrays of any one shape."""
        edges = nodes.astype(np.intp) * self._width + symbols
        found: IntArray = self._child[edges]
        missing = edges[found < 0]
        if len(missing):
            self._create(missing)
            found = self._child[edges]
        return found

    def _create(self, edges: np.ndarray[tuple[int], np.dtype[np.intp]]) -> None:
        """Make the nodes at the ends of ``edges``, one for edges that are there more than once."""
        turn = np.arange(len(edges), dtype=np.int32)
        self._child[edges] = turn
        new = edges[self._child[edges] == turn]  # the last writer of an edge wins: distinct edges without sorting
        nodes = np.arange(self._size, self._size + len(new), dtype=np.int32)
        self._child[new] = nodes
        self._size += len(new)
        self._grow()
        self.parent[nodes], self.symbol[nodes] = np.divmod(new, self._width)
        self._child[nodes.astype(np.intp) * self._width] = nodes

    def _grow(self) -> None:
        room = len(self.parent)
        if self._size > room:
            more = max(2 * room, self._size) - room
            self.parent, self.symbol = (np.pad(array, (0, more)) for array in (self.parent, self.symbol))
            self._child = np.pad(self._child, (0, more * self._width), constant_values=-1)
