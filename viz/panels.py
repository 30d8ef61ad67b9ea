"""Pictures over time: panels one below the other, which share an axis of steps that spells the word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..probe.trace import Trace
from .style import CATEGORIES, escaped, scale_for, sentence, state_colours, stepped, theme_layout

_WRITTEN = 30  # steps up to which cells carry their values
_SPELLED = 80  # steps that are labelled with their symbols; more of them would overlap
_MARKED = 2_000  # cells that get a mark of their own
_LABELLED_CELLS = 40_000  # cells whose hover text names the symbol; beyond, a file would hold mostly such text
_ROW = 22  # pixels
_GAP = 40  # pixels between two panels, where a heading stands
_EDGES = 120  # pixels above and below all panels

_NAMED = 60  # steps whose names are written into the track


@dataclass(frozen=True)
class Panel:
    """A part of a picture: its traces over steps 1, 2, …, its heading, its y-axis and its height in pixels."""

    heading: str
    traces: tuple[Any, ...]
    y: dict[str, Any] = field(default_factory=dict)
    height: int = 120


def letters_of(seen: Trace, word: int = 0) -> list[str]:
    """Return what word number ``word`` of a trace reads, one letter a step, the end symbol included."""
    return [seen.letters[number] for number in seen.symbols[word, : seen.steps[word]]]


def heat_panel(
    heading: str,
    values: np.ndarray,
    rows: Sequence[str],
    letters: Sequence[str],
    *,
    low: float | None = None,
    high: float | None = None,
    diverging: bool | None = None,
    kind: str = "value",
) -> Panel:
    """Return a heat map of ``values`` (T, rows), the first row on top; ``kind`` is what hover texts call a value.

    Its scale is that of `style.scale_for` with ``low``, ``high`` and ``diverging``.
    A cell that is NaN gets the mark ×, one beyond the ends of the scale, ``low`` and ``high``, the mark !.
    """
    scale = scale_for(values, low, high, diverging)
    steps = np.arange(1, len(values) + 1)
    hover = "step %{x}, %{y}<br>" + kind + " %{z:.6g}<extra></extra>"
    read: dict[str, Any] = {}
    if values.size <= _LABELLED_CELLS:
        hover = "step %{x}, reads %{text}<br>%{y}<br>" + kind + " %{z:.6g}<extra></extra>"
        read["text"] = [list(letters)] * values.shape[1]
    map_ = go.Heatmap(
        z=values.T,
        x=steps,
        y=list(rows),
        zmin=scale.low,
        zmax=scale.high,
        colorscale=scale.colours,
        texttemplate="%{z:.2f}" if len(values) <= _WRITTEN else None,
        textfont={"size": 10},
        hovertemplate=hover,
        xgap=1 if len(values) <= _SPELLED else 0,
        ygap=1,
        showlegend=False,
        **read,
    )
    marks = [*_marks(np.isnan(values), rows, "×"), *_marks(_beyond(values, scale.low, scale.high), rows, "!")]
    y = {"autorange": "reversed", "type": "category", "showgrid": False}
    return Panel(heading, (map_, *marks), y, max(64, _ROW * len(rows)))


def _beyond(values: np.ndarray, low: float, high: float) -> np.ndarray:
    slack = 1e-9 * (high - low)
    beyond: np.ndarray = (values < low - slack) | (values > high + slack)
    return beyond


def _marks(where: np.ndarray, rows: Sequence[str], mark: str) -> list[Any]:
    """Return the marks at the cells ``where`` (T, rows), as text that hovering passes through."""
    steps, places = np.nonzero(where)
    if not len(steps):
        return []
    marked = {"x": (steps + 1)[:_MARKED], "y": [rows[place] for place in places[:_MARKED]]}
    return [go.Scatter(**marked, mode="text", text=mark, hoverinfo="skip", showlegend=False)]


def figure_of(title: str, panels: Sequence[Panel], letters: Sequence[str]) -> go.Figure:
    """Return the panels as one figure over the steps that read ``letters``; a sentence where there are none."""
    if not letters:
        return sentence("The word is empty and the network takes no step, so there is nothing to draw.")
    if not panels:
        return sentence("This network has neither a stack nor a hidden vector, so there is nothing to draw.")
    heights = [panel.height for panel in panels]
    domains, pixels = _domains(heights), sum(heights) + _GAP * (len(panels) - 1)
    layout: dict[str, Any] = {
        **theme_layout(),
        "title": {"text": title, "x": 0, "xref": "paper", "font": {"size": 15}},
        "height": pixels + _EDGES,
        "margin": {"l": 90, "r": 20, "t": 70, "b": 50},
        "barmode": "overlay",
        "bargap": 0,
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
        "annotations": [_heading(panel.heading, high) for panel, (_, high) in zip(panels, domains, strict=True)],
    }
    traces: list[dict[str, Any]] = []
    for row, (panel, domain) in enumerate(zip(panels, domains, strict=True), 1):
        number = "" if row == 1 else str(row)
        layout[f"xaxis{number}"] = _step_axis(number, letters, row == len(panels))
        layout[f"yaxis{number}"] = {"anchor": f"x{number}", "domain": domain, **panel.y}
        for trace in panel.traces:
            placed = {**trace.to_plotly_json(), "xaxis": f"x{number}", "yaxis": f"y{number}"}
            traces.append({**placed, **_colour_bar(placed, domain, pixels)})
    _name_once(traces)
    return go.Figure({"data": traces, "layout": layout})


def _domains(heights: Sequence[int]) -> list[tuple[float, float]]:
    """Return from where to where each panel reaches, the first on top, as parts of the figure's height."""
    pixels = sum(heights) + _GAP * (len(heights) - 1)
    above = [sum(heights[:row]) + _GAP * row for row in range(len(heights))]
    return [
        (max(0.0, 1 - (top + height) / pixels), 1 - top / pixels) for top, height in zip(above, heights, strict=True)
    ]


def _heading(text: str, high: float) -> dict[str, Any]:
    place = {"x": 0, "xref": "paper", "xanchor": "left", "y": high, "yref": "paper", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, "font": {"size": 13}, **place}


def _step_axis(number: str, letters: Sequence[str], last: bool) -> dict[str, Any]:
    """Return the axis of steps of a panel; all move together, and the last one says what is read."""
    axis = {"anchor": f"y{number}", "range": [0.5, len(letters) + 0.5], "showgrid": False}
    together = {"matches": "x"} if number else {}
    return {**axis, **together, **(_word_axis(letters) if last else {"showticklabels": False})}


def _word_axis(letters: Sequence[str]) -> dict[str, Any]:
    """Return an x-axis that spells the word if it is short enough, else counts its steps."""
    if len(letters) > _SPELLED:
        return {"title": {"text": f"step, 1 to {len(letters):,}"}, "showticklabels": True}
    ticks = list(range(1, len(letters) + 1))
    return {"title": {"text": "symbol read"}, "tickvals": ticks, "ticktext": list(letters), "tickangle": 0}


def _name_once(traces: Sequence[dict[str, Any]]) -> None:
    """Let a name that several panels have stand in the legend once."""
    named = set[str]()
    for trace in traces:
        name = trace.get("name")
        if name is not None:
            trace |= {"legendgroup": name, "showlegend": name not in named}
            named.add(name)


def _colour_bar(trace: dict[str, Any], domain: tuple[float, float], pixels: int) -> dict[str, Any]:
    """Return the colour bar of a heat map, which stands beside its own panel."""
    if trace["type"] != "heatmap" or trace.get("showscale") is False:
        return {}
    low, high = domain
    bar = {"len": high - low, "lenmode": "fraction", "y": (low + high) / 2, "thickness": 10, "outlinewidth": 0}
    short = (high - low) * pixels < 90
    return {"colorbar": {**bar, "nticks": 3 if short else 5, "tickfont": {"size": 11}}}


def height_track(heights: np.ndarray) -> Panel:
    """Return a line for every column of ``heights`` (T, n_stacks) of the reference's stacks; NaN leaves a gap."""
    steps = np.arange(1, len(heights) + 1)
    lines = [
        go.Scatter(
            x=steps,
            y=heights[:, stack],
            mode="lines",
            line={"shape": "hvh", "color": CATEGORIES[stack % len(CATEGORIES)]},
            hovertemplate="after step %{x}<br>reference height %{y}<extra></extra>",
            showlegend=False,
        )
        for stack in range(heights.shape[1])
    ]
    return Panel("reference height", tuple(lines), {"rangemode": "tozero", "nticks": 4}, 64)


def category_track(heading: str, names: Sequence[str]) -> Panel:
    """Return one row of coloured cells, one a step, with the name in each while there is room."""
    colours = state_colours(names)
    numbers = {name: number for number, name in enumerate(colours)}
    row = go.Heatmap(
        z=[[numbers[name] for name in names]],
        x=list(range(1, len(names) + 1)),
        y=[heading],
        zmin=-0.5,
        zmax=len(colours) - 0.5,
        colorscale=stepped(colours.values()),
        showscale=False,
        text=[[escaped(name) for name in names]],
        texttemplate="%{text}" if len(names) <= _NAMED else None,
        hovertemplate="after step %{x}<br>%{text}<extra></extra>",
        xgap=1 if len(names) <= _NAMED else 0,
    )
    return Panel(heading, (row,), {"showticklabels": False}, 32)
