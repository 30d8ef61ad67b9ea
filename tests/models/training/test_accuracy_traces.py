"""Accuracy along a training: what is recorded is what the networks answer then, and recording changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from stacklens.languages.catalogue import get_task
from stacklens.models.training.recipes import fit_recipe
from stacklens.models.training.snapshots import Snapshots
from stacklens.models.training.streams import word_accuracy
from stacklens.models.training.supervised import Fitting
from stacklens.papers.suzgun2019_studies import AccuracyTrace

TASK = get_task("dyck-1")
FEW: dict[str, Any] = {
    "words": 60,
    "check_words": 10,
    "long_words": 0,
    "lengths": (2, 10),
    "batch": 3,
    "epochs": 2,
    "cooling": 0.01,
    "rate": 0.1,
}
HELD_OUT = TASK.sample(8, (2, 6), seed=9)


def fitting(gating: str = "softmax with temperature", **changed: Any) -> Fitting:
    """Return a training of two networks in 40 updates, whose gates are cooled meanwhile."""
    recipe = fit_recipe("marnn-stack-rnn", TASK)
    shape = {**recipe.shape, "hidden": 6, "gating": gating}
    return Fitting("marnn-stack-rnn", replace(recipe, **{**FEW, **changed}, shape=shape), TASK, seed=8, nets=2)


@pytest.mark.parametrize("gating", ["softmax", "softmax with temperature", "gumbel-softmax"])
def test_a_watched_training_comes_to_the_same_bit_for_bit(gating: str) -> None:
    alone, watched = fitting(gating), fitting(gating)
    trace = AccuracyTrace(watched, HELD_OUT, 3)
    for one in (alone, watched):
        one.run()
    assert len(trace.updates) > 10
    other = watched.net.state_dict()
    assert all(torch.equal(value, other[name]) for name, value in alone.net.state_dict().items())
    for number in range(2):
        other = watched.network(number).state_dict()
        assert all(torch.equal(value, other[name]) for name, value in alone.network(number).state_dict().items())


def test_a_record_is_what_the_networks_answer_after_so_many_updates() -> None:
    watched, again = fitting(), fitting()
    trace = AccuracyTrace(watched, HELD_OUT, 8)
    assert trace.accuracies[0].tolist() == word_accuracy(watched.net, HELD_OUT).tolist()
    watched.run()
    assert trace.updates == [0, 8, 16, 24, 32, 40]
    kept = Snapshots(40)  # the same training, every update of which is kept
    kept.watch(again)
    again.run()
    for updates, accuracies in zip(trace.updates, trace.accuracies, strict=True):
        (snapshot,) = (one for one in kept.taken if one.updates == updates)
        for number in range(2):
            network = snapshot.network(again, number)
            assert accuracies[number] == word_accuracy(network, HELD_OUT)[0]
    assert len({tuple(one) for one in trace.accuracies}) > 1  # something was learned meanwhile
