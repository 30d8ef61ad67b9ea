"""What lies on a stack in a run that was changed: shares of cells that were pushed, and pieces of lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor

from stacklens.models.base import StackModel
from stacklens.probe.kernel import CellEdit, HeightEdit, Intervened
from stacklens.viz.stacks import Piece

__all__ = ["pieces_at", "read_by", "shares_at"]

_PUT = "put there"  # in place of a letter
Then = Callable[[int, Any], Any]


def shares_at(model: StackModel[Any]) -> Then:
    """Return what is made of the shares of the cells that were pushed, (n_stacks, C), as each step finds them.

    What was put into a cell counts as pushed.
    """
    edits = model.edits if isinstance(model, Intervened) else ()

    def then(step: int, shares: np.ndarray) -> np.ndarray:
        for edit in edits:
            if int(edit.at[0]) != step:
                continue
            if isinstance(edit, CellEdit) and int(edit.place[0]) < shares.shape[1]:
                shares = shares.copy()
                shares[edit.number, int(edit.place[0])] = 1
            elif isinstance(edit, HeightEdit):
                count = int(edit.count[0])
                shares = shares.copy()
                shares[edit.number] = np.concatenate([shares[edit.number, count:], np.zeros(count)])
        return shares

    return then


def pieces_at(model: StackModel[Any], steps: int) -> Then:
    """Return what is made of the pieces on a stack of lengths, the lowest first, as each of so many steps finds them.

    Those that were put there are numbered as if steps behind the last one had pushed them, see `read_by`.
    """
    edits = model.edits if isinstance(model, Intervened) else ()

    def then(step: int, there: list[Piece]) -> list[Piece]:
        for edit in edits:
            if int(edit.at[0]) != step:
                continue
            high, last = there[-1].top if there else 0.0, step - 1  # it is seen after the step before
            if isinstance(edit, HeightEdit):
                there = _between(there, 0.0, max(0.0, high - float(edit.count[0])), last)
            elif isinstance(edit, CellEdit):
                there = _with_cell(there, max(0.0, high - int(edit.place[0])), edit, last, steps)
        return there

    return then


def read_by(model: StackModel[Any], read: list[int]) -> dict[str, Any]:
    """Return which letter each step pushed, by its number in "names"; behind the steps what was put there, so many.

    What is no letter is called so.
    """
    names = list(model.letters)
    if not isinstance(model, Intervened):
        return {"read": read, "names": names, "put": 0}
    read, put = list(read), [row for edit in _cells(model) for row in edit.value.values[0]]
    for edit in model.within:
        if edit.part == "pushed":
            value = edit.value[0, 0] if isinstance(edit.value, Tensor) else None
            read[int(edit.at[0])] = _letter(model, value)
    return {"read": [*read, *(_letter(model, row) for row in put)], "names": [*names, _PUT], "put": len(put)}


def _letter(model: StackModel[Any], value: Tensor | None) -> int:
    """Return which letter a network that pushes what it reads has pushed for ``value``; one too many for none."""
    found = None if value is None or not model.pushes_input else value.argmax()
    whole = found is not None and value is not None and float(value[found]) == float(value.abs().sum()) == 1
    return int(found) if found is not None and whole else len(model.letters)


def _cells(model: Intervened[Any]) -> list[CellEdit]:
    return [edit for edit in model.edits if isinstance(edit, CellEdit)]


def _with_cell(there: list[Piece], high: float, edit: CellEdit, step: int, put: int) -> list[Piece]:
    """Return the pieces with those of a cell below ``high`` in place of what lies there, cut off at that height."""
    low, found = max(0.0, high - 1), list[Piece]()
    ends = low + np.cumsum([0.0, *edit.value.lengths[0].tolist()])
    for number, (bottom, top) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        if min(top, high) > bottom:
            found.append(Piece(put + number, step, step, bottom, min(top, high)))
    return [*_between(there, 0.0, low, step), *found, *_between(there, high, np.inf, step)]


def _between(there: list[Piece], low: float, high: float, step: int) -> list[Piece]:
    """Return the pieces that lie between two heights, those that are cut as new ones from ``step`` on."""
    found = []
    for piece in there:
        bottom, top = max(piece.bottom, low), min(piece.top, high)
        if top <= bottom:
            continue
        same = (bottom, top) == (piece.bottom, piece.top)
        found.append(piece if same else Piece(piece.pushed, step, step, bottom, top))
    return found
