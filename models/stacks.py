"""Memories of networks, immutable, vectorised and differentiable: cells (the superposition stack, the ring of the
Baby-NTM, the queue of a buffered network), the continuous stack and the strength stack.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from ..core.errors import StacklensError
from .base import Cell, Memory, editable

# ---- The superposition stack of Joulin & Mikolov 2015 (section 4.2), which Suzgun et al. 2019 (section 3.1) use too.
# Every cell is a mixture of what each operation would leave there (eqs. 4 and 5), the top at index 0:
#
#     new = push * [pushed, cells] + pop * [cells[1:], empty] + none * cells
#
# A cell that no push has reached holds the empty value exactly, because the shares sum to 1. So only the cells that may
# differ from it are stored: one more after every step, up to the limit.


EMPTY_READING = -1.0  # "when the stack is empty, s is set to -1", below eq. 5


class CellMemory(Memory):
    """A memory whose cells stand in a row behind its top."""

    SLOTS: ClassVar[str]  # the part that holds them, (..., B, n_stacks, C, D)
    depth: int  # how many cells `reading` shows
    limit: int | None  # how many cells there are

    def cells(self, count: int) -> Tensor:
        """Return the ``count`` topmost cells, (..., B, n_stacks, count, D), the top first, empty ones included."""
        return filled_up(getattr(self, self.SLOTS), count, self.empty_value)

    def topmost(self, count: int) -> Tensor:
        """Return the ``count`` topmost cells, (..., B, n_stacks, C, D), the top first; C is ``count``, or the limit."""
        return self.cells(count if self.limit is None else min(count, self.limit))

    def reading(self) -> Tensor:
        """Return the ``depth`` topmost cells, (..., B, n_stacks, depth * D), the top first (the s^k of eq. 6)."""
        return self.cells(self.depth).flatten(-2)

    def cell(self, number: int, place: Tensor) -> Cell:
        cells = self.cells(int(place.max()) + 1)[:, number]  # (B, C, D)
        return Cell.of(cells[torch.arange(len(cells)), place])

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Self:
        size = max(getattr(self, self.SLOTS).shape[-2], int(place[rows].max()) + 1 if bool(rows.any()) else 0)
        cells = self.cells(size).clone()
        cells[rows, number, place[rows]] = cell.values[rows, 0]
        return replace(self, **{self.SLOTS: cells})  # type: ignore[type-var]  # every memory is a dataclass


@dataclass(frozen=True)
class SuperpositionStack(CellMemory):
    """A batch of stacks whose cells are mixtures; immutable.

    >>> stack = SuperpositionStack.empty((1,), 1, 1, torch.zeros(()), empty_value=-1, depth=2)
    >>> stack.next(torch.tensor([[[0.75, 0.25]]]), torch.tensor([[[1.0]]])).reading()
    tensor([[[ 0.5000, -1.0000]]])
    """

    SLOTS: ClassVar[str] = "stored"
    stored: Tensor  # the cells that may differ from the empty value, (..., B, n_stacks, C, D), the top first
    empty_value: float = 0.0  # what every other cell holds: -1 in Joulin & Mikolov 2015, 0 in Suzgun et al. 2019.
    depth: int = 1  # how many cells `reading` shows, at least 1
    limit: int | None = None  # how many cells there are; a push onto so many drops the bottom one. None for no limit.

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
        """Return empty stacks; ``leading`` ends with the batch, ``like`` gives dtype and device. Raises StacklensError:
        ``depth`` or ``limit`` is less than 1.
        """
        return cls(like.new_zeros(*leading, n_stacks, 0, cell_size), float(empty_value), depth, limit)

    @classmethod
    def from_cells(
        cls, cells: Tensor, *, empty_value: float = 0.0, depth: int = 1, limit: int | None = None
    ) -> SuperpositionStack:
        """Return the stacks with ``cells`` (..., B, n_stacks, K, D), the top first, NaN where there is none."""
        there = ~cells.isnan().any(-1)
        if (there[..., 1:] & ~there[..., :-1]).any():
            raise StacklensError("a stack has no gaps: the cells that are not there (NaN) belong below all others")
        cells = cells.masked_fill(~there.unsqueeze(-1), empty_value)
        stack = cls(cells, float(empty_value), depth, limit)._trimmed()
        if limit is not None and stack.stored.shape[-2] > limit:
            raise StacklensError(f"{stack.stored.shape[-2]} cells do not fit on a stack of at most {limit}")
        return stack

    def next(self, actions: Tensor, pushed: Tensor) -> SuperpositionStack:
        """Return the stacks after ``actions`` with ``pushed`` (..., B, n_stacks, D) (eqs. 4 and 5). ``actions`` (...,
        B, n_stacks, 2 or 3) are the shares of push, pop and, if there is a third, no-op; each stack's sum to 1.
        """
        if actions.shape[-1] not in (2, 3):
            raise StacklensError(f"a stack has push, pop and no-op: expected 2 or 3 shares, not {actions.shape[-1]}")
        size = self.stored.shape[-2] + 1
        size = min(size, self.limit or size)
        shares = actions[..., None, None].unbind(-3)  # each (..., B, n_stacks, 1, 1)
        pushed = pushed.unsqueeze(-2).expand(*self.stored.shape[:-2], 1, -1)
        nothing = self.stored.new_full((*self.stored.shape[:-2], 2, self.stored.shape[-1]), self.empty_value)
        column = torch.cat([pushed, self.stored, nothing], -2)  # one cat serves all three operations
        cells = shares[0] * column[..., :size, :] + shares[1] * column[..., 2 : size + 2, :]
        if len(shares) == 3:
            cells = cells + shares[2] * column[..., 1 : size + 1, :]
        return replace(self, stored=cells)._trimmed()

    def lowered(self, rows: Tensor, number: int, count: Tensor) -> SuperpositionStack:
        stored, size = self.stored.clone(), self.stored.shape[-2]
        below = self.cells(2 * size)[:, number]
        places = (torch.arange(size) + count.long().unsqueeze(-1)).clamp(max=max(0, 2 * size - 1))  # (B, C)
        stored[rows, number] = below.gather(1, places.unsqueeze(-1).expand(-1, -1, below.shape[-1]))[rows]
        return replace(self, stored=stored)

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


def filled_up(cells: Tensor, count: int, empty: float) -> Tensor:
    """Return the first ``count`` of ``cells`` (..., C, D), with ``empty`` ones behind them where there are fewer."""
    return nn.functional.pad(cells, (0, 0, 0, count - cells.shape[-2]), value=empty)


@dataclass(frozen=True)
class StackRow(Memory):
    """Stacks beside each other, or one, of which more cells are shown: what each shows after so many whole pops."""

    parts: tuple[Any, ...]  # a stack each, or one object with all of them
    pop: Tensor  # the actions that pop a whole cell, (A,)
    size: int  # of a cell, D
    further: int = 0  # how many cells are shown below those that the stacks show themselves

    def reading(self) -> Tensor:
        """Return what the stacks show, (B, n_stacks, R)."""
        rows = []
        for part in self.parts:
            seen = [part.reading()]
            for _ in range(self.further):
                here = seen[0].shape[:-1]
                part = part.next(self.pop.expand(*here, -1), seen[0].new_zeros(*here, self.size))
                seen.append(part.reading()[..., -self.size :])
            rows.append(torch.cat(seen, -1))
        return torch.cat(rows, 1)

    def next(self, actions: Tensor, pushed: Tensor) -> StackRow:
        """Return the stacks after ``actions`` (B, n_stacks, A) with ``pushed`` (B, n_stacks, D)."""
        pushed = pushed.expand(*actions.shape[:-1], -1)
        given = zip(self.parts, *(rows.chunk(len(self.parts), 1) for rows in (actions, pushed)), strict=True)
        return self._with(part.next(*rows) for part, *rows in given)

    def select(self, index: Tensor) -> StackRow:
        return self._with(part.select(index) for part in self.parts)

    def joined(self, others: Sequence[StackRow]) -> StackRow:
        rows = zip(*(one.parts for one in (self, *others)), strict=True)
        return self._with(editable(first).joined(rest) for first, *rest in rows)

    def cell(self, number: int, place: Tensor) -> Cell:
        return editable(self.parts[self._which(number)]).cell(number - self._which(number), place)

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> StackRow:
        return self._changed(number, lambda part, inside: part.with_cell(rows, inside, place, cell))

    def lowered(self, rows: Tensor, number: int, count: Tensor) -> StackRow:
        return self._changed(number, lambda part, inside: part.lowered(rows, inside, count))

    def with_stacks(self, rows: Tensor, numbers: Sequence[int], other: StackRow) -> StackRow:
        if len(self.parts) == 1:
            return self._with([editable(self.parts[0]).with_stacks(rows, numbers, other.parts[0])])
        pairs = enumerate(zip(self.parts, other.parts, strict=True))
        return self._with(own.with_stacks(rows, [0], new) if place in numbers else own for place, (own, new) in pairs)

    def _which(self, number: int) -> int:
        return number if len(self.parts) > 1 else 0

    def _changed(self, number: int, change: Callable[[Memory, int], Any]) -> StackRow:
        parts, which = list(self.parts), self._which(number)
        parts[which] = change(editable(parts[which]), number - which)
        return self._with(parts)

    def _with(self, parts: Iterable[Any]) -> StackRow:
        return replace(self, parts=tuple(parts))


def with_cells_below(cells: Tensor, initial: Tensor) -> Tensor:
    """Return ``cells`` (M, n_stacks, K, D), NaN where there is none, with ``initial`` (C, D) right below them."""
    room = cells.new_full((*cells.shape[:2], len(initial), cells.shape[-1]), torch.nan)
    whole = torch.cat([cells, room], 2)
    first = (~cells.isnan().any(-1)).sum(-1, keepdim=True)  # (M, n_stacks, 1)
    places = (first + torch.arange(len(initial), device=cells.device)).unsqueeze(-1).expand(room.shape)
    return whole.scatter(2, places, initial.expand(room.shape))


# ---- The memory of the Baby-NTM (Suzgun et al. 2019, section 3.3): a ring whose first cell is seen and written.
# With the cells [a, b, c, d, e] the operations leave
#
#     rotate right [e, a, b, c, d]    rotate left [b, c, d, e, a]    no-op [a, b, c, d, e]
#     pop right    [0, a, b, c, d]    pop left    [b, c, d, e, 0]
#
# The next memory is their mixture by the actions' shares, and the new element is added to its first cell, whatever the
# operation. So a pop right that adds is what a stack calls a push.

RING_OPERATIONS = ("rotate right", "rotate left", "no-op", "pop right", "pop left")


@dataclass(frozen=True)
class RingMemory(Memory):
    """A batch of rings; immutable.

    >>> ring = RingMemory(torch.tensor([1.0, 2.0, 3.0]).reshape(1, 1, 3, 1))
    >>> ring.next(torch.tensor([[[0.0, 1.0, 0.0, 0.0, 0.0]]]), torch.tensor([[[0.5]]])).cells.flatten()
    tensor([2.5000, 3.0000, 1.0000])
    """

    cells: Tensor  # what the cells hold, (..., B, 1, size, D), the one that is seen first; 0 at the start

    @classmethod
    def empty(cls, leading: tuple[int, ...], size: int, cell_size: int, like: Tensor) -> RingMemory:
        """Return rings of ``size`` zeros; ``leading`` ends with the batch, ``like`` gives dtype and device."""
        if size < 1:
            raise StacklensError(f"a ring has at least 1 cell, not {size}")
        return cls(like.new_zeros(*leading, 1, size, cell_size))

    def topmost(self, count: int) -> Tensor:
        """Return all cells, (..., B, 1, size, D), the one that is seen first, whatever ``count`` is. A ring is always
        taken whole, since what it rotates left comes in at its end.
        """
        return self.cells

    def reading(self) -> Tensor:
        """Return the first cell, (..., B, 1, D)."""
        return self.cells[..., 0, :]

    def next(self, actions: Tensor, pushed: Tensor) -> RingMemory:
        """Return the rings after ``actions`` (..., B, 1, 5), shares of `RING_OPERATIONS` that sum to 1. ``pushed``
        (..., B, 1, D) is added to the first cell.
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

    def cell(self, number: int, place: Tensor) -> Cell:
        return Cell.of(self.cells[torch.arange(len(place)), number, place % self.cells.shape[-2]])

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> RingMemory:
        cells = self.cells.clone()
        cells[rows, number, place[rows] % cells.shape[-2]] = cell.values[rows, 0]
        return RingMemory(cells)


# ---- The memory of a buffered network (Hao et al. 2018, section 2.3): a stack, and the queue that its input waits in.
# To a queue from which strength P has left in all, item j lies on [e_{j-1}, e_j], e_j = s_1 + ... + s_j, and what is
# read is what lies within 1 of P:
#
#     x = sum_j |[e_{j-1}, e_j] n [P, P + 1]| item_j
#
# which equals the paper's cascades iota_t, xi_t. No more than strength 1 leaves at a step, so the symbols that a step
# sees have been read by then: the queue may be filled one symbol a step, whatever the rest of the word.


@dataclass(frozen=True)
class Buffers(Memory):
    """A batch of stacks, each with an input queue beside it."""

    letters: Tensor  # what was put in, one-hot, zeros for nothing, (B, T, symbols), with leading axes if each has own
    ends: Tensor  # where the items end, (B, T), with the same axes
    gone: Tensor  # how much strength has left the queues, (..., B), at least 0
    stack: StrengthStack
    slot_axis: ClassVar[int] = 1

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
        letters = torch.cat([letters, letter.unsqueeze(-2)], -2)
        return replace(self, letters=letters, ends=torch.cat([ends, last + there], -1))

    def reading(self) -> Tensor:
        """Return what is read of queue and stack, one after the other, (..., B, 1, symbols + D)."""
        inputs = (window(self.ends, self.gone).unsqueeze(-2) @ self.letters).squeeze(-2)
        return torch.cat([inputs.unsqueeze(-2), self.stack.reading()], -1)

    def next(self, actions: Tensor, pushed: Tensor) -> Buffers:
        """Return the memory after ``actions`` (..., B, 1, 4), pop u, push d, input pop i, output push o, in [0, 1]."""
        return replace(self, gone=self.gone + actions[..., 0, 2], stack=self.stack.next(actions[..., :2], pushed))

    def select(self, index: Tensor) -> Buffers:
        letters, ends = self.letters[..., index, :, :], self.ends[..., index, :]
        return Buffers(letters, ends, self.gone[..., index], self.stack.select(index))

    def joined(self, others: Sequence[Buffers]) -> Buffers:
        made = super().joined(others)
        # ends never fall: what is filled up behind a queue's items ends where the last of them does
        return replace(made, ends=made.ends.cummax(1).values, stack=self.stack.joined([one.stack for one in others]))

    def cell(self, number: int, place: Tensor) -> Cell:
        return self.stack.cell(number, place)

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Buffers:
        return replace(self, stack=self.stack.with_cell(rows, number, place, cell))

    def with_stacks(self, rows: Tensor, numbers: Sequence[int], other: Buffers) -> Buffers:
        return replace(self, stack=self.stack.with_stacks(rows, numbers, other.stack))

    def lowered(self, rows: Tensor, number: int, count: Tensor) -> Buffers:
        return replace(self, stack=self.stack.lowered(rows, number, count))


def window(ends: Tensor, position: Tensor) -> Tensor:
    """Return how much of every item lies within 1 of ``position`` (...) on, (..., T). Item j lies between ``ends`` j -
    1 and j, (..., T), the first from 0.
    """
    starts = nn.functional.pad(ends, (1, 0))[..., :-1]
    position = position.unsqueeze(-1)
    return torch.relu(torch.minimum(ends, position + 1) - torch.maximum(starts, position))


# ---- No memory at all, of networks without a stack ----


@dataclass(frozen=True)
class NoStack(Memory):
    """A batch of nothing: 0 stacks with cells of 1 number."""

    nothing: Tensor  # the readings, (..., B, 0, 1)
    behind: ClassVar[int] = 2

    def reading(self) -> Tensor:
        """Return the readings of 0 stacks, (..., B, 0, 1)."""
        return self.nothing

    def next(self, actions: Tensor, pushed: Tensor) -> NoStack:
        """Return the same: there are no ``actions`` (..., B, 0, 0), and nothing is ``pushed`` (..., B, 0, 1)."""
        return self

    def with_stacks(self, rows: Tensor, numbers: Sequence[int], other: NoStack) -> NoStack:
        return self


# ---- The continuous stack of Sun et al. 1993 (section 3.2), vectorised and differentiable ----
# The symbol pushed at step t is the interval [bottom_t, top_t] of heights. With total length L and action A:
#
#     L' = relu(L + A)                       U = relu(-(L + A)), what was popped from an empty stack
#     bottom = min(bottom, L')               top = min(top, L')
#     new interval = [min(L, L'), L']        reading = sum_t |[bottom_t, top_t] n [L' - 1, L']| value_t
#
# which equals the paper's arrays of lengths: a push lays an interval on top, a pop cuts all of them at L'. Intervals
# are in order of height, so what is within depth 1 of the top are the last ones that are left.

_SWEEP = 32  # slots of which nothing is left are looked for when the number of slots is a multiple of this
_every_slot = ContextVar("every slot", default=False)


@contextmanager
def every_slot() -> Iterator[None]:
    """Keep a slot for every step within a block, so that slot t is what step t pushed."""
    token = _every_slot.set(True)
    try:
        yield
    finally:
        _every_slot.reset(token)


@dataclass(frozen=True)
class IntervalStack(Memory):
    """A batch of stacks whose values lie on intervals of heights, the bottom first; immutable."""

    # bottoms, tops: the heights between which slot t lies, (..., B, T), at least 0; equal where nothing is left
    bottoms: Tensor
    tops: Tensor
    values: Tensor  # what slot t holds, (..., B, T, D)
    length: Tensor  # total length, (..., B), at least 0
    behind: ClassVar[int] = 1
    slot_axis: ClassVar[int] = 1
    n_actions: ClassVar[int]  # numbers that an action has, of which the last pushes

    @classmethod
    def empty(cls, leading: tuple[int, ...], size: int, like: Tensor) -> Self:
        """Return empty stacks for values of ``size`` numbers; ``leading`` ends with the batch, ``like`` gives dtype."""
        none, amounts = like.new_zeros(*leading, 0), (like.new_zeros(leading) for _ in fields(cls)[3:])
        return cls(none, none, like.new_zeros(*leading, 0, size), *amounts)

    @classmethod
    def of_cells(cls, cells: Tensor) -> Self:
        """Return stacks of ``cells`` (..., B, 1, K, D) with a length of 1 each, the top first; none where it is NaN."""
        stack = cls.empty(tuple(cells.shape[:-3]), cells.shape[-1], cells)
        for cell in cells.flip(-2).unbind(-2):  # (..., B, 1, D), the bottom first
            push = (~cell[..., :1].isnan()).to(cells.dtype)
            stack = stack.next(torch.nn.functional.pad(push, (cls.n_actions - 1, 0)), cell.nan_to_num())
        return stack

    @abstractmethod
    def next(self, actions: Tensor, pushed: Tensor) -> Self:
        """Return the stacks after ``actions`` (..., B, 1, n_actions) with ``pushed`` (..., B, 1, D)."""

    def cut_and_laid(self, cut: Tensor, bottom: Tensor, top: Tensor, pushed: Tensor, **others: Tensor) -> Self:
        """Return the stacks without what lies above ``cut`` (..., B), and ``pushed`` from ``bottom`` to ``top``."""
        new, whole = {"bottoms": bottom, "tops": top}, cut.unsqueeze(-1)
        kept = {name: torch.minimum(getattr(self, name), whole) for name in new}
        ends = {name: torch.cat([kept[name], end.unsqueeze(-1)], -1) for name, end in new.items()}
        values = torch.cat([self.values, pushed.expand(*top.shape, *pushed.shape[-2:])], -2)
        return replace(self, **ends, values=values, length=top, **others).swept()

    @property
    def lengths(self) -> Tensor:
        """Return how much of every slot is left, (..., B, T), at least 0."""
        return self.tops - self.bottoms

    def reading(self) -> Tensor:
        """Return the sum of the values in the top 1, weighted by their lengths there, (..., B, 1, D). Where the stack
        holds less than 1 the weights sum to that, without normalisation (Sun et al. 1993, eq. 13; Hao et al. 2018,
        section 2.1, r_t; Grefenstette et al. 2015, eq. 3).
        """
        floor = torch.relu(self.length - 1).unsqueeze(-1)
        visible = torch.relu(self.tops - torch.maximum(self.bottoms, floor))
        return (visible.unsqueeze(-1) * self.values).sum(-2).unsqueeze(-2)

    def cell(self, number: int, place: Tensor) -> Cell:
        """Return the pieces of the cell at ``place`` (B,) below the top."""
        low, high = self._span(place)
        low_end, high_end = (torch.minimum(torch.maximum(ends, low), high) for ends in (self.bottoms, self.tops))
        return Cell(high_end - low_end, self.values)

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Self:
        low, high = self._span(place)
        none, whole = low.expand(-1, self.tops.shape[-1]), ~rows.unsqueeze(-1)
        above = cell.lengths.cumsum(-1)
        tops, bottoms = (torch.minimum(low + ends, high) for ends in (above, above - cell.lengths))
        # every old slot stands twice, cut to below the cell and to above it, and the pieces between
        kept = {"bottoms": self.bottoms, "tops": self.tops}
        under = {name: torch.where(whole, ends, torch.minimum(ends, low)) for name, ends in kept.items()}
        over = {name: torch.where(whole, none, torch.maximum(ends, high)) for name, ends in kept.items()}
        new = {"bottoms": torch.where(whole, tops, bottoms), "tops": tops}
        ends = {name: torch.cat([under[name], new[name], over[name]], -1) for name in kept}
        return replace(self, **ends, values=torch.cat([self.values, cell.values, self.values], -2))

    def with_stacks(self, rows: Tensor, numbers: Sequence[int], other: Self) -> Self:
        return self.joined([other]).select(torch.arange(len(rows)) + len(rows) * rows)

    def lowered(self, rows: Tensor, number: int, count: Tensor) -> Self:
        length = torch.where(rows, torch.relu(self.length - count), self.length)
        ends = {name: torch.minimum(getattr(self, name), length.unsqueeze(-1)) for name in ("bottoms", "tops")}
        return replace(self, **ends, length=length)

    def swept(self) -> Self:
        """Return the same stacks without slots of which nothing is left, now and then, if no gradient is wanted. No
        reading can tell. A long run then costs what the highest stack holds. Within `every_slot` all are kept.
        """
        slots = self.tops.shape[-1]
        if slots % _SWEEP or not self.tops.numel() or torch.is_grad_enabled() or _every_slot.get():
            return self
        # what is left of each stack comes last, in its order
        held = self.tops > self.bottoms
        places = held.to(torch.uint8).argsort(stable=True)[..., slots - int(held.sum(-1).max()) :]
        cells = places.unsqueeze(-1).expand(*places.shape, self.values.shape[-1])
        ends = {name: getattr(self, name).gather(-1, places) for name in ("bottoms", "tops")}
        return replace(self, **ends, values=self.values.gather(-2, cells))

    def _span(self, place: Tensor) -> tuple[Tensor, Tensor]:
        high = torch.relu(self.length - place).unsqueeze(-1)
        return torch.relu(high - 1), high


@dataclass(frozen=True)
class ContinuousStack(IntervalStack):
    """A batch of stacks of values with continuous lengths; one slot for every symbol read so far (but see `swept`)."""

    underflow: Tensor  # the largest amount that one step popped from an empty stack so far, (..., B), at least 0
    n_actions: ClassVar[int] = 1

    def next(self, actions: Tensor, pushed: Tensor) -> Self:
        """Return the stacks after ``actions`` (..., B, 1, 1) in [-1, 1]: push so much if positive, else pop it.
        ``pushed`` (..., B, 1, D) is what a push lays down (eq. 14; pops of an empty stack are counted, not made).
        """
        raw = self.length + actions[..., 0, 0]
        length = torch.relu(raw)
        underflow = torch.maximum(self.underflow, torch.relu(-raw))
        return self.cut_and_laid(length, torch.minimum(self.length, length), length, pushed, underflow=underflow)


# ---- The strength stack of Grefenstette et al. 2015, run as in Hao et al. 2018 (section 2.1) ----
# The value pushed at step t is the interval [bottom_t, top_t] of heights, and its strength s_t is how long that is.
# With total strength L, pop strength u and push strength d:
#
#     L' = relu(L - u)                       what is left after the pop; popping an empty stack does nothing
#     bottom = min(bottom, L')               top = min(top, L')
#     new interval = [L', L' + d]            reading = sum_t |[bottom_t, top_t] n [L' + d - 1, L' + d]| value_t
#
# which equals the papers' cascades: the left-over pop u_t[i] is what a pop cuts below the slots above slot i, and the
# left-over reading rho_t[i] is what they leave of the top 1.


@dataclass(frozen=True)
class StrengthStack(IntervalStack):
    """A batch of stacks of values with strengths, the bottom first; one slot for every step so far (but see `swept`).

    >>> empty = StrengthStack.empty((1,), 2, torch.zeros(()))
    >>> one = empty.next(torch.tensor([[[0.0, 0.75]]]), torch.tensor([[[1.0, 0.0]]]))
    >>> two = one.next(torch.tensor([[[0.25, 0.75]]]), torch.tensor([[[0.0, 1.0]]]))
    >>> two.lengths, two.reading()
    (tensor([[0.5000, 0.7500]]), tensor([[[0.2500, 0.7500]]]))
    """

    n_actions: ClassVar[int] = 2

    def next(self, actions: Tensor, pushed: Tensor) -> Self:
        """Return the stacks after ``actions`` (..., B, 1, 2) = (pop u, push d), each in [0, 1]. Strength u leaves from
        the top down, as far as there is any; then ``pushed`` (..., B, 1, D) is laid on top with strength d (Hao et al.
        2018, section 2.1, u_t and s_t; Grefenstette et al. 2015, eqs. 1 and 2).
        """
        left = torch.relu(self.length - actions[..., 0, 0])
        return self.cut_and_laid(left, left, left + actions[..., 0, 1], pushed)
