"""The controllers without a stack that all four papers compare with: a tanh RNN, an LSTM, and a linear layer.

    rnn      h' = tanh(W_ih x + b_ih + W_hh h + b_hh)
    lstm     h', c' = LSTM(x, (h, c))
    linear   no hidden vector: the output sees the symbol only

Further layers read the hidden vector of the one below. Outputs are W_y h' + b_y, or W_y x + b_y, through a sigmoid for
sets of next symbols and a softmax otherwise. PyTorch's default initial weights, float64.

Joulin & Mikolov 2015, section 5: RNNs with 40 to 500 units, LSTMs of 1 or 2 layers; Suzgun et al. 2019, section 4: one
layer of 8 units; Hao et al. 2018, section 4: an LSTM of 10.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import TaskKind
from stacklens.models.base import ActionKind, ControllerOutput, NetworkState, Run, StackModel
from stacklens.models.kernels.stack_scan import Scan, ScanShape, ScanWeights, looked_up, scan
from stacklens.models.networks.joulin import add_parameters, check_predictor, check_shape
from stacklens.models.networks.shapes import check_fields
from stacklens.models.networks.suzgun import affine, lstm_cell, uniform

__all__ = ["Baseline", "BaselineConfig", "BaselineKind", "BaselineTask", "NoStack"]

BaselineKind = Literal["rnn", "lstm", "linear"]
BaselineTask = Literal["next set", "next symbol", "transduction"]


@dataclass(frozen=True)
class BaselineConfig:
    """The shape of a controller without a stack.

    Attributes:
        alphabet: the symbols that are read.
        controller: "rnn", "lstm" or "linear".
        task_kind: what the output says.
        hidden: number of hidden units of each layer, at least 1; "linear" has none.
        layers: number of layers, 1 or 2; "linear" has one.
        output_alphabet: the symbols that are written; the alphabet where it is left empty.
        first: for "next set", which symbols may begin a word; None for all.

    Raises:
        StacklensError: an unknown controller or task, sizes out of range, or symbols outside an alphabet.
    """

    alphabet: tuple[str, ...]
    controller: BaselineKind = "rnn"
    task_kind: BaselineTask = "next set"
    hidden: int = 8
    layers: int = 1
    output_alphabet: tuple[str, ...] = ()
    first: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "alphabet", tuple(self.alphabet))
        object.__setattr__(self, "output_alphabet", tuple(self.output_alphabet) or self.alphabet)
        for name, value, known in (
            ("controller", self.controller, get_args(BaselineKind)),
            ("task_kind", self.task_kind, get_args(BaselineTask)),
            ("layers", self.layers, (1, 2)),
        ):
            if value not in known:
                raise StacklensError(f"{name} {value!r} is not one of {', '.join(map(str, known))}")
        check_shape(self.alphabet, None, hidden=self.hidden)
        check_shape(self.output_alphabet, None)
        if self.task_kind != "transduction":
            check_predictor(self.alphabet, self.output_alphabet)
        if self.first is not None:
            object.__setattr__(self, "first", tuple(self.first))
            if not set(self.first) <= set(self.alphabet):
                raise StacklensError(f"first is {' '.join(self.first)}, not in the alphabet {' '.join(self.alphabet)}")


@dataclass(frozen=True)
class NoStack:
    """A batch of nothing: 0 stacks with cells of 1 number.

    Attributes:
        nothing: the readings, (..., B, 0, 1).
    """

    nothing: Tensor

    def reading(self) -> Tensor:
        """Return the readings of 0 stacks, (..., B, 0, 1)."""
        return self.nothing

    def next(self, actions: Tensor, pushed: Tensor) -> NoStack:
        """Return the same: there are no ``actions`` (..., B, 0, 0), and nothing is ``pushed`` (..., B, 0, 1)."""
        del actions, pushed
        return self

    def select(self, index: Tensor) -> NoStack:
        """Return nothing for the batch entries ``index`` (M,), which may repeat."""
        return NoStack(self.nothing[..., index, :, :])


class Baseline(StackModel[NoStack]):
    """A controller without a stack, or ``nets`` of them on a leading axis, net n with the weights of ``seed + n``.

    Its name is that of its controller. Hidden vectors are h of every layer, lowest first, then c of every layer for an
    LSTM; of size 0 for "linear".

    >>> net = Baseline(BaselineConfig(("(", ")"), "lstm", layers=2), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(3))
    >>> net.name, step.hidden.shape, step.reading.shape, step.output.shape
    ('lstm', torch.Size([3, 32]), torch.Size([3, 0, 1]), torch.Size([3, 2]))
    """

    name: ClassVar[str] = "baseline"
    action_kind: ActionKind = "none"
    n_stacks = 0
    cell_size = 1

    def __init__(self, shape: BaselineConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__()
        self.shape = shape
        self.alphabet, self.first = shape.alphabet, shape.first
        self.task_kind: TaskKind = shape.task_kind
        self.recurrent = shape.controller != "linear"
        self.layers = shape.layers if self.recurrent else 0
        self.vectors = self.layers * (2 if shape.controller == "lstm" else 1)
        self.leading = () if nets is None else (nets,)
        object.__setattr__(self, "name", shape.controller)  # what the command line calls it; else a class has one name
        add_parameters(self, self._draw, seed, nets)

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the symbols that are written."""
        return self.shape.output_alphabet

    def config(self) -> dict[str, Any]:
        """Return the plain data of `BaselineConfig`."""
        return asdict(self.shape)

    def initial_state(self, batch: int) -> NetworkState[NoStack]:
        """Return hidden vectors of zeros, and nothing for a stack."""
        like, leading = self.get_parameter("output_bias"), (*self.leading, batch)
        rejected = torch.zeros(leading, dtype=torch.bool, device=like.device)
        hidden = like.new_zeros(*leading, self.vectors * self.shape.hidden)
        return NetworkState(hidden, NoStack(like.new_zeros(*leading, 0, 1)), rejected)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the hidden vectors after ``symbols`` (B,) and the output; there are no actions."""
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
        """Return the steps on ``symbols`` (T, B), layer by layer by hand-made gradients where these are wanted.

        With ``symbols`` (T, ..., B) every network has words of its own.
        """
        if not self.layers or noise is not None or not torch.is_grad_enabled():
            return super().run(symbols, state, noise)
        vectors = state.hidden.reshape(*state.hidden.shape[:-1], self.vectors, self.shape.hidden)
        after, cells = [], []
        weights, known = self.get_parameter("input_0_weights").mT, symbols.clamp(min=0)
        if symbols.dim() == 2:
            drive = looked_up(weights, known)  # (T, ..., B, rows)
        else:  # every network has words of its own
            drive = torch.nn.functional.one_hot(known, self.n_symbols).to(weights) @ weights
        for layer in range(self.layers):
            biases = self.get_parameter(f"input_{layer}_bias") + self.get_parameter(f"hidden_{layer}_bias")
            drive = drive + biases.unsqueeze(-2)
            made = self._layer(drive, vectors, layer)
            after.append(made.state[..., : self.shape.hidden])
            cells.append(made.state[..., self.shape.hidden :])
            if layer + 1 < self.layers:
                drive = made.hidden @ self.get_parameter(f"input_{layer + 1}_weights").mT
        output = self._written(self._affine(made.hidden, "output"))
        state = NetworkState(torch.cat([*after, *cells], -1), state.stack, state.rejected, output[-1])
        return Run(output, output.new_zeros(*output.shape[:-1], 0, 0), state, made.hidden)

    def _layer(self, drive: Tensor, vectors: Tensor, layer: int) -> Scan:
        """Return the steps of one layer, driven by what it sees; there are no stacks to read."""
        lstm = self.shape.controller == "lstm"
        hidden = vectors[..., layer, :]
        if lstm:
            hidden = torch.cat([hidden, vectors[..., self.layers + layer, :]], -1)
        recurrent = self.get_parameter(f"hidden_{layer}_weights")
        nothing = recurrent.new_zeros(*self.leading, 0, self.shape.hidden)
        weights = ScanWeights(recurrent, nothing, nothing[..., 0])
        shape = ScanShape("lstm" if lstm else "tanh", 2, 1, 0.0, 0)
        return scan(drive, weights, hidden, hidden.new_zeros(*hidden.shape[:-1], 0, 0, 1), shape)

    def stack_of(self, cells: Tensor) -> NoStack:
        """Return nothing for each of ``cells`` (M, 0, 1, 1)."""
        return NoStack(cells[:, :, 0])

    def _written(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits) if self.task_kind == "next set" else torch.softmax(logits, -1)

    def _affine(self, values: Tensor, layer: str) -> Tensor:
        return affine(values, self.get_parameter(f"{layer}_weights"), self.get_parameter(f"{layer}_bias"))

    def _draw(self, generator: torch.Generator) -> dict[str, Tensor]:
        bound = 1 / math.sqrt(self.shape.hidden if self.layers else self.n_symbols)
        return {name: uniform(size, bound, generator) for name, size in self.parameter_shapes(self.shape).items()}

    @classmethod
    def parameter_shapes(cls, shape: BaselineConfig) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, without making any."""
        size, inputs = shape.hidden, len(shape.alphabet)
        rows = 4 * size if shape.controller == "lstm" else size
        shapes: dict[str, tuple[int, ...]] = {}
        for layer in range(shape.layers if shape.controller != "linear" else 0):
            for name, width in (("input", inputs), ("hidden", size)):
                shapes |= {f"{name}_{layer}_weights": (rows, width), f"{name}_{layer}_bias": (rows,)}
            inputs = size
        n_out = len(shape.output_alphabet)
        return {**shapes, "output_weights": (n_out, inputs), "output_bias": (n_out,)}
