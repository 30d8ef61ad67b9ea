"""The paper's derivatives, carried forward, against back-propagation: with its approximation, and without."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from stacklens.languages.catalogue import get_language
from stacklens.models.networks.nnpda import NNPDA, LocalNNPDA, NNPDAConfig, RtrlNNPDA, _rtrl_steps, window_slopes
from stacklens.models.stacks.continuous import ContinuousStack
from stacklens.models.training.recipes import RECIPES, Recipe, Stage
from stacklens.models.training.recognition import Training

LETTERS = ("a", "b", "c")
Columns = tuple[Tensor, Tensor, Tensor]  # S_last, L, U, (..., B, T) each


def columns(net: NNPDA, symbols: Tensor) -> tuple[Columns, list[ContinuousStack]]:
    """Return the course of a run, and the stacks before every step."""
    state, rows, stacks = net.initial_state(len(symbols)), [], []
    for column in symbols.unbind(1):
        before = state.stack
        step = net.step(column, state)
        state = step.state
        rows.append((step.hidden[..., -1], state.stack.length, torch.relu(-(before.length + step.actions[..., 0, 0]))))
        stacks.append(before)
    last, length, underflow = (torch.stack(series, -1) for series in zip(*rows, strict=True))
    return (last, length, underflow), stacks


def flat(values: list[Tensor]) -> Tensor:
    return torch.cat([value.flatten() for value in values])


def gradient_of(value: Tensor, net: NNPDA) -> Tensor:
    """Return the gradient by all weights, 0 by those that ``value`` does not depend on, flat."""
    weights = list(net.parameters())
    found = torch.autograd.grad(value, weights, retain_graph=True, allow_unused=True)
    return flat([torch.zeros_like(p) if g is None else g for p, g in zip(weights, found, strict=True)])


def gradient(net: NNPDA, course: Columns, shares: Columns) -> Tensor:
    """Return the gradient of the columns, added up with ``shares``."""
    parts = [(column * share).sum() for column, share in zip(course, shares, strict=True)]
    return gradient_of(torch.stack(parts).sum(), net)


@st.composite
def shapes(draw: st.DrawFn) -> NNPDAConfig:
    return NNPDAConfig(
        LETTERS[: draw(st.integers(1, 3))],
        draw(st.sampled_from(("second", "third", "full"))),
        draw(st.integers(1, 3)),
        end=draw(st.sampled_from((None, "e"))),
        empty_reading=draw(st.booleans()),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[NNPDAConfig, Tensor, int, float]:
    """Draw a shape, words, a seed, and how large the weights are."""
    shape = draw(shapes())
    letters = len(shape.alphabet) + (shape.end is not None)
    word = st.lists(st.integers(0, letters - 1), min_size=6, max_size=6)
    symbols = torch.tensor(draw(st.lists(word, min_size=1, max_size=3)))
    return shape, symbols, draw(st.integers(0, 99)), draw(st.sampled_from((0.1, 1.0, 3.0)))


def drawn_shares(course: Columns, seed: int) -> Columns:
    generator = torch.Generator().manual_seed(seed)
    last, length, underflow = (torch.rand(part.shape, generator=generator, dtype=part.dtype) for part in course)
    return last, length, underflow


@given(cases(), st.sampled_from((None, 2)))
def test_carried_forward_and_propagated_back_the_approximate_gradient_is_one(
    case: tuple[NNPDAConfig, Tensor, int, float], nets: int | None
) -> None:
    shape, symbols, seed, init = case
    forward = RtrlNNPDA(shape, seed=seed, init=init, nets=nets)
    back = LocalNNPDA(shape, seed=seed, init=init, nets=nets)
    exact = NNPDA(shape, seed=seed, init=init, nets=nets)
    course, (expected, _), (true, _) = forward.course(symbols), columns(back, symbols), columns(exact, symbols)
    for ours, theirs, network in zip(course, expected, true, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
        torch.testing.assert_close(ours, network, rtol=0, atol=1e-12)  # the network itself is not approximated
    shares = drawn_shares(course, seed)
    torch.testing.assert_close(
        gradient(forward, course, shares), gradient(back, expected, shares), rtol=1e-9, atol=1e-9
    )


def derivatives(net: NNPDA, word: Tensor) -> list[Tensor]:
    """Return the paper's derivatives of S_last, L and U after every step of one word, flat."""
    return [
        torch.cat([carried.hidden[0, -1], carried.length[0], carried.underflow[0]])
        for _, carried in _rtrl_steps(net, word.unsqueeze(0), carry=True)
        if carried is not None
    ]


def test_the_example_below_equation_20() -> None:
    """From bottom to top 0.9 of b, 0.2 of a, 0.7 of b and 0.15 of c: r1 is c, r2 is a."""
    stack = ContinuousStack.empty((1,), 3, torch.zeros((), dtype=torch.float64))
    for letter, length in ((1, 0.9), (0, 0.2), (1, 0.7), (2, 0.15)):
        value = torch.nn.functional.one_hot(torch.tensor([[letter]]), 3).double()
        stack = stack.next(torch.tensor([[[length]]], dtype=torch.float64), value)
    assert window_slopes(stack).tolist() == [[-1, 0, 1]]


SHORT = {"stages": (Stage(epochs=6, up_to=3),), "check_length": 4, "rounds": 0}


def recipe(name: str, gradient: str) -> Recipe:
    return replace(RECIPES[name], gradient=gradient, **SHORT)  # type: ignore[arg-type]


def trained(name: str, gradient: str, nets: int = 2) -> Training:
    training = Training(recipe(name, gradient), get_language(name), seed=4, nets=nets)
    for _ in range(4):
        training.epoch()
    return training


@pytest.mark.parametrize("name", ["parentheses", "1n0n", "palindrome"])
def test_training_by_either_way_comes_to_the_same_and_gives_plain_networks(name: str) -> None:
    forward, back, exact = (trained(name, kind) for kind in ("rtrl", "local", "exact"))
    for ours, theirs in zip(forward.net.parameters(), back.net.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    if name != "parentheses":  # of which only one symbol is pushed at first
        assert not torch.allclose(flat(list(forward.net.parameters())), flat(list(exact.net.parameters())), atol=1e-9)
    forward.check()
    assert type(forward.network(0)) is NNPDA
