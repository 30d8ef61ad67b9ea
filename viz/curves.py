"""Figures of what was measured: accuracy by size, many networks at once, probing, and what drifts."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..core.errors import StacklensError
from ..core.imports import pd
from ..core.progress import count
from ..extract.accuracy import SizeScores
from ..extract.certificate.abstraction import Value
from ..extract.certificate.certify import Proof
from ..extract.evaluation.sweep import Sweep
from ..extract.verification.divergence import Drift
from ..languages.language import format_word
from ..models.base import StackModel
from ..probe.attribution import Ablations, Saliency
from ..probe.geometry import HorizonCurve, LinearProbes
from ..probe.outcome import Causality
from ..probe.trace import Selection
from .figures import plane
from .style import (
    CATEGORIES,
    OTHER,
    SHARES,
    category_colours,
    escaped,
    laid_out,
    scale_for,
    sentence,
    shortened,
    stepped,
    themed,
)

_ROW = 190  # pixels of a panel
# Lines that lie upon each other differ by their widths, the widest below, and by their marks.
_LOOKS: dict[str, dict[str, Any]] = {
    "network": {"line": {"width": 7, "color": CATEGORIES[1]}, "marker": {"symbol": "square", "size": 10}},
    "rounded network": {"line": {"width": 4, "color": CATEGORIES[5]}, "marker": {"symbol": "diamond", "size": 7}},
    "automaton": {"line": {"width": 1.5, "color": CATEGORIES[0]}, "marker": {"symbol": "circle", "size": 4}},
}
_THIN = {  # in a sweep
    who: {"line": {**look["line"], "width": 2}, "marker": {**look["marker"], "size": 6}} for who, look in _LOOKS.items()
}


def accuracy_figure(
    scores: SizeScores, title: str = "accuracy", horizons: Mapping[str, Mapping[str, Any]] | None = None
) -> go.Figure:
    """Return a line for network, rounded network and automaton, one panel for each sort of words.

    Of words by length a dotted line stands where the ``horizons`` of a report end, but for those of every length.

    >>> from stacklens.extract.accuracy import SizeScore
    >>> network, automaton = SizeScore("network", "pieces", 2, 2, 4, 3), SizeScore("automaton", "pieces", 2, 2, 4, 4)
    >>> scores = SizeScores("n", (network, automaton))
    >>> [(line.name, line.y) for line in accuracy_figure(scores).data]
    [('network', (0.75,)), ('automaton', (1.0,))]
    """
    sorts, what = list(dict.fromkeys(score.sort for score in scores.scores)), scores.size
    if not sorts:
        return sentence("There are no words to judge, so there is nothing to draw.")
    figure = _panels(sorts, vertical_spacing=0.12)
    for (who, sort), group in groupby(scores.scores, lambda score: (score.who, score.sort)):
        some, row = list(group), sorts.index(sort)
        sizes = [f"{one.low}" if one.low == one.high else f"{one.low} to {one.high}" for one in some]
        texts = [f"{what} {size}: {one.right} of {one.words} right" for size, one in zip(sizes, some, strict=True)]
        places, shares = [one.high for one in some], [one.right / one.words for one in some]
        line = _party_line(who, places, shares, texts, showlegend=row == 0, **_LOOKS[who])
        figure.add_trace(line, row=row + 1, col=1)
    largest = max(score.high for score in scores.scores)
    for place, (who, entry) in enumerate((horizons or {}).items()):
        if what != "length" or (length := entry["length"]) is None or entry["every_length"]:
            continue
        figure.add_vline(x=length, line={"dash": "dot", "width": 1.5, "color": OTHER})
        side = "left" if 2 * length < largest else "right"  # where there is room
        note: dict[str, Any] = {"text": f"horizon, {who}: {length}", "xanchor": side, "showarrow": False}
        figure.add_annotation(x=length, y=0.12 + 0.2 * place, **note)
    figure.update_yaxes(**SHARES, tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_xaxes(title={"text": what}, row=len(sorts), col=1)
    # below there is room for a legend of three lines on a telephone
    return laid_out(figure, title, _ROW * len(sorts) + 200, (60, 20, 80, 110), "below", within="container")


def _party_line(
    who: str, x: list[Any], y: Sequence[float | None], texts: list[str], more: str = "", **look: Any
) -> go.Scatter:
    """Return the line of a network, rounded network or automaton; hovering shows a text and ``more``."""
    hover = f"%{{text}}{more}<extra>{who}</extra>"
    drawn: dict[str, Any] = {"mode": "lines+markers", "text": texts, "hovertemplate": hover, **(_THIN[who] | look)}
    return go.Scatter(x=x, y=y, name=who, legendgroup=who, **drawn)


def _panels(titles: Sequence[str], **sizes: Any) -> go.Figure:
    """Return an empty figure of panels one below the other, each under its title."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=len(titles), cols=1, shared_xaxes=True, subplot_titles=titles, **sizes)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    return figure


# ---- A sweep: accuracy, automata and horizons, over updates of a training, thresholds, or one network after another.

_SWEEP_SYMBOLS = {0: "circle", 1: "triangle-up", 3: "x"}
_STATUS = {0: "nothing contradicts it", 1: "differs from language or rounded network", 3: "no automaton"}
_EVERY = 1.35  # how far above the longest length "every length" is drawn, on a logarithmic axis


def sweep_figure(sweep: Sweep) -> go.Figure:
    """Return three panels: how many words are right, which automaton, and up to which length all words agree.

    Automata that are proved to do the same are in one row of the second panel, whatever their sizes.
    """
    rows = sweep.rows
    if not rows:
        return sentence("There are no networks, so there is nothing to draw.")
    # snapshots stand over their updates, and one network at several thresholds over these
    x, along = list[Any](range(1, len(rows) + 1)), "network"
    thresholds = [((row.report or {}).get("threshold") or {}).get("threshold") for row in rows]
    for name, places in (("threshold", thresholds), ("updates of the weights", [row.updates for row in rows])):
        if len({*places}) == len(rows) > 1 and all(isinstance(place, int | float) for place in places):
            x, along = places, name
    marks = "● nothing contradicts it, ▲ differs from the language or the rounded network, ✖ none"
    titles = ["words that are right", f"automata ({marks})", "all words agree up to this length"]
    figure = _panels(titles, vertical_spacing=0.09)

    # the first panel: accuracy
    networks = [escaped(row.network) for row in rows]
    for who in _LOOKS:
        line = _party_line(who, x, [row.accuracy(who) for row in rows], networks, "<br>%{y:.1%} of the words")
        figure.add_trace(line, row=1, col=1)
    figure.update_yaxes(**SHARES, tickvals=[0, 0.5, 1], row=1, col=1)

    _draw_automata(figure, sweep, x)

    # the third: lengths, with every length above the longest
    found = {who: [row.agrees(who) for row in rows] for who in ("network", "rounded network")}
    lengths = [length for some in found.values() for length in some if length is not None]
    top = max(filter(math.isfinite, lengths), default=10) * _EVERY + 1
    for who, some in found.items():
        heights = [None if length is None else min(max(length, 0.7), top) for length in some]
        texts = ["every length" if length == math.inf else f"length {length}" for length in some]
        line = _party_line(who, x, heights, texts, showlegend=False)
        figure.add_trace(line, row=3, col=1)
    shown: dict[float, str] = {
        tick: f"{tick}" for tick in (1, 3, 10, 30, 100, 300, 1_000) if tick <= max(lengths, default=1)
    }
    if any(map(math.isinf, lengths)):
        shown[top] = "every length"
    figure.update_yaxes(type="log", tickvals=list(shown), ticktext=list(shown.values()), row=3, col=1)
    figure.update_xaxes(title={"text": along}, row=3, col=1)
    if along == "threshold":
        figure.update_xaxes(type="log", tickvals=x)
    if along == "network":
        figure.update_xaxes(dtick=max(1, len(rows) // 20))

    settling = sweep.settling
    if settling is not None and settling.before is not None:
        middle = (settling.before + settling.settles) / 2
        figure.add_vline(x=middle, line={"dash": "dot", "width": 1, "color": OTHER})
    languages = " ".join(dict.fromkeys(row.language or "" for row in rows))
    what = f"{len(rows)} {'thresholds' if along == 'threshold' else 'networks'}, {languages}"
    title = escaped(what if settling is None else str(settling)).replace(" (", "<br>(")
    return laid_out(figure, title, 640, (150, 20, 110, 50), "above", within="container")


_LEFT_OUT = ("differs_rounded", "differs_network", "epochs")
_FIRST = (*("network", "status", "automaton"), *("states", "stack_symbols", "transitions", "proof", "certificate"))
_HEADINGS = {
    "stack_symbols": "stack symbols",
    "agrees_rounded": "follows rounded network",
    "agrees_network": "follows network",
    "accuracy_rounded": "accuracy, rounded",
    "accuracy_automaton": "accuracy, automaton",
}


def sweep_table(sweep: Sweep) -> pd.DataFrame:
    """Return a row for every network: scores, status, sizes, proof; a column that is empty all over is left out."""
    frame = sweep.to_frame().drop(columns=list(_LEFT_OUT), errors="ignore")
    for name in ("agrees_rounded", "agrees_network"):
        if name in frame:
            frame[name] = [
                None if value is None or value != value else "every length" if math.isinf(value) else str(int(value))
                for value in frame[name]
            ]
    # files are called what they are within the folder that they share
    names = [row.network for row in sweep.rows]
    folders = {str(Path(name).parent) for name in names}
    shared = os.path.commonpath(folders) if len({os.path.isabs(name) for name in names}) == 1 else ""
    frame["network"] = [os.path.relpath(name, shared) if shared else name for name in names]
    frame = frame[[*_FIRST, *(name for name in frame.columns if name not in _FIRST)]]
    return frame.astype(object).where(frame.notna(), None).dropna(axis="columns", how="all").rename(columns=_HEADINGS)


def _draw_automata(figure: go.Figure, sweep: Sweep, x: list[Any]) -> None:
    """Draw the second panel: a mark for each network in the row of its automaton, one trace a status."""
    for status in sorted({row.status for row in sweep.rows}):
        some = [place for place, row in enumerate(sweep.rows) if row.status == status]
        rows, numbers = [sweep.rows[place] for place in some], [sweep.classes[place] or 0 for place in some]
        colours = [CATEGORIES[(one - 1) % len(CATEGORIES)] if one else OTHER for one in numbers]
        marks = go.Scatter(
            x=[x[place] for place in some],
            y=numbers,
            mode="markers",
            name=_STATUS.get(status, "could not be read"),
            showlegend=False,
            marker={"symbol": _SWEEP_SYMBOLS.get(status, "square-x-open"), "size": 9, "color": colours},
            text=[f"{escaped(row.network)}<br>{escaped(row.headline or row.reason or '')}" for row in rows],
            hovertemplate="%{text}<extra>" + f"status {status}" + "</extra>",
        )
        figure.add_trace(marks, row=2, col=1)
    names = {0: "none"}  # of the rows of the panel: 0 for none, then the classes
    for row, number in zip(sweep.rows, sweep.classes, strict=True):
        if number is not None:
            states = (row.sizes or {}).get("states")
            names.setdefault(number, f"{number} ({states} states)" if states != 1 else f"{number} (1 state)")
            names[number] = f"{number} = {row.language}" if row.proof == "equal" else names[number]
    figure.update_yaxes(tickvals=list(names), ticktext=list(names.values()), row=2, col=1)
    figure.update_yaxes(range=[-0.6, max(names) + 0.6], row=2, col=1)


# ---- Probing: interchange accuracy, ablations, linear probes, drift, saliency, and states as regions ----

_MOST_ROWS = 40
_ENDS = "#777777"  # of intervals: seen on bars and on either background
_GRID = 60  # points of a side of a map of regions


def causality_figure(found: Causality) -> go.Figure:
    """Return interchange accuracy by state and stack symbol, with 95 % intervals, and random partitions as a line."""
    table = found.to_frame()
    if table.empty:
        return sentence(f"Nothing to interchange: {escaped(found.states.reason or '')}.")
    figure = go.Figure()
    for part, colour in ((found.states, CATEGORIES[0]), (found.symbols, CATEGORIES[1])):
        rows = table[table.what == part.what[:-1]]
        names = [f"{what} {escaped(str(name))}" for what, name in zip(rows["what"], rows["name"], strict=True)]
        ends = {"array": rows.high - rows.accuracy, "arrayminus": rows.accuracy - rows.low, "color": _ENDS}
        figure.add_bar(x=names, y=rows.accuracy, error_y={"type": "data", **ends}, name=part.what, marker_color=colour)
        if part.baseline is not None and len(names):
            figure.add_scatter(
                x=names,
                y=[part.baseline] * len(names),
                mode="lines+markers",
                line={"dash": "dot", "color": CATEGORIES[3]},
                name=f"{part.what}, random partitions",
            )
    return _probed(figure, "Interchanges that did as the automaton predicts", "share")


def ablation_figure(found: Ablations) -> go.Figure:
    """Return what is left without each unit, stack and operation, a heat map by length, the most important on top."""
    shown = (found.whole, *found.rows[:_MOST_ROWS])
    names = [escaped(" ".join(filter(None, (one.kind, one.name, one.role)))) for one in shown]
    figure = _heat(np.array([one.by_length for one in shown]), found.groups, names)
    figure.update_layout(height=max(240, 22 * len(names) + 120))
    return _probed(figure, "Accuracy without a part, by length")


def linear_probes_figure(found: LinearProbes) -> go.Figure:
    """Return the accuracy of every probe beside the control task and the majority, on longer words."""
    names = [probe.target for probe in found.probes]
    if not names:
        return sentence("There is nothing to probe for: every target has one class.")
    figure = go.Figure(layout={"barmode": "group"})
    for number, column in enumerate(("accuracy", "control", "majority")):
        heights = [getattr(probe, column) for probe in found.probes]
        figure.add_bar(x=names, y=heights, name=column, marker_color=CATEGORIES[number])
    return _probed(figure, f"Linear probes on words longer than {found.longest}", "accuracy")


def horizon_figure(found: HorizonCurve) -> go.Figure:
    """Return how far soft and rounded network are apart after every step, and which share still agrees."""
    figure = go.Figure()
    figure.add_scatter(x=found.steps, y=found.distance, name="distance of hidden vectors", line_color=CATEGORIES[0])
    figure.add_scatter(x=found.steps, y=found.agreeing, name="share answered alike so far", line_color=CATEGORIES[2])
    figure.update_xaxes(title={"text": "step"})
    parted = "no word" if found.first is None else f"the first word at step {found.first}"
    return _probed(figure, f"Soft and rounded network: {parted} parts")


def saliency_figure(found: Saliency, part: str = "pushed") -> go.Figure:
    """Return on which earlier steps each decision depends, a row a decision; rings where the automaton's top is from.

    ``part`` is "pushed" or "hidden". Raises StacklensError: there is no such part.
    """
    if part not in ("pushed", "hidden"):
        raise StacklensError(f"there is no saliency of {part!r}; expected pushed or hidden")
    values = getattr(found, part)
    shares = values / np.maximum(values.max(1, keepdims=True, initial=0), 1e-300)
    names = [f"{step + 1} {escaped(letter)}" for step, letter in enumerate(found.letters)]
    figure = _heat(shares, names, names)
    rows = np.flatnonzero(found.origin >= 0)
    figure.add_scatter(
        x=[names[found.origin[row]] for row in rows],
        y=[names[row] for row in rows],
        mode="markers",
        marker={"symbol": "circle-open", "size": 13, "color": CATEGORIES[3], "line": {"width": 2}},
        name="where the automaton's top comes from",
    )
    figure.update_yaxes(title={"text": "decision"})
    figure.update_xaxes(title={"text": f"earlier step, what it {'pushed' if part == 'pushed' else 'remembered'}"})
    return _probed(figure, f"Saliency on {escaped(shortened(format_word(found.word)))}")


def regions_figure(chosen: Selection, word: int | None = None) -> go.Figure:
    """Return hidden vectors in the plane of their principal components, on the regions nearest to each state's centre.

    ``chosen``: moments of a trace that is joined with an automaton. ``word``: of which word the way through the plane
    is drawn. Raises StacklensError: no automaton was joined, or there are no moments.
    """
    kept = Selection(chosen.trace, *(part[chosen.state != ""] for part in (chosen.word, chosen.step)))
    if not len(kept):
        raise StacklensError("no moment at which the automaton is in a state: there is nothing to draw")
    points, shares = plane(kept.hidden)
    groups = {state: points[kept.state == state] for state in sorted(set(kept.state.tolist()))}
    colours = category_colours(list(groups))
    # the plane, coloured by the nearest centre of a state
    centres = np.stack([some.mean(0) for some in groups.values()])
    low, high = points.min(0), points.max(0)
    room = 0.1 * np.maximum(high - low, 1e-6)
    xs, ys = (np.linspace(a, b, _GRID) for a, b in zip(low - room, high + room, strict=True))
    nearest = ((np.stack(np.meshgrid(xs, ys), -1)[:, :, None] - centres) ** 2).sum(-1).argmin(-1)
    scale: dict[str, Any] = {"zmin": -0.5, "zmax": len(groups) - 0.5, "colorscale": stepped(colours.values())}
    figure = go.Figure()
    figure.add_heatmap(x=xs, y=ys, z=nearest, **scale, opacity=0.18, showscale=False, hoverinfo="skip")
    for state, some in groups.items():
        marker = {"color": colours[state], "size": 6}
        figure.add_scatter(x=some[:, 0], y=some[:, 1], mode="markers", name=escaped(state), marker=marker)
    if word is not None:
        way = points[kept.word == word]
        figure.add_scatter(x=way[:, 0], y=way[:, 1], mode="lines+markers", name="one word", line_color="#1B1F24")
    figure.update_xaxes(title={"text": f"first principal component ({shares[0]:.0%} of the variance)"})
    figure.update_yaxes(title={"text": f"second principal component ({shares[1]:.0%})"})
    return _probed(figure, "Hidden vectors by state, with the nearest centre's regions")


def _heat(values: np.ndarray, columns: list[str], rows: list[str]) -> go.Figure:
    map_ = go.Heatmap(z=values, x=columns, y=rows, **scale_for(values, 0.0, 1.0))
    return go.Figure(map_, layout={"yaxis": {"autorange": "reversed"}})


def _probed(figure: go.Figure, title: str, share: str | None = None) -> go.Figure:
    """Return a figure of probing with its title, and with shares of something on its y-axis where that is named."""
    layout: dict[str, Any] = {"title": {"text": title, "x": 0, "xref": "paper"}, "margin": {"t": 60}}
    figure.update_layout(legend={"orientation": "h", "y": -0.2}, **layout)
    if share is not None:
        figure.update_yaxes(title={"text": share}, range=[0, 1.05])
    return themed(figure)


# ---- The curve of a drift: what a rounded network accumulates over the cycles of a word, until a decision tips over.

_LINE = {"dash": "dot", "width": 1.5, "color": CATEGORIES[3]}


def drift_figure(found: Drift) -> go.Figure:
    """Return the number that drifts over its threshold, and below it the margin of the decision, cycle by cycle.

    >>> found = Drift("()()()", "()", ")", "output )", "hidden unit 1", (1, 2, 3), (0.1, 0.2, 0.6), (0.4, 0.3, -0.1),
    ...     0.5, 3)
    >>> [(line.name, line.y) for line in drift_figure(found).data][:2]
    [('hidden unit 1', (0.1, 0.2, 0.6)), ('margin', (0.4, 0.3, -0.1))]
    """
    where = f"{found.quantity} where {shortened(found.symbol)} is read"
    titles = [escaped(where), escaped(f"margin of the decision: {found.decision}")]
    figure = _panels(titles, row_heights=[0.6, 0.4], vertical_spacing=0.14)
    broken = found.cycles.index(found.first_broken)
    curves = ((found.quantity, found.values, CATEGORIES[0]), ("margin", found.margins, CATEGORIES[2]))
    for row, (name, values, colour) in enumerate(curves, 1):
        figure.add_scatter(
            x=found.cycles,
            y=values,
            mode="lines+markers",
            name=name,
            line={"width": 2, "color": colour},
            marker={"size": 5},
            hovertemplate="cycle %{x}: %{y:.4f}<extra>" + escaped(name) + "</extra>",
            row=row,
            col=1,
        )
    for row, (_, values, _) in enumerate(curves, 1):
        mark = {"symbol": "x", "size": 11, "color": CATEGORIES[3]}
        hover = "broken at cycle %{x}<extra></extra>"
        point: dict[str, Any] = {"x": [found.first_broken], "y": [values[broken]], "marker": mark}
        figure.add_scatter(**point, mode="markers", name="broken", hovertemplate=hover, row=row, col=1)
    if found.threshold is not None:
        label = {"annotation_text": f"threshold {found.threshold:.3f}", "annotation_position": "top left"}
        figure.add_hline(y=found.threshold, line=_LINE, row=1, col=1, **label)
    figure.add_hline(y=0, line=_LINE, row=2, col=1)
    cycle = escaped(shortened(format_word(found.cycle)))
    figure.update_xaxes(title={"text": f"cycles of {cycle}"}, row=2, col=1)
    figure.update_layout(showlegend=False)
    return laid_out(figure, f"{cycle}: broken at cycle {found.first_broken}", 420, (60, 20, 80, 60))


# ---- The boxes of a certificate: between which numbers hidden vectors, and what lies on a stack, are proved to be ----

_PANEL = 90  # pixels of a state or stack symbol
_DIGITS = 1e4  # in which the ends of an interval are counted


def boxes_table(proof: Proof) -> pd.DataFrame:
    """Return the least and the most of every number of every box, rounded outwards.

    A box is of a state or a stack symbol, after the letters and tops that were read last. Of a hidden vector numbers
    are its units, of a stack what a cell holds.
    """
    rows = []
    for key, bounds in proof.bounds.items():
        name, *read = ("(cut)" if one is None else str(one) for one in key.tag)
        of = "the start" if name == "start" else f"state {name}"
        of = f"stack {key.stack + 1}, symbol {name}" if isinstance(key, Value) else of
        ends = np.stack([np.floor(bounds[0] * _DIGITS), np.ceil(bounds[1] * _DIGITS)], 1) / _DIGITS
        rows += [(of, " ".join(read), number, *end) for number, end in enumerate(ends.tolist(), 1)]
    frame = pd.DataFrame(rows, columns=["box of", "after", "number", "low", "high"])
    return frame.sort_values(["box of", "after", "number"], ignore_index=True)


def boxes_figure(proof: Proof) -> go.Figure:
    """Return a panel for every state and stack symbol: a bar from the least to the most of each number of its boxes.

    Bars of several boxes lie upon each other.
    """
    from plotly import express

    frame = boxes_table(proof).map(lambda cell: escaped(cell) if isinstance(cell, str) else cell)
    panels, hover = frame["box of"].nunique(), {"width": False, "after": True, "low": True, "high": True}
    rows: dict[str, Any] = {"facet_row": "box of", "facet_row_spacing": 0.25 / panels}
    wide = frame.assign(width=frame["high"] - frame["low"])
    figure = express.bar(wide, x="number", y="width", base="low", opacity=0.35, hover_data=hover, **rows)
    figure.update_traces(marker={"color": CATEGORIES[0], "line": {"color": CATEGORIES[0], "width": 2}})
    figure.for_each_annotation(
        lambda note: note.update(text=note.text.partition("=")[2], x=1, xanchor="left", textangle=0)
    )
    figure.update_yaxes(title={"text": ""}, nticks=3)
    figure.update_xaxes(dtick=1)
    figure.update_layout(showlegend=False, barmode="overlay")
    title = f"{count(len(proof.bounds), 'box', 'boxes')}, smallest margin {proof.certificate.margin:.3g}"
    return laid_out(figure, f"Certificate: {title}", _PANEL * panels + 130, (50, 150, 70, 50))


# ---- The learning curve of one network: how many checking words it got wrong at every check of its training ----


def learning_of(model: StackModel[Any]) -> go.Figure:
    """Return how many checking words ``model`` and its rounded form got wrong in training, and below it the loss.

    Its file keeps that as "history" in its provenance: lists of one length, "epochs", "errors", "errors_rounded", and
    the loss, or the largest error of an output. Raises StacklensError: it keeps none; the message names the command
    that makes a file with one.
    """
    known: Mapping[str, Any] = {} if model.origin is None else model.origin.provenance
    history, command = known.get("history"), known.get("trained_by", known.get("command"))
    others = set(history) - {"epochs", "errors", "errors_rounded"} if isinstance(history, dict) else set[str]()
    if not isinstance(history, dict) or (len(history), len(others), {*map(type, history.values())}) != (4, 1, {list}):
        anew = re.sub(r" --out[= ]\S+", "", command or "")  # not into a file that may be another network's by now
        again = f": {anew} trains it anew, and keeps one" if anew else "; stacklens train writes files that do"
        raise StacklensError(f"the file of this network keeps no scores of its training{again}")
    (loss,) = others
    checked = (known.get("scores") or {}).get("checked_words", "checking words")
    figure = _panels([escaped(f"wrong, of {checked}"), escaped(loss.replace("_", " "))], vertical_spacing=0.14)
    for name, column in (("network", "errors"), ("rounded network", "errors_rounded"), ("loss", loss)):
        look, row = _LOOKS["automaton" if column == loss else name], 1 + (column == loss)
        points = {"x": history["epochs"], "y": history[column], "name": name}
        figure.add_scatter(**points, mode="lines+markers", **look, row=row, col=1)
    figure.update_yaxes(rangemode="tozero")
    figure.update_xaxes(title={"text": "epochs"}, row=2, col=1)
    return laid_out(figure, "Learning curve: at every check of its training", 420, (60, 20, 80, 90), "below")
