from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from stacklens.errors import StacklensError, UnknownNameError
from stacklens.languages import get_task
from stacklens.models.base import StackModel
from stacklens.models.registry import build_model
from stacklens.models.training import trials
from stacklens.models.training.trials import LossKind, Trial, TrialSettings, run_trials

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


@pytest.mark.parametrize("controller", ["rnn", "lstm"])
def test_networks_without_a_stack_read_words_of_their_own(controller: str) -> None:
    net = build_model(controller, {**NO_STACK, "controller": controller, "alphabet": ("0", "1", "#")}, seed=2, nets=3)
    symbols = torch.randint(-1, 3, (5, 3, 2), generator=torch.Generator().manual_seed(0))
    at_once, stepwise = net.run(symbols, net.initial_state(2)), StackModel.run(net, symbols, net.initial_state(2))
    torch.testing.assert_close(at_once.output, stepwise.output, rtol=0, atol=1e-12)
    share = torch.rand(at_once.output.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ours, theirs = (
        torch.autograd.grad((run.output * share).sum(), list(net.parameters())) for run in (at_once, stepwise)
    )
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_trials_of_different_seeds_have_words_and_weights_of_their_own() -> None:
    first, second = run("neural-stack", STACK, (0, 1), SMALL)
    assert not torch.allclose(weights(first.network), weights(second.network))
    assert [trial.seed for trial in (first, second)] == [0, 1]


def scripted(monkeypatch: pytest.MonkeyPatch, accuracies: list[list[float]]) -> None:
    """Let the networks have these accuracies, epoch by epoch, and the last ones on the test."""
    turns = iter(accuracies)
    monkeypatch.setattr(trials, "_accuracies", lambda *_: next(turns))


def test_a_trial_ends_after_epochs_that_do_not_exceed_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [[0.5, 0.1], [0.7, 0.2], [0.7, 0.3], [0.6, 0.4], [0.9, 0.5], [1.0, 0.6], [0.25, 0.75]])
    first, second = run("neural-stack", STACK, (0, 1), replace(SMALL, patience=2, epochs=6))
    assert (first.best, first.last, first.epochs, first.test) == (0.7, 0.6, 4, 0.25)
    assert (second.best, second.last, second.epochs, second.test) == (0.6, 0.6, 6, 0.75)


def test_a_trial_that_has_ended_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [[0.9, 0.1], [0.8, 0.2], [0.3, 0.3], [0.2, 0.4], [0.5, 0.5]])
    ended, _ = run("neural-stack", STACK, (0, 1), replace(SMALL, epochs=4, patience=1))
    scripted(monkeypatch, [[0.9], [0.8], [0.5]])
    (two,) = run("neural-stack", STACK, (0,), replace(SMALL, epochs=2))
    assert ended.epochs == 2
    torch.testing.assert_close(weights(ended.network), weights(two.network), rtol=0, atol=1e-9)


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


def test_networks_without_a_stack_begin_as_in_the_authors_program() -> None:
    still = replace(SMALL, words=10, epochs=1, rate=1e-12)
    (trial,) = run("lstm", {**NO_STACK, "hidden": 40}, (0,), still)
    for name, value in trial.network.named_parameters():
        if value.ndim == 2:
            assert value.std().item() == pytest.approx(1 / math.sqrt(len(value)), rel=0.2), name
        else:
            assert value.abs().max().item() < 1e-9, name


def test_padded_words_are_read_on_as_null_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[np.ndarray] = []
    answers = trials._answers

    def recorded(net: StackModel[Any], symbols: Tensor) -> Tensor:
        read.append(symbols.numpy())
        return answers(net, symbols)

    monkeypatch.setattr(trials, "_answers", recorded)
    run("buffered-neural-stack", STACK, (0,), replace(SMALL, words=10, epochs=1, padded=24))
    assert {symbols.shape[-1] for symbols in read} == {24, 48}
    assert all((symbols >= 0).all() and (symbols[..., -1] == 2).any() for symbols in read)


@pytest.mark.slow
def test_a_network_learns_delayed_xor() -> None:
    settings = TrialSettings(words=800, test_words=100, epochs=12)
    (trial,) = run_trials("neural-stack", {"cell_size": 6}, get_task("delayed-xor"), (0,), settings)
    assert trial.best > 0.99
    net = build_model("neural-stack", trial.network.config())
    net.load_state_dict(trial.network.state_dict())
    torch.testing.assert_close(weights(net), weights(trial.network), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"words": 25}, r"words in whole batches, and epochs, at least 1 of each; not \(25, 100, 1000, 10, 100, 5\)"),
        ({"patience": 0}, "at least 1 of each"),
        ({"epochs": 0}, "at least 1 of each"),
    ],
)
def test_sizes_that_make_no_trial_are_refused(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        TrialSettings(**sizes)  # type: ignore[arg-type]


def test_an_unknown_loss_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown loss 'mean'"):
        TrialSettings(loss="mean")  # type: ignore[arg-type]


def test_sets_of_symbols_are_refused() -> None:
    with pytest.raises(StacklensError, match="trials learn to say symbols, and dyck-2 asks for sets; take a Fitting"):
        run_trials("neural-stack", {}, get_task("dyck-2"), (0,), SMALL)


def test_padding_without_a_null_symbol_is_refused() -> None:
    with pytest.raises(StacklensError, match="xor has no null symbol to pad words with; leave `padded` out"):
        run_trials("neural-stack", {}, get_task("xor"), (0,), replace(SMALL, padded=24))
