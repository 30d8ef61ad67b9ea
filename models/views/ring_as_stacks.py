"""The ring of a Baby-NTM as stacks (Suzgun et al. 2019, section 3.3): as one, as one that is mirrored, and as two.

Let `first` be the cell that is seen, R the cells to the right of it, the nearest on top, L those that the ring's end
leads to, the last one on top, and v the new element. The rounded ring does

    rotate right   R.push(first)   first = L.pop + v        rotate left   L.push(first)   first = R.pop + v
    pop right      R.push(first)   L.pop, first = v         pop left      L.push(0)       first = R.pop + v
    no-op          first = first + v

where a pop of nothing gives 0. So it is two stacks and a cell that can be remembered, until the ends of R and L meet:
with N cells, as long as both together have N - 1 at most.

Networks use it as one stack, mostly: what pushes is rotate right or pop right, what pops is rotate left or pop left. If
L gives nothing then, two numbers are enough: `top`, the element that was pushed, and `pending`, what was added since,

    first = top + pending
    push: top = v, pending = 0         pop: pending = v         no-op: pending = pending + v

which forgets what a pop had added to a cell that is covered again. The stack holds elements then, and no sums, so that
there are few different ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from stacklens.models.base import ControllerOutput, NetworkState, StackModel
from stacklens.models.stacks.ring import RING_OPERATIONS
from stacklens.models.views.stack_view import NONE, POP, PUSH, StackView

__all__ = ["RingAsStack", "RingAsTwoStacks"]

# of `RING_OPERATIONS`: rotate right, rotate left, no-op, pop right, pop left
_ONE = PUSH, POP, NONE, PUSH, POP
_MIRRORED = POP, PUSH, NONE, POP, PUSH
_RIGHT = PUSH, POP, NONE, PUSH, POP
_LEFT = POP, PUSH, NONE, POP, PUSH
_ROTATE_RIGHT, _ROTATE_LEFT, _STAY, _, _POP_LEFT = range(len(RING_OPERATIONS))


class _RingView(StackView):
    """What both forms share: the ring's operations as those of stacks, by a table a stack.

    Args:
        model: a single network on a ring.
        tables: for each stack what it does at each of the ring's operations.
    """

    def __init__(self, model: StackModel[Any], tables: Sequence[Sequence[int]]) -> None:
        super().__init__(model, tables)
        cells = model.stack_limit or 1
        self.n_stacks, self.depth, self.stack_limit, self.ring_size = len(tables), 1, max(1, cells - 1), cells
        self.recurrent, self.memories = True, (0,) * len(tables)

    def operations_of(self, actions: Tensor) -> Tensor:
        """Return what the stacks do, (B, n_stacks), at the ring's ``actions`` (B, 1, 5)."""
        return self.tables[:, actions[:, 0].argmax(-1)].T

    def initial_state(self, batch: int) -> NetworkState[Any]:
        """Return the network's own state, a remembered cell of zeros, and empty stacks."""
        return self.empty_state(batch, torch.zeros(batch, self.cell_size))


class RingAsStack(_RingView):
    """A ring as one stack whose first cell is `top + pending`; hidden vectors are (h, pending), (B, H + D).

    It is the ring where nothing that was turned away comes back (see `unused`), the ring is not full, and what a pop
    adds to a cell no longer counts when it is covered.

    Args:
        model: a single network on a ring.
        mirrored: whether rotating left is what pushes.
    """

    def __init__(self, model: StackModel[Any], *, mirrored: bool = False) -> None:
        super().__init__(model, [_MIRRORED if mirrored else _ONE])
        self.mirrored = mirrored
        self.title = "its ring as one stack" + (", mirrored" if mirrored else "")
        self.stack_names = ("the first cell and those to its " + ("left" if mirrored else "right"),)
        self.assumes = (
            f"that the ring of {self.ring_size} cells does not come round, that nothing turned away is read again, and "
            "that what pops add to a cell is forgotten once it is covered"
        )

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the controller's answer to `top + pending`; ``reading`` (B, 1, D) is the top."""
        own, pending = hidden[:, : self.own], hidden[:, self.own :]
        answer = self.model.controller(symbols, own, (reading[:, 0] + pending).unsqueeze(1))
        done, new = self.operations_of(answer.actions), answer.pushed[:, 0]
        stays = pending * (done == NONE).to(pending.dtype)
        pending = torch.where(done == PUSH, torch.zeros_like(new), stays + new)
        after = torch.cat([answer.hidden, pending], -1)
        return ControllerOutput(after, self.whole_actions(done, new), answer.pushed, answer.output)

    def unused(self, taken: Sequence[str]) -> str | None:
        """Return why nothing that was turned away is read again if only the operations ``taken`` occur.

        Rotating left turns the first cell away and rotating right reads it again; popping left turns a 0 away, and
        popping right reads nothing. The mirrored form has no such pair.
        """
        if self.mirrored or {"rotate left", "rotate right"} <= set(taken):
            return None
        names = " or ".join(name for name in ("rotate right", "rotate left") if name not in taken)
        return f"it does not {names}, so nothing turned away is read again"


class RingAsTwoStacks(_RingView):
    """A ring as its first cell and two stacks, R and L; hidden vectors are (h, first), (B, H + D).

    It is the ring until the ends of both stacks meet.

    Args:
        model: a single network on a ring.
    """

    title = "its ring as two stacks"
    stack_names = ("the cells to the right of the first", "the cells to the left of the first")

    def __init__(self, model: StackModel[Any]) -> None:
        super().__init__(model, [_RIGHT, _LEFT])
        self.assumes = f"that the ends of the ring of {self.ring_size} cells do not meet"

    def cells_for(self, stacks: Sequence[int]) -> int:
        """Return up to which height of each of ``stacks`` the ends cannot meet."""
        return max(1, (self.ring_size - 1) // max(1, len(stacks)))

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the controller's answer to the first cell; ``reading`` (B, 2, D) are the tops of R and L."""
        own, first = hidden[:, : self.own], hidden[:, self.own :]
        answer = self.model.controller(symbols, own, first.unsqueeze(1))
        done = self.operations_of(answer.actions)
        kinds = answer.actions[:, 0].argmax(-1, keepdim=True)
        nothing = torch.zeros_like(first)
        left = torch.where(kinds == _ROTATE_RIGHT, reading[:, 1], nothing)
        right = torch.where((kinds == _ROTATE_LEFT) | (kinds == _POP_LEFT), reading[:, 0], nothing)
        stays = torch.where(kinds == _STAY, first, nothing)
        after = torch.cat([answer.hidden, left + right + stays + answer.pushed[:, 0]], -1)
        laid = torch.stack([first, torch.where(kinds == _POP_LEFT, nothing, first)], 1)
        return ControllerOutput(after, self.whole_actions(done, first), laid, answer.output)
