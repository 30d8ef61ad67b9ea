"""A sweep as a figure: accuracy, automata and horizons, over the updates of a training or one network after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from stacklens.extract.evaluation.sweep import Sweep
from stacklens.extract.evaluation.sweep_row import SweepRow
from stacklens.viz.style import CATEGORIES, escaped, sentence, themed

__all__ = ["sweep_figure"]

_PARTIES = {"network": (CATEGORIES[1], "square"), "rounded network": (CATEGORIES[5], "diamond")}
_AUTOMATON = (CATEGORIES[0], "circle")
_NONE = "#8C8C8C"  # no automaton, or no network
_SYMBOLS = {0: "circle", 1: "triangle-up", 3: "x"}
_STATUS = {0: "nothing contradicts it", 1: "differs from language or rounded network", 3: "no automaton"}
_EVERY = 1.35  # how far above the longest length "every length" is drawn, on a logarithmic axis


def sweep_figure(sweep: Sweep) -> go.Figure:
    """Return three panels: how many words are right, which automaton, and up to which length all words agree.

    Automata that are proved to do the same are in one row of the second panel, whatever their sizes.
    """
    from plotly.subplots import make_subplots

    rows = sweep.rows
    if not rows:
        return sentence("There are no networks, so there is nothing to draw.")
    along = [row.updates for row in rows]
    over_time = len(rows) > 1 and None not in along and len({*along}) == len(along)
    x: list[Any] = along if over_time else list(range(1, len(rows) + 1))
    marks = "● nothing contradicts it, ▲ differs from the language or the rounded network, ✖ none"
    titles = ["words that are right", f"automata ({marks})", "all words agree up to this length"]
    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, subplot_titles=titles, vertical_spacing=0.09)
    for trace in _accuracies(rows, x):
        figure.add_trace(trace, row=1, col=1)
    for trace in _automata(sweep, x):
        figure.add_trace(trace, row=2, col=1)
    for trace in _horizons(rows, x):
        figure.add_trace(trace, row=3, col=1)
    _axes(figure, sweep, over_time)
    return themed(figure)


def _axes(figure: go.Figure, sweep: Sweep, over_time: bool) -> None:
    """Give axes their ranges and names, and the figure its title."""
    settling = sweep.settling
    languages = " ".join(dict.fromkeys(row.language or "" for row in sweep.rows))
    title = f"{len(sweep.rows)} networks, {languages}" if settling is None else str(settling)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    figure.update_yaxes(range=[-0.05, 1.08], tickformat=".0%", tickvals=[0, 0.5, 1], row=1, col=1)
    names = _names(sweep)
    figure.update_yaxes(tickvals=list(names), ticktext=list(names.values()), row=2, col=1)
    figure.update_yaxes(range=[-0.6, max(names) + 0.6], row=2, col=1)
    lengths, top = _lengths(sweep.rows)
    ticks = [tick for tick in (1, 3, 10, 30, 100, 300, 1_000) if tick <= max(lengths, default=1)]
    shown: dict[float, str] = {tick: str(tick) for tick in ticks}
    if any(map(math.isinf, lengths)):
        shown[top] = "every length"
    figure.update_yaxes(type="log", tickvals=list(shown), ticktext=list(shown.values()), row=3, col=1)
    figure.update_xaxes(title={"text": "updates of the weights" if over_time else "network"}, row=3, col=1)
    if not over_time:
        figure.update_xaxes(dtick=max(1, len(sweep.rows) // 20))
    if settling is not None and settling.before is not None:
        middle = (settling.before + settling.settles) / 2
        figure.add_vline(x=middle, line={"dash": "dot", "width": 1, "color": _NONE})
    figure.update_layout(
        title={"text": escaped(title).replace(" (", "<br>("), "x": 0.01, "xref": "container", "font": {"size": 15}},
        height=640,
        margin={"l": 150, "r": 20, "t": 110, "b": 50},
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.03, "yanchor": "bottom"},
    )


def _names(sweep: Sweep) -> dict[int, str]:
    """Return what the rows of the panel of automata are called: 0 for none, then the classes."""
    names = {0: "none"}
    for row, number in zip(sweep.rows, sweep.classes, strict=True):
        if number is not None and number not in names:
            states = (row.sizes or {}).get("states")
            names[number] = f"{number} ({states} states)" if states != 1 else f"{number} (1 state)"
    for row, number in zip(sweep.rows, sweep.classes, strict=True):
        if number is not None and row.proof == "equal":
            names[number] = f"{number} = {row.language}"
    return names


def _accuracies(rows: Sequence[SweepRow], x: list[Any]) -> list[Any]:
    parties = {**_PARTIES, "automaton": _AUTOMATON}
    return [
        go.Scatter(
            x=x,
            y=[row.accuracy(who) for row in rows],
            name=who,
            legendgroup=who,
            mode="lines+markers",
            line={"color": colour, "width": 2},
            marker={"symbol": symbol, "size": 6},
            text=[escaped(row.network) for row in rows],
            hovertemplate="%{text}<br>%{y:.1%} of the words<extra>" + who + "</extra>",
        )
        for who, (colour, symbol) in parties.items()
    ]


def _automata(sweep: Sweep, x: list[Any]) -> list[Any]:
    """Return a mark for each network in the row of its automaton, one trace a status."""
    traces = []
    for status in sorted({row.status for row in sweep.rows}):
        some = [place for place, row in enumerate(sweep.rows) if row.status == status]
        numbers = [sweep.classes[place] or 0 for place in some]
        traces.append(
            go.Scatter(
                x=[x[place] for place in some],
                y=numbers,
                mode="markers",
                name=_STATUS.get(status, "could not be read"),
                showlegend=False,
                marker={
                    "symbol": _SYMBOLS.get(status, "square-x-open"),
                    "size": 9,
                    "color": [_colour(number) for number in numbers],
                },
                text=[_told(sweep.rows[place]) for place in some],
                hovertemplate="%{text}<extra>" + f"status {status}" + "</extra>",
            )
        )
    return traces


def _colour(number: int) -> str:
    return CATEGORIES[(number - 1) % len(CATEGORIES)] if number else _NONE


def _told(row: SweepRow) -> str:
    return f"{escaped(row.network)}<br>{escaped(row.headline or row.reason or '')}"


def _lengths(rows: Sequence[SweepRow]) -> tuple[list[float], float]:
    """Return the lengths up to which all words agree, and where on the axis every length is drawn."""
    lengths = [length for row in rows for who in _PARTIES if (length := row.agrees(who)) is not None]
    return lengths, max((length for length in lengths if math.isfinite(length)), default=10) * _EVERY + 1


def _horizons(rows: Sequence[SweepRow], x: list[Any]) -> list[Any]:
    _, top = _lengths(rows)
    traces = []
    for who, (colour, symbol) in _PARTIES.items():
        found = [row.agrees(who) for row in rows]
        traces.append(
            go.Scatter(
                x=x,
                y=[None if length is None else min(max(length, 0.7), top) for length in found],
                name=who,
                legendgroup=who,
                showlegend=False,
                mode="lines+markers",
                line={"color": colour, "width": 2},
                marker={"symbol": symbol, "size": 6},
                text=["every length" if length == math.inf else f"length {length}" for length in found],
                hovertemplate="%{text}<extra>" + who + "</extra>",
            )
        )
    return traces
