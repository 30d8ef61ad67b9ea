"""Neural stacks, with buffers too, against the equations word by word."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from stacklens.core.errors import StacklensError
from stacklens.models.base import Run, StackModel, Step
from stacklens.models.networks.neural_stack import (
    BufferedConfig,
    BufferedNeuralStack,
    ControllerKind,
    NeuralStack,
    NeuralStackConfig,
)
from stacklens.models.rounding import Rounded
from stacklens.models.stacks.continuous import StrengthStack
from stacklens.probe.trace import trace

KINDS = get_args(ControllerKind)
LETTERS = ("0", "1", "2")


def build(kind: ControllerKind, *, seed: int = 0, nets: int | None = None, cell_size: int = 2) -> NeuralStack:
    shape = NeuralStackConfig(LETTERS, ("x", "y"), controller=kind, hidden=4, cell_size=cell_size)
    return NeuralStack(shape, seed=seed, nets=nets)


def symbols_of(batch: int, steps: int) -> Tensor:
    return torch.randint(0, 3, (steps, batch), generator=torch.Generator().manual_seed(7))


def run(model: NeuralStack | Rounded[StrengthStack], symbols: Tensor) -> list[Step[StrengthStack]]:
    state, steps = model.initial_state(symbols.shape[1]), []
    for column in symbols:
        steps.append(model.step(column, state))
        state = steps[-1].state
    return steps


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def read(stack: list[tuple[list[float], float]], size: int) -> list[float]:
    total, left_over = [0.0] * size, 1.0
    for value, strength in reversed(stack):
        total = [whole + min(strength, left_over) * part for whole, part in zip(total, value, strict=True)]
        left_over = max(0.0, left_over - strength)
    return total


def plain_run(net: NeuralStack, word: list[int], rounded: bool = False) -> tuple[list[list[float]], list[list[float]]]:
    """Return outputs and readings of the NEW stack on one word: pop, push, then read, as section 2.1 has it."""
    size, weights = net.cell_size, {key: value.tolist() for key, value in net.net.state_dict().items()}
    stack: list[tuple[list[float], float]] = []
    cell = {"rnn": nn.RNNCell, "lstm": nn.LSTMCell}.get(net.shape.controller)
    recurrent = None if cell is None else cell(3 + size, net.shape.hidden, dtype=torch.float64)
    if recurrent is not None:
        recurrent.load_state_dict({key: value for key, value in net.net.state_dict().items() if "_" in key})
    reading, hidden, outputs, readings = [0.0] * size, None, [], []
    for symbol in word:
        seen = [float(symbol == i) for i in range(3)] + reading
        if recurrent is not None:
            hidden = recurrent(torch.tensor([seen], dtype=torch.float64), hidden)
            seen = (hidden[0] if isinstance(hidden, tuple) else hidden)[0].tolist()
        rows = zip(weights["weight"], weights["bias"], strict=True)
        z = [sum(w * x for w, x in zip(row, seen, strict=True)) + bias for row, bias in rows]
        pop, push, *value = [sigmoid(x) for x in z[: 2 + size]]
        pop, push = (float(pop >= 0.5), float(push >= 0.5)) if rounded else (pop, push)
        for i in reversed(range(len(stack))):
            kept = max(0.0, stack[i][1] - pop)
            pop = max(0.0, pop - stack[i][1])
            stack[i] = (stack[i][0], kept)
        stack.append((value, push))
        reading = read(stack, size)
        logits = z[2 + size :]
        outputs.append([math.exp(y) / sum(map(math.exp, logits)) for y in logits])
        readings.append(reading)
    return outputs, readings


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_runs_as_the_equations_do_word_by_word(kind: ControllerKind, rounded: bool) -> None:
    net, symbols = build(kind, seed=3), symbols_of(5, 12)
    with torch.no_grad():
        net.net.bias[0] = 0.2  # pops that round to one, too
        steps = run(Rounded(net) if rounded else net, symbols)
        outputs = torch.stack([step.output for step in steps])
        readings = torch.stack([step.state.stack.reading()[:, 0] for step in steps])
        for n in range(5):
            expected = [
                torch.tensor(rows, dtype=torch.float64) for rows in plain_run(net, symbols[:, n].tolist(), rounded)
            ]
            torch.testing.assert_close(outputs[:, n], expected[0], atol=1e-12, rtol=0)
            torch.testing.assert_close(readings[:, n], expected[1], atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_start_normal_by_rows_and_pops_are_discouraged(kind: ControllerKind) -> None:
    net = NeuralStack(NeuralStackConfig(LETTERS, controller=kind, hidden=200, cell_size=50))
    for name, value in net.net.named_parameters():
        if value.ndim == 2:
            assert abs(value.std().item() * len(value) ** 0.5 - 1) < 0.1, name
        elif name != "bias":
            assert value.abs().sum() == 0
    assert net.net.bias[0] == -1
    assert net.net.bias[1:].abs().sum() == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"controller": "gru"}, "controller 'gru' is not one of linear, rnn, lstm"),
        ({"alphabet": ()}, "needs an alphabet"),
        ({"hidden": 0}, "hidden is 0; expected a whole number from 1 to 4096"),
        ({"null": "#"}, "the null symbol '#' is not in the alphabet 0 1 2"),
    ],
)
def test_a_shape_that_is_none_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        NeuralStackConfig(**{"alphabet": LETTERS, **wrong})  # type: ignore[arg-type]


WORDS = torch.tensor([[0, 1, 2, 2, 1], [2, 0, 0, -1, -1], [1, -1, -1, -1, -1]])

Items = list[tuple[list[float], float]]  # values and strengths, what leaves first first


def buffered_build(
    kind: ControllerKind, *, seed: int = 0, nets: int | None = None, extra_steps: int = 1, dequeue_first: bool = True
) -> BufferedNeuralStack:
    shape = BufferedConfig(
        LETTERS, ("x", "y"), kind, hidden=4, cell_size=2, extra_steps=extra_steps, dequeue_first=dequeue_first
    )
    net = BufferedNeuralStack(shape, seed=seed, nets=nets)
    with torch.no_grad():
        net.net.bias.add_(torch.tensor([1.2, 0.2, -0.8, -0.9, 0, 0, 0, 0]))  # strengths on both sides of 0.5
    return net


def dequeue(items: Items, strength: float) -> Items:
    kept = []
    for value, own in items:
        kept.append((value, max(0.0, own - strength)))
        strength = max(0.0, strength - own)
    return kept


def buffered_read(items: Items, size: int) -> list[float]:
    total, left_over = [0.0] * size, 1.0
    for value, own in items:
        total = [whole + min(own, left_over) * part for whole, part in zip(total, value, strict=True)]
        left_over = max(0.0, left_over - own)
    return total


def buffered_plain_run(
    net: BufferedNeuralStack, word: list[int], steps: int, outputs: int, rounded: bool
) -> dict[str, list[list[float]]]:
    """Return what the equations of section 2.3 give on one word, item by item."""
    weights = net.net.state_dict()
    cell = {"rnn": nn.RNNCell, "lstm": nn.LSTMCell}.get(net.shape.controller)
    recurrent = None if cell is None else cell(5, 4, dtype=torch.float64)
    if recurrent is not None:
        recurrent.load_state_dict({key: value for key, value in weights.items() if "_" in key})
    queue: Items = [([float(symbol == i) for i in range(3)], 1.0) for symbol in word]
    written: Items = []
    stack: Items = []  # the top first
    pop_input, hidden, seen = 0.0, None, dict[str, list[list[float]]](inputs=[], reading=[], strengths=[], output=[])
    for _ in range(steps):
        queue = dequeue(queue, pop_input)
        x, r = buffered_read(queue, 3), buffered_read(stack, 2)
        features = torch.tensor([x + r], dtype=torch.float64)
        if recurrent is not None:
            hidden = recurrent(features, hidden)
            features = hidden[0] if isinstance(hidden, tuple) else hidden
        z = (weights["weight"] @ features[0] + weights["bias"]).tolist()
        u, d, i, o, *v = [1 / (1 + math.exp(-part)) for part in z[:6]]
        u, d, i, o = [float(part >= 0.5) if rounded else part for part in (u, d, i, o)]
        stack = [(v, d), *dequeue(stack, u)]
        written.append((z[6:], o))
        pop_input = i
        seen["inputs"].append(x)
        seen["reading"].append(r)
        seen["strengths"].append([u, d, i, o])
    for k in range(outputs):
        if k > 0 or net.shape.dequeue_first:
            written = dequeue(written, 1)
        y = [math.exp(part) for part in buffered_read(written, 2)]
        seen["output"].append([part / sum(y) for part in y])
    return seen


def numbers(values: list[list[float]]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def buffered_run(net: BufferedNeuralStack, words: Tensor = WORDS, rounded: bool = False) -> Run:
    network: StackModel[Any] = Rounded(net) if rounded else net
    return network.run(words.T, network.initial_state(len(words)))


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("dequeue_first", [False, True])
@pytest.mark.parametrize("extra_steps", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_a_batch_runs_as_the_equations_do_word_by_word_buffered(
    kind: ControllerKind, extra_steps: int, dequeue_first: bool, rounded: bool
) -> None:
    net = buffered_build(kind, seed=2, extra_steps=extra_steps, dequeue_first=dequeue_first)
    made = buffered_run(net, rounded=rounded)
    for n, word in enumerate([symbol for symbol in word if symbol >= 0] for word in WORDS.tolist()):
        steps = len(word) * (1 + extra_steps)
        plain = buffered_plain_run(net, word, steps, len(word), rounded)
        torch.testing.assert_close(made.actions[:steps, n, 0], numbers(plain["strengths"]), atol=1e-12, rtol=0)
        torch.testing.assert_close(made.output[: len(word), n], numbers(plain["output"]), atol=1e-12, rtol=0)


@pytest.mark.parametrize("rounded", [False, True])
def test_a_trace_shows_every_step_and_what_it_read(rounded: bool) -> None:
    net = buffered_build("rnn", seed=2)
    seen = trace(net, ["01221", "200"], rounded=rounded)
    assert seen.letters == ("0", "1", "2", "ε")
    assert seen.symbols.tolist() == [[0, 1, 2, 2, 1, 3, 3, 3, 3, 3], [2, 0, 0, 3, 3, 3, -1, -1, -1, -1]]
    for n, word in enumerate(([0, 1, 2, 2, 1], [2, 0, 0])):
        steps = 2 * len(word)
        plain = buffered_plain_run(net, word, steps, len(word), rounded)
        read = [x + r for x, r in zip(plain["inputs"], plain["reading"], strict=True)]
        np.testing.assert_allclose(seen.reading[n, :steps, 0], read, atol=1e-12)
        np.testing.assert_allclose(seen.actions[n, :steps, 0], plain["strengths"], atol=1e-12)
    assert np.isnan(seen.actions[1, 6:]).all()


def test_whole_strengths_make_it_a_transducer_that_copies_with_a_delay() -> None:
    net = BufferedNeuralStack(BufferedConfig(("a", "b"), cell_size=1, dequeue_first=False))
    with torch.no_grad():
        net.net.weight.zero_()
        net.net.weight[5:, :2] = 10 * torch.eye(2)
        net.net.bias.copy_(torch.tensor([-1.0, -1, 1, 1, 0, 0, 0]))  # read and write at every step
        assert buffered_run(net, torch.tensor([[0, 1, 1, 0]]), rounded=True).output.argmax(-1).T.tolist() == [
            [0, 1, 1, 0]
        ]
        net.net.bias[3] = -1  # write nothing
        assert (buffered_run(net, torch.tensor([[0, 1, 1, 0]]), rounded=True).output == 0.5).all()
