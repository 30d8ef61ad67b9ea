"""Snapshots along a training: evenly spread, never more than asked for, and without any influence on it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from stacklens.languages.catalogue import get_task
from stacklens.models.checkpoint import load_checkpoint
from stacklens.models.training.loop import Trainer
from stacklens.models.training.recipes import fit_recipe
from stacklens.models.training.snapshots import Snapshots
from stacklens.models.training.supervised import Fitting

TASK = get_task("dyck-2")
FEW: dict[str, Any] = {
    "words": 60,
    "check_words": 10,
    "long_words": 0,
    "lengths": (2, 10),
    "batch": 3,
    "epochs": 2,
    "cooling": 0.01,
}


def trainer() -> Trainer:
    """Return a training of two networks in 40 updates, whose gates are cooled meanwhile."""
    recipe = fit_recipe("marnn-stack-rnn", TASK)
    shape = {**recipe.shape, "gating": "softmax with temperature"}
    return Fitting("marnn-stack-rnn", replace(recipe, **FEW, shape=shape), TASK, seed=4, nets=2)


def weights(training: Trainer) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in training.net.named_parameters()}


def kept(training: Trainer, snapshots: Snapshots) -> list[tuple[int, dict[str, torch.Tensor]]]:
    """Return what `Snapshots` should keep, from watching every update."""
    seen = [(0, weights(training))]
    snapshots.watch(training)
    inner = training.watch
    assert inner is not None

    def updated() -> None:
        inner()
        seen.append((len(seen), weights(training)))

    training.watch = updated
    training.run()
    snapshots.end(training)
    return seen


@pytest.mark.parametrize("most", [2, 5, 50])
def test_as_many_as_asked_for_evenly_spread_and_each_as_it_was(most: int, tmp_path: Path) -> None:
    training, snapshots = trainer(), Snapshots(most)
    seen = kept(training, snapshots)
    number = training.best_number
    files = snapshots.save(training, tmp_path / "runs", "a command")
    assert len(files) == min(most, len(seen))
    assert files == sorted(files)
    moments = []
    for file in files:
        checkpoint = load_checkpoint(file)
        moments.append(checkpoint.provenance["updates"])
        for name, value in checkpoint.model.state_dict().items():
            assert torch.equal(value, seen[moments[-1]][1][name][number])
    assert (moments[0], moments[-1]) == (0, len(seen) - 1)
    gaps = [after - before for before, after in pairwise(moments)]
    assert max(gaps) <= 4 * len(seen) / most
    assert len({load_checkpoint(file).model.config()["temperature"] for file in files}) > 1  # it was lowered meanwhile


def test_a_training_that_was_stopped_goes_on_keeping(tmp_path: Path) -> None:
    straight, stopped, resumed = trainer(), trainer(), trainer()
    whole, first = Snapshots(4), Snapshots(4)
    kept(straight, whole)
    first.watch(stopped)
    stopped.epoch()
    again = Snapshots.restored(first.state())
    resumed.restore(stopped.state())
    again.watch(resumed)
    resumed.run()
    again.end(resumed)
    names = [snapshots.save(straight, tmp_path / name, "") for name, snapshots in (("a", whole), ("b", again))]
    assert [path.name for path in names[0]] == [path.name for path in names[1]]
    for one, other in zip(*names, strict=True):
        left, right = (load_checkpoint(path).model.state_dict() for path in (one, other))
        assert all(torch.equal(left[name], right[name]) for name in left)
