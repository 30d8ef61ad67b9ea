"""The memory of the Baby-NTM (Suzgun et al. 2019, section 3.3): a ring of cells of which the first is seen and written.

With the cells [a, b, c, d, e] the operations leave

    rotate right [e, a, b, c, d]    rotate left [b, c, d, e, a]    no-op [a, b, c, d, e]
    pop right    [0, a, b, c, d]    pop left    [b, c, d, e, 0]

The next memory is their mixture by the actions' shares, and the new element is added to its first cell, whatever the
operation. So a pop right that adds is what a stack calls a push.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from ...core.errors import StacklensError
from ..base import Cell, Memory
from .continuous import StrengthStack, cat_slots

RING_OPERATIONS = ("rotate right", "rotate left", "no-op", "pop right", "pop left")


@dataclass(frozen=True)
class RingMemory(Memory):
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

    def joined(self, others: Sequence[RingMemory]) -> RingMemory:
        """Return this batch and then ``others``."""
        return RingMemory(torch.cat([part.cells for part in (self, *others)]))

    def cell(self, number: int, place: Tensor) -> Cell:
        """Return the cell at ``place`` (B,) of ring ``number``, counted on round the ring."""
        return Cell.of(self.cells[torch.arange(len(place)), number, place % self.cells.shape[-2]])

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> RingMemory:
        """Return the rings with ``cell`` at ``place`` (B,) of ring ``number`` in ``rows``."""
        cells = self.cells.clone()
        cells[rows, number, place[rows] % cells.shape[-2]] = cell.values[rows, 0]
        return RingMemory(cells)


# ---- The memory of a buffered network (Hao et al. 2018, section 2.3): a stack, and the queue that its input waits in.
#
# To a queue from which strength P has left in all, item j lies on [e_{j-1}, e_j], e_j = s_1 + ... + s_j, and what is
# read is what lies within 1 of P:
#
#     x = sum_j |[e_{j-1}, e_j] n [P, P + 1]| item_j
#
# which equals the paper's cascades iota_t, xi_t. No more than strength 1 leaves at a step, so the symbols that a step
# sees have been read by then: the queue may be filled one symbol a step, and a network can be run without knowing how
# its word goes on.


@dataclass(frozen=True)
class Buffers(Memory):
    """A batch of stacks, each with an input queue beside it.

    Attributes:
        letters: what was put into the queues, one-hot, (B, T, symbols); zeros where there was nothing to put in. With
            leading axes where every network has words of its own.
        ends: where the items end, (B, T), with the same axes.
        gone: how much strength has left the queues, (..., B), at least 0.
        stack: the stacks.
    """

    letters: Tensor
    ends: Tensor
    gone: Tensor
    stack: StrengthStack

    @classmethod
    def empty(cls, leading: tuple[int, ...], symbols: int, size: int, like: Tensor) -> Buffers:
        """Return empty queues for ``symbols`` symbols, and stacks for values of ``size`` numbers."""
        batch = leading[-1]
        stack = StrengthStack.empty(leading, size, like)
        return cls(like.new_zeros(batch, 0, symbols), like.new_zeros(batch, 0), like.new_zeros(leading), stack)

    def fed(self, symbols: Tensor) -> Buffers:
        """Return the same with ``symbols`` (B,) int at the back of the queues; any that is no symbol adds nothing.

        Symbols (..., B) give every network its own.
        """
        known, read = self.letters.shape[-1], self.ends.shape[-1]
        there = ((symbols >= 0) & (symbols < known)).to(self.ends).unsqueeze(-1)  # (B, 1)
        letter = nn.functional.one_hot(symbols.clamp(0, known - 1), known) * there
        letters, ends = self.letters.expand(*symbols.shape, read, known), self.ends.expand(*symbols.shape, read)
        last = ends[..., -1:] if read else torch.zeros_like(there)
        return replace(
            self,
            letters=torch.cat([letters, letter.unsqueeze(-2)], -2),
            ends=torch.cat([ends, last + there], -1),
        )

    def reading(self) -> Tensor:
        """Return what is read of queue and stack, one after the other, (..., B, 1, symbols + D)."""
        inputs = (window(self.ends, self.gone).unsqueeze(-2) @ self.letters).squeeze(-2)
        return torch.cat([inputs.unsqueeze(-2), self.stack.reading()], -1)

    def next(self, actions: Tensor, pushed: Tensor) -> Buffers:
        """Return the memory after ``actions`` (..., B, 1, 4), pop u, push d, input pop i, output push o, in [0, 1]."""
        return replace(self, gone=self.gone + actions[..., 0, 2], stack=self.stack.next(actions[..., :2], pushed))

    def select(self, index: Tensor) -> Buffers:
        """Return the memories of the batch entries ``index`` (M,), which may repeat."""
        return Buffers(
            self.letters[..., index, :, :],
            self.ends[..., index, :],
            self.gone[..., index],
            self.stack.select(index),
        )

    def joined(self, others: Sequence[Buffers]) -> Buffers:
        """Return this batch and then ``others``; shorter queues end where their last item ends."""
        parts = (self, *others)
        size, ends = max(part.ends.shape[1] for part in parts), []
        for part in parts:
            last = part.ends[:, -1:] if part.ends.shape[1] else part.ends.new_zeros(len(part.ends), 1)
            ends.append(torch.cat([part.ends, last.expand(-1, size - part.ends.shape[1])], 1))
        letters, gone = cat_slots([part.letters for part in parts]), torch.cat([part.gone for part in parts])
        return Buffers(letters, torch.cat(ends), gone, self.stack.joined([part.stack for part in others]))

    def cell(self, number: int, place: Tensor) -> Cell:
        """Return the stack's cell at ``place`` (B,)."""
        return self.stack.cell(number, place)

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Buffers:
        """Return the same with ``cell`` at ``place`` (B,) of the stack in ``rows``."""
        return replace(self, stack=self.stack.with_cell(rows, number, place, cell))

    def with_stacks(self, rows: Tensor, numbers: Sequence[int], other: Buffers) -> Buffers:
        """Return the same with the stacks of ``other`` in ``rows``; queues stay as they are."""
        return replace(self, stack=self.stack.with_stacks(rows, numbers, other.stack))

    def lowered(self, rows: Tensor, number: int, count: Tensor) -> Buffers:
        """Return the same with ``count`` (B,) cells taken off the top of the stack in ``rows``."""
        return replace(self, stack=self.stack.lowered(rows, number, count))


def window(ends: Tensor, position: Tensor) -> Tensor:
    """Return how much of every item lies within 1 of ``position`` (...) on, (..., T).

    Item j lies between ``ends`` j - 1 and j, (..., T), the first from 0.
    """
    starts = nn.functional.pad(ends, (1, 0))[..., :-1]
    position = position.unsqueeze(-1)
    return torch.relu(torch.minimum(ends, position + 1) - torch.maximum(starts, position))
