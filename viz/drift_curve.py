"""The curve of a drift: what a rounded network accumulates over the cycles of a word, until a decision tips over."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from stacklens.extract.verification.drift import Drift
from stacklens.languages.words import format_word
from stacklens.viz.style import CATEGORIES, escaped, shortened, themed

__all__ = ["drift_figure"]

_HEIGHT = 420  # pixels
_CROSSED = {"symbol": "x", "size": 11, "color": CATEGORIES[3]}
_LINE = {"dash": "dot", "width": 1.5, "color": CATEGORIES[3]}


def drift_figure(found: Drift) -> go.Figure:
    """Return the number that drifts over its threshold, and below it the margin of the decision, cycle by cycle.

    >>> found = Drift("()()()", "()", ")", "output )", "hidden unit 1", (1, 2, 3), (0.1, 0.2, 0.6), (0.4, 0.3, -0.1),
    ...     0.5, 3)
    >>> [(line.name, line.y) for line in drift_figure(found).data][:2]
    [('hidden unit 1', (0.1, 0.2, 0.6)), ('margin', (0.4, 0.3, -0.1))]
    """
    from plotly.subplots import make_subplots

    where = f"{found.quantity} where {shortened(found.symbol)} is read"
    margin = f"margin of the decision: {found.decision}"
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        subplot_titles=[escaped(where), escaped(margin)],
        row_heights=[0.6, 0.4],
        vertical_spacing=0.14,
    )
    figure.add_trace(_curve(found, found.quantity, found.values, CATEGORIES[0]), row=1, col=1)
    figure.add_trace(_curve(found, "margin", found.margins, CATEGORIES[2]), row=2, col=1)
    for row, values in ((1, found.values), (2, found.margins)):
        figure.add_trace(_crossed(found, values), row=row, col=1)
    if found.threshold is not None:
        label = {"annotation_text": f"threshold {found.threshold:.3f}", "annotation_position": "top left"}
        figure.add_hline(y=found.threshold, line=_LINE, row=1, col=1, **label)
    figure.add_hline(y=0, line=_LINE, row=2, col=1)
    for note in figure.layout.annotations[:2]:
        note.update(x=0, xanchor="left", font={"size": 13})
    figure.update_xaxes(title={"text": f"cycles of {escaped(shortened(format_word(found.cycle)))}"}, row=2, col=1)
    title = f"{shortened(format_word(found.cycle))}: broken at cycle {found.first_broken}"
    figure.update_layout(
        title={"text": escaped(title), "x": 0, "xref": "paper", "font": {"size": 15}},
        height=_HEIGHT,
        margin={"l": 60, "r": 20, "t": 80, "b": 60},
        showlegend=False,
    )
    return themed(figure)


def _curve(found: Drift, name: str, values: tuple[float, ...], colour: str) -> Any:
    return go.Scatter(
        x=found.cycles,
        y=values,
        mode="lines+markers",
        name=name,
        line={"width": 2, "color": colour},
        marker={"size": 5},
        hovertemplate="cycle %{x}: %{y:.4f}<extra>" + escaped(name) + "</extra>",
    )


def _crossed(found: Drift, values: tuple[float, ...]) -> Any:
    """Return the mark of the first broken cycle."""
    place = found.cycles.index(found.first_broken)
    return go.Scatter(
        x=[found.first_broken],
        y=[values[place]],
        mode="markers",
        name="broken",
        marker=_CROSSED,
        hovertemplate="broken at cycle %{x}<extra></extra>",
    )
