"""Many stacks at a glance: a coloured table of operations with the tops in it (Joulin & Mikolov 2015, figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from stacklens.models.base import StackModel
from stacklens.probe.trace import Trace
from stacklens.viz.operations import operation_names
from stacklens.viz.panels import Panel, figure_of, letters_of
from stacklens.viz.stacks import top_values
from stacklens.viz.style import MARKS, OPERATION_COLOURS, category_colours, sentence, stepped
from stacklens.viz.titles import title_of

__all__ = ["operation_panel", "operation_table"]

_VALUES, _MARKS = 30, 100  # steps up to which cells show the top's value, and a mark


def operation_table(model: StackModel[Any], seen: Trace, word: int = 0) -> go.Figure:
    """Return the operations as a table, a row a stack: green pushes ▲, red pops ▼, grey does nothing ·.

    The number is what the top holds after the step, where stacks have cells of one number and there is room.
    """
    if model.n_stacks == 0:
        return sentence(f"This {model.name} has no stack, so it takes no operations.")
    return figure_of(title_of(model, seen, word), [operation_panel(model, seen, word)], letters_of(seen, word))


def operation_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> Panel:
    """Return one row of coloured cells for every stack, with a legend of the operations taken."""
    names = operation_names(model, seen, word)
    taken = {name for step in names for name in step}
    colours = _colours([name for name in dict.fromkeys((*MARKS, *model.operations)) if name in taken])
    numbers = {name: number for number, name in enumerate(colours)}
    tops = None if seen.cells is None or seen.cells.shape[-1] != 1 else top_values(seen, word)[..., 0]
    map_ = go.Heatmap(
        z=np.array([[numbers[name] for name in step] for step in names]).T,
        x=list(range(1, len(names) + 1)),
        y=[f"stack {stack + 1}" for stack in range(model.n_stacks)],
        zmin=-0.5,
        zmax=max(len(colours), 1) - 0.5,
        colorscale=stepped(colours.values()),
        showscale=False,
        text=_texts(names, tops),
        texttemplate="%{text}",
        customdata=_hovers(names, tops, seen, word),
        hovertemplate="%{customdata}<extra></extra>",
        xgap=1 if len(names) <= _MARKS else 0,
        ygap=1,
    )
    valued = tops is not None and len(names) <= _VALUES
    heading = "operation of each stack" + (", with what its top then holds" if valued else "")
    y = {"autorange": "reversed", "type": "category", "showgrid": False}
    return Panel(heading, (map_, *_legend(colours)), y, max(80, 26 * model.n_stacks))


def _colours(names: Sequence[str]) -> dict[str, str]:
    others = category_colours([name for name in names if name not in OPERATION_COLOURS])
    return {name: OPERATION_COLOURS.get(name) or others[name] for name in names}


def _texts(names: Sequence[tuple[str, ...]], tops: np.ndarray | None) -> list[list[str]]:
    """Return what is written into the cells, a row a stack: mark and value, a mark, or nothing."""
    if len(names) > _MARKS or not names:
        return [[""] * len(names)] * (len(names[0]) if names else 0)
    valued = tops is not None and len(names) <= _VALUES
    return [
        [
            MARKS.get(step[stack], step[stack]) + (f"<br>{tops[t, stack]:.2f}" if valued and tops is not None else "")
            for t, step in enumerate(names)
        ]
        for stack in range(len(names[0]))
    ]


def _hovers(names: Sequence[tuple[str, ...]], tops: np.ndarray | None, seen: Trace, word: int) -> list[list[str]]:
    letters = letters_of(seen, word)
    stacks = len(names[0]) if names else 0
    return [
        [
            f"step {t + 1}, reads {letters[t]}<br>stack {stack + 1}: {step[stack]} "
            f"({seen.actions[word, t, stack].max():.6g})" + ("" if tops is None else f"<br>top {tops[t, stack]:.6g}")
            for t, step in enumerate(names)
        ]
        for stack in range(stacks)
    ]


def _legend(colours: dict[str, str]) -> list[Any]:
    """Return an empty trace for every operation, for the legend."""
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": "square", "size": 12, "color": colour},
            name=f"{MARKS.get(name, '')} {name}".strip(),
        )
        for name, colour in colours.items()
    ]
