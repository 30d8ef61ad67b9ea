from __future__ import annotations

import numpy as np
import pytest
import torch

from stacklens.extract.memory_use import relevant_stacks
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.probe.trace import trace

WORDS = ["aababbbaab", "abab", "bbbbaaaaab", "", "aaaaabbbbb", "abba"]


def counter(n_stacks: int = 3, used: int = 1) -> StackRNN:
    """Return a network that pushes on a and pops on b, on the stack ``used``, and says b as long as one is open.

    Stack 0 (or another that is not used) is never filled, later ones push always, and nobody looks at them.
    """
    net = StackRNN(StackRNNConfig(("a", "b"), hidden=3, n_stacks=n_stacks, depth=2), seed=0)
    for weights in net.parameters():
        weights.data.zero_()
    net.input_weights.data[:, :2] = torch.tensor([[20.0, -20.0], [-20.0, 20.0]])  # units 0 and 1 say what was read
    net.memory_weights.data[2, 2 * used] = 20.0  # unit 2: the used stack is not empty (a value near 1)
    for stack in range(n_stacks):
        push, pop = net.action_weights.data[2 * stack], net.action_weights.data[2 * stack + 1]
        if stack == used:
            push[0], pop[1] = 20.0, 20.0
        else:
            (push if stack > used else pop)[:2] = 20.0
    net.pushed_weights.data[:, :2] = 20.0
    net.output_weights.data[1, 2], net.output_weights.data[0, 1] = 20.0, 10.0
    return net.eval()


def test_only_the_stack_in_use_matters() -> None:
    use = relevant_stacks(counter(), WORDS)
    assert use.kept == (1,)
    assert [(dropped.stack, dropped.reason) for dropped in use.dropped] == [(0, "never filled"), (2, "ignored")]
    assert (use.words, use.steps) == (6, sum(map(len, WORDS)))


def test_the_network_without_the_others_does_the_same() -> None:
    net = counter()
    small = relevant_stacks(net, WORDS).without(net)
    assert small.n_stacks == 1
    whole, part = trace(net, WORDS, rounded=True), trace(small, WORDS, rounded=True)
    np.testing.assert_array_equal(whole.actions[:, :, 1:2], part.actions)
    np.testing.assert_array_equal(np.nan_to_num(whole.output).argmax(-1), np.nan_to_num(part.output).argmax(-1))


def test_a_stack_whose_steady_reading_is_needed_is_replaced_by_that_reading() -> None:
    net = counter(n_stacks=2, used=0)
    # unit 2 needs the other stack too, which shows the same values but for the first steps; no b comes there
    net.memory_weights.data[2] = torch.tensor([30.0, 0.0, 40.0, 0.0])
    net.input_weights.data[:, 2] = -50.0
    use = relevant_stacks(net, ["ab" * 30 + "aabb"])
    assert use.kept == (0,)
    assert use.dropped[0].reason == "constant"
    assert use.dropped[0].shown == pytest.approx((1.0, 1.0))


def test_nothing_is_dropped_where_every_stack_matters() -> None:
    net = counter(n_stacks=2, used=0)
    net.action_weights.data[2:] = net.action_weights.data[:2].flip(1)  # pushes on b, pops on a
    net.memory_weights.data[2, 2] = 20.0
    net.memory_weights.data[2, 0] = 20.0
    use = relevant_stacks(net, WORDS)
    assert use.kept == (0, 1)
    assert use.without(net) is net


def test_a_stack_that_only_ever_pushes_counts_as_state() -> None:
    net = counter(n_stacks=2, used=0)
    net.memory_weights.data[2, 2:] = torch.tensor([15.0, -15.0])  # unit 2 sees what the other one wrote last
    net.pushed_weights.data[1] = torch.tensor([20.0, -20.0, 0.0])
    use = relevant_stacks(net, WORDS)
    assert (use.kept, use.push_only, use.stacks) == ((0, 1), (1,), (0,))
    small = use.without(net)
    assert (small.n_stacks, small.recurrent) == (1, True)
    whole, part = trace(net, WORDS, rounded=True), trace(small, WORDS, rounded=True)
    np.testing.assert_array_equal(whole.actions[:, :, :1], part.actions)
    np.testing.assert_array_equal(whole.output, part.output)
    np.testing.assert_array_equal(whole.reading[:, :, 1][whole.valid], part.hidden[:, :-1][whole.valid])
