"""The controllers without a stack that all four papers compare with: a tanh RNN, an LSTM, and a linear layer.

    rnn      h' = tanh(W_ih x + b_ih + W_hh h + b_hh)
    lstm     h', c' = LSTM(x, (h, c))
    linear   no hidden vector: the output sees the symbol only

Further layers read the hidden vector of the one below. Outputs are W_y h' + b_y, or W_y x + b_y, through a sigmoid for
sets of next symbols and a softmax otherwise. PyTorch's default initial weights, float64.

Joulin & Mikolov 2015, section 5: RNNs with 40 to 500 units, LSTMs of 1 or 2 layers; Suzgun et al. 2019, section 4: one
layer of 8 units; Hao et al. 2018, section 4: an LSTM of 10.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from ...core.errors import StacklensError
from ...languages.language import TaskKind
from ..base import ActionKind, ControllerOutput, NetworkState, Run
from ..stacks import NoStack
from .layers import PaperNetwork, affine, check_fields, check_predictor, check_shape, lstm_cell
from .scan import Activation, Scan, ScanShape, looked_up, scan

BaselineKind = Literal["rnn", "lstm", "linear"]
BaselineTask = Literal["next set", "next symbol", "transduction"]


@dataclass(frozen=True)
class BaselineConfig:
    """The shape of a controller without a stack."""

    alphabet: tuple[str, ...]  # the symbols that are read
    controller: BaselineKind = "rnn"  # "rnn", "lstm" or "linear"
    task_kind: BaselineTask = "next set"  # what the output says
    hidden: int = 8  # number of hidden units of each layer, at least 1; "linear" has none
    layers: int = 1  # number of layers, 1 or 2; "linear" has one
    output_alphabet: tuple[str, ...] = ()  # the symbols that are written; the alphabet where it is left empty
    first: tuple[str, ...] | None = None  # for "next set", which symbols may begin a word; None for all

    def __post_init__(self) -> None:
        check_fields(self)
        if self.layers not in (1, 2):
            raise StacklensError(f"layers {self.layers!r} is not one of 1, 2")
        check_shape(self.alphabet, None, hidden=self.hidden)
        if self.task_kind != "transduction":
            check_predictor(self.alphabet, self.output_alphabet)


class StacklessNetwork(PaperNetwork[NoStack]):
    """A network with 0 stacks."""

    action_kind: ActionKind = "none"
    n_stacks = 0
    cell_size = 1

    def stack_of(self, cells: Tensor) -> NoStack:
        return NoStack(cells.sum(-2))

    def scanned(self, kind: Activation, drive: Tensor, recurrent: Tensor, hidden: Tensor) -> Scan:
        """Return the steps of units that ``drive`` (T, ..., B, rows) and they themselves drive, with no stack to read.
        ``recurrent``: their weights, (..., rows, H). ``hidden``: before the first step, (..., B, H, or 2 H of LSTMs).
        """
        nothing = recurrent.new_zeros(*self.leading, 0, self.shape.hidden)
        no_cells = hidden.new_zeros(*hidden.shape[:-1], 0, 0, 1)
        shape = ScanShape(kind, 2, 1, 0.0, 0)
        return scan(drive, (recurrent, nothing, nothing[..., 0]), hidden.contiguous(), no_cells, shape)


class Baseline(StacklessNetwork):
    """A controller without a stack, or ``nets`` of them on a leading axis, net n with the weights of ``seed + n``. Its
    name is its controller's. Hidden vectors are h of every layer, lowest first, then an LSTM's c; of size 0 for
    "linear".

    >>> net = Baseline(BaselineConfig(("(", ")"), "lstm", layers=2), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(3))
    >>> net.name, step.hidden.shape, step.reading.shape, step.output.shape
    ('lstm', torch.Size([3, 32]), torch.Size([3, 0, 1]), torch.Size([3, 2]))
    """

    shape: BaselineConfig
    name: ClassVar[str] = "baseline"

    def __init__(self, shape: BaselineConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__(shape, nets)
        self.recurrent = shape.controller != "linear"
        self.layers = shape.layers if self.recurrent else 0
        self.vectors = self.layers * (2 if shape.controller == "lstm" else 1)
        self.n_hidden = self.vectors * shape.hidden
        object.__setattr__(self, "name", shape.controller)  # what the command line calls it; else a class has one name
        self.draw_weights(1 / math.sqrt(shape.hidden if self.layers else self.n_symbols), seed, nets)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        seen = torch.nn.functional.one_hot(symbols, self.n_symbols).to(hidden.dtype)
        seen = seen.expand(*hidden.shape[:-1], self.n_symbols)
        before = hidden.reshape(*hidden.shape[:-1], self.vectors, self.shape.hidden)
        after, cells = [], []
        for layer in range(self.layers):
            drive = self._affine(seen, f"input_{layer}") + self._affine(before[..., layer, :], f"hidden_{layer}")
            if self.shape.controller == "lstm":
                seen, cell = lstm_cell(drive, before[..., self.layers + layer, :])
                cells.append(cell)
            else:
                seen = torch.tanh(drive)
            after.append(seen)
        output = self._written(self._affine(seen, "output"))
        hidden = torch.cat([*after, *cells], -1) if after else hidden
        return ControllerOutput(hidden, reading[..., :0], reading, output)

    def run(self, symbols: Tensor, state: NetworkState[NoStack], noise: Tensor | None = None) -> Run:
        """Return the steps on ``symbols`` (T, B), layer by layer by hand-made gradients where these are wanted. With
        ``symbols`` (T, ..., B) every network has words of its own.
        """
        if not self.layers or noise is not None or not torch.is_grad_enabled():
            return super().run(symbols, state, noise)
        vectors = state.hidden.reshape(*state.hidden.shape[:-1], self.vectors, self.shape.hidden)
        after, cells = [], []
        drive = looked_up(self.get_parameter("input_0_weights").mT, symbols.clamp(min=0))  # (T, ..., B, rows)
        for layer in range(self.layers):
            biases = self.get_parameter(f"input_{layer}_bias") + self.get_parameter(f"hidden_{layer}_bias")
            drive = drive + biases.unsqueeze(-2)
            lstm, hidden = self.shape.controller == "lstm", vectors[..., layer, :]
            if lstm:
                hidden = torch.cat([hidden, vectors[..., self.layers + layer, :]], -1)
            recurrent = self.get_parameter(f"hidden_{layer}_weights")
            made = self.scanned("lstm" if lstm else "tanh", drive, recurrent, hidden)
            after.append(made.state[..., : self.shape.hidden])
            cells.append(made.state[..., self.shape.hidden :])
            if layer + 1 < self.layers:
                drive = made.hidden @ self.get_parameter(f"input_{layer + 1}_weights").mT
        output = self._written(self._affine(made.hidden, "output"))
        state = NetworkState(torch.cat([*after, *cells], -1), state.stack, state.rejected, output[-1])
        return Run(output, output.new_zeros(*output.shape[:-1], 0, 0), state, made.hidden)

    def _written(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits) if self.task_kind == "next set" else torch.softmax(logits, -1)

    def _affine(self, values: Tensor, layer: str) -> Tensor:
        return affine(values, self.get_parameter(f"{layer}_weights"), self.get_parameter(f"{layer}_bias"))

    @classmethod
    def parameter_shapes(cls, shape: BaselineConfig) -> dict[str, tuple[int, ...]]:
        size, inputs = shape.hidden, len(shape.alphabet)
        rows = 4 * size if shape.controller == "lstm" else size
        shapes: dict[str, tuple[int, ...]] = {}
        for layer in range(shape.layers if shape.controller != "linear" else 0):
            for name, width in (("input", inputs), ("hidden", size)):
                shapes |= {f"{name}_{layer}_weights": (rows, width), f"{name}_{layer}_bias": (rows,)}
            inputs = size
        n_out = len(shape.output_alphabet)
        return {**shapes, "output_weights": (n_out, inputs), "output_bias": (n_out,)}


# ---- The structurally constrained network: Mikolov et al. 2014, "Learning longer memory in recurrent neural networks"
# A simple recurrent network beside units that change slowly, and keep what the last words were about:
#
#     s' = (1 - α) B x + α s                  context units, linear, each with a loop to itself alone; α is fixed
#     h' = logistic(P s' + A x + R h)         hidden units
#     y  = softmax(U h' + V s')
#
# Joulin & Mikolov 2015, table 4, call it SRCN. There are no biases; weights are drawn as those of the other networks
# without a stack, from U(-1/sqrt(hidden), 1/sqrt(hidden)), float64.


@dataclass(frozen=True)
class SCRNConfig:
    """The shape of a structurally constrained network."""

    alphabet: tuple[str, ...]  # the symbols of the stream
    hidden: int = 100  # number of hidden units, at least 1
    context: int = 40  # number of context units, at least 1
    decay: float = 0.95  # α, which share of itself a context unit keeps, from 0 to 1

    def __post_init__(self) -> None:
        check_fields(self)
        check_shape(self.alphabet, None, hidden=self.hidden, context=self.context)
        if not 0 <= self.decay <= 1:
            raise StacklensError(f"decay is {self.decay}; expected a number from 0 to 1")


class SCRN(StacklessNetwork):
    """A structurally constrained network, or ``nets`` of them on a leading axis; it predicts the next symbol. Hidden
    vectors are h and s side by side, (..., B, hidden + context).

    >>> net = SCRN(SCRNConfig(("a", "b"), hidden=3, context=2), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> step.hidden.shape, step.reading.shape, round(step.output.sum().item(), 6)
    (torch.Size([1, 5]), torch.Size([1, 0, 1]), 1.0)
    """

    shape: SCRNConfig
    name: ClassVar[str] = "scrn"
    task_kind: TaskKind = "next symbol"
    slow_weights: torch.nn.Parameter  # B, (..., symbols, context)
    input_weights: torch.nn.Parameter  # A, (..., symbols, hidden)
    context_weights: torch.nn.Parameter  # P, (..., hidden, context)
    recurrent_weights: torch.nn.Parameter  # R, (..., hidden, hidden)
    output_weights: torch.nn.Parameter  # U and V side by side, (..., symbols, hidden + context)

    def __init__(self, shape: SCRNConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__(shape, nets)
        self.n_hidden = shape.hidden + shape.context
        self.draw_weights(1 / math.sqrt(shape.hidden), seed, nets)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        before, slow = hidden[..., : self.shape.hidden], hidden[..., self.shape.hidden :]
        kept = self.shape.decay
        slow = (1 - kept) * self.slow_weights[..., symbols, :] + kept * slow
        drive = slow @ self.context_weights.mT + self.input_weights[..., symbols, :]
        after = torch.cat([torch.sigmoid(drive + before @ self.recurrent_weights.mT), slow], -1)
        return ControllerOutput(after, reading[..., :0], reading, self._written(after))

    def run(self, symbols: Tensor, state: NetworkState[NoStack], noise: Tensor | None = None) -> Run:
        """Return the steps on ``symbols`` (T, B): all context units at once, then the others, by hand-made gradients.
        Context units are sums of what came in, weighted by how long ago: a product with a triangle of powers of α.
        """
        if noise is not None or symbols.dim() != 2 or not torch.is_grad_enabled():
            return super().run(symbols, state, noise)
        size, kept, known = self.shape.hidden, self.shape.decay, symbols.clamp(min=0)
        hidden, slow = state.hidden[..., :size], state.hidden[..., size:]
        ago = torch.arange(len(symbols), device=slow.device).to(slow)
        powers = (kept ** (ago[:, None] - ago).clamp(min=0)).tril()  # (T, T)
        entered = (1 - kept) * looked_up(self.slow_weights, known)  # (T, ..., B, context)
        context = torch.tensordot(powers, entered, 1) + (kept ** (ago + 1)).view(-1, *[1] * slow.dim()) * slow
        drive = looked_up(self.input_weights, known) + context @ self.context_weights.mT
        made = self.scanned("sigmoid", drive, self.recurrent_weights, hidden)
        units = torch.cat([made.hidden, context], -1)
        output = self._written(units)
        after = NetworkState(units[-1], state.stack, state.rejected, output[-1])
        return Run(output, output.new_zeros(*output.shape[:-1], 0, 0), after, units)

    def _written(self, units: Tensor) -> Tensor:
        return torch.softmax(units @ self.output_weights.mT, -1)

    @classmethod
    def parameter_shapes(cls, shape: SCRNConfig) -> dict[str, tuple[int, ...]]:
        n_symbols, size = len(shape.alphabet), shape.hidden
        return {
            "slow_weights": (n_symbols, shape.context),
            "input_weights": (n_symbols, size),
            "context_weights": (size, shape.context),
            "recurrent_weights": (size, size),
            "output_weights": (n_symbols, size + shape.context),
        }
