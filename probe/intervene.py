"""Interventions: a network's run with a part replaced at a step, and what comes of it.

The steps are those of `Trace`. What a network *is* before step t (hidden vector, cells, height) is replaced before
symbol t is read; what it *does* in step t (actions, pushed values) is replaced between its controller and its stack.
Interchange interventions, with values of another run, are those of Geiger et al. 2021 ("Causal abstractions of neural
networks", section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, cast

import numpy as np
import torch

from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..models.base import Cell, StackModel, editable
from ..models.rounding import Rounded
from .edits import (
    NAMED,
    CellEdit,
    Edit,
    HeightEdit,
    HiddenEdit,
    Intervened,
    Moments,
    OutputEdit,
    Sources,
    StackEdit,
    StepEdit,
    check_moments,
    check_stepwise,
    in_shape,
    moments_of,
    whole_numbers,
)
from .trace import Trace, recorded, steps_of

PARTS = ("hidden", "actions", "pushed", "cells", "height")
_STEPWISE = ("actions", "pushed")
Count = int | Sequence[int] | np.ndarray


class Choices(TypedDict, total=False):
    """What may be chosen of an intervention; what is not given is as by default.

    Attributes:
        from_word, from_step: the other run, a list for one a word; by default after all of it, for actions and pushed
            values its last step.
        units: which hidden units; by default all.
        stack: which stack; by default all, of cells and height the first.
        cell: which cell, 0 the top; None for all that the stack holds, then from a source.
        from_cell: which cell of the source; by default the same.
        automaton: for "centre".
        reference: words for "mean" and "centre"; by default ``words``.
        rounded: intervene in the rounded network.
    """

    from_word: Sequence[Word] | Word | None
    from_step: Count | None
    units: Sequence[int] | None
    stack: int | None
    cell: Count | None
    from_cell: Count | None
    automaton: PushdownAutomaton | None
    reference: Sequence[Word] | None
    rounded: bool


@torch.no_grad()
def intervene(
    model: StackModel[Any],
    words: Sequence[Word] | Word,
    at: Count,
    set: str | Sequence[str] | Mapping[str, Any],  # noqa: A002 (the word for it)
    *,
    stacks: bool | None = None,
    **choices: Unpack[Choices],
) -> Trace:
    """Return the trace of ``model`` on ``words`` with parts replaced before, or in, step ``at``.

    Whatever is replaced before a step, what was predicted earlier rejects nothing at that step: it comes from another
    network.

    Args:
        model: a single network.
        words: one word, or many: then ``at``, ``from_word``, ``from_step`` and ``cell`` may be one a word.
        at: the step, from 0; for hidden vector, cells and height the word's length is the moment after it.
        set: which part is set to what: ``{"hidden": …}`` and so on, of `PARTS`. Numbers, or "source" (another run's),
            "zero", "mean" (of the reference words), "rounded", and for hidden vectors "centre" (of the automaton's
            state). A height is a number, at most the present one. Names alone are set to "source".
        stacks: as for `trace`. Stacks of lengths are not recorded where cells are replaced: they are no longer what
            the word's own symbols pushed.
        choices: those of `Choices`.

    Raises:
        StacklensError: there is no such part, step, unit, stack or cell, or the value does not fit.
        UnknownSymbolError: a word has a symbol outside the alphabet.

    >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    >>> net = NNPDA(NNPDAConfig(("a", "b", "c")), seed=1)
    >>> seen = intervene(net, "abcba", at=3, set={"hidden": "zero"})
    >>> seen.hidden[0, 3].tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    many = (words,) if isinstance(words, str) else tuple(words)
    network = intervened(model, many, at, set, **choices)
    codes, steps = steps_of(model, many)
    keep = stacks if stacks is not None else len(many) * codes.shape[1] ** 2 * max(1, model.n_stacks) < 10_000_000
    arrays = recorded(network, codes, steps, keep, network.entered)
    if "cells" in _parts_to_set(set):
        arrays["lengths"] = None
    return Trace(
        many, model.letters, codes, steps, **arrays, model=network.model, rounded=choices.get("rounded", False)
    )


def check_intervenable(model: StackModel[Any]) -> None:
    """Check that something inside ``model`` can be replaced at a step.

    Raises:
        StacklensError: it is several networks, answers whole words, or reads from a queue.
    """
    check_stepwise(model)
    if not model.real_time:
        raise StacklensError(f"a {model.name} reads from a queue when it likes; interventions need a step a symbol")


@torch.no_grad()
def intervened(
    model: StackModel[Any],
    words: tuple[Word, ...],
    at: Count,
    set: str | Sequence[str] | Mapping[str, Any],  # noqa: A002
    **choices: Unpack[Choices],
) -> Intervened[Any]:
    """Return the network that `intervene` runs on ``words``, once: it counts its steps by `Intervened.entered`.

    Args and errors are those of `intervene`.
    """
    check_intervenable(model)
    if strange := choices.keys() - Choices.__annotations__.keys():
        known = ", ".join(Choices.__annotations__)
        raise StacklensError(f"intervene has no choice {', '.join(sorted(strange))}; it has {known}")
    runner: StackModel[Any] = Rounded(model) if choices.get("rounded") else model
    parts = _parts_to_set(set)
    _, steps = steps_of(model, words)
    when = _counts(at, len(words), "at")
    check_moments(when, steps)
    sources = _sources(runner, words, when, parts, choices)
    chosen = _Chosen(model, len(words), choices)
    edits, within = list[Edit](), list[StepEdit]()
    for part, value in parts.items():
        if part in _STEPWISE:
            within.append(_step_edit(part, value, sources, chosen))
        else:
            edits.append(_state_edit(part, value, sources, chosen))
    if edits and model.task_kind == "next set":
        size = len(model.output_alphabet)
        edits.append(OutputEdit(torch.from_numpy(when), torch.ones(len(words), size, dtype=_dtype(model))))
    return Intervened(runner, edits, within)


class _Chosen:
    """Which units, stacks and cells are meant, checked."""

    def __init__(self, model: StackModel[Any], n_words: int, choices: Choices) -> None:
        self.model, self.stack = model, (stack := choices.get("stack"))
        units, cell, from_cell = choices.get("units"), choices.get("cell", 0), choices.get("from_cell")
        size = model.initial_state(1).hidden.shape[-1]
        wanted = range(size) if units is None else units
        if not all(_is_number(unit, size) for unit in wanted):
            raise StacklensError(f"there are no units {list(wanted)!r:.60}: the {model.name} has {size}, from 0")
        self.units = torch.tensor(list(wanted), dtype=torch.int64)
        if stack is not None and not _is_number(stack, model.n_stacks):
            raise StacklensError(f"there is no stack {stack!r:.40}: the {model.name} has {model.n_stacks}, from 0")
        self.stacks = torch.arange(model.n_stacks) if stack is None else torch.tensor([stack])
        self.cell = None if cell is None else torch.from_numpy(_counts(cell, n_words, "cell"))
        given = self.cell if from_cell is None else torch.from_numpy(_counts(from_cell, n_words, "from_cell"))
        self.from_cell = given

    @property
    def number(self) -> int:
        """Return the number of the one stack that cells and height are of."""
        return self.stack or 0


def _parts_to_set(given: str | Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(given, Iterable):
        raise StacklensError(f"set is {given!r:.50}; expected names of parts, or a dictionary of parts and values")
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in PARTS:
            raise StacklensError(f"there is no part {name!r} to set; expected one of {', '.join(PARTS)}")
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, "source")
    for name, value in given.items():
        if isinstance(value, str) and value not in NAMED:
            raise StacklensError(f"{name} cannot be set to {value!r}; expected numbers, or {', '.join(NAMED)}")
    return dict(given)


def _sources(
    runner: StackModel[Any],
    words: tuple[Word, ...],
    at: np.ndarray,
    parts: Mapping[str, Any],
    choices: Choices,
) -> Sources:
    """Return where values come from, with a source run for every word."""
    others: list[Word] | None = None
    steps = None
    from_word, from_step, reference = choices.get("from_word"), choices.get("from_step"), choices.get("reference")
    if from_word is not None:
        listed = isinstance(from_word, list)
        single = not listed and all(symbol in runner.alphabet for symbol in from_word)
        others = [cast(Word, from_word)] * len(words) if single else list(from_word)
        if len(others) != len(words):
            raise StacklensError(f"{len(others)} sources for {len(words)} words; expected one a word, or one for all")
        last = np.array([len(word) for word in others], np.int64) - (min(parts, default="") in _STEPWISE)
        steps = last if from_step is None else _counts(from_step, len(words), "from_step")
    return Sources(
        runner, words, at, others, steps, words if reference is None else reference, choices.get("automaton")
    )


def _state_edit(part: str, value: Any, sources: Sources, chosen: _Chosen) -> Edit:
    at = torch.from_numpy(sources.at)
    if part == "hidden":
        if not len(chosen.units):
            raise StacklensError(f"the {chosen.model.name} has no hidden vector to set")
        return HiddenEdit(at, sources.hidden(value, chosen.units), chosen.units)
    if not chosen.model.n_stacks:
        raise StacklensError(f"the {chosen.model.name} has no stack: there are no {part} to set")
    if part == "height":
        return _height_edit(value, sources, chosen)
    if chosen.cell is None:
        if value != "source":
            raise StacklensError('all cells of a stack (cell=None) can only be set to those of a "source"')
        return StackEdit(at, chosen.stacks.tolist(), sources.other().state.stack)
    assert chosen.from_cell is not None
    if isinstance(value, str) and value == "source":
        found = editable(sources.other().state.stack).cell(chosen.number, chosen.from_cell)
    else:
        here = moments_of(sources.model, sources.words, sources.at).state.stack if isinstance(value, str) else None
        found = _made_cell(value, here, chosen, len(sources.at))
    return CellEdit(at, chosen.number, chosen.cell, found)


def _made_cell(value: Any, here: Any, chosen: _Chosen, n_words: int) -> Cell:
    if not isinstance(value, str):
        return Cell.of(in_shape(value, (n_words, chosen.model.cell_size), "cells").to(_dtype(chosen.model)))
    assert chosen.cell is not None
    old = editable(here).cell(chosen.number, chosen.cell)
    if value == "zero":
        return Cell(old.lengths, torch.zeros_like(old.values))
    if value == "rounded":
        return Cell(old.lengths, whole_numbers(old.values))
    raise StacklensError(f'cells cannot be set to "{value}"; expected numbers, "source", "zero" or "rounded"')


def _height_edit(value: Any, sources: Sources, chosen: _Chosen) -> HeightEdit:
    """Return what takes the stack down to a height, in lengths where the stack has them, else in whole cells."""
    if isinstance(value, str):
        raise StacklensError(f"height cannot be set to {value!r}; expected a number, at most the present height")
    wanted = in_shape(value, (len(sources.at),), "height")
    found = moments_of(sources.model, sources.words, sources.at)
    high = _height(found, chosen, sources.model)
    if bool((wanted < 0).any()) or bool((wanted > high + 1e-9).any()):
        row = int(((wanted < 0) | (wanted > high + 1e-9)).nonzero()[0])
        raise StacklensError(
            f"height cannot be set to {float(wanted[row]):g}: the stack is {float(high[row]):g} high at step "
            f"{sources.at[row]}, and nobody knows what would lie above that"
        )
    return HeightEdit(torch.from_numpy(sources.at), chosen.number, (high - wanted).clamp(min=0))


def _height(found: Moments, chosen: _Chosen, runner: StackModel[Any]) -> torch.Tensor:
    stack = getattr(found.state.stack, "stack", found.state.stack)
    if hasattr(stack, "length"):
        high: torch.Tensor = stack.length
        return high
    if not isinstance(runner, Rounded):
        raise StacklensError(
            f"soft actions leave the stack of a {runner.name} without a height: every cell is a mixture; set "
            "rounded=True, or replace cells"
        )
    return torch.from_numpy(found.heights[:, chosen.number].astype(np.float64))


def _step_edit(part: str, value: Any, sources: Sources, chosen: _Chosen) -> StepEdit:
    model = chosen.model
    if model.action_kind == "none" or not model.n_stacks:
        raise StacklensError(f"the {model.name} has no stack: there are no {part} to set")
    _, steps = steps_of(model, tuple(sources.words))
    if (sources.at >= steps).any():
        raise StacklensError(f"{part} are of a step; step {int(sources.at.max())} comes after the last one")
    if part == "pushed":
        size = model.cell_size
    else:
        size = len(model.operations) or {"signed": 1, "strengths": 2}[model.action_kind]
    made = sources.in_step(part, value, chosen.stacks, size)
    return StepEdit("pushed" if part == "pushed" else "actions", torch.from_numpy(sources.at), made, chosen.stacks)


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


def _dtype(model: StackModel[Any]) -> torch.dtype:
    return model.initial_state(1).hidden.dtype
