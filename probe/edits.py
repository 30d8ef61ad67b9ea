"""The one step kernel of interventions: a network some of whose parts are replaced at some steps of some words.

There is no second implementation of a network here. What a network is before a step is changed in its state; what it
does in a step is changed between its own controller and its own stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..automata.compiled import encode_words
from ..automata.pda import Word
from ..core.errors import StacklensError
from ..models.base import ControllerOutput, NetworkState, S, StackModel, Step, editable
from ..models.rounding import Operation, Wrapper, operation_numbers, without_empty_pops

STEPWISE = ("actions", "pushed")  # parts of what a network does in a step; others are of what it is before one


@dataclass(frozen=True)
class Edit:
    """A change of one part of a network at one step of each of B words.

    Attributes:
        part: "hidden", "output", "cells" (one cell), "stacks" (all that they hold), "height", "actions" or "pushed".
        at: which step of each word, (B,) int64; -1 for never.
        value: what the part is set to: numbers (B, U), (B, O) or (B, S', A or D), or a function of what they were; a
            `Cell`; another batch of memories; for a height how many cells are taken off the top, (B,).
        which: which hidden units (U,), or which stacks (S',).
        number: of a cell or a height the number of its memory.
        place: of a cell, (B,).
    """

    part: str
    at: Tensor
    value: Any
    which: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.int64))
    number: int = 0
    place: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.int64))

    def before(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        """Return ``state`` with the change made in ``rows`` (B,) bool."""
        if self.part == "hidden":
            hidden = state.hidden.clone()
            hidden[:, self.which] = self._in_place_of(hidden[:, self.which], rows.unsqueeze(1))
            return replace(state, hidden=hidden)
        if self.part == "output":
            old = self.value if state.output is None else state.output
            return replace(state, output=torch.where(rows.unsqueeze(1), self.value, old))
        memory = editable(state.stack)
        if self.part == "cells":
            return replace(state, stack=memory.with_cell(rows, self.number, self.place, self.value))
        if self.part == "stacks":
            return replace(state, stack=memory.with_stacks(rows, self.which.tolist(), self.value))
        return replace(state, stack=memory.lowered(rows, self.number, self.value))

    def within(self, answer: ControllerOutput, step: int) -> ControllerOutput:
        """Return ``answer`` with the change made in the words whose ``step`` it is."""
        whole = getattr(answer, self.part).expand(len(self.at), -1, -1).clone()  # (B, n_stacks, A or D)
        whole[:, self.which] = self._in_place_of(whole[:, self.which], (self.at == step)[:, None, None])
        return replace(answer, **{self.part: whole})

    def _in_place_of(self, old: Tensor, rows: Tensor) -> Tensor:
        new = self.value.to(old.dtype) if isinstance(self.value, Tensor) else self.value(old)
        return torch.where(rows, new, old)


class Intervened(Wrapper[S]):
    """A network under intervention, for the words that its edits are made for, once: it counts its steps.

    Args:
        model: a single network, soft or rounded; its weights are shared, not copied.
        edits: what is changed, in this order.
    """

    name = "intervened"

    def __init__(self, model: StackModel[S], edits: Sequence[Edit] = ()) -> None:
        super().__init__(model)
        self.edits, self.now = tuple(edits), 0

    def _due(self, step: int, stepwise: bool) -> list[Edit]:
        return [one for one in self.edits if (one.part in STEPWISE) is stepwise and bool((one.at == step).any())]

    def entered(self, state: NetworkState[S], step: int) -> NetworkState[S]:
        """Return ``state`` before ``step`` with every change made that is due."""
        for edit in self._due(step, stepwise=False):
            state = edit.before(state, edit.at == step)
        self.now = step
        return state

    def step(self, symbols: Tensor, state: NetworkState[S]) -> Step[S]:
        return super().step(symbols, state) if self._due(self.now, stepwise=True) else self.model.step(symbols, state)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        # what is changed in this step, between the network's own controller and its own stack
        answer = self.model.controller(symbols, hidden, reading)
        for edit in self._due(self.now, stepwise=True):
            answer = edit.within(answer, self.now)
        return answer


# ---- Networks at chosen moments of their runs, as one batch that can be changed and run on ----
#
# A moment is a word and a step: what the network is before it reads symbol number `step`, from 0; after the whole
# word, the end symbol not read, where that is the word's length.


class Moments:
    """Networks at M moments.

    Args:
        state: their states, a batch of M.
        heights: how high their stacks are, (M, n_stacks) int, counted by whole operations; pops of nothing do nothing.
            Of soft actions the largest counts.
    """

    def __init__(self, state: NetworkState[Any], heights: np.ndarray) -> None:
        self.state, self.heights = state, heights

    def select(self, index: np.ndarray) -> Moments:
        """Return the moments ``index``, which may repeat."""
        return Moments(self.state.select(torch.from_numpy(np.asarray(index, np.int64))), self.heights[index])


@torch.no_grad()
def moments_of(
    model: StackModel[Any], words: Sequence[Word], steps: Sequence[int] | np.ndarray | None = None
) -> Moments:
    """Return ``model``, soft or rounded, at one step of each word; by default after all of it.

    Raises:
        StacklensError: a step is not within its word, or the network only answers whole words.
        UnknownSymbolError: a word has a symbol outside the network's alphabet.
    """
    check_stepwise(model)
    codes, lengths = encode_words(words, model.alphabet)
    at = lengths if steps is None else np.asarray(steps, np.int64)
    check_moments(at, lengths)
    symbols = torch.from_numpy(np.maximum(codes, 0).astype(np.int64))
    state = model.initial_state(len(words))
    heights = np.zeros((len(words), model.n_stacks), np.int64)
    # one pass over all words: those whose step has come are set aside, the others run on
    parts, order, high = list[NetworkState[Any]](), list[np.ndarray](), list[np.ndarray]()
    left = np.arange(len(words))
    for t in range(int(at.max(initial=0)) + 1):
        here = at[left] == t
        if here.any():
            parts.append(state.select(torch.from_numpy(np.flatnonzero(here))))
            order.append(left[here])
            high.append(heights[here])
        if here.all():
            break
        if here.any():
            state, heights, left = state.select(torch.from_numpy(np.flatnonzero(~here))), heights[~here], left[~here]
        step = model.step(symbols[left, t], state)
        state, heights = step.state, heights_after(model, step.actions, heights)
    # back to the order of the words
    back = np.argsort(np.concatenate(order)) if order else np.zeros(0, np.int64)
    whole = joined_states(model, parts) if parts else state
    return Moments(whole, np.concatenate(high) if high else heights).select(back)


def joined_states(model: StackModel[Any], parts: Sequence[NetworkState[Any]]) -> NetworkState[Any]:
    """Return states one batch after the other; what may come before a first output is kept."""
    outputs = [standing_output(model, part, parts) for part in parts]
    return NetworkState(
        torch.cat([part.hidden for part in parts]),
        editable(parts[0].stack).joined([part.stack for part in parts[1:]]),
        torch.cat([part.rejected for part in parts]),
        None if outputs[0] is None else torch.cat([output for output in outputs if output is not None]),
    )


def standing_output(
    model: StackModel[Any], state: NetworkState[Any], others: Sequence[NetworkState[Any]]
) -> Tensor | None:
    """Return the last output of ``state``; before the first symbol which symbols may begin a word, as numbers 1 and 0.

    None where none of ``others`` has an output.
    """
    if state.output is not None:
        return state.output.expand(len(state.rejected), -1)
    given = next((other.output for other in others if other.output is not None), None)
    if given is None:
        return None
    size = given.shape[-1]
    allowed = [model.first is None or symbol in model.first for symbol in model.output_alphabet]
    row = allowed if len(allowed) == size else [False] * size
    return torch.tensor(row, dtype=given.dtype).expand(len(state.rejected), -1)


def heights_after(model: StackModel[Any], actions: Tensor, heights: np.ndarray) -> np.ndarray:
    """Return ``heights`` (B, n_stacks) after ``actions`` (B, n_stacks, A); others than a stack's do nothing."""
    if not model.n_stacks or model.action_kind == "none":
        return heights
    if model.action_kind == "signed":
        numbers = operation_numbers("signed", (), actions.sign() * (actions.abs() > 0.5))
    elif model.action_kind == "strengths":
        numbers = operation_numbers("strengths", (), actions.round())
    else:
        numbers = operation_numbers("softmax", model.operations, actions)
    taken = numbers[..., : model.n_stacks].expand(len(heights), -1).cpu().numpy()
    _, after = without_empty_pops(np.maximum(taken, Operation.NONE), heights)
    return after


def check_moments(at: np.ndarray, lengths: np.ndarray) -> None:
    """Check that every step is one of its word.

    Raises:
        StacklensError: one is not, or there are not as many steps as words.
    """
    if at.shape != lengths.shape:
        raise StacklensError(f"{len(at)} steps for {len(lengths)} words; expected one a word, or one for all")
    wrong = np.flatnonzero((at < 0) | (at > lengths))
    if len(wrong):
        raise StacklensError(
            f"there is no step {at[wrong[0]]} of a word of length {lengths[wrong[0]]}: steps are counted from 0, and "
            "the word's length is the moment after it"
        )


def check_stepwise(model: StackModel[Any]) -> None:
    """Check that ``model`` is a single network that runs step by step.

    Raises:
        StacklensError: it is not.
    """
    if model.initial_state(1).hidden.dim() != 2:
        raise StacklensError("several networks on one axis cannot be intervened in; take one of them")
    if model.answers_to(()) is not None:
        raise StacklensError(f"a {model.name} answers whole words: there are no steps to intervene in")
