"""Minimisation: fewer states and stack symbols, the same words (Sun et al. 1993, section 3.6, and don't-cares).

Compatible merging comes last: states, and stack symbols, that nothing observed in any run tells apart become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from stacklens.automata.epsilon import with_letter, without_letter
from stacklens.automata.partition import (
    REJECT,
    Column,
    StateTable,
    TableCell,
    arrays,
    coarsest_partition,
    quotient,
    rename_row,
    unlike_symbols,
)
from stacklens.automata.pda import NONE, Key, Output, PushdownAutomaton, State, Symbol, Transition
from stacklens.automata.reachability import Heads, drop_sinks, heads, trim
from stacklens.errors import AutomatonError

__all__ = [
    "FOLDING_LIMIT",
    "Minimization",
    "Sink",
    "merge_same_rules",
    "merge_states",
    "merge_symbols",
    "minimization",
    "minimize",
]

Sink = Literal["drop", "keep", "as it is"]
_Merge = Callable[[StateTable, Sequence[Symbol]], tuple[list[int], dict[Symbol, Symbol]] | None]
FOLDING_LIMIT = 400  # states; compatible merging tries pairs, and pairs of more states than this take long


def merge_states(table: StateTable) -> list[int]:
    """Return a class for each state, numbered by first member: each joins the first that it is compatible with.

    The number of trials grows with the square of the number of states, less the pairs that some word tells apart.

    >>> merge_states(StateTable([{("a", ("⊥",)): (None, -1)}, {("b", ("⊥",)): (None, -1)}], [None, True]))
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


def _told_apart(table: StateTable) -> NDArray[np.bool_]:
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


def merge_symbols(table: StateTable, symbols: Sequence[Symbol]) -> tuple[list[int], dict[Symbol, Symbol]] | None:
    """Return the classes of states that making two stack symbols one forces, and ``{gone: kept}``, for the first two.

    Two symbols can be one when, with one renamed to the other everywhere, every state's cells agree or can be made to
    agree by merging the states that they lead to. None where no two can.
    """
    apart = unlike_symbols(table, symbols)
    for j, gone in enumerate(symbols):
        for i in np.flatnonzero(~apart[j, :j]).tolist():
            kept = symbols[i]
            folding = _Folding(StateTable([{}] * len(table.rows), table.accepting))
            if folding.load(table, {gone: kept}):
                return folding.classes(), {gone: kept}
    return None


class _Folding:
    """A partition of states with the union of its members' cells, which can be taken back step by step."""

    def __init__(self, table: StateTable) -> None:
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

    def load(self, table: StateTable, renamed: Mapping[Symbol, Symbol]) -> bool:
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

    def put(self, state: int, column: Column, cell: TableCell) -> bool:
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


@dataclass(frozen=True)
class Minimization:
    """A minimised automaton, and where each state and stack symbol of the original went.

    What no run uses (unless it does the same as what one uses), and, with ``sink="drop"``, what only rejected words
    reach, is in neither mapping.
    """

    automaton: PushdownAutomaton
    states: Mapping[State, State]
    stack_symbols: Mapping[Symbol, Symbol]


def minimize(pda: PushdownAutomaton, sink: Sink = "drop") -> PushdownAutomaton:
    """Return a smaller automaton that accepts the same words; see `minimization`, which also says what became what.

    >>> from stacklens.automata.pda import POP, push
    >>> rules = {(q, "(", (top,)): Transition("even" if q == "odd" else "odd", (push("("),))
    ...          for q in ("odd", "even") for top in ("(", "⊥")}
    >>> rules |= {(q, ")", ("(",)): Transition("odd", (POP,)) for q in ("odd", "even")}
    >>> dyck = PushdownAutomaton(states=("odd", "even"), input_alphabet=("(", ")"), stack_alphabet=("(",),
    ...                          transitions=rules, initial="even", accepting=frozenset({"odd", "even"}))
    >>> minimize(dyck).states, minimize(dyck, sink="keep").states
    (('q0',), ('q0', 'sink'))
    """
    return minimization(pda, sink).automaton


def minimization(pda: PushdownAutomaton, sink: Sink = "drop") -> Minimization:
    """Return the minimised automaton with the mappings of states and stack symbols.

    Args:
        pda: the automaton.
        sink: "drop" removes what only rejected words reach. "keep" puts one rejecting state "sink" in its place, merged
            with no other, and completes every head where a letter can be read with it. (With acceptance "empty stack"
            the sink would accept, so acceptance becomes "both", every other state accepting.) "as it is" leaves it:
            runs on all words stay as long, and say the same. So it is for every automaton with ε-steps, which cannot
            have such a sink.

    First states and stack symbols that do the same at every head are merged (`coarsest_partition`), then `drop_sinks`
    trims; then, until nothing changes, those are merged that do the same at reachable heads, and those that nothing
    observed tells apart (`merge_states`, up to ``FOLDING_LIMIT`` states, and `merge_symbols`).

    Why it is sound: a merge maps every configuration of a run, state and stack symbol by symbol, to one of the merged
    automaton. Heads that no run shows are unspecified and bind nothing. A reachable head has one transition or a
    rejection, and all members of a class that show the head agree on it (the class has the transition of whichever
    member specified it); so runs go side by side for ever, and end in states that agree on acceptance wherever it
    counts: with acceptance "both" only states in which a word can end on empty stacks. Outputs are kept.

    Why it is not canonical: deterministic pushdown automata have no unique minimum, and merging with don't-cares
    depends on the order. States are tried breadth first from the initial one, so the result is the same every time.
    States are named q0, q1, … in that order, and stack symbols keep the name of the first that was merged.

    ε-steps count as steps that read a letter of their own: runs go side by side ε-step for ε-step.

    Raises:
        AutomatonError: a sink is to be kept, and there are ε-steps.
    """
    if not pda.real_time:
        return _stepwise(pda, sink)
    refined = merge_same_rules(pda)
    used = trim(refined.automaton) if sink == "as it is" else drop_sinks(refined.automaton)
    found = _merged(used)
    while _size(again := _merged(found.automaton)) < _size(found):  # in another order, at fewer heads
        states, symbols = _after(found.states, again.states), _after(found.stack_symbols, again.stack_symbols)
        found = Minimization(again.automaton, states, symbols)
    merged, states = found.automaton, dict(found.states)
    if sink == "keep":
        merged = _with_sink(merged)
        states |= {state: "sink" for state in trim(refined.automaton).states if state not in states}
    return Minimization(merged, _after(refined.states, states), _after(refined.stack_symbols, found.stack_symbols))


def _stepwise(pda: PushdownAutomaton, sink: Sink) -> Minimization:
    """Return the minimised automaton where there are ε-steps."""
    if sink == "keep":
        raise AutomatonError('an automaton with ε-steps has no sink for all letters: ask for "as it is" or "drop"')
    stepwise, letter = with_letter(trim(pda))
    found = minimization(stepwise, "as it is")
    return replace(found, automaton=without_letter(found.automaton, letter, pda))


def _merged(used: PushdownAutomaton) -> Minimization:
    """Return the automaton without what nothing observed at reachable heads tells apart; its states are q0, q1, …"""
    table, start = _table(used, heads(used)), used.states.index(used.initial)
    order = _breadth_first(table, used, start)
    table, classes, symbols = _merge(quotient(table, order, {}), used.stack_alphabet)
    place = _breadth_first(table, used, classes[order[start]])
    names = [f"q{i}" for i in range(len(table.rows))]
    merged = _automaton(used, quotient(table, place, {}), names, "q0", symbols)
    states = {state: names[place[classes[order[i]]]] for i, state in enumerate(used.states)}
    return Minimization(merged, states, symbols)


def _size(found: Minimization) -> int:
    return len(found.automaton.states) + len(found.automaton.stack_alphabet)


def _after(first: Mapping[str, str], then: Mapping[str, str]) -> dict[str, str]:
    return {old: then[middle] for old, middle in first.items() if middle in then}


def merge_same_rules(pda: PushdownAutomaton) -> Minimization:
    """Return the automaton without states and symbols that do the same as another at every head, reachable or not.

    States keep the name of the first that was merged. It needs no reachability, which is slow for thousands of states,
    and leaves fewer. And it is canonical: what comes after does not depend on how often a state or a symbol was there.

    Source: Sun et al. 1993, section 3.6, where states that make the same moves are grouped.
    """
    number = {state: i for i, state in enumerate(pda.states)}
    rows: list[dict[Column, TableCell]] = [{} for _ in pda.states]
    for (state, letter, tops), step in pda.transitions.items():
        rows[number[state]][letter, tops] = (step.operations, step.output), number[step.target]
    table = StateTable(rows, [state in pda.accepting for state in pda.states])
    classes, symbols = coarsest_partition(table, pda.stack_alphabet)
    names: dict[int, State] = {}
    states = {state: names.setdefault(i, state) for state, i in zip(pda.states, classes, strict=True)}
    table = quotient(table, classes, symbols)
    return Minimization(_automaton(pda, table, list(names.values()), states[pda.initial], symbols), states, symbols)


def _table(pda: PushdownAutomaton, found: Heads) -> StateTable:
    number = {state: i for i, state in enumerate(pda.states)}
    rows: list[dict[Column, TableCell]] = [{} for _ in pda.states]
    for state, tops in sorted(found.reading):
        for letter in pda.letters:
            step = pda.transitions.get((state, letter, tops))
            cell = REJECT if step is None else ((step.operations, step.output), number[step.target])
            rows[number[state]][letter, tops] = cell
    deciding = _deciding(pda, found)
    return StateTable(rows, [state in pda.accepting if state in deciding else None for state in pda.states])


def _deciding(pda: PushdownAutomaton, found: Heads) -> set[State]:
    """Return the states whose being accepting decides about some word."""
    if pda.acceptance == "final state":
        return {state for state, _ in found.ending}
    if pda.acceptance == "both":
        return {state for state, tops in found.ending if set(tops) == {pda.bottom}}
    return set()


def _breadth_first(table: StateTable, pda: PushdownAutomaton, start: int) -> list[int]:
    """Return the place of each state in breadth-first order, cells taken in the order of the automaton's alphabets."""
    letters = {letter: i for i, letter in enumerate(pda.letters)}
    tops = {top: i for i, top in enumerate((pda.bottom, *pda.stack_alphabet))}
    place = {start: 0}
    for state in (queue := [start]):  # the list grows while it is walked
        row = table.rows[state]
        for column in sorted(row, key=lambda column: (letters[column[0]], [tops[top] for top in column[1]])):
            target = row[column][1]
            if target >= 0 and target not in place:
                place[target] = len(place)
                queue.append(target)
    return [place[state] for state in range(len(table.rows))]


def _merge(table: StateTable, alphabet: Iterable[Symbol]) -> tuple[StateTable, list[int], dict[Symbol, Symbol]]:
    """Return the merged table, the class of each state, and the name of each stack symbol."""
    classes = list(range(len(table.rows)))
    symbols = {symbol: symbol for symbol in alphabet}
    merges: tuple[_Merge, ...] = (coarsest_partition, _fold_states, merge_symbols)
    for merge in cycle(merges):
        found = merge(table, list(dict.fromkeys(symbols.values())))
        if found is None:  # merge_symbols, the last in a round, finds nothing more
            break
        table, classes = quotient(table, *found), [found[0][i] for i in classes]
        symbols = {symbol: found[1].get(name, name) for symbol, name in symbols.items()}
    return table, classes, symbols


def _fold_states(table: StateTable, _: Sequence[Symbol]) -> tuple[list[int], dict[Symbol, Symbol]]:
    few = len(table.rows) <= FOLDING_LIMIT
    return merge_states(table) if few else list(range(len(table.rows))), {}


def _automaton(
    pda: PushdownAutomaton, table: StateTable, names: Sequence[State], initial: State, symbols: Mapping[Symbol, Symbol]
) -> PushdownAutomaton:
    """Return the automaton of a table, with what tables do not hold taken from ``pda``."""
    transitions: dict[Key, Transition] = {}
    for state, row in zip(names, table.rows, strict=True):
        for (letter, tops), (label, target) in row.items():
            if label is not None:
                transitions[state, letter, tops] = Transition(names[target], *label)
    return replace(
        pda,
        states=tuple(names),
        stack_alphabet=tuple(dict.fromkeys(symbols.values())),
        transitions=transitions,
        initial=initial,
        accepting=frozenset(name for name, accepts in zip(names, table.accepting, strict=True) if accepts),
    )


def _with_sink(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton with every missing transition on a reachable head led to one rejecting state."""
    none = (NONE,) * pda.n_stacks
    into = Transition("sink", none, _rejecting_output(pda))
    reading = sorted(heads(pda).reading)
    added = {
        (state, letter, tops): into
        for state, tops in reading
        for letter in pda.letters
        if (state, letter, tops) not in pda.transitions
    }
    if not added:
        return pda
    # after the end marker nothing is read
    stays = dict.fromkeys(tops for _, letter, tops in added if letter != pda.end_marker)
    added |= {("sink", letter, tops): into for tops in stays for letter in pda.letters}
    complete = replace(pda, states=(*pda.states, "sink"), transitions={**pda.transitions, **added})
    if pda.acceptance == "empty stack":  # the sink's stack may be empty
        return replace(complete, acceptance="both", accepting=frozenset(pda.states))
    return complete


def _rejecting_output(pda: PushdownAutomaton) -> Output:
    output = None
    while pda.acceptance == "output" and output in pda.accepting_outputs:
        output = "reject" if output is None else f"{output}'"
    return output
