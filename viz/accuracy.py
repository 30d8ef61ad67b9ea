"""Accuracy against size as a picture (Joulin & Mikolov 2015, figure 2)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import plotly.graph_objects as go

from stacklens.viz.lengths import Score, SizeScores
from stacklens.viz.style import CATEGORIES, sentence, themed

__all__ = ["accuracy_figure"]

# Lines that lie upon each other are told apart by their widths, the widest below, and by their marks.
_LOOKS: dict[str, dict[str, Any]] = {
    "network": {"line": {"width": 7, "color": CATEGORIES[1]}, "marker": {"symbol": "square", "size": 10}},
    "rounded network": {"line": {"width": 4, "color": CATEGORIES[5]}, "marker": {"symbol": "diamond", "size": 7}},
    "automaton": {"line": {"width": 1.5, "color": CATEGORIES[0]}, "marker": {"symbol": "circle", "size": 4}},
}
_ROW = 190  # pixels


def accuracy_figure(scores: SizeScores, title: str = "accuracy") -> go.Figure:
    """Return a line for network, rounded network and automaton, one panel for each sort of words.

    >>> scores = SizeScores("n", (Score("network", "pieces", 2, 2, 4, 3), Score("automaton", "pieces", 2, 2, 4, 4)))
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
        figure.add_trace(_line(who, some, scores.size, legend=row == 0), row=row + 1, col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    figure.update_yaxes(range=[-0.05, 1.08], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_xaxes(title={"text": scores.size}, row=len(sorts), col=1)
    figure.update_layout(
        title={"text": title, "x": 0, "xref": "paper", "font": {"size": 15}},
        height=_ROW * len(sorts) + 140,
        margin={"l": 60, "r": 20, "t": 80, "b": 50},
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)


def _line(who: str, scores: Iterable[Score], size: str, legend: bool) -> Any:
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
