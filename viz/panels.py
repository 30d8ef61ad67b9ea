"""Pictures over time: panels one below the other, which share an axis of steps that spells the word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from stacklens.probe.trace import Trace
from stacklens.viz.style import scale_for, sentence, themed

__all__ = ["Panel", "figure_of", "heat_panel", "letters_of"]

_WRITTEN = 30  # steps up to which cells carry their values
_SPELLED = 80  # steps that are labelled with their symbols; more of them would overlap
_MARKED = 2_000  # cells that get a mark of their own
_LABELLED_CELLS = 40_000  # cells whose hover text names the symbol; beyond, a file would hold mostly such text
_ROW = 22  # pixels


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
    from plotly.subplots import make_subplots

    heights = [panel.height for panel in panels]
    gaps, edges = 40 * (len(panels) - 1), 120
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        shared_xaxes=True,
        row_heights=heights,
        vertical_spacing=40 / (sum(heights) + gaps) if len(panels) > 1 else 0,
        subplot_titles=[panel.heading for panel in panels],
    )
    for row, panel in enumerate(panels, 1):
        figure.add_traces(list(panel.traces), rows=[row] * len(panel.traces), cols=[1] * len(panel.traces))
        figure.update_yaxes(panel.y, row=row, col=1)
    _place_colour_bars(figure, sum(heights) + gaps)
    _name_once(figure)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    figure.update_xaxes(range=[0.5, len(letters) + 0.5], showgrid=False)
    figure.update_xaxes(_word_axis(letters), row=len(panels), col=1)
    figure.update_layout(
        title={"text": title, "x": 0, "xref": "paper", "font": {"size": 15}},
        height=sum(heights) + gaps + edges,
        margin={"l": 90, "r": 20, "t": 70, "b": 50},
        barmode="overlay",
        bargap=0,
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)


def _word_axis(letters: Sequence[str]) -> dict[str, Any]:
    """Return an x-axis that spells the word if it is short enough, else counts its steps."""
    if len(letters) > _SPELLED:
        return {"title": {"text": f"step, 1 to {len(letters):,}"}, "showticklabels": True}
    ticks = list(range(1, len(letters) + 1))
    return {"title": {"text": "symbol read"}, "tickvals": ticks, "ticktext": list(letters), "tickangle": 0}


def _name_once(figure: go.Figure) -> None:
    """Let a name that several panels have stand in the legend once."""
    named = set[str]()
    for one in figure.select_traces(selector=lambda one: one.name is not None):
        one.legendgroup, one.showlegend = one.name, one.name not in named
        named.add(one.name)


def _place_colour_bars(figure: go.Figure, pixels: int) -> None:
    """Put every heat map's colour bar beside its own panel."""
    for map_ in figure.select_traces(selector={"type": "heatmap"}):
        if map_.showscale is False:
            continue
        low, high = figure.layout["yaxis" + map_.yaxis[1:]].domain
        bar = {"len": high - low, "lenmode": "fraction", "y": (low + high) / 2, "thickness": 10, "outlinewidth": 0}
        short = (high - low) * pixels < 90
        map_.colorbar = {**bar, "nticks": 3 if short else 5, "tickfont": {"size": 11}}
