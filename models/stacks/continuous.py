"""The continuous stack of Sun et al. 1993 (section 3.2), vectorised and differentiable.

The symbol pushed at step t is the interval [bottom_t, top_t] of heights. With total length L and action A:

    L' = relu(L + A)                       U = relu(-(L + A)), what was popped from an empty stack
    bottom = min(bottom, L')               top = min(top, L')
    new interval = [min(L, L'), L']        reading = sum_t |[bottom_t, top_t] n [L' - 1, L']| value_t

which equals the paper's arrays of lengths: a push lays an interval on top, a pop cuts all of them at L'.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["ContinuousStack"]


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
