"""The rounded network: the same controller and the same stack, with discrete actions between them.

Rounding is a wrapper, not another model: actions become one of -1, 0, 1 (Sun et al. 1993, eq. 21), and, where functions
for them are given, pushed values become stack symbols and hidden vectors the representatives of states. What is
extracted is that machine, exactly; what remains to be shown is that rounding changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from stacklens.models.base import Controlled, S, StackModel, State

__all__ = ["Rounded", "Snap", "round_actions"]

Snap = Callable[[Tensor], Tensor]


def round_actions(actions: Tensor, threshold: float = 0.5) -> Tensor:
    """Return ``actions`` (..., A) in {-1, 0, 1}: 0 up to ``threshold`` in size, else the sign (eq. 21)."""
    return torch.where(actions.abs() <= threshold, torch.zeros_like(actions), actions.sign())


class Rounded(StackModel[S]):
    """A network with discrete actions; with ``snap_hidden`` also with discrete states.

    Args:
        model: the network to round; its weights are shared, not copied.
        snap_hidden: maps hidden vectors (..., B, H) to the representatives of their states; None leaves them analog.
        threshold: the size A* above which an action counts, in (0, 1).
    """

    name = "rounded"

    def __init__(self, model: StackModel[S], snap_hidden: Snap | None = None, threshold: float = 0.5) -> None:
        super().__init__()
        self.model, self.snap_hidden, self.threshold = model, snap_hidden, threshold
        self.alphabet, self.end = model.alphabet, model.end

    def config(self) -> dict[str, Any]:
        """Return the configuration of the wrapped network."""
        return self.model.config()

    def initial_state(self, batch: int) -> State[S]:
        """Return the wrapped network's own initial state: it is a state of its own and is never rounded."""
        return self.model.initial_state(batch)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Controlled:
        """Return the wrapped controller's answer, rounded."""
        answer = self.model.controller(symbols, hidden, reading)
        after = answer.hidden if self.snap_hidden is None else self.snap_hidden(answer.hidden)
        return Controlled(after, round_actions(answer.actions, self.threshold), answer.pushed, answer.output)

    def rejects(self, hidden: Tensor, stack: S) -> Tensor:
        """Return where the wrapped network rejects."""
        return self.model.rejects(hidden, stack)

    def decide(self, state: State[S]) -> Tensor:
        """Return the wrapped network's decision."""
        return self.model.decide(state)
