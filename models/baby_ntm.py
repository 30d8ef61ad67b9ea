"""The Baby-NTM of Suzgun, Gehrmann, Belinkov & Shieber 2019 (section 3.3): their controller on a ring (see `marnn`)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.marnn import Marnn, MarnnConfig
from stacklens.models.ring_memory import RING_OPERATIONS, RingMemory
from stacklens.models.shape_fields import LARGEST

__all__ = ["BabyNTM", "MarnnConfig"]


class BabyNTM(Marnn[RingMemory]):
    """A Baby-NTM (section 3.3), or ``nets`` of them: the Stack-RNN's controller on a ring of ``stack_limit`` cells.

    Raises:
        StacklensError: ``stack_limit`` is None: a ring has a size.

    >>> import torch
    >>> net = BabyNTM(MarnnConfig(("(", ")")), seed=1)
    >>> net.step(torch.tensor([0]), net.initial_state(1)).actions.shape, net.operations[0]
    (torch.Size([1, 1, 5]), 'rotate right')
    """

    name: ClassVar[str] = "baby-ntm"
    operations = RING_OPERATIONS
    ring: ClassVar[bool] = True

    def __init__(self, shape: MarnnConfig, *, seed: int = 0, nets: int | None = None) -> None:
        if shape.stack_limit is None:
            raise StacklensError("the ring of a Baby-NTM has a size: expected a stack_limit, such as 104")
        if shape.stack_limit > LARGEST:  # a ring is there whole from the first step on
            raise StacklensError(f"stack_limit is {shape.stack_limit}; expected a ring of 1 to {LARGEST} cells")
        super().__init__(shape, seed=seed, nets=nets)

    def initial_memory(self, leading: tuple[int, ...]) -> RingMemory:
        """Return rings of zeros; ``leading`` ends with the batch."""
        return RingMemory.empty(leading, self.stack_limit or 0, self.cell_size, self.output_bias)

    def cells_of(self, memory: RingMemory) -> Tensor:
        """Return the cells of rings, (..., B, 1, stack_limit, D)."""
        return memory.cells

    def with_cells(self, memory: RingMemory, cells: Tensor) -> RingMemory:
        """Return rings with other cells, (..., B, 1, stack_limit, D)."""
        return replace(memory, cells=cells)

    def stack_of(self, cells: Tensor) -> RingMemory:
        """Raise StacklensError: a ring rotates, so no window of cells says what a stack's top says."""
        del cells
        raise StacklensError(f"{self.name} works on a ring, which is no stack: it has no pushdown automaton")
