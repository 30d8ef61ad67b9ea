"""Accuracy along a training: the share of held-out words that networks get right, every so many updates.

Networks that learn a word at a time at a rate that stays high may learn a task and lose it again; only what is recorded
on the way tells that from never having learned it. Recording disturbs nothing: networks answer without the noise that
their gates draw in training, and a test holds that they end with the same weights, bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import Examples
from stacklens.models.base import StackModel
from stacklens.models.training.loop import unstacked
from stacklens.models.training.scores import word_accuracy
from stacklens.models.training.supervised import Fitting

__all__ = ["AccuracyTrace"]


class AccuracyTrace:
    """What the networks of a training come to on the way, recorded from now on.

    Args:
        fitting: the training; what watched it before does so no more.
        examples: the words that networks answer, which should be none of those that they are trained on.
        every: updates from one record to the next.
        updates: how many there have been already.

    Attributes:
        done: how many updates there have been.
        updates: after how many each record was made, the first of them now.
        accuracies: the share of words that each network got right then, (nets,) each.
        best: of each network the number of its best record, the first of several.

    Raises:
        StacklensError: there are no words, or ``every`` is less than 1.
    """

    def __init__(self, fitting: Fitting, examples: Examples, every: int, updates: int = 0) -> None:
        if not len(examples) or every < 1:
            raise StacklensError(f"a trace needs words and 1 update or more from record to record; not {every}")
        self._fitting, self._examples, self._every = fitting, examples, every
        self.done = updates
        self._weights = {name: value.detach().clone() for name, value in fitting.net.named_parameters()}
        self._temperatures = [self._temperature] * fitting.n_nets
        self.updates: list[int] = []
        self.accuracies: list[npt.NDArray[np.float64]] = []
        self.best = [0] * fitting.n_nets
        self._record()
        fitting.watch = self._updated

    def of(self, number: int) -> list[float]:
        """Return the accuracy of network ``number`` at every record."""
        return [float(accuracies[number]) for accuracies in self.accuracies]

    def best_network(self, number: int) -> StackModel[Any]:
        """Return network ``number`` as it was at its best record."""
        network = unstacked(self._fitting.single(number), self._weights, number)
        if hasattr(network, "temperature"):
            setattr(network, "temperature", self._temperatures[number])  # noqa: B010 (not every network has one)
        return network

    def _updated(self) -> None:
        self.done += 1
        if self.done % self._every == 0:
            self._record()

    def _record(self) -> None:
        net = self._fitting.net
        training = net.training
        accuracies = word_accuracy(net, self._examples)
        net.train(training)  # gates with noise draw it in training only
        self.updates.append(self.done)
        self.accuracies.append(accuracies)
        better = [
            number for number in range(len(accuracies)) if accuracies[number] > self.of(number)[self.best[number]]
        ]
        for number in better:
            self.best[number], self._temperatures[number] = len(self.updates) - 1, self._temperature
            for name, value in net.named_parameters():
                self._weights[name][number] = value.detach()[number]

    @property
    def _temperature(self) -> float:
        return float(getattr(self._fitting.net, "temperature", 1.0))
