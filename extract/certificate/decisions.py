"""What a network decides on whole boxes: an operation, an output, a verdict, and how far it is from another one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from stacklens.extract.certificate.interval import Affine, Arithmetic, Box, Row
from stacklens.models.set_numbers import set_numbers

__all__ = ["Decision", "above", "largest", "largest_of", "set_of", "signed", "strengths"]

_SOFTMAX = 64.0  # units by which equal numbers may come out of a softmax as different ones, generously


@dataclass(frozen=True, eq=False)
class Decision:
    """What is decided, as numbers (M,), and by which margin (M,): not for sure where that is not above 0."""

    numbers: np.ndarray
    margins: Row


def above(box: Box, threshold: float) -> Decision:
    """Return 1 where the one number of ``box`` (M, 1) is above ``threshold``, else 0."""
    over, under = box.low[:, 0] - threshold, threshold - box.high[:, 0]
    return Decision((over >= under).astype(np.int64), np.maximum(over, under))


def set_of(box: Box, threshold: float = 0.5) -> Decision:
    """Return the sets of numbers above ``threshold``, number i counting 2^i; the margin is the smallest one."""
    over, under = box.low - threshold, threshold - box.high
    numbers = set_numbers(torch.from_numpy(over >= under))
    return Decision(numbers, np.maximum(over, under).min(1))


def signed(box: Box, threshold: float) -> Decision:
    """Return the operations of actions (M, 1): 2 push above ``threshold``, 1 pop below minus it, else 0."""
    low, high = box.low[:, 0], box.high[:, 0]
    margins = np.stack([np.minimum(low + threshold, threshold - high), -threshold - high, low - threshold])
    return Decision(margins.argmax(0), margins.max(0))


def strengths(box: Box, threshold: float) -> Decision:
    """Return the operations of strengths (M, 2) of pop and push: 0 none, 1 pop, 2 push, 3 replace."""
    return set_of(box, threshold)


def largest(layer: Affine, box: Box, arithmetic: Arithmetic, temperature: float = 1.0) -> Decision:
    """Return which output of ``layer`` on ``box`` is the largest; the margin is its lead, before any softmax.

    What goes into the softmax is divided by ``temperature`` first. Not sure where that, a quotient or a share may leave
    the numbers of the format: an infinity there makes all shares NaN.
    """
    sizes = layer.of_box(box, arithmetic).sizes.max(1) / temperature
    blur = _SOFTMAX * (arithmetic.unit * (1 + sizes) + arithmetic.least)
    shares_fit = 2 * len(layer.weights) * arithmetic.least <= 1
    warm = arithmetic.least <= temperature <= 1 / arithmetic.least  # or it, or its reciprocal, is 0 or infinite
    blur = np.where((sizes <= arithmetic.most) & shares_fit & warm, blur, np.nan)
    leads = []
    for i in range(len(layer.weights)):
        others = np.delete(layer.minus(i).of_box(box, arithmetic).high, i, axis=1)
        leads.append(-others.max(1, initial=-np.inf) / temperature)
    lead = np.stack(leads)
    return Decision(lead.argmax(0), lead.max(0) - blur)


def largest_of(box: Box) -> Decision:
    """Return which of the numbers of ``box`` (M, O) is the largest, by the gap to the others' bounds."""
    leads = []
    for i in range(box.low.shape[1]):
        leads.append(box.low[:, i] - np.delete(box.high, i, axis=1).max(1, initial=-np.inf))
    lead = np.stack(leads)
    return Decision(lead.argmax(0), lead.max(0))
