"""The structurally constrained network against its equations, unit by unit, and its fast run against its steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from stacklens.errors import StacklensError
from stacklens.models.networks.scrn import SCRN, SCRNConfig
from stacklens.models.rounding import Rounded

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
def test_wrong_shapes_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        SCRNConfig(**{"alphabet": ("a", "b"), **wrong})
