"""The papers' tables as pictures: a dot for every network that was trained."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults
from stacklens.viz.curves import curve_figure, is_curve
from stacklens.viz.style import CATEGORIES, themed

__all__ = ["grid_figures", "score_figure"]

_LINE = 26  # pixels of a row
_WIDEST = 34  # characters of a row's name


def grid_figures(grid: Grid, results: GridResults) -> list[go.Figure]:
    """Return a figure for each score that is shown and that some network has, or one curve; none without results."""
    if is_curve(grid):
        return [curve_figure(grid, results)] if results.rows else []
    scores = [
        score for score in grid.scores if any(score in one.scores for row in results.rows for one in row.networks)
    ]
    return [score_figure(grid, results, score) for score in scores]


def score_figure(grid: Grid, results: GridResults, score: str) -> go.Figure:
    """Return every network's ``score`` as a dot, a line a row, our median as a bar, the paper's figures as diamonds.

    Rows that were not run have the paper's figures alone.
    """
    rows = [row for row in grid.rows if _ours(results, row, score) or _theirs(row, score)]
    names = {row.name: _short(row.name) for row in rows}
    factor, unit = (100, "%") if grid.shares else (1, "")
    ours = [(names[row.name], factor * value) for row in rows for value in _ours(results, row, score)]
    medians = [
        (names[row.name], factor * statistics.median(values)) for row in rows if (values := _ours(results, row, score))
    ]
    theirs = [(names[row.name], value) for row in rows for value in _theirs(row, score)]
    figure = go.Figure(
        [
            _dots("ours, one network each", ours, unit, symbol="circle-open", size=8, color=CATEGORIES[0]),
            _dots("our median", medians, unit, symbol="line-ns-open", size=16, color=CATEGORIES[0]),
            _dots("the paper", theirs, unit, symbol="diamond", size=9, color=CATEGORIES[3]),
        ]
    )
    order = list(names.values())
    figure.update_yaxes(categoryorder="array", categoryarray=order[::-1], range=[-0.7, len(order) - 0.3])
    figure.update_xaxes(title={"text": f"{score}{', ' + unit if unit else ''}"})
    figure.update_layout(
        title={"text": f"{grid.paper}: {score}", "x": 0, "xref": "paper", "font": {"size": 15}},
        height=_LINE * len(order) + 150,
        margin={"l": 40, "r": 20, "t": 80, "b": 50},
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)


def _ours(results: GridResults, row: GridRow, score: str) -> list[float]:
    networks = [network for run in results.runs(row.name) for network in run.networks]
    return [network.scores[score] for network in networks if score in network.scores]


def _theirs(row: GridRow, score: str) -> list[float]:
    """Return the figures that the paper prints for a score, whichever statistics they are."""
    found = list[float]()
    for column, text in row.reported.items():
        if column.rpartition(" ")[0] == score:
            try:
                found.append(float(text.strip(" %")))
            except ValueError:  # a remark
                continue
    return found


def _dots(name: str, points: Sequence[tuple[str, float]], unit: str, **marker: Any) -> Any:
    if str(marker["symbol"]).endswith("-open"):
        marker["line"] = {"width": 2}
    return go.Scatter(
        x=[value for _, value in points],
        y=[row for row, _ in points],
        mode="markers",
        name=name,
        marker=marker,
        hovertemplate="%{y}<br>%{x:.4g}" + unit + "<extra>" + name + "</extra>",
    )


def _short(name: str) -> str:
    return name if len(name) <= _WIDEST else f"{name[: _WIDEST - 1]}…"
