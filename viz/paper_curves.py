"""The papers' own figures: accuracy over n (Joulin & Mikolov 2015, figure 2), words by length and depth (Suzgun 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from stacklens.papers.grid import Grid, statistic
from stacklens.papers.grid_results import GridResults, RowResult
from stacklens.papers.results import Results
from stacklens.viz.style import CATEGORIES, themed

__all__ = ["claim_figures", "counts_figure", "curve_figure", "is_curve"]

_OVER_N = re.compile(r"n = (\d+)( rounded)?")  # a score at one size, of the network itself or of the rounded one
_DASHES = ("solid", "dot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross")


def is_curve(grid: Grid) -> bool:
    """Return whether the scores of ``grid`` are those at single sizes, so that they make a curve."""
    return bool(grid.scores) and all(_OVER_N.fullmatch(score) for score in grid.scores)


def curve_figure(grid: Grid, results: GridResults) -> go.Figure:
    """Return a line for every row over all sizes n that were measured, dotted for the rounded network.

    It is the network of a row that is best on validation.
    """
    lines = []
    for number, row in enumerate(grid.rows):
        done = results.row(row.name)
        for rounded in (False, True):
            points = {} if done is None else _points(done, rounded)
            if points:
                lines.append(_line(row.name + (", rounded" if rounded else ""), points, number, rounded))
    figure = go.Figure(lines)
    figure.update_xaxes(title={"text": "n"}, rangemode="tozero")
    figure.update_yaxes(range=[-0.05, 1.08], tickformat=".0%")
    figure.update_layout(
        title={"text": f"{grid.paper}: strings of size n that are predicted", "x": 0, "xref": "paper"},
        height=420,
        margin={"l": 60, "r": 20, "t": 60, "b": 120},
        legend={"orientation": "h", "x": 0, "y": -0.22, "yanchor": "top"},
    )
    return themed(figure)


def _points(done: RowResult, rounded: bool) -> dict[int, float]:
    networks = [network.scores for network in done.networks]
    found = dict[int, float]()
    for score in networks[0] if networks else ():
        match = _OVER_N.fullmatch(score)
        value = statistic("chosen", networks, score) if match and bool(match[2]) == rounded else None
        if match is not None and value is not None:
            found[int(match[1])] = value
    return dict(sorted(found.items()))


def _line(name: str, points: Mapping[int, float], number: int, rounded: bool) -> Any:
    return go.Scatter(
        x=list(points),
        y=list(points.values()),
        mode="lines+markers",
        name=name,
        line={"color": CATEGORIES[number % len(CATEGORIES)], "dash": _DASHES[rounded], "width": 2},
        marker={"symbol": _SYMBOLS[number % len(_SYMBOLS)], "size": 6},
        hovertemplate="n = %{x}<br>%{y:.1%}<extra>" + name + "</extra>",
    )


def claim_figures(results: Results) -> list[go.Figure]:
    """Return a figure for each quantity that a claim counted in several sets of words, such as lengths and depths."""
    figures = []
    for claim in results.claims:
        if _is_counted(claim.figures):
            names = dict.fromkeys(name for counts in claim.figures.values() for name in counts)
            figures += [counts_figure(claim.figures, name, results.paper) for name in names]
    return figures


def _is_counted(figures: Mapping[str, Any]) -> bool:
    """Return whether these are sets of words, each with quantities, each with a count for every value."""
    return bool(figures) and all(
        isinstance(counts, dict)
        and counts
        and all(isinstance(found, dict) and all(map(str.isdigit, found)) for found in counts.values())
        for counts in figures.values()
    )


def counts_figure(figures: Mapping[str, Mapping[str, Mapping[str, int]]], name: str, paper: str) -> go.Figure:
    """Return how many words of each set have each value of the quantity ``name``, as bars side by side."""
    bars = [
        go.Bar(
            x=[int(value) for value in counts.get(name, {})],
            y=list(counts.get(name, {}).values()),
            name=words,
            marker={"color": CATEGORIES[number % len(CATEGORIES)], "pattern": {"shape": ("", "/", ".")[number % 3]}},
            hovertemplate=f"{name} %{{x}}<br>%{{y:,}} words<extra>{words}</extra>",
        )
        for number, (words, counts) in enumerate(figures.items())
    ]
    figure = go.Figure(bars)
    figure.update_xaxes(title={"text": name})
    figure.update_yaxes(title={"text": "words"})
    figure.update_layout(
        title={"text": f"{paper}: {name}", "x": 0, "xref": "paper", "font": {"size": 15}},
        height=380,
        margin={"l": 60, "r": 20, "t": 80, "b": 50},
        barmode="group",
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)
