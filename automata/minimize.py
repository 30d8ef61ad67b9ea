"""Minimisation: fewer states and stack symbols, the same words (Sun et al. 1993, section 3.6, and don't-cares).

Compatible merging comes last: states, and stack symbols, that nothing observed in any run tells apart become one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..core.errors import AutomatonError
from ..core.progress import check_time
from .pda import NONE, Key, Output, PushdownAutomaton, StackOp, State, Symbol, Tops, Transition
from .rewriting import with_letter, without_letter
from .summaries import drop_sinks, heads, trim

# ---- Tables of what each state does, and the exact partition of those that do the same (Moore's refinement) ----
# A table forgets names: states are numbers, and a row has a cell for each head and letter of which something is known.
# A cell that is absent never happens in any run and is unspecified; a rejection that does happen is a cell like others.

Column = tuple[Symbol, Tops]  # a letter and the tops with which it is read
Label = tuple[tuple[StackOp, ...], Output] | None  # the operations and the output; None: reject
TableCell = tuple[Label, int]  # and the next state, -1 for none
Row = dict[Column, TableCell]
Table = Sequence[Row]  # all that is known of each state
REJECT: TableCell = (None, -1)
# A state that decides about some word has a cell that says whether it accepts; no letter is read with no tops.
VERDICT: Column = ("", ())
VERDICTS: dict[bool, TableCell] = {accepts: (((), str(accepts)), -1) for accepts in (False, True)}
Integers = NDArray[np.int64]


def coarsest_partition(table: Table, symbols: Sequence[Symbol] = ()) -> tuple[list[int], dict[Symbol, Symbol]]:
    """Return a class for each state, and for each stack symbol the first of ``symbols`` that does the same.

    The coarsest partition such that two states of a class do the same with each letter and tops, two symbols of a class
    have the same done with them in each state, and "the same" means: operation by operation, with pushed symbols and
    next states of the same class, and the same output. For states alone it is the minimisation of Sun et al. 1993,
    section 3.6, where (letter, top, operation) counts as one letter of a finite automaton; unspecified cells are one
    more value here. A round is a numpy pass over the whole table.

    >>> coarsest_partition([{}, {}, {("a", ("x",)): REJECT}], ["x", "y"])
    ([0, 0, 1], {'x': 'x', 'y': 'y'})
    """
    cells = arrays(table)
    places = _symbol_places(cells.columns, symbols)
    states, alike = np.zeros(len(table), dtype=np.int64), dict.fromkeys(symbols, 0)

    def seen(pushed: Symbol | None) -> object:
        return pushed and alike.get(pushed, pushed)

    sizes = (-1, -1)
    while sizes != (sizes := (int(states.max()), len(set(alike.values())))):
        check_time()
        # labels are the same where the symbols that they push are alike
        kinds = _label_numbers(cells.labels, seen)
        done = kinds[cells.numbers]
        following = np.append(states, -1)[cells.targets]  # -1, no target, points at the last
        # states that do the same, and lead to states of a class
        states = _row_numbers(np.column_stack([states, done, following]))
        padded = np.pad(np.stack([done, following]), ((0, 0), (0, 0), (0, 1)), constant_values=-1)
        # symbols with which the same is done in every state
        if symbols:
            views = padded[:, :, places].transpose(2, 0, 1, 3).reshape(len(symbols), -1)
            numbers = _row_numbers(np.column_stack([list(alike.values()), views])).tolist()
            alike = dict(zip(symbols, numbers, strict=True))
    first: dict[int, Symbol] = {}
    return states.tolist(), {symbol: first.setdefault(number, symbol) for symbol, number in alike.items()}


def _label_numbers(labels: Sequence[Label], seen: Callable[[Symbol | None], object]) -> Integers:
    """Return a number for each label, the same where the same is ``seen`` to be done; -1 for none at the end."""
    numbers: dict[object, int] = {}
    shown = (label and ([(op.pop, seen(op.push)) for op in label[0]], label[1]) for label in labels)
    return np.array([*(numbers.setdefault(repr(label), len(numbers)) for label in shown), -1], dtype=np.int64)


def _symbol_places(columns: Sequence[Column], symbols: Sequence[Symbol]) -> Integers:
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
    """A table as arrays: each cell the number of its label and its target; -1 where it is unspecified."""

    numbers: Integers  # (states, columns)
    targets: Integers  # (states, columns); -1 after a rejection too
    columns: list[Column]
    labels: list[Label]


def arrays(table: Table) -> Arrays:
    """Return the table as arrays."""
    columns = {column: i for i, column in enumerate(dict.fromkeys(column for row in table for column in row))}
    labels: dict[Label, int] = {}
    numbers, targets = np.full((2, len(table), len(columns)), -1, dtype=np.int64)
    for state, row in enumerate(table):
        for column, (label, target) in row.items():
            numbers[state, columns[column]] = labels.setdefault(label, len(labels))
            targets[state, columns[column]] = target
    return Arrays(numbers, targets, list(columns), list(labels))


def _row_numbers(rows: Integers) -> Integers:
    """Return a number for each row, the same for equal rows, in the order in which they come first."""
    # Sorting one hash a row is much faster than sorting rows; a collision is noticed, and then rows are sorted.
    factors = np.random.default_rng(0).integers(1, 2**63, size=rows.shape[1], dtype=np.uint64)
    hashes = rows.astype(np.uint64) @ factors
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first[inverse]], rows):
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse.reshape(-1)])


def quotient(table: Table, classes: Sequence[int], renamed: Mapping[Symbol, Symbol]) -> Table:
    """Return the table of the classes (numbered from 0), with the stack symbols ``renamed``. A class does whatever one
    of its members is known to do; the caller has made sure that no two of them differ.
    """
    rows: list[Row] = [{} for _ in range(max(classes) + 1)]
    for number, row in zip(classes, table, strict=True):
        for column, (label, target) in rename_row(row, renamed):
            rows[number][column] = label, classes[target] if target >= 0 else -1
    return rows


def rename_row(row: Row, renamed: Mapping[Symbol, Symbol]) -> list[tuple[Column, TableCell]]:
    """Return the cells of a row with its stack symbols renamed; a column may come twice then."""
    if not renamed:
        return list(row.items())
    found = []
    for (letter, tops), (label, target) in row.items():
        if label is not None:
            operations = (op if op.push is None else StackOp(op.pop, renamed.get(op.push, op.push)) for op in label[0])
            label = tuple(operations), label[1]
        found.append(((letter, tuple(renamed.get(top, top) for top in tops)), (label, target)))
    return found


# ---- Minimisation ----

Sink = Literal["drop", "keep", "as it is"]
_Merge = Callable[[Table, Sequence[Symbol]], tuple[list[int], dict[Symbol, Symbol]] | None]
FOLDING_LIMIT = 400  # states; compatible merging tries pairs, and pairs of more states than this take long


def merge_states(table: Table) -> list[int]:
    """Return a class for each state, numbered by first member: each joins the first that it is compatible with. The
    number of trials grows with the square of the number of states, less the pairs that some word tells apart.

    >>> merge_states([{("a", ("⊥",)): REJECT}, {("b", ("⊥",)): REJECT, VERDICT: VERDICTS[True]}])
    [0, 0]
    """
    # (states, states): whether some sequence of specified cells ends in a conflict between the two
    cells = arrays(table)
    apart = np.zeros((len(table), len(table)), dtype=bool)
    # apart at once, by what a cell does
    for column in cells.numbers.T:
        apart |= (column[:, None] != column) & (column[:, None] >= 0) & (column >= 0)
    before = -1
    # or by a letter that leads them to states that are
    while before != (before := int(apart.sum())):
        check_time()
        for column in cells.targets.T:
            known = np.flatnonzero(column >= 0)
            apart[np.ix_(known, known)] |= apart[np.ix_(column[known], column[known])]
    folding, candidates = _Folding(table), ~apart
    for state in range(len(table)):
        for earlier in np.flatnonzero(candidates[state, :state]).tolist():
            if folding.parent[state] != state:
                break
            if folding.parent[earlier] == earlier:
                folding.merge(earlier, state)
    return folding.classes()


def merge_symbols(table: Table, symbols: Sequence[Symbol]) -> tuple[list[int], dict[Symbol, Symbol]] | None:
    """Return the classes of states that making two stack symbols one forces, and ``{gone: kept}``, for the first two.
    Two symbols can be one when, with one renamed to the other everywhere, every state's cells agree or can be made to
    agree by merging the states that they lead to. None where no two can.
    """
    if len(symbols) < 2:
        return None
    # Of each symbol what states do with it in sight, (symbols, states * places). Which symbols are pushed does not
    # count, as two of these may become one: two that look the same here may still differ.
    cells = arrays(table)
    kinds = _label_numbers(cells.labels, lambda pushed: pushed is None)
    shown = np.pad(kinds[cells.numbers], ((0, 0), (0, 1)), constant_values=-1)
    rows = shown[:, _symbol_places(cells.columns, symbols)].transpose(1, 0, 2).reshape(len(symbols), -1)
    for j, gone in enumerate(symbols):
        apart = ((rows[:j] != rows[j]) & (rows[:j] >= 0) & (rows[j] >= 0)).any(1)
        for i in np.flatnonzero(~apart).tolist():
            kept = symbols[i]
            folding = _Folding([{}] * len(table))
            if folding.load(table, {gone: kept}):
                return folding.classes(), {gone: kept}
    return None


class _Folding:
    """A partition of states with the union of its members' cells, which can be taken back step by step."""

    def __init__(self, table: Table) -> None:
        self.rows = [dict(row) for row in table]
        self.parent = list(range(len(self.rows)))
        self.forced: list[tuple[int, int]] = []  # pairs that determinism makes one
        self.trail: list[tuple[int, Column]] = []  # (state, cell that it got)
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
        for state, row in enumerate(table):
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
            del self.rows[state][column]
        return False

    def close(self) -> bool:
        while self.forced:
            check_time()
            a, b = sorted(map(self.find, self.forced.pop()))
            if a != b:
                self.parent[b] = a
                self.joined.append(b)
                if not all(self.put(a, *item) for item in self.rows[b].items()):
                    return False
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
    """A minimised automaton, and where each state and stack symbol of the original went. What no run uses (unless it
    does the same as what one uses), and, with ``sink="drop"``, what only rejected words reach, is in neither mapping.
    """

    automaton: PushdownAutomaton
    states: Mapping[State, State]
    stack_symbols: Mapping[Symbol, Symbol]

    @property
    def size(self) -> int:
        """Return how many states and stack symbols there are."""
        return len(self.automaton.states) + len(self.automaton.stack_alphabet)


def minimize(pda: PushdownAutomaton, sink: Sink = "drop") -> PushdownAutomaton:
    """Return a smaller automaton that accepts the same words; see `minimization`, which also says what became what.

    >>> from stacklens.automata.pda import push
    >>> rules = {(q, "a", (top,)): Transition(q, (push("x"),)) for q in "pq" for top in ("x", "⊥")}
    >>> rules["p", "a", ("x",)] = Transition("q", (push("x"),))
    >>> pda = PushdownAutomaton(("p", "q"), ("a", "b"), ("x",), rules, "p", frozenset("pq"), "final state")
    >>> minimize(pda).states, minimize(pda, sink="keep").states
    (('q0',), ('q0', 'sink'))
    """
    return minimization(pda, sink).automaton


def minimization(pda: PushdownAutomaton, sink: Sink = "drop") -> Minimization:
    """Return the minimised automaton with the mappings of states and stack symbols.

    ``sink``: "drop" removes what only rejected words reach. "keep" puts one rejecting state "sink" in its place, merged
    with no other, and completes every head where a letter can be read with it. (With acceptance "empty stack" the sink
    would accept, so acceptance becomes "both", every other state accepting.) "as it is" leaves it: runs on all words
    stay as long, and say the same. So it is for every automaton with ε-steps, which cannot have such a sink.

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

    ε-steps count as steps that read a letter of their own: runs go side by side ε-step for ε-step. Raises
    AutomatonError: a sink is to be kept, and there are ε-steps.
    """
    if not pda.real_time:
        if sink == "keep":
            raise AutomatonError('an automaton with ε-steps has no sink for all letters: ask for "as it is" or "drop"')
        stepwise, letter = with_letter(trim(pda))
        found = minimization(stepwise, "as it is")
        return replace(found, automaton=without_letter(found.automaton, letter, pda))
    refined = merge_same_rules(pda)
    used = trim(refined.automaton) if sink == "as it is" else drop_sinks(refined.automaton)
    found = _merged_automaton(used)
    # again, in another order and at fewer heads
    while (again := _merged_automaton(found.automaton)).size < found.size:
        states, symbols = _composed(found.states, again.states), _composed(found.stack_symbols, again.stack_symbols)
        found = Minimization(again.automaton, states, symbols)
    # what only rejected words reach becomes one state where it is wanted
    merged, states = found.automaton, dict(found.states)
    if sink == "keep":
        merged = _with_sink(merged)
        states |= {state: "sink" for state in trim(refined.automaton).states if state not in states}
    return Minimization(
        merged, _composed(refined.states, states), _composed(refined.stack_symbols, found.stack_symbols)
    )


def _merged_automaton(used: PushdownAutomaton) -> Minimization:
    """Return the automaton without what nothing observed at reachable heads tells apart; its states are q0, q1, …"""
    number, found = {state: i for i, state in enumerate(used.states)}, heads(used)
    rows: list[Row] = [{} for _ in used.states]
    for state, tops in sorted(found.reading):
        for letter in used.letters:
            step = used.transitions.get((state, letter, tops))
            cell = REJECT if step is None else ((step.operations, step.output), number[step.target])
            rows[number[state]][letter, tops] = cell
    # Being accepting decides about some word only where words end, with "both" on empty stacks.
    for state, tops in found.ending:
        if used.acceptance == "final state" or (used.acceptance == "both" and set(tops) == {used.bottom}):
            rows[number[state]][VERDICT] = VERDICTS[state in used.accepting]
    order = _breadth_first(rows, used, number[used.initial])
    table, classes = quotient(rows, order, {}), list(range(len(rows)))
    symbols = {symbol: symbol for symbol in used.stack_alphabet}
    merges: tuple[_Merge, ...] = (coarsest_partition, _merge_if_few, merge_symbols)
    for merge in cycle(merges):
        merged = merge(table, list(dict.fromkeys(symbols.values())))
        if merged is None:  # merge_symbols, the last in a round, finds nothing more
            break
        table, classes = quotient(table, *merged), [merged[0][i] for i in classes]
        symbols = {symbol: merged[1].get(name, name) for symbol, name in symbols.items()}
    place = _breadth_first(table, used, classes[order[number[used.initial]]])
    names = [f"q{i}" for i in range(len(table))]
    least = _automaton_of_table(used, quotient(table, place, {}), names, "q0", symbols)
    states = {state: names[place[classes[order[i]]]] for state, i in number.items()}
    return Minimization(least, states, symbols)


def _composed(first: Mapping[str, str], then: Mapping[str, str]) -> dict[str, str]:
    return {old: then[middle] for old, middle in first.items() if middle in then}


def merge_same_rules(pda: PushdownAutomaton) -> Minimization:
    """Return the automaton without states and symbols that do the same as another at every head, reachable or not.
    States keep the name of the first that was merged. It needs no reachability, which is slow for thousands of states,
    and leaves fewer. And it is canonical: what comes after does not depend on how often a state or a symbol was there.

    Source: Sun et al. 1993, section 3.6, where states that make the same moves are grouped.
    """
    number = {state: i for i, state in enumerate(pda.states)}
    table: list[Row] = [{VERDICT: VERDICTS[state in pda.accepting]} for state in pda.states]
    for (state, letter, tops), step in pda.transitions.items():
        table[number[state]][letter, tops] = (step.operations, step.output), number[step.target]
    classes, symbols = coarsest_partition(table, pda.stack_alphabet)
    names: dict[int, State] = {}
    states = {state: names.setdefault(i, state) for state, i in zip(pda.states, classes, strict=True)}
    small = quotient(table, classes, symbols)
    merged = _automaton_of_table(pda, small, list(names.values()), states[pda.initial], symbols)
    return Minimization(merged, states, symbols)


def _breadth_first(table: Table, pda: PushdownAutomaton, start: int) -> list[int]:
    """Return the place of each state in breadth-first order, cells taken in the order of the automaton's alphabets."""
    letters = {letter: i for i, letter in enumerate(pda.letters)}
    tops = {top: i for i, top in enumerate((pda.bottom, *pda.stack_alphabet))}
    place = {start: 0}
    for state in (queue := [start]):  # the list grows while it is walked
        leading = [column for column, (_, target) in table[state].items() if target >= 0]
        for column in sorted(leading, key=lambda column: (letters[column[0]], [tops[top] for top in column[1]])):
            target = table[state][column][1]
            if target not in place:
                place[target] = len(place)
                queue.append(target)
    return [place[state] for state in range(len(table))]


def _merge_if_few(table: Table, _: Sequence[Symbol]) -> tuple[list[int], dict[Symbol, Symbol]]:
    return merge_states(table) if len(table) <= FOLDING_LIMIT else list(range(len(table))), {}


def _automaton_of_table(
    pda: PushdownAutomaton, table: Table, names: Sequence[State], initial: State, symbols: Mapping[Symbol, Symbol]
) -> PushdownAutomaton:
    """Return the automaton of a table, with what tables do not hold taken from ``pda``."""
    transitions: dict[Key, Transition] = {}
    for state, row in zip(names, table, strict=True):
        for (letter, tops), (label, target) in row.items():
            if target >= 0:
                assert label is not None
                transitions[state, letter, tops] = Transition(names[target], *label)
    return replace(
        pda,
        states=tuple(names),
        stack_alphabet=tuple(dict.fromkeys(symbols.values())),
        transitions=transitions,
        initial=initial,
        accepting=frozenset(name for name, row in zip(names, table, strict=True) if row.get(VERDICT) == VERDICTS[True]),
    )


def _with_sink(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton with every missing transition on a reachable head led to one rejecting state."""
    none = (NONE,) * pda.n_stacks
    output: Output = None
    while pda.acceptance == "output" and output in pda.accepting_outputs:
        output = "reject" if output is None else f"{output}'"
    into = Transition("sink", none, output)
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
