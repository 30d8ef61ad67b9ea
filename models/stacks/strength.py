"""The strength stack of Grefenstette et al. 2015, run as in Hao et al. 2018 (section 2.1), vectorised, differentiable.

The value pushed at step t is the interval [bottom_t, top_t] of heights, and its strength s_t is how long that is. With
total strength L, pop strength u and push strength d:

    L' = relu(L - u)                       what is left after the pop; popping an empty stack does nothing
    bottom = min(bottom, L')               top = min(top, L')
    new interval = [L', L' + d]            reading = sum_t |[bottom_t, top_t] n [L' + d - 1, L' + d]| value_t

which equals the papers' cascades: the left-over pop u_t[i] is what a pop cuts below the slots above slot i, and the
left-over reading rho_t[i] is what they leave of the top 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["StrengthStack"]

_SWEEP = 32  # slots without strength are looked for when the number of slots is a multiple of this


@dataclass(frozen=True)
class StrengthStack:
    """A batch of stacks of values with strengths, the bottom first.

    There is one slot for every step so far. Without gradients, slots that have no strength left in the whole batch are
    dropped now and then, which no reading can tell: a long rounded run then costs what its stacks hold.

    Attributes:
        bottoms, tops: the heights between which slot t lies, (..., B, T), at least 0; equal where nothing is left.
        values: what slot t holds, (..., B, T, D).
        length: total strength, (..., B), at least 0.

    >>> empty = StrengthStack.empty((1,), 2, torch.zeros(()))
    >>> one = empty.next(torch.tensor([[[0.0, 0.75]]]), torch.tensor([[[1.0, 0.0]]]))
    >>> two = one.next(torch.tensor([[[0.25, 0.75]]]), torch.tensor([[[0.0, 1.0]]]))
    >>> two.strengths, two.reading()
    (tensor([[0.5000, 0.7500]]), tensor([[[0.2500, 0.7500]]]))
    """

    bottoms: Tensor
    tops: Tensor
    values: Tensor
    length: Tensor

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

    @property
    def strengths(self) -> Tensor:
        """Return how much of every slot is left, s_t, (..., B, T), at least 0."""
        return self.tops - self.bottoms

    def reading(self) -> Tensor:
        """Return the strength-weighted sum of the values in the top 1, (..., B, 1, D).

        Where the stack holds less than 1 the weights sum to that, without normalisation (Hao et al. 2018, section 2.1,
        r_t; Grefenstette et al. 2015, eq. 3).
        """
        floor = torch.relu(self.length - 1).unsqueeze(-1)
        visible = torch.relu(self.tops - torch.maximum(self.bottoms, floor))
        return (visible.unsqueeze(-1) * self.values).sum(-2).unsqueeze(-2)

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
        sweep = after.tops.shape[-1] % _SWEEP == 0 and not torch.is_grad_enabled()
        return after._swept() if sweep else after

    def select(self, index: Tensor) -> StrengthStack:
        """Return the stacks of the batch entries ``index`` (M,), which may repeat."""
        return StrengthStack(
            self.bottoms[..., index, :],
            self.tops[..., index, :],
            self.values[..., index, :, :],
            self.length[..., index],
        )

    def _swept(self) -> StrengthStack:
        """Return the same stacks without the slots that have no strength in any of them."""
        held = (self.tops > self.bottoms).flatten(0, -2).any(0)
        return StrengthStack(self.bottoms[..., held], self.tops[..., held], self.values[..., held, :], self.length)
