"""The lists of a List RNN as stacks (Joulin & Mikolov 2015, section 3): two a list, on either side of its head.

LEFT has the head on top and the cells to its left below it, RIGHT the cells to the right of the head, the nearest on
top. With v the new element, the rounded list does

    insert   LEFT.push(v)
    left     LEFT.pop, RIGHT.push(the head)
    right    RIGHT.pop, LEFT.push(what RIGHT had on top)
    no-op    nothing

where the top of an empty side is the empty value, -1. That is the list itself, at any length.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from stacklens.models.base import ControllerOutput, NetworkState, StackModel
from stacklens.models.networks.joulin import EMPTY_READING
from stacklens.models.views.stack_view import NONE, POP, PUSH, StackView

__all__ = ["LIST_OPERATIONS", "ListsAsStacks"]

LIST_OPERATIONS = ("insert", "left", "right", "none")  # the last one not in all networks
_LEFT, _RIGHT = (PUSH, POP, PUSH, NONE), (NONE, PUSH, POP, NONE)
_MOVE_RIGHT = 2


class ListsAsStacks(StackView):
    """Lists as two stacks each: those of all heads and what is left of them come first, (B, 2 n_lists, depth).

    Args:
        model: a single network on lists.
    """

    title = "each of its lists as two stacks"
    empty_value = EMPTY_READING

    def __init__(self, model: StackModel[Any]) -> None:
        super().__init__(model, (_LEFT, _RIGHT))
        self.lists, self.n_stacks = model.n_stacks, 2 * model.n_stacks
        self.memories = (*range(self.lists), *range(self.lists))
        self.stack_names = tuple(
            f"{side} of list {number + 1}"
            for side in ("the head and the left", "the right")
            for number in range(self.lists)
        )

    def operations_of(self, actions: Tensor) -> Tensor:
        """Return what the stacks do, (B, 2 n_lists), at the lists' ``actions`` (B, n_lists, 3 or 4)."""
        return self.tables[:, actions.argmax(-1)].movedim(0, 1).flatten(1)

    def initial_state(self, batch: int) -> NetworkState[Any]:
        """Return the network's own state and empty stacks."""
        return self.empty_state(batch, None)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the controller's answer to what is at the heads and to their left."""
        left, right = reading[:, : self.lists], reading[:, self.lists :]
        answer = self.model.controller(symbols, hidden, left)
        moves_right = (answer.actions.argmax(-1) == _MOVE_RIGHT).unsqueeze(-1)
        laid = torch.cat([torch.where(moves_right, right[..., :1], answer.pushed), left[..., :1]], 1)
        done = self.whole_actions(self.operations_of(answer.actions), left)
        return ControllerOutput(answer.hidden, done, laid, answer.output)
