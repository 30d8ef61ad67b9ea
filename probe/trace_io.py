"""A trace as one .npz file: arrays of numbers, and what they are of as JSON in one more; nothing in it is ever run."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..automata.formats.json import from_json, to_json
from ..automata.pda import Word
from ..core.errors import FileFormatError, StacklensError, in_file
from ..core.files import (
    LARGEST_NETWORK,
    check_ending,
    from_plain,
    parse_json,
    put_off,
    read_whole,
    to_plain,
    write_whole,
)
from ..models.base import NetworkCard, StackModel
from ..models.checkpoint import open_card
from ..models.plain_data import is_intact
from ..models.rounding import Rounded
from .trace import ARRAYS, NOT_IN_FILE, REPLACED, Selection, Trace

if TYPE_CHECKING:
    from rich.table import Table

_FORMAT, _VERSION = "stacklens trace", 1
_EXPECTED = "a trace that stacklens wrote"
# axes of the same size in all arrays: N words, T steps, T + 1 moments; and * for any size
_SIZES = {"word": "N", "step": "T", "moment": "M", "slot": "T"}
_OPTIONAL = ("lengths", "cells")
_ACTIVATION = "activation "  # before the name of a module


@dataclass(frozen=True)
class _Head:  # its name stands in every saved trace
    """What the arrays are of."""

    format: str
    version: int
    words: tuple[Word, ...]
    letters: tuple[str, ...]
    rounded: bool
    card: NetworkCard | None
    automaton: str | None = None
    begin: str | None = None


def save_trace(path: str | Path, seen: Trace) -> None:
    """Write ``seen`` to a .npz file, whole or not at all. Raises StacklensError: another suffix, or no such place."""
    check_ending(Path(path), [".npz"])
    begin = NOT_IN_FILE if isinstance(seen.begin, Selection) else seen.begin
    # an automaton's run is made again from its own beginning, so a trace that begins elsewhere is kept without
    automaton = seen.automaton if begin in (None, REPLACED) else None
    joined = None if automaton is None else json.dumps(json.loads(to_json(automaton)))
    head = to_plain(_Head(_FORMAT, _VERSION, seen.words, seen.letters, seen.rounded, seen.network, joined, begin))
    text = np.frombuffer(json.dumps(head, ensure_ascii=False).encode(), np.uint8)
    arrays = {name: array for name in ARRAYS if (array := getattr(seen, name)) is not None}
    arrays |= {_ACTIVATION + name: array for name, array in seen.activations.items()}
    buffer = io.BytesIO()
    np.savez(buffer, head=text, **arrays)
    write_whole(path, buffer.getvalue())


def load_trace(path: str | Path) -> Trace:
    """Return the trace in the file at ``path``; its network is opened when it is asked for. Raises FileFormatError: the
    file is missing, damaged, or no trace of ours; one line that names the file.
    """
    data = read_whole(path, _EXPECTED, LARGEST_NETWORK)
    if not is_intact(data):
        raise FileFormatError(f"{path}: damaged, truncated or no .npz file; expected {_EXPECTED}")
    with in_file(path):
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
        except Exception:  # numpy and zipfile raise half a dozen kinds
            raise StacklensError(f"holds what is no array of numbers; expected {_EXPECTED}") from None
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):  # bytes, where no array begins
            raise StacklensError(f"holds what is no array of numbers; expected {_EXPECTED}")
        kept = arrays.pop("head", None)
        if kept is None or kept.dtype != np.uint8:
            raise StacklensError(f"no array called head; expected {_EXPECTED}")
        try:
            text = kept.tobytes().decode()
        except UnicodeDecodeError:
            raise StacklensError(f"its head is no text; expected {_EXPECTED}") from None
        head = from_plain(_Head, parse_json(text, _EXPECTED), "head")
        if (head.format, head.version) != (_FORMAT, _VERSION):
            raise StacklensError(f"of format {head.format!r}, version {head.version}; this stacklens reads {_VERSION}")
        _check_axes(head, arrays)
        automaton = None if head.automaton is None else from_json(head.automaton)
    own: dict[str, Any] = {name: getattr(head, name) for name in ("words", "letters", "rounded", "card", "begin")}
    own |= {name: arrays.get(name) for name in ARRAYS}
    inside = {name[len(_ACTIVATION) :]: arrays[name] for name in arrays if name.startswith(_ACTIVATION)}
    seen = Trace(**own, automaton=automaton, activations=inside)
    card, folder = head.card, Path(path).parent
    if card is None:
        return seen

    def network() -> StackModel[Any]:
        model = open_card(card, folder)
        return Rounded(model) if head.rounded else model

    return put_off(seen, model=network)


def _check_axes(head: _Head, arrays: Mapping[str, np.ndarray]) -> None:
    if wrong := {name for name in arrays if not name.startswith(_ACTIVATION)} ^ set(ARRAYS) - {
        name for name in _OPTIONAL if name not in arrays
    }:
        raise StacklensError(f"lacks or should not have the array {min(wrong)[:40]!r}; expected {_EXPECTED}")
    steps = arrays["symbols"].shape[1] if arrays["symbols"].ndim == 2 else -1
    sizes = {"N": len(head.words), "T": steps, "M": steps + 1}
    for name, array in arrays.items():
        kind, named = ARRAYS.get(name, ("f", ("word", "step", *("unit",) * (array.ndim - 2))))
        axes = "".join(_SIZES.get(axis, "*") for axis in named)
        shape = array.shape if steps else array.shape[: len(axes)]  # of empty words, outputs have an axis too many
        fits = array.dtype.kind == kind and len(shape) == len(axes)
        if not fits or any(sizes.get(axis, size) != size for axis, size in zip(axes, shape, strict=True)):
            raise StacklensError(f"{name} is {array.dtype} of shape {array.shape}; expected {kind} of {axes}")
    symbols, count = arrays["symbols"], arrays["steps"]
    real = np.arange(max(0, steps)) < count[:, None]
    least = np.where(real, 0, -1)
    known = (symbols >= least) & (symbols < np.where(real, len(head.letters), 0))
    if not known.all() or (count < 0).any() or (count > steps).any():
        raise StacklensError("its steps read letters that it does not have")
    if not all(set(word) <= set(head.letters) for word in head.words):
        raise StacklensError("its words have letters that it does not have")


# ---- A trace as a table of steps ----
#
# For continuous stacks: input, state, action, stack (Sun et al. 1993, tables 1 and 2). For others: input, action, what
# was laid down, what the controller saw, and what it says (Joulin & Mikolov 2015, table 3; Hao et al. 2018, figures 5
# and 6).


def rich_step_table(model: StackModel[Any], seen: Trace, word: int = 0) -> Table:
    """Return the steps of word number ``word`` of a trace of ``model`` as a rich table, one row a step."""
    from rich.table import Table

    continuous = seen.lengths is not None
    columns = ("state", "action", "stack") if continuous else ("action", "pushed", "seen of the stack", "says")
    table = Table("step", "input", *columns, "")
    for step in range(int(seen.steps[word])):
        hidden, actions, output = seen.hidden[word, step + 1], seen.actions[word, step], seen.output[word, step]
        if continuous:
            segments = " ".join(f"{symbol} {length:.4f}" for symbol, length in seen.segments(word, step))
            cells = [vector_text(hidden), vector_text(actions), segments or "empty"]
        else:
            laid, shown = (
                "\n".join(vector_text(row, 2) for row in part[word, step]) for part in (seen.pushed, seen.reading)
            )
            done = "\n".join(_named_shares(model, row) for row in actions)
            says = vector_text(output, 2)
            if model.task_kind == "next set":
                says = "{" + " ".join(model.output_alphabet[i] for i in np.flatnonzero(output > 0.5)) + "}"
            elif model.task_kind != "recognition":
                says = f"{model.output_alphabet[int(output.argmax())]} {output.max():.2f}"
            cells = [done, laid, shown, says]
        letter = seen.letters[seen.symbols[word, step]]
        table.add_row(str(step + 1), letter, *cells, "rejected" if seen.rejected[word, step] else "")
    return table


def _named_shares(model: StackModel[Any], row: np.ndarray) -> str:
    names = model.operations or ("pop", "push")
    if model.action_kind == "softmax" and len(names) > 3:
        return f"{names[int(row.argmax())]} {row.max():.2f}"
    return "  ".join(f"{name} {share:.2f}" for name, share in zip(names, row, strict=True))


def vector_text(values: np.ndarray, digits: int = 4) -> str:
    """Return numbers as they stand in a table, with blanks between."""
    return " ".join(f"{value:.{digits}f}" for value in values.ravel())
