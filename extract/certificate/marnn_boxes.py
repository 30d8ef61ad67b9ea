"""The controllers of the Stack-RNNs and the Stack-LSTM on boxes (Suzgun et al. 2019)."""

from __future__ import annotations

import numpy as np

from stacklens.extract.certificate.box_controller import BoxAnswer, BoxController, array, lstm_box, softmax_operations
from stacklens.extract.certificate.decisions import Decision, largest, largest_of, set_of
from stacklens.extract.certificate.interval import Affine, Arithmetic, Box, sigmoid, tanh
from stacklens.models.marnn import MarnnStackRNN
from stacklens.models.marnn_joulin import MarnnJoulin

__all__ = ["MarnnBoxes"]


class MarnnBoxes(BoxController):
    """The Stack-RNN and the Stack-LSTM of Suzgun et al. 2019, and the Stack-RNN that they compare with."""

    def __init__(self, model: MarnnStackRNN) -> None:
        self.arithmetic, self.size, self.lstm = Arithmetic.of(model.output_bias.dtype), model.shape.hidden, model.lstm
        self.squashed = sigmoid if isinstance(model, MarnnJoulin) else tanh
        weights, letters = array(model.hidden_weights), array(model.input_weights).T
        if isinstance(model, MarnnJoulin):
            seen = Affine.beside([Affine.of(weights), Affine.of(array(model.memory_weights))])
        else:
            memory = Affine.of(array(model.memory_weights), array(model.memory_bias))
            mixed = Affine.beside([Affine.of(np.eye(self.size)), memory])  # h~ = h + W_s s + b_s
            seen = Affine.of(weights, array(model.hidden_bias)).after(mixed)
            letters = letters + array(model.input_bias)
        self.layers = [Affine.beside([seen, Affine.of(np.zeros((len(letter), 0)), letter)]) for letter in letters]
        # the gate divides by the temperature before its softmax, but in the plain gating
        self.temperature = 1.0 if model.shape.gating == "softmax" else float(model.temperature)
        self.actions = Affine.of(array(model.action_weights), array(model.action_bias))
        self.numbers = softmax_operations(model)
        self.pushed = Affine.of(array(model.pushed_weights), array(model.pushed_bias))
        self.output = Affine.of(array(model.output_weights), array(model.output_bias))
        self.sets = model.task_kind == "next set"

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of sections 3.1 and 3.2."""
        seen = Box.beside([hidden.columns(0, self.size), reading])
        drive = self.layers[letter].of_box(seen, self.arithmetic)
        if self.lstm:
            whole = lstm_box(drive, hidden.columns(self.size), self.arithmetic)
        else:
            whole = self.squashed(drive, self.arithmetic)
        after = whole.columns(0, self.size)
        share = largest(self.actions, after, self.arithmetic, self.temperature)
        pushed = sigmoid(self.pushed.of_box(after, self.arithmetic), self.arithmetic)
        said = sigmoid(self.output.of_box(after, self.arithmetic), self.arithmetic)
        output = set_of(said) if self.sets else largest_of(said)
        return BoxAnswer(whole, (Decision(self.numbers[share.numbers], share.margins),), (pushed,), output)
