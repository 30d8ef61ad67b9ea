"""The continuous stack of Sun et al. 1993 (section 3.2), vectorised and differentiable.

The symbol pushed at step t is the interval [bottom_t, top_t] of heights. With total length L and action A:

    L' = relu(L + A)                       U = relu(-(L + A)), what was popped from an empty stack
    bottom = min(bottom, L')               top = min(top, L')
    new interval = [min(L, L'), L']        reading = sum_t |[bottom_t, top_t] n [L' - 1, L']| value_t

which equals the paper's arrays of lengths: a push lays an interval on top, a pop cuts all of them at L'. Intervals are
in order of height, so what is within depth 1 of the top are the last ones that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import Tensor

from ..base import Cell, Memory

_FIRST_WINDOW, _FIRST_CAPACITY = 4, 64  # intervals looked at together, and room for intervals; both double


@dataclass(frozen=True)
class IntervalStack(Memory):
    """A batch of stacks whose values lie on intervals of heights, the bottom first; immutable.

    Attributes:
        bottoms, tops: the heights between which slot t lies, (..., B, T), at least 0; equal where nothing is left.
        values: what slot t holds, (..., B, T, D).
        length: total length, (..., B), at least 0.
    """

    bottoms: Tensor
    tops: Tensor
    values: Tensor
    length: Tensor

    @property
    def lengths(self) -> Tensor:
        """Return how much of every slot is left, (..., B, T), at least 0."""
        return self.tops - self.bottoms

    def reading(self) -> Tensor:
        """Return the sum of the values in the top 1, weighted by their lengths there, (..., B, 1, D).

        Where the stack holds less than 1 the weights sum to that, without normalisation (Sun et al. 1993, eq. 13; Hao
        et al. 2018, section 2.1, r_t; Grefenstette et al. 2015, eq. 3).
        """
        floor = torch.relu(self.length - 1).unsqueeze(-1)
        visible = torch.relu(self.tops - torch.maximum(self.bottoms, floor))
        return (visible.unsqueeze(-1) * self.values).sum(-2).unsqueeze(-2)

    def select(self, index: Tensor) -> Self:
        place = (*[slice(None)] * (self.length.dim() - 1), index)
        return replace(self, **{one.name: getattr(self, one.name)[place] for one in fields(self)})

    def joined(self, others: Sequence[Self]) -> Self:
        parts = (self, *others)
        return replace(
            self, **{one.name: cat_slots([getattr(part, one.name) for part in parts]) for one in fields(self)}
        )

    def cell(self, number: int, place: Tensor) -> Cell:
        """Return the pieces of the cell at ``place`` (B,) below the top."""
        del number  # there is one stack
        low, high = self._span(place)
        low_end, high_end = (torch.minimum(torch.maximum(ends, low), high) for ends in (self.bottoms, self.tops))
        return Cell(high_end - low_end, self.values)

    def with_cell(self, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Self:
        del number
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
        del numbers
        return self.joined([other]).select(torch.arange(len(rows)) + len(rows) * rows)

    def lowered(self, rows: Tensor, number: int, count: Tensor) -> Self:
        del number
        length = torch.where(rows, torch.relu(self.length - count), self.length)
        ends = {name: torch.minimum(getattr(self, name), length.unsqueeze(-1)) for name in ("bottoms", "tops")}
        return replace(self, **ends, length=length)

    def _span(self, place: Tensor) -> tuple[Tensor, Tensor]:
        """Return between which heights the cell at ``place`` lies, (B, 1) each."""
        high = torch.relu(self.length - place).unsqueeze(-1)
        return torch.relu(high - 1), high


def cat_slots(parts: Sequence[Tensor], filling: float = 0.0) -> Tensor:
    """Return tensors (B, T, …), or (B,), one batch after the other, the shorter ones filled up."""
    if parts[0].dim() == 1:
        return torch.cat(list(parts))
    size = max(part.shape[1] for part in parts)
    missing = [part.new_full((len(part), size - part.shape[1], *part.shape[2:]), filling) for part in parts]
    return torch.cat([torch.cat(pair, 1) for pair in zip(parts, missing, strict=True)])


@dataclass(frozen=True)
class ContinuousStack(IntervalStack):
    """A batch of stacks of values with continuous lengths; one slot for every symbol read so far.

    Attributes:
        underflow: the largest amount that one step popped from an empty stack so far, (..., B), at least 0.
    """

    underflow: Tensor

    @classmethod
    def empty(cls, leading: tuple[int, ...], size: int, like: Tensor) -> ContinuousStack:
        """Return empty stacks for values of ``size`` numbers; ``leading`` ends with the batch, ``like`` gives dtype."""
        none, zero = like.new_zeros(*leading, 0), like.new_zeros(leading)
        return cls(none, none, like.new_zeros(*leading, 0, size), zero, zero)

    @classmethod
    def of_cells(cls, cells: Tensor) -> ContinuousStack:
        """Return stacks of ``cells`` (M, 1, K, D) as segments of length 1, the top first; none where it is NaN."""
        stack = cls.empty((len(cells),), cells.shape[-1], cells)
        for cell in cells.flip(-2).unbind(-2):  # (M, 1, D), the bottom first
            stack = stack.next((~cell[..., :1].isnan()).to(cells.dtype), cell.nan_to_num())
        return stack

    def next(self, actions: Tensor, pushed: Tensor) -> ContinuousStack:
        """Return the stacks after ``actions`` (..., B, 1, 1) in [-1, 1]: push so much if positive, else pop it.

        ``pushed`` (..., B, 1, D) is what a push lays down (eq. 14; pops of an empty stack are counted, not made).
        """
        raw = self.length + actions[..., 0, 0]
        length = torch.relu(raw)
        bottom = torch.minimum(self.length, length).unsqueeze(-1)
        top = length.unsqueeze(-1)
        pushed = pushed.expand(*length.shape, *pushed.shape[-2:])
        return ContinuousStack(
            torch.cat([torch.minimum(self.bottoms, top), bottom], -1),
            torch.cat([torch.minimum(self.tops, top), top], -1),
            torch.cat([self.values, pushed], -2),
            length,
            torch.maximum(self.underflow, torch.relu(-raw)),
        )

    def overwritable(self) -> ContinuousStackArray:
        """Return the same stacks, to be overwritten by every step; the stacks must be empty, as before a word."""
        room = (*self.length.shape, _FIRST_CAPACITY)
        none = self.length.new_zeros(room)
        values = self.values.new_zeros(*room, self.values.shape[-1])
        count = torch.zeros_like(self.length, dtype=torch.int64)
        return ContinuousStackArray(none, none.clone(), values, count, self.length, self.underflow)


@dataclass
class ContinuousStackArray:
    """The stacks of `ContinuousStack` as arrays of the intervals that are left, for runs that keep no earlier state.

    A step looks at the intervals that it can cut or read, not at all that were ever pushed: its cost does not grow with
    the height of the stack. ``next`` overwrites the arrays, so the stacks before it are gone; gradients do not flow.

    Attributes:
        bottoms, tops: the heights between which each interval lies, the lowest first, (..., B, C); what stands behind
            the first ``count`` means nothing.
        values: what they hold, (..., B, C, D).
        count: how many there are, (..., B) int64.
        length, underflow: as in `ContinuousStack`.
        most: no stack has more intervals.
        window: how many are looked at together.
    """

    bottoms: Tensor
    tops: Tensor
    values: Tensor
    count: Tensor
    length: Tensor
    underflow: Tensor
    most: int = 0
    window: int = _FIRST_WINDOW

    def reading(self) -> Tensor:
        """Return the value-weighted lengths within depth 1 of the top, (..., B, 1, D) (eq. 13)."""
        floor = torch.relu(self.length - 1).unsqueeze(-1)
        while True:
            places, there = self._topmost()
            bottoms = self.bottoms.gather(-1, places)
            below = there[..., -1] & (places[..., -1] > 0) & (bottoms[..., -1] > floor[..., 0])
            if not bool(below.any()):
                break
            self.window *= 2
        visible = torch.relu(self.tops.gather(-1, places) - torch.maximum(bottoms, floor)) * there
        values = self.values.gather(-2, places.unsqueeze(-1).expand(*places.shape, self.values.shape[-1]))
        return (visible.unsqueeze(-1) * values).sum(-2).unsqueeze(-2)

    def next(self, actions: Tensor, pushed: Tensor) -> ContinuousStackArray:
        """Return the stacks after ``actions`` (..., B, 1, 1) and ``pushed`` (..., B, 1, D), in the same arrays."""
        raw = self.length + actions[..., 0, 0]
        length = torch.relu(raw)
        self._cut(length)
        self._make_room()
        place = self.count.unsqueeze(-1)  # where nothing is pushed, what is written there means nothing
        self.bottoms.scatter_(-1, place, self.length.unsqueeze(-1))
        self.tops.scatter_(-1, place, length.unsqueeze(-1))
        values = pushed.expand(*length.shape, *pushed.shape[-2:])
        self.values.scatter_(-2, place.unsqueeze(-1).expand(values.shape), values)
        self.count = self.count + (length > self.length)
        self.length, self.underflow = length, torch.maximum(self.underflow, torch.relu(-raw))
        self.most += 1
        return self

    def select(self, index: Tensor) -> ContinuousStackArray:
        """Return copies of the stacks of the batch entries ``index`` (M,), which may repeat."""
        return ContinuousStackArray(
            self.bottoms[..., index, :],
            self.tops[..., index, :],
            self.values[..., index, :, :],
            self.count[..., index],
            self.length[..., index],
            self.underflow[..., index],
            self.most,
            self.window,
        )

    def _topmost(self) -> tuple[Tensor, Tensor]:
        """Return the places of the topmost intervals, the top first, and which of them there are, (..., B, W) each."""
        places = self.count.unsqueeze(-1) - 1 - torch.arange(self.window, device=self.count.device)
        return places.clamp(min=0), places >= 0

    def _cut(self, length: Tensor) -> None:
        """Drop what lies above ``length`` (..., B)."""
        while True:
            places, there = self._topmost()
            above = (self.bottoms.gather(-1, places) >= length.unsqueeze(-1)) & there
            self.count = self.count - above.sum(-1)
            if not bool(above[..., -1].any()):
                break
        place = (self.count - 1).clamp(min=0).unsqueeze(-1)
        self.tops.scatter_(-1, place, torch.minimum(self.tops.gather(-1, place), length.unsqueeze(-1)))

    def _make_room(self) -> None:
        """Double the arrays where a stack may have filled them."""
        if self.most < self.bottoms.shape[-1]:
            return
        self.most = int(self.count.max()) if self.count.numel() else 0
        if self.most == self.bottoms.shape[-1]:
            self.bottoms = torch.cat([self.bottoms, torch.zeros_like(self.bottoms)], -1)
            self.tops = torch.cat([self.tops, torch.zeros_like(self.tops)], -1)
            self.values = torch.cat([self.values, torch.zeros_like(self.values)], -2)


# ---- The strength stack of Grefenstette et al. 2015, run as in Hao et al. 2018 (section 2.1), vectorised,
# differentiable.
#
# The value pushed at step t is the interval [bottom_t, top_t] of heights, and its strength s_t is how long that is.
# With total strength L, pop strength u and push strength d:
#
#     L' = relu(L - u)                       what is left after the pop; popping an empty stack does nothing
#     bottom = min(bottom, L')               top = min(top, L')
#     new interval = [L', L' + d]            reading = sum_t |[bottom_t, top_t] n [L' + d - 1, L' + d]| value_t
#
# which equals the papers' cascades: the left-over pop u_t[i] is what a pop cuts below the slots above slot i, and the
# left-over reading rho_t[i] is what they leave of the top 1.

_SWEEP = 32  # slots without strength are looked for when the number of slots is a multiple of this


@dataclass(frozen=True)
class StrengthStack(IntervalStack):
    """A batch of stacks of values with strengths, the bottom first.

    There is one slot for every step so far. Without gradients, slots that have no strength left in the whole batch are
    dropped now and then, which no reading can tell: a long rounded run then costs what its stacks hold.

    >>> empty = StrengthStack.empty((1,), 2, torch.zeros(()))
    >>> one = empty.next(torch.tensor([[[0.0, 0.75]]]), torch.tensor([[[1.0, 0.0]]]))
    >>> two = one.next(torch.tensor([[[0.25, 0.75]]]), torch.tensor([[[0.0, 1.0]]]))
    >>> two.lengths, two.reading()
    (tensor([[0.5000, 0.7500]]), tensor([[[0.2500, 0.7500]]]))
    """

    @classmethod
    def empty(cls, leading: tuple[int, ...], size: int, like: Tensor) -> StrengthStack:
        """Return empty stacks for values of ``size`` numbers; ``leading`` ends with the batch, ``like`` gives dtype."""
        none = like.new_zeros(*leading, 0)
        return cls(none, none, like.new_zeros(*leading, 0, size), like.new_zeros(leading))

    @classmethod
    def of_cells(cls, cells: Tensor) -> StrengthStack:
        """Return stacks that hold ``cells`` (M, 1, K, D) with strength 1 each, the top first; none where it is NaN."""
        stack = cls.empty((len(cells),), cells.shape[-1], cells)
        for cell in cells.flip(-2).unbind(-2):  # (M, 1, D), the bottom first
            push = (~cell[..., :1].isnan()).to(cells.dtype)
            stack = stack.next(torch.cat([torch.zeros_like(push), push], -1), cell.nan_to_num())
        return stack

    def next(self, actions: Tensor, pushed: Tensor) -> StrengthStack:
        """Return the stacks after ``actions`` (..., B, 1, 2) = (pop u, push d), each in [0, 1].

        Strength u leaves from the top down, as far as there is any; then ``pushed`` (..., B, 1, D) is laid on top with
        strength d (Hao et al. 2018, section 2.1, u_t and s_t; Grefenstette et al. 2015, eqs. 1 and 2).
        """
        left = torch.relu(self.length - actions[..., 0, 0])
        length = left + actions[..., 0, 1]
        bottom = left.unsqueeze(-1)
        pushed = pushed.expand(*length.shape, *pushed.shape[-2:])
        after = StrengthStack(
            torch.cat([torch.minimum(self.bottoms, bottom), bottom], -1),
            torch.cat([torch.minimum(self.tops, bottom), length.unsqueeze(-1)], -1),
            torch.cat([self.values, pushed], -2),
            length,
        )
        if after.tops.shape[-1] % _SWEEP or torch.is_grad_enabled():
            return after
        # slots that have no strength in any of the stacks are dropped
        held = (after.tops > after.bottoms).flatten(0, -2).any(0)
        return StrengthStack(after.bottoms[..., held], after.tops[..., held], after.values[..., held, :], length)
