"""The controller of an NNPDA on boxes (Sun et al. 1993), orders second, third and full.

Between rounded actions the stack holds whole symbols, so a reading is one symbol for sure, or nothing. Given that and
the letter, the state neurons are affine in the ones before, and the full order's action is affine in each of them: it
takes its extremes at corners of the box.
"""

from __future__ import annotations

import numpy as np

from stacklens.errors import StacklensError
from stacklens.extract.certificate.box_controller import BoxAnswer, BoxController, array
from stacklens.extract.certificate.decisions import Decision, above, signed
from stacklens.extract.certificate.interval import Affine, Arithmetic, Box, sigmoid
from stacklens.models.nnpda import NNPDA

__all__ = ["NNPDABoxes"]

_MOST_CORNERS = 14  # neurons of a full order
_THRESHOLD = 0.5


class NNPDABoxes(BoxController):
    """An NNPDA of any order."""

    def __init__(self, model: NNPDA) -> None:
        shape = model.shape
        self.arithmetic, self.shape, self.n_symbols = Arithmetic.of(model.state_bias.dtype), shape, model.n_symbols
        if shape.order == "full" and shape.n_states > _MOST_CORNERS:
            raise StacklensError(
                f"an NNPDA of full order with {shape.n_states} neurons has too many corners to certify"
            )
        self.state_weights, self.state_bias = array(model.state_weights), array(model.state_bias)
        self.action_weights = array(model.action_weights)
        self.action_bias = np.zeros(1) if shape.order == "full" else array(model.action_bias)

    @property
    def height_limit(self) -> int:
        """Return the largest height that the stack, which adds up its length in floats, can count to."""
        return self.arithmetic.whole

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of eqs. 5 to 9, 23 and 24 to readings that are points."""
        n, size = len(hidden.low), self.shape.n_states
        after, action = (Box(np.zeros((n, d)), np.zeros((n, d))) for d in (size, 1))
        tops = np.where(reading.low.any(1), reading.low.argmax(1), self.n_symbols)  # the last: nothing
        for top in np.unique(tops):
            rows = tops == top
            here = Box(hidden.low[rows], hidden.high[rows])
            for into, bounds in zip((after, action), self._at(letter, int(top), here), strict=True):
                into.low[rows], into.high[rows] = bounds.low, bounds.high
        symbol = np.zeros((n, self.n_symbols))
        symbol[:, letter] = 1
        silent = Decision(np.zeros(n, np.int64), np.full(n, np.inf))
        return BoxAnswer(after, (signed(action, _THRESHOLD),), (Box.point(symbol),), silent)

    def _at(self, letter: int, top: int, hidden: Box) -> tuple[Box, Box]:
        """Return bounds on the next state neurons and on the action where ``top`` lies on the stack."""
        order = "second" if self.shape.order == "second" else "third"
        state = self._layer(self.state_weights, self.state_bias, order, letter, top)
        after = sigmoid(state.of_box(hidden, self.arithmetic), self.arithmetic)
        if self.shape.order == "full":
            return after, self._full_action(letter, top, hidden)
        layer = self._layer(self.action_weights, self.action_bias, order, letter, top)
        share = sigmoid(layer.of_box(hidden, self.arithmetic), self.arithmetic)
        return after, Box(2 * share.low - 1, 2 * share.high - 1).wider(self.arithmetic.curve)

    def _layer(self, weights: np.ndarray, bias: np.ndarray, order: str, letter: int, top: int) -> Affine:
        """Return what the weights make of the state neurons, for one letter and one top."""
        n_reading = self.n_symbols + self.shape.empty_reading
        seen = top < n_reading  # an empty stack is seen only by a neuron of its own
        table: np.ndarray
        if order == "second":
            table = weights.reshape(len(weights), -1, n_reading + self.n_symbols)
            parts = [table[:, :, n_reading + letter], *([table[:, :, top]] if seen else [])]
        else:
            table = weights.reshape(len(weights), -1, n_reading, self.n_symbols)
            parts = [table[:, :, top, letter]] if seen else [np.zeros(table.shape[:2])]
        sizes, terms = np.sum(np.abs(parts), axis=0), weights.shape[1] + 1
        lost = np.full(len(weights), float(terms))
        return Affine(np.sum(parts, axis=0), bias, sizes, np.abs(bias), terms, lost)

    def _full_action(self, letter: int, top: int, hidden: Box) -> Box:
        """Return bounds on the linear action of eq. 23: the extremes over the corners of the box."""
        layer = self._layer(self.action_weights, self.action_bias, "third", letter, top)
        corners = np.broadcast_to(layer.weights, (len(hidden.low), 1, layer.weights.shape[1]))
        for low, high in zip(hidden.low.T, hidden.high.T, strict=True):  # the first neuron counts most in eq. 24
            off, on = np.split(corners, 2, axis=2)
            ends = [off + (on - off) * value[:, None, None] for value in (low, high)]
            corners = np.concatenate(ends, 1)
        exact = Box(corners.min(1), corners.max(1))
        total, terms = layer.sizes.sum(1), layer.terms + 4 * self.shape.n_states
        return exact.wider(self.arithmetic.slack(total, terms, terms * (1 + total)))  # each product may underflow

    def traps(self, hidden: Box) -> Decision:
        """Return whether the last neuron says that no continuation is legal (`NNPDA.rejects`); never without a trap."""
        if not self.shape.trap:
            return Decision(np.zeros(len(hidden.low), np.int64), np.full(len(hidden.low), np.inf))
        alive = self.accepts(hidden)
        return Decision(1 - alive.numbers, alive.margins)

    def accepts(self, hidden: Box) -> Decision:
        """Return whether a word that leads to ``hidden`` and an empty stack is accepted (`NNPDA.decide`)."""
        return above(hidden.columns(self.shape.n_states - 1), 0.5)
