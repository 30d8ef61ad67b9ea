"""The loop of all kinds of training on a made-up kind, and the pieces that kinds share against plain sums."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from stacklens.models.checkpoint import build_model
from stacklens.models.training.loop import SideBySide, batches_by_length, by_length, clip_gradients, cosine, log_loss

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
        squares = [value.square().flatten(1).sum(1) / 2 for value in self.net.parameters()]
        return torch.stack(squares).sum(0)

    def check(self) -> None:
        self.events.append(f"checked {self.epochs_done}")


def flat(training: Counting) -> Tensor:
    return torch.cat([value.detach().flatten() for value in training.net.parameters()])


def test_a_batch_is_drawn_when_the_one_before_has_been_learned_from_and_checks_come_last() -> None:
    training = Counting()
    training.epoch()
    assert training.events == ["drawn 0", "learned 0", "drawn 1", "drawn 2", "learned 2", "over", "checked 1"]


def test_an_update_goes_down_the_gradient_at_the_rate_of_the_moment_and_nothing_costs_nothing() -> None:
    training = Counting(rate=0.25)
    before = flat(training)
    training.epoch()  # two updates
    torch.testing.assert_close(flat(training), before * 0.75**2)


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


@given(st.lists(st.floats(1e-3, 1), min_size=2, max_size=2), st.integers(0, 1))
def test_the_log_loss_is_the_surprise_at_what_should_be_said(weights: list[float], target: int) -> None:
    said = torch.tensor(weights, dtype=torch.float64) / sum(weights)
    found = log_loss(said.expand(4, 3, 5, 2), torch.full((4, 1, 5), target))
    assert found.shape == (4, 3, 5)
    assert found.tolist() == pytest.approx(np.full((4, 3, 5), -math.log(weights[target] / sum(weights))), abs=1e-12)


def test_gradients_are_shortened_network_by_network_and_only_where_they_are_too_long() -> None:
    values = [torch.zeros(2, 1, requires_grad=True), torch.zeros(2, 2, 1, requires_grad=True), torch.zeros(2)]
    values[0].grad = torch.tensor([[6.0], [0.3]])
    values[1].grad = torch.tensor([[[8.0], [0.0]], [[0.0], [0.4]]])
    clip_gradients(values, 5.0)
    torch.testing.assert_close(values[0].grad, torch.tensor([[3.0], [0.3]]))
    torch.testing.assert_close(values[1].grad, torch.tensor([[[4.0], [0.0]], [[0.0], [0.4]]]))


def test_a_rate_falls_as_half_a_cosine() -> None:
    assert [cosine(done, 4) for done in range(5)] == pytest.approx([1, (1 + 0.5**0.5) / 2, 0.5, (1 - 0.5**0.5) / 2, 0])


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 7), st.integers(0, 99))
def test_batches_have_every_word_once(lengths: list[int], size: int, seed: int) -> None:
    ordered = by_length(np.array(lengths, int), size)
    drawn = batches_by_length(np.array(lengths, int), size, np.random.default_rng(seed))
    for batches in (ordered, drawn):
        assert sorted(row for rows in batches for row in rows.tolist()) == list(range(len(lengths)))
        assert all(len(rows) <= size for rows in batches)
    assert [lengths[row] for rows in ordered for row in rows] == sorted(lengths)
