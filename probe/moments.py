"""Networks at chosen moments of their runs, as one batch that can be changed and run on.

A moment is a word and a step: what the network is before it reads symbol number `step`, from 0; after the whole word,
the end symbol not read, where that is the word's length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.models.base import NetworkState, StackModel
from stacklens.models.memory_editing import joined
from stacklens.models.rounding import Operation, operation_numbers, without_empty_pops

__all__ = ["Moments", "joined_states", "moments_of", "standing_output"]


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
    check_steps(at, lengths)
    symbols = torch.from_numpy(np.maximum(codes, 0).astype(np.int64))
    state = model.initial_state(len(words))
    heights = np.zeros((len(words), model.n_stacks), np.int64)
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
    back = np.argsort(np.concatenate(order)) if order else np.zeros(0, np.int64)
    whole = joined_states(model, parts) if parts else state
    return Moments(whole, np.concatenate(high) if high else heights).select(back)


def joined_states(model: StackModel[Any], parts: Sequence[NetworkState[Any]]) -> NetworkState[Any]:
    """Return states one batch after the other; where nothing was said yet, that everything may come is kept in mind."""
    outputs = [standing_output(model, part, parts) for part in parts]
    return NetworkState(
        torch.cat([part.hidden for part in parts]),
        joined([part.stack for part in parts]),
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
    told = next((other.output for other in others if other.output is not None), None)
    if told is None:
        return None
    size = told.shape[-1]
    allowed = [model.first is None or symbol in model.first for symbol in model.output_alphabet]
    row = allowed if len(allowed) == size else [False] * size
    return torch.tensor(row, dtype=told.dtype).expand(len(state.rejected), -1)


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


def check_steps(at: np.ndarray, lengths: np.ndarray) -> None:
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
