"""Training with disturbances: how large they are, what blur counts, and that training stays as exact as without."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
import torch

from stacklens.languages import get_task
from stacklens.models.base import StackModel
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.training.factory import make_trainer
from stacklens.models.training.noise import NoisyNetwork
from stacklens.models.training.supervised import Fitting
from stacklens.models.training.supervised_recipes import FitRecipe, fit_recipe, noise_robust

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
    shake=0.2,
    firmness=0.1,
)


def generator(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def run(shaken: StackModel[Any], steps: int = 6, words: int = 50) -> torch.Tensor:
    symbols = torch.zeros(steps, words, dtype=torch.int64)
    return shaken.run(symbols, shaken.initial_state(words)).output


def test_disturbances_are_as_large_as_asked_and_readings_are_disturbed_less() -> None:
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    net = MarnnStackRNN(MarnnConfig(("(", ")")), seed=1)
    answer = net.controller

    def spy(symbols: torch.Tensor, hidden: torch.Tensor, reading: torch.Tensor) -> object:
        seen.append((hidden, reading))
        return answer(symbols, hidden, reading)

    net.controller = spy  # type: ignore[assignment, method-assign]
    run(NoisyNetwork(net, 0.5, None, generator()), steps=1, words=2_000)
    hidden, reading = seen[0]  # both are 0 before the first step
    assert 0.45 < hidden.abs().max() <= 0.5
    assert 0.13 < reading.abs().max() <= 0.15
    assert torch.allclose(hidden.abs(), hidden.abs()[:, :1])  # one amount a word
    assert 0.4 < (hidden > 0).double().mean() < 0.6


def test_without_an_amount_nothing_is_disturbed() -> None:
    net = MarnnStackRNN(MarnnConfig(("(", ")")), seed=1)
    assert torch.allclose(run(NoisyNetwork(net, 0.0, None, generator())), run(net))
    one, other = (run(NoisyNetwork(net, 0.3, None, generator(seed))) for seed in (1, 2))
    assert not torch.equal(one, other)
    assert torch.equal(one, run(NoisyNetwork(net, 0.3, None, generator(1))))


def test_blur_is_0_where_units_and_actions_have_decided_and_counts_no_cells_of_an_lstm() -> None:
    net = MarnnStackLSTM(MarnnConfig(("(", ")"), hidden=3), seed=1)
    weights = torch.full((6, 50), 1 / 300, dtype=torch.float64)
    shaken = NoisyNetwork(net, 0.0, 3, generator())
    run(shaken)
    assert shaken.blur(weights) > 0.5
    with torch.no_grad():
        net.input_bias[:] = 40.0  # all gates are open: h = tanh(c), and c grows by 1 a step
        net.action_bias[0] = 100.0
    firm_net = NoisyNetwork(net, 0.0, 3, generator())
    run(firm_net, steps=6)
    assert firm_net.blurs[-1].max() < 1e-3
    assert firm_net.blur(weights) < 0.1


def test_a_network_among_many_becomes_what_it_becomes_alone() -> None:
    many = Fitting("marnn-stack-rnn", SMALL, DYCK, seed=4, nets=3)
    alone = Fitting("marnn-stack-rnn", SMALL, DYCK, seed=6, nets=1)
    for _ in range(6):
        many.epoch()
        alone.epoch()
    for (name, value), other in zip(many.net.named_parameters(), alone.net.parameters(), strict=True):
        assert torch.allclose(value[2], other[0], rtol=1e-6, atol=1e-8), name


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


def test_networks_are_checked_only_once_disturbances_have_reached_their_size() -> None:
    trained = Fitting("marnn-stack-rnn", SMALL, DYCK, nets=1)
    unchecked = list(trained.best)
    for _ in range(5):
        trained.epoch()
    assert trained.best == unchecked
    trained.epoch()
    assert trained.best != unchecked


def test_the_option_firm_adds_disturbances_to_the_recipe() -> None:
    plain = fit_recipe("marnn-stack-rnn", get_task("dyck-2"))
    trainer = make_trainer("marnn-stack-rnn", "dyck-2", options={"firm": True, "epochs": 3})
    assert isinstance(trainer, Fitting)
    assert trainer.recipe == noise_robust(replace(plain, epochs=3))
    assert (plain.shake, trainer.recipe.shake) == (0.0, 0.3)
    assert trainer.source.endswith("disturbed and firm in the end")


@pytest.mark.slow
def test_a_firm_network_settles_at_the_ends_of_its_curves() -> None:
    recipe = replace(SMALL, words=120, epochs=16, perfect_checks=100)
    trained = {shake: Fitting("marnn-stack-rnn", replace(recipe, shake=shake), DYCK, nets=1) for shake in (0.0, 0.3)}
    blurs = {}
    for shake, fitting in trained.items():
        while not fitting.done:
            fitting.epoch()
        shaken = NoisyNetwork(fitting.network(), 0.0, None, generator())
        run(shaken)
        blurs[shake] = float(shaken.blur(torch.full((6, 50), 1 / 300, dtype=torch.float64)).detach())
    assert blurs[0.3] < blurs[0.0] / 2
