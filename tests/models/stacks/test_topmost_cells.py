"""Which cells of a stack, a ring or a list are kept in a trace."""

from __future__ import annotations

import torch

from stacklens.models.networks.joulin import ListMemory
from stacklens.models.stacks.ring import RingMemory
from stacklens.models.stacks.superposition import SuperpositionStack


def test_the_topmost_cells_of_stacks_rings_and_lists() -> None:
    cells = torch.tensor([1.0, 2.0, 3.0]).reshape(1, 1, 3, 1)
    stack = SuperpositionStack(cells, empty_value=-1.0)
    for memory, expected in [
        (stack, [1, 2, 3, -1]),
        (RingMemory(cells), [1, 2, 3]),
        (ListMemory(cells, cells), [1, 2, 3, -1]),
    ]:
        assert memory.topmost(4).flatten().tolist() == expected  # type: ignore[attr-defined]


def test_a_ring_is_kept_whole_and_a_stack_as_far_as_it_can_be_filled() -> None:
    nothing = torch.zeros(())
    assert RingMemory.empty((1,), 9, 1, nothing).topmost(2).shape[-2] == 9
    limited = SuperpositionStack.empty((1,), 1, 1, nothing, limit=3)
    assert [limited.topmost(count).shape[-2] for count in (2, 5)] == [2, 3]
    assert SuperpositionStack.empty((1,), 1, 1, nothing).topmost(5).shape[-2] == 5
    assert ListMemory.empty((1,), 1, nothing, limit=3).topmost(5).shape[-2] == 3
