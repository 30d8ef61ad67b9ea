"""The memory of the Baby-NTM (Suzgun et al. 2019, section 3.3): a ring of cells of which the first is seen and written.

With the cells [a, b, c, d, e] the operations leave

    rotate right [e, a, b, c, d]    rotate left [b, c, d, e, a]    no-op [a, b, c, d, e]
    pop right    [0, a, b, c, d]    pop left    [b, c, d, e, 0]

The next memory is their mixture by the actions' shares, and the new element is added to its first cell, whatever the
operation. So a pop right that adds is what a stack calls a push.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from stacklens.errors import StacklensError

__all__ = ["RING_OPERATIONS", "RingMemory"]

RING_OPERATIONS = ("rotate right", "rotate left", "no-op", "pop right", "pop left")


@dataclass(frozen=True)
class RingMemory:
    """A batch of rings; immutable.

    Attributes:
        cells: what the cells hold, (..., B, 1, size, D), the one that is seen first; 0 at the start.

    >>> import torch
    >>> ring = RingMemory(torch.tensor([1.0, 2.0, 3.0]).reshape(1, 1, 3, 1))
    >>> ring.next(torch.tensor([[[0.0, 1.0, 0.0, 0.0, 0.0]]]), torch.tensor([[[0.5]]])).cells.flatten()
    tensor([2.5000, 3.0000, 1.0000])
    """

    cells: Tensor

    @classmethod
    def empty(cls, leading: tuple[int, ...], size: int, cell_size: int, like: Tensor) -> RingMemory:
        """Return rings of ``size`` zeros; ``leading`` ends with the batch, ``like`` gives dtype and device.

        Raises:
            StacklensError: ``size`` is less than 1.
        """
        if size < 1:
            raise StacklensError(f"a ring has at least 1 cell, not {size}")
        return cls(like.new_zeros(*leading, 1, size, cell_size))

    def topmost(self, count: int) -> Tensor:
        """Return all cells, (..., B, 1, size, D), the one that is seen first, whatever ``count`` is.

        A ring is always taken whole, since what it rotates left comes in at its end.
        """
        del count
        return self.cells

    def reading(self) -> Tensor:
        """Return the first cell, (..., B, 1, D)."""
        return self.cells[..., 0, :]

    def next(self, actions: Tensor, pushed: Tensor) -> RingMemory:
        """Return the rings after ``actions`` (..., B, 1, 5), shares of `RING_OPERATIONS` that sum to 1.

        ``pushed`` (..., B, 1, D) is added to the first cell.

        Raises:
            StacklensError: there are not 5 shares.
        """
        if actions.shape[-1] != len(RING_OPERATIONS):
            raise StacklensError(f"a ring has {len(RING_OPERATIONS)} operations, not {actions.shape[-1]}")
        cells = self.cells
        rotate_right, rotate_left, stay, pop_right, pop_left = actions[..., None, None].unbind(-3)
        # both operations to one side move all cells but the one at the end alike: three products in place of five
        mixed = stay * cells
        mixed[..., 1:, :] += (rotate_right + pop_right) * cells[..., :-1, :]
        mixed[..., :-1, :] += (rotate_left + pop_left) * cells[..., 1:, :]
        mixed[..., :1, :] += rotate_right * cells[..., -1:, :] + pushed.unsqueeze(-2)
        mixed[..., -1:, :] += rotate_left * cells[..., :1, :]
        return RingMemory(mixed)

    def select(self, index: Tensor) -> RingMemory:
        """Return the rings of the batch entries ``index`` (M,), which may repeat."""
        return RingMemory(self.cells[..., index, :, :, :])
