"""What lies in a memory: the cells of those that have cells, and the pieces of those whose contents have lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
import torch

from stacklens.models.networks.joulin import ListMemory
from stacklens.models.stacks.ring import RingMemory
from stacklens.models.stacks.superposition import SuperpositionStack

__all__ = ["Piece", "memory_size", "pieces", "topmost_cells"]


@singledispatch
def topmost_cells(memory: object, count: int) -> torch.Tensor | None:
    """Return the ``count`` cells that the controller is nearest to, (..., B, n_stacks, count, D); None without cells.

    The first is the top of a stack, the cell under the head of a list, which the others lie to the left of, or the cell
    of a ring that is seen.
    """
    del memory, count
    return None


@topmost_cells.register
def _of_stacks(memory: SuperpositionStack, count: int) -> torch.Tensor:
    return memory.cells(count)


@topmost_cells.register
def _of_rings(memory: RingMemory, count: int) -> torch.Tensor:
    return memory.cells[..., :count, :]


@topmost_cells.register
def _of_lists(memory: ListMemory, count: int) -> torch.Tensor:
    return replace(memory, depth=count).reading().unsqueeze(-1)


def memory_size(memory: object, steps: int) -> int:
    """Return how many cells hold all that ``steps`` steps may have left: that many, or fewer where there are fewer.

    A ring is always taken whole, since what it rotates left comes in at its end.
    """
    if isinstance(memory, RingMemory):
        return memory.cells.shape[-2]
    limit: int | None = getattr(memory, "limit", None)
    return steps if limit is None else min(limit, steps)


@dataclass(frozen=True)
class Piece:
    """A part of what one step laid down, as long as it keeps its length.

    Attributes:
        pushed: the step that laid it down.
        first, last: it lies there after each of the steps from the first to the last.
        bottom, top: the heights between which it lies, 0 at the bottom of the stack.
    """

    pushed: int
    first: int
    last: int
    bottom: float
    top: float

    @property
    def length(self) -> float:
        """Return how much of it there is."""
        return self.top - self.bottom


def pieces(pops: np.ndarray, pushes: np.ndarray) -> list[Piece]:
    """Return what a stack of lengths holds over T steps that pop ``pops`` (T,) and then push ``pushes`` (T,).

    A pop cuts from the top down, as far as there is anything (Sun et al. 1993, eq. 14; Hao et al. 2018, section 2.1).
    There are at most two pieces for every step, however high the stack is.

    >>> [(piece.pushed, piece.first, piece.last, piece.length) for piece in pieces([0, 0, 0.75], [1, 0.5, 0])]
    [(1, 1, 1, 0.5), (0, 0, 1, 1.0), (0, 2, 2, 0.75)]
    """
    there: list[Piece] = []  # the bottom first; `last` is not known yet
    ended: list[Piece] = []
    for step, (pop, push) in enumerate(zip(pops, pushes, strict=True)):
        height = max(0.0, (there[-1].top if there else 0.0) - float(pop))
        while there and there[-1].top > height:
            above = there.pop()
            ended.append(replace(above, last=step - 1))
            if above.bottom < height:
                there.append(Piece(above.pushed, step, step, above.bottom, height))
        if push > 0:
            there.append(Piece(step, step, step, height, height + float(push)))
    return [*ended, *(replace(piece, last=len(pops) - 1) for piece in there)]
