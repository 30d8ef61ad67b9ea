"""What all tables of the papers say together: which networks become automata, and what tells beforehand which do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, Network, read_grid
from stacklens.viz.style import CATEGORIES, themed

__all__ = ["OUTCOMES", "Trained", "margins_figure", "outcome_of", "outcomes_figure", "trained_networks"]

# from the best to the least, each with a colour and a mark
OUTCOMES = {
    "certified": (CATEGORIES[2], "star"),
    "extracted, proved": (CATEGORIES[0], "circle"),
    "extracted": (CATEGORIES[5], "circle-open"),
    "extracted, contradicted": (CATEGORIES[1], "x"),
    "no automaton": (CATEGORIES[3], "cross"),
    "not converged": ("#8C8C8C", "line-ns-open"),
}
_ROW = 24  # pixels
_WIDEST = 70  # characters of a row's name


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
    found = _measured() if measured is None else measured
    return [
        Trained(grid.name, row.name, network)
        for grid, results in found
        for row in results.rows
        if _has_stacks(grid, row.name) or any(network.extraction is not None for network in row.networks)
        for network in row.networks
    ]


def _has_stacks(grid: Grid, name: str) -> bool:
    return any(row.stacks for row in grid.rows if row.name == name)


def _measured() -> list[tuple[Grid, GridResults]]:
    grids = [experiment for build in EXPERIMENTS.values() if isinstance(experiment := build(), Grid)]
    return [(grid, found) for grid in grids if (found := read_grid(grid.name)) is not None]


def outcome_of(network: Network) -> str:
    """Return what came of a network, one of `OUTCOMES`."""
    found = network.extraction
    if found is None:
        return "not converged"
    if found["status"] != 0:
        return "no automaton" if found.get("automaton") is None else "extracted, contradicted"
    if found["certificate"]["verdict"] == "certified":
        return "certified"
    return "extracted, proved" if found["proof"]["verdict"] == "equal" else "extracted"


def outcomes_figure(networks: Sequence[Trained]) -> go.Figure:
    """Return a bar for every row of every table: how many of its networks came to each of `OUTCOMES`."""
    rows = list(dict.fromkeys((one.table, one.row) for one in networks))
    names = {row: f"{row[0]}: {row[1]}"[:_WIDEST] for row in rows}
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


def margins_figure(networks: Sequence[Trained]) -> go.Figure:
    """Return every network that was looked into as a mark: its action margin, and its share of minority transitions."""
    figure = go.Figure()
    for outcome, (colour, mark) in OUTCOMES.items():
        mine = [
            (one, one.network.extraction)
            for one in networks
            if one.network.extraction is not None and outcome_of(one.network) == outcome
        ]
        shown = [(one, found) for one, found in mine if found.get("minority_transitions") is not None]
        if not shown:
            continue
        figure.add_trace(
            go.Scatter(
                x=[found["action_margin"] for _, found in shown],
                y=[found["minority_transitions"] for _, found in shown],
                mode="markers",
                name=outcome,
                marker={"color": colour, "symbol": mark, "size": 9},
                hovertext=[f"{one.table}<br>{one.row}, seed {one.network.seed}" for one, _ in shown],
                hovertemplate="%{hovertext}<br>margin %{x:.3g}<br>minority %{y:.3g}<extra></extra>",
            )
        )
    figure.update_xaxes(title={"text": "smallest distance of an action from the one that would round otherwise"})
    figure.update_yaxes(title={"text": "share of minority transitions"}, rangemode="tozero")
    figure.update_layout(
        title={"text": "What tells beforehand whether an automaton comes out", "x": 0, "xref": "paper"},
        height=460,
        margin={"l": 70, "r": 20, "t": 90, "b": 50},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)
