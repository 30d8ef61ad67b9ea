from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_language
from stacklens.languages.words import all_words
from stacklens.models.checkpoint import Checkpoint, load_checkpoint, save_model
from stacklens.models.inference import verdicts_on
from stacklens.models.training.recipes import RECIPES, Recipe, Stage
from stacklens.models.training.recognition import Training

SHORT = dataclasses.replace(
    RECIPES["1n0n"],
    stages=(Stage(epochs=10, up_to=3), Stage(epochs=15, words=("10", "1100", "0", "1011"))),
    check_length=5,
    rounds=2,
    round_epochs=20,
)
LANGUAGE = get_language("1n0n")


def trained(epochs: int, seed: int = 0, nets: int = 3, recipe: Recipe = SHORT) -> Training:
    training = Training(recipe, LANGUAGE, seed=seed, nets=nets)
    while training.epochs_done < epochs and not training.done:
        training.epoch()
    return training


def weights(training: Training) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in training.net.named_parameters()}


def assert_same(one: Training, other: Training) -> None:
    assert (one.epochs_done, one.round, one.clean_checks) == (other.epochs_done, other.round, other.clean_checks)
    assert one.best == other.best
    assert torch.equal(one.losses, other.losses)
    assert torch.equal(one.weights, other.weights)
    assert one.words == other.words
    for left, right in ((weights(one), weights(other)), (one.best_weights, other.best_weights)):
        assert all(torch.equal(left[name], right[name]) for name in right)


def test_a_network_does_not_depend_on_those_trained_beside_it() -> None:
    many, alone = trained(25, seed=4, nets=3), trained(25, seed=5, nets=1)
    for name, value in weights(alone).items():
        torch.testing.assert_close(weights(many)[name][1], value[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("stop", [1, 10, 26, 46])
def test_a_stopped_and_resumed_training_equals_an_uninterrupted_one(stop: int, tmp_path: Path) -> None:
    straight = trained(10_000)
    half = trained(stop)
    path = tmp_path / "half.pt"
    save_model(path, Checkpoint(half.network(), {}, {}, half.state()))
    resumed = Training(SHORT, LANGUAGE, nets=3)
    state = load_checkpoint(path).training
    assert state is not None
    resumed.restore(state)
    while not resumed.done:
        resumed.epoch()
    assert_same(resumed, straight)


def test_counterexamples_are_given_only_to_the_networks_that_err_on_them() -> None:
    training = trained(SHORT.stage_epochs)
    before = len(training.word_set.words)
    candidates = all_words(LANGUAGE.alphabet, SHORT.check_length - SHORT.rounds + 1)
    wrong = verdicts_on(training.net, candidates) != np.array([word in LANGUAGE for word in candidates])
    assert wrong.any(0).sum() > 0
    training.epoch()
    added = training.word_set.words[before:]
    assert list(added) == [word for word, bad in zip(candidates, wrong.any(0), strict=True) if bad]
    assert training.weights[:, before:].bool().tolist() == wrong[:, wrong.any(0)].tolist()
    assert training.weights[:, :before].eq(1).all()
    assert training.round == 1
    assert training.given == [wrong.sum(-1).tolist()]
    resumed = trained(0)
    resumed.restore(training.state())
    assert resumed.given == training.given


def test_the_network_handed_out_is_the_best_check_and_not_the_last_one() -> None:
    training = trained(50)
    kept = {name: value.clone() for name, value in training.network(1).state_dict().items()}
    assert all(torch.equal(kept[name], weights(training)[name][1]) for name in kept)  # epoch 50 was the first check
    training.best[1] = dataclasses.replace(training.best[1], rounded_errors=-1)
    while not training.done:
        training.epoch()
    assert not all(torch.equal(kept[name], weights(training)[name][1]) for name in kept)
    for best in (training.network(1), training.network()):
        assert all(torch.equal(kept[name], value) for name, value in best.state_dict().items())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 9}, "it was begun with seed 9, asked for is 0"),
        ({"nets": 4}, "it was begun with nets 4, asked for is 3"),
        ({"language": "anbn"}, "it was begun with language 'anbn', asked for is '1n0n'"),
        ({"optimizer": {}}, "its state is damaged"),
        ({"best": 3}, "its state is damaged"),
    ],
)
def test_a_training_cannot_be_resumed_as_another_one(change: dict[str, object], message: str) -> None:
    state = {**trained(1).state(), **change}
    with pytest.raises(StacklensError, match=f"^this training cannot be resumed: {message}"):
        trained(0).restore(state)


@pytest.mark.slow
def test_parentheses_are_learned_exactly_by_most_networks() -> None:
    training = Training(RECIPES["parentheses"], get_language("parentheses"), nets=4)
    while not training.done:
        training.epoch()
    assert sum(score.rounded_errors == 0 for score in training.best) >= 2
    net = training.network()
    words = all_words(net.alphabet, 10)
    assert verdicts_on(net, words).tolist() == [word in training.language for word in words]
