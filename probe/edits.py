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
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..automata.compiled import encode_words
from ..automata.pda import Word
from ..core.errors import StacklensError, UnknownSymbolError
from ..core.progress import check_time
from ..models.base import Cell, ControllerOutput, NetworkState, S, StackModel, Step, editable
from ..models.networks.layers import rebuilt, shapes_of, tensors_in
from ..models.rounding import Operation, Wrapper, operation_numbers, without_empty_pops
from ..models.stacks.continuous import every_slot

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

    Which axes are of the words and of a word's symbols is found by trials with other numbers of these. Raises
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
    for words, steps in ((2, 1), (3, 1), (2, 2)):
        state = model.initial_state(words)
        with watching({name: named[name] for name in found}) as seen:
            for _ in range(steps):
                seen.clear()
                state = model.step(torch.zeros(words, dtype=torch.int64, device=state.hidden.device), state).state
        trials.append(seen)
    sites = [_site(name, named[name], [trial.get(name) for trial in trials]) for name in found]
    # what a pattern finds besides is left out where it gives nothing that can be kept
    wrong = [site for site in sites if isinstance(site, str)]
    if named_itself := [one for one in wrong if found[one.split()[1]]] or (len(wrong) == len(sites) and wrong):
        raise StacklensError(named_itself[0])
    return [site for site in sites if isinstance(site, Site)]


def _site(name: str, module: nn.Module, given: Sequence[Tensor | None]) -> Site | str:
    """Return a module's site by what it gave to two words, to three, and in a second step to two; or what is wrong."""
    two, three, longer = ([] if one is None else list(one.shape) for one in given)
    axes = [axis for axis, pair in enumerate(zip(two, three, strict=False)) if pair == (2, 3)]
    if len(axes) != 1 or len({len(two), len(three), len(longer)}) > 1:
        shapes = f"{two} for 2 words and {three} for 3" if two else "no tensor in a step"
        return f"module {name} gives {shapes}: expected a tensor with one axis for the words"
    (words,) = axes
    one, other = ([*shape[:words], *shape[words + 1 :]] for shape in (two, longer))
    grown = [axis for axis, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
    if len(grown) > 1 or any(other[axis] != one[axis] + 1 for axis in grown):
        return f"module {name} gives {two} in a step and {longer} in the next: expected one axis more for the symbol"
    shape = tuple(size for axis, size in enumerate(one) if axis not in grown)
    return Site(name, module, shape, words, grown[0] + 1 if grown else None)


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

    # "hidden", "output", "cells" (one cell), "stacks" (all that they hold), "height", "actions" or "pushed"; of a
    # module its name
    part: str
    at: Tensor  # which step of each word, (B,) int64; -1 for never, `EVERY` for each
    # what the part is set to: numbers (B, U), (B, O), (B, S', A or D) or (B, …), or a function of what they were in the
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
        if self.part == "output":
            old = self.value if state.output is None else state.output
            return replace(state, output=torch.where(rows.unsqueeze(1), self.value, old))
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
        of_step = ((one, one.part in STEPWISE) for one in self.edits if one.site is None)
        return [one for one, is_of_step in of_step if is_of_step is stepwise and bool(one.rows(step).any())]

    def entered(self, state: NetworkState[S], step: int) -> NetworkState[S]:
        """Return ``state`` before ``step`` with every change made that is due."""
        for edit in self._due(step, stepwise=False):
            state = edit.before(state, edit.rows(step))
        self.now = step
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


# ---- A run, recorded ----

KEPT = ("actions", "pushed", "reading", "output")  # of a step


def steps_of(model: StackModel[Any], words: tuple[Word, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return what every step reads, (N, T) int, -1 beyond a word's last step, and the number of steps, (N,).

    After a word's symbols comes the end symbol if there is one, then the extra steps that each symbol makes for, which
    read nothing: the number after the last letter's.
    """
    numbers = {symbol: number for number, symbol in enumerate(model.alphabet)}
    end, nothing = [len(numbers)] * (model.end is not None), [model.n_symbols]
    try:
        read = [[*map(numbers.__getitem__, word), *end] for word in words]
    except KeyError as unknown:
        raise UnknownSymbolError(unknown.args[0], model.alphabet) from None
    if model.extra_steps:
        read = [symbols + nothing * (len(symbols) * model.extra_steps) for symbols in read]
    steps = np.array([len(symbols) for symbols in read], np.int64)
    codes = np.full((len(words), int(steps.max(initial=0))), -1, np.int32)
    codes[np.arange(codes.shape[1]) < steps[:, None]] = np.fromiter(chain.from_iterable(read), np.int32)
    return codes, steps


def recorded(
    model: StackModel[Any],
    codes: np.ndarray,
    steps: np.ndarray,
    stacks: bool,
    entered: Callable[[NetworkState[Any], int], NetworkState[Any]] = lambda state, _: state,
    *,
    begun: NetworkState[Any] | None = None,
    sites: Sequence[Site] = (),
) -> dict[str, Any]:
    """Return the arrays of a trace of words that read ``codes`` (N, T) in so many ``steps`` (N,), see `steps_of`.

    ``entered`` is given every state with the number of the step to come, and says what the network goes on from.
    ``begun`` is the state before the first step, by default the network's own; ``sites`` are modules to be kept.
    """
    state = entered(model.initial_state(len(codes)) if begun is None else begun, 0)
    symbols = torch.from_numpy(np.maximum(codes, 0).astype(np.int64)).to(state.hidden.device)
    hidden, rejected = [state.hidden], []
    taken: list[list[torch.Tensor]] = []  # copies: a reading is a view that would keep its whole stack in memory
    lengths: list[torch.Tensor] = []
    cells: list[torch.Tensor] = []
    decisions = [_standing(model, state)]
    inside: dict[str, list[torch.Tensor]] = {site.name: [] for site in sites}
    for t, column in enumerate(symbols.unbind(1)):
        check_time()
        keep = every_slot() if stacks else nullcontext()
        with keep, watching({site.name: site.module for site in sites}) as answers:
            step = model.step(column, state)
        for site in sites:
            inside[site.name].append(site.along(answers[site.name])[:, -1])
        state = entered(step.state, t + 1)
        taken.append([getattr(step, name).clone() for name in KEPT])
        rejected.append(state.rejected)
        hidden.append(state.hidden)
        decisions.append(_standing(model, state))
        if stacks and begun is None and hasattr(state.stack, "lengths"):
            lengths.append(state.stack.lengths)
        if stacks and hasattr(state.stack, "topmost"):
            cells.append(state.stack.topmost(codes.shape[1]))
    valid = np.arange(codes.shape[1]) < steps[:, None]
    # only empty words: shapes as after one step, with no steps
    arrays: dict[str, Any] = {name: np.zeros((len(codes), 0, 0, 0)) for name in KEPT} | {"rejected": valid}
    if taken:
        # (N, T, ...), NaN beyond the end of a word
        for name, columns in zip(KEPT, zip(*taken, strict=True), strict=True):
            expanded = [column.expand(len(valid), *column.shape[1:]) for column in columns]
            arrays[name] = _masked(torch.stack(expanded, 1), valid)
        arrays["rejected"] = torch.stack(rejected, 1).cpu().numpy() & valid
    arrays["hidden"] = _masked(torch.stack(hidden, 1), np.pad(valid, ((0, 0), (1, 0)), constant_values=True))
    decided = torch.stack(decisions, 1).cpu().numpy()
    arrays["verdicts"] = decided[np.arange(len(codes)), steps]
    # the slots' lengths after every step, (N, T, T), 0 where a slot is yet to come
    size = codes.shape[1]
    padded = [torch.nn.functional.pad(column, (0, size - column.shape[-1])) for column in lengths]
    arrays["lengths"] = _masked(torch.stack(padded, 1), valid) if lengths else None
    arrays["cells"] = _masked(torch.stack(cells, 1), valid) if cells else None
    none = state.hidden.new_zeros(len(codes), 0)
    arrays["activations"] = {
        site.name: _masked(torch.stack(inside[site.name], 1), valid)
        if taken
        else none.new_zeros(len(codes), 0, *site.shape).numpy()
        for site in sites
    }
    return arrays


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


class Moments:
    """Networks at M moments: their states, and how high their stacks are by whole operations, (M, n_stacks) int."""

    def __init__(self, state: NetworkState[Any], heights: np.ndarray) -> None:
        self.state, self.heights = state, heights

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
        heights[rows] = heights_after(model, step.actions, heights[rows])
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
    return joined_states(model, parts).select(torch.from_numpy(np.argsort(np.concatenate(order))))


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
    """Return the last output of ``state``, or which symbols may begin a word, as 1 and 0; None if no other has one."""
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
