from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.papers import hao2018_trials as trials
from stacklens.papers.hao2018_trials import LossKind, Trial, TrialSettings, run_trials

SMALL = TrialSettings(words=30, dev_words=20, test_words=40, epochs=2)
STACK: dict[str, Any] = {"null": "#"}
NO_STACK: dict[str, Any] = {"controller": "lstm", "task_kind": "transduction", "hidden": 4}
NETWORKS = [
    ("neural-stack", {**STACK, "controller": "linear"}, SMALL),
    ("neural-stack", {**STACK, "controller": "lstm", "hidden": 4}, SMALL),
    ("buffered-neural-stack", STACK, replace(SMALL, padded=24)),
    ("buffered-neural-stack", {**STACK, "extra_steps": 1}, SMALL),
    ("lstm", NO_STACK, SMALL),
]


def run(model: str, config: dict[str, Any], seeds: tuple[int, ...], settings: TrialSettings) -> list[Trial]:
    return run_trials(model, config, get_task("reversal"), seeds, settings)


def weights(net: StackModel[Any]) -> Tensor:
    return torch.cat([value.detach().flatten() for value in net.parameters()])


@pytest.mark.parametrize(("model", "config", "settings"), NETWORKS)
def test_a_trial_comes_to_the_same_beside_others_and_alone(
    model: str, config: dict[str, Any], settings: TrialSettings
) -> None:
    beside = run(model, config, (5, 2), settings)
    for trial in beside:
        (alone,) = run(model, config, (trial.seed,), settings)
        assert (alone.seed, alone.best, alone.last, alone.test, alone.epochs) == (
            trial.seed,
            trial.best,
            trial.last,
            trial.test,
            trial.epochs,
        )
        torch.testing.assert_close(weights(alone.network), weights(trial.network), rtol=0, atol=1e-9)


def scripted(monkeypatch: pytest.MonkeyPatch, accuracies: list[list[float]]) -> None:
    """Let the networks have these accuracies, epoch by epoch, and the last ones on the test."""
    turns = iter(accuracies)
    monkeypatch.setattr(trials, "_accuracies_of_networks", lambda *_: next(turns))


def test_a_trial_ends_after_epochs_that_do_not_exceed_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [[0.5, 0.1], [0.7, 0.2], [0.7, 0.3], [0.6, 0.4], [0.9, 0.5], [1.0, 0.6], [0.25, 0.75]])
    first, second = run("neural-stack", STACK, (0, 1), replace(SMALL, patience=2, epochs=6))
    assert (first.best, first.last, first.epochs, first.test) == (0.7, 0.6, 4, 0.25)
    assert (second.best, second.last, second.epochs, second.test) == (0.6, 0.6, 6, 0.75)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("step means", [(1 + 0.25) / 2 + 1, 0.75]),  # one word counts at the second step of the first network
        ("step shares", [(1 + 0.25) / 2 + 1 / 2, 0.75 / 2]),
        ("sum", [1 + 0.25 + 1, 0.75]),
    ],
)
def test_what_a_batch_costs(kind: LossKind, expected: list[float]) -> None:
    surprises = torch.tensor([[[1.0, 1.0], [0.25, 9.0]], [[9.0, 9.0], [0.75, 9.0]]])  # nets, words, steps
    counts = torch.tensor([[[1, 1], [1, 0]], [[0, 0], [1, 0]]], dtype=torch.bool)
    said = torch.exp(-surprises).unsqueeze(-1).movedim(2, 0)  # what is said right
    answers = torch.cat([torch.zeros_like(said), said], -1)
    words = trials._Words(torch.ones(2, 2, 2, dtype=torch.int64), torch.ones(2, 2, 2, dtype=torch.int64), counts)
    assert trials._losses(answers, words, kind).tolist() == pytest.approx(expected)
