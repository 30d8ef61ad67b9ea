"""Networks of one's own that are wrapped, and kernels of steps."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.own.networks_of_ones_own import WORDS, Causal, own_outputs
from tests.models.own.networks_of_ones_own import StackRNN as OwnStackRNN
from tests.models.plain import Lists
from tests.refusals import refused
from torch import Tensor, nn

import stacklens as sl
from stacklens.models.base import Run, StackModel
from stacklens.models.inference import answers_on_all, outputs_on, verdicts_on
from stacklens.models.networks import build_model
from stacklens.models.networks.neural_stack import ControllerKind, NeuralStack
from stacklens.models.training.loop import draw_noise
from stacklens.models.word_network import BlackBox
from stacklens.models.wrap import wrap
from stacklens.papers.joulin2015_online import SymbolScan, SymbolShape
from stacklens.probe.trace import trace


# ---- `wrap`: networks of one's own say the same inside as outside; what does not fit is said in one line. ----
def wrapped(rnn: OwnStackRNN, **options: Any) -> StackModel[Any]:
    return wrap(rnn, "()", step=rnn.step, stack="superposition", outputs="next set", **options)


@pytest.mark.parametrize("cell", [1, 4, 7])
def test_sizes_are_found_and_outputs_are_the_network_s_own(cell: int) -> None:
    rnn = OwnStackRNN(cell)
    model = wrapped(rnn)
    assert (model.cell_size, model.config()["hidden"], model.operations) == (cell, 5, ("push", "pop", "none"))
    for word in WORDS:
        np.testing.assert_allclose(trace(model, word).output[0], own_outputs(rnn, word), atol=1e-6)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_hidden_states_of_any_form_become_rows(kind: Any) -> None:
    torch.manual_seed(0)
    net, head = kind(2, 3, num_layers=2, batch_first=True), nn.Linear(3, 2)

    def step(x: Tensor, hidden: Any) -> tuple[Any, Tensor]:
        said, hidden = net(x[:, None], hidden)
        return hidden, head(said[:, 0])

    model = wrap(nn.ModuleList([net, head]), "ab", step=step, outputs="next set", activation="sigmoid")
    x = nn.functional.one_hot(torch.tensor([[0, 1, 1, 0]]), 2).float()
    with torch.no_grad():
        expected = head(net(x)[0]).sigmoid()[0].numpy()
    np.testing.assert_allclose(trace(model, "abba").output[0], expected, atol=1e-6)
    assert model.config()["hidden"] == (12 if kind is nn.LSTM else 6)


def test_strengths_one_action_and_own_orders_reach_their_stacks() -> None:
    def step(x: Tensor, h: Tensor, _: Tensor) -> dict[str, Tensor]:
        return {"output": x, "actions": torch.tensor([[0.25, 0.75]]).expand(len(x), 2), "hidden": h, "pushed": x}

    kept: dict[str, Any] = {"outputs": "next set", "hidden": 0}
    strength = wrap(None, "ab", step=step, stack="strength", actions=("push", "pop"), **kept)
    assert trace(strength, "a").actions[0, 0, 0].tolist() == [0.75, 0.25]
    one = wrap(
        None,
        "ab",
        step=lambda x, h, _: (h, x[:, :1] - x[:, 1:], x),
        stack="continuous",
        returns=("hidden", "actions", "output"),
        **kept,
    )
    seen = trace(one, "aab")
    assert one.pushes_input
    assert seen.actions[0, :, 0, 0].tolist() == [1, 1, -1]
    assert seen.reading[0, 2, 0].tolist() == [1, 0]


def test_a_transformer_is_read_once_a_word_and_step_by_step_alike() -> None:
    net = Causal().double()
    model = wrap(net, "()", forward=net, outputs="next set", activation="sigmoid")
    numbers = outputs_on(model, WORDS)
    for row, word in enumerate(WORDS):
        expected = (1 / (1 + np.exp(-own_outputs(net, word))) > 0.5) @ [1, 2]
        alive = np.cumprod([1, *(expected[t] >> "()".index(word[t + 1]) & 1 for t in range(len(word) - 1))])
        assert numbers[row, : len(word)].tolist() == np.where(alive, expected, -1).tolist()
    along = {"".join(word): n for word, n in zip(WORDS, numbers, strict=True)}
    state = model.initial_state(1)
    for t, symbol in enumerate(WORDS[0]):
        state = model.step(torch.tensor(["()".index(symbol)]), state).state
        assert model.answer(state).tolist() == [along[WORDS[0]][t]]


def test_a_function_is_a_recogniser_a_predictor_or_a_transducer_by_its_answers() -> None:
    odd = BlackBox(lambda words: [word.count("a") % 2 == 1 for word in words], ("a", "b"))
    assert verdicts_on(odd, ["ab", "aa", ""]).tolist() == [True, False, False]
    assert [answers.tolist() for answers in answers_on_all(odd, 1)] == [[0], [1, 0]]
    last = BlackBox(lambda words: [word[-1:] for word in words], ("a", "b"))
    assert (last.task_kind, last.output_name(int(outputs_on(last, ["ab"])[0, 1]))) == ("transduction", "('b',)")
    after = BlackBox(lambda words: [{"a"} if len(word) % 2 else {"a", "b"} for word in words], ("a", "b"))
    assert outputs_on(after, ["aab", "ab", "ba"]).tolist() == [[1, 3, 1], [1, -1, -1], [1, 3, -1]]


def _linear(x: Tensor, _: Tensor) -> Any:
    return nn.Linear(7, 2)(x)


STEP = {"outputs": "next set", "hidden": 3, "step": lambda x, h: (h, x)}

AFTER = {**STEP, "reads": "after", "output": lambda h, _: h}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outputs": "next set"}, "give either step"),
        ({**STEP, "step": _linear}, r"step\(symbols, hidden\) failed, given symbols \(2, 2\), hidden \(2, 3\): mat1"),
        ({**STEP, "step": lambda x, _: x}, "should return hidden, output, as a tuple of 2 or a dictionary, not"),
        ({**STEP, "step": lambda x, h: (h, x[:, :1])}, r"the output is of shape \(2, 1\); expected \(words 2, 2"),
        ({**STEP, "step": lambda x, h: ((h, h), x)}, r"the hidden state changed its form: \(\(2, 3\), \(2, 3\)\)"),
        ({**STEP, "step": lambda x, h: (h, torch.rand_like(x))}, "another output to the same word: is there dropout"),
        ({**STEP, "stack": "heap"}, "stack is 'heap'; expected one of superposition, strength, continuous"),
        ({**STEP, "stack": "superposition", "actions": ("pop", "push", "push")}, "each once, in the network's order"),
        ({**STEP, "stack": "superposition", "returns": ("hidden", "output")}, "expected hidden, actions, output, and"),
        ({**STEP, "reads": "after"}, 'with "after" give output'),
        ({**STEP, "stack": "strength", "limit": 9}, "limit and empty_value are of a superposition stack's cells"),
        ({**STEP, "stack": "superposition", "initial": [1]}, r"initial is of shape \(1,\); expected cells of finite"),
        ({**STEP, "stack": "strength", "initial": "Z"}, "initial failed, given it of type str"),
        ({**STEP, "initial": [[1.0]]}, "initial is without a stack"),
        ({**STEP, "stack": "strength", "initial": [[1.0]], "cell": 3}, "initial has cells of 1 number, and cell is 3"),
        ({**STEP, "stack": "superposition", "initial": [[1.0]] * 3, "limit": 2}, "initial is 3 cells; the stack has 2"),
        ({**AFTER, "stack": Lists, "actions": ("push", "none")}, 'with reads="after" one of them has to be "pop"'),
        ({**STEP, "outputs": "sets"}, "outputs is 'sets'; expected one of recognition, next set"),
        ({**STEP, "outputs": "recognition"}, "what does it say of the empty word"),
        ({"forward": lambda s: s, "outputs": "next set", "stack": "strength"}, "a stack is seen step by step"),
        ({"forward": lambda s: {"y": s}, "outputs": "next set"}, r"forward\(symbols\) returned {y: \(4, 3, 2\)};"),
        ({**STEP, "activation": "relu"}, "activation is 'relu'; expected sigmoid or softmax"),
        ({**STEP, "threshold": 2}, "threshold is 2; expected a probability"),
        ({**STEP, "hidden": "three"}, "hidden is 'three'; expected a size"),
        ({**STEP, "module": "x.pt"}, "module is 'x.pt'; expected a torch.nn.Module"),
        ({**STEP, "module": nn.Linear}, "module is the class Linear; expected a torch.nn.Module"),
        ({**STEP, "alphabet": ""}, "the alphabet is ''; expected symbols"),
    ],
)
def test_what_does_not_fit_is_one_line_of_ours(given: dict[str, Any], said: str) -> None:
    refused(said, wrap, **{"module": None, "alphabet": "ab", **given})


def test_of_code_in_plain_python_the_form_of_symbols_is_asked_for_and_found_where_it_is_another() -> None:
    def closed(symbols: Tensor) -> Tensor:
        assert symbols.shape[1] < 13
        heights = [np.cumsum([1 - 2 * (x == 1) for x in word]) for word in symbols.tolist()]
        return torch.tensor([bool((one >= 0).all() and one[-1] == 0) for one in heights])

    given: dict[str, Any] = {"forward": closed, "outputs": "recognition", "empty_word": True}
    refused('runs on symbols as one-hot and as index, .*: give symbols="one-hot" or', wrap, None, "()", **given)
    right, wrong = (wrap(None, "()", **given, symbols=form) for form in ("index", "one-hot"))
    assert trace(right, ["()", ")(", "(()())"]).verdicts.tolist() == [True, False, True]
    refused("12 symbols were answered: is longest=… missing", trace, right, "()" * 7)
    found = sl.check(wrong, lambda word: closed(torch.tensor([["()".index(x) for x in word]])), ["()", "(())"])
    assert (found.cause, 'with symbols="index" nothing differs' in str(found)) == ("how symbols are given", True)


class Gru(nn.Module):
    """A GRU that returns outputs and hidden state, as torch's own does."""

    def __init__(self, layers: int = 1, batch_first: bool = True, both_ways: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(2, 4)
        self.gru = nn.GRU(4, 6, layers, batch_first=batch_first, bidirectional=both_ways)
        self.head = nn.Linear(6 + 6 * both_ways, 2)

    def forward(self, symbols: Tensor, hidden: Any = None) -> tuple[Tensor, Tensor]:
        said, hidden = self.gru(self.embed(symbols), hidden)
        return self.head(said), hidden

    def only(self, symbols: Tensor) -> Tensor:
        said: Tensor = self(symbols)[0]
        return said


GRU: Any = Gru()
CELL = OwnStackRNN()
FLAT, BOTH = Gru(batch_first=False), Gru(both_ways=True)
STACKED: dict[str, Any] = {"stack": "superposition", "outputs": "next set"}


def shuffled(x: Tensor, h: Any, top: Tensor) -> tuple[Tensor, ...]:
    h, shares, new, said = CELL.step(x, h, top)
    return said, shares, new, h


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"forward": lambda x: GRU(x)[1:]}, r"symbols as index: forward\(symbols\) returned \(\(1, 4, 6\)\); expected"),
        ({"forward": lambda x: SimpleNamespace(y=GRU.only(x))}, r"type SimpleNamespace;.*network\(symbols\)\.y$"),
        ({"forward": lambda x: {"state": GRU(x)[1], "y": GRU.only(x)}}, r"as index: .*network\(symbols\)\['y'\]$"),
        ({"forward": FLAT.only}, "as index: .* answers a word differently beside others: .*batch_first"),
        ({"forward": BOTH.only}, "as index: .* answers a symbol differently by what comes after it: .*causal"),
        ({"forward": GRU.only, "output_alphabet": "()x"}, r"as index: the output is of shape \(4, 2\); expected .* 3"),
        (
            {"forward": lambda x: GRU.nothing(x)},
            "none of 2 trials succeeded; .*'Gru' object has no attribute 'nothing'$",
        ),
        ({"forward": GRU.only, "alphabet": "()[]"}, "as one-hot: .*Long, Int.*; with symbols as index: .*out of range"),
        (
            {"step": lambda x, h: GRU(x[:, None], h), "hidden": None},
            r"as index: step\(symbols, hidden\) failed, .* does step return hidden, output, in this order",
        ),
        (
            {"step": lambda x, h, top: (*CELL.step(x, h, top), CELL.nothing), **STACKED},
            r"one-hot and cells of 4 numbers: .* top \(2, 4\): 'StackRNN' object has no attribute 'nothing'",
        ),
        ({"step": shuffled, **STACKED}, "of 4 numbers: .*hidden_size: got 2, expected 5; does step return hidden, act"),
        ({"step": CELL.step, "hidden": 7, **STACKED}, "cells of 4 numbers: .*hidden_size: got 7, expected 5$"),
    ],
)
def test_the_trial_that_came_furthest_says_what_is_wrong(given: dict[str, Any], said: str) -> None:
    refused(said, wrap, None, **{"alphabet": "()", "outputs": "next set", **given})


# Networks made by code: what a user types is imported, what a file says never is, and what is wrong is one line.

CODE = """
import stacklens as sl


def load():
    def step(x, hidden):
        return 0 * hidden + x, x

    return sl.wrap(None, "ab", step=step, hidden=2, outputs="next set", name="echo")


def text():
    return "no network"


def broken():
    raise RuntimeError("no weights\\nhere")
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_module_of_a_test.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_module_of_a_test", raising=False)
    return "own_module_of_a_test"


def test_a_network_is_loaded_by_the_name_of_its_function(module: str) -> None:
    model = sl.load(f"{module}:load")
    assert (model.name, model.alphabet) == ("echo", ("a", "b"))
    assert sl.trace(f"{module}:load", "ab").output[0].tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_such_module_here:load", "ModuleNotFoundError: No module named"),
        ("{}:nothing", "AttributeError: module"),
        ("{}:text", "gives a str; expected a network, as sl.wrap makes one"),
        ("{}:broken", "RuntimeError: no weights here; expected package.module:function"),
    ],
)
def test_what_gives_no_network_is_one_line(module: str, name: str, said: str) -> None:
    refused(said, sl.load, name.format(module))


def test_a_saved_result_of_code_does_not_run_it_again(module: str) -> None:
    small: dict[str, Any] = {"max_length": 4, "long_words": 20, "deep_words": 1, "depth": 3, "cycles": 2, "height": 4}
    result = sl.extract(f"{module}:load", quiet=True, **small)
    result.save("result.json")
    del sys.modules[module]
    again = sl.load("result.json")
    assert again == result
    refused("is code: no file of ours runs any", lambda: again.model)
    assert module not in sys.modules


# ---- Many steps at once, and learning symbol by symbol, against steps, autograd and plain twins. ----
Shape = dict[str, Any]
MARNN: Shape = {"alphabet": "()[]", "hidden": 4}
STREAM: Shape = {"alphabet": "ab", "hidden": 3}
NETWORKS: list[tuple[str, Shape]] = [
    ("marnn-stack-rnn", MARNN),
    ("marnn-stack-rnn", {**MARNN, "cell_size": 3, "stack_limit": 4}),
    ("marnn-stack-rnn", {**MARNN, "gating": "softmax with temperature", "temperature": 0.6}),
    ("marnn-stack-rnn", {**MARNN, "gating": "gumbel-softmax", "stack_limit": None}),
    ("marnn-stack-lstm", MARNN),
    ("marnn-stack-lstm", {**MARNN, "cell_size": 2, "stack_limit": 3}),
    ("marnn-joulin", MARNN),
    ("baby-ntm", {**MARNN, "stack_limit": 5}),
    ("baby-ntm", {**MARNN, "cell_size": 2, "stack_limit": 12, "gating": "softmax with temperature"}),
    ("baby-ntm", {**MARNN, "stack_limit": 1}),
    ("rnn", {**MARNN, "controller": "rnn", "layers": 2}),
    ("lstm", {**MARNN, "controller": "lstm", "layers": 2, "task_kind": "transduction"}),
    ("lstm", {**MARNN, "controller": "lstm"}),
    ("scrn", {**STREAM, "context": 2, "decay": 0.9}),
    ("stack-rnn", STREAM),
    ("stack-rnn", {**STREAM, "n_stacks": 3, "no_op": True, "recurrent": True, "stack_limit": 4}),
    ("stack-rnn", {**STREAM, "depth": 3, "stack_limit": 2}),
    ("stack-rnn", {**STREAM, "n_stacks": 2, "depth": 1, "stack_limit": None}),
    *(
        ("neural-stack", {"alphabet": "012", "output_alphabet": "xy", "controller": kind, "hidden": 3, "cell_size": 2})
        for kind in get_args(ControllerKind)
    ),
]


def gradients(net: StackModel[Any], made: Run) -> dict[str, torch.Tensor]:
    """Return the gradients of something to which every number of a run adds its own amount; 0 for none."""
    net.zero_grad()
    parts = (made.output, made.actions, *([made.hidden[..., : net.n_units]] if net.n_stacks else []))
    sum((part * torch.linspace(-1, 2, part.numel()).view(part.shape).cos()).sum() for part in parts).backward()  # type: ignore[union-attr]
    missing = ((name, part, part.grad) for name, part in net.named_parameters())
    return {name: torch.zeros_like(part) if grad is None else grad.clone() for name, part, grad in missing}


@pytest.mark.parametrize("nets", [None, 2])
@pytest.mark.parametrize(("name", "shape"), NETWORKS)
@given(
    seed=st.integers(0, 999),
    steps=st.integers(1, 9),
    words=st.integers(1, 3),
    disturbed=st.booleans(),
    own=st.booleans(),
)
@settings(max_examples=12)
def test_many_steps_at_once_are_those_one_by_one(
    name: str, shape: Shape, nets: int | None, seed: int, steps: int, words: int, disturbed: bool, own: bool
) -> None:
    net, generator = build_model(name, shape, seed=seed, nets=nets).eval(), torch.Generator().manual_seed(seed)
    neural = isinstance(net, NeuralStack)  # of which words end, and each network may have its own
    size = (2, steps, *([nets] if neural and own and nets else []), words)
    symbols = torch.randint(-1 if neural else 0, net.n_symbols, size, generator=generator)
    state, noise = net.initial_state(words), None
    with torch.no_grad():
        if isinstance(net, NeuralStack):
            net.net.bias[..., :2] += 4 * torch.rand(2, generator=generator) - 1  # so that much is popped, or pushed
        else:  # a second window goes on from a first one
            state = net.run(symbols[0], state).state
    if disturbed:
        noise = draw_noise(net, steps, words, 0.5, 0.3, generator)
    fast, slow = net.run(symbols[1], state, noise), StackModel.run(net, symbols[1], state, noise)
    torch.testing.assert_close(fast.output, slow.output)
    torch.testing.assert_close(fast.actions, slow.actions)
    torch.testing.assert_close(fast.state.hidden[..., : slow.state.hidden.shape[-1]], slow.state.hidden)
    torch.testing.assert_close(fast.state.stack.reading(), slow.state.stack.reading())
    if neural:
        torch.testing.assert_close(fast.state.stack.lengths, slow.state.stack.lengths)
        torch.testing.assert_close(fast.state.stack.values, slow.state.stack.values)
    ours, theirs = gradients(net, fast), gradients(net, slow)
    for parameter, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[parameter], msg=f"the gradient of {parameter} differs")


# Learning symbol by symbol: against a plain twin written after what the program does, and against autograd.

Array = npt.NDArray[Any]
SYMBOLS, UNITS, STACKS = 5, 12, 4


def drawn(nets: int, shape: SymbolShape, scale: float = 1.0) -> dict[str, Array]:
    rng = np.random.default_rng(1)
    sizes = {
        "input_weights": (SYMBOLS, UNITS),
        "memory_weights": (UNITS, STACKS * shape.depth),
        "action_weights": (STACKS * shape.operations, UNITS),
        "pushed_weights": (STACKS, UNITS),
        "output_weights": (SYMBOLS, UNITS),
    }
    return {name: scale * rng.normal(size=(nets, *size)) for name, size in sizes.items()}


class Twin:
    """One network, step by step and memory by memory, with cells as they are indexed in the paper: each operation is a
    matrix on the cells, where the pushed value lands, and where an empty cell comes in.
    """

    def __init__(self, weights: dict[str, Array], net: int, shape: SymbolShape) -> None:
        self.weights = {name: value[net].copy() for name, value in weights.items()}
        self.shape, size, head = shape, shape.limit * (1 + shape.lists), shape.limit - 1
        at, none, still, later = np.arange(size), np.zeros(size), np.eye(size), np.eye(size, k=1)
        earlier = later.T
        first, last = (earlier, none, at == 0), (later, none, at == size - 1)  # where an empty cell comes in
        if shape.lists:  # as many cells to the left, the head among them, as to the right
            insert = np.where((at < head)[:, None], later, still) * (at != head)[:, None]
            operations = [(insert, at == head, none), first, last, (still, none, none)]
            self.seen = list(range(head, head - shape.depth, -1))
        else:
            operations = [(earlier, at == 0, none), last, (still, none, none)]
            self.seen = list(range(shape.depth))
        matrices, lands, empties = zip(*operations[: shape.operations], strict=True)
        self.matrices, self.lands, self.empties = np.stack(matrices), np.stack(lands), np.stack(empties)
        self.empty()

    def empty(self) -> None:
        self.past: list[tuple[int, Array, Array, Array, Array]] = []
        self.learned = 0
        self.cells = np.full((STACKS, self.matrices.shape[1]), -1.0)

    def laid(self, old: Array, pushed: Array) -> Array:
        """Return what each operation makes of the cells, (STACKS, operations, cells)."""
        moved = (old @ self.matrices.swapaxes(1, 2)).swapaxes(0, 1)
        return np.asarray(moved + pushed[:, None, None] * self.lands - self.empties)

    def read(self, symbol: int) -> None:
        weights, old = self.weights, self.cells
        hidden = logistic(weights["input_weights"][symbol] + weights["memory_weights"] @ old[:, self.seen].ravel())
        shares = np.exp(weights["action_weights"] @ hidden).reshape(STACKS, -1)
        shares /= shares.sum(1, keepdims=True)
        self.cells = np.einsum("so,soi->si", shares, self.laid(old, logistic(weights["pushed_weights"] @ hidden)))
        output = np.exp(weights["output_weights"] @ hidden)
        self.past.append((symbol, hidden, shares, old, output / output.sum()))

    def learn(self, target: int, rate: float) -> float:
        self.learned += 1
        weights, depth = self.weights, self.shape.depth
        heads = weights["action_weights"].reshape(STACKS, -1, UNITS)
        gradients = {name: np.zeros_like(value) for name, value in weights.items()}
        of_cells = np.zeros_like(self.cells)
        back = min(self.shape.steps, self.learned)
        for number, (symbol, hidden, shares, old, output) in enumerate(reversed(self.past[-back:])):
            of_old = np.zeros_like(of_cells)
            if number == 0:
                wrong = -output
                wrong[target] += 1
                gradients["output_weights"] += np.outer(wrong, hidden)
                of_hidden = self.clipped(weights["output_weights"].T @ wrong)
            else:
                pushed = logistic(weights["pushed_weights"] @ hidden)
                landed = np.einsum("si,so,oi->s", of_cells, shares, self.lands)
                of_pushed = self.clipped(landed * pushed * (1 - pushed))
                of_shares = self.clipped(np.einsum("si,soi->so", of_cells, self.laid(old, pushed)))
                each = shares.T[:, :, None] * (of_cells @ self.matrices)  # (operations, STACKS, cells)
                of_old = self.clipped(each.sum(0))
                of_sums = self.clipped(shares * (of_shares - (shares * of_shares).sum(1, keepdims=True)))
                gradients["pushed_weights"] += np.outer(of_pushed, hidden)
                gradients["action_weights"] += np.outer(of_sums.ravel(), hidden)
                of_hidden = weights["pushed_weights"].T @ of_pushed + np.einsum("sa,sah->h", of_sums, heads)
            of_hidden = self.clipped(of_hidden * hidden * (1 - hidden))
            gradients["input_weights"][symbol] += of_hidden
            if number == self.shape.steps - 1:
                break
            gradients["memory_weights"] += np.outer(of_hidden, old[:, self.seen].ravel())
            of_old[:, self.seen] += (weights["memory_weights"].T @ of_hidden).reshape(STACKS, depth)
            of_cells = self.clipped(of_old)
        for name, gradient in gradients.items():
            weights[name] += rate * gradient
        return float(self.past[-1][4][target])

    def clipped(self, errors: Array) -> Array:
        return np.clip(errors, -self.shape.clip, self.shape.clip)


def logistic(sums: Array) -> Array:
    values: Array = 1 / (1 + np.exp(-sums))
    return values


@pytest.mark.parametrize(
    ("shape", "scale"),
    [
        (SymbolShape(3, 2, 200, 50, 15.0), 1.0),
        (SymbolShape(2, 2, 200, 7, 15.0), 1.0),
        (SymbolShape(3, 2, 5, 9, 15.0), 1.0),  # stacks that are full
        (SymbolShape(2, 1, 3, 6, 15.0), 1.0),
        (SymbolShape(3, 3, 20, 1, 15.0), 1.0),
        (SymbolShape(3, 2, 200, 6, 0.05), 2.0),  # much is clipped
        (SymbolShape(2, 2, 6, 8, 0.02), 2.0),
        (SymbolShape(3, 2, 200, 20, 0.3), 3.0),
        (SymbolShape(3, 2, 40, 50, 15.0, lists=True), 1.0),
        (SymbolShape(4, 2, 40, 9, 15.0, lists=True), 1.0),
        (SymbolShape(3, 1, 3, 6, 0.05, lists=True), 2.0),  # lists that are full, and much is clipped
    ],
)
def test_all_weights_become_those_of_a_plain_twin(shape: SymbolShape, scale: float) -> None:
    nets, rates, rng = 3, np.array([0.1, 0.05, 0.3]), np.random.default_rng(2)
    weights = drawn(nets, shape, scale)
    scan, twins = SymbolScan(weights, shape), [Twin(weights, net, shape) for net in range(nets)]
    for t in range(300):
        if t in (0, 90, 130):
            scan.empty()
            for twin in twins:
                twin.empty()
        symbol, target = rng.integers(SYMBOLS, size=2).tolist()
        scan.read(symbol)
        for twin in twins:
            twin.read(symbol)
        if rng.random() < 0.6:
            found = scan.learn(target, rates)
            np.testing.assert_allclose(
                found, [twin.learn(target, rate) for twin, rate in zip(twins, rates, strict=True)], rtol=0, atol=1e-12
            )
    for name, value in scan.weights().items():
        np.testing.assert_allclose(value, [twin.weights[name] for twin in twins], rtol=0, atol=1e-12)
        assert shape.steps == 1 or not np.array_equal(value, weights[name])
