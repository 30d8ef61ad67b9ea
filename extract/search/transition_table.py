"""The two ways to fill a machine's transition table.

Ask the network itself at every reachable head (Sun et al. 1993, section 4.1), or take the majority over the transitions
that it was seen to make.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch

from stacklens.automata.pda import Key, Output, PushdownAutomaton, State, Symbol, Tops, Transition
from stacklens.automata.reachability import reachable_heads
from stacklens.errors import StacklensError
from stacklens.extract.search.machine import (
    BOTTOM,
    EMPTY_CELL,
    START,
    Machine,
    MachineHead,
    MachineState,
    Window,
)
from stacklens.models.rounding import operation_numbers
from stacklens.probe.trace import Trace

__all__ = ["MajorityTable", "TransitionTable", "explore", "majority_table"]

_NONE = -1  # no number: the initial state, no predicted set, a rejection

_NO_OUTPUTS: frozenset[Output] = frozenset()
_MOST_COMBINATIONS = 500_000  # of states and tops of several stacks, whose reachable heads are over-approximated


@dataclass(frozen=True)
class MajorityTable:
    """The automaton that the majority gives, and the share of traced steps that disagree with it, in [0, 1]."""

    automaton: PushdownAutomaton
    minority: float


def majority_table(machine: Machine, seen: Trace, complete: frozenset[Output] = frozenset()) -> MajorityTable:
    """Return the majority's automaton over the steps of ``seen``, a trace of the machine's rounded network.

    ``complete`` are the outputs that say that a word is complete, where they are known.
    """
    ballots, sets = _observed_transitions(machine, seen)
    columns = ballots.shape[1] - machine.n_stacks * 2 - 3  # what a head and a letter take; the rest is the vote
    counted = Counter(map(tuple, ballots.tolist()))
    elected: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
    for row, count in sorted(counted.items()):
        place, voted = row[:columns], row[columns:]
        if count > elected.get(place, (0, ()))[0]:
            elected[place] = (count, voted)
    table = TransitionTable(machine)
    for place, (_, voted) in elected.items():
        _add_rule(table, seen, sets, place, voted)
    minority = 1 - sum(count for count, _ in elected.values()) / max(1, len(ballots))
    return MajorityTable(table.automaton(complete), minority)


def _add_rule(
    table: TransitionTable, seen: Trace, numbers: list[int], place: tuple[int, ...], voted: tuple[int, ...]
) -> None:
    """Enter what the majority ``voted`` at a ``place``: state, predicted set, letter, windows."""
    machine = table.machine
    rejected, number, output, *moves = voted
    if rejected:
        return
    state = MachineState(None if place[0] == _NONE else place[0], None if place[1] == _NONE else numbers[place[1]])
    depth = machine.network.depth
    cells = place[3:]
    windows: tuple[Window, ...] = tuple(cells[i : i + depth] for i in range(0, len(cells), depth))
    operations = []
    for window, operation, pushed in zip(windows, moves[::2], moves[1::2], strict=True):
        taken, made = machine.operate(window, operation, pushed)
        operations.append(taken)
        for known in (window, made):
            if known is not None:
                table.window(known)
    sets = machine.network.task_kind == "next set"
    target = MachineState(number, numbers[output] if sets else None)
    shown = None if output == _NONE else machine.network.output_name(numbers[output])
    key = (table.state(state), seen.letters[place[2]], machine.tops(windows))
    table.rules[key] = Transition(table.state(target), tuple(operations), shown)


def _observed_transitions(machine: Machine, seen: Trace) -> tuple[np.ndarray, list[int]]:
    """Return a row for every step that was not yet rejected, int64, and the numbers of the outputs in rising order.

    Columns: state, predicted set, letter, the windows' cells; then rejection, next state, output, and for every stack
    the operation and the pushed symbol. After a rejection only that counts. An output, or a set, is given by its place
    among the numbers, which may be too large for an array.
    """
    before = np.pad(seen.rejected, ((0, 0), (1, 0)))[:, :-1]
    word, step = np.nonzero(seen.valid & ~before)
    numbers = machine.quantiser.assign(np.nan_to_num(seen.hidden[word, step]))
    known, outputs = _outputs(machine, seen)
    operations, pushed = _moves(machine, seen)
    windows = _windows(operations, pushed, machine.network.depth)[word, step]
    sets = machine.network.task_kind == "next set"
    earlier = np.pad(outputs, ((0, 0), (1, 0)), constant_values=_NONE)[:, :-1]
    predicted = earlier[word, step] if sets else np.full(len(word), _NONE)
    place = [np.where(step == 0, _NONE, numbers), predicted, seen.symbols[word, step]]
    targets = machine.quantiser.assign(np.nan_to_num(seen.hidden[word, step + 1]))
    moves = np.stack([operations, pushed], -1)[word, step]
    moves[..., 1] *= moves[..., 0] >= 2  # what is not pushed has no vote
    voted = np.column_stack([np.zeros(len(word)), targets, outputs[word, step], moves.reshape(len(word), -1)])
    voted[seen.rejected[word, step]] = [1, *[0] * (voted.shape[1] - 1)]
    return np.column_stack([*place, windows.reshape(len(word), -1), voted]).astype(np.int64), known


def _outputs(machine: Machine, seen: Trace) -> tuple[list[int], np.ndarray]:
    """Return the distinct numbers of outputs in rising order, and each output's place, (N, T), -1 for recognisers."""
    if machine.network.task_kind == "recognition":
        return [], np.full(seen.symbols.shape, _NONE)
    numbers = machine.network.output_numbers(torch.from_numpy(np.nan_to_num(seen.output)))
    known, places = np.unique(numbers, return_inverse=True)
    return known.tolist(), places.reshape(numbers.shape)


def _moves(machine: Machine, seen: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the operations' numbers and the pushed symbols', (N, T, n_stacks) each."""
    shape = (*seen.symbols.shape, machine.n_stacks)
    if machine.network.action_kind == "none":
        return np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    actions = torch.from_numpy(np.nan_to_num(seen.actions))
    operations: np.ndarray = operation_numbers(machine.network.action_kind, machine.network.operations, actions).numpy()
    return operations, machine.symbols.assign(np.nan_to_num(seen.pushed))


def _windows(operations: np.ndarray, pushed: np.ndarray, depth: int) -> np.ndarray:
    """Return the windows that each step sees under these moves, (N, T, n_stacks, depth), EMPTY below the bottom."""
    n, steps, n_stacks = operations.shape
    cells = np.full((n, n_stacks, steps + depth), EMPTY_CELL)  # the bottom is `depth` empty cells
    height = np.full((n, n_stacks), depth)
    windows = np.empty((n, steps, n_stacks, depth), np.int64)
    for t in range(steps):
        places = height[..., None] - 1 - np.arange(depth)
        windows[:, t] = np.take_along_axis(cells, places, -1)
        pops = np.isin(operations[:, t], (1, 3)) & (height > depth)
        pushes = operations[:, t] >= 2
        height = height - pops
        word, stack = np.nonzero(pushes)
        cells[word, stack, height[word, stack]] = pushed[:, t][word, stack]
        height = height + pushes
    return windows


@dataclass
class TransitionTable:
    """A transition table under construction: rules by name, and what the names stand for."""

    machine: Machine
    rules: dict[Key, Transition] = field(default_factory=dict)
    states: dict[State, MachineState] = field(default_factory=dict)
    windows: dict[Symbol, Window] = field(default_factory=dict)

    def __post_init__(self) -> None:
        start = self.machine.start
        self.states[START] = start.state
        self.windows[BOTTOM] = start.windows[0]

    def state(self, state: MachineState) -> State:
        """Return the name of a state, which is then known."""
        name = self.machine.name(state)
        self.states.setdefault(name, state)
        return name

    def window(self, window: Window) -> Symbol:
        """Return the name of a window, which is then known."""
        name = self.machine.symbols.window_name(window)
        self.windows.setdefault(name, window)
        return name

    def head(self, state: State, tops: Tops) -> MachineHead:
        """Return the head that names stand for."""
        return MachineHead(self.states[state], tuple(self.windows[top] for top in tops))

    def automaton(self, complete: frozenset[Output] = _NO_OUTPUTS) -> PushdownAutomaton:
        """Return the automaton of the rules so far.

        A recogniser accepts in the states that decide for the word on empty stacks, and with any stacks if its
        decisions do not depend on them. A predictor accepts by its last output, where the outputs that say that a word
        is ``complete`` are known. All else accepts what it can read.
        """
        network = self.machine.network
        accepting, acceptance = frozenset(self.states), "final state"
        if network.task_kind == "recognition":
            accepting = self._deciding(self.machine.empty)
            acceptance = "final state" if self._decides_by_state(accepting) else "both"
        elif complete:
            accepting, acceptance = frozenset(), "output"
        kind: Literal["final state", "both", "output"] = acceptance  # type: ignore[assignment]
        return PushdownAutomaton(
            states=tuple(self.states),
            input_alphabet=network.alphabet,
            stack_alphabet=tuple(name for name in self.windows if name != BOTTOM),
            transitions=self.rules,
            initial=START,
            accepting=accepting,
            acceptance=kind,
            bottom=BOTTOM,
            n_stacks=self.machine.n_stacks,
            end_marker=network.end,
            initial_output=self._initial_output(),
            accepting_outputs=complete,
        )

    def _decides_by_state(self, accepting: frozenset[State]) -> bool:
        """Return whether the states ``accepting`` on empty stacks, and only they, decide for words on other stacks."""
        filled = [window for name, window in self.windows.items() if name != BOTTOM]
        if not filled or not accepting:
            return False
        return all(self._deciding((window,) * self.machine.n_stacks) == accepting for window in filled)

    def _deciding(self, windows: tuple[Window, ...]) -> frozenset[State]:
        heads = [MachineHead(state, windows) for state in self.states.values()]
        decided = self.machine.network.decide(self.machine.state_of(heads)).tolist()
        return frozenset(name for name, good in zip(self.states, decided, strict=True) if good)

    def _initial_output(self) -> Output:
        network = self.machine.network
        if network.task_kind != "next set":
            return None
        return tuple(symbol for symbol in network.alphabet if network.first is None or symbol in network.first)


def explore(
    machine: Machine, complete: frozenset[Output] = _NO_OUTPUTS, max_states: int = 1_000, max_heads: int = 20_000
) -> PushdownAutomaton:
    """Return the automaton of ``machine``, closed over every head that some word reaches.

    Raises:
        StacklensError: more than ``max_states`` states or ``max_heads`` heads are reached, or several stacks have too
            many tops to combine; what was seen in traces is left then (`majority_table`).
    """
    table = TransitionTable(machine)
    asked: set[tuple[State, Tops]] = set()
    fresh = [(START, (BOTTOM,) * machine.n_stacks)]
    while fresh:
        asked |= set(fresh)
        for (head, letter), answer in machine.ask([table.head(*names) for names in fresh]).items():
            for window in answer.pushed:
                if window is not None:
                    table.window(window)
            key = (machine.name(head.state), letter, machine.tops(head.windows))
            table.rules[key] = Transition(table.state(answer.target), answer.operations, answer.output)
        if len(table.states) > max_states or len(asked) > max_heads:
            raise StacklensError(f"{machine.quantiser.name}: {len(table.states)} states are reached, and more to come")
        if machine.n_stacks > 1 and len(table.states) * len(table.windows) ** machine.n_stacks > _MOST_COMBINATIONS:
            raise StacklensError(f"{len(table.windows)} tops of {machine.n_stacks} stacks are too many to combine")
        fresh = sorted(reachable_heads(table.automaton(complete)) - asked)
    return table.automaton(complete)
