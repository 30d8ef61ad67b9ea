"""The structurally constrained network of Mikolov et al. 2014, "Learning longer memory in recurrent neural networks".

A simple recurrent network beside units that change slowly, and keep what the last words were about:

    s' = (1 - α) B x + α s                  context units, linear, each with a loop to itself alone; α is fixed
    h' = logistic(P s' + A x + R h)         hidden units
    y  = softmax(U h' + V s')

Joulin & Mikolov 2015, table 4, call it SRCN. There are no biases; weights are drawn as those of the other networks
without a stack, from U(-1/sqrt(hidden), 1/sqrt(hidden)), float64.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import TaskKind
from stacklens.models.base import ActionKind, ControllerOutput, NetworkState, Run, StackModel
from stacklens.models.kernels.stack_scan import ScanShape, ScanWeights, looked_up, scan
from stacklens.models.networks.baselines import NoStack
from stacklens.models.networks.joulin import add_parameters, check_shape
from stacklens.models.networks.shapes import check_fields
from stacklens.models.networks.suzgun import uniform

__all__ = ["SCRN", "SCRNConfig"]


@dataclass(frozen=True)
class SCRNConfig:
    """The shape of a structurally constrained network.

    Attributes:
        alphabet: the symbols of the stream.
        hidden: number of hidden units, at least 1.
        context: number of context units, at least 1.
        decay: α, which share of itself a context unit keeps, from 0 to 1.

    Raises:
        StacklensError: a size is less than 1 or far too large, the share is none, or the alphabet repeats a symbol.
    """

    alphabet: tuple[str, ...]
    hidden: int = 100
    context: int = 40
    decay: float = 0.95

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "alphabet", tuple(self.alphabet))
        check_shape(self.alphabet, None, hidden=self.hidden, context=self.context)
        if not 0 <= self.decay <= 1:
            raise StacklensError(f"decay is {self.decay}; expected a number from 0 to 1")


class SCRN(StackModel[NoStack]):
    """A structurally constrained network, or ``nets`` of them on a leading axis; it predicts the next symbol.

    Hidden vectors are h and s side by side, (..., B, hidden + context).

    >>> net = SCRN(SCRNConfig(("a", "b"), hidden=3, context=2), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> step.hidden.shape, step.reading.shape, round(step.output.sum().item(), 6)
    (torch.Size([1, 5]), torch.Size([1, 0, 1]), 1.0)
    """

    name: ClassVar[str] = "scrn"
    action_kind: ActionKind = "none"
    task_kind: TaskKind = "next symbol"
    n_stacks = 0
    cell_size = 1
    slow_weights: torch.nn.Parameter  # B, (..., symbols, context)
    input_weights: torch.nn.Parameter  # A, (..., symbols, hidden)
    context_weights: torch.nn.Parameter  # P, (..., hidden, context)
    recurrent_weights: torch.nn.Parameter  # R, (..., hidden, hidden)
    output_weights: torch.nn.Parameter  # U and V side by side, (..., symbols, hidden + context)

    def __init__(self, shape: SCRNConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__()
        self.shape, self.alphabet = shape, shape.alphabet
        self.leading = () if nets is None else (nets,)
        add_parameters(self, self._draw, seed, nets)

    def config(self) -> dict[str, Any]:
        """Return the plain data of `SCRNConfig`."""
        return asdict(self.shape)

    def initial_state(self, batch: int) -> NetworkState[NoStack]:
        """Return units of zeros, and nothing for a stack."""
        leading, like = (*self.leading, batch), self.output_weights
        rejected = torch.zeros(leading, dtype=torch.bool, device=like.device)
        hidden = like.new_zeros(*leading, self.shape.hidden + self.shape.context)
        return NetworkState(hidden, NoStack(like.new_zeros(*leading, 0, 1)), rejected)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return h and s after ``symbols`` (B,) and the next symbol's probabilities; there are no actions."""
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
        nothing = self.recurrent_weights.new_zeros(*self.leading, 0, size)
        weights = ScanWeights(self.recurrent_weights, nothing, nothing[..., 0])
        no_cells = hidden.new_zeros(*hidden.shape[:-1], 0, 0, 1)
        made = scan(drive, weights, hidden.contiguous(), no_cells, ScanShape("sigmoid", 2, 1, 0.0, 0))
        units = torch.cat([made.hidden, context], -1)
        output = self._written(units)
        after = NetworkState(units[-1], state.stack, state.rejected, output[-1])
        return Run(output, output.new_zeros(*output.shape[:-1], 0, 0), after, units)

    def stack_of(self, cells: Tensor) -> NoStack:
        """Return nothing for each of ``cells`` (M, 0, 1, 1)."""
        return NoStack(cells[:, :, 0])

    def _written(self, units: Tensor) -> Tensor:
        return torch.softmax(units @ self.output_weights.mT, -1)

    def _draw(self, generator: torch.Generator) -> dict[str, Tensor]:
        bound = 1 / math.sqrt(self.shape.hidden)
        return {name: uniform(size, bound, generator) for name, size in self.parameter_shapes(self.shape).items()}

    @classmethod
    def parameter_shapes(cls, shape: SCRNConfig) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, without making any."""
        n_symbols, size = len(shape.alphabet), shape.hidden
        return {
            "slow_weights": (n_symbols, shape.context),
            "input_weights": (n_symbols, size),
            "context_weights": (size, shape.context),
            "recurrent_weights": (size, size),
            "output_weights": (n_symbols, size + shape.context),
        }
