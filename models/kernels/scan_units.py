"""The hidden units of a scan: what they make of the sums that drive them, and how gradients go back through them.

A unit is made for one run: `forward` at every step in turn, `begin_back`, then `backward` from the last step to the
first. Arrays are (…, N, H, B): networks, units, words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Activation", "Array", "LSTMUnits", "SquashedUnits", "Units", "logistic", "make_units", "softmax", "total"]

Activation = Literal["tanh", "sigmoid", "lstm"]
Array = npt.NDArray[Any]


def logistic(values: Array, out: Array) -> Array:
    """Return the logistic function of ``values``, in ``out``, which may be ``values``; nothing can overflow."""
    np.multiply(values, 0.5, out=out)
    np.tanh(out, out=out)
    out *= 0.5
    out += 0.5
    return out


def softmax(rows: Array, out: Array) -> None:
    """Put the softmax over the few rows of ``rows`` into ``out``."""
    largest = np.maximum(rows[0], rows[1])
    for row in rows[2:]:
        np.maximum(largest, row, out=largest)
    np.subtract(rows, largest, out=out)
    np.exp(out, out=out)
    out /= total(out)


def total(rows: Array) -> Array:
    """Return the sum of the few rows of ``rows``, at least two: one by one, which for so few is faster than a sum."""
    summed: Array = rows[0] + rows[1]
    for row in rows[2:]:
        summed += row
    return summed


class Units(ABC):
    """Hidden units over the steps of a run.

    Attributes:
        size: how many hidden units there are, H.
    """

    size: int

    @abstractmethod
    def forward(self, t: int, sums: Array, out: Array) -> None:
        """Put h after step ``t`` into ``out`` (N, H, B), from the units' sums (N, H or 4H, B)."""

    @abstractmethod
    def state(self, last: Array) -> Array:
        """Return the hidden vectors after the last step, whose h is ``last``: (N, H, B), or h and c, (N, 2H, B)."""

    @abstractmethod
    def begin_back(self, hidden: Array) -> None:
        """Prepare the derivatives of all steps, whose h are ``hidden`` (T, N, H, B)."""

    @abstractmethod
    def backward(self, t: int, of_hidden: Array, out: Array) -> None:
        """Put the gradient of the sums of step ``t`` into ``out``, given that of h after it."""


class SquashedUnits(Units):
    """Units h = f(sums), where f is tanh or the logistic function."""

    def __init__(self, activation: Activation, hidden: Array) -> None:
        self.size = hidden.shape[-2]
        self.activation = activation

    def forward(self, t: int, sums: Array, out: Array) -> None:
        """Put f of the sums into ``out``."""
        del t
        if self.activation == "tanh":
            np.tanh(sums, out=out)
        else:
            logistic(sums, out)

    def state(self, last: Array) -> Array:
        """Return h."""
        return last

    def begin_back(self, hidden: Array) -> None:
        """Prepare the slopes of f."""
        self.slopes = 1 - hidden * hidden if self.activation == "tanh" else hidden * (1 - hidden)

    def backward(self, t: int, of_hidden: Array, out: Array) -> None:
        """Put the gradient of the sums into ``out``."""
        np.multiply(of_hidden, self.slopes[t], out=out)


class LSTMUnits(Units):
    """The units of an LSTM with forget gates; the sums are those of input, forget, cell and output, one after another.

    Args:
        steps: how many there are.
        hidden: h and c before the first step, (N, 2H, B).
    """

    def __init__(self, steps: int, hidden: Array) -> None:
        nets, double, batch = hidden.shape
        self.size = size = double // 2
        self.gates = np.empty((steps, 4, nets, size, batch), hidden.dtype)
        self.cells = np.empty((steps + 1, nets, size, batch), hidden.dtype)
        self.shown = np.empty((steps, nets, size, batch), hidden.dtype)  # tanh of c
        self.cells[0] = hidden[:, size:]
        # logistic(x) is tanh(x / 2) / 2 + 1 / 2, so that one tanh serves all four
        self.inner = np.array([0.5, 0.5, 1.0, 0.5], hidden.dtype).reshape(4, 1, 1, 1)
        self.shift = 1 - self.inner

    def forward(self, t: int, sums: Array, out: Array) -> None:
        """Put h into ``out``; c is kept."""
        gates, cell = self.gates[t], self.cells[t + 1]
        nets, _, batch = sums.shape
        np.multiply(sums.reshape(nets, 4, self.size, batch).swapaxes(0, 1), self.inner, out=gates)
        np.tanh(gates, out=gates)
        gates *= self.inner
        gates += self.shift
        np.multiply(gates[1], self.cells[t], out=cell)
        cell += gates[0] * gates[2]
        np.multiply(gates[3], np.tanh(cell, out=self.shown[t]), out=out)

    def state(self, last: Array) -> Array:
        """Return h and c."""
        return np.concatenate([last, self.cells[-1]], -2)

    def begin_back(self, hidden: Array) -> None:
        """Prepare the derivatives of c and of h by the sums."""
        enter, keep, new, show = self.gates.swapaxes(0, 1)
        by_sums = [new * enter * (1 - enter), self.cells[:-1] * keep * (1 - keep), enter * (1 - new * new)]
        self.of_three = np.stack(by_sums, 1)
        self.keep = keep
        self.of_show = hidden * (1 - show)
        self.to_cell = show * (1 - self.shown * self.shown)
        self.of_cell = np.zeros_like(self.cells[0])

    def backward(self, t: int, of_hidden: Array, out: Array) -> None:
        """Put the gradient of the sums into ``out``, and go back to c before the step."""
        of_cell = of_hidden * self.to_cell[t]
        of_cell += self.of_cell
        nets, _, batch = out.shape
        parts = out.reshape(nets, 4, self.size, batch).swapaxes(0, 1)
        np.multiply(of_cell, self.of_three[t], out=parts[:3])
        np.multiply(of_hidden, self.of_show[t], out=parts[3])
        self.of_cell = np.multiply(of_cell, self.keep[t], out=of_cell)


def make_units(activation: Activation, steps: int, hidden: Array) -> Units:
    """Return the units for a run of ``steps`` from ``hidden`` (N, H, B), of an LSTM h and c, (N, 2H, B)."""
    return LSTMUnits(steps, hidden) if activation == "lstm" else SquashedUnits(activation, hidden)
