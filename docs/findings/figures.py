"""The figures of docs/findings.md, one a result, and the automata of Sun et al. 1993."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from docs.findings.experiments import AUTOMATA
from plotly.subplots import make_subplots

from stacklens.automata.formats.dot import render, to_dot
from stacklens.languages.catalogue import get_language
from stacklens.papers.sun1993 import zoo_automaton
from stacklens.probe.outcome import BAR
from stacklens.viz.style import CATEGORIES, themed

LINE = "#8C8C8C"
# figures of Sun et al. 1993 by the network whose automaton they show, with its levels a neuron: before merging states,
# those that become one in a box, and after it
_AUTOMATA: dict[str, tuple[int, str, str | None]] = {
    "parentheses": (5, "7", None),
    "1n0n": (2, "8", "9"),
    "palindrome": (2, "11", "12"),
}


def _laid_out(figure: go.Figure, title: str, x: str, y: str, height: int = 420) -> go.Figure:
    figure.update_xaxes(title={"text": x})
    figure.update_yaxes(title={"text": y})
    figure.update_layout(
        title={"text": title, "x": 0, "xref": "paper"},
        height=height,
        margin={"l": 70, "r": 20, "t": 90, "b": 50},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)


def rows_figure(found: pd.DataFrame) -> go.Figure:
    """Return every row that was run by its paper's protocol: the mean of its test beside the paper's."""
    figure = go.Figure()
    for number, (table, own) in enumerate(found.groupby("table", sort=False)):
        figure.add_scatter(
            x=(100 * own.theirs).tolist(),
            y=(100 * own.ours).tolist(),
            mode="markers",
            name=str(table).removeprefix("suzgun2019-"),
            marker={"color": CATEGORIES[number % len(CATEGORIES)], "size": 10},
            hovertext=own.name.tolist(),
        )
    figure.add_scatter(x=[0, 100], y=[0, 100], mode="lines", line={"dash": "dot", "color": LINE}, showlegend=False)
    title = "Mean of the test by the paper's protocol: Suzgun et al. and ours"
    return _laid_out(figure, title, "the paper's mean of ten networks, percent", "ours, percent")


def design_figure(found: pd.DataFrame) -> go.Figure:
    """Return the share of words right by length, for low and high walks near the bottom and over filled cells."""
    figure = make_subplots(rows=1, cols=2, subplot_titles=("the networks as they are", "rounded"), shared_yaxes=True)
    lines = [(cap, floor) for cap in (2, 20) for floor in (0, 12)]
    for place, net in enumerate(("soft", "rounded"), start=1):
        for number, (cap, floor) in enumerate(lines):
            own = found[(found.cap == cap) & (found.floor == floor)]
            shares = own.groupby(["length", "row"])[net].mean().groupby("length").mean()
            style = {"color": CATEGORIES[number], "dash": "solid" if cap == 2 else "dash"}
            figure.add_scatter(
                x=[str(length) for length in shares.index],
                y=shares.tolist(),
                name=f"cap {cap}, floor {floor}",
                line=style,
                showlegend=place == 1,
                row=1,
                col=place,
            )
    figure = _laid_out(figure, "Words of the design that are right, mean over rows", "symbols", "percent right")
    return figure.update_layout(legend={"y": 1.1}, margin={"t": 120})


def mechanism_figure(found: pd.DataFrame) -> go.Figure:
    """Return the lowest score of each automaton of each network, all of them proved equal to the task."""
    figure, proved = go.Figure(), found[found.proved]
    families = proved.family.unique().tolist()
    for number, family in enumerate(families):
        automata = [one for own in (proved[proved.family == family],) for one in own.automata]
        points = [
            (place + 0.18 * (number - (len(families) - 1) / 2), one[name]["score"])
            for place, name in enumerate(AUTOMATA)
            for one in automata
            if name in one and one[name]["score"] is not None
        ]
        figure.add_scatter(
            x=[x for x, _ in points],
            y=[score for _, score in points],
            mode="markers",
            name=str(family),
            marker={"color": CATEGORIES[number], "size": 9, "opacity": 0.7},
        )
    figure.add_hline(y=BAR, line={"dash": "dot", "color": LINE})
    figure.update_xaxes(tickvals=list(range(len(AUTOMATA))), ticktext=list(AUTOMATA))
    return _laid_out(figure, "Equal automata of a network, by interchanges", "automaton", "lowest score of a kind")


def repair_figure(repairs: list[dict[str, Any]]) -> go.Figure:
    """Return for each kind of network how many are certified as themselves, before a repair and after it."""
    kinds = list(dict.fromkeys(one["kind"] for one in repairs))
    figure = go.Figure()
    for name, when, what, colour in (
        ("rounded, before", "before", "certified", CATEGORIES[1]),
        ("rounded, after", "after", "certified", CATEGORIES[0]),
        ("as itself, after", "after", "itself", CATEGORIES[2]),
    ):
        own = [[one for one in repairs if one["kind"] == kind] for kind in kinds]
        shares = [100 * sum(one[when][what] for one in some) / len(some) for some in own]
        names = [f"{kind} ({len(some)})" for kind, some in zip(kinds, own, strict=True)]
        figure.add_bar(x=names, y=shares, name=name, marker={"color": colour})
    return _laid_out(figure, "Certified before repair and after", "model (networks)", "percent")


def boxes_figure(compared: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]) -> go.Figure:
    """Return size and time of what the stack's own reading, KV and L# give of the same networks."""
    figure = go.Figure()
    for number, (name, own) in enumerate(
        (
            (
                "the stack's own reading",
                [(w["extraction seconds"], sum(w["sizes"])) for w, *_ in compared if "sizes" in w],
            ),
            ("KV", [(k["seconds"], sum(k["sizes"])) for _, k, _ in compared if "sizes" in k]),
            ("L#", [(sharp["seconds"], sharp["states"]) for *_, sharp in compared if sharp["states"]]),
        )
    ):
        seconds, sizes = [one[0] for one in own], [one[1] for one in own]
        marker = {"color": CATEGORIES[number], "size": 10, "symbol": ("circle", "diamond", "x")[number]}
        figure.add_scatter(x=seconds, y=sizes, mode="markers", name=name, marker=marker)
    figure.update_yaxes(type="log")
    title = "The same networks, read from their stack and from answers alone"
    return _laid_out(figure, title, "seconds of processor time", "states and stack symbols")


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


def steady(svg: bytes) -> bytes:
    """Return a drawing of Plotly's with 1, 2, … in place of the numbers that it draws anew for its ids and traces.

    >>> steady(b'<defs id="defs-cd298e"><path id="clipcd298ex"/></defs><g class="trace 1eefd9 trace1eefd9"/>')
    b'<defs id="defs-1"><path id="clip1x"/></defs><g class="trace 2 trace2"/>'
    """
    for number, drawn in enumerate(dict.fromkeys(re.findall(rb'(?:"defs-| trace)([0-9a-f]{6})"', svg)), start=1):
        svg = svg.replace(drawn, str(number).encode())
    return svg
