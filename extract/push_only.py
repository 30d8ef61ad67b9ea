"""Stacks that only ever push: what is seen of them are the last values pushed, which are state and no stack.

A network may lay something on a stack at every step and never take it away again. Its controller sees the topmost cells
alone, so such a stack tells it what it wrote in the last few steps. As a stack it would make the automaton keep, and a
comparison match, symbols that are never read again; as hidden numbers it makes states.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from stacklens.models.base import Controlled, S, StackModel, State
from stacklens.models.wrapper import Wrapper

__all__ = ["PushOnlyAsState"]


class PushOnlyAsState(Wrapper[S]):
    """A network some of whose stacks are taken for memories of the last values pushed.

    It does as the network does for as long as these stacks push, whatever their actions are: what is extracted from it
    is to be checked against the network itself.

    Args:
        model: a single network; its weights are shared, not copied.
        memories: the numbers of these stacks; the others are left.
    """

    name = "push-only stacks as state"

    def __init__(self, model: StackModel[S], memories: Sequence[int]) -> None:
        super().__init__(model)
        self.memories = list(memories)
        self.left = [stack for stack in range(model.n_stacks) if stack not in self.memories]
        self.n_stacks, self.recurrent = len(self.left), True
        if not self.left:
            self.action_kind = "none"
        # a controller that never looks at its own hidden vector has no need of it between steps
        self.own = model.initial_state(1).hidden.shape[-1] if model.recurrent else 0

    def initial_state(self, batch: int) -> State[S]:
        """Return the wrapped network's own state, readings of its memories after the hidden vector."""
        state = self.model.initial_state(batch)
        seen = state.stack.reading()[:, self.memories].flatten(1)
        nothing = seen.new_full((batch, self.n_stacks, self.depth, self.cell_size), torch.nan)
        hidden = torch.cat([state.hidden[:, : self.own], seen], -1)
        return State(hidden, self.model.stack_of(nothing), state.rejected, state.output)

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
