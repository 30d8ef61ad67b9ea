from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.stacks.ring import RING_OPERATIONS, RingMemory

SIZE = 5
moves = st.lists(st.tuples(st.sampled_from(RING_OPERATIONS), st.floats(0, 1, allow_subnormal=False)), max_size=40)


def moved(operation: str, cells: list[float]) -> list[float]:
    """Return what the paper says that an operation leaves of [a, b, c, d, e] (section 3.3)."""
    return {
        "rotate right": [cells[-1], *cells[:-1]],
        "rotate left": [*cells[1:], cells[0]],
        "no-op": cells,
        "pop right": [0.0, *cells[:-1]],
        "pop left": [*cells[1:], 0.0],
    }[operation]


def one_hot(operation: str) -> Tensor:
    return torch.eye(5, dtype=torch.float64)[RING_OPERATIONS.index(operation)].reshape(1, 1, 5)


def fresh(*leading: int) -> RingMemory:
    return RingMemory.empty(leading or (1,), SIZE, 1, torch.zeros((), dtype=torch.float64))


@given(moves)
def test_whole_actions_do_what_the_paper_says(moves: list[tuple[str, float]]) -> None:
    ring, plain = fresh(), [0.0] * SIZE
    for operation, new in moves:
        ring = ring.next(one_hot(operation), torch.full((1, 1, 1), new, dtype=torch.float64))
        plain = moved(operation, plain)
        plain = [plain[0] + new, *plain[1:]]
        assert ring.cells.flatten().tolist() == plain
        assert ring.reading().flatten().tolist() == plain[:1]


@given(st.lists(st.tuples(st.lists(st.floats(0.01, 1), min_size=5, max_size=5), st.floats(0, 1)), max_size=20))
def test_soft_actions_mix_what_the_operations_leave(moves: list[tuple[list[float], float]]) -> None:
    ring, plain = fresh(), [0.0] * SIZE
    for raw, new in moves:
        shares = [share / sum(raw) for share in raw]
        ring = ring.next(torch.tensor([[shares]], dtype=torch.float64), torch.full((1, 1, 1), new, dtype=torch.float64))
        results = [moved(operation, plain) for operation in RING_OPERATIONS]
        plain = [sum(share * cells[i] for share, cells in zip(shares, results, strict=True)) for i in range(SIZE)]
        plain[0] += new
        assert ring.cells.flatten().tolist() == pytest.approx(plain, abs=1e-12)


def test_gradients_leading_axes_and_selection() -> None:
    generator = torch.Generator().manual_seed(2)
    raw = torch.randn(4, 2, 3, 1, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    pushed = torch.rand(4, 2, 3, 1, 1, generator=generator, dtype=torch.float64, requires_grad=True)

    def run(raw: Tensor, pushed: Tensor) -> Tensor:
        ring = RingMemory.empty(tuple(raw.shape[1:-2]), SIZE, 1, raw)
        for actions, new in zip(raw.softmax(-1), pushed, strict=True):
            ring = ring.next(actions, new)
        return ring.cells

    assert torch.autograd.gradcheck(run, (raw, pushed))
    together = run(raw, pushed)
    assert torch.equal(together[1], run(raw[:, 1], pushed[:, 1]))
    index = torch.tensor([2, 2, 0])
    assert torch.equal(RingMemory(together).select(index).cells, together[:, index])


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(StacklensError, match="5 operations, not 2"):
        fresh().next(torch.ones(1, 1, 2), torch.ones(1, 1, 1))
    with pytest.raises(StacklensError, match="at least 1 cell, not 0"):
        RingMemory.empty((1,), 0, 1, torch.zeros(()))
