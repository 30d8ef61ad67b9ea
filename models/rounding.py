"""The rounded network: the same controller and the same stack, with discrete actions between them.

Rounding is a wrapper, not another model. What is extracted is a machine with rounded actions, exactly; what remains
to be shown is that rounding changed nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor

from stacklens.models.base import ActionKind, Controlled, S, StackModel
from stacklens.models.wrapper import Wrapper

__all__ = ["Rounded", "operation_numbers", "round_actions"]


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

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Controlled:
        """Return the wrapped controller's answer with rounded actions."""
        answer = self.model.controller(symbols, hidden, reading)
        actions = round_actions(self.action_kind, answer.actions, self.threshold)
        return Controlled(answer.hidden, actions, answer.pushed, answer.output)
