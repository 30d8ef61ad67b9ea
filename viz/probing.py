"""Figures of probing: interchange accuracy, ablations, linear probes, drift, saliency, and states as regions."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..core.errors import StacklensError
from ..extract.verification.divergence import Drift
from ..languages.words import format_word
from ..probe.attribution import Ablations, Saliency
from ..probe.geometry import HorizonCurve, LinearProbes
from ..probe.outcome import Causality
from ..probe.trace import Selection
from .hidden import plane
from .style import CATEGORIES, category_colours, escaped, scale_for, sentence, shortened, themed

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
        names = [f"{row.what} {escaped(str(row.name_))}" for row in rows.rename(columns={"name": "name_"}).itertuples()]
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
    return _finished(figure, "Interchanges that did as the automaton predicts", "share", [0, 1.05])


def ablation_figure(found: Ablations) -> go.Figure:
    """Return what is left without each unit, stack and operation, a heat map by length, the most important on top."""
    rows = found.rows[:_MOST_ROWS]
    names = [" ".join(filter(None, (one.kind, one.name, one.role))) for one in (found.whole, *rows)]
    values = np.array([one.by_length for one in (found.whole, *rows)])
    lengths = [f"length ≤ {length}" for length in found.lengths]
    figure = _heat(values, lengths, [escaped(name) for name in names], 0.0, 1.0)
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(height=max(240, 22 * len(names) + 120))
    return _finished(figure, "Accuracy without a part, by length")


def linear_probes_figure(found: LinearProbes) -> go.Figure:
    """Return the accuracy of every probe beside the control task and the majority, on longer words."""
    names = [probe.target for probe in found.probes]
    if not names:
        return sentence("There is nothing to probe for: every target has one class.")
    figure = go.Figure()
    for number, column in enumerate(("accuracy", "control", "majority")):
        heights = [getattr(probe, column) for probe in found.probes]
        figure.add_bar(x=names, y=heights, name=column, marker_color=CATEGORIES[number])
    figure.update_layout(barmode="group")
    return _finished(figure, f"Linear probes on words longer than {found.longest}", "accuracy", [0, 1.05])


def horizon_figure(found: HorizonCurve) -> go.Figure:
    """Return how far soft and rounded network are apart after every step, and which share still agrees."""
    figure = go.Figure()
    figure.add_scatter(x=found.steps, y=found.distance, name="distance of hidden vectors", line_color=CATEGORIES[0])
    figure.add_scatter(x=found.steps, y=found.agreeing, name="share answered alike so far", line_color=CATEGORIES[2])
    figure.update_xaxes(title={"text": "step"})
    parted = "no word" if found.first is None else f"the first word at step {found.first}"
    return _finished(figure, f"Soft and rounded network: {parted} parts")


def saliency_figure(found: Saliency, part: str = "pushed") -> go.Figure:
    """Return on which earlier steps each decision depends, a row a decision; rings where the automaton's top is from.

    Args:
        found: what was measured.
        part: "pushed" or "hidden".

    Raises:
        StacklensError: there is no such part.
    """
    if part not in ("pushed", "hidden"):
        raise StacklensError(f"there is no saliency of {part!r}; expected pushed or hidden")
    values = getattr(found, part)
    shares = values / np.maximum(values.max(1, keepdims=True, initial=0), 1e-300)
    names = [f"{step + 1} {escaped(letter)}" for step, letter in enumerate(found.letters)]
    figure = _heat(shares, names, names, 0.0, 1.0)
    rows = np.flatnonzero(found.origin >= 0)
    ring = {"symbol": "circle-open", "size": 13, "color": CATEGORIES[3], "line": {"width": 2}}
    figure.add_scatter(
        x=[names[found.origin[row]] for row in rows],
        y=[names[row] for row in rows],
        mode="markers",
        marker=ring,
        name="where the automaton's top comes from",
    )
    figure.update_yaxes(autorange="reversed", title={"text": "decision"})
    figure.update_xaxes(title={"text": f"earlier step, what it {'pushed' if part == 'pushed' else 'remembered'}"})
    return _finished(figure, f"Saliency on {escaped(shortened(format_word(found.word)))}")


def regions_figure(chosen: Selection, word: int | None = None) -> go.Figure:
    """Return hidden vectors in the plane of their principal components, on the regions nearest to each state's centre.

    Args:
        chosen: moments of a trace that is joined with an automaton.
        word: of which word the way through the plane is drawn.

    Raises:
        StacklensError: no automaton was joined, or there are no moments.
    """
    kept = Selection(chosen.trace, *(part[chosen.state != ""] for part in (chosen.word, chosen.step)))
    if not len(kept):
        raise StacklensError("no moment at which the automaton is in a state: there is nothing to draw")
    points, shares = plane(kept.hidden)
    states = kept.state
    colours = category_colours(sorted(set(states.tolist())))
    figure = go.Figure()
    _add_regions(figure, points, states, colours)
    for state, colour in colours.items():
        mine = points[states == state]
        figure.add_scatter(
            x=mine[:, 0], y=mine[:, 1], mode="markers", name=escaped(state), marker={"color": colour, "size": 6}
        )
    if word is not None:
        way = points[kept.word == word]
        figure.add_scatter(x=way[:, 0], y=way[:, 1], mode="lines+markers", name="one word", line_color="#1B1F24")
    figure.update_xaxes(title={"text": f"first principal component ({shares[0]:.0%} of the variance)"})
    figure.update_yaxes(title={"text": f"second principal component ({shares[1]:.0%})"})
    return _finished(figure, "Hidden vectors by state, with the nearest centre's regions")


def _add_regions(figure: go.Figure, points: np.ndarray, states: np.ndarray, colours: dict[str, str]) -> None:
    """Colour the plane by the nearest centre of a state."""
    names = list(colours)
    centres = np.stack([points[states == name].mean(0) for name in names])
    low, high = points.min(0), points.max(0)
    room = 0.1 * np.maximum(high - low, 1e-6)
    xs, ys = (np.linspace(a, b, _GRID) for a, b in zip(low - room, high + room, strict=True))
    grid = np.stack(np.meshgrid(xs, ys), -1)
    nearest = ((grid[:, :, None] - centres) ** 2).sum(-1).argmin(-1)
    size = len(names)
    scale = [(edge / size, colour) for place, colour in enumerate(colours.values()) for edge in (place, place + 1)]
    figure.add_heatmap(
        x=xs, y=ys, z=nearest, zmin=-0.5, zmax=size - 0.5, colorscale=scale, opacity=0.18, showscale=False,
        hoverinfo="skip",
    )  # fmt: skip


def _heat(values: np.ndarray, columns: list[str], rows: list[str], low: float, high: float) -> go.Figure:
    scale = scale_for(values, low, high)
    return go.Figure(
        go.Heatmap(
            z=values,
            x=columns,
            y=rows,
            zmin=scale.low,
            zmax=scale.high,
            colorscale=[list(one) for one in scale.colours],
        )
    )


def _finished(figure: go.Figure, title: str, y: str | None = None, reach: list[float] | None = None) -> go.Figure:
    layout: dict[str, Any] = {"title": {"text": title, "x": 0, "xref": "paper"}, "margin": {"t": 60}}
    figure.update_layout(legend={"orientation": "h", "y": -0.2}, **layout)
    if y is not None:
        figure.update_yaxes(title={"text": y}, range=reach)
    return themed(figure)


# ---- The curve of a drift: what a rounded network accumulates over the cycles of a word, until a decision tips over.

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
