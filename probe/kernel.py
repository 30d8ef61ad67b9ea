"""The one step kernel of interventions: a network some of whose parts are replaced at some steps of some words.

There is no second implementation of a network here. What a network is before a step is changed in its state; what it
does in a step is changed between its own controller and its own stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from stacklens.models.base import ControllerOutput, NetworkState, S, StackModel, Step
from stacklens.models.memory_editing import Cell, lowered, put_cell, put_stacks
from stacklens.models.rounding import Wrapper

__all__ = ["CellEdit", "Edit", "HeightEdit", "HiddenEdit", "Intervened", "OutputEdit", "StackEdit", "StepEdit"]

_Value = Tensor | Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Edit:
    """A change of what a network is before a step.

    Attributes:
        at: before which step each of B words is changed, (B,) int64; -1 for never.
    """

    at: Tensor

    def here(self, step: int) -> Tensor:
        """Return which words are changed at ``step``, (B,) bool."""
        return self.at == step

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        """Return ``state`` with the change made in ``rows`` (B,) bool."""
        raise NotImplementedError


@dataclass(frozen=True)
class HiddenEdit(Edit):
    """Hidden units are replaced: ``value`` (B, U), or a function of what they were; ``units`` (U,) are which."""

    value: _Value
    units: Tensor

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        """Return ``state`` with other hidden vectors in ``rows``."""
        hidden = state.hidden.clone()
        old = hidden[:, self.units]
        hidden[:, self.units] = torch.where(rows.unsqueeze(1), _made(self.value, old), old)
        return replace(state, hidden=hidden)


@dataclass(frozen=True)
class OutputEdit(Edit):
    """What was said last is replaced, ``value`` (B, O): for predictors of sets, which symbols may come next."""

    value: Tensor

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        """Return ``state`` with another last output in ``rows``."""
        if state.output is None:
            return replace(state, output=self.value)
        return replace(state, output=torch.where(rows.unsqueeze(1), self.value, state.output))


@dataclass(frozen=True)
class CellEdit(Edit):
    """A cell of memory ``number`` is replaced, at ``place`` (B,)."""

    number: int
    place: Tensor
    value: Cell

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        """Return ``state`` with another cell in ``rows``."""
        return replace(state, stack=put_cell(state.stack, rows, self.number, self.place, self.value))


@dataclass(frozen=True)
class StackEdit(Edit):
    """All that memories ``numbers`` hold is replaced by what they hold in another batch."""

    numbers: Sequence[int]
    other: Any

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        """Return ``state`` with other memories in ``rows``."""
        return replace(state, stack=put_stacks(state.stack, rows, self.numbers, self.other))


@dataclass(frozen=True)
class HeightEdit(Edit):
    """The top ``count`` (B,) cells of memory ``number`` are taken off."""

    number: int
    count: Tensor

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        """Return ``state`` with a lower stack in ``rows``."""
        return replace(state, stack=lowered(state.stack, rows, self.number, self.count))


@dataclass(frozen=True)
class StepEdit:
    """A change of what a network does in a step: ``value`` (B, S', A or D), or a function of what it was.

    Attributes:
        part: "actions" or "pushed".
        at: in which step of each word, (B,) int64; -1 for never.
        value: what it does then.
        stacks: on which of its stacks, (S',).
    """

    part: Literal["actions", "pushed"]
    at: Tensor
    value: _Value
    stacks: Tensor

    def made(self, answer: ControllerOutput, step: int) -> ControllerOutput:
        """Return ``answer`` with the change made where it is time."""
        whole = getattr(answer, self.part).expand(len(self.at), -1, -1).clone()
        old = whole[:, self.stacks]
        whole[:, self.stacks] = torch.where((self.at == step)[:, None, None], _made(self.value, old), old)
        return replace(answer, **{self.part: whole})


class Intervened(Wrapper[S]):
    """A network under intervention, for the words that its edits are made for, once: it counts its steps.

    Args:
        model: a single network, soft or rounded; its weights are shared, not copied.
        edits: what is changed before steps, in this order.
        within: what is changed in steps.
    """

    name = "intervened"

    def __init__(self, model: StackModel[S], edits: Sequence[Edit] = (), within: Sequence[StepEdit] = ()) -> None:
        super().__init__(model)
        self.edits, self.within, self.now = tuple(edits), tuple(within), 0

    def entered(self, state: NetworkState[S], step: int) -> NetworkState[S]:
        """Return ``state`` before ``step`` with every change made that is due."""
        for edit in self.edits:
            rows = edit.here(step)
            if bool(rows.any()):
                state = edit.applied(state, rows)
        self.now = step
        return state

    def step(self, symbols: Tensor, state: NetworkState[S]) -> Step[S]:
        """Return the network's own step, with other actions and pushed values where it is time."""
        due = [edit for edit in self.within if bool((edit.at == self.now).any())]
        return super().step(symbols, state) if due else self.model.step(symbols, state)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the network's own answer, with what is changed in this step."""
        answer = self.model.controller(symbols, hidden, reading)
        for edit in self.within:
            answer = edit.made(answer, self.now)
        return self.model.finish(answer, reading)


def _made(value: _Value, old: Tensor) -> Tensor:
    return value.to(old.dtype) if isinstance(value, Tensor) else value(old)
