"""What every view is: a rounded network whose memory is no stack, as a network that pushes, pops or does nothing.

A view takes whole operations only, those that the rounded network would take, so it is a network for extraction and not
one to train: what is found on it is to be checked against the rounded network itself.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from stacklens.models.base import ActionKind, NetworkState, StackModel
from stacklens.models.rounding import Wrapper, named_operations
from stacklens.models.stacks.superposition import SuperpositionStack

__all__ = ["NONE", "POP", "PUSH", "StackView"]

PUSH, POP, NONE = range(3)  # the places of a view's operations


class StackView(Wrapper[Any]):
    """A network on stacks that does as ``model``, rounded, does for as long as what it assumes holds.

    Hidden vectors begin with the network's own, which is followed by what the view has to remember beside its stacks.

    Args:
        model: a single network; its weights are shared, not copied.
        tables: for each of a memory's stacks the place in `operations` of what it does, by the memory's operation.

    Attributes:
        title: what the view is called in a sentence.
        assumes: what it takes for granted of the network's memory; None where it is exact.
        stack_names: what each of its stacks is in the network's memory.
        memories: the number of the network's memory that each of its stacks is part of.
        empty_value: what a cell holds that nothing was laid in.
    """

    name: ClassVar[str] = "stack view"
    title: str
    assumes: str | None = None
    stack_names: tuple[str, ...]
    memories: tuple[int, ...]
    empty_value: float = 0.0

    def __init__(self, model: StackModel[Any], tables: Sequence[Sequence[int]]) -> None:
        super().__init__(model)
        start = model.initial_state(1).hidden
        self.own = start.shape[-1]
        self.register_buffer("tables", torch.tensor(tables, device=start.device), persistent=False)
        self.tables: Tensor
        kind: ActionKind = "softmax"
        self.action_kind, self.operations = kind, ("push", "pop", "none")

    @abstractmethod
    def operations_of(self, actions: Tensor) -> Tensor:
        """Return what the stacks do, (B, n_stacks), as places in `operations`, at the network's ``actions``.

        These are (B, memories, A), soft or rounded: the largest share counts.
        """

    def operation_numbers(self, actions: Tensor) -> np.ndarray:
        """Return what the stacks do, (B, n_stacks), as numbers of `Operation`, at the network's ``actions``."""
        numbers: np.ndarray = np.array(named_operations(self.operations))[self.operations_of(actions).cpu().numpy()]
        return numbers

    def cells_for(self, stacks: Sequence[int]) -> int | None:
        """Return up to which height of each the view is the network where it has these ``stacks``; None for any."""
        del stacks
        return self.stack_limit

    def unused(self, taken: Sequence[str]) -> str | None:
        """Return why what is assumed holds if the network only takes the operations ``taken``; None if it need not."""
        del taken
        return None

    def whole_actions(self, operations: Tensor, like: Tensor) -> Tensor:
        """Return ``operations`` (B, n_stacks) as shares of 0 and 1, (B, n_stacks, 3)."""
        return torch.nn.functional.one_hot(operations, len(self.operations)).to(like.dtype)

    def empty_state(self, batch: int, remembered: Tensor | None) -> NetworkState[Any]:
        """Return the network's own initial state, with what is ``remembered`` (B, M) and empty stacks."""
        state = self.model.initial_state(batch)
        hidden = state.hidden if remembered is None else torch.cat([state.hidden, remembered.to(state.hidden)], -1)
        stack = SuperpositionStack.empty(
            (batch,),
            self.n_stacks,
            self.cell_size,
            hidden,
            empty_value=self.empty_value,
            depth=self.depth,
            limit=self.stack_limit,
        )
        return NetworkState(hidden, stack, state.rejected, state.output)

    def stack_of(self, cells: Tensor) -> SuperpositionStack:
        """Return stacks with ``cells`` (M, n_stacks, depth, D), the top first, NaN where there is none."""
        return SuperpositionStack.from_cells(
            cells, empty_value=self.empty_value, depth=self.depth, limit=self.stack_limit
        )
