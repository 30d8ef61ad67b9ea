"""The figures of docs/findings.md: what became of every network, and the automata of Sun et al. 1993."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import plotly.graph_objects as go

from stacklens.automata.formats.dot import render, to_dot
from stacklens.languages.catalogue import get_language
from stacklens.papers.sun1993 import zoo_automaton
from stacklens.viz.style import CATEGORIES, themed

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
_WIDEST = 70  # characters of a row's name
# figures of Sun et al. 1993 by the network whose automaton they show, with its levels a neuron: before merging states,
# those that become one in a box, and after it
_AUTOMATA: dict[str, tuple[int, str, str | None]] = {
    "parentheses": (5, "7", None),
    "1n0n": (2, "8", "9"),
    "palindrome": (2, "11", "12"),
}


def shown(networks: pd.DataFrame) -> pd.DataFrame:
    """Return the networks that have something to extract: with a memory, or of a run of which one was looked into."""
    looked_into = networks.groupby(["row", "protocol", "data_seed"]).tried.transform("any")
    return networks[networks.family.notna() | looked_into]


def outcomes_figure(networks: pd.DataFrame) -> go.Figure:
    """Return a bar for every row of every table: how many of its networks came to each of `OUTCOMES`."""
    rows = networks.row.unique().tolist()
    counts = pd.crosstab(networks.row, networks.outcome).reindex(index=rows, columns=list(OUTCOMES), fill_value=0)
    names = [row[:_WIDEST] for row in rows]
    figure = go.Figure(
        [
            go.Bar(x=counts[outcome].tolist(), y=names, orientation="h", name=outcome, marker={"color": colour})
            for outcome, (colour, _) in OUTCOMES.items()
        ]
    )
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1])
    figure.update_xaxes(title={"text": "networks"})
    title = {"text": "What became of every network with a stack", "x": 0.02, "y": 1, "yanchor": "top", "pad": {"t": 14}}
    figure.update_layout(
        title=title,
        barmode="stack",
        height=_ROW * len(rows) + 180,
        margin={"l": 40, "r": 20, "t": 120, "b": 50},  # the legend has up to three lines
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
    )
    return themed(figure)


def horizons_figure(networks: pd.DataFrame) -> go.Figure:
    """Return every network whose rounded form is known to leave its automaton: its action margin, and after how much.

    That is the length of the shortest word known on which the two part.
    """
    leaving = networks[networks["leaves rounded"] > 0]
    figure = go.Figure()
    for outcome, (colour, mark) in OUTCOMES.items():
        own = leaving[leaving.outcome == outcome]
        if own.empty:
            continue
        figure.add_trace(
            go.Scatter(
                x=own.margin.tolist(),
                y=own["leaves rounded"].astype(int).tolist(),
                mode="markers",
                name=outcome,
                marker={"color": colour, "symbol": mark, "size": 9},
                hovertext=[f"{one.table}<br>{one.name}, seed {one.seed}" for one in own.itertuples(index=False)],
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


def draw_automata(folder: Path) -> None:
    """Write figures 7 to 12 of Sun et al. 1993 as they come out of our networks, by clusters as in the paper."""
    simplest = get_language("palindrome").automaton
    (folder / "sun1993-fig10.svg").write_bytes(render(to_dot(simplest, "Sun et al. 1993, figure 10"), "svg"))
    for name, (levels, before, after) in _AUTOMATA.items():
        found = zoo_automaton(name, levels)
        for figure, pda in ((before, found.raw), (after, found.alike.automaton)):
            if figure is not None:
                groups = {state: found.alike.states[state] for state in pda.states}
                drawing = render(to_dot(pda, f"Sun et al. 1993, figure {figure}: ours", groups), "svg")
                (folder / f"sun1993-fig{figure}.svg").write_bytes(drawing)
