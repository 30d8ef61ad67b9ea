"""Many runs of one automaton side by side, from any configurations, each on letters of its own.

A run that has no transition is over, and why is kept: at a head that the automaton reaches on some word that means
rejection; at any other head nobody ever said what it does, so it is undefined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from stacklens.automata.compiled import BoolArray, IntArray, Tables, compile_tables
from stacklens.automata.configurations import StackTrie
from stacklens.automata.epsilon import require_real_time
from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.reachability import heads

__all__ = ["ManyRuns", "RunTables"]


@dataclass(frozen=True, eq=False)
class RunTables:
    """What runs look up.

    Attributes:
        tables: the automaton's transitions.
        known: (Q, H) bool, at which heads it may read a letter on some word.
        trie: the stacks of all runs.
    """

    tables: Tables
    known: BoolArray
    trie: StackTrie

    @classmethod
    def of(cls, pda: PushdownAutomaton) -> RunTables:
        """Return those of ``pda``.

        Raises:
            AutomatonError: it has ε-steps, which read no letter.
        """
        require_real_time(pda, "Running on from any configuration needs")
        tables = compile_tables(pda)
        known = np.zeros((tables.target.shape[0], tables.target.shape[2]), np.bool_)
        tops = {symbol: top for top, symbol in enumerate((pda.bottom, *pda.stack_alphabet))}
        states = {state: number for number, state in enumerate(pda.states)}
        for state, head in heads(pda).reading:
            known[states[state], sum(tops[top] * int(at) for top, at in zip(head, tables.place, strict=True))] = True
        return cls(tables, known, StackTrie(len(pda.stack_alphabet)))


@dataclass(frozen=True, eq=False)
class ManyRuns:
    """M runs at one moment.

    Attributes:
        of: what they look up.
        state: the state, (M,).
        node: every stack as a node of the trie, (n_stacks, M).
        output: the last output's number, (M,).
        rejected: whether it was cut at a head that the automaton reaches, (M,).
        undefined: whether it was cut at another one, (M,).

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> steps = {("q", "(", (top,)): Transition("q", (push("x"),)) for top in ("x", "⊥")}
    >>> steps["q", ")", ("x",)] = Transition("q", (POP,))
    >>> runs = ManyRuns.start(RunTables.of(PushdownAutomaton(("q",), ("(", ")"), ("x",), steps, "q")), 2)
    >>> after = runs.step(np.array([0, 1]))
    >>> after.heights().tolist(), after.rejected.tolist()
    ([[1], [0]], [False, True])
    """

    of: RunTables
    state: IntArray
    node: IntArray
    output: IntArray
    rejected: BoolArray
    undefined: BoolArray

    @classmethod
    def start(cls, of: RunTables, count: int) -> ManyRuns:
        """Return ``count`` runs before the first letter."""
        zeros, never = np.zeros(count, np.int32), np.zeros(count, np.bool_)
        node = np.zeros((len(of.tables.place), count), np.int32)
        return cls(of, np.full(count, of.tables.initial, np.int32), node, zeros, never, never)

    def __len__(self) -> int:
        return len(self.state)

    @property
    def over(self) -> BoolArray:
        """Return which runs have been cut, (M,)."""
        return self.rejected | self.undefined

    def select(self, index: npt.NDArray[np.integer] | BoolArray) -> ManyRuns:
        """Return the runs ``index``, which may repeat."""
        parts = {name: getattr(self, name)[index] for name in ("state", "output", "rejected", "undefined")}
        return replace(self, node=self.node[:, index], **parts)

    def put(self, rows: BoolArray, other: ManyRuns) -> ManyRuns:
        """Return the runs, those of ``rows`` (M,) as they are in ``other``."""
        names = ("state", "node", "output", "rejected", "undefined")
        return replace(self, **{name: np.where(rows, getattr(other, name), getattr(self, name)) for name in names})

    def heads(self) -> npt.NDArray[np.intp]:
        """Return the number of what the stacks show together, (M,)."""
        shown: npt.NDArray[np.intp] = (self.of.tables.place @ self.of.trie.symbol[self.node]).astype(np.intp)
        return shown

    def cells(self, letters: npt.NDArray[np.integer]) -> npt.NDArray[np.intp]:
        """Return where in the flat tables each run reads its letter, (M,)."""
        _, n_letters, n_heads = self.of.tables.target.shape
        places: npt.NDArray[np.intp] = (self.state.astype(np.intp) * n_letters + letters) * n_heads + self.heads()
        return places

    def step(self, letters: npt.NDArray[np.integer]) -> ManyRuns:
        """Return the runs after ``letters`` (M,); a negative one is no letter: nothing happens."""
        tables, trie, node = self.of.tables, self.of.trie, self.node
        moving = (letters >= 0) & ~self.over
        cell = self.cells(np.maximum(letters, 0))
        target = tables.target.reshape(-1)[cell]
        cut, known = moving & (target < 0), self.of.known[self.state, self.heads()]
        goes = moving & (target >= 0)
        pop = tables.pop.reshape(-1, len(node))[cell].T & goes
        push = np.where(goes, tables.push.reshape(-1, len(node))[cell].T, 0)
        return ManyRuns(
            self.of,
            np.where(goes, target, self.state),
            trie.push(np.where(pop, trie.parent[node], node), push),
            np.where(goes, tables.output.reshape(-1)[cell], self.output),
            self.rejected | (cut & known),
            self.undefined | (cut & ~known),
        )

    def heights(self) -> npt.NDArray[np.int64]:
        """Return how high every stack is, (M, n_stacks)."""
        node, high = self.node, np.zeros(self.node.shape, np.int64)
        while node.any():
            high += node > 0
            node = self.of.trie.parent[node]
        return high.T

    def symbol_at(self, stack: int, place: npt.NDArray[np.integer]) -> IntArray:
        """Return the symbol at ``place`` (M,) of a stack, 0 the top, as a number; 0 where there is none, (M,)."""
        node = self._popped(self.node[stack], place)
        found: IntArray = self.of.trie.symbol[node].astype(np.int32)
        return found

    def with_symbol(self, stack: int, place: npt.NDArray[np.integer], symbol: npt.NDArray[np.integer]) -> ManyRuns:
        """Return the runs with ``symbol`` (M,), counted from 1, at ``place`` (M,) of a stack."""
        trie, node = self.of.trie, self.node[stack]
        above = [node]
        for _ in range(int(place.max(initial=0))):
            above.append(trie.parent[above[-1]])
        made = trie.push(trie.parent[self._popped(node, place)], np.asarray(symbol, np.int32))
        for depth in range(len(above) - 1, -1, -1):
            laid = np.where(depth < place, trie.symbol[above[depth]], 0).astype(np.int32)
            made = trie.push(made, laid)
        nodes = self.node.copy()
        nodes[stack] = made
        return replace(self, node=nodes)

    def accepted(self) -> BoolArray:
        """Return whether words that end here are accepted, the end marker read if there is one, (M,)."""
        ended = self.ended()
        return ended._accepting() & ~ended.over

    def ended(self) -> ManyRuns:
        """Return the runs after the end marker, where there is one."""
        end = self.of.tables.end
        return self if end is None else self.step(np.full(len(self), end))

    def _accepting(self) -> BoolArray:
        tables = self.of.tables
        empty: BoolArray = (self.node == 0).all(axis=0)
        return tables.accepts(self.state, empty, tables.accepting_outputs[self.output])

    def _popped(self, node: IntArray, count: npt.NDArray[np.integer]) -> IntArray:
        for depth in range(int(count.max(initial=0))):
            node = np.where(depth < count, self.of.trie.parent[node], node)
        return node
