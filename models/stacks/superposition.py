"""The superposition stack of Joulin & Mikolov 2015 (section 4.2), which Suzgun et al. 2019 (section 3.1) use too.

Every cell is a mixture of what each operation would leave there (eqs. 4 and 5), the top at index 0:

    new = push * [pushed, cells] + pop * [cells[1:], empty] + none * cells

A cell that no push has reached holds the empty value exactly, because the shares sum to 1. So only the cells that may
differ from it are stored: one more after every step, up to the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ...core.errors import StacklensError
from ..base import Cell, Memory


@dataclass(frozen=True)
class SuperpositionStack(Memory):
    """A batch of stacks whose cells are mixtures; immutable.

    Attributes:
        stored: the cells that may differ from the empty value, (..., B, n_stacks, C, D), the top first.
        empty_value: what every other cell holds: -1 in Joulin & Mikolov 2015, 0 in Suzgun et al. 2019.
        depth: how many cells `reading` shows, at least 1.
        limit: how many cells there are; a push onto so many drops the bottom one. None for no limit.

    >>> stack = SuperpositionStack.empty((1,), 1, 1, torch.zeros(()), empty_value=-1, depth=2)
    >>> stack.next(torch.tensor([[[0.75, 0.25]]]), torch.tensor([[[1.0]]])).reading()
    tensor([[[ 0.5000, -1.0000]]])
    """

    stored: Tensor
    empty_value: float = 0.0
    depth: int = 1
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.depth < 1 or (self.limit is not None and self.limit < 1):
            raise StacklensError(f"a stack shows and holds at least 1 cell, not {self.depth} and {self.limit}")

    @classmethod
    def empty(
        cls,
        leading: tuple[int, ...],
        n_stacks: int,
        cell_size: int,
        like: Tensor,
        *,
        empty_value: float = 0.0,
        depth: int = 1,
        limit: int | None = None,
    ) -> SuperpositionStack:
        """Return empty stacks; ``leading`` ends with the batch, ``like`` gives dtype and device.

        Raises:
            StacklensError: ``depth`` or ``limit`` is less than 1.
        """
        return cls(like.new_zeros(*leading, n_stacks, 0, cell_size), float(empty_value), depth, limit)

    @classmethod
    def from_cells(
        cls, cells: Tensor, *, empty_value: float = 0.0, depth: int = 1, limit: int | None = None
    ) -> SuperpositionStack:
        """Return the stacks with ``cells`` (..., B, n_stacks, K, D), the top first, NaN where there is none.

        Raises:
            StacklensError: a cell lies below one that is not there, or there are more cells than ``limit``.
        """
        there = ~cells.isnan().any(-1)
        if (there[..., 1:] & ~there[..., :-1]).any():
            raise StacklensError("a stack has no gaps: the cells that are not there (NaN) belong below all others")
        stack = cls(cells.masked_fill(~there.unsqueeze(-1), empty_value), float(empty_value), depth, limit)
        stack = stack._trimmed()
        if limit is not None and stack.stored.shape[-2] > limit:
            raise StacklensError(f"{stack.stored.shape[-2]} cells do not fit on a stack of at most {limit}")
        return stack

    def cells(self, count: int) -> Tensor:
        """Return the ``count`` topmost cells, (..., B, n_stacks, count, D), the top first, empty ones included."""
        stored = self.stored[..., :count, :]
        missing = count - stored.shape[-2]
        return torch.cat([stored, self._empty_cells(missing)], -2) if missing > 0 else stored

    def topmost(self, count: int) -> Tensor:
        """Return the ``count`` topmost cells, (..., B, n_stacks, C, D), the top first; C is ``count``, or the limit."""
        return self.cells(count if self.limit is None else min(count, self.limit))

    def reading(self) -> Tensor:
        """Return the ``depth`` topmost cells, (..., B, n_stacks, depth * D), the top first (the s^k of eq. 6)."""
        return self.cells(self.depth).flatten(-2)

    def next(self, actions: Tensor, pushed: Tensor) -> SuperpositionStack:
        """Return the stacks after ``actions`` with ``pushed`` (..., B, n_stacks, D) (eqs. 4 and 5).

        ``actions`` (..., B, n_stacks, 2 or 3) are the shares of push, pop and, if there is a third, no-op; each stack's
        sum to 1.

        Raises:
            StacklensError: there are not 2 or 3 shares.
        """
        if actions.shape[-1] not in (2, 3):
            raise StacklensError(f"a stack has push, pop and no-op: expected 2 or 3 shares, not {actions.shape[-1]}")
        size = self.stored.shape[-2] + 1
        if self.limit is not None:
            size = min(size, self.limit)
        shares = actions[..., None, None].unbind(-3)  # each (..., B, n_stacks, 1, 1)
        pushed = pushed.unsqueeze(-2).expand(*self.stored.shape[:-2], 1, -1)
        column = torch.cat([pushed, self.stored, self._empty_cells(2)], -2)  # one cat serves all three operations
        cells = shares[0] * column[..., :size, :] + shares[1] * column[..., 2 : size + 2, :]
        if len(shares) == 3:
            cells = cells + shares[2] * column[..., 1 : size + 1, :]
        return replace(self, stored=cells)._trimmed()

    def select(self, index: Tensor) -> SuperpositionStack:
        """Return the stacks of the batch entries ``index`` (M,), which may repeat."""
        return replace(self, stored=self.stored[..., index, :, :, :])

    def joined(self, others: Sequence[SuperpositionStack]) -> SuperpositionStack:
        """Return this batch and then ``others``."""
        size = max(part.stored.shape[-2] for part in (self, *others))
        return replace(self, stored=torch.cat([part.cells(size) for part in (self, *others)]))

    def cell(self, number: int, place: Tensor) -> Cell:
        """Return the cell at ``place`` (B,) of stack ``number``."""
        cells = self.cells(int(place.max()) + 1)[:, number]  # (B, C, D)
        return Cell.of(cells[torch.arange(len(cells)), place])

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> SuperpositionStack:
        """Return the stacks with ``cell`` at ``place`` (B,) of stack ``number`` in ``rows``."""
        size = max(self.stored.shape[-2], int(place[rows].max()) + 1 if bool(rows.any()) else 0)
        stored = self.cells(size).clone()
        stored[rows, number, place[rows]] = cell.values[rows, 0]
        return replace(self, stored=stored)

    def lowered(self, rows: Tensor, number: int, count: Tensor) -> SuperpositionStack:
        """Return the stacks with ``count`` (B,) cells taken off the top of stack ``number`` in ``rows``."""
        stored, size = self.stored.clone(), self.stored.shape[-2]
        below = self.cells(2 * size)[:, number]
        places = (torch.arange(size) + count.long().unsqueeze(-1)).clamp(max=max(0, 2 * size - 1))  # (B, C)
        stored[rows, number] = below.gather(1, places.unsqueeze(-1).expand(-1, -1, below.shape[-1]))[rows]
        return replace(self, stored=stored)

    def _empty_cells(self, count: int) -> Tensor:
        return self.stored.new_full((*self.stored.shape[:-2], count, self.stored.shape[-1]), self.empty_value)

    def _trimmed(self) -> SuperpositionStack:
        """Return the same stacks without the lowest layers that are empty in all of them, if no gradient is wanted.

        With rounded actions the cells so follow the highest stack, not the number of steps.
        """
        stored, size = self.stored, self.stored.shape[-2]
        if stored.requires_grad:
            return self
        while size and bool((stored[..., size - 1, :] == self.empty_value).all()):
            size -= 1
        return self if size == stored.shape[-2] else replace(self, stored=stored[..., :size, :])
