"""The discrete machine that a rounded network becomes once stack values are symbols and hidden vectors are states.

A head is a state and, for every stack, the window of cells that the controller sees, top first. With a window deeper
than one cell a stack symbol stands for the whole window that its cell tops, so the automaton's own top says all that
the network sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from stacklens.automata.pda import NONE, POP, Output, StackOp, Symbol, Tops, push, replace
from stacklens.errors import StacklensError
from stacklens.extract.search.quantisers import Quantiser
from stacklens.models.base import NetworkState
from stacklens.models.rounding import Rounded, operation_numbers
from stacklens.models.set_numbers import members_of

__all__ = [
    "BOTTOM",
    "EMPTY_CELL",
    "START",
    "Answer",
    "Machine",
    "MachineHead",
    "MachineState",
    "StackSymbols",
    "Window",
    "joined",
]

START = "start"
BOTTOM = "⊥"
EMPTY_CELL = -1  # the place of a cell that is not there
Window = tuple[int, ...]  # numbers of stack symbols, top first, EMPTY below the bottom


@dataclass(frozen=True)
class StackSymbols:
    """The stack symbols: names, and the value that stands for each, (K, D)."""

    names: tuple[Symbol, ...]
    values: np.ndarray

    def assign(self, pushed: np.ndarray) -> np.ndarray:
        """Return the number of the nearest value to each of ``pushed`` (..., D), (...) int64."""
        distances = (self.values**2).sum(1) - 2 * pushed @ self.values.T  # |x|^2 is the same for all
        numbers: np.ndarray = distances.argmin(-1)
        return numbers

    def window_name(self, window: Window) -> Symbol:
        """Return the automaton's stack symbol for a window; the bottom for an empty one. No two have the same."""
        if window[0] == EMPTY_CELL:
            return BOTTOM
        apart = "/" if len(window) > 1 else ""
        return "/".join(BOTTOM if cell == EMPTY_CELL else _apart(self.names[cell], apart) for cell in window)


def joined(symbols: Sequence[Symbol], alphabet: Sequence[Symbol]) -> str:
    """Return ``symbols`` in one name, apart where ``alphabet`` has longer ones: no other symbols have the same name.

    >>> joined("ab", "ab"), joined(["a", "b"], ["a", "b", "ab"]), joined(["ab"], ["a", "b", "ab"])
    ('ab', 'a b', 'ab')
    """
    if all(len(symbol) == 1 for symbol in alphabet):
        return "".join(symbols)
    return " ".join(_apart(symbol, " ") for symbol in symbols)


def _apart(name: str, separator: str) -> str:
    """Return ``name`` so that it is neither the bottom nor has a ``separator`` in it, if there is one."""
    if separator:
        name = name.replace("\\", "\\\\").replace(separator, f"\\{separator}")
    return f"\\{name}" if name.lstrip("\\") == BOTTOM else name


class MachineState(NamedTuple):
    """A state: the quantiser's number (None for the initial vector), and the set predicted last, where one matters."""

    number: int | None
    predicted: int | None = None


class MachineHead(NamedTuple):
    """A state and the window of every stack."""

    state: MachineState
    windows: tuple[Window, ...]


class Answer(NamedTuple):
    """What the machine does at a head on a letter: the next state, one operation a stack, and the output."""

    target: MachineState
    operations: tuple[StackOp, ...]
    pushed: tuple[Window | None, ...]  # the window that each push makes
    output: Output


class Machine:
    """A rounded network with stack symbols and states, asked head by head.

    Args:
        network: the rounded network.
        symbols: its stack symbols.
        quantiser: its states.
    """

    def __init__(self, network: Rounded[Any], symbols: StackSymbols, quantiser: Quantiser) -> None:
        self.network, self.symbols, self.quantiser = network, symbols, quantiser
        self.n_stacks = max(1, network.n_stacks)  # an automaton has a stack, used or not
        self.empty: tuple[Window, ...] = ((EMPTY_CELL,) * network.depth,) * self.n_stacks
        self.start = MachineHead(MachineState(None), self.empty)
        self._initial = network.initial_state(1).hidden

    def name(self, state: MachineState) -> str:
        """Return the automaton's name for a state."""
        if state.number is None:
            return START
        label = self.quantiser.label(state.number)
        if state.predicted is None:
            return label
        return f"{label}:{joined(self.network.output_name(state.predicted), self.network.output_alphabet)}"

    def tops(self, windows: tuple[Window, ...]) -> Tops:
        """Return the automaton's tops for windows."""
        return tuple(map(self.symbols.window_name, windows))

    def vectors(self, states: list[MachineState]) -> torch.Tensor:
        """Return the hidden vectors that stand for states, (M, H)."""
        numbers = np.array([0 if state.number is None else state.number for state in states], dtype=np.int64)
        vectors = torch.from_numpy(self.quantiser.represent(numbers)).to(self._initial.dtype)
        initial = torch.tensor([state.number is None for state in states])
        return torch.where(initial.unsqueeze(1), self._initial, vectors)

    def state_of(self, heads: list[MachineHead]) -> NetworkState[Any]:
        """Return the network's state at ``heads``, nothing rejected."""
        states = [head.state for head in heads]
        never = torch.zeros(len(heads), dtype=torch.bool)
        stack = self.network.stack_of(self.cells([head.windows for head in heads]))
        return NetworkState(self.vectors(states), stack, never, self._outputs(states))

    @torch.no_grad()
    def ask(self, heads: list[MachineHead]) -> dict[tuple[MachineHead, Symbol], Answer]:
        """Return what the machine does at each of ``heads`` on each letter; a rejection is missing.

        Heads at the start are asked apart from others, since no set was predicted there.

        Raises:
            StacklensError: an action is no stack operation.
        """
        answers: dict[tuple[MachineHead, Symbol], Answer] = {}
        for group in ([h for h in heads if h.state.number is None], [h for h in heads if h.state.number is not None]):
            if group:
                answers |= self._ask(group)
        return answers

    def _ask(self, heads: list[MachineHead]) -> dict[tuple[MachineHead, Symbol], Answer]:
        letters = self.network.letters
        index = torch.arange(len(heads)).repeat_interleave(len(letters))
        symbols = torch.arange(len(letters)).repeat(len(heads))
        step = self.network.step(symbols, self.state_of(heads).select(index))
        kind, operations = self.network.action_kind, self.network.operations
        if kind == "none":
            taken = torch.zeros(len(symbols), 1, dtype=torch.int64)
        else:
            taken = operation_numbers(kind, operations, step.actions).expand(len(symbols), -1)
        if (taken < 0).any():
            raise StacklensError(f"{operations} are not operations of a stack, so there is no pushdown automaton")
        numbers = self.quantiser.assign(step.hidden.numpy()).tolist()
        outputs = self._numbered(step.output)
        pushed = self.symbols.assign(step.pushed.expand(len(symbols), *step.pushed.shape[-2:]).numpy()).tolist()
        answers = {}
        for row, dead in enumerate(step.state.rejected.tolist()):
            if not dead:
                head = heads[row // len(letters)]
                made = zip(head.windows, taken[row].tolist(), pushed[row] or [0], strict=True)
                moves = [self.operate(*move) for move in made]
                target = MachineState(numbers[row], outputs[row] if self.network.task_kind == "next set" else None)
                output = None if outputs[row] is None else self.network.output_name(outputs[row])
                answers[head, letters[row % len(letters)]] = Answer(
                    target, tuple(op for op, _ in moves), tuple(window for _, window in moves), output
                )
        return answers

    def _numbered(self, output: torch.Tensor) -> list[Any]:
        if self.network.task_kind == "recognition":
            return [None] * len(output)
        numbers: list[Any] = self.network.output_numbers(output).tolist()
        return numbers

    def operate(self, window: Window, operation: int, pushed: int) -> tuple[StackOp, Window | None]:
        """Return the operation for a window, and the window that a push makes; a pop of nothing does nothing."""
        pops, pushes = operation in (1, 3) and window[0] != EMPTY_CELL, operation in (2, 3)
        if not pushes:
            return (POP if pops else NONE), None
        below = window[1:] if pops else window[:-1]
        new = (pushed, *below)
        name = self.symbols.window_name(new)
        return (replace(name) if pops else push(name)), new

    def cells(self, windows: list[tuple[Window, ...]]) -> torch.Tensor:
        """Return the cells' values, (M, n_stacks, depth, D), NaN where there is none."""
        places = np.array(windows, dtype=np.int64)[:, : self.network.n_stacks]
        values = np.concatenate([self.symbols.values, np.full((1, self.symbols.values.shape[1]), np.nan)])
        return torch.from_numpy(values[places]).to(self._initial.dtype)

    def _outputs(self, states: list[MachineState]) -> torch.Tensor | None:
        """Return predicted sets as outputs of 0 and 1, (M, O); None at the start and where nothing is predicted."""
        if states[0].number is None or states[0].predicted is None:
            return None
        sets = [state.predicted for state in states if state.predicted is not None]
        return torch.from_numpy(members_of(sets, len(self.network.output_alphabet))).to(self._initial.dtype)
