from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from stacklens.errors import StacklensError
from stacklens.models.networks.baselines import Baseline, BaselineConfig
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
        ({"first": ("x",)}, "first is x, not in the alphabet a b"),
    ],
)
def test_wrong_shapes_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        BaselineConfig(**{"alphabet": ("a", "b"), **wrong})
