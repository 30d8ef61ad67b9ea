from __future__ import annotations

from typing import Any

import pytest
import torch

from stacklens.models.base import StackModel
from stacklens.models.networks.joulin import ListRNN, ListRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnStackRNN
from stacklens.models.rounding import Rounded
from stacklens.models.stacks.ring import RING_OPERATIONS
from stacklens.models.views.ring_as_stacks import RingAsTwoStacks
from stacklens.models.views.stack_view import StackView
from stacklens.models.views.views import is_stack, views_of

LETTERS = ("a", "b", "c")
STEPS, WORDS = 60, 12


def baby(seed: int, cells: int = STEPS + 1) -> BabyNTM:
    """Return a random network whose rounded ring does all kinds of things."""
    net = BabyNTM(MarnnConfig(LETTERS, cell_size=1 + seed % 2, stack_limit=cells), seed=seed)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            parameter.mul_(6 if name.endswith("weights") else 0.5)
        net.action_bias.zero_()
    return net


def lists(seed: int) -> ListRNN:
    shape = ListRNNConfig(
        LETTERS,
        hidden=8,
        n_stacks=1 + seed % 3,
        depth=1 + seed % 2,
        no_op=seed % 2 == 0,
        recurrent=seed % 5 == 0,
        stack_limit=3 if seed % 4 == 3 else 200,  # what moves further is lost on both
    )
    net = ListRNN(shape, seed=seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(8)
    return net


@torch.no_grad()
def largest_difference(net: StackModel[Any], view: StackView, seed: int = 0) -> float:
    """Return how far the outputs of the rounded network and of a view are apart on random words."""
    rounded = Rounded(net)
    state, seen, largest = rounded.initial_state(WORDS), view.initial_state(WORDS), 0.0
    generator = torch.Generator().manual_seed(seed)
    for _ in range(STEPS):
        letters = torch.randint(0, len(LETTERS), (WORDS,), generator=generator)
        one, other = rounded.step(letters, state), view.step(letters, seen)
        state, seen = one.state, other.state
        largest = max(largest, float((one.output - other.output).abs().max()))
    return largest


def test_a_ring_is_two_stacks_for_as_long_as_their_ends_do_not_meet() -> None:
    assert max(largest_difference(baby(seed), RingAsTwoStacks(baby(seed))) for seed in range(12)) == 0


def test_where_the_ends_of_a_ring_meet_it_is_not() -> None:
    apart = [largest_difference(baby(seed, 4), RingAsTwoStacks(baby(seed, 4))) for seed in range(12)]
    assert sum(difference > 0.01 for difference in apart) > 3


def test_lists_are_two_stacks_each() -> None:
    assert max(largest_difference(lists(seed), views_of(lists(seed))[0]) for seed in range(24)) < 1e-12


def test_only_what_is_no_stack_has_views() -> None:
    assert [view.title for view in views_of(baby(1))] == [
        "its ring as one stack",
        "its ring as one stack, mirrored",
        "its ring as two stacks",
    ]
    assert [view.n_stacks for view in views_of(lists(1))] == [4]
    for net in (MarnnStackRNN(MarnnConfig(LETTERS)), NeuralStack(NeuralStackConfig(LETTERS))):
        assert not views_of(net)
    assert is_stack(MarnnStackRNN(MarnnConfig(LETTERS)))
    assert not is_stack(baby(1))
    assert all(is_stack(view) for view in views_of(baby(1)))


@pytest.mark.parametrize(
    ("taken", "shown"),
    [
        (("pop right", "rotate left"), True),
        (("rotate right", "pop right", "pop left", "no-op"), True),
        (("rotate right", "rotate left"), False),
        (RING_OPERATIONS, False),
    ],
)
def test_that_nothing_comes_back_is_known_without_one_of_the_rotations(taken: tuple[str, ...], shown: bool) -> None:
    one, mirrored, two = views_of(baby(1))
    assert (one.unused(taken) is not None) == shown
    assert mirrored.unused(taken) is None
    assert two.unused(taken) is None
