"""Networks of one's own: wrapped in a few lines, or named by the code that makes them."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tests.models.own.networks_of_ones_own import Causal, StackRNN
from torch import Tensor, nn

import stacklens as sl
from stacklens.core.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.inference import answers_on_all, outputs_on, verdicts_on
from stacklens.models.rounding import Rounded
from stacklens.models.word_network import BlackBox
from stacklens.models.wrap import wrap
from stacklens.probe.trace import trace

# `wrap`: networks of one's own say the same inside as outside, and what does not fit together is said in one line.

WORDS = ["(())()((", "((((()))", "))((", "("]


def own_outputs(network: nn.Module, word: str, **options: Any) -> np.ndarray:
    with torch.no_grad():
        said: Tensor = network(torch.tensor([["()".index(symbol) for symbol in word]]), **options)[0]
    return said.numpy()


def wrapped(rnn: StackRNN, **options: Any) -> StackModel[Any]:
    return wrap(rnn, "()", step=rnn.step, stack="superposition", outputs="next set", **options)


@pytest.mark.parametrize("cell", [1, 4, 7])
def test_sizes_are_found_and_outputs_are_the_network_s_own(cell: int) -> None:
    rnn = StackRNN(cell)
    model = wrapped(rnn)
    assert (model.cell_size, model.config()["hidden"], model.operations) == (cell, 5, ("push", "pop", "none"))
    for word in WORDS:
        np.testing.assert_allclose(trace(model, word).output[0], own_outputs(rnn, word), atol=1e-6)


def test_outputs_after_the_update_are_the_network_s_own() -> None:
    rnn = StackRNN()
    model = wrap(
        rnn, "()", step=rnn.update, stack="superposition", outputs="next set", reads="after", output=rnn.output
    )
    for word in WORDS:
        np.testing.assert_allclose(trace(model, word).output[0], own_outputs(rnn, word, after=True), atol=1e-6)


def test_rounded_outputs_after_the_update_see_the_rounded_stack() -> None:
    rnn = StackRNN()
    model = Rounded(
        wrap(rnn, "()", step=rnn.update, stack="superposition", outputs="next set", reads="after", output=rnn.output)
    )
    seen = trace(model, WORDS[0])
    assert set(np.unique(seen.actions)) <= {0.0, 1.0}
    stack: list[Tensor] = []
    state = torch.zeros(1, 5)
    for t, symbol in enumerate(WORDS[0]):
        x = nn.functional.one_hot(torch.tensor(["()".index(symbol)]), 2).float()
        with torch.no_grad():
            state, shares, new = rnn.update(x, state, stack[-1] if stack else torch.zeros(1, 4))
            done = ("pop", "none", "push")[int(shares.argmax())]
            stack = stack[:-1] if done == "pop" else [*stack, new] if done == "push" else stack
            said = rnn.output(state, stack[-1] if stack else torch.zeros(1, 4))
        np.testing.assert_allclose(seen.output[0, t], said[0].numpy(), atol=1e-6)


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
        sets = 1 / (1 + np.exp(-own_outputs(net, word))) > 0.5
        expected = sets @ [1, 2]
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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outputs": "next set"}, "give either step"),
        ({**STEP, "step": _linear}, r"step\(symbols, hidden\) failed, given symbols \(2, 2\), hidden \(2, 3\): mat1"),
        ({**STEP, "step": lambda x, _: x}, "should return hidden, output, as a tuple of 2 or a dictionary, not"),
        ({**STEP, "step": lambda x, h: (h, x[:, :1])}, r"the output is of shape \(2, 1\); expected \(words 2, 2"),
        (
            {**STEP, "step": lambda x, h: ((h, h), x)},
            r"the hidden state changed its form: \(\(2, 3\), \(2, 3\)\) after",
        ),
        ({**STEP, "step": lambda x, h: (h, torch.rand_like(x))}, "another output to the same word: is there dropout"),
        ({**STEP, "stack": "heap"}, "stack is 'heap'; expected one of superposition, strength, continuous"),
        ({**STEP, "stack": "superposition", "actions": ("pop", "push", "push")}, "each once, in the network's order"),
        ({**STEP, "stack": "superposition", "returns": ("hidden", "output")}, "expected hidden, actions, output, and"),
        ({**STEP, "reads": "after"}, 'with "after" give output'),
        ({**STEP, "outputs": "sets"}, "outputs is 'sets'; expected one of recognition, next set"),
        ({**STEP, "outputs": "recognition"}, "what does it say of the empty word"),
        ({"forward": lambda s: s, "outputs": "next set", "stack": "strength"}, "a stack is seen step by step"),
        ({"forward": lambda s: [s], "outputs": "next set"}, r"one-hot: forward\(symbols\) returned \(\(4, 3, 2\)\);"),
        ({**STEP, "activation": "relu"}, "activation is 'relu'; expected sigmoid or softmax"),
        ({**STEP, "threshold": 2}, "threshold is 2; expected a probability"),
        ({**STEP, "hidden": "three"}, "hidden is 'three'; expected a size"),
    ],
)
def test_what_does_not_fit_is_one_line_of_ours(given: dict[str, Any], said: str) -> None:
    with pytest.raises(StacklensError, match=said) as raised:
        wrap(None, "ab", **given)
    assert "\n" not in str(raised.value)


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
CELL = StackRNN()
FLAT, BOTH = Gru(batch_first=False), Gru(both_ways=True)
STACKED: dict[str, Any] = {"stack": "superposition", "outputs": "next set"}


def shuffled(x: Tensor, h: Any, top: Tensor) -> tuple[Tensor, ...]:
    h, shares, new, said = CELL.step(x, h, top)
    return said, shares, new, h


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"forward": GRU},
            r"symbols as index: forward\(symbols\) returned \(\(4, 3, 2\), \(1, 4, 6\)\);.*network\(symbols\)\[0\]$",
        ),
        (
            {"forward": lambda x: SimpleNamespace(logits=GRU.only(x))},
            r"type SimpleNamespace;.*network\(symbols\)\.logits$",
        ),
        ({"forward": lambda x: {"state": GRU(x)[1], "y": GRU.only(x)}}, r"as index: .*network\(symbols\)\['y'\]$"),
        ({"forward": FLAT.only}, "as index: .* answers a word differently beside others: .*batch_first"),
        ({"forward": BOTH.only}, "as index: .* answers a symbol differently by what comes after it: .*causal"),
        (
            {"forward": GRU.only, "output_alphabet": "()x"},
            r"as index: the output is of shape \(4, 2\); expected .* 3, one",
        ),
        (
            {"forward": lambda x: GRU.nothing(x)},
            "none of 2 trials succeeded; with .*'Gru' object has no attribute 'nothing'$",
        ),
        (
            {"forward": GRU.only, "alphabet": "()[]"},
            "as one-hot: .*Long, Int.*; with symbols as index: .*index out of range",
        ),
        (
            {"step": lambda x, h: GRU(x[:, None], h), "hidden": None},
            r"as index: step\(symbols, hidden\) failed, .* does step return hidden, output, in this order",
        ),
        (
            {"step": lambda x, h, top: (*CELL.step(x, h, top), CELL.nothing), **STACKED},
            r"one-hot and cells of 4 numbers: .* top \(2, 4\): 'StackRNN' object has no attribute 'nothing'",
        ),
        (
            {"step": shuffled, **STACKED},
            "cells of 4 numbers: .*hidden_size: got 2, expected 5; does step return hidden, act",
        ),
        ({"step": CELL.step, "hidden": 7, **STACKED}, "cells of 4 numbers: .*hidden_size: got 7, expected 5$"),
    ],
)
def test_the_trial_that_came_furthest_says_what_is_wrong(given: dict[str, Any], said: str) -> None:
    with pytest.raises(StacklensError, match=said) as raised:
        wrap(None, **{"alphabet": "()", "outputs": "next set", **given})
    assert str(raised.value).isprintable()


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
    with pytest.raises(StacklensError, match=said):
        sl.load(name.format(module))


def test_a_saved_result_of_code_does_not_run_it_again(module: str) -> None:
    small: dict[str, Any] = {"max_length": 4, "long_words": 20, "deep_words": 1, "depth": 3, "cycles": 2, "height": 4}
    result = sl.extract(f"{module}:load", quiet=True, **small)
    result.save("result.json")
    del sys.modules[module]
    again = sl.load("result.json")
    assert again == result
    with pytest.raises(StacklensError, match="is code: no file of ours runs any"):
        again.model  # noqa: B018
    assert module not in sys.modules
