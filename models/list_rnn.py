"""The List RNN of Joulin & Mikolov 2015 (section 4.2, "Doubly-linked lists"): the Stack RNN's controller on lists.

A list L has a head at the fixed place HEAD, which is where it is written; moving the head moves the list:

    i = HEAD   L'[i] = RIGHT L[i+1] + LEFT L[i-1] + INSERT sigmoid(D h')
    i < HEAD   L'[i] = RIGHT L[i+1] + LEFT L[i-1] + INSERT L[i+1]
    i > HEAD   L'[i] = RIGHT L[i+1] + LEFT L[i-1] + INSERT L[i]          (+ NO-OP L[i] everywhere, if there is one)

So an insertion moves what was at the head one to the left, and nothing is ever deleted. The paper leaves open, and the
authors never released their program, what is read here as it is for the stack:

- the hidden layer sees the head and the depth - 1 cells to its left, where insertions move what was there: a list with
  INSERT for PUSH and LEFT for POP then shows what a stack shows;
- cells that nothing has reached are -1, and so is what moves in from beyond the ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.stack_rnn import EMPTY, MemoryRNN, StackRNNConfig

__all__ = ["ListMemory", "ListRNN", "ListRNNConfig"]


@dataclass(frozen=True)
class ListRNNConfig(StackRNNConfig):
    """The shape of a List RNN: as `StackRNNConfig`, whose words are to be read so.

    ``n_stacks`` is the number of lists (the paper has 5), ``depth`` how many cells the hidden layer sees, from the head
    leftwards, and ``stack_limit`` how many cells there are from the head leftwards, and as many to its right.
    """


@dataclass(frozen=True)
class ListMemory:
    """A batch of lists whose cells are mixtures; immutable. Only cells that something may have reached are stored.

    Attributes:
        left: the head and the cells to its left, (..., B, n_lists, C, 1), the head first.
        right: the cells to the right of the head, (..., B, n_lists, C', 1), the nearest first.
        depth: how many cells `reading` shows.
        limit: how many cells there are on each side; what moves further is lost. None for no limit.

    >>> fresh = ListMemory.empty((1,), 1, torch.zeros(()), depth=2)
    >>> insert, left = torch.eye(3)[:2].reshape(2, 1, 1, 3)
    >>> one = fresh.next(insert, torch.tensor([[[0.5]]])).next(insert, torch.tensor([[[0.75]]]))
    >>> one.reading(), one.next(left, torch.zeros(1, 1, 1)).reading()
    (tensor([[[0.7500, 0.5000]]]), tensor([[[ 0.5000, -1.0000]]]))
    """

    left: Tensor
    right: Tensor
    depth: int = 1
    limit: int | None = None

    @classmethod
    def empty(
        cls, leading: tuple[int, ...], n_lists: int, like: Tensor, *, depth: int = 1, limit: int | None = None
    ) -> ListMemory:
        """Return empty lists; ``leading`` ends with the batch, ``like`` gives dtype and device."""
        nothing = like.new_zeros(*leading, n_lists, 0, 1)
        return cls(nothing, nothing, depth, limit)

    def reading(self) -> Tensor:
        """Return the head and the cells to its left, (..., B, n_lists, depth), the head first."""
        return _filled(self.left, self.depth).flatten(-2)

    def next(self, actions: Tensor, pushed: Tensor) -> ListMemory:
        """Return the lists after ``actions`` with ``pushed`` (..., B, n_lists, 1).

        ``actions`` (..., B, n_lists, 3 or 4) are the shares of insert, left, right and, if there is a fourth, no-op;
        each list's sum to 1.

        Raises:
            StacklensError: there are not 3 or 4 shares.
        """
        if actions.shape[-1] not in (3, 4):
            raise StacklensError(f"a list has insert, left, right and no-op: not {actions.shape[-1]} operations")
        insert, left, right, *none = actions[..., None, None].unbind(-3)
        sizes = [self._grown(side) for side in (self.left, self.right)]
        new = pushed.unsqueeze(-2).expand(*self.left.shape[:-2], 1, 1)
        before, after = _filled(self.left, sizes[0] + 1), _filled(self.right, sizes[1] + 1)
        inserted = torch.cat([new, before], -2)[..., : sizes[0], :]
        moved_right = torch.cat([after[..., :1, :], before], -2)[..., : sizes[0], :]
        moved_left = torch.cat([before[..., :1, :], after], -2)[..., : sizes[1], :]
        stay_before, stay_after = before[..., : sizes[0], :], after[..., : sizes[1], :]
        still = none[0] if none else torch.zeros_like(insert)
        return ListMemory(
            insert * inserted + left * before[..., 1:, :] + right * moved_right + still * stay_before,
            insert * stay_after + left * moved_left + right * after[..., 1:, :] + still * stay_after,
            self.depth,
            self.limit,
        )

    def select(self, index: Tensor) -> ListMemory:
        """Return the lists of the batch entries ``index`` (M,), which may repeat."""
        return ListMemory(self.left[..., index, :, :, :], self.right[..., index, :, :, :], self.depth, self.limit)

    def _grown(self, side: Tensor) -> int:
        size = side.shape[-2] + 1
        return size if self.limit is None else min(size, self.limit)


class ListRNN(MemoryRNN[ListMemory]):
    """A List RNN, or ``nets`` of them on a leading axis, net n with the weights of ``seed + n``.

    >>> net = ListRNN(ListRNNConfig(("a", "b"), n_stacks=5), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> net.operations, step.actions.shape, step.reading.shape
    (('insert', 'left', 'right'), torch.Size([1, 5, 3]), torch.Size([1, 5, 2]))
    """

    name: ClassVar[str] = "list-rnn"
    OPERATIONS: ClassVar[tuple[str, ...]] = ("insert", "left", "right")

    def initial_memory(self, leading: tuple[int, ...]) -> ListMemory:
        """Return empty lists; ``leading`` ends with the batch."""
        like, limit = self.output_weights, self.stack_limit
        return ListMemory.empty(leading, self.n_stacks, like, depth=self.depth, limit=limit)

    def stack_of(self, cells: Tensor) -> ListMemory:
        """Raise StacklensError: no window of cells says what lies to the other side of the head."""
        del cells
        raise StacklensError(f"{self.name} works on lists, which are no stacks: it has no pushdown automaton")


def _filled(cells: Tensor, count: int) -> Tensor:
    """Return the first ``count`` of ``cells`` (..., C, 1), empty ones included."""
    missing = max(0, count - cells.shape[-2])
    return torch.cat([cells[..., :count, :], cells.new_full((*cells.shape[:-2], missing, 1), EMPTY)], -2)
