"""Hidden vectors: over time as a heat map, and as points in the plane that shows most of how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..automata.pda import PushdownAutomaton
from ..core.errors import StacklensError
from ..extract.evaluation.automaton_runs import AFTER_WORD, REJECTED, states_of
from ..languages.words import format_word
from ..models.base import StackModel
from ..models.rounding import Rounded
from ..probe.trace import Trace
from .style import (
    Panel,
    category_colours,
    category_track,
    escaped,
    figure_of,
    heat_panel,
    letters_of,
    sentence,
    shortened,
    state_colours,
    themed,
    title_of,
)

_SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star")


def hidden_heatmap(
    model: StackModel[Any], seen: Trace, word: int = 0, states: Sequence[str] | None = None
) -> go.Figure:
    """Return the hidden vector after every step, a row a unit; ``states``, one name a step, as a track under it."""
    if seen.hidden.shape[-1] == 0:
        return sentence(f"This {model.name} has no hidden vector: its controller is linear.")
    panels = [hidden_panel(seen, word)]
    if states is not None:
        panels.append(category_track("state", states))
    return figure_of(title_of(model, seen, word), panels, letters_of(seen, word))


def hidden_panel(seen: Trace, word: int = 0) -> Panel:
    """Return the hidden vector after every step, a row a unit."""
    values = seen.hidden[word, 1 : seen.steps[word] + 1]
    rows = [f"h{unit + 1}" for unit in range(values.shape[1])]
    panel = heat_panel("hidden vector after each step", values, rows, letters_of(seen, word))
    return Panel(panel.heading, panel.traces, panel.y, max(64, min(400, 16 * len(rows))))


def hidden_map(model: StackModel[Any], seen: Trace, states: Sequence[Sequence[str]] | None = None) -> go.Figure:
    """Return the hidden vectors of all words of a trace as points in the plane of their two principal components.

    ``states`` names the vector after every step, a sequence for each word, such as states of the automaton; without it
    the colour is the symbol just read. Initial vectors are a group of their own. Each group has a colour and a mark.

    Raises:
        StacklensError: ``states`` has not a name for every step.
    """
    groups = _groups(seen, states)
    if seen.hidden.shape[-1] == 0:
        return sentence(f"This {model.name} has no hidden vector: its controller is linear.")
    there = np.arange(seen.hidden.shape[1]) <= seen.steps[:, None]
    if not there.any():
        return sentence("There are no words in this trace, so there is nothing to draw.")
    points, shares = plane(seen.hidden[there])
    hovers = np.array(_vector_hovers(seen), dtype=object)
    figure = go.Figure()
    for number, (name, colour) in enumerate(category_colours(list(dict.fromkeys(groups))).items()):
        mine = np.array([group == name for group in groups])
        figure.add_trace(
            go.Scatter(
                x=points[mine, 0],
                y=points[mine, 1],
                mode="markers",
                marker={"color": colour, "symbol": _SYMBOLS[number % len(_SYMBOLS)], "size": 7, "opacity": 0.75},
                name=escaped(name),
                hovertext=hovers[mine],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    what = "symbol read" if states is None else "state"
    figure.update_layout(
        title={"text": f"Hidden vectors of the {_titled(model)}, by {what}", "x": 0, "xref": "paper"},
        height=460,
        margin={"l": 70, "r": 20, "t": 60, "b": 50},
    )
    figure.update_xaxes(title={"text": f"first principal component ({shares[0]:.0%} of the variance)"})
    figure.update_yaxes(title={"text": f"second principal component ({shares[1]:.0%})"})
    return themed(figure)


def _titled(model: StackModel[Any]) -> str:
    return f"rounded {model.model.name}" if isinstance(model, Rounded) else model.name


def plane(vectors: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """Return ``vectors`` (M, H) projected on their two principal components, (M, 2), and each one's share of variance.

    Signs are such that the largest coordinate of either component is positive. Where H is 1 the second is 0.
    """
    centred = vectors - vectors.mean(0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    sizes, axes = np.pad(sizes, (0, 2))[:2], np.pad(axes, ((0, 2), (0, 0)))[:2]
    largest = np.abs(axes).argmax(1)
    axes = axes * np.where(axes[[0, 1], largest] < 0, -1.0, 1.0)[:, None]
    total = float((centred**2).sum())
    first, second = (float(size**2 / total) if total else 0.0 for size in sizes)
    return centred @ axes.T, (first, second)


def _groups(seen: Trace, states: Sequence[Sequence[str]] | None) -> list[str]:
    """Return the group of every hidden vector, word by word, the initial one first."""
    names = [letters_of(seen, word) for word in range(len(seen.words))] if states is None else list(states)
    wrong = [word for word, row in enumerate(names) if len(row) != seen.steps[word]]
    if len(names) != len(seen.words) or wrong:
        raise StacklensError(
            f"states has names for {[len(row) for row in names]} steps; expected {seen.steps.tolist()}, one a step"
        )
    return [name for row in names for name in ("start", *row)]


def _vector_hovers(seen: Trace) -> list[str]:
    texts = []
    for word, symbols in enumerate(seen.words):
        name = escaped(shortened(format_word(symbols), 40)) or "the empty word"
        for step in range(int(seen.steps[word]) + 1):
            vector = ", ".join(f"{value:.4g}" for value in seen.hidden[word, step])
            read = "before the first symbol" if step == 0 else f"after step {step}"
            texts.append(f"{name}<br>{read}<br>({shortened(vector, 120)})")
    return texts


_FAINT = "#8C8C8C"


def state_map(model: StackModel[Any], seen: Trace, pda: PushdownAutomaton) -> go.Figure:
    """Return `hidden_map` of a trace, coloured by the state that ``pda`` is in; where it is in none, faint and grey.

    Initial vectors, with a mark of their own, have the colour of the initial state.
    """
    figure = hidden_map(model, seen, states_of(pda, seen))
    colours = state_colours(pda.states)
    for points in figure.data:
        points.marker.color = colours.get(points.name, colours[pda.initial])
    nowhere = [points for points in figure.data if points.name in (REJECTED, AFTER_WORD)]
    for points in nowhere:
        points.marker.update(color=_FAINT, opacity=0.3, size=5)
    figure.data = (*nowhere, *(points for points in figure.data if points not in nowhere))  # below the others
    return figure
