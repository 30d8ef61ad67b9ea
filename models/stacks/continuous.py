"""The continuous stack of Sun et al. 1993 (section 3.2), vectorised and differentiable.

The symbol pushed at step t is the interval [bottom_t, top_t] of heights. With total length L and action A:

    L' = relu(L + A)                       U = relu(-(L + A)), what was popped from an empty stack
    bottom = min(bottom, L')               top = min(top, L')
    new interval = [min(L, L'), L']        reading = sum_t |[bottom_t, top_t] n [L' - 1, L']| value_t

which equals the paper's arrays of lengths: a push lays an interval on top, a pop cuts all of them at L'. Intervals are
in order of height, so what is within depth 1 of the top are the last ones that are left.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self

import torch
from torch import Tensor

from ..base import Cell, Memory

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
        """Return between which heights the cell at ``place`` lies, (B, 1) each."""
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
