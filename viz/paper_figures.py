"""The papers' tables as pictures: a dot for every network that was trained, and what tells which become automata."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network, read_grid
from stacklens.viz.curves import curve_figure, is_curve
from stacklens.viz.style import CATEGORIES, themed

__all__ = [
    "OUTCOMES",
    "Trained",
    "grid_figures",
    "horizons_figure",
    "measured_grids",
    "outcome_of",
    "outcomes_figure",
    "score_figure",
    "trained_networks",
]

_LINE = 26  # pixels of a row
_WIDEST = 34  # characters of a row's name

# from the best to the least, each with a colour and a mark
OUTCOMES = {
    "certified": (CATEGORIES[2], "star"),
    "extracted, proved": (CATEGORIES[0], "circle"),
    "extracted": (CATEGORIES[5], "circle-open"),
    "proved, and the network leaves it": (CATEGORIES[4], "diamond-open"),
    "extracted, contradicted": (CATEGORIES[1], "x"),
    "no automaton": (CATEGORIES[3], "cross"),
    "not converged": ("#8C8C8C", "line-ns-open"),
}
_ROW = 24  # pixels
_WIDEST_NUMBER = 70  # characters of a row's name


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


@dataclass(frozen=True)
class Trained:
    """A network that was trained for a row of a table."""

    table: str
    row: str
    network: Network


def trained_networks(measured: Iterable[tuple[Grid, GridResults]] | None = None) -> list[Trained]:
    """Return the networks of ``measured``, by default of everything in `papers/results/`.

    Networks without a stack have nothing to extract: only those are among them of which one was looked into.
    """
    found = measured_grids() if measured is None else measured
    return [
        Trained(grid.name, row.name, network)
        for grid, results in found
        for row in results.rows
        if _has_stacks(grid, row.name) or any(network.extraction is not None for network in row.networks)
        for network in row.networks
    ]


def _has_stacks(grid: Grid, name: str) -> bool:
    return any(row.stacks for row in grid.rows if row.name == name)


def measured_grids() -> list[tuple[Grid, GridResults]]:
    """Return every grid that has results in `papers/results/`, with these."""
    grids = [experiment for build in EXPERIMENTS.values() if isinstance(experiment := build(), Grid)]
    return [(grid, found) for grid in grids if (found := read_grid(grid.name)) is not None]


def outcome_of(network: Network) -> str:
    """Return what came of a network, one of `OUTCOMES`."""
    found = network.extraction
    if found is None:
        return "not converged"
    if found["status"] != 0:
        if found.get("automaton") is None:
            return "no automaton"
        proved = (found.get("proof") or {}).get("verdict") == "equal"
        return "proved, and the network leaves it" if proved else "extracted, contradicted"
    if found["certificate"]["verdict"] == "certified":
        return "certified"
    return "extracted, proved" if found["proof"]["verdict"] == "equal" else "extracted"


def outcomes_figure(networks: Sequence[Trained]) -> go.Figure:
    """Return a bar for every row of every table: how many of its networks came to each of `OUTCOMES`."""
    rows = list(dict.fromkeys((one.table, one.row) for one in networks))
    names = {row: f"{row[0]}: {row[1]}"[:_WIDEST_NUMBER] for row in rows}
    figure = go.Figure()
    for outcome, (colour, _) in OUTCOMES.items():
        counts = [
            sum((one.table, one.row) == row and outcome_of(one.network) == outcome for one in networks) for row in rows
        ]
        figure.add_trace(
            go.Bar(x=counts, y=[names[row] for row in rows], orientation="h", name=outcome, marker={"color": colour})
        )
    figure.update_yaxes(categoryorder="array", categoryarray=list(names.values())[::-1])
    figure.update_xaxes(title={"text": "networks"})
    figure.update_layout(
        title={
            "text": "What became of every network with a stack",
            "x": 0.02,
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 14},
        },
        barmode="stack",
        height=_ROW * len(rows) + 180,
        margin={"l": 40, "r": 20, "t": 120, "b": 50},  # the legend has up to three lines
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
    )
    return themed(figure)


def horizons_figure(networks: Sequence[Trained]) -> go.Figure:
    """Return every network whose rounded form is known to leave its automaton: its action margin, and after how much.

    That is the length of the shortest word known on which the two part.
    """
    figure = go.Figure()
    for outcome, (colour, mark) in OUTCOMES.items():
        shown = [
            (one, found, length)
            for one in networks
            if (found := one.network.extraction) is not None
            and outcome_of(one.network) == outcome
            and (length := _leaves_at(found)) is not None
        ]
        if not shown:
            continue
        figure.add_trace(
            go.Scatter(
                x=[found["action_margin"] for _, found, _ in shown],
                y=[length for *_, length in shown],
                mode="markers",
                name=outcome,
                marker={"color": colour, "symbol": mark, "size": 9},
                hovertext=[f"{one.table}<br>{one.row}, seed {one.network.seed}" for one, *_ in shown],
                hovertemplate="%{hovertext}<br>margin %{x:.3g}<br>length %{y}<extra></extra>",
            )
        )
    figure.update_xaxes(title={"text": "smallest distance of an action from the one that would round otherwise"})
    figure.update_yaxes(title={"text": "length of the shortest such word known"}, type="log")
    figure.update_layout(
        title={"text": "Where rounded networks leave their automata", "x": 0, "xref": "paper"},
        height=460,
        margin={"l": 70, "r": 20, "t": 90, "b": 50},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)


def _leaves_at(extraction: dict[str, Any]) -> int | None:
    """Return the length of the shortest word known on which the rounded network is not as its automaton, if any is."""
    first = ((extraction.get("horizon") or {}).get("rounded network") or {}).get("shortest_difference")
    return None if first is None else int(first["length"])
