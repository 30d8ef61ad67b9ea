"""RNNs and LSTMs that read and learn symbol by symbol, gradients by hand: baselines of Joulin & Mikolov 2015.

After symbols that count, the errors of their predictions go back through the last steps, and all weights move. What
goes back step by step is one product of a row and a matrix, and for an LSTM five products of numbers, for all networks
at once; sums over steps, which make the gradients, are products of matrices behind the loop, and so is what a layer
hands down to the one below.

As in `symbol_scan`, hidden layers and gates are those of the moment when a step was taken, and the weights that an
error goes back through are those of the update; an error goes back as many steps as symbols were learned since
memories were emptied, at most ``steps``. The errors of several symbols can be gathered for an update (``together``):
they go back side by side, in hardly more time than one, and all as far as the first of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..models.kernels.scan import Array, softmax

_SLOTS = 4  # kept steps, in numbers of those that an error goes back; then the last ones move to the front


@dataclass(frozen=True)
class UnitShape:
    """What does not change.

    Attributes:
        lstm: whether units are those of an LSTM; else they are tanh of their sums.
        steps: how far an error goes back.
        clip: what an error of hidden vectors comes back with from a later step is kept between minus this and this.
        together: weights move once so many symbols count, or so many steps after the first of them.
    """

    lstm: bool
    steps: int
    clip: float
    together: int = 1


class UnitScan:
    """N networks on one stream of symbols.

    >>> ones = {"input_0_weights": np.ones((1, 3, 2)), "hidden_0_weights": np.zeros((1, 3, 3))}
    >>> ones |= {name: np.zeros((1, 3)) for name in ("input_0_bias", "hidden_0_bias")}
    >>> ones |= {"output_weights": np.zeros((1, 2, 3)), "output_bias": np.zeros((1, 2))}
    >>> scan = UnitScan(ones, UnitShape(lstm=False, steps=5, clip=15.0))
    >>> scan.read(0)
    >>> scan.learn(1, rates=np.ones(1)).tolist(), scan.weights()["output_bias"].tolist()
    ([0.5], [[-0.5, 0.5]])
    """

    def __init__(self, weights: Mapping[str, Array], shape: UnitShape) -> None:
        self.shape = shape
        self._kept = shape.steps + shape.together - 1
        slots = _SLOTS * self._kept
        self._weights = {name: np.array(value) for name, value in weights.items()}
        # a row for each symbol: what it adds to the sums
        self._weights["input_0_weights"] = np.ascontiguousarray(self._weights["input_0_weights"].swapaxes(1, 2))
        layers = sum(name.startswith("hidden_") and name.endswith("_weights") for name in weights)
        kind = _LSTMLayer if shape.lstm else _TanhLayer
        self._layers = [kind(self._weights[f"hidden_{number}_weights"], slots, shape.clip) for number in range(layers)]
        self._symbols = np.zeros(slots, np.int64)
        self._gathered: list[tuple[int, Array]] = []  # slots, and what is wrong with the outputs there
        self._first = 0  # the step that these go back to
        self.empty()

    def weights(self) -> dict[str, Array]:
        """Return the weights by the model's names, (N, ...)."""
        self._move()
        copies = {name: value.copy() for name, value in self._weights.items()}
        return {**copies, "input_0_weights": copies["input_0_weights"].swapaxes(1, 2).copy()}

    def empty(self) -> None:
        """Begin with hidden vectors of zeros, and forget all steps; what is gathered is learned before."""
        self._move()
        for layer in self._layers:
            layer.empty()
        self._now, self._learned = -1, 0

    def read(self, symbol: int, rounded: bool = False) -> None:
        """Take a step; there is nothing that could be ``rounded``."""
        del rounded
        if self._gathered and self._now + 1 - self._gathered[0][0] == self.shape.together:
            self._move()
        now = self._next_slot()
        self._symbols[now] = symbol
        drive = self._weights["input_0_weights"][:, symbol]
        for number, layer in enumerate(self._layers):
            if number:
                drive = _times(self._layers[number - 1].after[now], self._weights[f"input_{number}_weights"])
            sums = _times(layer.before[now], layer.recurrent)
            sums += drive
            sums += self._weights[f"input_{number}_bias"]
            sums += self._weights[f"hidden_{number}_bias"]
            layer.step(now, sums)

    def probabilities(self) -> Array:
        """Return those of the next symbol, (N, O)."""
        sums = _times(self._layers[-1].after[self._now], self._weights["output_weights"])
        sums += self._weights["output_bias"]
        made = np.empty_like(sums)
        softmax(sums.T, made.T)
        return made

    def learn(self, target: int, rates: Array) -> Array:
        """Move all weights towards ``target`` at each network's own rate, (N,); return its probability before, (N,).

        With ``together`` above 1 they move with the last symbol that is gathered, at the rates that are given then.
        """
        outputs = self.probabilities()
        wrong = -outputs
        wrong[:, target] += 1
        self._learned += 1
        if not self._gathered:
            self._first = self._now + 1 - min(self._learned, self.shape.steps)
        self._gathered.append((self._now, wrong))
        self._rates = rates
        if len(self._gathered) == self.shape.together:
            self._move()
        probability: Array = outputs[:, target]
        return probability

    def _move(self) -> None:
        """Move all weights by what is gathered, if there is anything."""
        if not self._gathered:
            return
        for name, gradient in self._gradients().items():
            weights = self._weights[name]
            gradient *= self._rates.reshape(-1, *[1] * (gradient.ndim - 1))
            weights += gradient
        self._gathered = []

    def _gradients(self) -> dict[str, Array]:
        """Return the gradients of all weights by name, (N, ...)."""
        first, end, top = self._first, self._gathered[-1][0] + 1, self._layers[-1]
        slots = [slot for slot, _ in self._gathered]
        wrong = np.stack([wrong for _, wrong in self._gathered], 1)  # (N, gathered, O)
        shown = top.hidden[1:][slots].swapaxes(0, 1)
        gradients = {"output_weights": wrong.swapaxes(1, 2) @ shown, "output_bias": wrong.sum(1)}
        errors = np.zeros((end - first, *top.hidden.shape[1:]), wrong.dtype)  # of h, what comes from above
        errors[[slot - first for slot in slots]] = (wrong @ self._weights["output_weights"]).swapaxes(0, 1)
        for number in reversed(range(len(self._layers))):
            layer = self._layers[number]
            of_sums = layer.back(errors, first, end)  # (N, S, rows)
            turned = of_sums.swapaxes(1, 2)
            gradients[f"hidden_{number}_weights"] = turned @ layer.hidden[first:end].swapaxes(0, 1)
            bias = of_sums.sum(1)
            gradients |= {f"input_{number}_bias": bias, f"hidden_{number}_bias": bias.copy()}
            if number:
                below = self._layers[number - 1].hidden[first + 1 : end + 1].swapaxes(0, 1)
                gradients[f"input_{number}_weights"] = turned @ below
                errors = (of_sums @ self._weights[f"input_{number}_weights"]).swapaxes(0, 1)
            else:
                known = np.arange(self._weights["input_0_weights"].shape[1])[:, None]
                gradients["input_0_weights"] = (known == self._symbols[first:end]).astype(of_sums.dtype) @ of_sums
        return gradients

    def _next_slot(self) -> int:
        self._now += 1
        if self._now == len(self._symbols):
            moved = self._now - self._kept
            self._symbols[: self._kept] = self._symbols[moved:]
            for layer in self._layers:
                layer.to_front(self._kept)
            self._gathered = [(slot - moved, wrong) for slot, wrong in self._gathered]
            self._first -= moved
            self._now = self._kept
        return self._now


class _Layer(ABC):
    """The units of one layer, over all kept steps; rows are H or 4H.

    Attributes:
        recurrent: what the sums have from the hidden vector before, (N, rows, H); the scan moves it.
        hidden: h before every step, and behind the last, (slots + 1, N, H); ``before`` and ``after`` are views of it.
    """

    def __init__(self, recurrent: Array, slots: int, clip: float) -> None:
        self.recurrent, self.clip = recurrent, clip
        self.nets, rows, self.size = recurrent.shape
        self.hidden = self.room(slots + 1)
        self.of_sums = np.zeros((slots, self.nets, 1, rows), recurrent.dtype)
        self.of_before = np.zeros((slots, self.nets, 1, self.size), recurrent.dtype)  # errors of h before a step
        # views are made once: indexing takes as long as a small product
        self.before, self.after = list(self.hidden[:-1]), list(self.hidden[1:])
        self.all_of_sums, self.all_of_before = list(self.of_sums), list(self.of_before)

    def room(self, slots: int) -> Array:
        """Return zeros, (slots, N, H)."""
        return np.zeros((slots, self.nets, self.size), self.recurrent.dtype)

    def back(self, errors: Array, first: int, end: int) -> Array:
        """Return the errors of the sums, (N, S, rows), given those of h that come from above, (S, N, H)."""
        self.go_back(errors, first, end, clips=False)
        if max(np.abs(values[first:end]).max() for values in self.clipped()) > self.clip:
            self.go_back(errors, first, end, clips=True)
        of_sums: Array = self.of_sums[first:end, :, 0].swapaxes(0, 1)
        return of_sums

    def empty(self) -> None:
        """Begin with zeros."""
        self.hidden[0] = 0

    def to_front(self, kept: int) -> None:
        """Let the last ``kept`` steps be the first."""
        for values in self.states():
            values[: kept + 1] = values[-kept - 1 :]
        for values in self.steps():
            values[:kept] = values[-kept:]

    @abstractmethod
    def states(self) -> tuple[Array, ...]:
        """Return what is kept of hidden vectors, (slots + 1, ...)."""

    @abstractmethod
    def steps(self) -> tuple[Array, ...]:
        """Return what is kept of steps, (slots, ...)."""

    @abstractmethod
    def clipped(self) -> tuple[Array, ...]:
        """Return the errors of hidden vectors before steps, which are clipped, (slots, ...)."""

    @abstractmethod
    def step(self, now: int, sums: Array) -> None:
        """Take step ``now`` from the ``sums`` (N, rows)."""

    @abstractmethod
    def go_back(self, errors: Array, first: int, end: int, clips: bool) -> None:
        """Let errors (S, N, H) of h go back from before step ``end`` to step ``first``."""


class _TanhLayer(_Layer):
    """h' = tanh(sums)."""

    def __init__(self, recurrent: Array, slots: int, clip: float) -> None:
        super().__init__(recurrent, slots, clip)
        self.slopes = self.room(slots)

    def states(self) -> tuple[Array, ...]:
        return (self.hidden,)

    def steps(self) -> tuple[Array, ...]:
        return (self.slopes,)

    def clipped(self) -> tuple[Array, ...]:
        return (self.of_before,)

    def step(self, now: int, sums: Array) -> None:
        hidden = np.tanh(sums, out=self.after[now])
        np.subtract(1, hidden * hidden, out=self.slopes[now])

    def go_back(self, errors: Array, first: int, end: int, clips: bool) -> None:
        of_after = np.zeros_like(errors[0])
        for t in range(end - 1, first - 1, -1):
            of_sums, of_before = self.all_of_sums[t], self.all_of_before[t]
            np.multiply(errors[t - first] + of_after, self.slopes[t], out=of_sums[:, 0])
            np.matmul(of_sums, self.recurrent, out=of_before)
            if clips:
                np.clip(of_before, -self.clip, self.clip, out=of_before)
            of_after = of_before[:, 0]


class _LSTMLayer(_Layer):
    """The units of an LSTM; the sums are those of input, forget, cell and output, one after another."""

    def __init__(self, recurrent: Array, slots: int, clip: float) -> None:
        super().__init__(recurrent, slots, clip)
        self.cells = self.room(slots + 1)
        self.of_cells = self.room(slots)  # errors of c before a step
        # derivatives of a step: of c by three sums, of h by the fourth, of h by c, of c by c before
        self.by_three = np.zeros((slots, self.nets, 3, self.size), recurrent.dtype)
        self.by_show, self.to_cell, self.keep = (self.room(slots) for _ in range(3))
        # logistic(x) is tanh(x / 2) / 2 + 1 / 2, so that one tanh serves all four
        self.inner = np.array([0.5, 0.5, 1.0, 0.5], recurrent.dtype)[:, None]
        self.shift = 1 - self.inner

    def empty(self) -> None:
        super().empty()
        self.cells[0] = 0

    def states(self) -> tuple[Array, ...]:
        return self.hidden, self.cells

    def steps(self) -> tuple[Array, ...]:
        return self.by_three, self.by_show, self.to_cell, self.keep

    def clipped(self) -> tuple[Array, ...]:
        return self.of_before, self.of_cells

    def step(self, now: int, sums: Array) -> None:
        gates = sums.reshape(self.nets, 4, self.size)
        gates *= self.inner
        np.tanh(gates, out=gates)
        gates *= self.inner
        gates += self.shift
        enter, keep, new, show = gates.swapaxes(0, 1)
        before, after, by_three = self.cells[now], self.cells[now + 1], self.by_three[now]
        np.multiply(keep, before, out=after)
        after += enter * new
        shown = np.tanh(after)
        np.multiply(show, shown, out=self.after[now])
        by_three[:, 0] = new * enter * (1 - enter)
        by_three[:, 1] = before * keep * (1 - keep)
        by_three[:, 2] = enter * (1 - new * new)
        self.by_show[now] = shown * show * (1 - show)
        self.to_cell[now] = show * (1 - shown * shown)
        self.keep[now] = keep

    def go_back(self, errors: Array, first: int, end: int, clips: bool) -> None:
        of_after = of_cell = np.zeros_like(errors[0])
        for t in range(end - 1, first - 1, -1):
            of_sums, of_before = self.all_of_sums[t], self.all_of_before[t]
            parts = of_sums.reshape(self.nets, 4, self.size)
            of_hidden = errors[t - first] + of_after
            of_now = of_hidden * self.to_cell[t]
            of_now += of_cell
            np.multiply(of_now[:, None], self.by_three[t], out=parts[:, :3])
            np.multiply(of_hidden, self.by_show[t], out=parts[:, 3])
            np.matmul(of_sums, self.recurrent, out=of_before)
            of_cell = np.multiply(of_now, self.keep[t], out=self.of_cells[t])
            if clips:
                np.clip(of_before, -self.clip, self.clip, out=of_before)
                np.clip(of_cell, -self.clip, self.clip, out=of_cell)
            of_after = of_before[:, 0]


def _times(rows: Array, weights: Array) -> Array:
    """Return the sums that the rows (N, H) of all networks give with ``weights`` (N, R, H), (N, R)."""
    sums: Array = np.matmul(weights, rows[:, :, None])[..., 0]
    return sums
