"""The networks of Joulin & Mikolov on stacks and on lists against their equations."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from stacklens.core.errors import StacklensError
from stacklens.models.networks.joulin import ListMemory, ListRNN, ListRNNConfig, StackRNN, StackRNNConfig

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


HEAD, CELLS = 60, 121  # of a plain list that no run of these tests leaves
OPERATIONS = ("insert", "left", "right", "none")
whole_moves = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.floats(0, 1, allow_subnormal=False)), max_size=40)
soft_moves = st.lists(
    st.tuples(st.lists(st.floats(0.01, 1), min_size=3, max_size=4), st.floats(0, 1, allow_subnormal=False)), max_size=15
)


def fresh(*leading: int, depth: int = 2, limit: int | None = None) -> ListMemory:
    return ListMemory.empty(leading or (1,), 1, torch.zeros((), dtype=torch.float64), depth=depth, limit=limit)


def next_plainly(cells: list[float], shares: list[float], new: float) -> list[float]:
    """Return L_t from L_{t-1}: the three cases of the paper, as they stand there."""
    insert, left, right, none = [*shares, 0.0][:4]
    wide = [-1.0, *cells, -1.0]  # cell i is wide[i + 1]
    after = []
    for i, old in enumerate(cells):
        inserted = new if i == HEAD else wide[i + 2] if i < HEAD else old
        after.append(right * wide[i + 2] + left * wide[i] + insert * inserted + none * old)
    return after


def tensors(shares: list[float], new: float) -> tuple[Tensor, Tensor]:
    return torch.tensor([[shares]], dtype=torch.float64), torch.full((1, 1, 1), new, dtype=torch.float64)


@settings(max_examples=40)
@given(soft_moves)
def test_soft_actions_mix_the_cells_as_in_the_paper(moves: list[tuple[list[float], float]]) -> None:
    memory, plain = fresh(depth=12), [-1.0] * CELLS
    for raw, new in moves:
        shares = [share / sum(raw) for share in raw]
        memory = memory.next(*tensors(shares, new))
        plain = next_plainly(plain, shares, new)
        expected = [plain[HEAD - i] for i in range(12)]
        assert memory.reading().flatten().tolist() == pytest.approx(expected, abs=1e-12)
        right = memory.right.flatten().tolist()
        assert right == pytest.approx(plain[HEAD + 1 : HEAD + 1 + len(right)], abs=1e-12)


@given(whole_moves)
def test_whole_actions_edit_a_list_exactly(moves: list[tuple[str, float]]) -> None:
    memory, before, after = fresh(depth=3), list[float](), list[float]()  # before ends with the head
    for operation, new in moves:
        memory = memory.next(*tensors([float(operation == name) for name in OPERATIONS], new))
        if operation == "insert":
            before.append(new)
        elif operation == "left":
            after.insert(0, before.pop() if before else -1.0)
        elif operation == "right":
            before.append(after.pop(0) if after else -1.0)
        assert memory.reading().flatten().tolist() == [*reversed(before), -1.0, -1.0, -1.0][:3]


def test_what_moves_beyond_the_limit_is_lost() -> None:
    memory = fresh(depth=3, limit=2)
    for value in (0.1, 0.2, 0.3):
        memory = memory.next(*tensors([1.0, 0.0, 0.0], value))
    assert memory.reading().flatten().tolist() == [0.3, 0.2, -1.0]
    for _ in range(2):
        memory = memory.next(*tensors([0.0, 1.0, 0.0], 0.0))
    assert memory.reading().flatten().tolist() == [-1.0, -1.0, -1.0]
    for _ in range(2):
        memory = memory.next(*tensors([0.0, 0.0, 1.0], 0.0))
    assert memory.reading().flatten().tolist() == [0.3, 0.2, -1.0]


@torch.no_grad()
def test_a_network_has_a_head_on_every_list_and_is_what_the_equations_say() -> None:
    net = ListRNN(ListRNNConfig(("a", "b"), hidden=4, n_stacks=3, no_op=True, recurrent=True), seed=1)
    for parameter in net.parameters():
        parameter.mul_(20)
    assert net.operations == OPERATIONS
    state = net.initial_state(1)
    hidden, lists = torch.zeros(4, dtype=torch.float64), [[-1.0] * CELLS for _ in range(3)]
    for symbol in (0, 1, 1, 0, 1, 0, 0):
        step = net.step(torch.tensor([symbol]), state)
        state = step.state
        seen = torch.tensor([cell for one in lists for cell in (one[HEAD], one[HEAD - 1])], dtype=torch.float64)
        drive = net.input_weights[symbol] + net.memory_weights @ seen + net.recurrent_weights @ hidden
        hidden = torch.sigmoid(drive)
        shares = (net.action_weights @ hidden).reshape(3, 4).softmax(-1)
        new = torch.sigmoid(net.pushed_weights @ hidden)
        lists = [next_plainly(one, shares[i].tolist(), float(new[i])) for i, one in enumerate(lists)]
        assert torch.allclose(step.hidden[0], hidden, rtol=0, atol=1e-12)
        assert torch.allclose(step.actions.sum(-1), torch.ones(1, 3, dtype=torch.float64))
