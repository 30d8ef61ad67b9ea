"""How many words are accepted, exactly and for lengths far beyond enumeration: dynamic programming over summaries.

A cell on the stack is either popped one day or never. So, for a state q and a cell s on top, count the words that lead
to the moment when that cell is gone (by the state they arrive in), and the words that end, accepted, while it is there.
A replace keeps the cell; a push opens a new one above it. The bottom is a cell that is never popped.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from operator import mul
from typing import NamedTuple

from stacklens.automata.epsilon import real_time_form
from stacklens.automata.pda import Output, PushdownAutomaton, State, Symbol
from stacklens.errors import AutomatonError

__all__ = ["count_words"]


def count_words(pda: PushdownAutomaton, max_length: int) -> list[int]:
    """Return the number of accepted words of each length from 0 to ``max_length``, exact.

    Time goes with the square of ``max_length`` and with the pairs of states and stack symbols, not with the words.

    Raises:
        AutomatonError: the automaton has more than one stack (then counting is no longer context-free), or ε-steps that
            cannot be put into other steps.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> dyck = PushdownAutomaton(("q",), ("(", ")"), ("A",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("A"),)), ("q", "(", ("A",)): Transition("q", (push("A"),)),
    ...     ("q", ")", ("A",)): Transition("q", (POP,))}, "q", acceptance="empty stack")
    >>> count_words(dyck, 8)
    [1, 0, 1, 0, 2, 0, 5, 0, 14]
    >>> count_words(dyck, 100)[100]
    1978261657756160653623774456
    """
    if pda.n_stacks != 1:
        raise AutomatonError(f"count_words needs one stack, this automaton has {pda.n_stacks}: use accepts_all")
    pda = _reached(real_time_form(pda, "count_words needs"))
    marker = int(pda.end_marker is not None)  # a word of length n is then read in n + 1 steps
    start = _Point(pda.initial, _is_good(pda, pda.initial_output), False), pda.bottom
    summaries = _Summaries(pda)
    for _ in range(max_length + marker):
        summaries.grow()
    return summaries.staying[start][marker : max_length + marker + 1]


def _reached(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return ``pda`` without states that no chain of transitions leads to: a file may have any number of them."""
    onward: dict[State, set[State]] = defaultdict(set)
    for (state, _, _), step in pda.transitions.items():
        onward[state].add(step.target)
    reached, fresh = {pda.initial}, {pda.initial}
    while fresh:
        fresh = set[State]().union(*(onward[state] for state in fresh)) - reached
        reached |= fresh
    if len(reached) == len(pda.states):
        return pda
    steps = {key: step for key, step in pda.transitions.items() if key[0] in reached}
    states = tuple(state for state in pda.states if state in reached)
    return replace(pda, states=states, transitions=steps, accepting=pda.accepting & reached)


class _Point(NamedTuple):
    """A state with what acceptance must remember: did the last output accept, was the end marker read."""

    state: State
    good: bool
    ended: bool


class _Move(NamedTuple):
    target: _Point
    pop: bool
    push: Symbol | None


_Head = tuple[_Point, Symbol]


class _Counts:
    """Of words of one length from one head: how many stay, accepted, and how many leave, by where they arrive."""

    def __init__(self) -> None:
        self.stay, self.leave = 0, Counter[_Point]()

    def add(self, other: _Counts, ways: int) -> None:
        self.stay += ways * other.stay
        for point, count in other.leave.items():
            self.leave[point] += ways * count


class _Summaries:
    """The counts for all lengths so far, as series ``[count for length 0, for length 1, ...]``.

    ``leaving[head][point]``: words that lead from ``head`` to the moment when its cell is popped, at ``point``.
    ``staying[head]``: words that are accepted from ``head`` on without popping its cell.
    """

    def __init__(self, pda: PushdownAutomaton) -> None:
        bits = (False, True)
        points = [_Point(state, good, ended) for state in pda.states for good in bits for ended in bits]
        heads = [(point, cell) for point in points for cell in (pda.bottom, *pda.stack_alphabet)]
        self.moves = _moves(pda)
        self.leaving: dict[_Head, dict[_Point, list[int]]] = {head: {} for head in heads}
        self.staying = {head: [int(_accepts(pda, *head))] for head in heads}
        self.length = 0

    def grow(self) -> None:
        """Append the counts for words one longer: a first step, then a shorter word."""
        after = cache(self._after)  # many heads share a move; the counts hold for this length only
        grown = {head: _Counts() for head in self.staying}
        for (point, cell), moves in self.moves.items():
            for move, ways in moves.items():
                grown[point, cell].add(after(move, cell), ways)
        self.length += 1
        for head, counts in grown.items():
            self.staying[head].append(counts.stay)
            for point in self.leaving[head].keys() | counts.leave.keys():
                series = self.leaving[head].setdefault(point, [0] * self.length)
                series.append(counts.leave[point])

    def _after(self, move: _Move, cell: Symbol) -> _Counts:
        """Return the counts of words of the present length that follow ``move``, seen from ``cell``, its top."""
        counts = _Counts()
        if move.pop and move.push is None:
            counts.leave[move.target] = int(self.length == 0)
        elif move.pop or move.push is None:
            head = move.target, move.push or cell
            counts.stay = self.staying[head][-1]
            counts.leave.update({point: series[-1] for point, series in self.leaving[head].items()})
        else:  # the new cell stays to the end, or is popped after some symbols, and then it is up to the old one
            counts.stay = self.staying[move.target, move.push][-1]
            for point, inner in self.leaving[move.target, move.push].items():
                counts.stay += _convolve(inner, self.staying[point, cell])
                for end, outer in self.leaving[point, cell].items():
                    counts.leave[end] += _convolve(inner, outer)
        return counts


def _convolve(first: list[int], second: list[int]) -> int:
    """Return the number of pairs whose lengths add up to the longest so far."""
    return sum(map(mul, first, reversed(second)))


def _moves(pda: PushdownAutomaton) -> dict[_Head, Counter[_Move]]:
    """Return, for every head, how many symbols make each move; nothing moves after the end marker."""
    moves: dict[_Head, Counter[_Move]] = defaultdict(Counter)
    for (state, symbol, (top,)), step in pda.transitions.items():
        (operation,) = step.operations
        target = _Point(step.target, _is_good(pda, step.output), symbol == pda.end_marker)
        for good in (False, True):
            moves[_Point(state, good, False), top][_Move(target, operation.pop, operation.push)] += 1
    return moves


def _is_good(pda: PushdownAutomaton, output: Output) -> bool:
    return pda.acceptance == "output" and output in pda.accepting_outputs


def _accepts(pda: PushdownAutomaton, point: _Point, cell: Symbol) -> bool:
    """Return whether a run accepts that ends at ``point`` with ``cell`` on top."""
    if point.ended != (pda.end_marker is not None):
        return False
    if pda.acceptance == "output":
        return point.good
    empty, final = cell == pda.bottom, point.state in pda.accepting
    return {"final state": final, "empty stack": empty, "both": final and empty}[pda.acceptance]
