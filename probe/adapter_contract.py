"""What an adapter owes whatever it is compared with: shares, probabilities, stacks that give back what they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..automata.pda import Word
from ..languages.words import format_word
from ..models.base import StackModel
from ..models.step_network import Outputs, StepNetwork
from ..models.word_network import WordNetwork
from .trace import Trace, trace

_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Finding:
    """Something that is off.

    Attributes:
        cause: what it most likely is, in a word or two.
        says: what was seen, and what to do.
        word, step: where, if it was on a word.
    """

    cause: str
    says: str
    word: Word | None = None
    step: int | None = None

    def __str__(self) -> str:
        return f"{self.cause}: {self.says}"


def outputs_read(network: StackModel[Any]) -> Outputs | None:
    """Return how the outputs of a network of one's own are read, None for any other network."""
    if isinstance(network, WordNetwork):
        return network.outputs
    return network.shape.outputs if isinstance(network, StepNetwork) else None


def shares(network: StackModel[Any], words: Sequence[Word]) -> Finding | None:
    """Return where actions are no shares, strengths or signed actions."""
    if network.action_kind == "none":
        return None
    seen = trace(network, list(words), stacks=False)
    actions = seen.actions
    sums = actions.sum(-1)
    if network.action_kind == "softmax":
        outside = (actions < -_TOLERANCE) | (actions > 1 + _TOLERANCE)
        if (place := _first(outside.any((2, 3)), seen)) is not None:
            return _found("logits", seen, place, actions, "no shares from 0 to 1, but logits: take their softmax")
        if (place := _first((abs(sums - 1) > _TOLERANCE).any(2), seen)) is not None:
            total = float(sums[place].flat[0])
            return _found("shares", seen, place, actions, f"shares that sum to {total:.4g} and not to 1")
        return None
    low = -1 if network.action_kind == "signed" else 0
    if (place := _first(((actions < low - _TOLERANCE) | (actions > 1 + _TOLERANCE)).any((2, 3)), seen)) is None:
        return None
    made = "tanh" if low else "sigmoid"
    return _found("logits", seen, place, actions, f"outside [{low}, 1]: logits, of which the {made} is to be taken")


def outputs(network: StackModel[Any], words: Sequence[Word]) -> Finding | None:
    """Return where outputs that should be probabilities are none."""
    if network.task_kind not in ("recognition", "next set"):
        return None
    shift = 0.5 - getattr(outputs_read(network), "threshold", 0.5)  # outputs are moved so that 0.5 decides
    seen = trace(network, list(words), stacks=False)
    outside = (seen.output - shift < -_TOLERANCE) | (seen.output - shift > 1 + _TOLERANCE)
    if (place := _first(outside.any(2), seen)) is None:
        return None
    return _found(
        "logits", seen, place, seen.output, 'no probabilities, but logits: give wrap activation="sigmoid"', "outputs"
    )


def finite(network: StackModel[Any], words: Sequence[Word]) -> Finding | None:
    """Return where hidden vectors or pushed values are no numbers."""
    seen = trace(network, list(words), stacks=False)
    for name, values in (("pushed", seen.pushed), ("hidden", seen.hidden[:, 1:])):
        bad = ~np.isfinite(values).reshape(*values.shape[:2], -1)
        if (place := _first(bad.any(2), seen)) is not None:
            return _found("no numbers", seen, place, values, "no finite numbers", name)
    return None


@torch.no_grad()
def holds_what_is_pushed(network: StackModel[Any], words: Sequence[Word]) -> Finding | None:
    """Return a pushed value that the stack does not show again after a whole push: it is outside what it holds."""
    if network.action_kind not in ("softmax", "strengths", "signed") or "push" not in (*network.operations, "push"):
        return None
    seen = trace(network, list(words), stacks=False)
    values = torch.from_numpy(seen.pushed[seen.valid]).to(network.initial_state(1).hidden)
    push = _whole_push(network, values)
    if push is None or not len(values):
        return None
    start = network.initial_state(len(values)).stack
    shown = start.next(push, values).reading()[..., : network.cell_size]
    off = (shown - values).abs().flatten(1).amax(1)
    if not bool((off > _TOLERANCE).any()):
        return None
    row = int(off.argmax())
    laid, read = values[row].flatten().tolist(), shown[row].flatten().tolist()
    return Finding(
        "values outside what the stack holds",
        f"a whole push of {_short(laid)} is read back as {_short(read)}: the stack changes what it is given",
    )


@torch.no_grad()
def stacks_round_trip(network: StackModel[Any], words: Sequence[Word]) -> Finding | None:
    """Return where `select` gives other stacks than those asked for, or `stack_of` does not show the cells given."""
    del words
    if network.n_stacks == 0:
        return None
    state = network.initial_state(3)
    for number in range(4):  # three different words
        codes = torch.arange(3) // len(network.alphabet) ** number % len(network.alphabet)
        state = network.step(codes, state).state
        index = torch.tensor([2, 0, 2])
        if not torch.allclose(state.stack.select(index).reading(), state.stack.reading()[index], atol=_TOLERANCE):
            return Finding("select", "select(index) does not give the stacks of these entries, in this order")
    cells = torch.rand(
        2, network.n_stacks, network.depth, network.cell_size, generator=torch.Generator().manual_seed(0)
    )
    cells = cells.to(state.hidden)
    shown = network.stack_of(cells).reading()
    if shown.shape != state.stack.reading()[:2].shape:
        return Finding(
            "stack_of",
            f"stack_of shows a reading of shape {tuple(shown.shape)}, the network's own stacks one of "
            f"{tuple(state.stack.reading()[:2].shape)}: an axis is missing, or one too many",
        )
    if not torch.allclose(shown, cells.flatten(2), atol=_TOLERANCE):
        return Finding("stack_of", "stack_of(cells) does not show these cells, the top first")
    nothing = network.stack_of(torch.full_like(cells, torch.nan)).reading()
    if not torch.allclose(nothing, network.initial_state(2).stack.reading(), atol=_TOLERANCE):
        return Finding("stack_of", "stack_of without cells (NaN) does not show what the stack at the start shows")
    return None


def words_apart(network: StackModel[Any], words: Sequence[Word]) -> Finding | None:
    """Return where a word has other outputs alone than in a batch: words reach into each other."""
    together = trace(network, list(words), stacks=False).output
    for row, word in enumerate(words[:8]):
        alone = trace(network, [word], stacks=False).output[0]
        size = min(len(word), len(alone))
        off = abs(alone[:size] - together[row, :size]).reshape(size, -1).max(1)
        if (off > 10 * _TOLERANCE).any():
            return Finding(
                "a missing axis",
                f"{format_word(word)} has other outputs alone than in a batch: an axis for the words is missing or in "
                "another place, as where batch_first is not set",
                word,
                int(np.argmax(off > 10 * _TOLERANCE)),
            )
    return None


CONTRACT: tuple[Callable[[StackModel[Any], Sequence[Word]], Finding | None], ...] = (
    finite,
    shares,
    outputs,
    words_apart,
    holds_what_is_pushed,
    stacks_round_trip,
)


def _whole_push(network: StackModel[Any], values: torch.Tensor) -> torch.Tensor | None:
    """Return actions (B, n_stacks, A) that push wholly, None where the network has no push."""
    shape = (len(values), network.n_stacks)
    if network.action_kind == "signed":
        return values.new_ones(*shape, 1)
    if network.action_kind == "strengths":
        return values.new_tensor([0.0, 1.0]).expand(*shape, 2)
    if "push" not in network.operations:
        return None
    push = values.new_zeros(*shape, len(network.operations))
    push[..., network.operations.index("push")] = 1
    return push


def _first(off: Any, seen: Trace) -> tuple[int, int] | None:
    """Return the first word and step at which something is ``off`` (N, T), None for none."""
    places = np.argwhere(off & seen.valid)
    return None if not len(places) else (int(places[0][0]), int(places[0][1]))


def _found(
    cause: str, seen: Trace, place: tuple[int, int], values: np.ndarray, says: str, name: str = "actions"
) -> Finding:
    word = seen.words[place[0]]
    shown = _short(np.ravel(values[place]).tolist())
    return Finding(
        cause, f"at symbol {place[1] + 1} of {format_word(word)} the {name} are {shown}: {says}", word, place[1]
    )


def _short(values: Sequence[float]) -> str:
    return f"({', '.join(f'{value:.4g}' for value in values[:6])}{', …' if len(values) > 6 else ''})"
