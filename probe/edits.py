"""The one step kernel of interventions: a network some of whose parts are replaced at some steps of some words.

There is no second implementation of a network here. What a network is before a step is changed in its state; what it
does in a step is changed between its own controller and its own stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..automata.enumeration import encode_words
from ..automata.pda import Word
from ..core.errors import StacklensError
from ..core.progress import check_time
from ..models.base import Cell, ControllerOutput, NetworkState, S, StackModel, Step, editable
from ..models.networks.layers import rebuilt, shapes_of, tensors_in
from ..models.rounding import Operation, Wrapper, operation_numbers, round_actions, without_empty_pops
from ..models.stacks import every_slot

STEPWISE = ("actions", "pushed")  # parts of what a network does in a step; others are of what it is before one
EVERY = -2  # in the place of a step: each of them

# ---- Named activations: what the modules inside a network give in a step, by torch's own forward hooks ----


@dataclass(frozen=True)
class Site:
    """A module inside a network, and how what it gives is laid out: of several tensors the first."""

    name: str  # torch's own, as in `named_modules`; the whole module goes by its class
    module: nn.Module  # the module
    shape: tuple[int, ...]  # of what it gives in a step on one word, without the axis of a word's symbols
    words: int  # the axis of the words
    # the axis of a word's symbols once that of the words stands first, where words are read again in every step; None
    # where a step gives one row a word
    places: int | None

    def along(self, given: Tensor) -> Tensor:
        """Return a view of what the module gave, (B, P, …), the symbol read last at P - 1."""
        rows = given.movedim(self.words, 0)
        return rows.unsqueeze(1) if self.places is None else rows.movedim(self.places, 1)


@torch.no_grad()
def sites_of(model: StackModel[Any], wanted: str | Sequence[str]) -> list[Site]:
    """Return the modules of ``model`` that are called ``wanted``, names or patterns such as ``layers.*``.

    Which axes are of the words and of a word's symbols is found by two trials with other numbers of these. Raises
    StacklensError: a name fits nothing, or a module of that name gives nothing in a step that can be kept.
    """
    while isinstance(model, Wrapper):
        model = model.model
    root = model.hooked
    named = {} if root is None else {name or type(root).__name__: part for name, part in root.named_modules()}
    found = dict[str, bool]()  # whether each was named itself
    for one in map(str, wanted if isinstance(wanted, Iterable) and not isinstance(wanted, str) else (wanted,)):
        fits = [one] if one in named else [name for name in named if fnmatchcase(name, one)]
        if not fits:
            near = get_close_matches(one, named, 6, 0.4) or list(named)[:6]
            raise StacklensError(
                f"there is no module {one!r:.60} in {model.name}; expected one of {', '.join(near) or 'none'}"
                f"{', …' * (len(near) < len(named))}"
            )
        found |= dict.fromkeys(fits, one in named) | {name: True for name in fits if found.get(name)}
    trials = list[dict[str, Tensor]]()
    for words, steps in ((2, 1), (5, 2)):
        state = model.initial_state(words)
        with watching({name: named[name] for name in found}) as seen:
            for _ in range(steps):
                seen.clear()
                state = model.step(torch.zeros(words, dtype=torch.int64, device=state.hidden.device), state).state
        trials.append(seen)
    sites, wrong = list[Site](), list[StacklensError]()
    for name, named_itself in found.items():
        try:
            sites.append(_site(name, named[name], *(trial.get(name) for trial in trials)))
        except StacklensError as error:
            if named_itself:
                raise
            wrong.append(error)  # what a pattern finds besides is left out where it gives nothing that can be kept
    if wrong and not sites:
        raise wrong[0]
    return sites


def _site(name: str, module: nn.Module, once: Tensor | None, again: Tensor | None) -> Site:
    """Return a module's site by what it gave to 2 words of one symbol and to 5 of two."""
    if once is None or again is None:
        raise StacklensError(f"module {name} gives no tensor in a step: expected one with an axis for the words")
    pairs = list(enumerate(zip(once.shape, again.shape, strict=False)))
    words = [axis for axis, pair in pairs if pair == (2, 5)]
    places = [axis for axis, (size, other) in pairs if other == size + 1]
    others = [axis for axis, (size, other) in pairs if other != size and axis not in (*words, *places)]
    if once.dim() != again.dim() or len(words) != 1 or len(places) > 1 or others:
        raise StacklensError(
            f"module {name} gives {list(once.shape)} for 2 words of one symbol and {list(again.shape)} for 5 of two: "
            "expected a tensor with one axis for the words, and at most one for their symbols"
        )
    shape = tuple(size for axis, (size, _) in pairs if axis not in (*words, *places))
    return Site(name, module, shape, words[0], places[0] + (places[0] < words[0]) if places else None)


@contextmanager
def watching(named: Mapping[str, nn.Module]) -> Iterator[dict[str, Tensor]]:
    """Run a block in which a dictionary holds the first tensor that each of the modules ``named`` gave last."""
    seen = dict[str, Tensor]()

    def keep(name: str, _module: nn.Module, _given: Any, answer: Any) -> None:
        if (tensor := _first(answer)) is not None:
            seen[name] = tensor.detach().clone()

    with ExitStack() as hooks:
        for name, module in named.items():
            hooks.enter_context(module.register_forward_hook(partial(keep, name)))
        yield seen


def _first(answer: Any) -> Tensor | None:
    parts = answer.values() if isinstance(answer, Mapping) else answer if isinstance(answer, tuple | list) else ()
    inside = (found for found in map(_first, parts) if found is not None)
    return answer if isinstance(answer, Tensor) else next(inside, None)


# ---- Changes, and the network that makes them ----


@dataclass(frozen=True)
class Edit:
    """A change of one part of a network at one step of each of B words."""

    # "hidden", "cells" (one cell), "stacks" (all that they hold), "height", "actions" or "pushed"; of a module its name
    part: str
    at: Tensor  # which step of each word, (B,) int64; -1 for never, `EVERY` for each
    # what the part is set to: numbers (B, U), (B, S', A or D) or (B, …), or a function of what they were in the
    # words whose step it is; for a cell a `Cell`, or a function of its values; another batch of memories; for a height
    # how many cells are taken off the top, (B,)
    value: Any
    # which hidden units (U,), or which stacks (S',)
    which: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.int64))
    number: int = 0  # of a cell or a height the number of its memory
    place: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.int64))  # of a cell, (B,)
    site: Site | None = None  # of a module, which it is

    def rows(self, step: int) -> Tensor:
        """Return the words whose ``step`` it is, (B,) bool."""
        return (self.at == step) | (self.at == EVERY)

    def before(self, state: NetworkState[Any], rows: Tensor) -> NetworkState[Any]:
        """Return ``state`` with the change made in ``rows`` (B,) bool."""
        if self.part == "hidden":
            hidden = state.hidden.clone()
            hidden[:, self.which] = self._in_place_of(hidden[:, self.which], rows)
            return replace(state, hidden=hidden)
        memory = editable(state.stack)
        if self.part == "cells":
            cell = self.value
            if not isinstance(cell, Cell):
                old = memory.cell(self.number, self.place)
                cell = Cell(old.lengths, self._in_place_of(old.values, rows))
            return replace(state, stack=memory.with_cell(rows, self.number, self.place, cell))
        if self.part == "stacks":
            return replace(state, stack=memory.with_stacks(rows, self.which.tolist(), self.value))
        return replace(state, stack=memory.lowered(rows, self.number, self.value))

    def within(self, answer: ControllerOutput, step: int) -> ControllerOutput:
        """Return ``answer`` with the change made in the words whose ``step`` it is."""
        whole = getattr(answer, self.part).expand(len(self.at), -1, -1).clone()  # (B, n_stacks, A or D)
        whole[:, self.which] = self._in_place_of(whole[:, self.which], self.rows(step))
        return replace(answer, **{self.part: whole})

    def inside(self, site: Site, step: int) -> torch.utils.hooks.RemovableHandle:
        """Return the hook by which the module at ``site`` gives in ``step`` something else to the words that are due.

        Where words are read again in every step, what it gives at an earlier symbol is changed again, too.
        """

        def hook(_module: nn.Module, _given: Any, answer: Any) -> Any:
            first, *others = tensors_in(answer) if isinstance(answer, Tensor | tuple | list) else (None,)
            if first is None:
                raise StacklensError(
                    f"module {site.name} gives {shapes_of(answer)}: only a tensor, or one in a tuple, can be replaced"
                )
            whole = first.clone()
            places = site.along(whole)
            for back in range(step + 1 if site.places is not None else 1):
                if bool((rows := self.rows(step - back)).any()):
                    here = places[:, -1 - back]
                    here[:] = self._in_place_of(here, rows)
            return rebuilt(answer, iter((whole, *others)))

        return site.module.register_forward_hook(hook, prepend=True)

    def _in_place_of(self, old: Tensor, rows: Tensor) -> Tensor:
        new = old.clone()
        new[rows] = (self.value[rows] if isinstance(self.value, Tensor) else self.value(old[rows])).to(old)
        return new


class Intervened(Wrapper[S]):
    """A network, soft or rounded, under ``edits`` in this order, for their words, once: it counts its steps."""

    name = "intervened"

    def __init__(self, model: StackModel[S], edits: Sequence[Edit] = ()) -> None:
        super().__init__(model)
        self.edits, self.now = tuple(edits), 0

    def _due(self, step: int, stepwise: bool) -> list[Edit]:
        found = (one for one in self.edits if one.site is None and (one.part in STEPWISE) is stepwise)
        return [one for one in found if bool(one.rows(step).any())]

    def entered(self, state: NetworkState[S], step: int) -> NetworkState[S]:
        """Return ``state`` before ``step`` with every change made that is due."""
        self.now = step
        for edit in self._due(step, stepwise=False):
            state = allowing_all(self, edit.before(state, edit.rows(step)), edit.rows(step))
        return state

    def step(self, symbols: Tensor, state: NetworkState[S]) -> Step[S]:
        with ExitStack() as modules:
            for edit in self.edits:
                if edit.site is not None:
                    modules.enter_context(edit.inside(edit.site, self.now))
            due = self._due(self.now, stepwise=True)
            return super().step(symbols, state) if due else self.model.step(symbols, state)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        # what is changed in this step, between the network's own controller and its own stack
        answer = self.model.controller(symbols, hidden, reading)
        for edit in self._due(self.now, stepwise=True):
            answer = edit.within(answer, self.now)
        return answer


def allowing_all(model: StackModel[Any], state: NetworkState[S], rows: Tensor) -> NetworkState[S]:
    """Return ``state`` with every symbol predicted in ``rows`` (B,) bool, where ``model`` predicts sets: what was
    predicted before a change rejects nothing after it, since it comes from another network.
    """
    if model.task_kind != "next set":
        return state
    everything = state.hidden.new_ones(len(rows), len(model.output_alphabet))
    old = everything if state.output is None else state.output
    return replace(state, output=torch.where(rows.unsqueeze(1), everything, old))


# ---- A run, recorded ----

KEPT = ("actions", "pushed", "reading", "output")  # of a step


def steps_of(model: StackModel[Any], words: tuple[Word, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return what every step reads, (N, T) int, -1 beyond a word's last step, and the number of steps, (N,).

    After a word's symbols comes the end symbol if there is one, then the extra steps that each symbol makes for, which
    read nothing: the number after the last letter's.
    """
    codes, lengths = encode_words(words, model.alphabet)
    read = lengths + (model.end is not None)
    steps = read * (1 + model.extra_steps)
    whole = np.full((len(words), int(steps.max(initial=0))), -1, np.int32)
    whole[:, : codes.shape[1]] = codes
    at = np.arange(whole.shape[1])
    whole[(at >= lengths[:, None]) & (at < read[:, None])] = len(model.alphabet)
    whole[(at >= read[:, None]) & (at < steps[:, None])] = model.n_symbols
    return whole, steps


def recorded(
    model: StackModel[Any],
    codes: np.ndarray,
    steps: np.ndarray,
    stacks: bool,
    *,
    begun: NetworkState[Any] | None = None,
    sites: Sequence[Site] = (),
) -> dict[str, Any]:
    """Return the arrays of a trace of words that read ``codes`` (N, T) in so many ``steps`` (N,), see `steps_of`.

    A network under intervention is one for these words. ``begun`` is the state before the first step, by default the
    network's own; ``sites`` are modules to be kept.
    """
    entered: Callable[[NetworkState[Any], int], NetworkState[Any]]
    entered = model.entered if isinstance(model, Intervened) else lambda state, _: state
    size, valid = codes.shape[1], np.arange(codes.shape[1]) < steps[:, None]
    state = entered(model.initial_state(len(codes)) if begun is None else begun, 0)
    symbols = torch.from_numpy(np.maximum(codes, 0).astype(np.int64)).to(state.hidden.device)
    hidden, standing = [state.hidden], [_standing(model, state)]
    # what every step adds, a tensor a step; of only empty words, shapes as after one step, with no steps
    kept: dict[str, list[Tensor]] = {name: [] for name in KEPT}
    lengths, cells, rejected = list[Tensor](), list[Tensor](), list[Tensor]()
    inside: dict[str, list[Tensor]] = {site.name: [] for site in sites}
    for t, column in enumerate(symbols.unbind(1)):
        check_time()
        keep = every_slot() if stacks else nullcontext()
        with keep, watching({site.name: site.module for site in sites}) as answers:
            step = model.step(column, state)
        for site in sites:
            inside[site.name].append(site.along(answers[site.name])[:, -1])
        state = entered(step.state, t + 1)
        for name in KEPT:  # copies: a reading is a view that would keep its whole stack in memory
            values = getattr(step, name).clone()
            kept[name].append(values.expand(len(codes), *values.shape[1:]))
        rejected.append(state.rejected)
        hidden.append(state.hidden)
        standing.append(_standing(model, state))
        if stacks and begun is None and hasattr(state.stack, "lengths"):  # 0 where a slot is yet to come
            lengths.append(torch.nn.functional.pad(state.stack.lengths, (0, size - state.stack.lengths.shape[-1])))
        if stacks and hasattr(state.stack, "topmost"):
            cells.append(state.stack.topmost(size))

    def whole(columns: Sequence[Tensor], shape: tuple[int, ...]) -> np.ndarray:
        """Return what steps gave as (N, T, …), NaN beyond the end of a word; of no steps of such a ``shape``."""
        empty = state.hidden.new_zeros(len(codes), 0, *shape)
        return _masked(torch.stack(list(columns), 1) if columns else empty, valid)

    return {
        **{name: whole(columns, (0, 0)) for name, columns in kept.items()},
        "rejected": torch.stack(rejected, 1).cpu().numpy() & valid if rejected else valid,
        "hidden": _masked(torch.stack(hidden, 1), np.pad(valid, ((0, 0), (1, 0)), constant_values=True)),
        "verdicts": torch.stack(standing, 1).cpu().numpy()[np.arange(len(codes)), steps],
        "lengths": whole(lengths, ()) if lengths else None,  # (N, T, T)
        "cells": whole(cells, ()) if cells else None,
        "activations": {site.name: whole(inside[site.name], site.shape) for site in sites},
    }


def _standing(model: StackModel[Any], state: NetworkState[Any]) -> torch.Tensor:
    return model.decide(state) & ~state.rejected if model.task_kind == "recognition" else ~state.rejected


def _masked(values: torch.Tensor, valid: np.ndarray) -> np.ndarray:
    half = values.dtype in (torch.bfloat16, torch.float16) or not values.is_floating_point()
    array: np.ndarray = (values.float() if half else values).cpu().numpy()
    array[~valid] = np.nan
    return array


# ---- Networks at chosen moments of their runs, as one batch that can be changed and run on ----
#
# A moment is a word and a step: what the network is before it reads symbol number `step`, from 0; after the whole
# word, the end symbol not read, where that is the word's length.


class Moments(NamedTuple):
    """Networks at M moments."""

    state: NetworkState[Any]  # their states
    heights: np.ndarray  # how high their stacks are by whole operations, (M, n_stacks) int

    def select(self, index: np.ndarray) -> Moments:
        """Return the moments ``index``, which may repeat."""
        return Moments(self.state.select(torch.from_numpy(np.asarray(index, np.int64))), self.heights[index])


@torch.no_grad()
def moments_of(
    model: StackModel[Any], words: Sequence[Word], steps: Sequence[int] | np.ndarray | None = None
) -> Moments:
    """Return ``model``, soft or rounded, at one step of each word; by default after all of it. Raises StacklensError:
    there is no such step, or no steps at all; UnknownSymbolError: a word has a symbol outside the alphabet.
    """
    check_stepwise(model)
    codes, lengths = encode_words(words, model.alphabet)
    at = lengths if steps is None else np.asarray(steps, np.int64)
    check_moments(at, lengths)
    symbols = torch.from_numpy(np.maximum(codes, 0).astype(np.int64))
    heights = np.zeros((len(words), model.n_stacks), np.int64)

    def advanced(state: NetworkState[Any], rows: np.ndarray, t: int) -> NetworkState[Any]:
        step = model.step(symbols[rows, t], state)
        if model.n_stacks and model.action_kind != "none":  # those of other things than stacks do nothing
            rounded = round_actions(model.action_kind, step.actions)
            numbers = operation_numbers(model.action_kind, model.operations, rounded)[..., : model.n_stacks]
            taken = numbers.expand(len(rows), -1).cpu().numpy()
            heights[rows] = without_empty_pops(np.maximum(taken, Operation.NONE), heights[rows])[1]
        return step.state

    return Moments(stopped(model, model.initial_state(len(words)), at, advanced), heights)


def stopped(
    model: StackModel[Any],
    state: NetworkState[Any],
    at: np.ndarray,
    advanced: Callable[[NetworkState[Any], np.ndarray, int], NetworkState[Any]],
) -> NetworkState[Any]:
    """Return the states of a batch before the steps ``at`` (B,); ``advanced`` makes step t of the rows that go on."""
    # one pass over all words: those whose step has come are set aside, the others run on
    parts, order, left = list[NetworkState[Any]](), list[np.ndarray](), np.arange(len(at))
    for t in range(int(at.max(initial=0)) + 1):
        here = at[left] == t
        if here.all():
            parts, order = [*parts, state], [*order, left]
            break
        if here.any():
            parts.append(state.select(torch.from_numpy(np.flatnonzero(here))))
            order.append(left[here])
            state, left = state.select(torch.from_numpy(np.flatnonzero(~here))), left[~here]
        state = advanced(state, left, t)
    if len(parts) == 1:
        return parts[0]
    # back to the order of the words
    hidden, rejected = (torch.cat([getattr(part, name) for part in parts]) for name in ("hidden", "rejected"))
    stacks: Any = editable(parts[0].stack).joined([part.stack for part in parts[1:]])
    outputs, output = [part.output for part in parts], None
    if (given := next((one for one in outputs if one is not None), None)) is not None:
        # which symbols may begin a word, as 1 and 0, where there is no output yet
        first = [model.first is None or symbol in model.first for symbol in model.output_alphabet]
        row = first if len(first) == given.shape[-1] else [False] * given.shape[-1]
        begun = torch.tensor([row], dtype=given.dtype)
        sized = zip(outputs, parts, strict=True)
        output = torch.cat([(begun if one is None else one).expand(len(part.rejected), -1) for one, part in sized])
    together = NetworkState(hidden, stacks, rejected, output)
    return together.select(torch.from_numpy(np.argsort(np.concatenate(order))))


def check_moments(at: np.ndarray, lengths: np.ndarray) -> None:
    """Check that every step is one of its word."""
    if at.shape != lengths.shape:
        raise StacklensError(f"{len(at)} steps for {len(lengths)} words; expected one a word, or one for all")
    wrong = np.flatnonzero((at < 0) | (at > lengths))
    if len(wrong):
        raise StacklensError(
            f"there is no step {at[wrong[0]]} of a word of length {lengths[wrong[0]]}: steps are counted from 0, and "
            "the word's length is the moment after it"
        )


def check_stepwise(model: StackModel[Any]) -> None:
    """Check that ``model`` is a single network that runs step by step."""
    if model.initial_state(1).hidden.dim() != 2:
        raise StacklensError("several networks on one axis cannot be intervened in; take one of them")
    if model.answers_to(()) is not None:
        raise StacklensError(f"a {model.name} answers whole words: there are no steps to intervene in")
