"""A change of one step, as somebody chooses it on the bench: what can be changed, and to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.probe.intervene import check_intervenable, intervened
from stacklens.probe.kernel import Intervened
from stacklens.probe.trace import trace

__all__ = ["Change", "call_of", "changeable", "changed_network", "operation_values", "values_of"]

_SIGNED: dict[str, tuple[float, ...]] = {"push": (1.0,), "pop": (-1.0,), "none": (0.0,)}
_STRENGTHS: dict[str, tuple[float, ...]] = {
    "push": (0.0, 1.0),
    "pop": (1.0, 0.0),
    "none": (0.0, 0.0),
    "replace": (1.0, 1.0),
}
_DIGITS = 3


@dataclass(frozen=True)
class Change:
    """What is replaced, in the terms of `probe.intervene.intervene`: steps, stacks, cells and units are from 0.

    Attributes:
        at: the step.
        part: one of `probe.intervene.PARTS`.
        value: numbers, or one of `probe.values.NAMED`.
        stack: which stack; None for the first one of cells and height, else for all.
        cell: which cell, 0 the top.
        unit: which hidden unit; None for all.
        from_word, from_step: where a value that is "source" comes from.
    """

    at: int
    part: str
    value: str | tuple[float, ...]
    stack: int | None = None
    cell: int = 0
    unit: int | None = None
    from_word: Word | None = None
    from_step: int | None = None

    def arguments(self) -> dict[str, Any]:
        """Return what is to be said beside network and word: what is as by default is left out."""
        value = self.value if isinstance(self.value, str) else [*self.value] if len(self.value) > 1 else self.value[0]
        said: dict[str, Any] = {"at": self.at, "set": {self.part: value}}
        if self.stack is not None and self.part != "hidden":
            said["stack"] = self.stack
        if self.part == "cells" and self.cell:
            said["cell"] = self.cell
        if self.part == "hidden" and self.unit is not None:
            said["units"] = [self.unit]
        if self.value == "source":
            said |= {"from_word": self.from_word, "from_step": self.from_step}
        return said


def changed_network(model: StackModel[Any], word: Word, change: Change) -> Intervened[Any]:
    """Return ``model``, a network or a rounded one, as it is on ``word`` with the change, once.

    Raises:
        StacklensError: as `probe.intervene.intervene`.
    """
    own, rounded = (model.model, True) if isinstance(model, Rounded) else (model, False)
    said = change.arguments()
    if said.get("from_word") is not None:
        said["from_word"] = [said["from_word"]]
    return intervened(own, (word,), **said, rounded=rounded)


def call_of(word: str, change: Change, rounded: bool, spelled: str | None = None) -> str:
    """Return the line of Python that does the same; ``spelled`` is the other word as it is typed.

    >>> call_of("([])", Change(2, "actions", (0.0, 1.0), stack=0), rounded=True)
    "sl.intervene(network, '([])', at=2, set={'actions': [0.0, 1.0]}, stack=0, rounded=True)"
    """
    said = change.arguments()
    if "from_word" in said:
        said["from_word"] = spelled
    if rounded:
        said["rounded"] = True
    return f"sl.intervene(network, {word!r}, {', '.join(f'{name}={value!r}' for name, value in said.items())})"


def operation_values(model: StackModel[Any]) -> dict[str, tuple[float, ...]]:
    """Return of every whole operation of ``model`` the actions that do it."""
    if model.action_kind == "softmax":
        ones = np.eye(len(model.operations)).tolist()
        return {name: tuple(row) for name, row in zip(model.operations, ones, strict=True)}
    if model.action_kind == "none":
        return {}
    return dict(_SIGNED if model.action_kind == "signed" else _STRENGTHS)


def changeable(model: StackModel[Any], meanings: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Return what can be changed in a step of ``model``, as plain data: its parts, and values to choose from.

    Args:
        model: a network.
        meanings: what the symbols of its automaton's stack stand for, see `symbol_meanings`; the middle of what the
            network pushes for one can be chosen.

    Raises:
        StacklensError: nothing in it can be changed at a step.
    """
    check_intervenable(model)
    parts: list[dict[str, Any]] = []
    if model.n_stacks and model.action_kind != "none":
        operations = operation_values(model)
        symbols = values_of(model, meanings)
        parts = [
            {"part": "actions", "numbers": len(next(iter(operations.values()))), "choices": _choices(operations)},
            {"part": "pushed", "numbers": model.cell_size, "choices": _choices(symbols)},
            {"part": "cells", "numbers": model.cell_size, "choices": _choices(symbols)},
            {"part": "height", "numbers": 1, "choices": []},
        ]
    units = model.initial_state(1).hidden.shape[-1]  # an LSTM's c, too
    if units:
        parts += [{"part": "hidden", "numbers": units, "choices": []}]
        parts += [{"part": "unit", "numbers": 1, "choices": []}]
    if not parts:
        raise StacklensError(f"a {model.name} network has neither hidden vector nor stack: nothing can be changed")
    return {"parts": parts, "stacks": model.n_stacks, "units": units}


def _choices(values: dict[str, tuple[float, ...]]) -> list[dict[str, str]]:
    """Return values by name as they are written in an address."""
    return [{"name": name, "to": " ".join(f"{number:g}" for number in row)} for name, row in values.items()]


def values_of(model: StackModel[Any], meanings: Sequence[dict[str, Any]] = ()) -> dict[str, tuple[float, ...]]:
    """Return what a cell holds for every letter that is pushed, or for every symbol of the automaton's stack.

    ``meanings`` are those of `changeable`.
    """
    return _letters(model) if model.pushes_input else _symbols(meanings)


def _symbols(meanings: Sequence[dict[str, Any]]) -> dict[str, tuple[float, ...]]:
    known = [one for one in meanings if one["low"] is not None]
    middles = {one["symbol"]: (np.array(one["low"]) + np.array(one["high"])) / 2 for one in known}
    return {name: tuple(np.round(row, _DIGITS).tolist()) for name, row in middles.items()}


def _letters(model: StackModel[Any]) -> dict[str, tuple[float, ...]]:
    """Return of every letter what a network pushes that reads it, where it pushes what it reads."""
    seen = trace(model, [(letter,) for letter in model.alphabet], stacks=False)
    return {letter: tuple(seen.pushed[number, 0, 0].tolist()) for number, letter in enumerate(model.alphabet)}
