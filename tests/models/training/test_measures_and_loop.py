"""What is measured of a trained network, and the loop that trains."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.models.plain import steps_of
from threadpoolctl import threadpool_info, threadpool_limits
from torch import Tensor

from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel, one_thread
from stacklens.models.checkpoint import load_checkpoint
from stacklens.models.networks import build_model
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackLSTM
from stacklens.models.training.loop import (
    SideBySide,
    Trainer,
    batches_by_length,
    blur,
    by_length,
    clip_gradients,
    draw_noise,
)
from stacklens.models.training.recipes import fit_recipe
from stacklens.models.training.snapshots import Snapshots
from stacklens.models.training.streams import word_accuracy
from stacklens.models.training.supervised import Fitting
from stacklens.papers import hao2018_trials as trials
from stacklens.papers.hao2018_trials import LossKind, Trial, TrialSettings, run_trials
from stacklens.papers.suzgun2019 import AccuracyTrace

# The share of words of which everything is said right, against one word and one symbol at a time.


def right_plainly(net: StackModel[Any], task_name: str, word: str) -> bool:
    """Return whether ``net`` says exactly what is asked after every symbol of ``word``."""
    for step, asked in zip(steps_of(net, word), get_task(task_name).expected(word), strict=True):
        said = {net.output_alphabet[i] for i in (step.output[0] > 0.5).nonzero().flatten().tolist()}
        if said != (set(asked) if isinstance(asked, tuple) else {asked}):
            return False
    return True


@pytest.mark.parametrize(
    ("model", "task", "words"),
    [
        ("marnn-joulin", "dyck-1", ["()", "(())()", "((()))", "()()()()"]),
        ("rnn", "dyck-1", ["()", "(())", "(()())"]),
        ("baby-ntm", "string-reversal", ["a#", "ab##", "bbca####"]),
    ],
)
def test_it_is_the_share_of_words_without_a_mistake(model: str, task: str, words: list[str]) -> None:
    kind = get_task(task).kind
    shape = {"alphabet": get_task(task).alphabet, "hidden": 3, "task_kind": kind}
    shape |= {"controller": model} if model == "rnn" else {"stack_limit": 8}
    examples, seen = get_task(task).examples(words), set()
    for seed in range(0, 60, 3):
        many = build_model(model, shape, seed=seed, nets=3)
        with torch.no_grad():
            for parameter in many.parameters():
                parameter.mul_(3)
            many.get_parameter("output_bias")[:, : 1 + seed % 2] += 2.5  # some words come out right
        alone = build_model(model, shape)
        expected = []
        for number in range(3):
            alone.load_state_dict({name: value[number] for name, value in many.state_dict().items()})
            expected.append(sum(right_plainly(alone, task, word) for word in words) / len(words))
        assert word_accuracy(many, examples).tolist() == expected
        assert word_accuracy(alone, examples).tolist() == expected[-1:]
        seen |= set(expected)
    assert len(seen) > 1 or task == "string-reversal"


# Accuracy along a training: what is recorded is what the networks answer then, and recording changes nothing.

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
            assert accuracies[number] == word_accuracy(snapshot.network(again, number), HELD_OUT)[0]
    assert len({tuple(one) for one in trace.accuracies}) > 1  # something was learned meanwhile


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
    for trial in run(model, config, (5, 2), settings):
        (alone,) = run(model, config, (trial.seed,), settings)
        assert replace(alone, network=trial.network) == trial
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


# Snapshots along a training: evenly spread, never more than asked for, and without any influence on it.


def kept(training: Trainer, snapshots: Snapshots) -> list[tuple[int, dict[str, torch.Tensor]]]:
    """Return what `Snapshots` should keep, from watching every update."""

    def weights() -> dict[str, torch.Tensor]:
        return {name: value.detach().clone() for name, value in training.net.named_parameters()}

    seen = [(0, weights())]
    snapshots.watch(training)
    inner = training.watch

    def updated() -> None:
        inner()
        seen.append((len(seen), weights()))

    training.watch = updated
    training.run()
    snapshots.end(training)
    return seen


@pytest.mark.parametrize("most", [2, 5, 50])
def test_as_many_as_asked_for_evenly_spread_and_each_as_it_was(most: int, tmp_path: Path) -> None:
    training, snapshots = fitting(), Snapshots(most)
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
    assert max(after - before for before, after in pairwise(moments)) <= 4 * len(seen) / most
    assert len({load_checkpoint(file).model.config()["temperature"] for file in files}) > 1  # it was lowered meanwhile


def test_a_training_that_was_stopped_goes_on_keeping(tmp_path: Path) -> None:
    straight, stopped, resumed = fitting(), fitting(), fitting()
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


# Training with disturbances: how large they are, what blur counts, and that training stays as exact as without.


def test_disturbances_are_as_large_as_asked_and_readings_are_disturbed_less() -> None:
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    net = MarnnStackLSTM(MarnnConfig(("(", ")")), seed=1)
    answer = net.controller

    def spy(symbols: torch.Tensor, hidden: torch.Tensor, reading: torch.Tensor) -> object:
        seen.append((hidden, reading))
        return answer(symbols, hidden, reading)

    net.controller = spy  # type: ignore[assignment, method-assign]
    words = torch.zeros(1, 2_000, dtype=torch.int64)
    noise = draw_noise(net, 1, 2_000, 0.5, 0.3, torch.Generator().manual_seed(1))
    StackModel.run(net, words, net.initial_state(2_000), noise)
    hidden, reading = seen[0]  # both are 0 before the first step
    assert not hidden[:, 8:].any()  # c
    assert 0.45 < hidden.abs().max() <= 0.5
    assert 0.13 < reading.abs().max() <= 0.15
    assert torch.allclose(hidden[:, :8].abs(), hidden.abs()[:, :1])  # one amount a word
    assert 0.4 < (hidden[:, :8] > 0).double().mean() < 0.6


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        *((name, {"alphabet": ("(", ")"), "hidden": 3}) for name in ("marnn-stack-rnn", "marnn-joulin")),
        ("marnn-stack-lstm", {"alphabet": ("(", ")"), "hidden": 3, "cell_size": 2}),
        ("neural-stack", {"alphabet": ("0", "1"), "controller": "lstm", "hidden": 3}),
    ],
)
def test_blur_is_0_where_units_and_actions_have_decided(model: str, shape: dict[str, Any]) -> None:
    net = build_model(model, shape, seed=1)
    words = torch.randint(2, (7, 50), generator=torch.Generator().manual_seed(3))
    made = net.run(words, net.initial_state(50))
    low, high = net.unit_range
    actions = made.actions.argmax(-1) if net.action_kind == "softmax" else made.actions.round()
    whole = torch.nn.functional.one_hot(actions, 2).double() if net.action_kind == "softmax" else actions
    ends = torch.where(made.hidden > (low + high) / 2, high, low)
    assert blur(net, made).shape == words.shape
    assert (blur(net, made) > 0.1).all()
    assert blur(net, made._replace(hidden=ends, actions=whole)).abs().max() < 1e-12
    middle, one = torch.full_like(ends, (low + high) / 2), torch.ones(()).double()
    if "lstm" in (*shape.values(), model[-4:]):  # with a gate shut it has decided, and at tanh(1), its farthest
        for decided in (middle, middle + math.tanh(1), middle - math.tanh(1)):
            assert blur(net, made._replace(hidden=decided, actions=whole)).abs().max() < 1e-12
        middle += math.tanh(1) / 2
    assert torch.allclose(blur(net, made._replace(hidden=middle, actions=whole)), one)


# ---- The loop of all kinds of training on a made-up kind, and the pieces that kinds share against plain sums. ----
SHAPE = {"alphabet": ("a", "b"), "hidden": 3, "n_stacks": 1}


class Counting(SideBySide):
    """Two networks whose only cost is the square of their weights; what happens is written down."""

    total_epochs = 5
    settled = False
    model, shape, n_nets, device = "stack-rnn", SHAPE, 2, "cpu"

    def __init__(self, check_every: int = 1, rate: float = 0.1) -> None:
        self.net = build_model(self.model, self.shape, seed=3, nets=2)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=9.0)
        self.check_every, self.rate = check_every, rate
        self.events: list[str] = []
        self.begin()

    def learning_rate(self) -> float:
        return self.rate

    def batches(self) -> Iterator[int]:
        for number in range(3):
            self.events.append(f"drawn {number}")
            yield number
        self.events.append("over")

    def costs(self, batch: int) -> Tensor | None:
        if batch == 1:
            return None
        self.events.append(f"learned {batch}")
        return torch.stack([value.square().flatten(1).sum(1) / 2 for value in self.net.parameters()]).sum(0)

    def check(self) -> None:
        self.events.append(f"checked {self.epochs_done}")


def test_a_batch_is_drawn_when_the_one_before_has_been_learned_from_and_checks_come_last() -> None:
    training = Counting()
    training.epoch()
    assert training.events == ["drawn 0", "learned 0", "drawn 1", "drawn 2", "learned 2", "over", "checked 1"]


def test_an_update_goes_down_the_gradient_at_the_rate_of_the_moment_and_nothing_costs_nothing() -> None:
    training = Counting(rate=0.25)
    before = weights(training.net)
    training.epoch()  # two updates
    torch.testing.assert_close(weights(training.net), before * 0.75**2)


def test_checks_come_as_often_as_they_should_and_after_the_last_epoch() -> None:
    training = Counting(check_every=2)
    training.run()
    checks = [event for event in training.events if event.startswith("checked")]
    assert checks == ["checked 2", "checked 4", "checked 5"]
    training.epoch()
    assert training.epochs_done == 5


@pytest.mark.parametrize(("which", "first", "second"), [(0, 1, 0), (np.array([False, True]), 0, 1), (..., 1, 1)])
def test_only_the_networks_meant_are_kept_and_brought_back(which: int, first: int, second: int) -> None:
    training = Counting()
    begun = {name: value.clone() for name, value in training.best_weights.items()}
    training.epoch()
    now = {name: value.detach().clone() for name, value in training.net.named_parameters()}
    training.keep(which)
    for name, value in training.best_weights.items():
        for number, kept in enumerate((first, second)):
            assert torch.equal(value[number], (now if kept else begun)[name][number])
    training.best_weights = begun
    training.bring_back(which)
    for name, value in training.net.named_parameters():
        for number, back in enumerate((first, second)):
            assert torch.equal(value[number], (begun if back else now)[name][number])


def test_gradients_are_shortened_network_by_network_and_only_where_they_are_too_long() -> None:
    values = [torch.zeros(2, 1, requires_grad=True), torch.zeros(2, 2, 1, requires_grad=True), torch.zeros(2)]
    values[0].grad = torch.tensor([[6.0], [0.3]])
    values[1].grad = torch.tensor([[[8.0], [0.0]], [[0.0], [0.4]]])
    clip_gradients(values, 5.0)
    torch.testing.assert_close(values[0].grad, torch.tensor([[3.0], [0.3]]))
    torch.testing.assert_close(values[1].grad, torch.tensor([[[4.0], [0.0]], [[0.0], [0.4]]]))


def test_products_of_numpy_run_on_one_thread_and_then_on_as_many_as_before() -> None:
    with threadpool_limits(2, "blas"):
        before = threadpool_info()
        with one_thread():
            assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
        assert threadpool_info() == before


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 7), st.integers(0, 99))
def test_batches_have_every_word_once(lengths: list[int], size: int, seed: int) -> None:
    ordered = by_length(np.array(lengths, int), size)
    for batches in (ordered, batches_by_length(np.array(lengths, int), size, np.random.default_rng(seed))):
        assert sorted(row for rows in batches for row in rows.tolist()) == list(range(len(lengths)))
        assert all(len(rows) <= size for rows in batches)
    assert [lengths[row] for rows in ordered for row in rows] == sorted(lengths)
