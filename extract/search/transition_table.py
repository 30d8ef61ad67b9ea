"""The two ways to fill a machine's transition table.

Ask the network itself at every reachable head (Sun et al. 1993, section 4.1), or take the majority over the transitions
that it was seen to make.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ...automata.pda import Acceptance, Key, Output, PushdownAutomaton, State, Symbol, Tops, Transition
from ...automata.summaries import reachable_heads
from ...core.errors import StacklensError
from ...core.progress import check_time
from ...models.base import StackModel
from ...models.rounding import Operation, RoundedSteps, without_empty_pops
from ...probe.trace import Trace
from .machine import BOTTOM, EMPTY_CELL, START, Answer, Machine, MachineHead, MachineState, Window

_NONE = -1  # no number: the initial state, no predicted set, a rejection

_NO_OUTPUTS: frozenset[Output] = frozenset()
_MOST_STATES, _MOST_HEADS = 1_000, 20_000  # that are reached
_MOST_COMBINATIONS = 500_000  # of states and tops of several stacks, whose reachable heads are over-approximated


def majority_table(machine: Machine, seen: Trace, complete: frozenset[Output]) -> tuple[PushdownAutomaton, float]:
    """Return the majority's automaton over the steps of a trace, and the share of steps that disagree with it."""
    ballots, sets = _observed_transitions(machine, seen)
    columns = ballots.shape[1] - machine.n_stacks * 2 - 3  # what a head and a letter take; the rest is the vote
    # the most frequent vote at each place, the first in order of several
    counted = Counter(map(tuple, ballots.tolist()))
    elected: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
    for row, count in sorted(counted.items()):
        place, voted = row[:columns], row[columns:]
        if count > elected.get(place, (0, ()))[0]:
            elected[place] = (count, voted)
    table = TransitionTable(machine)
    _add_votes(table, seen, sets, {place: voted for place, (_, voted) in elected.items()})
    minority = 1 - sum(count for count, _ in elected.values()) / max(1, len(ballots))
    return table.automaton(complete), minority


def _add_votes(
    table: TransitionTable, seen: Trace, sets: list[int], elected: dict[tuple[int, ...], tuple[int, ...]]
) -> None:
    """Enter what the majority voted at each place: a state, a predicted set, a letter and windows."""
    if not elected:
        return
    machine, depth = table.machine, table.machine.network.depth
    # the heads of the places, and what was voted there as the step of a network
    heads = []
    for number, predicted, _, *cells in elected:
        state = MachineState(None if number == _NONE else number, None if predicted == _NONE else sets[predicted])
        heads.append(MachineHead(state, tuple(tuple(cells[i : i + depth]) for i in range(0, len(cells), depth))))
    rejected, targets, outputs, *moves = np.array(list(elected.values())).T
    voted = RoundedSteps(
        np.stack(moves[::2], -1),
        np.stack(moves[1::2], -1),
        targets,
        outputs if machine.network.task_kind == "recognition" else np.array(sets, dtype=object)[outputs],
        rejected > 0,
    )
    done = machine.steps_at([head.windows for head in heads], voted)
    for head, place, one in zip(heads, elected, done, strict=True):
        if not one.rejected:
            table.add(head, seen.letters[place[2]], machine.answer(head.windows, one))


def _observed_transitions(machine: Machine, seen: Trace) -> tuple[np.ndarray, list[int]]:
    """Return a row for every step that was not yet rejected, int64, and the numbers of the outputs in rising order.

    Columns: state, predicted set, letter, the windows' cells; then rejection, next state, output, and for every stack
    operation and symbol pushed. Outputs and sets go by their place among the numbers, which may be too large.
    """
    # what the machine would call each traced step; sets as outputs are numbered, as they may be too large for an array
    arrays = seen.hidden[:, 1:], seen.actions, seen.pushed, seen.output, seen.rejected
    made = machine.observed(*(torch.from_numpy(np.nan_to_num(array)) for array in arrays))
    word, step = np.nonzero(seen.valid & ~_before(seen.rejected, False))
    known, outputs = np.unique(made.outputs, return_inverse=True)
    outputs = outputs.reshape(made.outputs.shape)
    if machine.network.task_kind == "recognition":
        outputs = made.outputs
    sets = machine.network.task_kind == "next set"
    predicted = _before(outputs, _NONE) if sets else np.full_like(outputs, _NONE)
    windows = _seen_windows(made.operations, made.pushed, machine.network.depth)
    # where each step was, and what it did
    moves = np.stack([made.operations, made.pushed * (made.operations >= Operation.PUSH)], -1)
    place = [_before(made.targets, _NONE), predicted, seen.symbols, windows]
    voted = [made.rejected, made.targets, outputs, moves]
    chosen = [array[word, step].reshape(len(word), -1) for array in (*place, *voted)]
    ballots = np.concatenate(chosen, 1, dtype=np.int64)
    vote = sum(array.shape[1] for array in chosen[:4])
    ballots[made.rejected[word, step], vote + 1 :] = 0
    return ballots, known.tolist()


def _before(values: np.ndarray, first: int) -> np.ndarray:
    return np.pad(values, ((0, 0), (1, 0)), constant_values=first)[:, :-1]


def _seen_windows(operations: np.ndarray, pushed: np.ndarray, depth: int) -> np.ndarray:
    """Return the windows that each step sees under these moves, (N, T, n_stacks, depth), EMPTY below the bottom."""
    n, steps, n_stacks = operations.shape
    cells = np.full((n, n_stacks, depth + steps), EMPTY_CELL)  # the bottom is `depth` empty cells
    heights = np.zeros((n, n_stacks), np.int64)
    windows = np.empty((n, steps, n_stacks, depth), np.int64)
    for t in range(steps):
        places = depth + heights[..., None] - 1 - np.arange(depth)
        windows[:, t] = np.take_along_axis(cells, places, -1)
        done, heights = without_empty_pops(operations[:, t], heights)
        word, stack = np.nonzero(done & Operation.PUSH)
        cells[word, stack, depth + heights[word, stack] - 1] = pushed[:, t][word, stack]
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

    def add(self, head: MachineHead, letter: Symbol, answer: Answer) -> None:
        """Enter what the machine does at ``head`` on ``letter``; the names in it are then known."""
        for windows in zip(head.windows, answer.pushed, strict=True):
            for window in windows:
                if window is not None:
                    self.window(window)
        key = (self.state(head.state), letter, self.machine.tops(head.windows))
        self.rules[key] = Transition(self.state(answer.target), answer.operations, answer.output)

    def automaton(self, complete: frozenset[Output] = _NO_OUTPUTS) -> PushdownAutomaton:
        """Return the automaton of the rules so far, which accepts as decided on empty, or all, stacks."""
        accepting, by_state = frozenset(self.states), True
        if self.machine.network.task_kind == "recognition":
            accepting = self._deciding(self.machine.empty)
            # by the state alone where just the states that accept on empty stacks accept on others
            filled = [window for name, window in self.windows.items() if name != BOTTOM]
            others = ((window,) * self.machine.n_stacks for window in filled)
            by_state = bool(filled and accepting) and all(self._deciding(windows) == accepting for windows in others)
        symbols = tuple(name for name in self.windows if name != BOTTOM)
        network, n_stacks = self.machine.network, self.machine.n_stacks
        return automaton_of_rules(
            network, tuple(self.states), symbols, self.rules, accepting, complete, by_state, n_stacks
        )

    def _deciding(self, windows: tuple[Window, ...]) -> frozenset[State]:
        heads = [MachineHead(state, windows) for state in self.states.values()]
        decided = self.machine.network.decide(self.machine.state_of(heads)).tolist()
        return frozenset(name for name, good in zip(self.states, decided, strict=True) if good)


def automaton_of_rules(
    network: StackModel[Any],
    states: tuple[State, ...],
    stack_alphabet: tuple[Symbol, ...],
    rules: dict[Key, Transition],
    accepting: frozenset[State],
    complete: frozenset[Output],
    by_state: bool,
    n_stacks: int,
) -> PushdownAutomaton:
    """Return the automaton of a network's ``rules``, whose first state is the initial one.

    A recogniser accepts in states ``accepting``, on empty stacks unless it decides ``by_state``; a predictor by its
    last output, where those after ``complete`` words are known; all else what it can read.
    """
    recogniser = network.task_kind == "recognition"
    acceptance: Acceptance = "final state" if by_state or not recogniser else "both"
    if complete and not recogniser:
        acceptance, accepting = "output", frozenset()
    return PushdownAutomaton(
        states=states,
        input_alphabet=network.alphabet,
        stack_alphabet=stack_alphabet,
        transitions=rules,
        initial=states[0],
        accepting=accepting,
        acceptance=acceptance,
        bottom=BOTTOM,
        n_stacks=n_stacks,
        end_marker=network.end,
        initial_output=initial_output(network),
        accepting_outputs=complete,
    )


def initial_output(network: StackModel[Any]) -> Output:
    """Return what a predictor of sets predicts before the first symbol; None of other networks."""
    if network.task_kind != "next set":
        return None
    return tuple(symbol for symbol in network.alphabet if network.first is None or symbol in network.first)


def explore(machine: Machine, complete: frozenset[Output] = _NO_OUTPUTS) -> PushdownAutomaton:
    """Return the automaton of ``machine``, closed over every head that some word reaches. Raises StacklensError: there
    are too many states or heads, or tops of several stacks; `majority_table` is left then.
    """
    table = TransitionTable(machine)
    asked: set[tuple[State, Tops]] = set()
    fresh = [(START, (BOTTOM,) * machine.n_stacks)]
    while fresh:
        check_time()
        asked |= set(fresh)
        for (head, letter), answer in machine.ask([table.head(*names) for names in fresh]).items():
            table.add(head, letter, answer)
        if len(table.states) > _MOST_STATES or len(asked) > _MOST_HEADS:
            raise StacklensError(f"{machine.quantiser.name}: {len(table.states)} states are reached, and more to come")
        if machine.n_stacks > 1 and len(table.states) * len(table.windows) ** machine.n_stacks > _MOST_COMBINATIONS:
            raise StacklensError(f"{len(table.windows)} tops of {machine.n_stacks} stacks are too many to combine")
        fresh = sorted(reachable_heads(table.automaton(complete)) - asked)
    return table.automaton(complete)
