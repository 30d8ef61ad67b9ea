"""Interventions: a network's run with a part replaced at a step, and what comes of it.

The steps are those of `Trace`. What a network *is* before step t (hidden vector, cells, height) is replaced before
symbol t is read; what it *does* in step t (actions, pushed values) is replaced between its controller and its stack.
Interchange interventions, with values of another run, are those of Geiger et al. 2021 ("Causal abstractions of neural
networks", section 3).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import torch
from torch import Tensor

from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..models.base import Cell, NetworkState, StackModel, editable
from ..models.networks.layers import guarded
from ..models.rounding import Rounded, round_actions
from .edits import EVERY, STEPWISE, Edit, Intervened, check_moments, check_stepwise, moments_of, sites_of, steps_of
from .trace import REPLACED, Selection, Trace, trace

PARTS = ("hidden", "actions", "pushed", "cells", "height")
# what may be put in the place of a part, besides numbers and functions
NAMED = ("source", "centre", "rounded", "zero", "mean")
_NAMED_OF = {  # of a part, where that is less; of a module inside a network as of None
    "actions": ("source", "rounded", "zero", "mean"),
    "pushed": ("source", "rounded", "zero", "mean"),
    "cells": ("source", "rounded", "zero"),
    "height": (),
    None: ("source", "zero", "mean"),
}
_ROUNDING, _SHARES_ROUNDING = 1e-6, 0.01 + 1e-9  # shares may be given to two digits, such as three of 0.33
Count = int | Sequence[int] | np.ndarray
At = Count | Literal["all"]


class Choices(TypedDict, total=False):
    """What may be chosen of an intervention; what is not given is as by default."""

    # from_word, from_step: the other run, a list for one a word; by default after all of it, for actions and pushed
    # values its last step
    from_word: Sequence[Word] | Word | None
    from_step: Count | None
    units: Sequence[int] | None  # which hidden units; by default all
    stack: int | None  # which stack; by default all, of cells and height the first
    cell: Count | None  # which cell, 0 the top; None for all that the stack holds, then from a source
    from_cell: Count | None  # which cell of the source; by default the same
    automaton: PushdownAutomaton | None  # for "centre"
    reference: Sequence[Word] | None  # words for "mean" and "centre"; by default ``words``
    rounded: bool  # intervene in the rounded network


@torch.no_grad()
def intervene(
    model: StackModel[Any],
    words: Sequence[Word] | Word,
    at: At,
    set: str | Sequence[str] | Mapping[str, Any],  # noqa: A002 (the word for it)
    *,
    stacks: bool | None = None,
    start: Selection | None = None,
    activations: str | Sequence[str] = (),
    **choices: Unpack[Choices],
) -> Trace:
    """Return the trace of ``model`` on ``words`` with parts replaced before, or in, step ``at``.

    Whatever is replaced before a step, what was predicted earlier rejects nothing at that step, see `allowing_all`.

    Args and errors are those of `sl.intervene`, and ``choices`` those of `Choices`. Stacks of lengths are not recorded
    where cells are replaced: they are no longer what the word's own symbols pushed.

    >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    >>> net = NNPDA(NNPDAConfig(("a", "b", "c")), seed=1)
    >>> seen = intervene(net, "abcba", at=3, set={"hidden": "zero"})
    >>> seen.hidden[0, 3].tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    many = (words,) if isinstance(words, str) else tuple(words)
    network = intervened(model, many, at, set, begun=start is not None, **choices)
    seen = trace(network, many, stacks=stacks, start=start, activations=activations)
    parts = {edit.part for edit in network.edits}
    begin: Selection | str | None = start
    if parts & {"cells", "stacks", "height"}:
        begin = REPLACED if start is None else f"it goes on from another run, and {REPLACED}"
    lengths = None if parts & {"cells", "stacks"} else seen.lengths
    rounded = choices.get("rounded", False)
    return replace(seen, begin=begin, lengths=lengths, rounded=rounded, model=network.model)


def check_intervenable(model: StackModel[Any]) -> None:
    """Check that something inside ``model`` can be replaced at a step."""
    check_stepwise(model)
    if not model.real_time:
        raise StacklensError(f"a {model.name} reads from a queue when it likes; interventions need a step a symbol")


@torch.no_grad()
def intervened(
    model: StackModel[Any],
    words: tuple[Word, ...],
    at: At,
    set: str | Sequence[str] | Mapping[str, Any],  # noqa: A002
    *,
    begun: bool = False,
    **choices: Unpack[Choices],
) -> Intervened[Any]:
    """Return the network that `intervene` runs on ``words``, once; ``begun``: whether they go on from another run."""
    if not isinstance(set, Iterable):
        raise StacklensError(f"set is {set!r:.50}; expected names of parts, or a dictionary of parts and values")
    # what each part, or module by its own name, is set to
    parts = dict[str, Any]()
    given = set if isinstance(set, Mapping) else dict.fromkeys([set] if isinstance(set, str) else set, "source")
    for name, value in given.items():
        several = [name]
        if name not in PARTS:
            try:
                several = [site.name for site in sites_of(model, [name])]
            except StacklensError as error:
                known = ", ".join(PARTS)
                raise StacklensError(f"there is no part {name!r} to set; expected one of {known}: {error}") from None
        named = NAMED if name == "hidden" else _NAMED_OF[name if name in PARTS else None]
        if isinstance(value, str) and value not in named:
            expected = ", ".join(("numbers, or a function", *named))
            raise StacklensError(f"{name} cannot be set to {value!r}; expected {expected}")
        parts |= dict.fromkeys(several, value)
    if any(part in PARTS for part in parts):
        check_intervenable(model)
    if strange := choices.keys() - Choices.__annotations__.keys():
        known = ", ".join(Choices.__annotations__)
        raise StacklensError(f"intervene has no choice {', '.join(sorted(strange))}; it has {known}")
    if begun and "height" in parts:
        raise StacklensError("how high a stack is, is counted from a word's first symbol: no height is set with start")
    changes = _Changes(model, words, at, parts, choices, begun)
    return Intervened(changes.runner, [changes.edit(part, value) for part, value in parts.items()])


class _Changes:
    """The words and steps that are changed, which units, stacks and cells are meant, and where values come from."""

    def __init__(
        self,
        model: StackModel[Any],
        words: tuple[Word, ...],
        at: At,
        parts: Mapping[str, Any],
        choices: Choices,
        begun: bool,
    ) -> None:
        self.model, self.words, self.automaton, self.begun = model, words, choices.get("automaton"), begun
        self.rounded = bool(choices.get("rounded"))
        self.runner: StackModel[Any] = Rounded(model) if self.rounded else model
        hidden, n_words = model.initial_state(1).hidden, len(words)
        self.dtype, size = hidden.dtype, hidden.shape[-1]
        self.modules = [part for part in parts if part not in PARTS]
        # the step of each word, (B,)
        _, self.steps = steps_of(model, words)
        if isinstance(at, str) and at == "all":
            for part, value in parts.items():
                if part == "height" or (isinstance(value, str) and value in ("source", "centre")):
                    raise StacklensError(f'{part} cannot be set so in every step; with at="all" give a function')
            self.at = np.full(n_words, EVERY, np.int64)
        else:
            self.at = _counts(at, n_words, "at")
            check_moments(self.at, self.steps)
        # where values come from: other runs, one a word, and their steps (B,); and the words that means are of
        given, from_step, reference = choices.get("from_word"), choices.get("from_step"), choices.get("reference")
        self.reference: Sequence[Word] = words if reference is None else reference
        self.sources: list[Word] | None = None
        if given is not None:
            self.sources = [given] * n_words if isinstance(given, str) else list(given)
            if len(self.sources) != n_words:
                raise StacklensError(
                    f"{len(self.sources)} sources for {n_words} words; expected one a word, or one for all"
                )
            within = min(parts, default="") in STEPWISE or not any(part in PARTS for part in parts)
            last = np.array([len(word) for word in self.sources], np.int64) - within
            self.from_steps = last if from_step is None else _counts(from_step, n_words, "from_step")
        # what is meant: hidden units, stacks, cells
        units, stack = choices.get("units"), choices.get("stack")
        wanted = list(range(size) if units is None else units)
        if not all(_is_number(unit, size) for unit in wanted):
            raise StacklensError(f"there are no units {wanted!r:.60}: the {model.name} has {size}, from 0")
        if stack is not None and not _is_number(stack, model.n_stacks):
            raise StacklensError(f"there is no stack {stack!r:.40}: the {model.name} has {model.n_stacks}, from 0")
        self.units, self.number = torch.tensor(wanted, dtype=torch.int64), stack or 0
        self.stacks = torch.arange(model.n_stacks) if stack is None else torch.tensor([stack])
        cell, from_cell = choices.get("cell", 0), choices.get("from_cell")
        self.cell = None if cell is None else torch.from_numpy(_counts(cell, n_words, "cell"))
        self.from_cell = self.cell if from_cell is None else torch.from_numpy(_counts(from_cell, n_words, "from_cell"))

    def edit(self, part: str, value: Any) -> Edit:
        """Return the change that sets ``part`` to ``value``, numbers or one of `NAMED`."""
        at, model, size = torch.from_numpy(self.at), self.model, len(self.at)
        if (part in STEPWISE or part not in PARTS) and (self.at >= self.steps).any():
            raise StacklensError(f"{part} are of a step; step {int(self.at.max())} comes after the last one")
        if part not in PARTS:
            (site,) = sites_of(model, part)
            return Edit(part, at, self._values(part, value, None, (size, *site.shape)), site=site)
        if part == "hidden":
            if not len(self.units):
                raise StacklensError(f"the {model.name} has no hidden vector to set")
            return Edit(part, at, self._values(part, value, self.units, (size, len(self.units))), self.units)
        if not model.n_stacks or (part in STEPWISE and model.action_kind == "none"):
            raise StacklensError(f"the {model.name} has no stack: there are no {part} to set")
        if part in STEPWISE:
            numbers = model.cell_size
            if part == "actions":
                numbers = len(model.operations) or {"signed": 1, "strengths": 2}[model.action_kind]
            shape = size, len(self.stacks), numbers
            return Edit(part, at, self._values(part, value, self.stacks, shape), self.stacks)
        if part == "height":
            return Edit(part, at, self._taken_off(value), number=self.number)
        if self.cell is None:
            if value != "source":
                raise StacklensError('all cells of a stack (cell=None) can only be set to those of a "source"')
            return Edit("stacks", at, self._source().stack, self.stacks)
        return Edit(part, at, self._cell(value, self.cell), number=self.number, place=self.cell)

    def _numbers(self, part: str, value: object, shape: tuple[int, ...], name: str) -> Tensor:
        """Return ``value`` as numbers of ``shape``; as actions (..., A), such as a network of this kind could say."""
        given, model = in_shape(value, shape, name), self.runner
        if part != "actions":
            return given
        low, expected = {
            "signed": (-1.0, "a number from -1, pop, to 1, push"),
            "strengths": (0.0, "how much is popped and pushed, each from 0 to 1"),
        }.get(model.action_kind, (0.0, f"the shares of {', '.join(model.operations)}, each from 0 to 1, together 1"))
        wrong = ((given < low - _ROUNDING) | (given > 1 + _ROUNDING)).any(-1)
        if model.action_kind == "softmax":
            wrong |= (given.sum(-1) - 1).abs() > _SHARES_ROUNDING
        if bool(wrong.any()):
            numbers = ", ".join(f"{number:g}" for number in given[wrong][0].tolist())
            raise StacklensError(f"actions cannot be set to {numbers:.60}; expected {expected}")
        return given

    def _by(self, function: Callable[[Tensor], Any], part: str) -> Callable[[Tensor], Tensor]:
        """Return ``function``, which somebody else wrote, checked: it gives as many finite numbers as it is given."""

        def made(old: Tensor) -> Tensor:
            name = f"the function for {part}"
            new = guarded(function, name, {part: old.clone()})
            if new is None:
                raise StacklensError(f"{name} returned None; expected a tensor of shape {tuple(old.shape)}")
            return self._numbers(part, new, tuple(old.shape), f"{part}, by its function,").to(old.dtype)

        return made

    def _values(
        self, part: str, value: object, which: Tensor | None, shape: tuple[int, ...]
    ) -> Tensor | Callable[[Tensor], Tensor]:
        """Return what ``which`` units or stacks, None for all, are set to, (B, U), (B, S', A or D) or (B, …)."""
        if callable(value):
            return self._by(value, part)
        if not isinstance(value, str):
            return self._numbers(part, value, shape, part)
        if value == "zero":
            return torch.zeros_like
        if value == "rounded":
            (low, high), kind = self.model.unit_range, self.model.action_kind
            if part == "hidden":
                return lambda old: torch.where(old > (low + high) / 2, high, low).to(old.dtype)
            return torch.round if part == "pushed" else lambda old: round_actions(kind, old)
        if value == "mean":
            seen = self._traced(self.reference)
            rows = seen.hidden[:, 1:] if part == "hidden" else self._of_steps(seen, part)
            found = torch.from_numpy(rows[seen.valid].mean(0)).expand(len(self.at), *rows.shape[2:])
        elif value == "centre":
            # for each word the mean hidden vector of the state that the automaton is in at its step, (B, H)
            if self.automaton is None:
                raise StacklensError('set to "centre", and no clusters: give the automaton whose states they are')
            seen = self._traced(self.reference).with_automaton(self.automaton)
            run = self._traced(self.words).with_automaton(self.automaton).joined
            states = run.states[np.arange(len(self.at)), self.at]
            if (states < 0).any():
                word = int(np.flatnonzero(states < 0)[0])
                raise StacklensError(
                    f"the automaton's run on word {word} is cut before step {self.at[word]}: no centre"
                )
            centres = np.zeros((len(states), seen.hidden.shape[-1]))
            for state in np.unique(states).tolist():
                chosen = seen.hidden[seen.joined.states == state]
                if not len(chosen):
                    raise StacklensError(f"no reference word leads to state {run.names[state]}: give reference=…")
                centres[states == state] = chosen.mean(0)
            found = torch.from_numpy(centres)
        elif part == "hidden":  # what another run has there
            found = self._source().hidden
        else:
            seen = self._traced(self._sources())
            if (self.from_steps >= seen.steps).any():
                raise StacklensError(f"{part} come from a step of the source; its last one is its length less 1")
            found = torch.from_numpy(self._of_steps(seen, part)[np.arange(len(self.at)), self.from_steps])
        return found if which is None else found[:, which]

    def _of_steps(self, seen: Trace, part: str) -> np.ndarray:
        return np.asarray(getattr(seen, part) if part in PARTS else seen.activations[part])

    def _cell(self, value: Any, place: Tensor) -> Cell | Callable[[Tensor], Tensor]:
        if callable(value):
            return self._by(value, "cells")
        if not isinstance(value, str):
            return Cell.of(in_shape(value, (len(self.at), self.model.cell_size), "cells").to(self.dtype))
        if value == "source":
            assert self.from_cell is not None
            return editable(self._source().stack).cell(self.number, self.from_cell)
        changed = torch.zeros_like if value == "zero" else torch.round
        if self.begun or (self.at == EVERY).any():
            return changed
        # the page shows what is put there
        old = editable(moments_of(self.runner, self.words, self.at).state.stack).cell(self.number, place)
        return Cell(old.lengths, changed(old.values))

    def _taken_off(self, value: Any) -> Tensor:
        """Return how much is taken off to come down to a height, (B,), in lengths where there are some, else cells."""
        found = moments_of(self.runner, self.words, self.at)
        stack = getattr(found.state.stack, "stack", found.state.stack)
        if not hasattr(stack, "length") and not self.rounded:
            raise StacklensError(
                f"soft actions leave the stack of a {self.model.name} without a height: every cell is a mixture; set "
                "rounded=True, or replace cells"
            )
        high: Tensor = (
            stack.length if hasattr(stack, "length") else torch.from_numpy(found.heights[:, self.number] * 1.0)
        )
        wanted = self._by(value, "height")(high) if callable(value) else in_shape(value, (len(self.at),), "height")
        if bool((wrong := (wanted < 0) | (wanted > high + 1e-9)).any()):
            row = int(wrong.nonzero()[0])
            raise StacklensError(
                f"height cannot be set to {float(wanted[row]):g}: the stack is {float(high[row]):g} high at step "
                f"{self.at[row]}, and nobody knows what would lie above that"
            )
        return (high - wanted).clamp(min=0)

    def _sources(self) -> list[Word]:
        if self.sources is None:
            raise StacklensError('set to "source", and no source: name another run with from_word=…, from_step=…')
        return self.sources

    def _source(self) -> NetworkState[Any]:
        return moments_of(self.runner, self._sources(), self.from_steps).state

    def _traced(self, words: Sequence[Word]) -> Trace:
        return trace(self.model, words, rounded=self.rounded, stacks=False, activations=self.modules)


def in_shape(value: object, shape: tuple[int, ...], name: str) -> Tensor:
    """Return ``value`` as numbers of ``shape``: given so, without its first axis, or as one number. Raises
    StacklensError: it is of another shape, or no numbers.
    """
    try:
        given = value.double().cpu() if isinstance(value, Tensor) else torch.as_tensor(np.asarray(value, np.float64))
    except (TypeError, ValueError):
        raise StacklensError(
            f"{name} cannot be set to {value!r:.50}; expected numbers of shape {shape[1:]}, or {', '.join(NAMED)}"
        ) from None
    if tuple(given.shape) not in ((), shape, shape[1:], shape[2:] if len(shape) == 3 else shape):
        raise StacklensError(f"{name} cannot be set to numbers of shape {tuple(given.shape)}; expected {shape[1:]}")
    if not bool(torch.isfinite(given).all()):
        raise StacklensError(f"{name} cannot be set to numbers that are not finite")
    return given.expand(shape)


def _is_number(given: object, size: int) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool) and given in range(size)


def _counts(given: Count, n_words: int, name: str) -> np.ndarray:
    """Return one whole number a word, (N,), from one for all or as many."""
    found = np.asarray(given)
    if found.dtype.kind not in "iu" or found.ndim > 1 or (found.ndim == 1 and len(found) != n_words):
        raise StacklensError(f"{name} is {given!r:.50}; expected a whole number, or one for each of {n_words} words")
    if (found < 0).any():
        raise StacklensError(f"{name} is {int(found.min())}; expected 0 or more")
    return np.array(np.broadcast_to(found, n_words), np.int64)
