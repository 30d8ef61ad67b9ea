"""The continuous stack of Sun et al. 1993 (section 3.2), vectorised and differentiable.

The symbol pushed at step t is the interval [bottom_t, top_t] of heights. With total length L and action A:

    L' = relu(L + A)                       U = relu(-(L + A)), what was popped from an empty stack
    bottom = min(bottom, L')               top = min(top, L')
    new interval = [min(L, L'), L']        reading = sum_t |[bottom_t, top_t] n [L' - 1, L']| value_t

which equals the paper's arrays of lengths: a push lays an interval on top, a pop cuts all of them at L'. Intervals are
in order of height, so what is within depth 1 of the top are the last ones that are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["ContinuousStack", "ContinuousStackArray"]

_FIRST_WINDOW, _FIRST_CAPACITY = 4, 64  # intervals looked at together, and room for intervals; both double


@dataclass(frozen=True)
class ContinuousStack:
    """A batch of stacks of values with continuous lengths; one slot for every symbol read so far.

    Attributes:
        bottoms, tops: the heights between which slot t lies, (..., B, T); equal where nothing of it is left.
        values: what slot t holds, (..., B, T, D).
        length: total length, (..., B), at least 0.
        underflow: the largest amount that one step popped from an empty stack so far, (..., B), at least 0.
    """

    bottoms: Tensor
    tops: Tensor
    values: Tensor
    length: Tensor
    underflow: Tensor

    @classmethod
    def empty(cls, leading: tuple[int, ...], size: int, like: Tensor) -> ContinuousStack:
        """Return empty stacks for values of ``size`` numbers; ``leading`` ends with the batch, ``like`` gives dtype."""
        none, zero = like.new_zeros(*leading, 0), like.new_zeros(leading)
        return cls(none, none, like.new_zeros(*leading, 0, size), zero, zero)

    @property
    def lengths(self) -> Tensor:
        """Return how much of every slot is left, (..., B, T)."""
        return self.tops - self.bottoms

    def reading(self) -> Tensor:
        """Return the value-weighted lengths within depth 1 of the top, (..., B, 1, D) (eq. 13)."""
        floor = torch.relu(self.length - 1).unsqueeze(-1)
        visible = torch.relu(self.tops - torch.maximum(self.bottoms, floor))
        return (visible.unsqueeze(-1) * self.values).sum(-2).unsqueeze(-2)

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

    def select(self, index: Tensor) -> ContinuousStack:
        """Return the stacks of the batch entries ``index`` (M,), which may repeat."""
        return ContinuousStack(
            self.bottoms[..., index, :],
            self.tops[..., index, :],
            self.values[..., index, :, :],
            self.length[..., index],
            self.underflow[..., index],
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
