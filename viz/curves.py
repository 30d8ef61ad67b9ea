"""Curves of the papers: accuracy against size (Joulin & Mikolov 2015, figure 2), words by length and depth."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import plotly.graph_objects as go

from ..extract.accuracy import SizeScore, SizeScores
from ..extract.evaluation.sweep import Sweep, SweepRow
from ..papers.grid import CONVERGED, Grid, GridResults, RowResult, statistic
from ..papers.results import Results
from ..papers.suzgun2019_studies import TRACES_NAME as TRACES
from .style import CATEGORIES, escaped, sentence, themed

# ---- Accuracy along a training as a picture: a line for every network, in the colour of what became of it ----

# what becomes of a network, each with a colour and a dash for those who see none
FATES = {
    "learned, right in the end": (CATEGORIES[0], "solid"),
    "learned, wrong in the end": (CATEGORIES[3], "solid"),
    "never learned": ("#8C8C8C", "dot"),
}
_COLUMNS = {"last": "one rate", "rate falling": "rate falling in the last epoch"}  # networks of the results: panels
_TRACE_ROW = 190  # pixels


def fate_of(network: Mapping[str, Any], kind: str = "last") -> str:
    """Return which of `FATES` became of a network, by its trace and the test of the network of ``kind`` in the end.

    >>> fate_of({"trace": {"0": 0.0, "50": 1.0}, "test": {"last": 0.4}})
    'learned, wrong in the end'
    """
    right = max(_trace_points(network, kind).values()) >= CONVERGED
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
    titles = []
    for figures in rows:
        for kind, shown in _COLUMNS.items():
            fates = [fate_of(one, kind) for one in figures["networks"]]
            right = fates.count("learned, right in the end")
            titles.append(f"{figures['row']}, {shown}: {right} of {len(fates)} in the end")
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
                figure.add_trace(_trace_line(network, kind, fate, legend=fate not in named), row=row, col=column)
                named.add(fate)
    figure.update_annotations(font={"size": 13})
    figure.update_yaxes(range=[-0.05, 1.08], tickformat=".0%", tickvals=[0, 0.5, 1])
    figure.update_xaxes(title={"text": "words seen"}, tickformat=",d", row=len(rows))
    figure.update_layout(
        title={"text": f"{results.paper}: held-out words of D6 that are right", "x": 0, "xref": "paper"},
        height=_TRACE_ROW * len(rows) + 160,
        margin={"l": 60, "r": 20, "t": 90, "b": 90},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0, "yanchor": "bottom"},
    )
    return themed(figure)


def _trace_points(network: Mapping[str, Any], kind: str) -> dict[int, float]:
    """Return accuracies by words seen; with a falling rate those at one rate are the same until it falls."""
    points = {int(words): share for words, share in network["trace"].items()}
    if kind == "last":
        return points
    falling = {int(words): share for words, share in network["trace, rate falling"].items()}
    return {**{words: share for words, share in points.items() if words < min(falling)}, **falling}


def _trace_line(network: Mapping[str, Any], kind: str, fate: str, legend: bool) -> Any:
    points, (colour, dash) = _trace_points(network, kind), FATES[fate]
    hover = f"seed {network['seed']}, {fate}: {100 * network['test'][kind]:.1f} % of the test"
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
        hovertemplate=f"%{{x:,}} words<br>%{{y:.1%}}<extra>{hover}</extra>",
    )


# ---- Curves of the papers ----

# Lines that lie upon each other differ by their widths, the widest below, and by their marks.
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
            points = {} if done is None else _points_of_row(done, rounded)
            if points:
                lines.append(_curve_line(row.name + (", rounded" if rounded else ""), points, number, rounded))
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


def _points_of_row(done: RowResult, rounded: bool) -> dict[int, float]:
    """Return the score of the chosen network of a row at each size."""
    networks = [network.scores for network in done.networks]
    found = dict[int, float]()
    for score in networks[0] if networks else ():
        match = _OVER_N.fullmatch(score)
        value = statistic("chosen", networks, score) if match and bool(match[2]) == rounded else None
        if match is not None and value is not None:
            found[int(match[1])] = value
    return dict(sorted(found.items()))


def _curve_line(name: str, points: Mapping[int, float], number: int, rounded: bool) -> Any:
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


# ---- A sweep as a figure: accuracy, automata and horizons, over the updates of a training or one network after
# another.

_PARTIES = {"network": (CATEGORIES[1], "square"), "rounded network": (CATEGORIES[5], "diamond")}
_AUTOMATON = (CATEGORIES[0], "circle")
_NONE = "#8C8C8C"  # no automaton, or no network
_SWEEP_SYMBOLS = {0: "circle", 1: "triangle-up", 3: "x"}
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
    for trace in _accuracy_lines(rows, x):
        figure.add_trace(trace, row=1, col=1)
    for trace in _automaton_marks(sweep, x):
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
    names = _automaton_names(sweep)
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


def _automaton_names(sweep: Sweep) -> dict[int, str]:
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


def _accuracy_lines(rows: Sequence[SweepRow], x: list[Any]) -> list[Any]:
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


def _automaton_marks(sweep: Sweep, x: list[Any]) -> list[Any]:
    """Return a mark for each network in the row of its automaton, one trace a status."""
    traces = []
    for status in sorted({row.status for row in sweep.rows}):
        some = [place for place, row in enumerate(sweep.rows) if row.status == status]
        rows = [sweep.rows[place] for place in some]
        numbers = [sweep.classes[place] or 0 for place in some]
        traces.append(
            go.Scatter(
                x=[x[place] for place in some],
                y=numbers,
                mode="markers",
                name=_STATUS.get(status, "could not be read"),
                showlegend=False,
                marker={
                    "symbol": _SWEEP_SYMBOLS.get(status, "square-x-open"),
                    "size": 9,
                    "color": [CATEGORIES[(one - 1) % len(CATEGORIES)] if one else _NONE for one in numbers],
                },
                text=[f"{escaped(row.network)}<br>{escaped(row.headline or row.reason or '')}" for row in rows],
                hovertemplate="%{text}<extra>" + f"status {status}" + "</extra>",
            )
        )
    return traces


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
