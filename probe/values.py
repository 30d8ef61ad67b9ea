"""What may be put in the place of a part of a network: given numbers, another run's, or made from a reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded, round_actions
from stacklens.probe.moments import Moments, moments_of
from stacklens.probe.trace import Trace, trace

__all__ = ["NAMED", "Sources", "in_shape", "whole_numbers"]

NAMED = ("source", "centre", "rounded", "zero", "mean")
_ROUNDING, _SHARES_ROUNDING = 1e-6, 0.01 + 1e-9  # shares may be given to two digits, such as three of 0.33
_Made = Tensor | Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Sources:
    """Where values come from.

    Attributes:
        model: the network, soft or rounded.
        words, at: the words that are intervened in, and the steps (B,).
        from_words, from_steps: other runs and their steps (B,), or None.
        reference: the words that means and centres are of.
        automaton: whose states are the clusters.
    """

    model: StackModel[Any]
    words: Sequence[Word]
    at: np.ndarray
    from_words: Sequence[Word] | None
    from_steps: np.ndarray | None
    reference: Sequence[Word]
    automaton: PushdownAutomaton | None

    def other(self) -> Moments:
        """Return the other runs at their steps.

        Raises:
            StacklensError: none were given.
        """
        if self.from_words is None:
            raise StacklensError('set to "source", and no source: name another run with from_word=…, from_step=…')
        return moments_of(self.model, self.from_words, self.from_steps)

    def hidden(self, value: object, units: Tensor) -> _Made:
        """Return what hidden ``units`` are set to, (B, U)."""
        if not isinstance(value, str):
            return in_shape(value, (len(self.at), len(units)), "hidden")
        if value == "source":
            return self.other().state.hidden[:, units]
        if value == "zero":
            return torch.zeros_like
        if value == "rounded":
            low, high = self.model.unit_range
            return lambda old: torch.where(old > (low + high) / 2, high, low).to(old.dtype)
        if value == "mean":
            seen = self._reference_trace()
            mean = torch.from_numpy(seen.hidden[:, 1:][seen.valid].mean(0))[units]
            return mean.expand(len(self.at), -1)
        return torch.from_numpy(self._centres())[:, units]

    def in_step(self, part: str, value: object, stacks: Tensor, size: int) -> _Made:
        """Return what ``part``, "actions" or "pushed", is set to on ``stacks``, (B, S', size)."""
        shape = (len(self.at), len(stacks), size)
        if not isinstance(value, str):
            given = in_shape(value, shape, part)
            if part == "actions":
                _check_actions(self.model, given)
            return given
        if value == "zero":
            return torch.zeros_like
        if value == "rounded":
            kind = self.model.action_kind
            return whole_numbers if part == "pushed" else lambda old: round_actions(kind, old)
        if value == "mean":
            seen = self._reference_trace()
            return torch.from_numpy(getattr(seen, part)[seen.valid].mean(0))[stacks].expand(shape)
        if value == "centre":
            raise StacklensError(f"{part} have no cluster's centre; only hidden vectors do")
        if self.from_words is None or self.from_steps is None:
            raise StacklensError('set to "source", and no source: name another run with from_word=…, from_step=…')
        seen = trace(_own(self.model), self.from_words, rounded=isinstance(self.model, Rounded), stacks=False)
        if (self.from_steps >= seen.steps).any():
            raise StacklensError(f"{part} come from a step of the source; its last one is its length less 1")
        taken = getattr(seen, part)[np.arange(len(self.at)), self.from_steps]
        return torch.from_numpy(taken)[:, stacks]

    def _reference_trace(self) -> Trace:
        return trace(_own(self.model), self.reference, rounded=isinstance(self.model, Rounded), stacks=False)

    def _centres(self) -> np.ndarray:
        """Return for each word the mean hidden vector of the state that the automaton is in at its step, (B, H)."""
        if self.automaton is None:
            raise StacklensError('set to "centre", and no clusters: give the automaton whose states they are')
        seen = self._reference_trace().with_automaton(self.automaton)
        here = trace(_own(self.model), self.words, rounded=isinstance(self.model, Rounded), stacks=False)
        run = here.with_automaton(self.automaton).run
        assert run is not None
        assert seen.run is not None
        states = run.states[np.arange(len(self.at)), self.at]
        if (states < 0).any():
            word = int(np.flatnonzero(states < 0)[0])
            raise StacklensError(f"the automaton's run on word {word} is cut before step {self.at[word]}: no centre")
        means = {}
        for state in np.unique(states).tolist():
            chosen = seen.hidden[seen.run.states == state]
            if not len(chosen):
                raise StacklensError(f"no reference word leads to state {seen.run.names[state]}: give reference=…")
            means[state] = chosen.mean(0)
        return np.stack([means[state] for state in states.tolist()])


def whole_numbers(old: Tensor) -> Tensor:
    """Return ``old`` rounded to whole numbers."""
    return old.round()


def in_shape(value: object, shape: tuple[int, ...], name: str) -> Tensor:
    """Return ``value`` as numbers of ``shape``: given so, without its first axis, or as one number.

    Raises:
        StacklensError: it is of another shape, or no numbers.
    """
    try:
        given = torch.as_tensor(np.asarray(value, np.float64))
    except (TypeError, ValueError):
        raise StacklensError(
            f"{name} cannot be set to {value!r:.50}; expected numbers of shape {shape[1:]}, or {', '.join(NAMED)}"
        ) from None
    fits = (
        given.dim() == 0 or tuple(given.shape) in (shape, shape[1:]) or (len(shape) == 3 and given.shape == shape[2:])
    )
    if not fits:
        raise StacklensError(f"{name} cannot be set to numbers of shape {tuple(given.shape)}; expected {shape[1:]}")
    if not bool(torch.isfinite(given).all()):
        raise StacklensError(f"{name} cannot be set to numbers that are not finite")
    return given.expand(shape)


def _check_actions(model: StackModel[Any], given: Tensor) -> None:
    """Check that a network of this kind could say the actions ``given`` (..., A).

    Raises:
        StacklensError: they are out of range, or shares that do not sum to 1.
    """
    low, expected = {
        "signed": (-1.0, "a number from -1, pop, to 1, push"),
        "strengths": (0.0, "how much is popped and pushed, each from 0 to 1"),
    }.get(model.action_kind, (0.0, f"the shares of {', '.join(model.operations)}, none below 0, together 1"))
    wrong = ((given < low - _ROUNDING) | (given > 1 + _ROUNDING)).any(-1)
    if model.action_kind == "softmax":
        wrong |= (given.sum(-1) - 1).abs() > _SHARES_ROUNDING
    if bool(wrong.any()):
        numbers = ", ".join(f"{number:g}" for number in given[wrong][0].tolist())
        raise StacklensError(f"actions cannot be set to {numbers:.60}; expected {expected}")


def _own(model: StackModel[Any]) -> StackModel[Any]:
    return model.model if isinstance(model, Rounded) else model
