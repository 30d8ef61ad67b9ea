"""The controllers of the Neural Stack on boxes (Hao et al. 2018): linear, tanh and LSTM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stacklens.extract.certificate.box_controller import BoxAnswer, BoxController, array, lstm_box
from stacklens.extract.certificate.decisions import largest, strengths
from stacklens.extract.certificate.interval import Affine, Arithmetic, Box, sigmoid, tanh
from stacklens.models.neural_stack import NeuralStack

__all__ = ["NeuralStackBoxes"]

_THRESHOLD = 0.5  # of the rounded network's strengths


class NeuralStackBoxes(BoxController):
    """The Neural Stack of Hao et al. 2018 with a linear, tanh or LSTM controller."""

    def __init__(self, model: NeuralStack) -> None:
        net, n_symbols = model.net, model.n_symbols
        self.arithmetic, self.kind, self.cell, self.size = Arithmetic.of(net.bias.dtype), net.kind, model.cell_size, 0
        last = Affine.of(array(net.weight), array(net.bias))
        if net.kind == "linear":
            self.layers = [_seen(last, letter, n_symbols) for letter in range(n_symbols)]
            return
        self.size, self.last = net.hidden, last
        before = Affine.of(array(net.weight_hh), array(net.bias_hh))
        seen = Affine.of(array(net.weight_ih), array(net.bias_ih))
        self.layers = [Affine.beside([before, _seen(seen, letter, n_symbols)]) for letter in range(n_symbols)]

    @property
    def height_limit(self) -> int:
        """Return the largest height that the stack, which adds up its length in floats, can count to."""
        return self.arithmetic.whole

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of section 2.2."""
        seen = Box.beside([hidden.columns(0, self.size), reading])
        after, features, layer = hidden, seen, self.layers[letter]
        if self.kind != "linear":
            drive = layer.of_box(seen, self.arithmetic)
            lstm = self.kind == "lstm"
            after = (
                lstm_box(drive, hidden.columns(self.size), self.arithmetic) if lstm else tanh(drive, self.arithmetic)
            )
            features, layer = after.columns(0, self.size), self.last
        split = 2 + self.cell
        instructions = sigmoid(layer.rows(slice(0, split)).of_box(features, self.arithmetic), self.arithmetic)
        output = largest(layer.rows(slice(split, None)), features, self.arithmetic)
        operations = strengths(instructions.columns(0, 2), _THRESHOLD)
        return BoxAnswer(after, (operations,), (instructions.columns(2),), output)


def _seen(layer: Affine, letter: int, n_symbols: int) -> Affine:
    """Return a layer on a one-hot symbol and a reading as a layer on the reading, for one symbol."""
    reading, symbol = layer.weights[:, n_symbols:], layer.weights[:, letter]
    there = Affine.of(reading, layer.bias + symbol)
    return replace(there, bias_sizes=np.abs(symbol) + layer.bias_sizes, terms=layer.terms, lost=layer.lost)
