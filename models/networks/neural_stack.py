"""The Neural Stack models of Hao, Merrill, Angluin, Frank, Amsel, Benz & Mendelsohn 2018 (section 2).

A controller beside a strength stack (Grefenstette et al. 2015). With one-hot symbol x_t and the last reading r_{t-1}:

    linear   z_t = W [x_t ; r_{t-1}] + b
    rnn      h_t = tanh(W_ih [x_t ; r_{t-1}] + b_ih + W_hh h_{t-1} + b_hh),      z_t = W h_t + b
    lstm     (h_t, c_t) = LSTM([x_t ; r_{t-1}], (h_{t-1}, c_{t-1})),             z_t = W h_t + b

and z_t is split into [u, d, v, y]: pop u_t, push v_t with strength d_t, all three through a sigmoid, and the output
y_t, the logits of the symbol to write. The stack pops, pushes, and is read then; since nothing changes it before the
next symbol, that is the reading with which `StackModel.step` begins the next step.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import TaskKind
from stacklens.models.base import ActionKind, ControllerOutput, NetworkState, Run, StackModel
from stacklens.models.kernels.scan_units import Activation
from stacklens.models.kernels.strength_scan import strength_scan
from stacklens.models.networks.shapes import check_fields, check_sizes
from stacklens.models.stacks.strength import StrengthStack

__all__ = ["ControllerKind", "InstructionNet", "NeuralStack", "NeuralStackConfig", "instruction_sizes", "net_shapes"]

ControllerKind = Literal["linear", "rnn", "lstm"]
_GATES = {"rnn": 1, "lstm": 4}


@dataclass(frozen=True)
class NeuralStackConfig:
    """The shape of a Neural Stack model.

    Attributes:
        alphabet: the symbols that are read.
        output_alphabet: the symbols that are written; the alphabet where it is left empty.
        controller: "linear", "rnn" or "lstm" (section 2.2; the tanh network is in the authors' program only).
        hidden: size of h_t, at least 1; the linear controller has none (section 5: 10).
        cell_size: how many numbers a pushed value holds, at least 1 (section 5: 2, and 6 for XOR).
        null: the symbol that is read once the word has ended and written where nothing is asked; None for none.
    """

    alphabet: tuple[str, ...]
    output_alphabet: tuple[str, ...] = ()
    controller: ControllerKind = "linear"
    hidden: int = 10
    cell_size: int = 2
    null: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "alphabet", tuple(self.alphabet))
        object.__setattr__(self, "output_alphabet", tuple(self.output_alphabet) or self.alphabet)
        if self.controller not in get_args(ControllerKind):
            raise StacklensError(f"controller {self.controller!r} is not one of {', '.join(get_args(ControllerKind))}")
        if not self.alphabet:
            raise StacklensError("a Neural Stack needs an alphabet, not ()")
        check_sizes(hidden=self.hidden, cell_size=self.cell_size)
        if self.null is not None and self.null not in self.alphabet:
            raise StacklensError(f"the null symbol {self.null!r} is not in the alphabet {' '.join(self.alphabet)}")


class InstructionNet(nn.Module):
    """The linear, tanh or LSTM network inside a controller, or ``nets`` of them on a leading axis.

    Weights start normal with mean 0 and deviation 1 / sqrt(rows), biases at 0 but for the last layer's first, which
    are ``biases`` (the authors' program, `init_normal`). Net n of many equals the single one of ``seed + n``.

    Attributes:
        memory: how many numbers the network keeps from step to step: 0, H, or 2 H for h and c one after the other.
    """

    weight: nn.Parameter
    bias: nn.Parameter
    weight_ih: nn.Parameter
    weight_hh: nn.Parameter
    bias_ih: nn.Parameter
    bias_hh: nn.Parameter

    def __init__(
        self,
        kind: ControllerKind,
        n_in: int,
        hidden: int,
        n_out: int,
        biases: tuple[float, ...],
        seed: int,
        nets: int | None,
    ) -> None:
        super().__init__()
        self.kind, self.hidden = kind, hidden
        self.memory = {"linear": 0, "rnn": hidden, "lstm": 2 * hidden}[kind]
        shapes = self.parameter_shapes(kind, n_in, hidden, n_out)
        draws = [_draw(shapes, biases, seed + net) for net in range(nets or 1)]
        for key in shapes:
            values = torch.stack([draw[key] for draw in draws]) if nets is not None else draws[0][key]
            self.register_parameter(key, nn.Parameter(values))

    @staticmethod
    def parameter_shapes(kind: ControllerKind, n_in: int, hidden: int, n_out: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, without making any."""
        shapes: dict[str, tuple[int, ...]] = {"weight": (n_out, n_in if kind == "linear" else hidden), "bias": (n_out,)}
        if kind == "linear":
            return shapes
        rows = _GATES[kind] * hidden
        return shapes | {"weight_ih": (rows, n_in), "weight_hh": (rows, hidden), "bias_ih": (rows,), "bias_hh": (rows,)}

    def forward(self, seen: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the memory after ``seen`` (..., B, n_in), (..., B, memory), and z_t, (..., B, n_out)."""
        if self.kind == "linear":
            return memory, self._last_layer(seen)
        before = memory[..., : self.hidden]
        drive = seen @ self.weight_ih.mT + self.bias_ih.unsqueeze(-2)
        drive = drive + before @ self.weight_hh.mT + self.bias_hh.unsqueeze(-2)
        if self.kind == "rnn":
            after = torch.tanh(drive)
            return after, self._last_layer(after)
        enter, keep, new, leave = drive.chunk(4, -1)  # the order of torch.nn.LSTMCell: i, f, g, o
        cell = torch.sigmoid(keep) * memory[..., self.hidden :] + torch.sigmoid(enter) * torch.tanh(new)
        after = torch.sigmoid(leave) * torch.tanh(cell)
        return torch.cat([after, cell], -1), self._last_layer(after)

    def drive(self, columns: Tensor, lone: bool) -> Tensor:
        """Return what symbols add to the first layer's sums, biases included, (T, N, S, B); see `strength_scan`.

        ``columns`` (T, 1 or N, K, B) are one-hot. A ``lone`` network stands on an axis of its own there.
        """
        linear = self.kind == "linear"
        weight: Tensor = self.weight if linear else self.weight_ih
        bias: Tensor = self.bias if linear else self.bias_ih + self.bias_hh
        if lone:
            weight, bias = weight.unsqueeze(0), bias.unsqueeze(0)
        return weight[..., : columns.shape[-2]] @ columns + bias.unsqueeze(-1)

    def recurrent(self, n_symbols: int, lone: bool) -> Tensor:
        """Return the weights of what comes back, of h and the reading, (N, S, H + D)."""
        linear = self.kind == "linear"
        read = (self.weight if linear else self.weight_ih)[..., n_symbols:]
        weights = read if linear else torch.cat([self.weight_hh, read], -1)
        return weights.unsqueeze(0) if lone else weights

    def scanned(self, lone: bool) -> tuple[Activation | None, tuple[Tensor, Tensor] | None]:
        """Return the kind of units, and the last layer's weights and biases; None and None without a hidden vector."""
        if self.kind == "linear":
            return None, None
        last = (self.weight.unsqueeze(0), self.bias.unsqueeze(0)) if lone else (self.weight, self.bias)
        return ("tanh" if self.kind == "rnn" else "lstm"), last

    def _last_layer(self, features: Tensor) -> Tensor:
        return features @ self.weight.mT + self.bias.unsqueeze(-2)


class NeuralStack(StackModel[StrengthStack]):
    """A Neural Stack model, or ``nets`` of them on a leading axis, in float64 (the authors trained in float32).

    Outputs are softmax(y_t), a distribution over the output alphabet; actions are (pop u_t, push d_t). A word is what
    is read, its null symbols included: reversing "01" is reading "0122" where "2" is null.

    >>> net = NeuralStack(NeuralStackConfig(("0", "1", "2"), null="2"), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> step.hidden.shape, step.actions.shape, step.pushed.shape, step.output.shape
    (torch.Size([1, 0]), torch.Size([1, 1, 2]), torch.Size([1, 1, 2]), torch.Size([1, 3]))
    """

    name: ClassVar[str] = "neural-stack"
    action_kind: ActionKind = "strengths"
    task_kind: TaskKind = "transduction"

    def __init__(self, shape: NeuralStackConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__()
        self.shape = shape
        self.alphabet, self.null, self.cell_size = shape.alphabet, shape.null, shape.cell_size
        self.recurrent = shape.controller != "linear"
        self.leading = () if nets is None else (nets,)
        discourage_pop = (-1.0, 0.0)  # as in the authors' program, or early training empties the stack
        self.net = InstructionNet(*instruction_sizes(shape, 2), discourage_pop, seed, nets)

    @classmethod
    def parameter_shapes(cls, shape: NeuralStackConfig) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, without making any."""
        return net_shapes(shape, 2)

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the symbols that are written."""
        return self.shape.output_alphabet

    @property
    def n_units(self) -> int:
        """Return the number of hidden units; the linear controller has none."""
        return self.shape.hidden if self.recurrent else 0

    def forget_gates(self) -> tuple[Tensor, Tensor] | None:
        """Return weights and bias of an LSTM's forget gates; None without an LSTM."""
        if self.net.kind != "lstm":
            return None
        rows = slice(self.shape.hidden, 2 * self.shape.hidden)
        weights = torch.cat([self.net.weight_hh, self.net.weight_ih], -1)
        return weights[..., rows, :], (self.net.bias_ih + self.net.bias_hh)[..., rows]

    def config(self) -> dict[str, Any]:
        """Return the plain data of `NeuralStackConfig."""
        return asdict(self.shape)

    def initial_state(self, batch: int) -> NetworkState[StrengthStack]:
        """Return hidden vectors of zeros, of size 0 for the linear controller, and an empty stack."""
        like, leading = self.net.bias, (*self.leading, batch)
        stack = StrengthStack.empty(leading, self.cell_size, like)
        rejected = torch.zeros(leading, dtype=torch.bool, device=like.device)
        return NetworkState(like.new_zeros(*leading, self.net.memory), stack, rejected)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return h_t (h_t and c_t for an LSTM), (u_t, d_t) and v_t in (0, 1), and softmax(y_t)."""
        seen = reading[..., 0, :]
        symbol = nn.functional.one_hot(symbols, self.n_symbols).to(seen.dtype)
        symbol = symbol.expand(*seen.shape[:-1], self.n_symbols)
        after, drive = self.net(torch.cat([symbol, seen], -1), hidden)
        logits = drive[..., 2 + self.cell_size :]
        instructions = torch.sigmoid(drive[..., : 2 + self.cell_size]).unsqueeze(-2)  # (..., B, 1, 2 + D)
        return ControllerOutput(after, instructions[..., :2], instructions[..., 2:], torch.softmax(logits, -1))

    def run(self, symbols: Tensor, state: NetworkState[StrengthStack], noise: Tensor | None = None) -> Run:
        """Return the steps on ``symbols`` (T, B) or (T, ..., B) from ``state``; gradients come from `strength_scan`."""
        if not torch.is_grad_enabled() or state.stack.tops.shape[-1] or not len(symbols):
            return super().run(symbols, state, noise)
        lone = not self.leading
        drive, recurrent = self.net.drive(self._columns(symbols, lone), lone), self.net.recurrent(self.n_symbols, lone)
        if noise is not None:  # what is added to h and the reading comes to the same, times their weights
            drive = drive + recurrent @ noise.unsqueeze(1).mT
        kind, last = self.net.scanned(lone)
        made = strength_scan(drive, recurrent, last, kind, self.cell_size)
        output, instructions, hidden, units = (part.movedim(-1, -2) for part in (*made[:3], made.units))
        bottoms, tops = (part.movedim(0, -1) for part in (made.bottoms, made.tops))
        if lone:
            output, instructions, units = output[:, 0], instructions[:, 0], units[:, 0]
            hidden, bottoms, tops = (part[0] for part in (hidden, bottoms, tops))
        stack = StrengthStack(bottoms, tops, instructions.detach()[..., 2:].movedim(0, -2), tops[..., -1])
        taken = instructions.unsqueeze(-2)[..., :2]
        output = torch.softmax(output, -1)
        return Run(output, taken, NetworkState(hidden, stack, state.rejected, output[-1]), units)

    def _columns(self, symbols: Tensor, lone: bool) -> Tensor:
        """Return ``symbols`` (T, B) or (T, ..., B) one-hot, (T, 1 or N, K, B), anything beyond the end as the first."""
        chosen = nn.functional.one_hot(symbols.clamp(min=0), self.n_symbols).to(self.net.bias.dtype).movedim(-1, -2)
        return chosen.unsqueeze(1) if lone or symbols.dim() == 2 else chosen

    def stack_of(self, cells: Tensor) -> StrengthStack:
        """Return stacks with one value of strength 1, ``cells`` (M, 1, 1, D), none where it is NaN."""
        return StrengthStack.of_cells(cells)


def net_shapes(shape: NeuralStackConfig, n_actions: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights of a network with ``n_actions`` actions, by the names that it has them under."""
    return {
        f"net.{name}": size
        for name, size in InstructionNet.parameter_shapes(*instruction_sizes(shape, n_actions)).items()
    }


def instruction_sizes(shape: NeuralStackConfig, n_actions: int) -> tuple[ControllerKind, int, int, int]:
    """Return the kind of controller, its inputs, hidden units and outputs."""
    n_in = len(shape.alphabet) + shape.cell_size
    return shape.controller, n_in, shape.hidden, n_actions + shape.cell_size + len(shape.output_alphabet)


def _draw(shapes: dict[str, tuple[int, ...]], biases: tuple[float, ...], seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    values = {key: torch.zeros(shape, dtype=torch.float64) for key, shape in shapes.items()}
    for value in values.values():
        if value.ndim == 2:
            value.normal_(0, len(value) ** -0.5, generator=generator)
    values["bias"][: len(biases)] = torch.tensor(biases, dtype=torch.float64)
    return values
