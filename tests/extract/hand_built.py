"""Networks whose controller is a table: random machines on cells, as a network and as the automaton that it is.

A machine sees its state, a letter and, on every stack, a window of cells. The network looks the window up by the
nearest value to what it reads, and the state as the largest of a one-hot hidden vector; the automaton has a stack
symbol for every window. Both are made from the same table, and neither from the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal

import torch
from hypothesis import strategies as st
from torch import Tensor

from stacklens.automata.pda import NONE, POP, Key, Output, PushdownAutomaton, StackOp, Transition, push, replace
from stacklens.languages.language import TaskKind
from stacklens.models.base import ControllerOutput, NetworkState, S, StackModel
from stacklens.models.stacks import StrengthStack, SuperpositionStack

LARGE = 2_000.0  # a softmax or sigmoid of so much is 0 or 1 in 64 bits
NO_CELL = -1
Move = Literal["none", "pop", "push", "replace"]
Window = tuple[int, ...]  # cells' numbers, the top first, NO_CELL below the bottom
Place = tuple[int, int, tuple[Window, ...]]  # state, letter, one window a stack


@dataclass(frozen=True)
class Rule:
    """What a machine does at a place: the next state, a move and a cell for every stack, and an output's number."""

    target: int
    moves: tuple[tuple[Move, int], ...]
    output: int  # a symbol's number, or a set as a binary number


@dataclass(frozen=True)
class HandMachine:
    """A real-time deterministic machine on cells; where there is no rule it rejects."""

    n_states: int
    letters: tuple[str, ...]
    n_cells: int
    n_stacks: int
    depth: int
    kind: TaskKind
    rules: dict[Place, Rule]
    accepting: frozenset[int]  # for recognition, which is by state only

    def automaton(self) -> PushdownAutomaton:
        """Return the machine as an automaton, whose states know the set predicted last where sets are predicted."""
        transitions: dict[Key, Transition] = {}
        sets = range(2 ** len(self.letters)) if self.kind == "next set" else (0,)
        start = 2 ** len(self.letters) - 1 if self.kind == "next set" else 0
        for (state, letter, windows), rule in self.rules.items():
            target = f"{rule.target}:{rule.output if self.kind == 'next set' else 0}"
            operations = tuple(map(_operation, rule.moves, windows))
            step = Transition(target, operations, self.output(rule.output))
            for predicted in sets:
                if self.kind != "next set" or predicted >> letter & 1:
                    transitions[f"{state}:{predicted}", self.letters[letter], tuple(map(_name, windows))] = step
        return PushdownAutomaton(
            states=tuple(f"{state}:{predicted}" for state in range(self.n_states) for predicted in sets),
            input_alphabet=self.letters,
            stack_alphabet=tuple(map(_name, list(_windows(self.n_cells, self.depth))[1:])),
            transitions=transitions,
            initial=f"0:{start}",
            accepting=frozenset(f"{state}:{predicted}" for state in self.accepting for predicted in sets),
            acceptance="final state",
            n_stacks=self.n_stacks,
        )

    def output(self, number: int) -> Output:
        if self.kind == "recognition":
            return None
        if self.kind == "next set":
            return tuple(letter for i, letter in enumerate(self.letters) if number >> i & 1)
        return self.letters[number]


@st.composite
def hand_machines(
    draw: st.DrawFn, moves: Sequence[Move], kinds: Sequence[TaskKind], n_stacks: int = 1, depth: int = 1
) -> HandMachine:
    """Return a random machine whose stacks make only ``moves``; those with several stacks or deep windows are small."""
    small = n_stacks * depth > 1
    letters = draw(st.sampled_from((("a", "b"),) if small else (("a", "b"), ("a", "b", "c"))))
    n_states, n_cells = draw(st.integers(1, 2 if small else 3)), draw(st.integers(1, 2 if small else 3))
    kind = draw(st.sampled_from(kinds))
    rng = draw(st.randoms(use_true_random=False))
    density = rng.choice((0.7, 1.0))
    outputs = 2 ** len(letters) if kind == "next set" else len(letters)
    rules = {}
    for state, letter in product(range(n_states), range(len(letters))):
        for windows in product(_windows(n_cells, depth), repeat=n_stacks):
            first = state == 0 and all(window[0] == NO_CELL for window in windows)
            if first or rng.random() < density:
                made = tuple((rng.choice(list(moves)), rng.randrange(n_cells)) for _ in windows)
                least = 1 if kind == "next set" else 0  # the empty set ends every word
                rules[state, letter, windows] = Rule(rng.randrange(n_states), made, rng.randrange(least, outputs))
    accepting = frozenset(state for state in range(n_states) if rng.random() < 0.5)
    return HandMachine(n_states, letters, n_cells, n_stacks, depth, kind, rules, accepting)


class _TableNet(StackModel[S]):
    """The controller that all stacks share: a table in place of weights, and one more hidden unit that rejects."""

    def __init__(self, machine: HandMachine, cell_size: int = 1, empty_value: float = 0.0) -> None:
        super().__init__()
        self.machine, self.cell_size, self.empty_value = machine, cell_size, empty_value
        self.alphabet, self.task_kind = machine.letters, machine.kind
        self.n_stacks, self.depth = machine.n_stacks, machine.depth
        numbers = torch.arange(1, machine.n_cells + 1, dtype=torch.float64)
        cells = torch.stack([numbers / 4 * (-1) ** i + i for i in range(cell_size)], -1)
        self.values = torch.cat([cells, torch.full((1, cell_size), empty_value, dtype=torch.float64)])  # NO_CELL last
        shape = (machine.n_states, len(machine.letters), *[machine.n_cells + 1] * (machine.n_stacks * machine.depth))
        self.targets = torch.full(shape, machine.n_states)
        self.outputs = torch.zeros(shape, dtype=torch.int64)
        self.moves = torch.zeros(*shape, machine.n_stacks, dtype=torch.int64)
        self.laid = torch.zeros(*shape, machine.n_stacks, dtype=torch.int64)
        for (state, letter, windows), rule in machine.rules.items():
            place = (state, letter, *(cell for window in windows for cell in window))
            self.targets[place], self.outputs[place] = rule.target, rule.output
            self.moves[place] = torch.tensor([MOVES.index(move) for move, _ in rule.moves])
            self.laid[place] = torch.tensor([cell for _, cell in rule.moves])

    def config(self) -> dict[str, Any]:
        return {}

    def initial_hidden(self, batch: int) -> Tensor:
        return torch.eye(self.machine.n_states + 1, dtype=torch.float64)[:1].repeat(batch, 1)

    def actions(self, moves: Tensor) -> Tensor:
        """Return the actions for moves (B, n_stacks), by their numbers in `MOVES`."""
        raise NotImplementedError

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        machine = self.machine
        seen = reading.reshape(len(reading), machine.n_stacks * machine.depth, self.cell_size)
        cells = torch.cdist(seen, self.values.expand(len(seen), -1, -1)).argmin(-1)
        state = hidden.argmax(-1)
        place = (state.clamp(max=machine.n_states - 1), symbols, *cells.unbind(-1))
        target = torch.where(state == machine.n_states, state, self.targets[place])
        after = torch.nn.functional.one_hot(target, machine.n_states + 1).double()
        output = self.outputs[place]
        if self.task_kind == "next set":
            said = (output.unsqueeze(-1) >> torch.arange(len(self.alphabet)) & 1).double()
        else:
            said = torch.nn.functional.one_hot(output, len(self.alphabet)).double()
        return ControllerOutput(after, self.actions(self.moves[place]), self.values[self.laid[place]], said)

    def rejects(self, hidden: Tensor, stack: S) -> Tensor:
        return hidden[:, -1] > 0.5

    def decide(self, state: NetworkState[S]) -> Tensor:
        accepting = torch.tensor([number in self.machine.accepting for number in range(self.machine.n_states + 1)])
        return accepting[state.hidden.argmax(-1)]


class SuperpositionNet(_TableNet[SuperpositionStack]):
    """A machine that pushes, pops and, where ``no_op``, does nothing, on superposition stacks."""

    name: ClassVar[str] = "hand-built superposition"
    action_kind = "softmax"

    def __init__(self, machine: HandMachine, no_op: bool, cell_size: int = 1, empty_value: float = 0.0) -> None:
        super().__init__(machine, cell_size, empty_value)
        self.operations = ("push", "pop", "none") if no_op else ("push", "pop")

    def initial_state(self, batch: int) -> NetworkState[SuperpositionStack]:
        stack = SuperpositionStack.empty(
            (batch,), self.n_stacks, self.cell_size, self.values, empty_value=self.empty_value, depth=self.depth
        )
        return NetworkState(self.initial_hidden(batch), stack, torch.zeros(batch, dtype=torch.bool))

    def actions(self, moves: Tensor) -> Tensor:
        places = torch.tensor([self.operations.index(m) if m in self.operations else 0 for m in MOVES])
        wanted = torch.nn.functional.one_hot(places[moves], len(self.operations)).double()
        return torch.softmax(LARGE * wanted, -1)

    def stack_of(self, cells: Tensor) -> SuperpositionStack:
        return SuperpositionStack.from_cells(cells, empty_value=self.empty_value, depth=self.depth)


class StrengthNet(_TableNet[StrengthStack]):
    """A machine with all four moves on a strength stack, which reads 0 where it is empty."""

    name: ClassVar[str] = "hand-built strengths"
    action_kind = "strengths"

    def initial_state(self, batch: int) -> NetworkState[StrengthStack]:
        stack = StrengthStack.empty((batch,), self.cell_size, self.values)
        return NetworkState(self.initial_hidden(batch), stack, torch.zeros(batch, dtype=torch.bool))

    def actions(self, moves: Tensor) -> Tensor:
        both = torch.stack([moves % 2, moves // 2], -1).double()  # the moves' numbers are 1 for pop and 2 for push
        return torch.sigmoid(LARGE * (2 * both - 1))

    def stack_of(self, cells: Tensor) -> StrengthStack:
        return StrengthStack.of_cells(cells)


MOVES: tuple[Move, ...] = ("none", "pop", "push", "replace")


def _windows(n_cells: int, depth: int) -> Iterator[Window]:
    """Yield all windows, the empty one first: cells lie on cells or on the bottom."""
    for height in range(depth + 1):
        for cells in product(range(n_cells), repeat=height):
            yield (*cells, *(NO_CELL,) * (depth - height))


def _name(window: Window) -> str:
    return "⊥" if window[0] == NO_CELL else "/".join("_" if cell == NO_CELL else "ABC"[cell] for cell in window)


def _operation(move: tuple[Move, int], window: Window) -> StackOp:
    """Return what a move does to a stack that shows ``window``; a pop of nothing does nothing."""
    kind, cell = move
    pops = kind in ("pop", "replace") and window[0] != NO_CELL
    if kind in ("none", "pop"):
        return POP if pops else NONE
    name = _name((cell, *(window[1:] if pops else window[:-1])))
    return replace(name) if pops else push(name)
