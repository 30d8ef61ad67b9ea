from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.stacks.superposition import SuperpositionStack

SIZE = 2
SHOWN = 9

values = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=SIZE, max_size=SIZE)
raw_shares = st.lists(st.floats(0.01, 1), min_size=3, max_size=3)
soft_moves = st.lists(st.tuples(raw_shares, values), max_size=25)
whole_moves = st.lists(st.tuples(st.integers(0, 2), values), max_size=60)
empties = st.sampled_from([0.0, -1.0])
limits = st.sampled_from([None, 1, 3, 200])


class PlainStack:
    """Eqs. 4 and 5 of Joulin & Mikolov 2015 on a list of as many cells as a run can reach."""

    def __init__(self, empty: float, limit: int | None) -> None:
        self.blank = [empty] * SIZE
        self.cells = [list(self.blank) for _ in range(limit or 100)]

    def next(self, shares: list[float], pushed: list[float]) -> None:
        old = self.cells
        above = [pushed, *old[:-1]]
        below = [*old[1:], self.blank]
        push, pop, stay = shares
        self.cells = [
            [push * a + pop * b + stay * c for a, b, c in zip(*places, strict=True)]
            for places in zip(above, below, old, strict=True)
        ]

    def top(self, count: int) -> list[list[float]]:
        return [*self.cells, *[self.blank] * count][:count]


def fresh(*leading: int, empty: float = 0.0, depth: int = 1, limit: int | None = None) -> SuperpositionStack:
    like = torch.zeros((), dtype=torch.float64)
    return SuperpositionStack.empty(leading or (1,), 1, SIZE, like, empty_value=empty, depth=depth, limit=limit)


def tensors(shares: list[float], pushed: list[float]) -> tuple[Tensor, Tensor]:
    return torch.tensor([[shares]], dtype=torch.float64), torch.tensor([[pushed]], dtype=torch.float64)


@given(soft_moves, empties, limits)
def test_soft_actions_mix_the_cells_as_in_the_paper(
    moves: list[tuple[list[float], list[float]]], empty: float, limit: int | None
) -> None:
    stack, plain = fresh(empty=empty, limit=limit), PlainStack(empty, limit)
    for raw, pushed in moves:
        shares = [share / sum(raw) for share in raw]
        stack = stack.next(*tensors(shares, pushed))
        plain.next(shares, pushed)
        expected = torch.tensor(plain.top(SHOWN), dtype=torch.float64)
        assert torch.allclose(stack.cells(SHOWN)[0, 0], expected, rtol=0, atol=1e-12)


@given(whole_moves, empties, limits)
def test_whole_actions_make_a_discrete_stack_exactly(
    moves: list[tuple[int, list[float]]], empty: float, limit: int | None
) -> None:
    stack, plain = fresh(empty=empty, limit=limit, depth=2), list[list[float]]()
    for operation, pushed in moves:
        stack = stack.next(*tensors([float(operation == i) for i in range(3)], pushed))
        if operation == 0:
            plain = [pushed, *plain][:limit]
        elif operation == 1:
            plain = plain[1:]
        shown = [*plain, *[[empty] * SIZE] * SHOWN]
        assert stack.cells(SHOWN)[0, 0].tolist() == shown[:SHOWN]
        assert stack.reading().flatten().tolist() == [*shown[0], *shown[1]]
        assert stack.stored.shape[-2] <= len(plain)  # no more is stored than there is


@pytest.mark.parametrize("limit", [None, 2])
def test_gradients_are_those_of_finite_differences(limit: int | None) -> None:
    generator = torch.Generator().manual_seed(3)
    raw = torch.randn(5, 2, 1, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    pushed = torch.randn(5, 2, 1, SIZE, generator=generator, dtype=torch.float64, requires_grad=True)

    def run(raw: Tensor, pushed: Tensor) -> Tensor:
        stack = fresh(2, empty=-1.0, depth=3, limit=limit)
        for actions, values in zip(raw.softmax(-1), pushed, strict=True):
            stack = stack.next(actions, values)
        return stack.reading()

    assert torch.autograd.gradcheck(run, (raw, pushed))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_selected_stacks_go_on_as_they_would_have(index: list[int]) -> None:
    generator = torch.Generator().manual_seed(0)
    actions = torch.rand(6, 2, 4, 1, 2, generator=generator, dtype=torch.float64).softmax(-1)
    pushed = torch.rand(6, 2, 4, 1, SIZE, generator=generator, dtype=torch.float64)
    whole = fresh(2, 4, limit=4)
    for step in range(3):
        whole = whole.next(actions[step], pushed[step])
    chosen = torch.tensor(index)
    part = whole.select(chosen)
    for step in range(3, 6):
        whole = whole.next(actions[step], pushed[step])
        part = part.next(actions[step][:, chosen], pushed[step][:, chosen])
    assert torch.equal(part.cells(SHOWN), whole.cells(SHOWN)[:, chosen])


def test_a_stack_cannot_be_made_of_cells_with_gaps_or_too_many_of_them() -> None:
    with pytest.raises(StacklensError, match="no gaps"):
        SuperpositionStack.from_cells(torch.tensor([[[[float("nan")], [2.0]]]]))
    with pytest.raises(StacklensError, match="3 cells do not fit on a stack of at most 2"):
        SuperpositionStack.from_cells(torch.ones(1, 1, 3, 1), limit=2)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(StacklensError, match="expected 2 or 3 shares, not 4"):
        fresh().next(torch.ones(1, 1, 4), torch.ones(1, 1, SIZE))
    with pytest.raises(StacklensError, match="at least 1 cell, not 0 and None"):
        fresh(depth=0)
    with pytest.raises(StacklensError, match="at least 1 cell, not 1 and 0"):
        fresh(limit=0)
