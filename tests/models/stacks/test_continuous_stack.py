from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.models.plain import PlainStack

from stacklens.models.stacks.continuous import ContinuousStack

N_SYMBOLS = 3
ACTIONS = st.one_of(st.floats(-1, 1, allow_subnormal=False), st.sampled_from((-1.0, -0.5, 0.0, 0.5, 1.0)))
STEPS = st.lists(st.tuples(ACTIONS, st.integers(0, N_SYMBOLS - 1)), max_size=40)


def after(steps: Sequence[tuple[float, int]]) -> list[ContinuousStack]:
    """Return the stacks before the first step and after every step."""
    stacks = [ContinuousStack.empty((1,), N_SYMBOLS, torch.zeros((), dtype=torch.float64))]
    for action, symbol in steps:
        value = torch.eye(N_SYMBOLS, dtype=torch.float64)[symbol].view(1, 1, -1)
        stacks.append(stacks[-1].next(torch.tensor([[[action]]], dtype=torch.float64), value))
    return stacks


@given(STEPS)
def test_every_reading_length_and_segment_equals_the_papers_arrays(steps: list[tuple[float, int]]) -> None:
    plain = PlainStack()
    for stack, (action, symbol) in zip(after(steps)[1:], steps, strict=True):
        plain.act(action, symbol)
        np.testing.assert_allclose(stack.reading()[0, 0], plain.reading(N_SYMBOLS), rtol=0, atol=1e-12)
        assert stack.length.item() == pytest.approx(plain.length, abs=1e-12)
        assert stack.underflow.item() == pytest.approx(plain.underflow, abs=1e-12)
        left = np.zeros(plain.clock)
        left[plain.steps] = plain.lengths
        np.testing.assert_allclose(stack.lengths[0], left, rtol=0, atol=1e-12)


@given(STEPS)
def test_it_equals_the_strength_stack_of_grefenstette(steps: list[tuple[float, int]]) -> None:
    strengths: list[float] = []
    for stack, (action, _) in zip(after(steps)[1:], steps, strict=True):
        pop, push = max(0.0, -action), max(0.0, action)
        strengths = [max(0.0, s - max(0.0, pop - sum(strengths[i + 1 :]))) for i, s in enumerate(strengths)] + [push]
        reading = np.zeros(N_SYMBOLS)
        for i, strength in enumerate(strengths):
            reading[steps[i][1]] += min(strength, max(0.0, 1 - sum(strengths[i + 1 :])))
        np.testing.assert_allclose(stack.lengths[0], strengths, rtol=0, atol=1e-12)
        np.testing.assert_allclose(stack.reading()[0, 0], reading, rtol=0, atol=1e-12)


def test_the_example_of_figures_5_and_6_reads_as_printed() -> None:
    start, first = after([(0.6, 0)])
    assert start.reading().tolist() == [[[0, 0, 0]]]
    assert first.reading()[0, 0].tolist() == pytest.approx([0.6, 0, 0])
    *_, before, last = after([(0.32, 0), (0.2, 0), (0.7, 1), (0.4, 0), (-0.86, 0)])
    assert before.lengths[0].tolist() == pytest.approx([0.32, 0.2, 0.7, 0.4])
    assert before.reading()[0, 0].tolist() == pytest.approx([0.4, 0.6, 0])
    assert last.lengths[0].tolist() == pytest.approx([0.32, 0.2, 0.24, 0, 0])
    assert last.reading()[0, 0].tolist() == pytest.approx([0.52, 0.24, 0])


@pytest.mark.parametrize("seed", range(4))
def test_gradients_through_many_steps_equal_finite_differences(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    actions = (torch.rand(7, 2, 1, 1, generator=generator, dtype=torch.float64) * 1.9 - 0.8).requires_grad_()
    values = torch.rand(7, 2, 1, N_SYMBOLS, generator=generator, dtype=torch.float64).requires_grad_()

    def run(actions: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        stack = ContinuousStack.empty((2,), N_SYMBOLS, values)
        readings = []
        for action, value in zip(actions, values, strict=True):
            stack = stack.next(action, value)
            readings.append(stack.reading())
        return torch.stack(readings), stack.length, stack.underflow

    assert torch.autograd.gradcheck(run, (actions, values))


@given(
    st.lists(
        st.lists(st.tuples(ACTIONS, st.integers(0, N_SYMBOLS - 1)), min_size=1, max_size=60), min_size=1, max_size=4
    ),
    st.data(),
)
def test_stacks_that_are_overwritten_equal_those_that_are_not(
    words: list[list[tuple[float, int]]], data: st.DataObject
) -> None:
    steps = min(map(len, words))
    stacks = ContinuousStack.empty((len(words),), N_SYMBOLS, torch.zeros((), dtype=torch.float64))
    overwritten = stacks.overwritable()
    for t in range(steps):
        actions = torch.tensor([[[word[t][0]]] for word in words], dtype=torch.float64)
        values = torch.eye(N_SYMBOLS, dtype=torch.float64)[torch.tensor([[word[t][1]] for word in words])]
        stacks, overwritten = stacks.next(actions, values), overwritten.next(actions, values)
        if data.draw(st.integers(0, 9)) == 0:
            index = torch.tensor(data.draw(st.lists(st.integers(0, len(words) - 1), min_size=1, max_size=5)))
            words = [words[i] for i in index]
            stacks, overwritten = stacks.select(index), overwritten.select(index)
        np.testing.assert_allclose(overwritten.reading(), stacks.reading(), rtol=0, atol=1e-12)
        assert torch.equal(overwritten.length, stacks.length)
        assert torch.equal(overwritten.underflow, stacks.underflow)
