"""The rounded network: the same controller and the same stack, with discrete actions between them.

`Wrapper` is what it rests on: a network around another one, as that one in everything that a subclass does not change.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from stacklens.models.base import ActionKind, ControllerOutput, NetworkState, S, StackModel

__all__ = ["Rounded", "Wrapper", "operation_numbers", "round_actions"]

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

    def initial_state(self, batch: int) -> NetworkState[S]:
        """Return the wrapped network's own initial state."""
        return self.model.initial_state(batch)

    def stack_of(self, cells: Tensor) -> S:
        """Return the wrapped network's stacks."""
        return self.model.stack_of(cells)

    def feed(self, stack: S, symbols: Tensor) -> S:
        """Return the wrapped network's stacks with ``symbols`` in their queues, where they have some."""
        return self.model.feed(stack, symbols)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the wrapped controller's answer."""
        return self.model.controller(symbols, hidden, reading)

    def said(self, output: Tensor, actions: Tensor, lengths: Tensor) -> Tensor:
        """Return what the wrapped network says, given ``output`` and ``actions`` of all steps."""
        return self.model.said(output, actions, lengths)

    def rejects(self, hidden: Tensor, stack: S) -> Tensor:
        """Return where the wrapped network rejects."""
        return self.model.rejects(hidden, stack)

    def decide(self, state: NetworkState[S]) -> Tensor:
        """Return the wrapped network's decision."""
        return self.model.decide(state)


def round_actions(kind: ActionKind, actions: Tensor, threshold: float = 0.5) -> Tensor:
    """Return ``actions`` (..., A) made discrete.

    "signed": 0 up to ``threshold`` in size, else the sign (Sun et al. 1993, eq. 21). "softmax": one-hot at the largest
    (Joulin & Mikolov 2015, section 3, "rounding"). "strengths": 1 from ``threshold`` on, else 0.
    """
    if kind == "signed":
        return torch.where(actions.abs() <= threshold, torch.zeros_like(actions), actions.sign())
    if kind == "softmax":
        return torch.nn.functional.one_hot(actions.argmax(-1), actions.shape[-1]).to(actions.dtype)
    if kind == "strengths":
        return (actions >= threshold).to(actions.dtype)
    return actions


def operation_numbers(kind: ActionKind, operations: tuple[str, ...], rounded: Tensor) -> Tensor:
    """Return which operation each of the rounded actions (..., A) is, (...) int64: 0 none, 1 pop, 2 push, 3 replace.

    An operation of another model's own, neither of these, is -1.
    """
    if kind == "signed":
        action = rounded[..., 0]
        return (action > 0) * 2 + (action < 0) * 1
    if kind == "softmax":
        known = {"none": 0, "pop": 1, "push": 2}
        table = torch.tensor([known.get(operation, -1) for operation in operations], device=rounded.device)
        return table[rounded.argmax(-1)]
    if kind == "strengths":
        return rounded[..., 0].long() + 2 * rounded[..., 1].long()
    return torch.zeros(rounded.shape[:-1], dtype=torch.int64, device=rounded.device)


class Rounded(Wrapper[S]):
    """A network with discrete actions; its hidden vectors and pushed values stay analog.

    Args:
        model: the network to round; its weights are shared, not copied.
        threshold: the size above which a signed action or a strength counts, in (0, 1).
    """

    name = "rounded"

    def __init__(self, model: StackModel[S], threshold: float = 0.5) -> None:
        super().__init__(model)
        self.threshold = threshold

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the wrapped controller's answer with rounded actions."""
        answer = self.model.controller(symbols, hidden, reading)
        actions = round_actions(self.action_kind, answer.actions, self.threshold)
        return ControllerOutput(answer.hidden, actions, answer.pushed, answer.output)
