"""Noise-robust training: what a controller sees is disturbed before every step, and being unsure costs something.

What a disturbance must not change has to sit where curves are flat: hidden units at the ends of their range, gates near
0 or 1. Such a network forgets what it was disturbed by within a few steps, so a proof by boxes that it follows an
automaton for ever need not fail because the boxes grow (see `stacklens.extract.certificate`). Noise on the weights or
units of a recurrent network is an old means to the same end (Jim, Giles & Horne 1996).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from stacklens.models.base import Run, StackModel

__all__ = ["blur", "draw_noise", "remembering"]

_SHUT = -4.0  # the bias of a forget gate that keeps 2 % of a cell


def draw_noise(
    model: StackModel[Any], steps: int, words: int, amount: float, reading: float, generator: torch.Generator
) -> Tensor:
    """Return what is added to hidden units and readings in S ``steps`` of B ``words``, (S, B, H + n_stacks * R).

    All hidden units of a word are moved by the same amount in a step, up or down, and so are all numbers that it reads
    of its stacks; both amounts are drawn uniformly. Networks on leading axes are disturbed alike (`StackModel.run`).

    Args:
        model: the network, or several on a leading axis.
        amount: the largest disturbance of a unit between -1 and 1, at least 0; of one between 0 and 1 half of that.
        reading: that of a number that is read, as a share of ``amount``.
        generator: where they are drawn from.
    """
    low, high = model.unit_range
    like = next(model.parameters())
    seen = model.initial_state(1).stack.reading().shape[-2:].numel()
    parts = []
    for size, largest in ((model.n_units, amount * (high - low) / 2), (seen, amount * reading)):
        signs = torch.where(torch.rand((steps, words, size), generator=generator) < 0.5, -1.0, 1.0)
        parts.append(largest * torch.rand((steps, words, 1), generator=generator) * signs)
    return torch.cat(parts, -1).to(like)


def blur(model: StackModel[Any], made: Run) -> Tensor:
    """Return how far hidden units are from the ends of their range and actions from whole ones, (S, ..., B).

    It is 0 for a network that has decided, and at most 1 for the units and 1 for the actions.
    """
    low, high = model.unit_range
    units, actions = made.hidden[..., : model.n_units], made.actions
    shares = model.action_kind == "softmax"
    graded = 1 - actions.square().sum(-1) if shares else (4 * actions * (1 - actions)).mean(-1)
    unsure = graded.mean(-1)
    if model.n_units:
        unsure = unsure + 1 - ((2 * units - low - high) / (high - low)).abs().mean(-1)
    return unsure


def remembering(model: StackModel[Any]) -> Tensor | float:
    """Return how far an LSTM's forget gates are from being shut for good, (...), 0 where there is no LSTM.

    It is the mean over hidden units of the squares of a gate's weights and of how far its bias is from -4. Where gates
    are open cells add up for ever, and nothing that went wrong in one is ever forgotten: what has to be kept belongs on
    the stack.
    """
    gates = model.forget_gates()
    if gates is None:
        return 0.0
    weights, bias = gates
    return (weights.square().sum(-1) + (bias - _SHUT).square()).mean(-1)
