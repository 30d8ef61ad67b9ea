"""The controller of a Stack RNN on boxes (Joulin & Mikolov 2015), any number of stacks."""

from __future__ import annotations

import numpy as np

from stacklens.extract.certificate.box_controller import BoxAnswer, BoxController, array, softmax_operations
from stacklens.extract.certificate.decisions import Decision, largest
from stacklens.extract.certificate.interval import Affine, Arithmetic, Box, sigmoid
from stacklens.models.stack_rnn import StackRNN

__all__ = ["StackRNNBoxes"]


class StackRNNBoxes(BoxController):
    """The Stack RNN of Joulin & Mikolov 2015, any number of stacks."""

    def __init__(self, model: StackRNN) -> None:
        self.arithmetic = Arithmetic.of(model.input_weights.dtype)
        memory = Affine.of(array(model.memory_weights))
        hidden = array(model.recurrent_weights) if model.recurrent else np.zeros((model.shape.hidden,) * 2)
        letters = array(model.input_weights)
        self.layers = [Affine.beside([Affine.of(hidden, bias), memory]) for bias in letters]
        actions = Affine.of(array(model.action_weights))
        kinds = len(model.operations)
        self.actions = [actions.rows(slice(i * kinds, (i + 1) * kinds)) for i in range(model.n_stacks)]
        self.numbers = softmax_operations(model)
        self.pushed, self.output = Affine.of(array(model.pushed_weights)), Affine.of(array(model.output_weights))

    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer of eqs. 2, 3, 4 and 6."""
        drive = self.layers[letter].of_box(Box.beside([hidden, reading]), self.arithmetic)
        after = sigmoid(drive, self.arithmetic)
        shares = [largest(layer, after, self.arithmetic) for layer in self.actions]
        operations = tuple(Decision(self.numbers[share.numbers], share.margins) for share in shares)
        pushed = sigmoid(self.pushed.of_box(after, self.arithmetic), self.arithmetic)
        output = largest(self.output, after, self.arithmetic)
        return BoxAnswer(after, operations, tuple(pushed.columns(i, i + 1) for i in range(len(shares))), output)
