"""The second way to fill the table: a majority vote over what a network was seen to do.

Each traced step votes for an operation, a next state or a rejection at its head. The share of steps that were outvoted
measures how far the network is from having states: at most 0.03 is good, 0.06 or more is bad.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch

from stacklens.automata.pda import Output, PushdownAutomaton, Transition
from stacklens.extract.explore import Table
from stacklens.extract.machine import EMPTY, Machine, MachineState, Window
from stacklens.models.rounding import operation_numbers
from stacklens.probe.trace import Trace

__all__ = ["Vote", "vote"]

_NONE = -1  # no number: the initial state, no predicted set, a rejection


@dataclass(frozen=True)
class Vote:
    """The automaton that the majority gives, and the share of traced steps that disagree with it, in [0, 1]."""

    automaton: PushdownAutomaton
    minority: float


def vote(machine: Machine, seen: Trace, complete: frozenset[Output] = frozenset()) -> Vote:
    """Return the majority's automaton over the steps of ``seen``, a trace of the machine's rounded network.

    ``complete`` are the outputs that say that a word is complete, where they are known.
    """
    ballots, sets = _ballots(machine, seen)
    columns = ballots.shape[1] - machine.n_stacks * 2 - 3  # what a head and a letter take; the rest is the vote
    counted = Counter(map(tuple, ballots.tolist()))
    elected: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
    for row, count in sorted(counted.items()):
        place, voted = row[:columns], row[columns:]
        if count > elected.get(place, (0, ()))[0]:
            elected[place] = (count, voted)
    table = Table(machine)
    for place, (_, voted) in elected.items():
        _add_rule(table, seen, sets, place, voted)
    minority = 1 - sum(count for count, _ in elected.values()) / max(1, len(ballots))
    return Vote(table.automaton(complete), minority)


def _add_rule(table: Table, seen: Trace, numbers: list[int], place: tuple[int, ...], voted: tuple[int, ...]) -> None:
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


def _ballots(machine: Machine, seen: Trace) -> tuple[np.ndarray, list[int]]:
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
    cells = np.full((n, n_stacks, steps + depth), EMPTY)  # the bottom is `depth` empty cells
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
