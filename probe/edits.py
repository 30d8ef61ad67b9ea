"""The one step kernel of interventions: a network some of whose parts are replaced at some steps of some words.

There is no second implementation of a network here. What a network is before a step is changed in its state; what it
does in a step is changed between its own controller and its own stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from ..automata.compiled import encode_words
from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..models.base import Cell, ControllerOutput, NetworkState, S, StackModel, Step, editable
from ..models.rounding import Operation, Rounded, Wrapper, operation_numbers, round_actions, without_empty_pops
from .trace import Trace, trace

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
        hidden = state.hidden.clone()
        old = hidden[:, self.units]
        hidden[:, self.units] = torch.where(rows.unsqueeze(1), _new_value(self.value, old), old)
        return replace(state, hidden=hidden)


@dataclass(frozen=True)
class OutputEdit(Edit):
    """The last output is replaced, ``value`` (B, O): for predictors of sets, which symbols may come next."""

    value: Tensor

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
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
        return replace(state, stack=editable(state.stack).with_cell(rows, self.number, self.place, self.value))


@dataclass(frozen=True)
class StackEdit(Edit):
    """All that memories ``numbers`` hold is replaced by what they hold in another batch."""

    numbers: Sequence[int]
    other: Any

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        return replace(state, stack=editable(state.stack).with_stacks(rows, self.numbers, self.other))


@dataclass(frozen=True)
class HeightEdit(Edit):
    """The top ``count`` (B,) cells of memory ``number`` are taken off."""

    number: int
    count: Tensor

    def applied(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        return replace(state, stack=editable(state.stack).lowered(rows, self.number, self.count))


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
        whole[:, self.stacks] = torch.where((self.at == step)[:, None, None], _new_value(self.value, old), old)
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
        due = [edit for edit in self.within if bool((edit.at == self.now).any())]
        return super().step(symbols, state) if due else self.model.step(symbols, state)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.model.controller(symbols, hidden, reading)
        for edit in self.within:
            answer = edit.made(answer, self.now)
        return self.model.finish(answer, reading)


def _new_value(value: _Value, old: Tensor) -> Tensor:
    return value.to(old.dtype) if isinstance(value, Tensor) else value(old)


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


# ---- What may be put in the place of a part of a network: given numbers, another run's, or made from a reference.

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
        seen = trace(_unrounded(self.model), self.from_words, rounded=isinstance(self.model, Rounded), stacks=False)
        if (self.from_steps >= seen.steps).any():
            raise StacklensError(f"{part} come from a step of the source; its last one is its length less 1")
        taken = getattr(seen, part)[np.arange(len(self.at)), self.from_steps]
        return torch.from_numpy(taken)[:, stacks]

    def _reference_trace(self) -> Trace:
        return trace(_unrounded(self.model), self.reference, rounded=isinstance(self.model, Rounded), stacks=False)

    def _centres(self) -> np.ndarray:
        """Return for each word the mean hidden vector of the state that the automaton is in at its step, (B, H)."""
        if self.automaton is None:
            raise StacklensError('set to "centre", and no clusters: give the automaton whose states they are')
        seen = self._reference_trace().with_automaton(self.automaton)
        here = trace(_unrounded(self.model), self.words, rounded=isinstance(self.model, Rounded), stacks=False)
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


def _unrounded(model: StackModel[Any]) -> StackModel[Any]:
    return model.model if isinstance(model, Rounded) else model
