"""One word as it runs after a change, beside how it ran: the table's rows, and what has changed in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.pda import Word
from stacklens.extract.specification import Specification
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.progress import count
from stacklens.viz.bench.answers import UNSAID, Expected, answer_name, answers_of, expected_of
from stacklens.viz.bench.change import Change, changed_network, operation_values
from stacklens.viz.bench.rows import run_rows
from stacklens.viz.bench.run import BenchRun, bench_run
from stacklens.viz.bench.sentence import Part, steps_at
from stacklens.viz.operations import operation_names
from stacklens.viz.panels import letters_of

__all__ = ["changed_word"]

_FEW = 3  # numbers that a sentence can hold


@dataclass(frozen=True)
class _Both:
    """A run as it was and after the change: what is said after every symbol, what is done in every step."""

    before: BenchRun
    after: BenchRun
    said: np.ndarray
    other: np.ndarray
    differs: list[int]  # the steps, from 0, in which something else is done

    @property
    def apart(self) -> list[int]:
        """Return the places after which something else is said, from 0."""
        return [int(place) for place in np.flatnonzero(self.said != self.other)]

    def later(self, change: Change) -> list[int]:
        """Return the steps in which something else is done, without the one whose operation is changed."""
        return [step for step in self.differs if step > change.at or change.part != "actions"]


def changed_word(
    model: StackModel[Any],
    word: Word,
    change: Change,
    specification: Specification | None = None,
    spelled: str | None = None,
    names: Mapping[tuple[float, ...], str] | None = None,
) -> dict[str, Any]:
    """Return what ``model``, a network or a rounded one, does on ``word`` after ``change``, as `word_data` returns it.

    Also the first step, from 1, at which it says or does something else ("first", None for nowhere; the operation that
    is changed does not count), and where the change is ("changed"). The automaton is left out: it runs as before.

    Args:
        model: the network.
        word: the word.
        change: what is replaced.
        specification: what the network should do, if that is known.
        spelled: how the word that something is taken from is written.
        names: what values of a cell stand for.

    Raises:
        StacklensError: that cannot be changed, see `probe.intervene.intervene`.

    >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    >>> found = changed_word(NNPDA(NNPDAConfig(("a", "b")), seed=1), "ab", Change(1, "actions", (0.0,)))
    >>> found["sentence"][0]["text"]
    'With none in step 2'
    """
    with one_thread():
        before, after = bench_run(model, word), bench_run(changed_network(model, word, change), word)
        said, other = answers_of(before), answers_of(after)
        expected = expected_of(specification, model, word)
    does, now = operation_names(model, before.seen), operation_names(model, after.seen)
    both = _Both(
        before, after, said, other, [t for t, pair in enumerate(zip(does, now, strict=True)) if pair[0] != pair[1]]
    )
    letters, comes = letters_of(before.seen), [*both.later(change), *both.apart]
    return {
        "kind": model.task_kind,
        "letters": letters,
        "rows": run_rows(model, after, other, expected.answers, {*other.tolist(), *expected.answers.tolist()}),
        "sentence": [
            *_what(model, change, both.before, spelled, names or {}),
            *_comes_of_it(model, change, both, expected),
            {"text": "."},
        ],
        "wrong": steps_at((expected.answers != UNSAID) & (other != expected.answers)),
        "changed": change.at + 1,
        "first": min(comes) + 1 if comes else None,
    }


# ---- what is changed ------------------------------------------------------------------------------------------------


def _what(
    model: StackModel[Any], change: Change, run: BenchRun, spelled: str | None, names: Mapping[tuple[float, ...], str]
) -> list[Part]:
    """Return what is changed, with what was there before where that is a few numbers or one operation."""
    step = f"{'in' if change.part in ('actions', 'pushed') else 'before'} step {change.at + 1:,}"
    stack = f" on stack {change.stack + 1}" if model.n_stacks > 1 and change.stack is not None else ""
    where = {
        "pushed": " to push",
        "cells": f" in cell {change.cell + 1}" if change.cell else " on top",
        "hidden": "" if change.unit is None else f" in hidden unit {change.unit + 1}",
    }.get(change.part, "")
    new, old = _new(model, change, spelled, names), _old(model, change, run, names)
    instead = f" in place of {old}" if old is not None and old != new else ""
    return [{"text": f"With {new}{instead}{where}{stack} {step}"}]


def _new(model: StackModel[Any], change: Change, spelled: str | None, names: Mapping[tuple[float, ...], str]) -> str:
    what = {"actions": "the operation", "pushed": "the value", "cells": "the cell"}.get(
        change.part, "the hidden vector"
    )
    if change.unit is not None:
        what = "the value"
    if change.value == "source":
        read, size = (change.from_step or 0) + (change.part in ("actions", "pushed")), len(change.from_word or ())
        return f"{what} after {read:,} of the {count(size, 'symbol')} of {spelled or 'ε'}"
    if isinstance(change.value, str):
        return f"{what} at zero" if change.value == "zero" else f"{what} {change.value}"
    if change.part == "actions":
        operations = {row: name for name, row in operation_values(model).items()}
        return operations.get(change.value) or f"actions {_spelled(change.value, {})}"
    if change.part == "height":
        return f"a stack {change.value[0]:g} high"
    return "other numbers" if len(change.value) > _FEW else _spelled(change.value, names)


def _old(model: StackModel[Any], change: Change, run: BenchRun, names: Mapping[tuple[float, ...], str]) -> str | None:
    """Return what was there, where that is an operation or a few numbers."""
    stack = change.stack or 0
    if change.part == "actions":
        return operation_names(model, run.seen)[change.at][stack]
    row: np.ndarray | None = None
    if change.part == "pushed":
        row = run.seen.pushed[0, change.at, stack]
    elif change.part == "cells" and run.cells is not None and change.at and change.cell < run.cells.shape[2]:
        row = run.cells[change.at - 1, stack, change.cell]
    elif change.part == "hidden" and change.unit is not None:
        row = run.seen.hidden[0, change.at, change.unit : change.unit + 1]
    few = row is not None and len(row) <= _FEW and not isinstance(change.value, str)
    return _spelled(tuple(row.tolist()), names) if row is not None and few else None


def _spelled(row: tuple[float, ...], names: Mapping[tuple[float, ...], str]) -> str:
    numbers = " ".join(f"{number:.3g}" for number in row)
    name = names.get(row)
    return numbers if name is None else name if set(row) <= {0.0, 1.0} and len(row) > 1 else f"{name} ({numbers})"


# ---- what comes of it -----------------------------------------------------------------------------------------------


def _comes_of_it(model: StackModel[Any], change: Change, both: _Both, expected: Expected) -> list[Part]:
    apart, later = both.apart, both.later(change)
    if not apart and not later:
        what = "nothing else that it says or does changes" if both.differs else "nothing that it says or does changes"
        return [{"text": f", {what}"}]
    parts = _said(model, change, both, expected) if apart else [{"text": ", all that it says stays"}]
    if later:
        stacks = "stack" if model.n_stacks == 1 else "stacks"
        parts += [{"text": f"; it does something else to its {stacks}, first in "}, _step(later[0])]
    return [*parts, *_verdict(model, both)]


def _said(model: StackModel[Any], change: Change, both: _Both, expected: Expected) -> list[Part]:
    apart, total = both.apart, len(both.said) - change.at
    names = [answer_name(model, numbers[apart[0]]) for numbers in (both.other, both.said)]
    parts: list[Part] = [
        {"text": f", it says something else after {len(apart):,} of {total:,} symbols, first at "},
        _step(apart[0]),
        {"text": f" ({names[0]}, was {names[1]})"},
    ]
    asked = expected.answers != UNSAID
    right, now = (asked & (numbers == expected.answers) for numbers in (both.said, both.other))
    for there, was, became in ((right & ~now, "right", "wrong"), (now & ~right, "wrong", "right")):
        if number := int(there.sum()):
            text = f"{number:,} that {_be('was', number)} {was} {_be('is', number)} {became}"
            parts += [{"text": "; "}, {"text": text, "good": became == "right"}]
    return parts


def _be(form: str, number: int) -> str:
    return form if number == 1 else {"was": "were", "is": "are"}[form]


def _verdict(model: StackModel[Any], both: _Both) -> list[Part]:
    if model.task_kind != "recognition" or not len(both.said):
        return []
    was, now = bool(both.said[-1]), bool(both.other[-1])
    does = ["rejects", "accepts"][now]
    return [{"text": f"; it {'still' if was == now else 'now'} {does} the word"}]


def _step(place: int) -> Part:
    return {"text": f"step {place + 1:,}", "step": place + 1}
