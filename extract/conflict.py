"""Where a machine and the network that it stands for part on a word: the head whose representative misled it.

The machine asks the network what it does for a cluster's centre and a stack symbol's value; the network itself had
another hidden vector and another value there. Its run, read in clusters and stack symbols, goes along with the
machine's for a while. The last step at which both are at the same head and do not do the same is the one to blame for
all that follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from stacklens.automata.pda import Symbol, Word
from stacklens.extract.machine import EMPTY, Head, Machine, MachineState, Window
from stacklens.models.base import State, Step
from stacklens.models.rounding import operation_numbers

__all__ = ["Conflict", "Did", "did_at", "find_conflict"]


class Did(NamedTuple):
    """What is done at a head on a letter, or said of the word that ends there.

    Operations are, for each stack, whether it pops and the number of the symbol that it pushes, if it does.
    """

    rejected: bool = False
    operations: tuple[tuple[bool, int | None], ...] = ()
    target: MachineState | None = None
    output: int | None = None
    accepted: bool | None = None


@dataclass(frozen=True)
class Conflict:
    """A head at which the machine does not do what the network did.

    Attributes:
        word: where it was seen.
        head: the head, at which both were.
        letter: what was read, None for the end of the word.
        hidden: the network's hidden vector there, (H,).
        cells: the values that it saw, (n_stacks, depth, D), NaN where there are none.
        machine_did, network_did: the conflict.
    """

    word: Word
    head: Head
    letter: Symbol | None
    hidden: np.ndarray
    cells: np.ndarray
    machine_did: Did
    network_did: Did


@torch.no_grad()
def did_at(machine: Machine, head: Head, letter: Symbol | None, hidden: np.ndarray, cells: np.ndarray) -> list[Did]:
    """Return what the network does at ``head`` on ``letter``, with other vectors and values in place of the head's.

    Args:
        machine: the machine.
        head: where it is; it says which cells there are, and what was predicted last.
        letter: what is read; None asks for the verdict on a word that ends there.
        hidden: hidden vectors, (M, H).
        cells: what is seen of the stacks, (M, n_stacks, depth, D), NaN where there is nothing.
    """
    like = machine.state_of([head])
    output = None if like.output is None else like.output.expand(len(hidden), -1)
    stack = machine.network.stack_of(torch.from_numpy(cells).to(like.hidden.dtype))
    never = torch.zeros(len(hidden), dtype=torch.bool)
    state = State(torch.from_numpy(hidden).to(like.hidden.dtype), stack, never, output)
    if letter is None:
        return [Did(accepted=good) for good in machine.network.decide(state).tolist()]
    symbols = torch.full((len(hidden),), machine.network.letters.index(letter))
    return _did(machine, head.windows, machine.network.step(symbols, state))


def _did(machine: Machine, windows: tuple[Window, ...], step: Step[Any]) -> list[Did]:
    network, rows = machine.network, len(step.hidden)
    taken = torch.zeros(rows, machine.n_stacks, dtype=torch.int64)
    if network.action_kind != "none":
        taken = operation_numbers(network.action_kind, network.operations, step.actions).expand(rows, -1)
    pushed = machine.symbols.assign(step.pushed.expand(rows, *step.pushed.shape[-2:]).numpy()).tolist()
    numbers = machine.quantiser.assign(step.hidden.numpy()).tolist()
    outputs: list[int | None] = [None] * rows
    if network.task_kind != "recognition":
        outputs = network.output_numbers(step.output).tolist()
    answers = []
    for row, rejected in enumerate(step.state.rejected.tolist()):
        made = zip(windows, taken[row].tolist(), pushed[row] or [0], strict=True)
        operations = tuple((op in (1, 3) and w[0] != EMPTY, cell if op in (2, 3) else None) for w, op, cell in made)
        target = MachineState(numbers[row], outputs[row] if network.task_kind == "next set" else None)
        answers.append(Did(True) if rejected else Did(False, operations, target, outputs[row]))
    return answers


class _Run:
    """The head of a run, and what lies on its stacks: the symbols' numbers, and the values that they stand for."""

    def __init__(self, machine: Machine) -> None:
        self.depth, self.cell_size = machine.network.depth, machine.symbols.values.shape[1]
        self.state = machine.start.state
        self.numbers: list[list[int]] = [[] for _ in range(machine.n_stacks)]
        self.values: list[list[np.ndarray]] = [[] for _ in range(machine.n_stacks)]

    @property
    def head(self) -> Head:
        return Head(self.state, tuple(_window(cells, self.depth) for cells in self.numbers))

    def seen(self) -> np.ndarray:
        """Return the values at the top, (n_stacks, depth, D), NaN where there are none."""
        cells = np.full((len(self.values), self.depth, self.cell_size), np.nan)
        for stack, values in enumerate(self.values):
            for place, value in enumerate(reversed(values[-self.depth :])):
                cells[stack, place] = value
        return cells

    def go_on(self, did: Did, pushed: np.ndarray) -> None:
        """Do what was ``did`` with the values ``pushed``, (n_stacks, D)."""
        assert did.target is not None
        self.state = did.target
        for stack, (pops, number) in enumerate(did.operations):
            if pops:
                self.numbers[stack].pop()
                self.values[stack].pop()
            if number is not None:
                self.numbers[stack].append(number)
                self.values[stack].append(pushed[stack])


def _window(numbers: list[int], depth: int) -> Window:
    seen = numbers[-depth:][::-1]
    return (*seen, *[EMPTY] * (depth - len(seen)))


@torch.no_grad()
def find_conflict(machine: Machine, word: Word, scored: np.ndarray | None = None) -> Conflict | None:
    """Return the head to blame for the machine's answer to ``word``, None if it answers as its network does.

    An early rejection by one of them counts as another answer, even if the other's verdict will be the same. Only
    ``scored`` answers, (T,) bool, count where these are given.
    """
    network = machine.network
    state = network.initial_state(1)
    mine, theirs = _Run(machine), _Run(machine)
    blamed: Conflict | None = None
    for t, letter in enumerate(_read(machine, word)):
        head, hidden, cells = theirs.head, state.hidden.numpy(), theirs.seen()
        here = mine.head
        (machine_did,) = did_at(machine, here, letter, machine.vectors([here.state]).numpy(), _values(machine, here))
        if letter is None:
            network_did = Did(accepted=bool(network.decide(state)))
        else:
            step = network.step(torch.tensor([network.letters.index(letter)]), state)
            (network_did,), state = _did(machine, head.windows, step), step.state
        if here == head and machine_did != network_did:
            blamed = Conflict(word, here, letter, hidden[0], cells, machine_did, network_did)
        counts = scored is None or (t < len(scored) and bool(scored[t]))
        if counts and _said(machine_did) != _said(network_did):
            return blamed
        if letter is None or machine_did.rejected or network_did.rejected:
            return None
        nothing = np.zeros((machine.n_stacks, theirs.cell_size))
        mine.go_on(machine_did, nothing)
        pushed = np.broadcast_to(step.pushed[0].numpy(), nothing.shape) if network.n_stacks else nothing
        theirs.go_on(network_did, pushed)
    return None


def _read(machine: Machine, word: Word) -> list[Symbol | None]:
    """Return what is read on a word, and None where a recogniser is then asked for its verdict."""
    network = machine.network
    verdict = [None] if network.task_kind == "recognition" else []
    return [*word, *([network.end] if network.end is not None else []), *verdict]


def _values(machine: Machine, head: Head) -> np.ndarray:
    """Return the values that the machine takes the head's stack symbols for, (1, n_stacks, depth, D)."""
    values: np.ndarray = machine.cells([head.windows]).numpy()
    return values


def _said(did: Did) -> tuple[bool, int | None, bool | None]:
    return did.rejected, did.output, did.accepted
