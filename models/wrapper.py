"""A network around another one: as that one in everything that a subclass does not change."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from stacklens.models.base import Controlled, S, StackModel, State

__all__ = ["Wrapper"]

_SHARED = (
    *("action_kind", "operations", "task_kind", "alphabet", "end", "first", "n_stacks", "depth", "cell_size"),
    *("stack_limit", "pushes_input", "recurrent", "squared_error", "real_time", "extra_steps"),
)


class Wrapper(StackModel[S]):
    """A network that does what ``model`` does; its weights are shared, not copied.

    Every step goes through `controller`: what a wrapped model can do with many steps at once is not used, since a
    subclass may change each of them.
    """

    name = "wrapper"

    def __init__(self, model: StackModel[S]) -> None:
        super().__init__()
        self.model = model
        for attribute in _SHARED:
            setattr(self, attribute, getattr(model, attribute))

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        """Return the wrapped network's output alphabet."""
        return self.model.output_alphabet

    def config(self) -> dict[str, Any]:
        """Return the configuration of the wrapped network."""
        return self.model.config()

    def initial_state(self, batch: int) -> State[S]:
        """Return the wrapped network's own initial state."""
        return self.model.initial_state(batch)

    def stack_of(self, cells: Tensor) -> S:
        """Return the wrapped network's stacks."""
        return self.model.stack_of(cells)

    def feed(self, stack: S, symbols: Tensor) -> S:
        """Return the wrapped network's stacks with ``symbols`` in their queues, where they have some."""
        return self.model.feed(stack, symbols)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Controlled:
        """Return the wrapped controller's answer."""
        return self.model.controller(symbols, hidden, reading)

    def said(self, output: Tensor, actions: Tensor, lengths: Tensor) -> Tensor:
        """Return what the wrapped network says, given ``output`` and ``actions`` of all steps."""
        return self.model.said(output, actions, lengths)

    def rejects(self, hidden: Tensor, stack: S) -> Tensor:
        """Return where the wrapped network rejects."""
        return self.model.rejects(hidden, stack)

    def decide(self, state: State[S]) -> Tensor:
        """Return the wrapped network's decision."""
        return self.model.decide(state)
