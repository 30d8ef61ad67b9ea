"""Snapshots along a training: evenly spread, never more than asked for, and without any influence on it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

import stacklens as sl
from stacklens.errors import StacklensError
from stacklens.languages.catalogue import get_task
from stacklens.models.io import load_checkpoint
from stacklens.models.training.snapshots import Snapshots
from stacklens.models.training.supervised import Fitting
from stacklens.models.training.supervised_recipes import fit_recipe
from stacklens.models.training.trainer import Trainer

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


def test_keeping_snapshots_changes_nothing() -> None:
    alone, watched = trainer(), trainer()
    alone.run()
    kept(watched, Snapshots(3))
    assert all(torch.equal(value, weights(watched)[name]) for name, value in weights(alone).items())


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


def test_snapshots_of_another_training_make_way(tmp_path: Path) -> None:
    training = trainer()
    (tmp_path / "update-999999.pt").write_bytes(b"old")
    (tmp_path / "mine.txt").write_bytes(b"not a snapshot")
    snapshots = Snapshots(2)
    snapshots.watch(training)
    training.run()
    snapshots.end(training)
    written = snapshots.save(training, tmp_path, "")
    assert {path.name for path in tmp_path.iterdir()} == {"mine.txt", *(path.name for path in written)}


def test_what_makes_no_sense_is_told_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match="1 snapshots show no training; ask for at least 2"):
        Snapshots(1)
    with pytest.raises(StacklensError, match="its snapshots are damaged"):
        Snapshots.restored({"most": 2, "every": 1})
    with pytest.raises(StacklensError, match="snapshots and folder belong together"):
        sl.train("nnpda", "parentheses", snapshots=5)
    with pytest.raises(StacklensError, match="a whole number, not 'many'"):
        sl.train("nnpda", "parentheses", snapshots="many", folder=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(StacklensError, match="does not exist; make it first"):
        sl.train("nnpda", "parentheses", snapshots=5, folder=tmp_path / "a" / "b")
