"""The cells of a stack over time with their values, the top on top (Suzgun et al. 2019, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from stacklens.models.base import StackModel
from stacklens.probe.trace import Trace
from stacklens.viz.panels import Panel, figure_of, heat_panel, letters_of
from stacklens.viz.style import sentence
from stacklens.viz.titles import title_of

__all__ = ["stack_heatmap", "stack_panels", "top_values"]

_SHOWN = 20  # cells of a stack in a picture
_VISIBLE = 0.01  # a cell that never differs by so much from an empty one is left out


def stack_heatmap(model: StackModel[Any], seen: Trace, word: int = 0, shown: int = _SHOWN) -> go.Figure:
    """Return the ``shown`` topmost cells of every stack after every step on word number ``word``."""
    missing = _missing(model, seen)
    if missing:
        return sentence(missing)
    return figure_of(title_of(model, seen, word), stack_panels(seen, word, shown), letters_of(seen, word))


def _missing(model: StackModel[Any], seen: Trace) -> str | None:
    """Return why there are no cells to draw, or None."""
    if seen.cells is not None:
        return None
    if model.n_stacks == 0:
        return f"This {model.name} has no stack."
    if model.action_kind in ("signed", "strengths"):
        return f"The stack of this {model.name} has lengths, not cells: the segments show it."
    if not seen.steps.any():
        return "The word is empty and the network takes no step, so there is nothing to draw."
    return "This trace has no stack contents: trace with stacks=True."


def stack_panels(seen: Trace, word: int = 0, shown: int = _SHOWN) -> list[Panel]:
    """Return a heat map for every stack, the top on top, all with the same scale.

    Cells that stay empty throughout are left out. Where a cell holds several numbers, each has a row. The scale begins
    at what empty cells hold, 0 or -1.

    Raises:
        ValueError: the trace has no cells.
    """
    if seen.cells is None:
        raise ValueError("this trace has no cells: trace a network whose stack has cells with stacks=True")
    cells = seen.cells[word, : seen.steps[word]]  # (T, n_stacks, C, D)
    counts = [min(shown, _used(cells[:, stack])) for stack in range(cells.shape[1])]
    drawn = [cells[:, stack, :count].reshape(len(cells), -1) for stack, count in enumerate(counts)]
    low = -1.0 if any((values < 0).any() for values in drawn) else 0.0
    panels = []
    for stack, values in enumerate(drawn):
        name = "stack" if len(drawn) == 1 else f"stack {stack + 1}"
        many = f"the {counts[stack]} topmost cells" if counts[stack] > 1 else "the topmost cell"
        rows = list(_rows(counts[stack], cells.shape[3]))
        heading = f"{name} after each step, {many}"
        panels.append(heat_panel(heading, values, rows, letters_of(seen, word), low=low, diverging=False))
    return panels


def top_values(seen: Trace, word: int = 0) -> np.ndarray:
    """Return what the top of every stack holds after each step, (T, n_stacks, D).

    Raises:
        ValueError: the trace has no cells.
    """
    if seen.cells is None:
        raise ValueError("this trace has no cells: trace a network whose stack has cells with stacks=True")
    tops: np.ndarray = seen.cells[word, : seen.steps[word], :, 0]
    return tops


def _used(cells: np.ndarray) -> int:
    """Return how many of the topmost cells (T, C, D) something ever lies in, at least 3 where there are so many."""
    if not len(cells):
        return 1
    empty = cells[0, -1]  # the deepest one, after one step, where there are others
    differs = np.flatnonzero((np.abs(cells - empty) > _VISIBLE).any((0, 2)))
    deepest = int(differs[-1]) + 1 if len(differs) else 0
    return min(int(cells.shape[1]), max(3, deepest))


def _rows(count: int, size: int) -> Iterator[str]:
    for cell in range(count):
        name = "top" if cell == 0 else f"{cell + 1}"
        yield from [name] if size == 1 else [f"{name} [{place + 1}]" for place in range(size)]
