"""Training with disturbances: how large they are, what blur counts, and that training stays as exact as without."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
import torch

from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import build_model
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackLSTM
from stacklens.models.training.factory import make_trainer
from stacklens.models.training.recipes import FitRecipe, fit_recipe, noise_robust
from stacklens.models.training.snapshots import blur, draw_noise
from stacklens.models.training.supervised import Fitting

DYCK = get_task("dyck-1")
SMALL = FitRecipe(
    shape={"hidden": 4, "first": ("(",)},
    words=30,
    lengths=(2, 12),
    epochs=8,
    batch=8,
    check_words=20,
    long_words=5,
    long_lengths=(14, 16),
    noise=0.2,
    sharpness=0.1,
)


def generator(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


WORDS = torch.randint(2, (7, 50), generator=torch.Generator().manual_seed(3))
NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "tanh": ("marnn-stack-rnn", {"alphabet": ("(", ")"), "hidden": 3}),
    "lstm": ("marnn-stack-lstm", {"alphabet": ("(", ")"), "hidden": 3, "cell_size": 2}),
    "sigmoid": ("marnn-joulin", {"alphabet": ("(", ")"), "hidden": 3}),
    "ring": ("baby-ntm", {"alphabet": ("(", ")"), "hidden": 3, "stack_limit": 9}),
    "two stacks": ("stack-rnn", {"alphabet": ("a", "b"), "hidden": 3, "n_stacks": 2, "recurrent": True}),
    "linear": ("neural-stack", {"alphabet": ("0", "1")}),
    "neural tanh": ("neural-stack", {"alphabet": ("0", "1"), "controller": "rnn", "hidden": 3}),
    "neural lstm": ("neural-stack", {"alphabet": ("0", "1"), "controller": "lstm", "hidden": 3}),
}


def disturb(net: StackModel[Any], amount: float, seed: int = 1) -> torch.Tensor:
    return draw_noise(net, len(WORDS), WORDS.shape[1], amount, 0.3, generator(seed))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("nets", [None, 2])
def test_a_disturbed_run_is_that_of_disturbed_steps_and_so_are_its_gradients(name: str, nets: int | None) -> None:
    net = build_model(*NETWORKS[name], seed=1, nets=nets)
    noise = disturb(net, 0.5)
    fast, slow = (how(net, WORDS, net.initial_state(50), noise) for how in (type(net).run, StackModel.run))
    size, found = net.n_units, []
    for made in (fast, slow):
        unsure = blur(net, made._replace(hidden=made.hidden[..., :size]))
        loss = (made.output.square().sum(-1) + unsure).sum()
        found.append(torch.autograd.grad(loss, list(net.parameters())))
    assert torch.allclose(fast.output, slow.output, rtol=1e-9, atol=1e-12)
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-7, atol=1e-10)


def test_disturbances_are_as_large_as_asked_and_readings_are_disturbed_less() -> None:
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    net = MarnnStackLSTM(MarnnConfig(("(", ")")), seed=1)
    answer = net.controller

    def spy(symbols: torch.Tensor, hidden: torch.Tensor, reading: torch.Tensor) -> object:
        seen.append((hidden, reading))
        return answer(symbols, hidden, reading)

    net.controller = spy  # type: ignore[assignment, method-assign]
    words = torch.zeros(1, 2_000, dtype=torch.int64)
    noise = draw_noise(net, 1, 2_000, 0.5, 0.3, generator())
    StackModel.run(net, words, net.initial_state(2_000), noise)
    hidden, reading = seen[0]  # both are 0 before the first step
    assert not hidden[:, 8:].any()  # c
    assert 0.45 < hidden.abs().max() <= 0.5
    assert 0.13 < reading.abs().max() <= 0.15
    assert torch.allclose(hidden[:, :8].abs(), hidden.abs()[:, :1])  # one amount a word
    assert 0.4 < (hidden[:, :8] > 0).double().mean() < 0.6


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "lstm", "neural lstm"])
def test_blur_is_0_where_units_and_actions_have_decided(name: str) -> None:
    net = build_model(*NETWORKS[name], seed=1)
    made = net.run(WORDS, net.initial_state(50))
    low, high = net.unit_range
    actions = made.actions.argmax(-1) if net.action_kind == "softmax" else made.actions.round()
    whole = torch.nn.functional.one_hot(actions, 2).double() if net.action_kind == "softmax" else actions
    ends = torch.where(made.hidden > (low + high) / 2, high, low)
    assert blur(net, made).shape == WORDS.shape
    assert (blur(net, made) > 0.1).all()
    assert blur(net, made._replace(hidden=ends, actions=whole)).abs().max() < 1e-12
    middle = torch.full_like(ends, (low + high) / 2)
    assert torch.allclose(blur(net, made._replace(hidden=middle, actions=whole)), torch.ones(()).double())


def test_a_resumed_training_goes_on_bit_for_bit() -> None:
    whole, first = (Fitting("marnn-stack-rnn", SMALL, DYCK, nets=2) for _ in range(2))
    for _ in range(5):
        first.epoch()
    buffer = io.BytesIO()
    torch.save(first.state(), buffer)
    buffer.seek(0)
    second = Fitting("marnn-stack-rnn", SMALL, DYCK, nets=2)
    second.restore(torch.load(buffer, weights_only=True))
    for trained in (whole, second):
        while not trained.done:
            trained.epoch()
    for value, other in zip(whole.net.parameters(), second.net.parameters(), strict=True):
        assert torch.equal(value, other)


@pytest.mark.parametrize("option", ["noise_robust", "firm"])
def test_the_option_adds_disturbances_to_the_recipe(option: str) -> None:
    plain = fit_recipe("marnn-stack-rnn", get_task("dyck-2"))
    trainer = make_trainer("marnn-stack-rnn", "dyck-2", options={option: True, "epochs": 3})
    assert isinstance(trainer, Fitting)
    assert trainer.recipe == replace(noise_robust(plain, "dyck-2"), epochs=3)
    assert (plain.noise, trainer.recipe.noise) == (0.0, 0.3)
    assert trainer.source.endswith("disturbed and sharpened in the end")
    slow = make_trainer("marnn-stack-rnn", "homomorphic-palindrome", options={option: True})
    assert isinstance(slow, Fitting)
    assert (slow.recipe.rate, slow.recipe.epochs) == (0.01, 16)
