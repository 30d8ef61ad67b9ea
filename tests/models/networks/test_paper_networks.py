"""The networks of the papers against their equations, networks' verdicts, and rounding."""

import math
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attack.plain_networks import Plain
from tests.models.plain import Items, Shown, plain_verdict, read_off, steps_of, taken_off
from tests.refusals import refused
from torch import Tensor, nn

from stacklens.languages.language import all_words
from stacklens.models.base import StackModel
from stacklens.models.inference import verdicts_on, verdicts_on_all
from stacklens.models.networks import build_model
from stacklens.models.networks.baselines import SCRN, Baseline, BaselineConfig, SCRNConfig
from stacklens.models.networks.joulin import ListMemory, ListRNN, StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import (
    BufferedConfig,
    BufferedNeuralStack,
    ControllerKind,
    NeuralStack,
    NeuralStackConfig,
)
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig, Order
from stacklens.models.networks.suzgun import BabyNTM, Marnn, MarnnConfig, MarnnJoulin, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.rounding import Operation, Rounded, RoundedSteps, without_empty_pops
from stacklens.probe.trace import trace

ORDERS: tuple[Order, ...] = get_args(Order)


@st.composite
def nets(draw: st.DrawFn) -> NNPDA:
    shape = NNPDAConfig(
        ("a", "b", "c")[: draw(st.integers(1, 3))],
        draw(st.sampled_from(ORDERS)),
        draw(st.integers(1, 4)),
        end=draw(st.sampled_from((None, "e"))),
        trap=draw(st.booleans()),
        empty_reading=draw(st.booleans()),
    )
    return NNPDA(shape, seed=draw(st.integers(0, 99)), init=draw(st.sampled_from((0.1, 1.0, 3.0))))


@settings(max_examples=25)
@given(nets(), st.sampled_from((1, 7, 8_192)), st.integers(0, 99))
def test_verdicts_are_those_of_plain_python_word_by_word(net: NNPDA, chunk: int, seed: int) -> None:
    words = all_words(net.alphabet, 3)
    plain = np.array([plain_verdict(net, word) for word in words])
    assert np.array_equal(np.concatenate(verdicts_on_all(net, 3, chunk=chunk)), plain)
    mixed = np.random.default_rng(seed).permutation(len(words))  # whatever the order of their lengths
    assert np.array_equal(verdicts_on(net, [words[i] for i in mixed], chunk=chunk), plain[mixed])


def test_projection_keeps_linear_actions_within_one_and_leaves_other_orders_alone() -> None:
    full, third = (NNPDA(NNPDAConfig(("a", "b"), order, 2), init=4.0) for order in ("full", "third"))
    weights = third.action_weights.detach().clone()
    for net in (full, third):
        net.project()
    assert full.action_weights.abs().max().item() == 1
    assert torch.equal(third.action_weights, weights)
    for step in steps_of(full, "abaab"):
        assert abs(step.actions.item()) <= 1


# The networks of Joulin & Mikolov on stacks and on lists against their equations.


JOULIN = [
    StackRNNConfig(("a", "b"), hidden=6),
    StackRNNConfig(("a", "b", "c"), hidden=5, n_stacks=2, no_op=True),
    StackRNNConfig(("a", "b"), hidden=4, n_stacks=3, depth=3, no_op=True, recurrent=True, stack_limit=4),
    StackRNNConfig(("a", "b"), hidden=4, depth=1, recurrent=True, stack_limit=None),
]
GATINGS = ("softmax", "softmax with temperature", "gumbel-softmax")
MADE: list[StackModel[Any]] = [
    *(
        NNPDA(NNPDAConfig(("a", "b"), order, 3, end="e", trap=False, empty_reading=seen), seed=4, init=0.5)
        for order in ORDERS
        for seen in (False, True)
    ),
    *(StackRNN(shape, seed=5) for shape in JOULIN),
    ListRNN(StackRNNConfig(("a", "b"), hidden=4, n_stacks=3, no_op=True, recurrent=True), seed=1),
    *(
        model(MarnnConfig(("(", ")", "["), 4, 2, gating, 0.5, 6), seed=2)  # type: ignore[arg-type]
        for model in (MarnnStackRNN, MarnnStackLSTM, MarnnJoulin, BabyNTM)
        for gating in GATINGS
    ),
    *(
        NeuralStack(NeuralStackConfig(("0", "1", "2"), ("x", "y"), kind, 4, 2), seed=3)
        for kind in get_args(ControllerKind)
    ),
]


@pytest.mark.parametrize("net", MADE, ids=lambda net: net.name)
@torch.no_grad()
def test_a_step_of_every_controller_is_the_papers(net: StackModel[Any]) -> None:
    """From any hidden vector and any reading; what is done to memories is tested where they are."""
    net.eval()
    for parameter in net.parameters():  # so large that actions differ
        parameter.mul_(20 if isinstance(net, StackRNN) else 3)
    start, generator = net.initial_state(1), torch.Generator().manual_seed(4)
    for number in range(20):
        hidden, reading = (
            torch.rand(part.shape, generator=generator, dtype=part.dtype) * 2 - 1
            for part in (start.hidden, start.stack.reading())
        )
        symbol, plain = number % net.n_symbols, Plain(net, None)
        plain.hidden, plain.stacks = hidden[0], [Shown(one) for one in reading[0]]
        found = net.controller(torch.tensor([symbol]), hidden, reading)
        actions, pushed, output = getattr(plain, f"_{net.name.replace('-', '_')}")(symbol)
        expected = [plain.hidden, torch.stack(actions), torch.stack(pushed), *([] if output is None else [output])]
        for ours, theirs in zip((found.hidden, found.actions, found.pushed, found.output), expected, strict=False):
            torch.testing.assert_close(ours[0], theirs, rtol=0, atol=1e-12)


def test_weights_are_sums_of_three_draws() -> None:
    weights = StackRNN(StackRNNConfig(("a",), hidden=200, recurrent=True)).recurrent_weights
    assert weights.abs().max() <= 0.3
    assert weights.std().item() == pytest.approx(0.1, rel=0.02)  # sqrt(3 * 0.2^2 / 12)
    assert weights.mean().item() == pytest.approx(0, abs=0.005)


HEAD, CELLS = 60, 121  # of a plain list that no run of these tests leaves
shares_of_a_move = st.sampled_from(torch.eye(4).tolist()) | st.lists(st.floats(0.01, 1), min_size=3, max_size=4)
moves_on_a_list = st.lists(st.tuples(shares_of_a_move, st.floats(0, 1, allow_subnormal=False)), max_size=40)


def next_plainly(cells: list[float], shares: list[float], new: float) -> list[float]:
    """Return L_t from L_{t-1}: the three cases of the paper, as they stand there."""
    insert, left, right, none = [*shares, 0.0][:4]
    wide = [-1.0, *cells, -1.0]  # cell i is wide[i + 1]
    after = []
    for i, old in enumerate(cells):
        inserted = new if i == HEAD else wide[i + 2] if i < HEAD else old
        after.append(right * wide[i + 2] + left * wide[i] + insert * inserted + none * old)
    return after


@given(moves_on_a_list, st.sampled_from((None, 2)))
def test_actions_mix_the_cells_of_a_list_as_in_the_paper(
    moves: list[tuple[list[float], float]], limit: int | None
) -> None:
    like = torch.zeros((), dtype=torch.float64)
    memory, plain = ListMemory.empty((1,), 1, like, depth=12, limit=limit), [-1.0] * CELLS
    for raw, new in moves:
        shares = [share / sum(raw) for share in raw]
        memory = memory.next(torch.tensor([[shares]], dtype=torch.float64), like.new_full((1, 1, 1), new))
        plain = next_plainly(plain, shares, new)
        if limit is not None:  # what moves further is lost, on either side
            plain = [cell if HEAD - limit < i <= HEAD + limit else -1.0 for i, cell in enumerate(plain)]
        expected = [plain[HEAD - i] for i in range(12)]
        assert memory.reading().flatten().tolist() == pytest.approx(expected, abs=1e-12)
        right = memory.right.flatten().tolist()
        assert right == pytest.approx(plain[HEAD + 1 : HEAD + 1 + len(right)], abs=1e-12)


Net = Marnn[Any]
MODELS: list[type[Net]] = [MarnnStackRNN, MarnnStackLSTM, MarnnJoulin, BabyNTM]
SHAPE = MarnnConfig(("(", ")", "[", "]"), hidden=3, cell_size=2, stack_limit=6, first=("(", "["))


def random_net_of_marnn(model: type[Net], shape: MarnnConfig = SHAPE, seed: int = 0) -> Net:
    net = model(shape, seed=seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(3)
    return net.eval()


def test_gumbel_noise_is_seeded_and_drawn_in_training_only() -> None:
    shape = MarnnConfig(("(", ")"), gating="gumbel-softmax")
    symbols = torch.zeros(2_000, dtype=torch.int64)

    def actions(net: Net) -> Tensor:
        return net.step(symbols, net.initial_state(2_000)).actions[:, 0]

    net, same, plain = MarnnStackRNN(shape, seed=1), MarnnStackRNN(shape, seed=1), MarnnStackRNN(shape, seed=1).eval()
    before = torch.random.get_rng_state()
    drawn = actions(net)
    assert torch.equal(torch.random.get_rng_state(), before)  # no global generator
    assert torch.equal(drawn, actions(same))
    assert not torch.equal(drawn, actions(net))
    assert torch.allclose(drawn.sum(-1), torch.ones(2_000, dtype=torch.float64))
    expected = actions(plain)[0]
    assert torch.equal(actions(plain)[0], expected)
    chosen = (drawn[:, 0] > 0.5).double().mean()  # the Gumbel-max trick: the arg-max is a draw from the softmax
    assert chosen.item() == pytest.approx(expected[0].item(), abs=0.04)


@pytest.mark.parametrize("model", MODELS)
def test_all_steps_at_once_draw_noise_for_each_of_them(model: type[Net], monkeypatch: pytest.MonkeyPatch) -> None:
    net = model(MarnnConfig(("(", ")"), gating="gumbel-softmax", temperature=0.7, stack_limit=6), seed=1, nets=2)
    symbols = torch.tensor([[0, 1], [0, 0], [1, 0]])
    generator = torch.Generator().manual_seed(5)
    noise = torch.randn(3, 2, 2, len(net.operations), generator=generator, dtype=torch.float64)
    drawn = iter([noise.movedim(0, 1), *noise])  # for all steps at once, and then for one after the other
    monkeypatch.setattr(net, "_gumbel", lambda _: next(drawn))
    fast, slow = net.run(symbols, net.initial_state(2)), StackModel.run(net, symbols, net.initial_state(2))
    torch.testing.assert_close(fast.actions, slow.actions)
    torch.testing.assert_close(fast.output, slow.output)
    gradients = [torch.autograd.grad(run.output.square().sum(), net.action_weights)[0] for run in (fast, slow)]
    torch.testing.assert_close(*gradients)


def test_a_lower_temperature_decides_more_and_is_kept() -> None:
    net = random_net_of_marnn(MarnnStackRNN, MarnnConfig(("(", ")"), gating="softmax with temperature"))
    soft = net.step(torch.tensor([0]), net.initial_state(1)).actions.max()
    net.temperature = 0.1
    assert net.step(torch.tensor([0]), net.initial_state(1)).actions.max() > soft
    assert MarnnConfig(**net.config()).temperature == 0.1


def test_words_are_rejected_at_the_first_symbol_that_was_not_predicted() -> None:
    net = random_net_of_marnn(MarnnStackRNN)
    state = net.step(torch.tensor([0, 1]), net.initial_state(2)).state
    assert state.rejected.tolist() == [False, True]  # no word begins with a closing bracket
    assert net.answer(state)[1] == -1


@pytest.mark.parametrize(
    ("config", "wrong", "message"),
    [
        (NNPDAConfig, {"alphabet": ("a",), "order": "fourth"}, "order is 'fourth'; expected one of second, third"),
        (NNPDAConfig, {"alphabet": ("a",), "n_states": 0}, r"an NNPDA needs symbols and states, not \('a',\) and 0"),
        (NNPDAConfig, {"alphabet": ()}, r"an NNPDA needs symbols and states, not \(\) and 4"),
        (NNPDAConfig, {"alphabet": ("a", "a")}, "the alphabet a a has a repetition: expected each symbol once"),
        (NNPDAConfig, {"end": "b"}, "the alphabet a b b has a repetition: expected each symbol once"),
        (NNPDAConfig, {"order": "full", "n_states": 40}, "40 state neurons is too large; at most 1,000 and 50,000,000"),
        (NNPDAConfig, {"n_states": "2"}, "n_states is '2'; expected a whole number"),
        (NNPDAConfig, {"n_states": True}, "n_states is True; expected a whole number"),
        (NNPDAConfig, {"n_states": 10**100}, "a whole number of 333 bits state neurons is too large"),
        (NNPDAConfig, {"trap": 1}, "trap is 1; expected true or false"),
        (NNPDAConfig, {"end": ""}, "the symbol ''"),
        (StackRNNConfig, {"alphabet": ()}, "the alphabet is empty"),
        (StackRNNConfig, {"alphabet": ("a", "a")}, "repetition"),
        (StackRNNConfig, {"hidden": 0}, "hidden is 0; expected a whole number from 1"),
        (StackRNNConfig, {"n_stacks": -1}, "n_stacks is -1"),
        (StackRNNConfig, {"depth": 2.5}, "depth is 2.5"),
        (StackRNNConfig, {"n_stacks": 3000, "depth": 3000}, r"n_stacks \* depth is 9000000"),
        (StackRNNConfig, {"stack_limit": 0}, "stack_limit is 0; expected a whole number from 1 to 1,000,000, or None"),
        (StackRNNConfig, {"no_op": 0}, "no_op is 0; expected true or false"),
        (StackRNNConfig, {"recurrent": None}, "recurrent is None; expected true or false"),
        (MarnnConfig, {"gating": "hardmax"}, "expected one of softmax, softmax with temperature, gumbel-softmax"),
        (MarnnConfig, {"temperature": 0.0}, "temperature is 0.0; expected a number above 0"),
        (MarnnConfig, {"temperature": float("nan")}, "temperature is nan"),
        (MarnnConfig, {"temperature": "1"}, "temperature is '1'; expected a number"),
        (MarnnConfig, {"hidden": 0}, "hidden is 0"),
        (MarnnConfig, {"cell_size": 1.0}, "cell_size is 1.0; expected a whole number"),
        (MarnnConfig, {"stack_limit": 10**15}, "stack_limit is 1000000000000000"),
        (MarnnConfig, {"cell_size": 0}, "cell_size is 0"),
        (MarnnConfig, {"first": ("x",)}, r"first has x, outside the alphabet a b"),
        (NeuralStackConfig, {"controller": "gru"}, "controller is 'gru'; expected one of linear, rnn, lstm"),
        (NeuralStackConfig, {"alphabet": ()}, "needs an alphabet"),
        (NeuralStackConfig, {"hidden": 0}, "hidden is 0; expected a whole number from 1 to 4096"),
        (NeuralStackConfig, {"null": "#"}, "the null symbol '#' is not in the alphabet a b"),
        (NeuralStackConfig, {"null": ["0"]}, "null is a list of 1"),
        (NeuralStackConfig, {"cell_size": 10**9}, "cell_size is 1000000000"),
        (BufferedConfig, {"extra_steps": 10**6}, "extra_steps is 1000000"),
        (BaselineConfig, {"controller": "gru"}, "controller is 'gru'; expected one of rnn, lstm, linear"),
        (BaselineConfig, {"task_kind": "recognition"}, "expected one of next set, next symbol, transduction"),
        (BaselineConfig, {"layers": 3}, "layers 3 is not one of 1, 2"),
        (BaselineConfig, {"layers": 1.0}, "layers is 1.0"),
        (BaselineConfig, {"hidden": 0}, "hidden is 0"),
        (BaselineConfig, {"alphabet": ()}, "the alphabet is empty"),
        (BaselineConfig, {"output_alphabet": ("x",)}, "should begin with the alphabet a b"),
        (BaselineConfig, {"first": ("x",)}, "first has x, outside the alphabet a b"),
        (SCRNConfig, {"decay": 1.5}, "decay is 1.5; expected a number from 0 to 1"),
        (SCRNConfig, {"decay": float("nan")}, "decay is nan"),
        (SCRNConfig, {"decay": "slow"}, "decay is 'slow'; expected a number"),
        (SCRNConfig, {"context": 0}, "context is 0"),
        (SCRNConfig, {"hidden": 10**9}, "hidden is 1000000000"),
        (SCRNConfig, {"alphabet": ()}, "the alphabet is empty"),
    ],
)
def test_a_shape_that_makes_no_sense_is_refused(config: Any, wrong: dict[str, Any], message: str) -> None:
    refused(message, config, **{"alphabet": ("a", "b"), **wrong})


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
