"""The buffered networks of Hao et al. 2018 (section 2.3): Neural Stacks that choose when to read and when to write.

At step t the controller reads x_t from the front of an input queue, after strength i_{t-1} has left it (i_0 = 0), and
answers with [u, d, i, o, v, y]: beside the stack's pop u_t and push d_t of v_t, how much i_t of the input to be done
with and with what strength o_t to put y_t at the back of an output queue. So i_t near 0 is an epsilon-step on the input
and o_t near 0 one on the output. At the end the output is read off, strength 1 at a time.

On a queue to which nothing is added while it is emptied, both are windows of width 1 on a line. Item j lies on
[e_{j-1}, e_j], e_j = s_1 + ... + s_j, and after strength P has left in all

    x = sum_j |[e_{j-1}, e_j] n [P, P + 1]| item_j

which equals the paper's cascades iota_t, xi_t. The line of the input has a symbol on every unit; that of the output has
y_t on a piece as long as o_t, and reading k sees the window at P = k.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from stacklens.errors import StacklensError
from stacklens.models.base import TaskKind
from stacklens.models.neural_stack import InstructionNet, NeuralStackConfig
from stacklens.models.rounding import round_actions
from stacklens.models.strength_stack import StrengthStack

__all__ = ["BufferedConfig", "BufferedNeuralStack", "BufferedRun"]

_STRENGTHS = 4  # u, d, i, o


@dataclass(frozen=True)
class BufferedConfig(NeuralStackConfig):
    """The shape of a buffered network: that of a `NeuralStackConfig` and how its output is read off.

    Attributes:
        dequeue_first: whether strength 1 leaves the output queue before every reading, the first one too, so that the
            first unit written is never seen. So it is in the authors' program, and section 2.3 can be read so.
    """

    dequeue_first: bool = True


@dataclass(frozen=True)
class BufferedRun:
    """All that a buffered network did on B words in S steps: what it read, answered and wrote.

    Attributes:
        inputs: x_t, the superposition of symbols that the controller saw, (..., B, S, symbols); the empty queue is 0.
        left: how much of every symbol was still in the input queue when it saw that, (..., B, S, T), in [0, 1].
        reading: r_{t-1}, what it saw of the stack, (..., B, S, D).
        hidden: what it kept, (..., B, S, H); H is 0 for the linear controller.
        actions: pop u_t and push d_t, (..., B, S, 2), in [0, 1].
        pushed: v_t, (..., B, S, D), in (0, 1).
        input_pops: i_t, which take effect before step t + 1, (..., B, S), in [0, 1].
        output_pushes: o_t, (..., B, S), in [0, 1].
        logits: y_t, (..., B, S, output symbols).
        written: how much of each of K readings of the output queue was there, (..., B, K), in [0, 1].
        output_logits: what these readings gave, (..., B, K, output symbols); 0 where nothing was there.
    """

    inputs: Tensor
    left: Tensor
    reading: Tensor
    hidden: Tensor
    actions: Tensor
    pushed: Tensor
    input_pops: Tensor
    output_pushes: Tensor
    logits: Tensor
    written: Tensor
    output_logits: Tensor

    @property
    def output(self) -> Tensor:
        """Return the distributions over output symbols, (..., B, K, output symbols); even where nothing was written."""
        return torch.softmax(self.output_logits, -1)


class BufferedNeuralStack(nn.Module):
    """A buffered Neural Stack network, or ``nets`` of them on a leading axis, in float64.

    It is no `StackModel`, whose `step` reads one symbol and answers with one output. Here a step may do neither, or
    both in part; how many steps a word gets is for the caller to say, and there is no output before the last of them.

    >>> net = BufferedNeuralStack(BufferedConfig(("0", "1"), cell_size=6), seed=1)
    >>> seen = net.run(torch.tensor([[0, 1, 1], [1, 0, -1]]), steps=6)
    >>> seen.output.shape, seen.actions.shape, seen.left[:, 0].tolist()
    (torch.Size([2, 3, 2]), torch.Size([2, 6, 2]), [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    """

    name: ClassVar[str] = "buffered-neural-stack"
    task_kind: TaskKind = "transduction"

    def __init__(self, shape: BufferedConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__()
        self.shape = shape
        self.alphabet, self.output_alphabet = shape.alphabet, shape.output_alphabet
        self.null, self.cell_size, self.recurrent = shape.null, shape.cell_size, shape.controller != "linear"
        self.leading = () if nets is None else (nets,)
        n_in, n_out = len(shape.alphabet) + shape.cell_size, _STRENGTHS + shape.cell_size + len(shape.output_alphabet)
        biases = (-1.0, 0.0, 1.0, 1.0)  # no pops, but reading and writing at every step: as in the authors' program
        self.net = InstructionNet(shape.controller, n_in, shape.hidden, n_out, biases, seed, nets)

    def config(self) -> dict[str, Any]:
        """Return the plain data of `BufferedConfig`."""
        return asdict(self.shape)

    def run(self, symbols: Tensor, steps: int, *, outputs: int | None = None, rounded: bool = False) -> BufferedRun:
        """Return what the network does on ``symbols`` (B, T) int, -1 where a word has ended.

        Args:
            symbols: the words, numbers in the alphabet.
            steps: how many steps it takes, at least 1 (the authors give T, for XOR 2 T).
            outputs: how many symbols to read off its output, K; T unless given.
            rounded: whether strengths of 0.5 or more become 1 and others 0: a pushdown transducer with epsilon-moves.

        Raises:
            StacklensError: there are no steps to take, or a symbol is not one of the alphabet's.
        """
        if steps < 1 or (symbols >= len(self.alphabet)).any():
            found = f"{steps} steps and symbols up to {int(symbols.max())}" if symbols.numel() else f"{steps} steps"
            raise StacklensError(f"expected at least 1 step and symbols below {len(self.alphabet)}, not {found}")
        records = self._steps(symbols, steps, rounded)
        columns = {key: torch.stack([record[key] for record in records], -2) for key in records[0]}
        strengths = columns.pop("strengths")  # (..., B, S, 4)
        ends = strengths[..., 3].cumsum(-1).unsqueeze(-2)  # (..., B, 1, S)
        readings = torch.arange(symbols.shape[1] if outputs is None else outputs, device=symbols.device)  # (K,)
        seen = _window(ends, (readings + self.shape.dequeue_first).to(ends.dtype))  # (..., B, K, S)
        return BufferedRun(
            **columns,
            actions=strengths[..., :2],
            input_pops=strengths[..., 2],
            output_pushes=strengths[..., 3],
            written=seen.sum(-1),
            output_logits=seen @ columns["logits"],
        )

    def _steps(self, symbols: Tensor, steps: int, rounded: bool) -> list[dict[str, Tensor]]:
        """Return the columns of a `BufferedRun` step by step, all strengths together as (..., B, 4)."""
        like, leading, size = self.net.bias, (*self.leading, len(symbols)), self.cell_size
        letters = nn.functional.one_hot(symbols.clamp(min=0), len(self.alphabet)).to(like.dtype)  # (B, T, symbols)
        ends = (symbols >= 0).to(like.dtype).cumsum(-1)  # (B, T)
        hidden, gone = like.new_zeros(*leading, self.net.memory), like.new_zeros(leading)
        stack, records = StrengthStack.empty(leading, size, like), []
        for _ in range(steps):
            inputs = (_window(ends, gone).unsqueeze(-2) @ letters).squeeze(-2)
            reading = stack.reading()[..., 0, :]
            hidden, drive = self.net(torch.cat([inputs, reading], -1), hidden)
            instructions, logits = torch.sigmoid(drive[..., : _STRENGTHS + size]), drive[..., _STRENGTHS + size :]
            strengths, pushed = instructions[..., :_STRENGTHS], instructions[..., _STRENGTHS:]
            strengths = round_actions("strengths", strengths) if rounded else strengths
            record = {"inputs": inputs, "reading": reading, "hidden": hidden, "pushed": pushed, "logits": logits}
            records.append({**record, "strengths": strengths, "left": _window(ends, gone, torch.inf)})
            stack = stack.next(strengths[..., None, :2], pushed.unsqueeze(-2))
            gone = gone + strengths[..., 2]
        return records


def _window(ends: Tensor, position: Tensor, width: float = 1) -> Tensor:
    """Return how much of every item lies within ``width`` of ``position`` (...) on, (..., T).

    Item j lies between ``ends`` j - 1 and j, (..., T), the first from 0.
    """
    starts = nn.functional.pad(ends, (1, 0))[..., :-1]
    position = position.unsqueeze(-1)
    return torch.relu(torch.minimum(ends, position + width) - torch.maximum(starts, position))
