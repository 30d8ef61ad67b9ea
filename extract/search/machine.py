"""The discrete machine that a rounded network becomes once stack values are symbols and hidden vectors are states.

A head is a state and, for every stack, the window of cells that the controller sees, top first. With a window deeper
than one cell a stack symbol stands for the whole window that its cell tops, so the automaton's own top is all that the
network sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from ...automata.pda import Output, StackOp, Symbol, Tops
from ...core.errors import StacklensError
from ...core.progress import check_time
from ...models.base import NetworkState, Step, members_of
from ...models.rounding import Operation, Rounded, RoundedSteps
from .clustering import Quantiser

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
        return np.asarray(distances.argmin(-1))

    def window_name(self, window: Window) -> Symbol:
        """Return the automaton's stack symbol for a window; the bottom for an empty one. No two have the same."""
        if window[0] == EMPTY_CELL:
            return BOTTOM
        apart = "/" if len(window) > 1 else ""
        return "/".join(BOTTOM if cell == EMPTY_CELL else _escaped(self.names[cell], apart) for cell in window)


def joined_name(symbols: Sequence[Symbol], alphabet: Sequence[Symbol]) -> str:
    """Return ``symbols`` in one name, apart where ``alphabet`` has longer ones: no other symbols have the same name.

    >>> joined_name("ab", "ab"), joined_name(["a", "b"], ["a", "b", "ab"]), joined_name(["ab"], ["a", "b", "ab"])
    ('ab', 'a b', 'ab')
    """
    if all(len(symbol) == 1 for symbol in alphabet):
        return "".join(symbols)
    return " ".join(_escaped(symbol, " ") for symbol in symbols)


def _escaped(name: str, separator: str) -> str:
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


class RoundedStep(NamedTuple):
    """What a rounded network does at a head on a letter, or its verdict on the word that ends there."""

    rejected: bool = False  # whether it rejects; nothing else is known then
    # what it does to each stack, pops of nothing left out, and the number of the symbol that it pushes, None where it
    # pushes none
    operations: tuple[tuple[Operation, int | None], ...] = ()
    target: MachineState | None = None  # the next state
    output: int | None = None  # the number of the output, None for recognisers
    accepted: bool | None = None  # at the end of a word, whether it is accepted


class Answer(NamedTuple):
    """What the machine does at a head on a letter: the next state, one operation a stack, and the output."""

    target: MachineState
    operations: tuple[StackOp, ...]
    pushed: tuple[Window | None, ...]  # the window that each push makes
    output: Output


class Machine:
    """A rounded ``network`` with stack ``symbols`` and states, asked head by head."""

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
        return f"{label}:{joined_name(self.network.output_name(state.predicted), self.network.output_alphabet)}"

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
        output = None  # at the start, and where nothing is predicted; else sets as 0 and 1, (M, O)
        if states[0].number is not None and states[0].predicted is not None:
            sets = [state.predicted for state in states if state.predicted is not None]
            members = members_of(sets, len(self.network.output_alphabet))
            output = torch.from_numpy(members).to(self._initial.dtype)
        return NetworkState(self.vectors(states), stack, never, output)

    @torch.no_grad()
    def ask(self, heads: list[MachineHead]) -> dict[tuple[MachineHead, Symbol], Answer]:
        """Return what the machine does at each of ``heads`` on each letter; a rejection is missing."""
        answers: dict[tuple[MachineHead, Symbol], Answer] = {}
        letters = self.network.letters
        for group in ([h for h in heads if h.state.number is None], [h for h in heads if h.state.number is not None]):
            if not group:
                continue
            index = torch.arange(len(group)).repeat_interleave(len(letters))
            symbols = torch.arange(len(letters)).repeat(len(group))
            check_time()
            step = self.network.step(symbols, self.state_of(group).select(index))
            asked = [(head, letter) for head in group for letter in letters]
            found = self.steps_at([head.windows for head, _ in asked], self.steps(step))
            for (head, letter), one in zip(asked, found, strict=True):
                if not one.rejected:
                    answers[head, letter] = self.answer(head.windows, one)
        return answers

    def steps(self, step: Step[Any]) -> RoundedSteps:
        """Return what the network does in a ``step`` of its own, with pushed values and hidden vectors clustered."""
        return self.observed(step.hidden, step.actions, step.pushed, step.output, step.state.rejected)

    def observed(self, *what: torch.Tensor) -> RoundedSteps:
        """Return the same for what was traced (see `RoundedSteps.of`). Raises StacklensError: it is no stack."""
        found = RoundedSteps.of(
            self.network, *what, hidden_clusters=self.quantiser.assign, pushed_clusters=self.symbols.assign
        )
        if (found.operations < 0).any():
            names = self.network.operations
            raise StacklensError(f"{names} are not operations of a stack, so there is no pushdown automaton")
        return found

    def steps_at(self, windows: Sequence[tuple[Window, ...]], steps: RoundedSteps) -> list[RoundedStep]:
        """Return what is done in each of M ``steps`` where the stacks show ``windows``."""
        sets = self.network.task_kind == "next set"
        numbers = [None] * len(windows) if self.network.task_kind == "recognition" else steps.outputs.tolist()
        taken, laid, targets = steps.operations.tolist(), steps.pushed.tolist(), steps.targets.tolist()
        found = []
        for row, rejected in enumerate(steps.rejected.tolist()):
            if rejected:
                found.append(RoundedStep(True))
                continue
            done = []
            for window, number, pushed in zip(windows[row], taken[row], laid[row], strict=False):
                operation = Operation(number).on_empty if window[0] == EMPTY_CELL else Operation(number)
                done.append((operation, pushed if operation.pushes else None))
            target = MachineState(targets[row], numbers[row] if sets else None)
            found.append(RoundedStep(False, tuple(done), target, numbers[row]))
        return found

    def answer(self, windows: tuple[Window, ...], done: RoundedStep) -> Answer:
        """Return as an answer of the machine what is ``done`` where the stacks show ``windows``, and not rejected."""
        assert done.target is not None
        made = [
            None if number is None else (number, *(window[1:] if operation.pops else window[:-1]))
            for window, (operation, number) in zip(windows, done.operations, strict=True)
        ]
        taken = [
            operation.stack_op("" if new is None else self.symbols.window_name(new))
            for (operation, _), new in zip(done.operations, made, strict=True)
        ]
        output = None if done.output is None else self.network.output_name(done.output)
        return Answer(done.target, tuple(taken), tuple(made), output)

    def cells(self, windows: list[tuple[Window, ...]]) -> torch.Tensor:
        """Return the cells' values, (M, n_stacks, depth, D), NaN where there is none."""
        places = np.array(windows, dtype=np.int64)[:, : self.network.n_stacks]
        values = np.concatenate([self.symbols.values, np.full((1, self.symbols.values.shape[1]), np.nan)])
        return torch.from_numpy(values[places]).to(self._initial.dtype)
