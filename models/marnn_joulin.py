"""The Stack-RNN of Joulin & Mikolov 2015 as Suzgun et al. 2019 compare with it (section 3.1 and appendix A).

It differs from their own Stack-RNN in three ways: the stack's top goes into the hidden layer by weights of its own,
not through those of the hidden vector; the hidden layer is a sigmoid, not a tanh; and it has no biases:

    h' = sigmoid(W_ih x + W_hh h + W_sh s)

All else is theirs: one stack of 104 cells that are empty at 0 and of which the first is seen, two operations, outputs
through sigmoids, biases there and in what is pushed and done, PyTorch's default initial weights. (In their program the
model of this name is the Stack-RNN with a softmax itself.) `stacklens.models.stack_rnn` is the one of the 2015 paper.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from stacklens.models.base import Controlled
from stacklens.models.marnn import MarnnConfig, MarnnStackRNN
from stacklens.models.scan_units import Activation

__all__ = ["MarnnConfig", "MarnnJoulin"]

_WITHOUT = ("input_bias", "hidden_bias", "memory_bias")


class MarnnJoulin(MarnnStackRNN):
    """A Stack-RNN with the controller of Joulin & Mikolov, or ``nets`` of them, net n with the weights of ``seed + n``.

    >>> net = MarnnJoulin(MarnnConfig(("(", ")")), seed=1)
    >>> net.step(torch.tensor([0]), net.initial_state(1)).hidden.min().item() > 0
    True
    """

    name: ClassVar[str] = "marnn-joulin"
    activation: ClassVar[Activation] = "sigmoid"

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Controlled:
        """Return h', the shares of the operations, the new element, and which symbols may come next."""
        drive = self.input_weights.mT[..., symbols, :] + hidden @ self.hidden_weights.mT
        after = torch.sigmoid(drive + reading[..., 0, :] @ self.memory_weights.mT)
        return self._said(after, after)

    def _recurrence(self) -> tuple[Tensor, Tensor]:
        return self.input_weights.mT, torch.cat([self.hidden_weights, self.memory_weights], -1)

    @classmethod
    def parameter_shapes(cls, shape: MarnnConfig) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, without making any."""
        return {name: size for name, size in cls._all_shapes(shape).items() if name not in _WITHOUT}

    def _draw(self, generator: torch.Generator) -> dict[str, Tensor]:
        return {name: draw for name, draw in super()._draw(generator).items() if name not in _WITHOUT}
