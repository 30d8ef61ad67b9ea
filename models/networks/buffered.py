"""The buffered networks of Hao et al. 2018 (section 2.3): Neural Stacks that choose when to read and when to write.

At step t the controller reads x_t from the front of an input queue, after strength i_{t-1} has left it (i_0 = 0), and
answers with [u, d, i, o, v, y]: beside the stack's pop u_t and push d_t of v_t, how much i_t of the input to be done
with and with what strength o_t to put y_t at the back of an output queue. So i_t near 0 is an epsilon-step on the input
and o_t near 0 one on the output. At the end the output is read off, strength 1 at a time.

The output queue, like that of the input, is a line (`stacklens.models.stacks.input_queue`) on which y_t lies on a piece
as long as o_t; nothing is added while it is read off, so reading k sees the window at k.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import TaskKind
from stacklens.models.base import ActionKind, ControllerOutput, NetworkState, StackModel
from stacklens.models.networks.neural_stack import InstructionNet, NeuralStackConfig, instruction_sizes, net_shapes
from stacklens.models.plain_data import in_short
from stacklens.models.stacks.input_queue import Buffers, window

__all__ = ["BufferedConfig", "BufferedNeuralStack"]


_MOST_STEPS = 16  # for every symbol; the authors' program has 0 and 1, and all steps are kept in memory


@dataclass(frozen=True)
class BufferedConfig(NeuralStackConfig):
    """The shape of a buffered network: that of a `NeuralStackConfig`, how long it takes, how its output is read off.

    Attributes:
        extra_steps: how many steps it takes for every symbol when the word has been fed to it (0 for reversal, 1 for
            XOR in the authors' program).
        dequeue_first: whether strength 1 leaves the output queue before every reading, the first one too, so that the
            first unit written is never seen. So it is in the authors' program, and section 2.3 can be read so.
    """

    extra_steps: int = 0
    dequeue_first: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.extra_steps <= _MOST_STEPS:
            raise StacklensError(f"extra_steps is {in_short(self.extra_steps)}; expected 0 to {_MOST_STEPS} a symbol")


class BufferedNeuralStack(StackModel[Buffers]):
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

    name: ClassVar[str] = "buffered-neural-stack"
    action_kind: ActionKind = "strengths"
    operations = ("pop", "push", "pop input", "push output")
    task_kind: TaskKind = "transduction"
    real_time = False

    def __init__(self, shape: BufferedConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__()
        self.shape = shape
        self.alphabet, self.null, self.cell_size = shape.alphabet, shape.null, shape.cell_size
        self.recurrent, self.extra_steps = shape.controller != "linear", shape.extra_steps
        self.leading = () if nets is None else (nets,)
        self.skipped = int(shape.dequeue_first)
        late = self.skipped if shape.null is not None and not shape.extra_steps else 0
        self.reads_on = (shape.null,) * late if shape.null is not None else ()
        biases = (-1.0, 0.0, 1.0, 1.0)  # no pops, but reading and writing at every step: as in the authors' program
        self.net = InstructionNet(*instruction_sizes(shape, len(self.operations)), biases, seed, nets)

    @classmethod
    def parameter_shapes(cls, shape: BufferedConfig) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, without making any."""
        return net_shapes(shape, len(cls.operations))

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the symbols that are written."""
        return self.shape.output_alphabet

    def config(self) -> dict[str, Any]:
        """Return the plain data of `BufferedConfig`."""
        return asdict(self.shape)

    def initial_state(self, batch: int) -> NetworkState[Buffers]:
        """Return hidden vectors of zeros, of size 0 for the linear controller, an empty stack and an empty queue."""
        like, leading = self.net.bias, (*self.leading, batch)
        rejected = torch.zeros(leading, dtype=torch.bool, device=like.device)
        memory = Buffers.empty(leading, len(self.alphabet), self.cell_size, like)
        return NetworkState(like.new_zeros(*leading, self.net.memory), memory, rejected)

    def feed(self, stack: Buffers, symbols: Tensor) -> Buffers:
        """Return the memory with ``symbols`` (B,) in the queue."""
        return stack.fed(symbols)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return h_t, (u_t, d_t, i_t, o_t), v_t in (0, 1), and softmax(y_t); ``symbols`` are in ``reading`` already."""
        del symbols
        hidden, drive = self.net(reading[..., 0, :], hidden)
        n_actions = len(self.operations)
        first = n_actions + self.cell_size
        instructions = torch.sigmoid(drive[..., :first]).unsqueeze(-2)
        output = torch.softmax(drive[..., first:], -1)
        return ControllerOutput(hidden, instructions[..., :n_actions], instructions[..., n_actions:], output)

    def said(self, output: Tensor, actions: Tensor, lengths: Tensor) -> Tensor:
        """Return what is read off the output queues, distributions (T, ..., B, O), even where nothing was written.

        A reading mixes the logits y_t; logarithms of their softmax differ from them by a number that is the same for
        all symbols, which the softmax of the mixture does not show.
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

    def stack_of(self, cells: Tensor) -> Buffers:
        """Raise StacklensError: with an input that waits in a queue there is no real-time machine."""
        del cells
        raise StacklensError(f"a {self.name} takes epsilon-steps: it has no real-time pushdown automaton")


def _read_off(ends: Tensor, values: Tensor, positions: Tensor) -> Tensor:
    """Return the sum of what lies within 1 of each of ``positions`` (T,) on, (B, T, D).

    Item j of ``values`` (B, S, D) lies between ``ends`` j - 1 and j, (B, S). It is ``window(...) @ values`` without the
    table of every reading and every step, which long words have no room for: only the few items that a reading meets
    are looked at.
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
