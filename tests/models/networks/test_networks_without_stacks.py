"""Networks without a stack against PyTorch's own and against their equations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from stacklens.core.errors import StacklensError
from stacklens.models.networks.baselines import SCRN, Baseline, BaselineConfig, SCRNConfig
from stacklens.models.rounding import Rounded

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
        state, outputs = runner.initial_state(4), []
        for column in words.unbind(1):
            step = runner.step(column, state)
            state = step.state
            outputs.append(step.output)
        assert torch.allclose(torch.stack(outputs, 1), expected, rtol=0, atol=1e-12)
        assert torch.allclose(state.hidden, last, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"controller": "gru"}, "controller 'gru' is not one of rnn, lstm, linear"),
        ({"task_kind": "recognition"}, "task_kind 'recognition' is not one of next set, next symbol, transduction"),
        ({"layers": 3}, "layers 3 is not one of 1, 2"),
        ({"hidden": 0}, "hidden is 0"),
        ({"alphabet": ()}, "the alphabet is empty"),
        ({"output_alphabet": ("x",)}, "should begin with the alphabet a b"),
        ({"first": ("x",)}, "first has x, outside the alphabet a b"),
    ],
)
def test_wrong_shapes_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        BaselineConfig(**{"alphabet": ("a", "b"), **wrong})


# The structurally constrained network against its equations, unit by unit, and its fast run against its steps.

SHAPE = SCRNConfig(("a", "b", "c"), hidden=4, context=2, decay=0.9)
WORDS = torch.randint(3, (7, 5), generator=torch.Generator().manual_seed(3))  # (T, B)


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
    runner: Any = Rounded(net) if wrapped else net
    state, found = runner.initial_state(5), []
    for now in WORDS:
        step = runner.step(now, state)
        state = step.state
        found.append(step.output)
    for b in range(5):
        assert [one[b].tolist() for one in found] == [pytest.approx(row) for row in plain(net, WORDS[:, b].tolist())]


@pytest.mark.parametrize("nets", [None, 2])
def test_many_steps_at_once_are_the_steps_one_by_one_with_the_same_gradients(nets: int | None) -> None:
    net = SCRN(SHAPE, seed=2, nets=nets)
    begun = net.run(WORDS[:3], net.initial_state(5)).state
    state = type(begun)(begun.hidden.detach(), begun.stack, begun.rejected)
    targets = torch.randn(4, *net.leading, 5, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = []
    for run in (net.run, super(SCRN, net).run):
        made = run(WORDS[3:], state)
        net.zero_grad()
        (made.output * targets).sum().backward()  # type: ignore[no-untyped-call]
        found.append((made, [parameter.grad.clone() for parameter in net.parameters() if parameter.grad is not None]))
    (fast, fast_gradients), (slow, slow_gradients) = found
    assert torch.allclose(fast.output, slow.output, rtol=0, atol=1e-13)
    assert torch.allclose(fast.state.hidden, slow.state.hidden, rtol=0, atol=1e-13)
    assert fast.hidden.shape == slow.hidden.shape
    assert len(fast_gradients) == len(slow_gradients) == 5
    for one, other in zip(fast_gradients, slow_gradients, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"decay": 1.5}, "decay is 1.5; expected a number from 0 to 1"),
        ({"decay": float("nan")}, "decay is nan"),
        ({"decay": "slow"}, "decay is 'slow'; expected a number"),
        ({"context": 0}, "context is 0"),
        ({"hidden": 10**9}, "hidden is 1000000000"),
        ({"alphabet": ()}, "the alphabet is empty"),
    ],
)
def test_wrong_shapes_are_refused_scrn(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        SCRNConfig(**{"alphabet": ("a", "b"), **wrong})
