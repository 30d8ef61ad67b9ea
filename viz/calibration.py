"""What a model predicted of networks, beside the outcomes: a mark for each step of probability, with its interval."""

from __future__ import annotations

from collections.abc import Iterable

import plotly.graph_objects as go

from stacklens.papers.foreseen import Foreseen
from stacklens.papers.held_out import calibration
from stacklens.papers.observations import OUTCOMES
from stacklens.viz.style import CATEGORIES, themed

__all__ = ["calibration_figure"]

_SIDES = ("middle right", "bottom left", "top left")
_SIGNS = ("circle", "square", "diamond")  # of outcomes


def calibration_figure(known: Iterable[Foreseen], held: str = "task") -> go.Figure:
    """Return the mean probability of networks of groups that were held out, and the share of them that had the outcome.

    A perfect model lies on the diagonal. Outcomes without a model are left out; without any the figure says so.
    """
    figure = go.Figure(
        go.Scatter(x=[0, 100], y=[0, 100], mode="lines", line={"dash": "dot", "color": "#8C8C8C"}, name="as predicted")
    )
    shown = [one for one in known if held in one.held]
    for one in shown:
        steps = calibration(one.held[held].seen, one.held[held].model)
        place = list(OUTCOMES).index(one.outcome)
        shares = [100 * step.hits / step.of for step in steps]
        figure.add_trace(
            go.Scatter(
                x=[100 * step.mean for step in steps],
                y=shares,
                error_y={
                    "type": "data",
                    "array": [100 * step.interval[1] - share for step, share in zip(steps, shares, strict=True)],
                    "arrayminus": [share - 100 * step.interval[0] for step, share in zip(steps, shares, strict=True)],
                },
                mode="lines+markers+text",
                text=[f" {step.of}" for step in steps],
                textposition=_SIDES[place],
                textfont={"color": CATEGORIES[place]},
                name=OUTCOMES[one.outcome],
                line={"color": CATEGORIES[place], "width": 1},
                marker={"symbol": _SIGNS[place], "size": 9},
                hovertemplate="%{x:.0f} % predicted<br>%{y:.0f} % of %{text} had the outcome<extra></extra>",
            )
        )
    if not shown:
        figure.add_annotation(text="no model: too few networks, or nearly all alike", x=50, y=50, showarrow=False)
    figure.update_xaxes(title={"text": "probability predicted, mean, %"}, range=[-2, 102])
    figure.update_yaxes(title={"text": "had the outcome, %"}, range=[-2, 105])
    figure.update_layout(
        title={"text": f"Predicted with every {held} held out, and the outcomes", "x": 0, "xref": "paper"},
        height=460,
        margin={"l": 70, "r": 20, "t": 90, "b": 50},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)
