"""Shortest ways from any configuration of a one-stack automaton to acceptance: what makes a beginning a whole word.

A cell on the stack is either popped one day, or the word is accepted while it is there. Both have a shortest word, by
the head at which they begin: least fixed points, found by relaxing every transition until nothing gets shorter. For a
whole stack they are put together from the bottom up, one vector over states a cell; equal stacks share their vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stacklens.automata.compiled import Tables, compile_tables
from stacklens.automata.finite import FiniteAutomaton, intersect
from stacklens.automata.pda import PushdownAutomaton, State, Symbol
from stacklens.errors import AutomatonError

__all__ = ["Completions", "StackNode", "accepting_by_state"]

_Costs = npt.NDArray[np.float64]
_LATER = 1e6  # what it costs to be accepted on a stack that is not empty: words that empty it say more of what it held
_HERE = -1  # in place of a state to pop to: accepted while the cell is there
_LONGEST = 100_000  # symbols of a completion


@dataclass(eq=False)
class StackNode:
    """A stack, as its top cell on the pile below it, and the shortest completion from each state.

    Attributes:
        symbol: the number of the top cell's symbol, 0 for the empty stack.
        height: how many cells there are.
        costs: what a completion costs, (Q,): its symbols, and a lot more where it leaves cells behind; inf for none.
        exits: the state in which it pops the top cell, (Q,), -1 where it does not.
    """

    symbol: int
    height: int
    below: StackNode | None
    costs: _Costs
    exits: npt.NDArray[np.intp]
    above: dict[int, StackNode] = field(default_factory=dict)


class _Move(NamedTuple):
    letter: Symbol
    target: int
    pop: bool
    push: int  # 0 for nothing


class Completions:
    """Shortest completions of the runs of one automaton.

    Where nothing is ever accepted every beginning counts as a whole word, as it does for automata that accept in all
    their states; completions then empty the stack if that is possible.

    Args:
        pda: an automaton with one stack that does not accept by outputs (see `accepting_by_state`).

    Raises:
        AutomatonError: it has several stacks, or accepts by outputs.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> dyck = PushdownAutomaton(("q",), ("(", ")"), ("A",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("A"),)), ("q", "(", ("A",)): Transition("q", (push("A"),)),
    ...     ("q", ")", ("A",)): Transition("q", (POP,))}, "q", acceptance="empty stack")
    >>> ways = Completions(dyck)
    >>> "".join(ways.word("q", ways.pile("A", ways.pile("A", ways.empty))))
    '))'
    """

    def __init__(self, pda: PushdownAutomaton) -> None:
        if pda.n_stacks != 1 or pda.acceptance == "output":
            raise AutomatonError(f"completions need one stack, not {pda.n_stacks}, and acceptance by state or stack")
        self.states = {state: q for q, state in enumerate(pda.states)}
        self.symbols = {symbol: s for s, symbol in enumerate((pda.bottom, *pda.stack_alphabet))}
        self.names = pda.states
        tables = compile_tables(pda)
        self.moves = _moves(tables, pda)
        self.ends = _ends(tables)
        self.stay, self.leave = _shortest(self.moves, self.ends)
        if not np.isfinite(self.stay[tables.initial, 0]):
            self.ends = np.full_like(self.ends, _LATER)
            self.ends[:, 0] = 0
            self.stay, self.leave = _shortest(self.moves, self.ends)
        self.rise = _rise(self.moves, self.leave)
        self.empty = StackNode(0, 0, None, self.stay[:, 0], np.full(len(self.states), _HERE))
        self.path = cache(self._path)

    def pile(self, symbol: Symbol, below: StackNode) -> StackNode:
        """Return ``below`` with a cell more, the same object every time."""
        number = self.symbols[symbol]
        if number not in below.above:
            popped = self.leave[:, number] + below.costs  # (Q, Q): from each state, by the state that pops
            exits = popped.argmin(1)
            costs = np.minimum(self.stay[:, number], popped.min(1))
            exits[self.stay[:, number] <= costs] = _HERE
            below.above[number] = StackNode(number, below.height + 1, below, costs, exits)
        return below.above[number]

    def reach(self, state: State, pile: StackNode) -> float:
        """Return how high the stack can get without a pop of its top cell; inf for as high as one likes."""
        return pile.height + float(self.rise[self.states[state], pile.symbol])

    def cost(self, state: State, pile: StackNode) -> float:
        """Return what the shortest completion costs (see `StackNode`), inf where there is none."""
        return float(pile.costs[self.states[state]])

    def word(self, state: State, pile: StackNode) -> tuple[Symbol, ...] | None:
        """Return a shortest completion, or None where there is none, or only one that is too long to be of use."""
        if not self.cost(state, pile) % _LATER < _LONGEST:
            return None
        q, symbols, here = self.states[state], list[Symbol](), pile
        while True:
            goal = int(here.exits[q])
            symbols += self.path(q, here.symbol, goal)
            if goal == _HERE or here.below is None:
                return tuple(symbols)
            q, here = goal, here.below

    def _path(self, q: int, s: int, goal: int) -> tuple[Symbol, ...]:
        """Return a shortest word from the head (q, s) to the pop of its cell in ``goal``, or to acceptance there."""
        symbols: list[Symbol] = []
        while goal != _HERE or self.stay[q, s] < self.ends[q, s]:
            move, middle = self._step(q, s, goal)
            symbols.append(move.letter)
            if move.pop and not move.push:
                break
            if move.pop or not move.push:
                q, s = move.target, move.push or s
            elif middle == _HERE:
                q, s = move.target, move.push
            else:
                symbols += self.path(move.target, move.push, middle)
                q = middle
        return tuple(symbols)

    def _step(self, q: int, s: int, goal: int) -> tuple[_Move, int]:
        """Return the first move of a shortest such word, and the state that pops what it pushes, if that is popped."""
        costs = self.stay if goal == _HERE else self.leave[:, :, goal]
        for move in self.moves[q, s]:
            if move.pop and not move.push:
                if move.target == goal:
                    return move, _HERE
            elif move.pop or not move.push:
                if 1 + costs[move.target, move.push or s] == costs[q, s]:
                    return move, _HERE
            else:
                through = self.leave[move.target, move.push] + costs[:, s]
                if 1 + through.min() == costs[q, s]:
                    return move, int(through.argmin())
                if goal == _HERE and 1 + self.stay[move.target, move.push] == costs[q, s]:
                    return move, _HERE
        raise AssertionError(f"costs without a move at {q}, {s}")


def accepting_by_state(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return ``pda``, with states that know whether the last output accepts if that is how it accepts.

    Raises:
        AutomatonError: two of these states would have the same name.
    """
    if pda.acceptance != "output":
        return pda
    everything = {("", symbol): "" for symbol in pda.input_alphabet}
    return intersect(pda, FiniteAutomaton(("",), pda.input_alphabet, everything, "", frozenset({""})))


def _moves(tables: Tables, pda: PushdownAutomaton) -> dict[tuple[int, int], list[_Move]]:
    n_states, _, n_tops = tables.target.shape
    moves: dict[tuple[int, int], list[_Move]] = {(q, s): [] for q in range(n_states) for s in range(n_tops)}
    for q, x, s in np.argwhere(tables.target >= 0).tolist():
        if x < len(pda.input_alphabet):
            target, pop, push = tables.target[q, x, s], tables.pop[q, x, s, 0], tables.push[q, x, s, 0]
            moves[q, s].append(_Move(pda.input_alphabet[x], int(target), bool(pop), int(push)))
    return moves


def _ends(tables: Tables) -> _Costs:
    """Return what it costs to end a word at a head, (Q, S): nothing on the empty stack, inf where it is rejected.

    Whether a stack is empty after an end marker that pops is not known at a head; such words do not count.
    """
    n_states, _, n_tops = tables.target.shape
    state = np.repeat(np.arange(n_states, dtype=np.int32)[:, None], n_tops, 1)
    empty = np.zeros(state.shape, np.bool_)
    empty[:, 0] = True
    read = np.ones_like(empty)
    if tables.end is not None:
        state = tables.target[:, tables.end]
        empty &= tables.push[:, tables.end, :, 0] == 0
        read = state >= 0
    nothing = np.zeros_like(empty)
    accepted = read & tables.accepts(np.maximum(state, 0), empty, nothing)
    costs: _Costs = np.where(accepted, np.where(empty, 0.0, _LATER), np.inf)
    return costs


def _shortest(moves: dict[tuple[int, int], list[_Move]], ends: _Costs) -> tuple[_Costs, _Costs]:
    """Return the costs of ending at a head with its cell still there, (Q, S), and of popping it, (Q, S, Q)."""
    stay, leave = ends.copy(), np.full((*ends.shape, len(ends)), np.inf)
    while True:
        before = stay.copy(), leave.copy()
        for (q, s), here in moves.items():
            for move in here:
                if move.pop and not move.push:
                    leave[q, s, move.target] = 1
                elif move.pop or not move.push:
                    top = move.push or s
                    leave[q, s] = np.minimum(leave[q, s], 1 + leave[move.target, top])
                    stay[q, s] = min(stay[q, s], 1 + stay[move.target, top])
                else:
                    inner = leave[move.target, move.push]
                    leave[q, s] = np.minimum(leave[q, s], 1 + (inner[:, None] + leave[:, s]).min(0))
                    later = min(stay[move.target, move.push], (inner + stay[:, s]).min())
                    stay[q, s] = min(stay[q, s], 1 + later)
        if (before[0] == stay).all() and (before[1] == leave).all():
            return stay, leave


def _rise(moves: dict[tuple[int, int], list[_Move]], leave: _Costs) -> _Costs:
    """Return how many cells can come to lie on that of each head, (Q, S)."""
    rise = np.zeros(leave.shape[:2])
    for _ in range(rise.size + 1):
        before = rise.copy()
        for (q, s), here in moves.items():
            for move in here:
                if move.push and not move.pop:
                    returns = rise[np.isfinite(leave[move.target, move.push]), s]
                    rise[q, s] = max(rise[q, s], 1 + rise[move.target, move.push], *returns)
                elif move.push or not move.pop:
                    rise[q, s] = max(rise[q, s], rise[move.target, move.push or s])
        if (before == rise).all():
            break
        rise[rise > rise.size] = np.inf  # a head lies on itself, and can do so again
    return rise
