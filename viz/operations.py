"""Which operation every stack takes at every step, by name: the largest share, or the rounded action."""

from __future__ import annotations

from typing import Any

import torch

from stacklens.models.base import StackModel
from stacklens.models.rounding import operation_numbers, round_actions
from stacklens.probe.trace import Trace

__all__ = ["action_names", "operation_names"]

_NAMES = ("none", "pop", "push", "replace")  # by the numbers of `operation_numbers`


def operation_names(model: StackModel[Any], seen: Trace, word: int = 0) -> list[tuple[str, ...]]:
    """Return the operation of every stack, one tuple a step; of models that name their own operations these names."""
    actions = torch.from_numpy(seen.actions[word, : seen.steps[word]])
    if not len(actions) or model.action_kind == "none":
        return [()] * len(actions)
    rounded = round_actions(model.action_kind, actions)
    if model.action_kind == "softmax":
        return [tuple(model.operations[place] for place in row) for row in rounded.argmax(-1).tolist()]
    numbers = operation_numbers(model.action_kind, model.operations, rounded)
    return [tuple(_NAMES[number] for number in row) for row in numbers.tolist()]


def action_names(model: StackModel[Any]) -> tuple[str, ...]:
    """Return what each number in a row of actions says: a share, a strength, or a push above 0 and a pop below."""
    if model.action_kind == "signed":
        return ("push + / pop −",)
    return model.operations or (("pop", "push") if model.action_kind == "strengths" else ())
