"""The memory-augmented recurrent networks of Suzgun, Gehrmann, Belinkov & Shieber 2019 (section 3).

Stack-RNN and Stack-LSTM with softmax actions, the Baby-NTM, whose controller writes to a ring, and Joulin & Mikolov's
Stack RNN as they compare with it (section 3.1 and appendix A).
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from ...core.errors import StacklensError
from ..base import ActionKind, ControllerOutput, NetworkState, Run, S
from ..stacks import RING_OPERATIONS, RingMemory, SuperpositionStack
from .layers import (
    LARGEST_SIZE,
    PaperNetwork,
    add_parameters,
    affine,
    check_fields,
    check_predictor,
    check_shape,
    lstm_cell,
    uniform,
)
from .scan import Activation, ScanShape, driven, scan

Gating = Literal["softmax", "softmax with temperature", "gumbel-softmax"]


@dataclass(frozen=True)
class MarnnConfig:
    """The shape of a memory-augmented recurrent network."""

    alphabet: tuple[str, ...]
    hidden: int = 8  # number of hidden units H, at least 1
    cell_size: int = 1  # how many numbers a cell holds, M in the paper, at least 1
    gating: Gating = "softmax"  # how the shares of the operations are made
    temperature: float = 1.0  # the temperature of the last two gatings, above 0
    stack_limit: int | None = 104  # how many cells the memory has; None for no limit, which a ring cannot have
    first: tuple[str, ...] | None = None  # which symbols may begin a word; None for all
    output_alphabet: tuple[str, ...] = ()  # the alphabet (default), then what is never read, as an end mark (section 5)
    task_kind: Literal["next set", "transduction"] = "next set"  # one symbol in string reversal (section 7)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.task_kind == "next set":
            check_predictor(self.alphabet, self.output_alphabet)
        check_shape(self.alphabet, self.stack_limit, hidden=self.hidden, cell_size=self.cell_size)
        if not 0 < self.temperature < math.inf:
            raise StacklensError(f"temperature is {self.temperature}; expected a number above 0")


class Marnn(PaperNetwork[S]):
    """What the three networks share; subclasses choose the memory, and whether the controller is an LSTM.
    ``temperature``: that of the gate; training may lower it, and `config` keeps it.
    """

    shape: MarnnConfig
    action_kind: ActionKind = "softmax"
    squared_error = True
    lstm: ClassVar[bool] = False
    ring: ClassVar[bool] = False
    CELLS: ClassVar[str] = "stored"  # the part of the memory that holds its cells
    WITHOUT: ClassVar[tuple[str, ...]] = ()  # parameters that are drawn and not used
    activation: ClassVar[Activation] = "tanh"
    input_weights: nn.Parameter  # W_ih, (..., H or 4H, symbols); an LSTM's gates are input, forget, cell, output
    input_bias: nn.Parameter
    hidden_weights: nn.Parameter  # W_hh, (..., H or 4H, H)
    hidden_bias: nn.Parameter
    output_weights: nn.Parameter  # W_y, (..., symbols, H)
    output_bias: nn.Parameter
    pushed_weights: nn.Parameter  # W_n, (..., D, H)
    pushed_bias: nn.Parameter
    action_weights: nn.Parameter  # W_a, (..., operations, H)
    action_bias: nn.Parameter
    memory_weights: nn.Parameter  # W_sh or W_m, (..., H, D)
    memory_bias: nn.Parameter

    def __init__(self, shape: MarnnConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__(shape, nets)
        self.temperature, self.n_hidden = shape.temperature, shape.hidden * (2 if self.lstm else 1)
        add_parameters(self, self._draw, seed, nets)
        self._noise = [torch.Generator().manual_seed(seed + net) for net in range(nets or 1)]

    @property
    def n_units(self) -> int:
        return self.shape.hidden

    def config(self) -> dict[str, Any]:
        return {**asdict(self.shape), "temperature": self.temperature}

    def forget_gates(self) -> tuple[Tensor, Tensor] | None:
        if not self.lstm:
            return None
        rows = slice(self.shape.hidden, 2 * self.shape.hidden)
        weights = torch.cat([self.hidden_weights, self.input_weights], -1)
        return weights[..., rows, :], (self.input_bias + self.hidden_bias)[..., rows]

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return h' (and c'), the shares of the operations, the new element, and which symbols may come next."""
        before, cell = hidden[..., : self.shape.hidden], hidden[..., self.shape.hidden :]
        before = before + affine(reading[..., 0, :], self.memory_weights, self.memory_bias)  # h~, (..., B, H)
        drive = self.input_weights.mT[..., symbols, :] + self.input_bias.unsqueeze(-2)
        drive = drive + affine(before, self.hidden_weights, self.hidden_bias)
        after, cell = lstm_cell(drive, cell) if self.lstm else (torch.tanh(drive), cell)
        return self._said(after, torch.cat([after, cell], -1) if self.lstm else after)

    def run(self, symbols: Tensor, state: NetworkState[S], noise: Tensor | None = None) -> Run:
        """Return the steps on ``symbols`` (T, B), by hand-made gradients where these are wanted (see `StackModel.run`).
        Gumbel noise is drawn for all steps at once, so it is other noise than that of steps one by one.
        """
        if not torch.is_grad_enabled():
            return super().run(symbols, state, noise)
        warmth = 1.0 if self.shape.gating == "softmax" else self.temperature
        rows, recurrent = self._recurrence()
        heads = torch.cat([self.action_weights / warmth, self.pushed_weights], -2)
        bias = torch.cat([self.action_bias / warmth, self.pushed_bias], -1)
        drive = driven(rows, symbols, recurrent, noise)  # (T, ..., B, H or 4H)
        gumbel = None
        if self._noisy:  # for all steps at once, (T, ..., B, operations)
            like = drive.new_empty(*self.leading, drive.shape[0], drive.shape[-2], len(self.operations))
            gumbel = self._gumbel(like).movedim(-3, 0) / warmth
        cells = getattr(state.stack, self.CELLS)  # (..., B, 1, C, D)
        shape = ScanShape(self.activation, len(self.operations), 1, 0.0, self.stack_limit, self.ring)
        made = scan(drive, (recurrent, heads, bias), state.hidden, cells, shape, gumbel)
        output = torch.sigmoid(affine(made.hidden, self.output_weights, self.output_bias))
        memory = replace(state.stack, **{self.CELLS: made.cells})  # type: ignore[type-var]  # a dataclass
        after = NetworkState(made.state, memory, state.rejected, output[-1])
        return Run(output, made.shares, after, made.hidden)

    def _recurrence(self) -> tuple[Tensor, Tensor]:
        """Return what a symbol adds to the sums of the hidden units, (..., symbols, H or 4H), and R of the scan."""
        constant = affine(self.memory_bias.unsqueeze(-2), self.hidden_weights, self.hidden_bias + self.input_bias)
        recurrent = torch.cat([self.hidden_weights, self.hidden_weights @ self.memory_weights], -1)
        return self.input_weights.mT + constant, recurrent

    def _said(self, after: Tensor, hidden: Tensor) -> ControllerOutput:
        """Return what a controller answers with the hidden vector h' ``after``, which ``hidden`` begins with."""
        logits = affine(after, self.action_weights, self.action_bias)
        if self._noisy:  # noise is drawn in training mode only (section 3.4)
            logits = torch.log_softmax(logits, -1) + self._gumbel(logits)
        if self.shape.gating != "softmax":
            logits = logits / self.temperature
        actions = torch.softmax(logits, -1).unsqueeze(-2)
        pushed = torch.sigmoid(affine(after, self.pushed_weights, self.pushed_bias)).unsqueeze(-2)
        output = torch.sigmoid(affine(after, self.output_weights, self.output_bias))
        return ControllerOutput(hidden, actions, pushed, output)

    @property
    def _noisy(self) -> bool:
        return self.training and self.shape.gating == "gumbel-softmax"

    def _gumbel(self, like: Tensor) -> Tensor:
        shape = like.shape[len(self.leading) :]
        draws = [torch.empty(shape, dtype=like.dtype).exponential_(generator=one) for one in self._noise]
        return -torch.stack(draws).reshape(like.shape).log().to(like.device)  # -log Exp(1) is Gumbel(0, 1)

    def _draw(self, generator: torch.Generator) -> dict[str, Tensor]:
        """Return PyTorch's default weights: uniform up to 1 / sqrt(H) in a cell, 1 / sqrt(inputs) in a linear layer."""
        draws: dict[str, Tensor] = {}
        for name, size in _all_shapes(type(self), self.shape).items():
            inputs = self.cell_size if name.startswith("memory") else self.shape.hidden  # these decide the bound
            draws[name] = uniform(size, 1 / math.sqrt(inputs), generator)
        return {name: draw for name, draw in draws.items() if name not in self.WITHOUT}

    @classmethod
    def parameter_shapes(cls, shape: MarnnConfig) -> dict[str, tuple[int, ...]]:
        return {name: size for name, size in _all_shapes(cls, shape).items() if name not in cls.WITHOUT}


def _all_shapes(kind: type[Marnn[Any]], shape: MarnnConfig) -> dict[str, tuple[int, ...]]:
    size, cell = shape.hidden, shape.cell_size
    rows = 4 * size if kind.lstm else size
    layers = {
        "input": (rows, len(shape.alphabet)),
        "hidden": (rows, size),
        "output": (len(shape.output_alphabet), size),
        "pushed": (cell, size),
        "action": (len(kind.operations), size),
        "memory": (size, cell),
    }
    shapes: dict[str, tuple[int, ...]] = {}
    for name, matrix in layers.items():
        shapes |= {f"{name}_weights": matrix, f"{name}_bias": matrix[:1]}
    return shapes


class MarnnStackRNN(Marnn[SuperpositionStack]):
    """A Stack-RNN (section 3.1), or ``nets`` of them on a leading axis, net n with the weights of ``seed + n``.

    >>> net = MarnnStackRNN(MarnnConfig(("(", ")"), first=("(",)), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> step.hidden.shape, step.actions.shape, step.pushed.shape, step.output.shape
    (torch.Size([1, 8]), torch.Size([1, 1, 2]), torch.Size([1, 1, 1]), torch.Size([1, 2]))
    """

    name: ClassVar[str] = "marnn-stack-rnn"
    operations = ("push", "pop")

    def stack_of(self, cells: Tensor) -> SuperpositionStack:
        return SuperpositionStack.from_cells(cells, limit=self.stack_limit)


class MarnnStackLSTM(MarnnStackRNN):
    """A Stack-LSTM (section 3.2), or ``nets`` of them; hidden vectors are h and c side by side, (..., B, 2H).

    >>> MarnnStackLSTM(MarnnConfig(("(", ")")), seed=1).initial_state(3).hidden.shape
    torch.Size([3, 16])
    """

    name: ClassVar[str] = "marnn-stack-lstm"
    lstm: ClassVar[bool] = True
    activation: ClassVar[Activation] = "lstm"


class MarnnJoulin(MarnnStackRNN):
    """A Stack-RNN with the controller of Joulin & Mikolov, or ``nets`` of them, net n with the weights of ``seed + n``.

    >>> net = MarnnJoulin(MarnnConfig(("(", ")")), seed=1)
    >>> net.step(torch.tensor([0]), net.initial_state(1)).hidden.min().item() > 0
    True
    """

    name: ClassVar[str] = "marnn-joulin"
    activation: ClassVar[Activation] = "sigmoid"
    unit_range = (0.0, 1.0)
    WITHOUT: ClassVar[tuple[str, ...]] = ("input_bias", "hidden_bias", "memory_bias")

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        drive = self.input_weights.mT[..., symbols, :] + hidden @ self.hidden_weights.mT
        after = torch.sigmoid(drive + reading[..., 0, :] @ self.memory_weights.mT)
        return self._said(after, after)

    def _recurrence(self) -> tuple[Tensor, Tensor]:
        return self.input_weights.mT, torch.cat([self.hidden_weights, self.memory_weights], -1)


class BabyNTM(Marnn[RingMemory]):
    """A Baby-NTM (section 3.3), or ``nets`` of them: the Stack-RNN's controller on a ring of ``stack_limit`` cells.

    >>> net = BabyNTM(MarnnConfig(("(", ")")), seed=1)
    >>> net.step(torch.tensor([0]), net.initial_state(1)).actions.shape, net.operations[0]
    (torch.Size([1, 1, 5]), 'rotate right')
    """

    name: ClassVar[str] = "baby-ntm"
    operations = RING_OPERATIONS
    ring: ClassVar[bool] = True
    CELLS: ClassVar[str] = "cells"
    no_automaton = "baby-ntm works on a ring, which is no stack: it has no pushdown automaton"

    def __init__(self, shape: MarnnConfig, *, seed: int = 0, nets: int | None = None) -> None:
        if shape.stack_limit is None:
            raise StacklensError("the ring of a Baby-NTM has a size: expected a stack_limit, such as 104")
        if shape.stack_limit > LARGEST_SIZE:  # a ring is there whole from the first step on
            raise StacklensError(f"stack_limit is {shape.stack_limit}; expected a ring of 1 to {LARGEST_SIZE} cells")
        super().__init__(shape, seed=seed, nets=nets)

    def initial_memory(self, leading: tuple[int, ...]) -> RingMemory:
        return RingMemory.empty(leading, self.stack_limit or 0, self.cell_size, self.output_bias)
