"""Stacks that only ever push: what is seen of them are the last values pushed, which are state and no stack.

A network may lay something on a stack at every step and never take it away again. Its controller sees the topmost cells
alone, so such a stack tells it what it wrote in the last few steps. As a stack it would make the automaton keep, and a
comparison match, symbols that are never read again; as hidden numbers it makes states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from stacklens.models.base import Controlled, S, StackModel, State

__all__ = ["PushOnlyAsState"]


class PushOnlyAsState(StackModel[S]):
    """A network some of whose stacks are taken for memories of the last values pushed.

    It does as the network does for as long as these stacks push, whatever their actions are: what is extracted from it
    is to be checked against the network itself.

    Args:
        model: a single network; its weights are shared, not copied.
        memories: the numbers of the stacks, fewer than all; the others are left.
    """

    name = "push-only stacks as state"
    recurrent = True
    _SHARED = (
        *("action_kind", "operations", "task_kind", "alphabet", "end", "first"),
        *("depth", "cell_size", "stack_limit", "pushes_input"),
    )

    def __init__(self, model: StackModel[S], memories: Sequence[int]) -> None:
        super().__init__()
        self.model, self.memories = model, list(memories)
        self.left = [stack for stack in range(model.n_stacks) if stack not in self.memories]
        for attribute in self._SHARED:
            setattr(self, attribute, getattr(model, attribute))
        self.n_stacks = len(self.left)
        if not self.left:
            self.action_kind = "none"
        # a controller that never looks at its own hidden vector has no need of it between steps
        self.own = model.initial_state(1).hidden.shape[-1] if model.recurrent else 0

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the wrapped network's output alphabet."""
        return self.model.output_alphabet

    def config(self) -> dict[str, Any]:
        """Return the configuration of the wrapped network."""
        return self.model.config()

    def initial_state(self, batch: int) -> State[S]:
        """Return the wrapped network's own state, readings of its memories after the hidden vector."""
        state = self.model.initial_state(batch)
        seen = state.stack.reading()[:, self.memories].flatten(1)
        nothing = seen.new_full((batch, self.n_stacks, self.depth, self.cell_size), torch.nan)
        hidden = torch.cat([state.hidden[:, : self.own], seen], -1)
        return State(hidden, self.model.stack_of(nothing), state.rejected, state.output)

    def stack_of(self, cells: Tensor) -> S:
        """Return the wrapped network's stacks, as many as are left."""
        return self.model.stack_of(cells)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Controlled:
        """Return the wrapped controller's answer, with the memories after their push behind its hidden vector."""
        size = self.depth * self.cell_size
        seen = hidden[:, self.own :].unflatten(-1, (len(self.memories), size))  # type: ignore[no-untyped-call]
        whole = reading.new_empty(len(hidden), self.model.n_stacks, size)
        whole[:, self.left], whole[:, self.memories] = reading, seen
        answer = self.model.controller(symbols, hidden[:, : self.own], whole)
        written = answer.pushed[:, self.memories]
        after = torch.cat([written, seen[..., : size - self.cell_size]], -1).flatten(1)
        left = self.left
        return Controlled(
            torch.cat([answer.hidden[:, : self.own], after], -1),
            answer.actions[:, left],
            answer.pushed[:, left],
            answer.output,
        )
