"""A network in training whose hidden vector and reading are disturbed before every step, so that it becomes firm.

What a disturbance must not change has to sit where curves are flat: hidden units near -1 or 1, gates near 0 or 1. Such
a network forgets what it was disturbed by within a few steps, so a proof by boxes that it follows an automaton for ever
need not fail because the boxes grow (see `stacklens.extract.certificate`). Noise on the weights or units of a recurrent
network is an old means to the same end (Jim, Giles & Horne 1996).
"""

from __future__ import annotations

import torch
from torch import Tensor

from stacklens.models.base import ControllerOutput, S, StackModel
from stacklens.models.rounding import Wrapper

__all__ = ["NoisyNetwork"]

_READING = 0.3  # a reading is disturbed less than a hidden vector: values on a stack lie between 0 and 1, not -1 and 1


class NoisyNetwork(Wrapper[S]):
    """A network that is disturbed at every step, and keeps count of how blurred it is; for one run.

    All numbers of a hidden vector are moved by the same amount, up or down; the amount is drawn for every word and
    step. Networks on a leading axis are all disturbed in the same way.

    Args:
        model: the network; its weights are shared, not copied.
        amount: the largest disturbance, at least 0.
        size: how many of the hidden numbers are units between -1 and 1, which come first (the others are an LSTM's c);
            all of them unless given.
        generator: where disturbances are drawn from.
    """

    name = "shaken"

    def __init__(self, model: StackModel[S], amount: float, size: int | None, generator: torch.Generator) -> None:
        super().__init__(model)
        self.amount, self.size, self.generator = amount, size, generator
        self.blurs: list[Tensor] = []  # of each step, (..., B)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the wrapped controller's answer to what is disturbed."""
        answer = self.model.controller(symbols, self._moved(hidden, 2), self._moved(reading, 3, _READING))
        unsure = 1 - answer.hidden[..., : self.size].abs().mean(-1)
        graded = (1 - answer.actions.square().sum(-1)).mean(-1)
        self.blurs.append(unsure + graded)
        return answer

    def blur(self, weights: Tensor) -> Tensor:
        """Return how far units are from -1 and 1 and actions from whole ones, (...), 0 for not at all.

        ``weights`` (T, B) are those of the steps of the run; they sum to 1.
        """
        return torch.stack([blur @ weight for blur, weight in zip(self.blurs, weights, strict=True)]).sum(0)

    def _moved(self, values: Tensor, axes: int, share: float = 1.0) -> Tensor:
        """Return ``values`` moved, those of all leading networks alike; the last ``axes`` begin with the batch."""
        shape = values.shape[-axes:]
        signs = torch.where(torch.rand(shape, generator=self.generator) < 0.5, -1.0, 1.0)
        amounts = torch.rand((shape[0], *[1] * (axes - 1)), generator=self.generator)
        return values + (self.amount * share * signs * amounts).to(values)
