"""Neural stacks against plain code, networks' verdicts, and rounding."""

import math
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.plain import Items, read_off, steps_of, taken_off
from torch import nn

from stacklens.languages.words import all_words
from stacklens.models.base import StackModel
from stacklens.models.inference import verdicts_on, verdicts_on_all
from stacklens.models.networks import build_model
from stacklens.models.networks.baselines import SCRN, Baseline, BaselineConfig, SCRNConfig
from stacklens.models.networks.neural_stack import (
    BufferedConfig,
    BufferedNeuralStack,
    ControllerKind,
    NeuralStack,
    NeuralStackConfig,
)
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.rounding import Operation, Rounded, RoundedSteps, without_empty_pops
from stacklens.probe.trace import trace

# Neural stacks, with buffers too, against the equations word by word.

KINDS = get_args(ControllerKind)
LETTERS = ("0", "1", "2")


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
    pop_input, hidden, seen = 0.0, None, dict[str, list[list[float]]](reading=[], strengths=[], output=[])
    for _ in range(steps):
        queue = taken_off(queue, pop_input)
        x, r = read_off(queue, 3), read_off(stack, 2)
        features = torch.tensor([x + r], dtype=torch.float64)
        if recurrent is not None:
            hidden = recurrent(features, hidden)
            features = hidden[0] if isinstance(hidden, tuple) else hidden
        z = (weights["weight"] @ features[0] + weights["bias"]).tolist()
        u, d, i, o, *v = [1 / (1 + math.exp(-part)) for part in z[:6]]
        u, d, i, o = [float(part >= 0.5) if rounded else part for part in (u, d, i, o)]
        stack = [(v, d), *taken_off(stack, u)]
        written.append((z[6:], o))
        pop_input = i
        seen["reading"].append(x + r)
        seen["strengths"].append([u, d, i, o])
    for k in range(outputs):
        if k > 0 or net.shape.dequeue_first:
            written = taken_off(written, 1)
        y = [math.exp(part) for part in read_off(written, 2)]
        seen["output"].append([part / sum(y) for part in y])
    return seen


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("dequeue_first", [False, True])
@pytest.mark.parametrize("extra_steps", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_a_buffered_network_runs_as_the_equations_do_and_a_trace_shows_every_step(
    kind: ControllerKind, extra_steps: int, dequeue_first: bool, rounded: bool
) -> None:
    shape = BufferedConfig(
        LETTERS, ("x", "y"), kind, hidden=4, cell_size=2, extra_steps=extra_steps, dequeue_first=dequeue_first
    )
    net = BufferedNeuralStack(shape, seed=2)
    net.net.bias.add_(torch.tensor([1.2, 0.2, -0.8, -0.9, 0, 0, 0, 0]))  # strengths on both sides of 0.5
    network: StackModel[Any] = Rounded(net) if rounded else net
    words = torch.tensor([[0, 1, 2, 2, 1], [2, 0, 0, -1, -1], [1, -1, -1, -1, -1]])
    made, seen = network.run(words.T, network.initial_state(3)), trace(net, ["01221", "200", "1"], rounded=rounded)
    assert seen.letters[:3] == LETTERS
    for n, word in enumerate([symbol for symbol in word if symbol >= 0] for word in words.tolist()):
        steps = len(word) * (1 + extra_steps)
        assert seen.symbols[n].tolist() == word + [3] * (steps - len(word)) + [-1] * (seen.symbols.shape[1] - steps)
        plain = buffered_plain_run(net, word, steps, len(word), rounded)
        for actions in (made.actions[:steps, n, 0], seen.actions[n, :steps, 0]):
            np.testing.assert_allclose(actions, plain["strengths"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(seen.reading[n, :steps, 0], plain["reading"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(made.output[: len(word), n], plain["output"], rtol=0, atol=1e-12)
        assert np.isnan(seen.actions[n, steps:]).all()


# Networks without a stack against PyTorch's own and against their equations.


@pytest.mark.parametrize(
    "shape",
    [
        {"controller": "rnn", "hidden": 5},
        {"controller": "rnn", "hidden": 4, "layers": 2, "task_kind": "next symbol"},
        {"controller": "lstm", "hidden": 5},
        {"controller": "lstm", "hidden": 4, "layers": 2, "task_kind": "transduction", "output_alphabet": ("0", "1")},
        {"controller": "linear", "task_kind": "transduction"},
    ],
)
@torch.no_grad()
def test_a_baseline_is_pytorchs_own_network(shape: dict[str, Any]) -> None:
    net = Baseline(BaselineConfig(("a", "b", "c"), **shape), seed=3)
    words, weights = torch.randint(3, (4, 6), generator=torch.Generator().manual_seed(3)), net.state_dict()
    x = nn.functional.one_hot(words, 3).double()
    last = x.new_zeros(len(words), 0)
    if net.shape.controller != "linear":
        network_class = nn.LSTM if net.shape.controller == "lstm" else nn.RNN
        network = network_class(3, net.shape.hidden, net.shape.layers, batch_first=True, dtype=torch.float64)
        kinds = {"weight_ih": "input", "weight_hh": "hidden", "bias_ih": "input", "bias_hh": "hidden"}
        network.load_state_dict(
            {
                f"{kind}_l{i}": weights[f"{ours}_{i}_{'weights' if 'weight' in kind else 'bias'}"]
                for kind, ours in kinds.items()
                for i in range(net.shape.layers)
            }
        )
        x, state = network(x)
        vectors = torch.cat(state) if isinstance(state, tuple) else state  # (layers or 2 layers, N, H)
        last = vectors.transpose(0, 1).flatten(1)
    logits = x @ weights["output_weights"].mT + weights["output_bias"]
    expected = torch.sigmoid(logits) if net.shape.task_kind == "next set" else torch.softmax(logits, -1)
    for runner in (net, Rounded(net)):
        steps = list(steps_of(runner, words.T))
        assert torch.allclose(torch.stack([step.output for step in steps], 1), expected, rtol=0, atol=1e-12)
        assert torch.allclose(steps[-1].state.hidden, last, rtol=0, atol=1e-12)


@torch.no_grad()
def test_a_structurally_constrained_network_is_the_equations_of_mikolov_2014() -> None:
    net = SCRN(SCRNConfig(("a", "b", "c"), hidden=4, context=2, decay=0.9), seed=2)
    weights = {name: value.numpy() for name, value in net.state_dict().items()}
    slow, hidden = np.zeros(2), np.zeros(4)
    for step, x in zip(steps_of(net, "abccabb"), (0, 1, 2, 2, 0, 1, 1), strict=True):
        slow = 0.1 * weights["slow_weights"][x] + 0.9 * slow
        into = weights["context_weights"] @ slow + weights["input_weights"][x] + weights["recurrent_weights"] @ hidden
        hidden = 1 / (1 + np.exp(-into))
        logits = weights["output_weights"] @ np.concatenate([hidden, slow])
        np.testing.assert_allclose(step.output[0], np.exp(logits) / np.exp(logits).sum(), rtol=0, atol=1e-12)


# ---- Verdicts on many words, and networks with rounded actions, step by step and all at once. ----
def test_nets_on_the_leading_axis_get_each_its_own_verdicts() -> None:
    shape = NNPDAConfig(("a", "b"), "second", 3, end="e", trap=False)
    many = NNPDA(shape, seed=20, init=2.0, nets=5)
    singles = [NNPDA(shape, seed=20 + number, init=2.0) for number in range(5)]
    words = all_words(shape.alphabet, 6)
    for network in (many, Rounded(many)):
        mine = [net if network is many else Rounded(net) for net in singles]
        expected = np.stack([verdicts_on(net, words) for net in mine])
        assert len({tuple(row) for row in expected.tolist()}) > 1
        assert np.array_equal(verdicts_on(network, words), expected)
        assert np.array_equal(np.concatenate(verdicts_on_all(network, 6), -1), expected)


def test_actions_are_rounded_at_the_threshold_of_equation_21() -> None:
    net = NNPDA(NNPDAConfig(("a",), "full", 1))
    start = net.initial_state(1)
    for weight, rounded in [(0.5, 0), (0.51, 1), (1, 1), (-0.5, 0), (-0.51, -1), (0, 0), (0.2, 0)]:
        with torch.no_grad():
            net.action_weights.fill_(weight)
        assert net.step(torch.tensor([0]), start).actions.item() == pytest.approx(weight)
        step = Rounded(net).step(torch.tensor([0]), start)
        assert step.actions.item() == rounded
        assert step.state.stack.length.item() == max(0, rounded)


# What a rounded network does in a step, in numbers: the same for a batch, for traced words and one by one.

NETWORKS: dict[str, dict[str, Any]] = {
    "nnpda": {"alphabet": "ab"},
    "stack-rnn": {"alphabet": "ab", "n_stacks": 2},
    "marnn-stack-rnn": {"alphabet": "()[]", "first": "(["},
    "neural-stack": {"alphabet": "01#", "controller": "lstm", "null": "#"},
    "rnn": {"alphabet": "ab", "controller": "rnn", "hidden": 3, "task_kind": "transduction"},
}


@given(st.lists(st.sampled_from(Operation)))
def test_heights_are_those_of_a_list_that_is_pushed_to_and_popped(operations: list[Operation]) -> None:
    cells: list[int] = []
    heights = np.zeros(1, np.int64)
    for operation in operations:
        done, heights = without_empty_pops(np.array([operation]), heights)
        assert Operation(done[0]).pops == (operation.pops and bool(cells))
        if operation.pops and cells:
            cells.pop()
        if operation.pushes:
            cells.append(0)
        assert heights[0] == len(cells)


@settings(max_examples=20)
@given(st.sampled_from(sorted(NETWORKS)), st.integers(0, 50), st.data())
def test_steps_of_a_trace_are_those_that_are_taken_one_by_one(name: str, seed: int, data: st.DataObject) -> None:
    network = Rounded(build_model(name, NETWORKS[name], seed=seed))
    word = data.draw(st.lists(st.sampled_from(network.alphabet), min_size=1, max_size=6))
    seen = trace(network, [word], stacks=False)
    arrays = seen.hidden[:, 1:], seen.actions, seen.pushed, seen.output, seen.rejected
    whole = RoundedSteps.of(network, *map(torch.from_numpy, arrays))
    with torch.no_grad():
        for t, step in enumerate(steps_of(network, torch.tensor(seen.symbols.T.tolist()))):
            one = RoundedSteps.of(network, step.hidden, step.actions, step.pushed, step.output, step.state.rejected)
            for field in ("operations", "pushed", "targets", "outputs", "rejected"):
                assert np.array_equal(getattr(whole, field)[:, t], getattr(one, field))


@pytest.mark.parametrize("stacks", [0, 2])
def test_an_automaton_has_a_stack_where_the_network_has_none(stacks: int) -> None:
    name = "stack-rnn" if stacks else "rnn"
    network = Rounded(build_model(name, NETWORKS[name], seed=0))
    seen = trace(network, ["ab", "b"], stacks=False)
    arrays = (np.nan_to_num(x) for x in (seen.hidden[:, 1:], seen.actions, seen.pushed, seen.output, seen.rejected))
    steps = RoundedSteps.of(network, *map(torch.from_numpy, arrays))
    assert steps.operations.shape == steps.pushed.shape == (2, 2, max(1, stacks))
