"""The Neural Stack models of Hao, Merrill, Angluin, Frank, Amsel, Benz & Mendelsohn 2018 (section 2).

A controller beside a strength stack (Grefenstette et al. 2015). With one-hot symbol x_t and the last reading r_{t-1}:

    linear   z_t = W [x_t ; r_{t-1}] + b
    rnn      h_t = tanh(W_ih [x_t ; r_{t-1}] + b_ih + W_hh h_{t-1} + b_hh),      z_t = W h_t + b
    lstm     (h_t, c_t) = LSTM([x_t ; r_{t-1}], (h_{t-1}, c_{t-1})),             z_t = W h_t + b

and z_t is split into [u, d, v, y]: pop u_t, push v_t with strength d_t, all three through a sigmoid, and the output
y_t, the logits of the symbol to write. The stack pops, pushes, and is read then; since nothing changes it before the
next symbol, that is the reading with which `StackModel.step` begins the next step.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from ...core.errors import StacklensError, in_short
from ...languages.language import TaskKind
from ..base import ActionKind, ControllerOutput, NetworkState, Run, S
from ..stacks import Buffers, StrengthStack, window
from .layers import PaperNetwork, add_parameters, check_fields, check_sizes, lstm_cell
from .scan import Activation, Array, Units, array_of, logistic, make_units

ControllerKind = Literal["linear", "rnn", "lstm"]
_GATES = {"rnn": 1, "lstm": 4}


@dataclass(frozen=True)
class NeuralStackConfig:
    """The shape of a Neural Stack model."""

    alphabet: tuple[str, ...]  # the symbols that are read
    output_alphabet: tuple[str, ...] = ()  # the symbols that are written; the alphabet where it is left empty
    controller: ControllerKind = "linear"  # the tanh network, "rnn", is in the authors' program only
    hidden: int = 10  # size of h_t, at least 1; the linear controller has none (section 5: 10)
    cell_size: int = 2  # how many numbers a pushed value holds, at least 1 (section 5: 2, and 6 for XOR)
    null: str | None = None  # the symbol read behind a word, and written where nothing is asked

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.alphabet:
            raise StacklensError("a Neural Stack needs an alphabet, not ()")
        check_sizes(hidden=self.hidden, cell_size=self.cell_size)
        if self.null is not None and self.null not in self.alphabet:
            raise StacklensError(f"the null symbol {self.null!r} is not in the alphabet {' '.join(self.alphabet)}")


class InstructionNet(nn.Module):
    """The linear, tanh or LSTM network inside a controller, or ``nets`` of them on a leading axis. Weights start normal
    with mean 0 and deviation 1 / sqrt(rows), biases at 0 but for the last layer's first, which are ``biases`` (the
    authors' program, `init_normal`). Net n of many equals the single one of ``seed + n``.
    """

    weight: nn.Parameter
    bias: nn.Parameter
    weight_ih: nn.Parameter
    weight_hh: nn.Parameter
    bias_ih: nn.Parameter
    bias_hh: nn.Parameter

    def __init__(self, shape: NeuralStackConfig, biases: tuple[float, ...], seed: int, nets: int | None) -> None:
        super().__init__()
        self.kind, self.hidden = shape.controller, shape.hidden
        # how many numbers the network keeps from step to step: 0, H, or 2 H for h and c one after the other
        self.memory = {"linear": 0, "rnn": self.hidden, "lstm": 2 * self.hidden}[self.kind]
        shapes = self.parameter_shapes(shape, len(biases))

        def draw(generator: torch.Generator) -> dict[str, Tensor]:
            values = {key: torch.zeros(shape, dtype=torch.float64) for key, shape in shapes.items()}
            for value in values.values():
                if value.ndim == 2:
                    value.normal_(0, len(value) ** -0.5, generator=generator)
            values["bias"][: len(biases)] = torch.tensor(biases, dtype=torch.float64)
            return values

        add_parameters(self, draw, seed, nets)

    @staticmethod
    def parameter_shapes(shape: NeuralStackConfig, n_actions: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, without making any."""
        n_in, hidden = len(shape.alphabet) + shape.cell_size, shape.hidden
        n_out = n_actions + shape.cell_size + len(shape.output_alphabet)
        if shape.controller == "linear":
            return {"weight": (n_out, n_in), "bias": (n_out,)}
        rows = _GATES[shape.controller] * hidden
        cell = {"weight_ih": (rows, n_in), "weight_hh": (rows, hidden), "bias_ih": (rows,), "bias_hh": (rows,)}
        return {"weight": (n_out, hidden), "bias": (n_out,), **cell}

    def forward(self, seen: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the memory after ``seen`` (..., B, n_in), (..., B, memory), and z_t, (..., B, n_out)."""
        after = seen
        if self.kind != "linear":
            drive = seen @ self.weight_ih.mT + self.bias_ih.unsqueeze(-2)
            drive = drive + memory[..., : self.hidden] @ self.weight_hh.mT + self.bias_hh.unsqueeze(-2)
            if self.kind == "rnn":
                after = memory = torch.tanh(drive)
            else:
                after, cell = lstm_cell(drive, memory[..., self.hidden :])
                memory = torch.cat([after, cell], -1)
        return memory, after @ self.weight.mT + self.bias.unsqueeze(-2)


class InstructedNetwork(PaperNetwork[S]):
    """The networks of the paper: an `InstructionNet`, whose first outputs are actions."""

    shape: NeuralStackConfig
    action_kind: ActionKind = "strengths"
    task_kind: TaskKind = "transduction"
    biases: ClassVar[tuple[float, ...]]  # of the actions at first

    def __init__(self, shape: NeuralStackConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__(shape, nets)
        self.null, self.recurrent = shape.null, shape.controller != "linear"
        self.net = InstructionNet(shape, self.biases, seed, nets)
        self.n_hidden = self.net.memory

    def action_layer(self) -> dict[str, slice]:
        """Return the first rows of the last layer, which are the strengths."""
        return dict.fromkeys(("net.weight", "net.bias"), slice(len(self.biases)))

    @classmethod
    def parameter_shapes(cls, shape: NeuralStackConfig) -> dict[str, tuple[int, ...]]:
        shapes = InstructionNet.parameter_shapes(shape, len(cls.biases))
        return {f"net.{name}": size for name, size in shapes.items()}


# ---- Whole words through a controller with a strength stack, with gradients derived by hand ----
#
# As `scan` does for superposition stacks: step by step, autograd spends nearly all its time on keeping books, and
# torch spends much on beginning operations on tiny arrays. Here both a step and its derivative are some twenty
# operations of numpy. It is the same function as `NeuralStack.step`; tests hold both together.
#
#     s_t = drive_t + R [h_t-1 ; r_t-1]        where there is no h, s_t is z_t
#     z_t = W h_t + b                          h_t is what the units make of s_t
#     u_t, d_t, v_t = logistic(the first of z_t); the rest are logits
#     l_t = relu(L_t-1 - u_t)                  what is left after the pop
#     L_t = l_t + d_t
#     tops, bottoms = min(tops, l_t), min(bottoms, l_t), and for the new slot L_t and l_t
#     visible = relu(tops - max(bottoms, relu(L_t - 1)));  r_t = the sum of visible times values
#
# Arrays are turned so that words stand last, and slots, where there are any, before networks: (slots, N, ..., B).


class _Scan(torch.autograd.Function):
    """The recurrence and its derivative: T steps of N networks on B words each, from empty stacks and vectors of zeros.

    ``drive``: what the symbols add to s_t, biases included, (T, N, S, B). ``recurrent``: R, (N, S, H + D). ``weight``
    and ``bias``: W (N, Z, H) and b (N, Z); None where s_t is z_t, which has no h. ``kind``: of the units, if any.
    ``cell_size``: D.

    What comes out: the outputs before the softmax, (T, N, O, B); u, d and v of every step, (T, N, 2 + D, B); h after
    every step, (T, N, H, B), with H 0 where there is none; and, into which no gradient flows, h after the last step, of
    an LSTM h and c, (N, H or 2H, B), and the bottoms and tops of the slots then, (T, N, B).
    """

    @staticmethod
    def forward(
        ctx: Any,
        drive: Tensor,
        recurrent: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        kind: Activation | None,
        cell_size: int,
    ) -> tuple[Tensor, ...]:
        heads = None if weight is None or bias is None else (array_of(weight), array_of(bias)[..., None])
        course = _StrengthCourse(array_of(drive), array_of(recurrent), heads, kind, cell_size)
        course.run()
        ctx.course, ctx.like = course, drive
        units = course.before[1:, :, : course.size]
        last = units[-1] if course.units is None else course.units.state(units[-1])
        parts = (course.logits, course.instructions, units.copy(), last, course.bottoms[-1], course.tops[-1])
        made = [torch.from_numpy(part).to(drive.device) for part in parts]
        ctx.mark_non_differentiable(*made[3:])
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *of: Tensor) -> tuple[Tensor | None, ...]:
        gradients = ctx.course.gradients(*map(array_of, of[:3]))
        back = [None if part is None else torch.from_numpy(part).to(ctx.like.device) for part in gradients]
        return (*back, None, None)


class _StrengthCourse:
    """All arrays of a run."""

    def __init__(
        self, drive: Array, recurrent: Array, heads: tuple[Array, Array] | None, kind: Activation | None, cell_size: int
    ) -> None:
        steps, nets, rows, batch = drive.shape
        self.drive, self.recurrent, self.heads, self.width = drive, recurrent, heads, 2 + cell_size
        self.size = recurrent.shape[-1] - cell_size
        self.units: Units | None = None
        if kind is not None:
            start = np.zeros((nets, self.size * (2 if kind == "lstm" else 1), batch))
            self.units = make_units(kind, steps, start)
        written = (rows if heads is None else heads[0].shape[1]) - self.width
        # [h ; r] before each step, and at the end
        self.before = np.zeros((steps + 1, nets, recurrent.shape[-1], batch))
        self.instructions = np.empty((steps, nets, self.width, batch))
        self.logits = np.empty((steps, nets, written, batch))
        self.length, self.left = np.zeros((steps + 1, nets, batch)), np.empty((steps, nets, batch))
        slots = (steps, steps, nets, batch)  # after each step; a slot that is not there yet has no length
        self.bottoms, self.tops, self.visible = np.zeros(slots), np.zeros(slots), np.zeros(slots)
        self.floor = np.empty((steps, nets, batch))

    def run(self) -> None:
        for t in range(len(self.drive)):
            rows = self.recurrent @ self.before[t]
            rows += self.drive[t]
            if self.units is not None and self.heads is not None:
                hidden = self.before[t + 1, :, : self.size]
                self.units.forward(t, rows, hidden)
                rows = self.heads[0] @ hidden
                rows += self.heads[1]
            logistic(rows[:, : self.width], self.instructions[t])
            self.logits[t] = rows[:, self.width :]
            # pop, push and read at step t
            pop, push = self.instructions[t, :, 0], self.instructions[t, :, 1]
            left = np.subtract(self.length[t], pop, out=self.left[t])
            np.maximum(left, 0, out=left)
            length = np.add(left, push, out=self.length[t + 1])
            bottoms, tops, visible = (part[t, : t + 1] for part in (self.bottoms, self.tops, self.visible))
            np.minimum(self.bottoms[t - 1, :t], left, out=bottoms[:t])
            np.minimum(self.tops[t - 1, :t], left, out=tops[:t])
            bottoms[t], tops[t] = left, length
            floor = np.subtract(length, 1, out=self.floor[t])
            np.maximum(floor, 0, out=floor)
            np.subtract(tops, np.maximum(bottoms, floor), out=visible)
            np.maximum(visible, 0, out=visible)
            (visible[:, :, None] * self.instructions[: t + 1, :, 2:]).sum(0, out=self.before[t + 1, :, self.size :])

    def gradients(self, of_logits: Array, of_instructions: Array, of_units: Array) -> tuple[Array | None, ...]:
        """Return the gradients of drive, R, W and b, given those of what came out."""
        steps, nets, rows, batch = self.drive.shape
        of_rows = np.concatenate([of_instructions, of_logits], 2)  # of z
        of_sums = of_rows if self.units is None else np.empty((steps, nets, rows, batch))
        if self.units is not None:
            self.units.begin_back(self.before[1:, :, : self.size])
        # which way each minimum and each relu of the stack went, for all steps at once
        seen = self.visible > 0
        seen_whole = (seen & (self.bottoms > self.floor[:, None])).astype(float)  # down to its bottom
        seen_tops = seen.astype(float)
        cut_tops, cut_bottoms = ((ends[:-1] > self.left[1:, None]).astype(float) for ends in (self.tops, self.bottoms))
        some_left, full = (self.left > 0).astype(float), (self.length[1:] > 1).astype(float)
        slopes = self.instructions * (1 - self.instructions)
        of_before, of_length = np.zeros_like(self.before[0]), np.zeros_like(self.length[0])
        of_readings = np.zeros((steps, *of_before[:, self.size :].shape))
        of_tops, of_bottoms = np.zeros_like(self.tops[0]), np.zeros_like(self.bottoms[0])
        for t in reversed(range(steps)):
            # through the reading, (N, D, B), to the ends of the slots, and to the floor
            of_readings[t] = of_before[:, self.size :]
            of_visible = (self.instructions[: t + 1, :, 2:] * of_readings[t]).sum(2)
            of_seen = of_visible * seen_tops[t, : t + 1]
            of_floor = np.multiply(of_visible, seen_whole[t, : t + 1], out=of_visible)
            of_tops[: t + 1] += of_seen
            of_bottoms[: t + 1] -= of_floor
            of_floor -= of_seen
            of_whole = of_floor.sum(0)  # of the length after step t
            of_whole *= full[t]
            of_whole += of_length
            of_whole += of_tops[t]
            of_length = of_bottoms[t] + of_whole  # of what the pop left, then of the length before
            if t:
                for of_ends, cut in ((of_tops[:t], cut_tops), (of_bottoms[:t], cut_bottoms)):
                    gone = of_ends * cut[t - 1, :t]
                    of_length += gone.sum(0)
                    of_ends -= gone
            of_length *= some_left[t]
            # to u, d and v, through the logistic
            of_instruction = of_rows[t, :, : self.width]
            of_instruction[:, 0] -= of_length
            of_instruction[:, 1] += of_whole
            of_instruction[:, 2:] += (self.visible[t:, t][:, :, None] * of_readings[t:]).sum(0)
            of_instruction *= slopes[t]
            if self.units is not None and self.heads is not None:
                of_hidden = self.heads[0].swapaxes(-1, -2) @ of_rows[t]
                of_hidden += of_before[:, : self.size]
                of_hidden += of_units[t]
                self.units.backward(t, of_hidden, of_sums[t])
            of_before = self.recurrent.swapaxes(-1, -2) @ of_sums[t]
        of_recurrent = _outer_products(of_sums, self.before[:-1])
        if self.heads is None:
            return of_sums, of_recurrent, None, None
        return of_sums, of_recurrent, _outer_products(of_rows, self.before[1:, :, : self.size]), of_rows.sum((0, 3))


def _outer_products(rows: Array, columns: Array) -> Array:
    return (rows @ columns.swapaxes(-1, -2)).sum(0)  # type: ignore[no-any-return]


class NeuralStack(InstructedNetwork[StrengthStack]):
    """A Neural Stack model, or ``nets`` of them on a leading axis, in float64 (the authors trained in float32). Outputs
    are softmax(y_t), a distribution over the output alphabet; actions are (pop u_t, push d_t). A word is what is read,
    its null symbols included: reversing "01" is reading "0122" where "2" is null.

    >>> net = NeuralStack(NeuralStackConfig(("0", "1", "2"), null="2"), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> step.hidden.shape, step.actions.shape, step.pushed.shape, step.output.shape
    (torch.Size([1, 0]), torch.Size([1, 1, 2]), torch.Size([1, 1, 2]), torch.Size([1, 3]))
    """

    name: ClassVar[str] = "neural-stack"
    biases = (-1.0, 0.0)  # few pops, as in the authors' program, or early training empties the stack

    @property
    def n_units(self) -> int:
        return self.shape.hidden if self.recurrent else 0

    def forget_gates(self) -> tuple[Tensor, Tensor] | None:
        if self.net.kind != "lstm":
            return None
        rows = slice(self.shape.hidden, 2 * self.shape.hidden)
        weights = torch.cat([self.net.weight_hh, self.net.weight_ih], -1)
        return weights[..., rows, :], (self.net.bias_ih + self.net.bias_hh)[..., rows]

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
        if not torch.is_grad_enabled() or state.stack.tops.shape[-1] or not len(symbols):
            return super().run(symbols, state, noise)
        lone = not self.leading
        # symbols one-hot, (T, 1 or N, K, B), anything beyond the end as the first
        columns = nn.functional.one_hot(symbols.clamp(min=0), self.n_symbols).to(self.net.bias.dtype).movedim(-1, -2)
        columns = columns.unsqueeze(1) if lone or symbols.dim() == 2 else columns
        # the weights, those of a lone network on an axis of its own: of s_t, (N, S, K + D), and of h_t-1
        own = {name: value.unsqueeze(0) if lone else value for name, value in self.net.named_parameters()}
        weight, bias = own["weight"], own["bias"]
        last: tuple[Tensor | None, Tensor | None] = (None, None)
        kind: Activation | None = None
        if self.recurrent:
            last, kind = (weight, bias), "tanh" if self.net.kind == "rnn" else "lstm"
            weight, bias = own["weight_ih"], own["bias_ih"] + own["bias_hh"]
        of_symbols, recurrent = weight[..., : self.n_symbols], weight[..., self.n_symbols :]
        recurrent = torch.cat([own["weight_hh"], recurrent], -1) if self.recurrent else recurrent
        drive = of_symbols @ columns + bias.unsqueeze(-1)  # (T, N, S, B)
        if noise is not None:  # what is added to h and the reading comes to the same, times their weights
            drive = drive + recurrent @ (noise if noise.dim() > 3 else noise.unsqueeze(1)).mT
        made = _Scan.apply(drive, recurrent, *last, kind, self.cell_size)  # type: ignore[no-untyped-call]
        output, instructions, units, hidden = (part.movedim(-1, -2) for part in made[:4])
        bottoms, tops = (part.movedim(0, -1) for part in made[4:])
        if lone:
            output, instructions, units = output[:, 0], instructions[:, 0], units[:, 0]
            hidden, bottoms, tops = (part[0] for part in (hidden, bottoms, tops))
        stack = StrengthStack(bottoms, tops, instructions.detach()[..., 2:].movedim(0, -2), tops[..., -1])
        taken = instructions.unsqueeze(-2)[..., :2]
        output = torch.softmax(output, -1)
        return Run(output, taken, NetworkState(hidden, stack, state.rejected, output[-1]), units)

    def stack_of(self, cells: Tensor) -> StrengthStack:
        return StrengthStack.of_cells(cells)


# ---- The buffered networks of Hao et al. 2018 (section 2.3), which choose when to read and when to write ----
# At step t the controller reads x_t from the front of an input queue, after strength i_{t-1} has left it (i_0 = 0),
# and answers with [u, d, i, o, v, y]: beside the stack's pop u_t and push d_t of v_t, how much i_t of the input to be
# done with and with what strength o_t to put y_t at the back of an output queue. So i_t near 0 is an epsilon-step on
# the input and o_t near 0 one on the output. At the end the output is read off, strength 1 at a time.
#
# The output queue, like that of the input, is a line (`stacklens.models.stacks`) on which y_t lies on a piece as
# long as o_t; nothing is added while it is read off, so reading k sees the window at k.

_MOST_STEPS = 16  # for every symbol; the authors' program has 0 and 1, and all steps are kept in memory


@dataclass(frozen=True)
class BufferedConfig(NeuralStackConfig):
    """The shape of a buffered network: that of a `NeuralStackConfig`, how long it takes, how its output is read off."""

    extra_steps: int = 0  # steps a symbol once the word has been fed; theirs: 0 for reversal, 1 for XOR
    # whether strength 1 leaves the output queue before the first reading too, as in the authors' program
    dequeue_first: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.extra_steps <= _MOST_STEPS:
            raise StacklensError(f"extra_steps is {in_short(self.extra_steps)}; expected 0 to {_MOST_STEPS} a symbol")


class BufferedNeuralStack(InstructedNetwork[Buffers]):
    """A buffered Neural Stack network, or ``nets`` of them on a leading axis, in float64.

    A step feeds the next symbol to the input queue, or nothing once the word has ended, and its output is softmax(y_t),
    whatever o_t is; actions are (u_t, d_t, i_t, o_t). What the network says of a word is in `run`: as many readings of
    the output queue as the word has symbols.

    >>> net = BufferedNeuralStack(BufferedConfig(("0", "1"), cell_size=6, extra_steps=1), seed=1)
    >>> step = net.step(torch.tensor([0, 1]), net.initial_state(2))
    >>> step.actions.shape, step.reading[:, 0, :2].tolist()  # of the stack 6 more
    (torch.Size([2, 1, 4]), [[1.0, 0.0], [0.0, 1.0]])
    >>> net.run(torch.tensor([[0, 1], [1, 1], [1, 0]]), net.initial_state(2)).output.shape
    torch.Size([3, 2, 2])
    """

    shape: BufferedConfig
    name: ClassVar[str] = "buffered-neural-stack"
    operations = ("pop", "push", "pop input", "push output")
    biases = (-1.0, 0.0, 1.0, 1.0)  # no pops, but reading and writing at every step: as in the authors' program
    real_time = False
    no_automaton = "a buffered-neural-stack takes epsilon-steps: it has no real-time pushdown automaton"

    def __init__(self, shape: BufferedConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__(shape, seed=seed, nets=nets)
        self.skipped = int(shape.dequeue_first)
        late = self.skipped if shape.null is not None and not shape.extra_steps else 0
        self.reads_on = (shape.null,) * late if shape.null is not None else ()

    def initial_memory(self, leading: tuple[int, ...]) -> Buffers:
        return Buffers.empty(leading, len(self.alphabet), self.cell_size, self.net.bias)

    def feed(self, stack: Buffers, symbols: Tensor) -> Buffers:
        return stack.fed(symbols)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return h_t, (u_t, d_t, i_t, o_t), v_t in (0, 1), and softmax(y_t); ``symbols`` are in ``reading`` already."""
        hidden, drive = self.net(reading[..., 0, :], hidden)
        n_actions = len(self.operations)
        first = n_actions + self.cell_size
        instructions = torch.sigmoid(drive[..., :first]).unsqueeze(-2)
        output = torch.softmax(drive[..., first:], -1)
        return ControllerOutput(hidden, instructions[..., :n_actions], instructions[..., n_actions:], output)

    def outputs_per_symbol(self, output: Tensor, actions: Tensor, lengths: Tensor) -> Tensor:
        """Return what is read off the output queues, distributions (T, ..., B, O), even where nothing was written. A
        reading mixes the logits y_t; logarithms of their softmax differ from them by a number that is the same for all
        symbols, which the softmax of the mixture does not show.
        """
        steps = torch.arange(len(output), device=output.device).view(-1, *[1] * lengths.dim())
        taken = steps < lengths * (1 + self.extra_steps)  # (S, B): a shorter word's steps are over earlier
        taken = taken.view(len(output), *[1] * (actions.dim() - 3 - lengths.dim()), *lengths.shape)
        ends = (actions[..., 0, 3] * taken).cumsum(0).movedim(0, -1)  # (..., B, S)
        readings = torch.arange(len(output) // (1 + self.extra_steps), device=output.device) + self.shape.dequeue_first
        logits = output.clamp(min=torch.finfo(output.dtype).tiny).log().movedim(0, -2)  # (..., B, S, O)
        if not torch.is_grad_enabled() and ends.dim() == 2:
            return torch.softmax(_read_off(ends, logits, readings.to(ends)), -1).movedim(-2, 0)
        seen = window(ends.unsqueeze(-2), readings.to(ends))  # (..., B, T, S)
        return torch.softmax(seen @ logits, -1).movedim(-2, 0)


def _read_off(ends: Tensor, values: Tensor, positions: Tensor) -> Tensor:
    """Return the sum of what lies within 1 of each of ``positions`` (T,) on, (B, T, D). Item j of ``values`` (B, S, D)
    lies between ``ends`` j - 1 and j, (B, S). It is ``window(...) @ values`` without the table of every reading and
    every step, which long words have no room for: only the few items that a reading meets are looked at.
    """
    batch, n_items = ends.shape
    asked = positions.expand(batch, -1).contiguous()  # (B, T)
    starts = torch.nn.functional.pad(ends, (1, 0))[:, :-1]
    first = torch.searchsorted(ends.contiguous(), asked, right=True)
    last = torch.searchsorted(ends.contiguous(), asked + 1)
    total = values.new_zeros(batch, asked.shape[1], values.shape[-1])
    most = int((last - first).max()) if n_items and asked.numel() else -1
    for item in range(most + 1):
        place = (first + item).clamp(max=n_items - 1)
        within = torch.minimum(ends.gather(1, place), asked + 1) - torch.maximum(starts.gather(1, place), asked)
        weight = torch.relu(within) * ((first + item) < n_items)
        total += weight.unsqueeze(-1) * values.gather(1, place.unsqueeze(-1).expand(-1, -1, values.shape[-1]))
    return total
