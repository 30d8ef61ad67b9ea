"""The pieces that several kinds of training are put together from: batches by length, what is lost, clipping, rates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stacklens.models.base import NetworkState, StackModel

__all__ = [
    "batches_by_length",
    "clip_gradients",
    "cosine",
    "detached",
    "in_order",
    "log_loss",
    "unstacked",
]

_TINY = 1e-12  # probabilities are kept above it in logarithms, norms in quotients
M = TypeVar("M", bound=StackModel[Any])


def in_order(lengths: npt.NDArray[Any], size: int) -> list[npt.NDArray[np.int64]]:
    """Return the numbers of words of these ``lengths`` in batches of ``size``, the shortest words first."""
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]


def batches_by_length(lengths: npt.NDArray[Any], size: int, rng: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """Return the numbers of the words in batches of ``size``, in random order.

    A batch has words of about the same length, so that few steps are wasted; which of them, is drawn anew each time.
    """
    order = np.lexsort((rng.random(len(lengths)), lengths))
    starts = rng.permutation(np.arange(0, len(order), size))
    return [order[start : start + size] for start in starts]


def log_loss(outputs: Tensor, targets: Tensor, least: float | None = _TINY) -> Tensor:
    """Return minus the logarithms of the probabilities that distributions give to what should be said, (...).

    Args:
        outputs: distributions, (..., O).
        targets: the numbers of what should be said, of a shape that expands to (...).
        least: smaller probabilities count as this one; None for the smallest number that is not subnormal.
    """
    index = targets.expand(outputs.shape[:-1]).unsqueeze(-1)
    smallest = torch.finfo(outputs.dtype).tiny if least is None else least
    return -outputs.gather(-1, index).squeeze(-1).clamp(min=smallest).log()


def clip_gradients(parameters: Iterable[Tensor], norm: float) -> None:
    """Shorten the gradients of each network on the leading axis of all ``parameters`` to ``norm`` where longer.

    It is done in place: a gradient that two parameters have together, as an LSTM's biases do, is shortened twice.
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    norms = torch.stack([gradient.flatten(1).square().sum(1) for gradient in gradients]).sum(0).sqrt()
    factors = (norm / norms.clamp(min=_TINY)).clamp(max=1)
    for gradient in gradients:
        gradient.mul_(factors.view(-1, *[1] * (gradient.dim() - 1)))


def cosine(done: float, total: float = 1.0) -> float:
    """Return a factor for a rate that falls from 1 to 0 as half a cosine, when ``done`` of ``total`` is over."""
    return (1 + math.cos(math.pi * done / total)) / 2


def unstacked(single: M, weights: dict[str, Tensor], number: int) -> M:
    """Return ``single`` with the weights that network ``number`` has among ``weights`` (nets, ...) by name."""
    single.load_state_dict({name: value[number].cpu() for name, value in weights.items()})
    return single.eval()


def detached(state: NetworkState[Any]) -> NetworkState[Any]:
    """Return the same state, from which no gradient flows back."""
    stack = state.stack
    tensors = {field.name: getattr(stack, field.name) for field in fields(stack)}
    kept = {name: value.detach() for name, value in tensors.items() if isinstance(value, Tensor)}
    return NetworkState(state.hidden.detach(), replace(stack, **kept), state.rejected)
