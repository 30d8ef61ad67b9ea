"""The memory of a buffered network (Hao et al. 2018, section 2.3): a stack, and the queue that its input waits in.

To a queue from which strength P has left in all, item j lies on [e_{j-1}, e_j], e_j = s_1 + ... + s_j, and what is read
is what lies within 1 of P:

    x = sum_j |[e_{j-1}, e_j] n [P, P + 1]| item_j

which equals the paper's cascades iota_t, xi_t. No more than strength 1 leaves at a step, so the symbols that a step
sees have been read by then: the queue may be filled one symbol a step, and a network can be run without knowing how
its word goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from stacklens.models.stacks.strength import StrengthStack

__all__ = ["Buffers", "window"]


@dataclass(frozen=True)
class Buffers:
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


def window(ends: Tensor, position: Tensor) -> Tensor:
    """Return how much of every item lies within 1 of ``position`` (...) on, (..., T).

    Item j lies between ``ends`` j - 1 and j, (..., T), the first from 0.
    """
    starts = nn.functional.pad(ends, (1, 0))[..., :-1]
    position = position.unsqueeze(-1)
    return torch.relu(torch.minimum(ends, position + 1) - torch.maximum(starts, position))
