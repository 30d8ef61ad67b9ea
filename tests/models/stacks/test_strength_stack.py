from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from stacklens.models.stacks.continuous import ContinuousStack
from stacklens.models.stacks.strength import StrengthStack

SIZE = 3

strengths = st.floats(0, 1, allow_subnormal=False)
values = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=SIZE, max_size=SIZE)
moves = st.lists(st.tuples(strengths, strengths, values), max_size=40)
whole_moves = st.lists(st.tuples(st.booleans(), st.booleans(), values), max_size=80)


class PlainStack:
    """The cascades of Hao et al. 2018, section 2.1, item by item."""

    def __init__(self) -> None:
        self.items: list[list[float]] = []
        self.strengths: list[float] = []

    def pop(self, left_over: float) -> None:
        for i in reversed(range(len(self.items))):
            strength = self.strengths[i]
            self.strengths[i] = max(0.0, strength - left_over)
            left_over = max(0.0, left_over - strength)

    def push(self, value: list[float], strength: float) -> None:
        self.items.append(value)
        self.strengths.append(strength)

    def read(self) -> list[float]:
        left_over, total = 1.0, [0.0] * SIZE
        for value, strength in zip(reversed(self.items), reversed(self.strengths), strict=True):
            weight = min(strength, left_over)
            total = [sum_ + weight * part for sum_, part in zip(total, value, strict=True)]
            left_over = max(0.0, left_over - strength)
        return total


def tensors(pop: float, push: float, value: list[float]) -> tuple[Tensor, Tensor]:
    return torch.tensor([[[pop, push]]], dtype=torch.float64), torch.tensor([[value]], dtype=torch.float64)


def empty(*leading: int) -> StrengthStack:
    return StrengthStack.empty(leading or (1,), SIZE, torch.zeros((), dtype=torch.float64))


def random_moves(steps: int, *leading: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    actions = torch.rand(steps, *leading, 1, 2, generator=generator, dtype=torch.float64)
    return actions, torch.randn(steps, *leading, 1, SIZE, generator=generator, dtype=torch.float64)


def run(stack: StrengthStack, actions: Tensor, pushed: Tensor) -> Tensor:
    readings = []
    for action, value in zip(actions, pushed, strict=True):
        stack = stack.next(action, value)
        readings.append(stack.reading())
    return torch.stack(readings)


@settings(max_examples=50)
@given(moves)
def test_it_reads_and_holds_what_the_papers_cascades_do(steps: list[tuple[float, float, list[float]]]) -> None:
    stack, plain = empty(), PlainStack()
    for pop, push, value in steps:
        stack = stack.next(*tensors(pop, push, value))
        plain.pop(pop)
        plain.push(value, push)
        torch.testing.assert_close(
            stack.reading()[0, 0], torch.tensor(plain.read(), dtype=torch.float64), atol=1e-12, rtol=0
        )
        expected = torch.tensor(plain.strengths, dtype=torch.float64)
        torch.testing.assert_close(stack.strengths[0], expected, atol=1e-12, rtol=0)


@settings(max_examples=50)
@given(whole_moves, st.booleans())
def test_whole_strengths_make_it_a_list_exactly(steps: list[tuple[bool, bool, list[float]]], gradients: bool) -> None:
    stack, plain = empty(), list[list[float]]()
    with torch.set_grad_enabled(gradients):  # without gradients dead slots are dropped
        for pop, push, value in steps:
            stack = stack.next(*tensors(float(pop), float(push), value))
            plain = plain[:-1] if pop else plain
            plain = [*plain, value] if push else plain
            expected = plain[-1] if plain else [0.0] * SIZE
            assert stack.reading()[0, 0].tolist() == expected
            assert stack.length.item() == len(plain)


def test_dead_slots_are_dropped_without_gradients_and_no_reading_tells() -> None:
    actions, pushed = random_moves(200, 4)
    actions = actions.round()
    with_slots = run(empty(4), actions, pushed)
    stack = empty(4)
    with torch.no_grad():
        assert torch.equal(run(stack, actions, pushed), with_slots)
        for action, value in zip(actions, pushed, strict=True):
            stack = stack.next(action, value)
    assert stack.values.shape[-2] < 150


def test_gradients_are_exact() -> None:
    actions, pushed = random_moves(7, 2, seed=3)
    assert torch.autograd.gradcheck(
        lambda action, value: run(empty(2), action, value), (actions.requires_grad_(), pushed.requires_grad_())
    )


def test_signed_actions_make_it_the_continuous_stack() -> None:
    generator = torch.Generator().manual_seed(2)
    signed = 2 * torch.rand(60, 5, 1, 1, generator=generator, dtype=torch.float64) - 1
    actions = torch.cat([torch.relu(-signed), torch.relu(signed)], -1)
    _, pushed = random_moves(60, 5)
    stack, continuous = empty(5), ContinuousStack.empty((5,), SIZE, pushed)
    for action, sign, value in zip(actions, signed, pushed, strict=True):
        stack, continuous = stack.next(action, value), continuous.next(sign, value)
        assert torch.equal(stack.reading(), continuous.reading())
        assert torch.equal(stack.strengths, continuous.lengths)
