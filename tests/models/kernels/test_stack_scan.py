"""Many steps at once are the same function as step by step, and have the same derivative."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.models.base import Run, StackModel
from stacklens.models.kernels.stack_scan import ScanShape, ScanWeights, looked_up, scan
from stacklens.models.registry import build_model

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
    ("stack-rnn", STREAM),
    ("stack-rnn", {**STREAM, "n_stacks": 3, "no_op": True, "recurrent": True, "stack_limit": 4}),
    ("stack-rnn", {**STREAM, "depth": 3, "stack_limit": 2}),
    ("stack-rnn", {**STREAM, "n_stacks": 2, "depth": 1, "stack_limit": None}),
]


def gradients(net: StackModel[Any], made: Run) -> dict[str, torch.Tensor]:
    """Return the gradients of something to which every output and every share adds its own amount; 0 for none."""
    net.zero_grad()
    parts = [part * torch.linspace(-1, 2, part.numel()).view(part.shape).cos() for part in (made.output, made.actions)]
    sum(part.sum() for part in parts).backward()  # type: ignore[union-attr]
    missing = ((name, part, part.grad) for name, part in net.named_parameters())
    return {name: torch.zeros_like(part) if grad is None else grad.clone() for name, part, grad in missing}


@pytest.mark.parametrize("nets", [None, 2])
@pytest.mark.parametrize(("name", "shape"), NETWORKS)
@given(seed=st.integers(0, 999), steps=st.integers(1, 9), words=st.integers(1, 3))
@settings(max_examples=8)
def test_many_steps_at_once_are_those_one_by_one(
    name: str, shape: Shape, nets: int | None, seed: int, steps: int, words: int
) -> None:
    net = build_model(name, shape, seed=seed, nets=nets).eval()
    symbols = torch.randint(0, net.n_symbols, (2, steps, words), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        state = net.run(symbols[0], net.initial_state(words)).state  # a second window goes on from a first one
    fast, slow = net.run(symbols[1], state), StackModel.run(net, symbols[1], state)
    torch.testing.assert_close(fast.output, slow.output)
    torch.testing.assert_close(fast.actions, slow.actions)
    torch.testing.assert_close(fast.state.hidden[..., : slow.state.hidden.shape[-1]], slow.state.hidden)
    torch.testing.assert_close(fast.state.stack.reading(), slow.state.stack.reading())
    ours, theirs = gradients(net, fast), gradients(net, slow)
    for parameter, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[parameter], msg=f"the gradient of {parameter} differs")


@pytest.mark.parametrize(
    ("shape", "cells"),
    [
        (ScanShape("tanh", 2, 1, 0.0, None), 0),
        (ScanShape("tanh", 3, 2, 0.0, 3), 2),
        (ScanShape("sigmoid", 3, 2, -1.0, 2), 1),
        (ScanShape("sigmoid", 2, 1, -1.0, 1), 0),
    ],
)
def test_the_derivative_is_that_of_finite_differences(shape: ScanShape, cells: int) -> None:
    steps, nets, words, size, stacks, width = 4, 2, 2, 3, 2, 2
    generator = torch.Generator().manual_seed(1)

    def draw(*sizes: int) -> torch.Tensor:
        return torch.randn(*sizes, generator=generator, dtype=torch.float64)

    rows = stacks * (shape.operations + width)
    seen = size + stacks * shape.depth * width
    weights = (draw(steps, nets, words, size), draw(nets, size, seen), draw(nets, rows, size), draw(nets, rows))
    hidden, stored = draw(nets, words, size), draw(nets, words, stacks, cells, width)

    def run(drive: torch.Tensor, *weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return scan(drive, ScanWeights(*weights), hidden, stored, shape)[:2]

    assert torch.autograd.gradcheck(run, tuple(part.requires_grad_() for part in weights))


def test_rows_of_many_symbols_have_the_same_gradients_as_those_of_few() -> None:
    generator = torch.Generator().manual_seed(1)
    symbols = torch.randint(1_000, (5, 3), generator=generator)
    upstream = torch.randn(5, 3, 2, generator=generator)
    gradients = []
    for nets in (1, 0):  # with an axis of networks rows are chosen by a product
        rows = torch.ones(*[1] * nets, 1_000, 2, requires_grad=True)
        (looked_up(rows, symbols).reshape(5, 3, 2) * upstream).sum().backward()  # type: ignore[no-untyped-call]
        gradients.append(rows.grad)
    assert gradients[0] is not None
    assert gradients[1] is not None
    assert torch.allclose(gradients[0][0], gradients[1])
