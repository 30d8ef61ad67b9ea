from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig

CONFIGS = [
    StackRNNConfig(("a", "b"), hidden=6),
    StackRNNConfig(("a", "b", "c"), hidden=5, n_stacks=2, no_op=True),
    StackRNNConfig(("a", "b"), hidden=4, n_stacks=3, depth=3, no_op=True, recurrent=True, stack_limit=4),
    StackRNNConfig(("a", "b"), hidden=4, depth=1, recurrent=True, stack_limit=None),
]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def softmax(row: list[float]) -> list[float]:
    weights = [math.exp(x) for x in row]
    return [weight / sum(weights) for weight in weights]


def dot(row: Tensor, vector: list[float]) -> float:
    return float(sum(weight * x for weight, x in zip(row.tolist(), vector, strict=True)))


def run_plainly(net: StackRNN, word: list[int]) -> list[tuple[list[float], list[list[float]], list[float]]]:
    """Return hidden layers, tops of all stacks and outputs from the equations of the paper, a number at a time."""
    shape = net.shape
    limit = shape.stack_limit or 100
    hidden: list[float] = [0.0] * shape.hidden
    stacks: list[list[float]] = [[-1.0] * limit for _ in range(shape.n_stacks)]
    course = []
    for symbol in word:
        seen = [cell for stack in stacks for cell in stack[: shape.depth]]
        drive = [float(net.input_weights[symbol, i]) + dot(net.memory_weights[i], seen) for i in range(shape.hidden)]
        if shape.recurrent:
            drive = [x + dot(row, hidden) for x, row in zip(drive, net.recurrent_weights, strict=True)]
        hidden = [sigmoid(x) for x in drive]
        for s, old in enumerate(stacks):
            n = len(net.operations)
            shares = softmax([dot(net.action_weights[s * n + i], hidden) for i in range(n)])
            above = [sigmoid(dot(net.pushed_weights[s], hidden)), *old[:-1]]
            below = [*old[1:], -1.0]
            stacks[s] = [shares[0] * a + shares[1] * b for a, b in zip(above, below, strict=True)]
            if n == 3:
                stacks[s] = [x + shares[2] * y for x, y in zip(stacks[s], old, strict=True)]
        output = softmax([dot(row, hidden) for row in net.output_weights])
        course.append((hidden, [stack[:4] for stack in stacks], output))
    return course


def random_net(config: StackRNNConfig, seed: int) -> StackRNN:
    """Return a network whose weights are large enough for its actions to differ."""
    net = StackRNN(config, seed=seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(20)
    return net


@pytest.mark.parametrize("config", CONFIGS)
@torch.no_grad()
def test_a_network_is_what_the_equations_say(config: StackRNNConfig) -> None:
    net = random_net(config, seed=5)
    words = torch.randint(len(config.alphabet), (3, 12), generator=torch.Generator().manual_seed(5))
    courses = [run_plainly(net, word.tolist()) for word in words]
    state = net.initial_state(3)
    for t, column in enumerate(words.unbind(1)):
        step = net.step(column, state)
        state = step.state
        for row, course in enumerate(courses):
            hidden, tops, output = course[t]
            assert step.hidden[row].tolist() == pytest.approx(hidden, abs=1e-12)
            assert step.output[row].tolist() == pytest.approx(output, abs=1e-12)
            for cells, expected in zip(state.stack.cells(4)[row, ..., 0].tolist(), tops, strict=True):
                assert cells == pytest.approx(expected, abs=1e-12)


def test_weights_are_sums_of_three_draws() -> None:
    weights = StackRNN(StackRNNConfig(("a",), hidden=200, recurrent=True)).recurrent_weights
    assert weights.abs().max() <= 0.3
    assert weights.std().item() == pytest.approx(0.1, rel=0.02)  # sqrt(3 * 0.2^2 / 12)
    assert weights.mean().item() == pytest.approx(0, abs=0.005)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alphabet": ()}, "the alphabet is empty"),
        ({"alphabet": ("a", "a")}, "repetition"),
        ({"hidden": 0}, "hidden is 0; expected a whole number from 1"),
        ({"n_stacks": -1}, "n_stacks is -1"),
        ({"depth": 2.5}, "depth is 2.5"),
        ({"n_stacks": 3000, "depth": 3000}, r"n_stacks \* depth is 9000000"),
        ({"stack_limit": 0}, "stack_limit is 0; expected a whole number from 1 to 1,000,000, or None"),
    ],
)
def test_wrong_shapes_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        StackRNNConfig(**{"alphabet": ("a", "b"), **wrong})  # type: ignore[arg-type]
