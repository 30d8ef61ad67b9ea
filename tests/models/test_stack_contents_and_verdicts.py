"""Neural stacks against plain code, networks' verdicts, and rounding."""

import math
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attack.plain_networks import Plain
from tests.models.hand_made import hand_made, input_pushing_automata
from tests.models.plain import Items, Shown, read_off, steps_of, taken_off
from torch import Tensor, nn

from stacklens.automata.pda import PushdownAutomaton
from stacklens.languages.words import all_words
from stacklens.models.base import Run, StackModel
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
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig, Order
from stacklens.models.rounding import Operation, Rounded, RoundedSteps, without_empty_pops
from stacklens.probe.trace import trace

# Neural stacks, with buffers too, against the equations word by word.

KINDS = get_args(ControllerKind)
LETTERS = ("0", "1", "2")


def build(kind: ControllerKind, *, seed: int = 0, nets: int | None = None, cell_size: int = 2) -> NeuralStack:
    shape = NeuralStackConfig(LETTERS, ("x", "y"), controller=kind, hidden=4, cell_size=cell_size)
    return NeuralStack(shape, seed=seed, nets=nets)


def symbols_of(batch: int, steps: int) -> Tensor:
    return torch.randint(0, 3, (steps, batch), generator=torch.Generator().manual_seed(7))


def plain_run(net: NeuralStack, word: list[int], rounded: bool = False) -> tuple[list[list[float]], list[list[float]]]:
    """Return outputs and readings of the NEW stack on one word: pop, push, then read, as section 2.1 has it."""
    plain, stack, outputs, readings = Plain(net, None), Items(), list[list[float]](), list[list[float]]()
    for symbol in word:
        plain.stacks = [Shown(torch.tensor(read_off(stack, net.cell_size), dtype=torch.float64))]
        (strengths,), (value,), output = plain._neural_stack(symbol)
        pop, push = (float(one >= 0.5) if rounded else one for one in strengths.tolist())
        stack = [(value.tolist(), push), *taken_off(stack, pop)]
        outputs.append(output.tolist())
        readings.append(read_off(stack, net.cell_size))
    return outputs, readings


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_runs_as_the_equations_do_word_by_word(kind: ControllerKind, rounded: bool) -> None:
    net, symbols = build(kind, seed=3), symbols_of(5, 12)
    with torch.no_grad():
        net.net.bias[0] = 0.2  # pops that round to one, too
        steps = list(steps_of(Rounded(net) if rounded else net, symbols))
        outputs = torch.stack([step.output for step in steps])
        readings = torch.stack([step.state.stack.reading()[:, 0] for step in steps])
        for n in range(5):
            expected = [torch.tensor(x, dtype=torch.float64) for x in plain_run(net, symbols[:, n].tolist(), rounded)]
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


WORDS = torch.tensor([[0, 1, 2, 2, 1], [2, 0, 0, -1, -1], [1, -1, -1, -1, -1]])


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
        seen["inputs"].append(x)
        seen["reading"].append(r)
        seen["strengths"].append([u, d, i, o])
    for k in range(outputs):
        if k > 0 or net.shape.dequeue_first:
            written = taken_off(written, 1)
        y = [math.exp(part) for part in read_off(written, 2)]
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


# Networks without a stack against PyTorch's own and against their equations.

SHAPES: list[dict[str, Any]] = [
    {"controller": "rnn", "hidden": 5},
    {"controller": "rnn", "hidden": 4, "layers": 2, "task_kind": "next symbol"},
    {"controller": "lstm", "hidden": 5},
    {"controller": "lstm", "hidden": 4, "layers": 2, "task_kind": "transduction", "output_alphabet": ("0", "1")},
    {"controller": "linear", "task_kind": "transduction"},
]


def config(shape: dict[str, Any]) -> BaselineConfig:
    return BaselineConfig(("a", "b", "c"), **shape)


def run_in_torch(net: Baseline, words: Tensor) -> tuple[Tensor, Tensor]:
    """Return outputs (N, T, O) and the last hidden vectors from PyTorch's own networks with the same weights."""
    shape, x = net.shape, nn.functional.one_hot(words, 3).double()
    weights, last = net.state_dict(), x.new_zeros(len(words), 0)
    if shape.controller != "linear":
        network_class = nn.LSTM if shape.controller == "lstm" else nn.RNN
        network = network_class(3, shape.hidden, shape.layers, batch_first=True, dtype=torch.float64)
        kinds = {"weight_ih": "input", "weight_hh": "hidden", "bias_ih": "input", "bias_hh": "hidden"}
        network.load_state_dict(
            {
                f"{kind}_l{i}": weights[f"{ours}_{i}_{'weights' if 'weight' in kind else 'bias'}"]
                for kind, ours in kinds.items()
                for i in range(shape.layers)
            }
        )
        x, state = network(x)
        vectors = torch.cat(state) if isinstance(state, tuple) else state  # (layers or 2 layers, N, H)
        last = vectors.transpose(0, 1).flatten(1)
    logits = x @ weights["output_weights"].mT + weights["output_bias"]
    return (torch.sigmoid(logits) if shape.task_kind == "next set" else torch.softmax(logits, -1)), last


@pytest.mark.parametrize("shape", SHAPES)
@torch.no_grad()
def test_a_baseline_is_pytorchs_own_network(shape: dict[str, Any]) -> None:
    net = Baseline(config(shape), seed=3)
    words = torch.randint(3, (4, 6), generator=torch.Generator().manual_seed(3))
    expected, last = run_in_torch(net, words)
    for runner in (net, Rounded(net)):
        steps = list(steps_of(runner, words.T))
        assert torch.allclose(torch.stack([step.output for step in steps], 1), expected, rtol=0, atol=1e-12)
        assert torch.allclose(steps[-1].state.hidden, last, rtol=0, atol=1e-12)


# The structurally constrained network against its equations, unit by unit, and its fast run against its steps.

SHAPE = SCRNConfig(("a", "b", "c"), hidden=4, context=2, decay=0.9)
FIVE_WORDS = torch.randint(3, (7, 5), generator=torch.Generator().manual_seed(3))  # (T, B)


def plain(net: SCRN, word: list[int]) -> list[list[float]]:
    """Return the outputs on one word by the equations of Mikolov et al. 2014, in plain Python."""
    weights = {name: value.detach().numpy() for name, value in net.named_parameters()}
    slow, hidden, found = np.zeros(2), np.zeros(4), []
    for x in word:
        slow = 0.1 * weights["slow_weights"][x] + 0.9 * slow
        into = weights["context_weights"] @ slow + weights["input_weights"][x] + weights["recurrent_weights"] @ hidden
        hidden = np.array([1 / (1 + math.exp(-one)) for one in into])
        logits = weights["output_weights"][:, :4] @ hidden + weights["output_weights"][:, 4:] @ slow
        found.append((np.exp(logits) / np.exp(logits).sum()).tolist())
    return found


@pytest.mark.parametrize("wrapped", [False, True])
@torch.no_grad()
def test_steps_are_the_equations(wrapped: bool) -> None:
    net = SCRN(SHAPE, seed=2)
    found = [step.output for step in steps_of(Rounded(net) if wrapped else net, FIVE_WORDS)]
    for b in range(5):
        assert [one[b].tolist() for one in found] == [pytest.approx(x) for x in plain(net, FIVE_WORDS[:, b].tolist())]


# ---- Verdicts on many words, and networks with rounded actions, step by step and all at once. ----
ORDERS: tuple[Order, ...] = ("second", "third", "full")


def one_by_one(net: NNPDA, word: Sequence[str]) -> bool:
    state = net.initial_state(1)
    for symbol in word:
        state = net.step(torch.tensor([net.alphabet.index(symbol)]), state).state
    return bool(net.verdict(state))


@settings(max_examples=15)
@given(
    order=st.sampled_from(ORDERS),
    end=st.sampled_from((None, "e")),
    seed=st.integers(0, 1_000),
    trap=st.booleans(),
    chunk=st.sampled_from((1, 7, 8_192)),
)
def test_all_three_ways_of_asking_give_the_same_verdicts(
    order: Order, end: str | None, seed: int, trap: bool, chunk: int
) -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), order, 3, end=end, trap=trap), seed=seed, init=2.0)
    words = all_words(net.alphabet, 5)
    plain = [one_by_one(net, word) for word in words]
    assert verdicts_on(net, words, chunk=chunk).tolist() == plain
    assert np.concatenate(verdicts_on_all(net, 5, chunk=chunk)).tolist() == plain


def test_verdicts_stand_in_the_order_of_the_words_whatever_their_lengths() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), "third", 3, trap=False), seed=35, init=2.0)
    words = all_words(net.alphabet, 7)
    order = np.random.default_rng(0).permutation(len(words))
    expected = verdicts_on(net, words)
    assert 0 < expected.sum() < len(words)
    assert np.array_equal(verdicts_on(net, [words[i] for i in order], chunk=10), expected[order])


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


@settings(max_examples=40)
@given(input_pushing_automata())
def test_any_automaton_is_a_third_order_net_with_an_end_symbol(pda: PushdownAutomaton) -> None:
    net = hand_made(pda, end="$")
    words = all_words(pda.input_alphabet, 5)
    expected = [pda.accepts(word) for word in words]
    assert verdicts_on(Rounded(net), words).tolist() == expected
    assert verdicts_on(net, words).tolist() == expected


@settings(max_examples=40)
@given(input_pushing_automata())
def test_without_an_end_symbol_the_trap_neuron_stands_for_missing_transitions(pda: PushdownAutomaton) -> None:
    words = all_words(pda.input_alphabet, 5)
    by_stack = PushdownAutomaton(
        pda.states, pda.input_alphabet, pda.stack_alphabet, pda.transitions, pda.initial, acceptance="empty stack"
    )
    expected = [len(word) > 0 and by_stack.accepts(word) for word in words]
    assert verdicts_on(Rounded(hand_made(pda)), words).tolist() == expected
    assert verdicts_on(Rounded(hand_made(pda, order="full")), words).tolist() == expected


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
    with torch.no_grad():
        net.action_weights.fill_(0.3)
    assert Rounded(net, threshold=0.2).step(torch.tensor([0]), start).actions.item() == 1


def test_rounding_keeps_the_stack_at_whole_symbols_and_shares_the_weights() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), "third", 3, trap=False), seed=2, init=4.0)
    rounded = Rounded(net)
    lengths = set()
    for step in steps_of(rounded, torch.from_numpy(np.random.default_rng(0).integers(0, 2, (12, 64)))):
        lengths |= set(step.state.stack.lengths.flatten().tolist())
    assert lengths == {0.0, 1.0}
    assert (rounded.alphabet, rounded.end, rounded.config()) == (net.alphabet, net.end, net.config())
    assert {id(p) for p in rounded.parameters()} == {id(p) for p in net.parameters()}


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
