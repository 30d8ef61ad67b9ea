"""Whole words at once, with derivatives by hand, against the steps one by one with autograd's."""

from __future__ import annotations

from typing import get_args

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from stacklens.models.base import Run, StackModel
from stacklens.models.networks.neural_stack import ControllerKind, NeuralStack, NeuralStackConfig

LETTERS = ("0", "1", "2")


@st.composite
def cases(draw: st.DrawFn) -> tuple[NeuralStack, Tensor, int]:
    """Draw a network, or several, words for all of them or for each its own, and a seed."""
    kind: ControllerKind = draw(st.sampled_from(get_args(ControllerKind)))
    nets = draw(st.sampled_from((None, 1, 3)))
    shape = NeuralStackConfig(LETTERS, ("x", "y"), kind, hidden=3, cell_size=draw(st.integers(1, 3)))
    seed = draw(st.integers(0, 999))
    net = NeuralStack(shape, seed=seed, nets=nets)
    with torch.no_grad():
        for value in net.parameters():
            value.mul_(draw(st.sampled_from((0.5, 2.0))))
        net.net.bias[..., 0] += draw(st.sampled_from((-1.0, 0.0, 2.0)))  # pops
        net.net.bias[..., 1] += draw(st.sampled_from((-1.0, 0.0, 2.0)))  # pushes
    own = nets is not None and draw(st.booleans())
    steps, batch = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    generator = torch.Generator().manual_seed(seed)
    size = (steps, nets or 1, batch) if own else (steps, batch)
    return net, torch.randint(-1, len(LETTERS), size, generator=generator), seed


def both(net: NeuralStack, symbols: Tensor) -> tuple[Run, Run]:
    """Return a run at once, and one step by step."""
    batch = symbols.shape[-1]
    return net.run(symbols, net.initial_state(batch)), StackModel.run(net, symbols, net.initial_state(batch))


@given(cases())
def test_a_run_at_once_is_the_steps_one_by_one(case: tuple[NeuralStack, Tensor, int]) -> None:
    net, symbols, _ = case
    at_once, stepwise = both(net, symbols)
    for ours, theirs in zip(at_once[:2], stepwise[:2], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    torch.testing.assert_close(at_once.state.hidden, stepwise.state.hidden, rtol=0, atol=1e-12)
    assert at_once.state.output is not None
    assert stepwise.state.output is not None
    torch.testing.assert_close(at_once.state.output, stepwise.state.output, rtol=0, atol=1e-12)
    for name in ("bottoms", "tops", "values", "length"):
        ours, theirs = (getattr(run.state.stack, name) for run in (at_once, stepwise))
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@given(cases())
def test_its_derivatives_are_autograds(case: tuple[NeuralStack, Tensor, int]) -> None:
    net, symbols, seed = case
    generator = torch.Generator().manual_seed(seed)
    at_once, stepwise = both(net, symbols)
    shares = [torch.rand(part.shape, generator=generator, dtype=part.dtype) for part in at_once[:2]]
    ours, theirs = (
        torch.autograd.grad(
            torch.stack([(part * share).sum() for part, share in zip(run[:2], shares, strict=True)]).sum(),
            list(net.parameters()),
        )
        for run in (at_once, stepwise)
    )
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)
