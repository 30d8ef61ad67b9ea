"""Accuracy along a training as a picture: a line for every network, in the colour of what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from stacklens.papers.grid import CONVERGED
from stacklens.papers.results import Results
from stacklens.viz.style import CATEGORIES, sentence, themed

__all__ = ["FATES", "fate_of", "traces_figure"]

# what becomes of a network, each with a colour and a dash for those who see none
FATES = {
    "learned, right in the end": (CATEGORIES[0], "solid"),
    "learned, wrong in the end": (CATEGORIES[3], "solid"),
    "never learned": ("#8C8C8C", "dot"),
}
_COLUMNS = {"last": "one rate", "rate falling": "rate falling in the last epoch"}  # networks of the results: panels
_ROW = 190  # pixels


def fate_of(network: Mapping[str, Any], kind: str = "last") -> str:
    """Return which of `FATES` became of a network, by its trace and the test of the network of ``kind`` in the end.

    >>> fate_of({"trace": {"0": 0.0, "50": 1.0}, "test": {"last": 0.4}})
    'learned, wrong in the end'
    """
    right = max(_points(network, kind).values()) >= CONVERGED
    kept = network["test"][kind] >= CONVERGED
    return "learned, right in the end" if kept else "learned, wrong in the end" if right else "never learned"


def traces_figure(results: Results) -> go.Figure:
    """Return a row of panels for each claim: at one rate, and with a rate that falls over the last part.

    ``results`` are those of `papers.suzgun2019_traces`.
    """
    from plotly.subplots import make_subplots

    rows = [claim.figures for claim in results.claims]
    if not rows:
        return sentence("No training was traced, so there is nothing to draw.")
    titles = [
        f"{figures['row']}, {shown}: {_kept(figures, kind)}" for figures in rows for kind, shown in _COLUMNS.items()
    ]
    figure = make_subplots(
        rows=len(rows),
        cols=len(_COLUMNS),
        shared_xaxes=True,
        shared_yaxes=True,
        subplot_titles=titles,
        vertical_spacing=0.28 / len(rows),
        horizontal_spacing=0.04,
    )
    named = set[str]()
    for row, figures in enumerate(rows, start=1):
        for column, kind in enumerate(_COLUMNS, start=1):
            for network in figures["networks"]:
                fate = fate_of(network, kind)
                figure.add_trace(_line(network, kind, fate, legend=fate not in named), row=row, col=column)
                named.add(fate)
    figure.update_annotations(font={"size": 13})
    figure.update_yaxes(range=[-0.05, 1.08], tickformat=".0%", tickvals=[0, 0.5, 1])
    figure.update_xaxes(title={"text": "words seen"}, tickformat=",d", row=len(rows))
    figure.update_layout(
        title={"text": f"{results.paper}: held-out words of D6 that are right", "x": 0, "xref": "paper"},
        height=_ROW * len(rows) + 160,
        margin={"l": 60, "r": 20, "t": 90, "b": 90},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0, "yanchor": "bottom"},
    )
    return themed(figure)


def _kept(figures: Mapping[str, Any], kind: str) -> str:
    networks = figures["networks"]
    kept = sum(fate_of(one, kind) == "learned, right in the end" for one in networks)
    return f"{kept} of {len(networks)} in the end"


def _points(network: Mapping[str, Any], kind: str) -> dict[int, float]:
    """Return accuracies by words seen; with a falling rate those at one rate are the same until it falls."""
    points = {int(words): share for words, share in network["trace"].items()}
    if kind == "last":
        return points
    falling = {int(words): share for words, share in network["trace, rate falling"].items()}
    return {**{words: share for words, share in points.items() if words < min(falling)}, **falling}


def _line(network: Mapping[str, Any], kind: str, fate: str, legend: bool) -> Any:
    points, (colour, dash) = _points(network, kind), FATES[fate]
    told = f"seed {network['seed']}, {fate}: {100 * network['test'][kind]:.1f} % of the test"
    return go.Scatter(
        x=list(points),
        y=list(points.values()),
        mode="lines",
        name=fate,
        legendgroup=fate,
        showlegend=legend,
        legendrank=list(FATES).index(fate),
        opacity=0.75,
        line={"color": colour, "dash": dash, "width": 1.6},
        hovertemplate=f"%{{x:,}} words<br>%{{y:.1%}}<extra>{told}</extra>",
    )
