"""What every controller answers on boxes: bounds and decisions, for any hidden vector and any reading in a box."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.extract.certificate.decisions import Decision
from stacklens.extract.certificate.interval import Arithmetic, Box, plus, sigmoid, tanh, times
from stacklens.models.base import StackModel

__all__ = ["BoxAnswer", "BoxController", "array", "lstm_box", "softmax_operations"]


@dataclass(frozen=True, eq=False)
class BoxAnswer:
    """What a controller answers for M boxes.

    Attributes:
        hidden: bounds on the next hidden vectors, (M, H).
        operations: what is done to each stack, 0 none, 1 pop, 2 push, 3 replace.
        pushed: bounds on what a push lays on each stack, (M, D).
        output: the number of the output (see `StackModel.output_numbers`); of a recogniser 0.

    Bounds and margins are NaN where a number on the way may leave the network's format.
    """

    hidden: Box
    operations: tuple[Decision, ...]
    pushed: tuple[Box, ...]
    output: Decision

    @property
    def in_range(self) -> np.ndarray:
        """Return where all numbers stay in the network's format, (M,) bool."""
        boxes = (self.hidden, *self.pushed)
        sides = [side for box in boxes for side in (box.low, box.high)]
        margins = [decision.margins[:, None] for decision in (*self.operations, self.output)]
        inside: np.ndarray = ~np.isnan(np.concatenate([*sides, *margins], -1)).any(-1)
        return inside


class BoxController(ABC):
    """The controller of one network on boxes.

    Attributes:
        arithmetic: the numbers that it computes with.
        height_limit: up to how many cells the network's stacks are exact; None for as many as there is memory for.
    """

    arithmetic: Arithmetic

    @property
    def height_limit(self) -> int | None:
        """Return None: a superposition stack has cells, and no number says how many."""
        return None

    @abstractmethod
    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer to ``letter`` from boxes of hidden vectors (M, H) and readings (M, n_stacks * R)."""

    def traps(self, hidden: Box) -> Decision:
        """Return whether a recogniser rejects for good after a step to ``hidden``, 1 or 0."""
        raise NotImplementedError

    def accepts(self, hidden: Box) -> Decision:
        """Return whether a recogniser accepts a word that leads to ``hidden`` and an empty stack, 1 or 0."""
        raise NotImplementedError


def lstm_box(drive: Box, cell: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on h' and c' of an LSTM, side by side, from its gates' sums (M, 4 H) and c (M, H)."""
    size = cell.low.shape[1]
    enter, keep, new, show = (drive.columns(i * size, (i + 1) * size) for i in range(4))
    kept = times(sigmoid(keep, arithmetic), cell, arithmetic)
    entered = times(sigmoid(enter, arithmetic), tanh(new, arithmetic), arithmetic)
    after = plus(kept, entered, arithmetic)
    return Box.beside([times(sigmoid(show, arithmetic), tanh(after, arithmetic), arithmetic), after])


def softmax_operations(model: StackModel[Any]) -> np.ndarray:
    """Return the number of each of a model's operations."""
    known = {"none": 0, "pop": 1, "push": 2}
    if strange := [operation for operation in model.operations if operation not in known]:
        raise StacklensError(f"{', '.join(strange)} are no operations of a stack, so there is nothing to certify")
    return np.array([known[operation] for operation in model.operations])


def array(parameter: Tensor) -> np.ndarray:
    """Return a parameter's exact values in float64."""
    values: np.ndarray = parameter.detach().cpu().double().numpy()
    return values
