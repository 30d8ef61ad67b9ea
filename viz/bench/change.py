"""A change of one step, as somebody chooses it on the bench: what can be changed, and to what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...automata.pda import Word
from ...core.errors import StacklensError
from ...core.progress import count
from ...extract.specification import Specification
from ...models.base import StackModel, one_thread
from ...models.rounding import Rounded
from ...probe.edits import Intervened
from ...probe.intervene import check_intervenable, intervened
from ...probe.trace import trace
from ..operations import letters_of, operation_names
from .run import UNSAID, BenchRun, answer_name, answers_of, bench_run, expected_of
from .word import Part, run_rows, step_part, steps_at

_DIGITS = 3


@dataclass(frozen=True)
class Change:
    """What is replaced, in the terms of `probe.intervene.intervene`: steps, stacks, cells and units are from 0."""

    at: int  # the step
    part: str  # one of `probe.intervene.PARTS`
    value: str | tuple[float, ...]  # numbers, or one of `probe.intervene.NAMED`
    stack: int | None = None  # which stack; None for the first one of cells and height, else for all
    cell: int = 0  # which cell, 0 the top
    unit: int | None = None  # which hidden unit; None for all
    from_word: Word | None = None  # where a value that is "source" comes from
    from_step: int | None = None
    from_cell: int | None = None  # which of its cells; None for the same one

    def arguments(self) -> dict[str, Any]:
        """Return the arguments beside network and word, without those that are as by default."""
        value = self.value if isinstance(self.value, str) else [*self.value] if len(self.value) > 1 else self.value[0]
        given: dict[str, Any] = {"at": self.at, "set": {self.part: value}}
        if self.stack is not None and self.part != "hidden":
            given["stack"] = self.stack
        if self.part == "cells" and self.cell:
            given["cell"] = self.cell
        if self.part == "hidden" and self.unit is not None:
            given["units"] = [self.unit]
        if self.value == "source":
            given |= {"from_word": self.from_word, "from_step": self.from_step}
            given |= {"from_cell": self.from_cell} if self.part == "cells" and self.from_cell is not None else {}
        return given


def changed_network(model: StackModel[Any], word: Word, change: Change) -> Intervened[Any]:
    """Return ``model``, a network or a rounded one, as it is on ``word`` with the change, once. Raises StacklensError:
    as `probe.intervene.intervene`.
    """
    own, rounded = (model.model, True) if isinstance(model, Rounded) else (model, False)
    given = change.arguments()
    if given.get("from_word") is not None:
        given["from_word"] = [given["from_word"]]
    return intervened(own, (word,), **given, rounded=rounded)


def call_of(word: str, change: Change, rounded: bool, spelled: str | None = None) -> str:
    """Return the line of Python that does the same; ``spelled`` is the other word as it is typed.

    >>> call_of("([])", Change(2, "actions", (0.0, 1.0), stack=0), rounded=True)
    "sl.intervene(network, '([])', at=2, set={'actions': [0.0, 1.0]}, stack=0, rounded=True)"
    """
    given = change.arguments()
    if "from_word" in given:
        given["from_word"] = spelled
    if rounded:
        given["rounded"] = True
    return f"sl.intervene(network, {word!r}, {', '.join(f'{name}={value!r}' for name, value in given.items())})"


def operation_values(model: StackModel[Any]) -> dict[str, tuple[float, ...]]:
    """Return of every whole operation of ``model`` the actions that do it."""
    if model.action_kind == "softmax":
        ones = np.eye(len(model.operations)).tolist()
        return {name: tuple(row) for name, row in zip(model.operations, ones, strict=True)}
    if model.action_kind == "none":
        return {}
    if model.action_kind == "signed":
        return {"push": (1.0,), "pop": (-1.0,), "none": (0.0,)}
    return {"push": (0.0, 1.0), "pop": (1.0, 0.0), "none": (0.0, 0.0), "replace": (1.0, 1.0)}  # strengths


def changeable(model: StackModel[Any], meanings: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Return what can be changed in a step of ``model``, as plain data: its parts, and values to choose from.

    Of what the symbols of its automaton's stack mean, see `symbol_meanings`, the middle can be chosen. Raises
    StacklensError: nothing in it can be changed at a step.
    """
    check_intervenable(model)
    parts: list[dict[str, Any]] = []
    if model.n_stacks and model.action_kind != "none":
        operations = operation_values(model)
        symbols = values_of(model, meanings)
        parts = [
            {"part": "actions", "numbers": len(next(iter(operations.values()))), "choices": _named_choices(operations)},
            {"part": "pushed", "numbers": model.cell_size, "choices": _named_choices(symbols)},
            {"part": "cells", "numbers": model.cell_size, "choices": _named_choices(symbols)},
            {"part": "height", "numbers": 1, "choices": []},
        ]
    units = model.initial_state(1).hidden.shape[-1]  # an LSTM's c, too
    if units:
        parts += [{"part": part, "numbers": size, "choices": []} for part, size in (("hidden", units), ("unit", 1))]
    if not parts:
        raise StacklensError(f"a {model.name} network has neither hidden vector nor stack: nothing can be changed")
    return {"parts": parts, "stacks": model.n_stacks, "units": units}


def _named_choices(values: dict[str, tuple[float, ...]]) -> list[dict[str, str]]:
    return [{"name": name, "to": " ".join(f"{number:g}" for number in row)} for name, row in values.items()]


def values_of(model: StackModel[Any], meanings: Sequence[dict[str, Any]] = ()) -> dict[str, tuple[float, ...]]:
    """Return what a cell holds for every letter that is pushed, or for every symbol of the automaton's stack.

    ``meanings`` are those of `changeable`.
    """
    if model.pushes_input:
        seen = trace(model, [(letter,) for letter in model.alphabet], stacks=False)
        return {letter: tuple(seen.pushed[number, 0, 0].tolist()) for number, letter in enumerate(model.alphabet)}
    known = [one for one in meanings if one["low"] is not None]
    middles = {one["symbol"]: (np.array(one["low"]) + np.array(one["high"])) / 2 for one in known}
    return {name: tuple(np.round(row, _DIGITS).tolist()) for name, row in middles.items()}


# ---- One word as it runs after a change, beside how it ran: the table's rows, and what has changed in one sentence.

_FEW = 3  # numbers that a sentence can hold


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

    ``spelled`` is how the word that something is taken from is written, and ``names`` what values of a cell stand for.
    Raises StacklensError: that cannot be changed, see `probe.intervene.intervene`.

    >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    >>> found = changed_word(NNPDA(NNPDAConfig(("a", "b")), seed=1), "ab", Change(1, "actions", (0.0,)))
    >>> found["sentence"][0]["text"]
    'With none in step 2'
    """
    with one_thread():
        before, after = bench_run(model, word), bench_run(changed_network(model, word, change), word)
        actual, other = answers_of(before), answers_of(after)
        expected = expected_of(specification, model, word)
    does, now = operation_names(model, before.seen), operation_names(model, after.seen)
    differs = [step for step, pair in enumerate(zip(does, now, strict=True)) if pair[0] != pair[1]]
    # places after which the answers differ, and steps with another operation, but for the one that is changed; from 0
    apart = [int(place) for place in np.flatnonzero(actual != other)]
    later = [step for step in differs if step > change.at or change.part != "actions"]
    # the effect, by the answers before and after the change
    effect: list[Part] = []
    if apart:
        now_says, was = (answer_name(model, numbers[apart[0]]) for numbers in (other, actual))
        how_often = f", it says something else after {len(apart):,} of {len(actual) - change.at:,} symbols, first at "
        effect += [{"text": how_often}, step_part(apart[0]), {"text": f" ({now_says}, was {was})"}]
        # how many answers have become wrong, and right
        asked = expected.answers != UNSAID
        right, still = (asked & (numbers == expected.answers) for numbers in (actual, other))
        for there, past, became in ((right & ~still, "right", "wrong"), (still & ~right, "wrong", "right")):
            if number := int(there.sum()):
                were, are = ("was", "is") if number == 1 else ("were", "are")
                text = f"{number:,} that {were} {past} {are} {became}"
                effect += [{"text": "; "}, {"text": text, "good": became == "right"}]
    elif later:
        effect.append({"text": ", all that it says stays"})
    else:
        effect.append({"text": f", nothing {'else ' if differs else ''}that it says or does changes"})
    if later:
        stacks = "stack" if model.n_stacks == 1 else "stacks"
        effect += [{"text": f"; it does something else to its {stacks}, first in "}, step_part(later[0])]
    if (apart or later) and model.task_kind == "recognition" and len(actual):
        same, verdict = bool(actual[-1]) == bool(other[-1]), "accepts" if other[-1] else "rejects"
        effect.append({"text": f"; it {'still' if same else 'now'} {verdict} the word"})
    return {
        "kind": model.task_kind,
        "letters": letters_of(before.seen),
        "rows": run_rows(model, after, other, expected.answers, {*other.tolist(), *expected.answers.tolist()}),
        "sentence": [_change_part(model, change, before, spelled, names or {}), *effect, {"text": "."}],
        "wrong": steps_at((expected.answers != UNSAID) & (other != expected.answers)),
        "changed": change.at + 1,
        "first": min([*later, *apart]) + 1 if later or apart else None,
    }


def _change_part(
    model: StackModel[Any], change: Change, run: BenchRun, spelled: str | None, names: Mapping[tuple[float, ...], str]
) -> Part:
    """Return what is changed, with what was there before where that is a few numbers or one operation."""
    parts = {"actions": "the operation", "pushed": "the value", "cells": "the cell"}
    what = "the value" if change.unit is not None else parts.get(change.part, "the hidden vector")
    if change.value == "source":
        read, size = (change.from_step or 0) + (change.part in ("actions", "pushed")), len(change.from_word or ())
        what = what if change.from_cell is None else f"cell {change.from_cell + 1}"
        new = f"{what} after {read:,} of the {count(size, 'symbol')} of {spelled or 'ε'}"
    elif isinstance(change.value, str):
        new = f"{what} at zero" if change.value == "zero" else f"{what} {change.value}"
    elif change.part == "actions":
        operations = {row: name for name, row in operation_values(model).items()}
        new = operations.get(change.value) or f"actions {_spelled_numbers(change.value, {})}"
    elif change.part == "height":
        new = f"a stack {change.value[0]:g} high"
    else:
        new = "other numbers" if len(change.value) > _FEW else _spelled_numbers(change.value, names)

    # what was there
    old: str | None = None
    row: np.ndarray | None = None
    if change.part == "actions":
        old = operation_names(model, run.seen)[change.at][change.stack or 0]
    elif change.part == "pushed":
        row = run.seen.pushed[0, change.at, change.stack or 0]
    elif change.part == "cells" and run.cells is not None and change.at and change.cell < run.cells.shape[2]:
        row = run.cells[change.at - 1, change.stack or 0, change.cell]
    elif change.part == "hidden" and change.unit is not None:
        row = run.seen.hidden[0, change.at, change.unit : change.unit + 1]
    if row is not None and len(row) <= _FEW and not isinstance(change.value, str):
        old = _spelled_numbers(tuple(row.tolist()), names)

    instead = f" in place of {old}" if old is not None and old != new else ""
    where = {
        "pushed": " to push",
        "cells": f" in cell {change.cell + 1}" if change.cell else " on top",
        "hidden": "" if change.unit is None else f" in hidden unit {change.unit + 1}",
    }.get(change.part, "")
    stack = f" on stack {change.stack + 1}" if model.n_stacks > 1 and change.stack is not None else ""
    step = f"{'in' if change.part in ('actions', 'pushed') else 'before'} step {change.at + 1:,}"
    return {"text": f"With {new}{instead}{where}{stack} {step}"}


def _spelled_numbers(row: tuple[float, ...], names: Mapping[tuple[float, ...], str]) -> str:
    numbers = " ".join(f"{number:.3g}" for number in row)
    name = names.get(row)
    return numbers if name is None else name if set(row) <= {0.0, 1.0} and len(row) > 1 else f"{name} ({numbers})"
