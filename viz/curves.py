"""Curves of the papers: accuracy against size (Joulin & Mikolov 2015, figure 2), words by length and depth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import plotly.graph_objects as go

from stacklens.extract.evaluation.accuracy_by_size import SizeScore, SizeScores
from stacklens.papers.grid import Grid, statistic
from stacklens.papers.grid_results import GridResults, RowResult
from stacklens.papers.results import Results
from stacklens.papers.suzgun2019_traces import NAME as TRACES
from stacklens.viz.style import CATEGORIES, sentence, themed
from stacklens.viz.trace_curves import traces_figure

__all__ = ["accuracy_figure", "claim_figures", "counts_figure", "curve_figure", "is_curve"]

# Lines that lie upon each other are told apart by their widths, the widest below, and by their marks.
_LOOKS: dict[str, dict[str, Any]] = {
    "network": {"line": {"width": 7, "color": CATEGORIES[1]}, "marker": {"symbol": "square", "size": 10}},
    "rounded network": {"line": {"width": 4, "color": CATEGORIES[5]}, "marker": {"symbol": "diamond", "size": 7}},
    "automaton": {"line": {"width": 1.5, "color": CATEGORIES[0]}, "marker": {"symbol": "circle", "size": 4}},
}
_ROW = 190  # pixels

_OVER_N = re.compile(r"n = (\d+)( rounded)?")  # a score at one size, of the network itself or of the rounded one
_DASHES = ("solid", "dot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross")


def accuracy_figure(scores: SizeScores, title: str = "accuracy") -> go.Figure:
    """Return a line for network, rounded network and automaton, one panel for each sort of words.

    >>> network, automaton = SizeScore("network", "pieces", 2, 2, 4, 3), SizeScore("automaton", "pieces", 2, 2, 4, 4)
    >>> scores = SizeScores("n", (network, automaton))
    >>> [(line.name, line.y) for line in accuracy_figure(scores).data]
    [('network', (0.75,)), ('automaton', (1.0,))]
    """
    from plotly.subplots import make_subplots

    sorts = list(dict.fromkeys(score.sort for score in scores.scores))
    if not sorts:
        return sentence("There are no words to judge, so there is nothing to draw.")
    figure = make_subplots(rows=len(sorts), cols=1, shared_xaxes=True, subplot_titles=sorts, vertical_spacing=0.12)
    for (who, sort), some in groupby(scores.scores, lambda score: (score.who, score.sort)):
        row = sorts.index(sort)
        figure.add_trace(_accuracy_line(who, some, scores.size, legend=row == 0), row=row + 1, col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    figure.update_yaxes(range=[-0.05, 1.08], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_xaxes(title={"text": scores.size}, row=len(sorts), col=1)
    figure.update_layout(
        title={"text": title, "x": 0.02, "xref": "container", "font": {"size": 15}},
        height=_ROW * len(sorts) + 200,
        margin={"l": 60, "r": 20, "t": 80, "b": 110},  # below there is room for a legend of three lines on a telephone
        legend={"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0, "yanchor": "bottom"},
    )
    return themed(figure)


def _accuracy_line(who: str, scores: Iterable[SizeScore], size: str, legend: bool) -> Any:
    some = list(scores)
    ranges = [f"{size} {one.low}" if one.low == one.high else f"{size} {one.low} to {one.high}" for one in some]
    return go.Scatter(
        x=[one.high for one in some],
        y=[one.right / one.words for one in some],
        mode="lines+markers",
        name=who,
        legendgroup=who,
        showlegend=legend,
        text=[f"{where}: {one.right} of {one.words} right" for where, one in zip(ranges, some, strict=True)],
        hovertemplate="%{text}<extra>" + who + "</extra>",
        **_LOOKS[who],
    )


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
    """Return the score of the chosen network of a row at each size."""
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
    """Return a figure for each quantity that a claim counted in several sets of words, such as lengths and depths.

    Of traces of accuracy it is one figure for all claims.
    """
    if results.experiment == TRACES:
        return [traces_figure(results)]
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
