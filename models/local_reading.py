"""The stack's derivative as Sun et al. 1993 approximate it: the reading answers to the last action only.

What a stack shows depends on all actions that made it. Carrying derivatives forward, the paper keeps the last of them
(eq. 20; A-13): a little more of action A^t moves the window of depth 1 up, so that it sees so much more of the topmost
symbol r1 and so much less of the lowest that it sees, r2,

    dR_k^t / dW = (delta_k,r1 - delta_k,r2) dA^t / dW

With less than 1 on the stack the window ends in emptiness, which takes the place of r2. Values are exact all the same.

It is exact wherever the window holds no boundary that an earlier action has moved: where there is one symbol in it, or
two, the upper of which the last action alone has laid down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from stacklens.models.base import State
from stacklens.models.continuous_stack import ContinuousStack
from stacklens.models.nnpda import NNPDA

__all__ = ["LocalNNPDA", "LocalStack", "window_slopes"]


@dataclass(frozen=True)
class LocalStack(ContinuousStack):
    """A continuous stack whose reading has the derivative of eq. 20; its length has its own (eq. 18).

    Attributes:
        action: the last action, (..., B); 0 before the first.
    """

    action: Tensor

    @classmethod
    def around(cls, stack: ContinuousStack, action: Tensor) -> LocalStack:
        """Return ``stack`` after ``action`` (..., B)."""
        return cls(stack.bottoms, stack.tops, stack.values, stack.length, stack.underflow, action)

    def reading(self) -> Tensor:
        """Return the same values as the exact stack's, (..., B, 1, D)."""
        seen = super().reading().detach()
        if not torch.is_grad_enabled():
            return seen
        change = (self.action - self.action.detach()).unsqueeze(-1) * window_slopes(self)
        return seen + change.unsqueeze(-2)

    def next(self, actions: Tensor, pushed: Tensor) -> LocalStack:
        """Return the stacks after ``actions`` (..., B, 1, 1); see `ContinuousStack.next`."""
        return self.around(super().next(actions, pushed), actions[..., 0, 0])

    def select(self, index: Tensor) -> LocalStack:
        """Return the stacks of the batch entries ``index`` (M,), which may repeat."""
        return self.around(super().select(index), self.action[..., index])


class LocalNNPDA(NNPDA):
    """An NNPDA on such a stack: it runs as the network does, and back-propagation gives the paper's gradient."""

    def initial_state(self, batch: int) -> State[Any]:
        """Return state neurons (1, 0, ..., 0) and an empty stack."""
        state = super().initial_state(batch)
        return State(state.hidden, LocalStack.around(state.stack, state.stack.length), state.rejected)


@torch.no_grad()
def window_slopes(stack: ContinuousStack) -> Tensor:
    """Return delta_r1 - delta_r2 of the top and the bottom symbol of each reading, (..., B, D), by eq. 20.

    Where less than 1 is on the stack there is no r2, and nothing at all where it is empty.
    """
    slots = stack.tops.shape[-1]
    if not slots:
        return torch.zeros(*stack.length.shape, stack.values.shape[-1], dtype=stack.values.dtype)
    floor = torch.relu(stack.length - 1).unsqueeze(-1)
    visible = stack.tops > torch.maximum(stack.bottoms, floor)
    place = torch.arange(slots, device=visible.device)
    top = torch.where(visible, place, -1).amax(-1)
    bottom = torch.where(visible, place, slots).amin(-1)
    some, full = (top >= 0).unsqueeze(-1), (stack.length >= 1).unsqueeze(-1)
    return _values_at(stack, top.clamp(min=0)) * some - _values_at(stack, bottom.clamp(max=slots - 1)) * (some & full)


def _values_at(stack: ContinuousStack, slot: Tensor) -> Tensor:
    index = slot[..., None, None].expand(*slot.shape, 1, stack.values.shape[-1])
    return stack.values.gather(-2, index).squeeze(-2)
