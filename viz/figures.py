"""The figures by name, and for every network the one that its own paper draws; hidden vectors, automata's stacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError, UnknownNameError
from ..core.imports import pd
from ..extract.evaluation.automaton_runs import AFTER_WORD, REJECTED, state_names, states_of
from ..languages.language import format_word
from ..models.base import StackModel
from ..models.rounding import Rounded
from ..probe.trace import Trace, trace
from . import style
from .operations import (
    array_panel,
    letters_of,
    operation_panel,
    prediction_table,
    reference_heights,
    segment_panel,
    stack_panels,
)

# ---- Hidden vectors: over time as a heat map, and as points in the plane that shows most of how they differ ----

_SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star")


def hidden_map(model: StackModel[Any], seen: Trace, states: Sequence[Sequence[str]] | None = None) -> go.Figure:
    """Return the hidden vectors of all words of a trace as points in the plane of their two principal components.

    ``states`` names the vector after every step, a sequence for each word, such as states of the automaton; without it
    the colour is the symbol just read. Initial vectors are a group of their own. Each group has a colour and a mark.
    Raises StacklensError: ``states`` has not a name for every step.
    """
    # the group of every hidden vector, word by word, the initial one first
    names = [letters_of(seen, word) for word in range(len(seen.words))] if states is None else list(states)
    given = [len(row) for row in names]
    if given != (steps := seen.steps.tolist()):
        raise StacklensError(f"states has names for {given} steps; expected {steps}, one a step")
    groups = [name for row in names for name in ("start", *row)]
    if seen.hidden.shape[-1] == 0:
        return style.sentence(f"This {model.name} has no hidden vector: its controller is linear.")
    there = np.arange(seen.hidden.shape[1]) <= seen.steps[:, None]
    if not there.any():
        return style.sentence("There are no words in this trace, so there is nothing to draw.")
    points, shares = plane(seen.hidden[there])
    texts = []  # to hover over
    for word, symbols in enumerate(seen.words):
        read = style.escaped(style.shortened(format_word(symbols), 40)) or "the empty word"
        for step in range(int(seen.steps[word]) + 1):
            vector = ", ".join(f"{value:.4g}" for value in seen.hidden[word, step])
            when = "before the first symbol" if step == 0 else f"after step {step}"
            texts.append(f"{read}<br>{when}<br>({style.shortened(vector, 120)})")
    hovers = np.array(texts, dtype=object)
    figure = go.Figure()
    for number, (name, colour) in enumerate(style.category_colours(list(dict.fromkeys(groups))).items()):
        mine = np.array([group == name for group in groups])
        figure.add_scatter(
            x=points[mine, 0],
            y=points[mine, 1],
            mode="markers",
            marker={"color": colour, "symbol": _SYMBOLS[number % len(_SYMBOLS)], "size": 7, "opacity": 0.75},
            name=style.escaped(name),
            hovertext=hovers[mine],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    what = "symbol read" if states is None else "state"
    name = f"rounded {model.model.name}" if isinstance(model, Rounded) else model.name
    figure.update_layout(
        title={"text": f"Hidden vectors of the {name}, by {what}", "x": 0, "xref": "paper"},
        height=460,
        margin={"l": 70, "r": 20, "t": 60, "b": 50},
    )
    figure.update_xaxes(title={"text": f"first principal component ({shares[0]:.0%} of the variance)"})
    figure.update_yaxes(title={"text": f"second principal component ({shares[1]:.0%})"})
    return style.themed(figure)


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


def state_map(model: StackModel[Any], seen: Trace, pda: PushdownAutomaton) -> go.Figure:
    """Return `hidden_map` of a trace, coloured by the state that ``pda`` is in; where it is in none, faint and grey.

    Initial vectors, with a mark of their own, have the colour of the initial state.
    """
    figure = hidden_map(model, seen, states_of(pda, seen))
    colours = style.category_colours(pda.states, style.STATE_CATEGORIES)
    for points in figure.data:
        points.marker.color = colours.get(points.name, colours[pda.initial])
    nowhere = [points for points in figure.data if points.name in (REJECTED, AFTER_WORD)]
    for points in nowhere:
        points.marker.update(color=style.OTHER, opacity=0.3, size=5)
    figure.data = (*nowhere, *(points for points in figure.data if points not in nowhere))  # below the others
    return figure


# ---- An automaton's stack over time beside the soft one ----

_SHOWN = 20  # cells of a stack in a picture, as many as of a soft one
_ROW = 22  # pixels


def stacks_figure(
    model: StackModel[Any], seen: Trace, pda: PushdownAutomaton, word: int = 0, *, stacks: Sequence[int] | None = None
) -> go.Figure:
    """Return the network's stack over the automaton's on word number ``word`` of a trace with stacks, and its states.

    Where the network's stack has cells both show the top on top; where its contents have lengths, both stand on the
    bottom (Sun et al. 1993, figures 4-6). ``stacks`` are the numbers of the network's stacks that are the automaton's,
    all by default.
    """
    letters, read = letters_of(seen, word), seen.words[word]
    lengths, panels = model.action_kind in ("signed", "strengths"), list[style.Panel]()
    if lengths:
        panels = [segment_panel(model, seen, word)]
    elif seen.cells is not None:  # the cells of those of the network's stacks that are asked for
        numbers = range(seen.cells.shape[2]) if stacks is None else stacks
        soft = stack_panels(seen, word, _SHOWN if len(numbers) <= 1 else _FEW)
        panels = [soft[number] for number in numbers]
    panels += _discrete_panels(pda, read, lengths, state_names(pda, read))
    return style.figure_of(style.title_of(model, seen, word), panels, letters)


def _discrete_panels(
    pda: PushdownAutomaton, word: Word, from_the_bottom: bool, states: Sequence[str]
) -> list[style.Panel]:
    stacks = [discrete_panel(pda, word, stack, from_the_bottom=from_the_bottom) for stack in range(pda.n_stacks)]
    return [*stacks, style.category_track("state", states)]


def discrete_panel(pda: PushdownAutomaton, word: Word, stack: int = 0, *, from_the_bottom: bool = False) -> style.Panel:
    """Return what lies on stack number ``stack`` after each letter of ``word``, a colour and a name for each symbol.

    At most 20 cells are shown: those nearest the top, with the top on top, or ``from_the_bottom`` the lowest ones.
    """
    steps = len(word) + (pda.end_marker is not None)
    colours = style.category_colours(pda.stack_alphabet)
    numbers = {symbol: float(number) for number, symbol in enumerate(pda.stack_alphabet)}
    values, names = np.full((_SHOWN, steps), np.nan), np.full((_SHOWN, steps), "", dtype=object)
    highest = 0
    for step, configuration in enumerate(pda.at_rest(word)):
        whole = configuration.stacks[stack]
        content = whole[:_SHOWN] if from_the_bottom else whole[: -_SHOWN - 1 : -1]
        values[: len(content), step] = [numbers[symbol] for symbol in content]
        names[: len(content), step] = [style.escaped(symbol) for symbol in content]
        highest = max(highest, len(content))
    rows = max(1, highest)
    # where the rows of cells stand, and the axis that they stand on
    y: list[Any] = ["top", *(str(row + 1) for row in range(1, rows))]
    axis: dict[str, Any] = {"autorange": "reversed", "type": "category", "showgrid": False}
    if from_the_bottom:
        y, axis = [row + 0.5 for row in range(rows)], {"title": {"text": "height"}, "range": [0, 1.02 * rows]}
    name = "automaton's stack" if pda.n_stacks == 1 else f"automaton's stack {stack + 1}"
    heading = f"{name} after each step{', the top on top' if not from_the_bottom else ''}"
    hover = "after step %{x}, %{y}<br>%{text}<extra></extra>"
    gaps = {"showlegend": False, "hoverongaps": False, "ygap": 1}
    map_ = style.category_map(values[:rows], names[:rows], y, colours.values(), hover, **gaps)
    return style.Panel(heading, (map_,), axis, max(64, _ROW * rows))


# ---- The figures by name ----

_FEW = 6  # cells of each stack where there are several
_MANY = 3  # stacks above which the table of operations stands alone


def paper_figure(
    model: StackModel[Any],
    seen: Trace,
    word: int = 0,
    *,
    truth: PushdownAutomaton | None = None,
    automaton: PushdownAutomaton | None = None,
) -> go.Figure:
    """Return what the network's own paper shows of a word, with an automaton's stacks and states.

    Stacks with lengths: their segments, the action and the reading (Sun et al. 1993, figures 4-6), or the strengths and
    the pushed vectors (Hao et al. 2018, figures 5 and 6). One stack with cells: the operations' shares and the cells
    (Suzgun et al. 2019, figures 3 and 4). Several: the table of operations (Joulin & Mikolov 2015, figure 3), and the
    cells of up to three. No stack: the hidden vector.

    ``seen`` is its trace, with stacks=True. How high the stacks of ``truth`` are, the automaton of what it was trained
    on, stands below; the stacks of ``automaton``, what was read out of it, under the soft one, cell by cell.
    """
    letters, title = letters_of(seen, word), style.title_of(model, seen, word)
    lengths = model.action_kind in ("signed", "strengths")
    if model.n_stacks == 0:
        panels = [array_panel("hidden", model, seen, word)] if seen.hidden.shape[-1] else []
    elif lengths:
        parts = ("actions", "reading" if model.action_kind == "signed" else "pushed")
        panels = [segment_panel(model, seen, word), *(array_panel(part, model, seen, word) for part in parts)]
    elif model.n_stacks == 1:
        action, pushed = (array_panel(part, model, seen, word) for part in ("actions", "pushed"))
        panels = [action, *stack_panels(seen, word), pushed]
    else:
        cells = [] if model.n_stacks > _MANY else stack_panels(seen, word, _FEW)
        panels = [operation_panel(model, seen, word), *cells]
    if automaton is not None:
        panels += _discrete_panels(automaton, seen.words[word], lengths, _states_beside(automaton, seen, word))
    if (heights := reference_heights(truth, seen.words[word])) is not None:
        panels.append(style.height_track(heights[: len(letters)]))
    return style.figure_of(title, panels, letters)


def _states_beside(automaton: PushdownAutomaton, seen: Trace, word: int) -> list[str]:
    names, steps = state_names(automaton, seen.words[word]), int(seen.steps[word])
    return [*names, *["end"] * (steps - len(names))][:steps]


FIGURES = ("paper", "actions", "stack", "segments", "operations", "hidden", "map", "rounding", "predictions")


_TABLED, _PLAIN = 120, "rgba(0,0,0,0)"  # steps of a table that is drawn, and the ground of its other cells


def coloured_table(frame: pd.DataFrame, title: str) -> go.Figure:
    """Return a table of steps as a picture, operations in their colours (Joulin & Mikolov 2015, figure 3). Raises
    StacklensError: it has too many rows.
    """
    if len(frame) > _TABLED:
        raise StacklensError(f"a picture of the table has at most {_TABLED} steps, and this word {len(frame):,}")
    columns = [[f"{one:.3f}" if isinstance(one, float) else str(one) for one in frame[name]] for name in frame]
    fills = [
        [f"{style.OPERATION_COLOURS[one]}88" if one in style.OPERATION_COLOURS else _PLAIN for one in row]
        for row in columns
    ]
    cells = {"values": [[style.escaped(one.replace("nan", "")) for one in row] for row in columns], "height": 24}
    look = {"align": "left", "line": {"width": 0}}
    table = go.Table(header={"values": [*frame], "fill": {"color": "#8C8C8C44"}, **look})
    table.update(cells={**cells, "fill": {"color": fills}, **look})
    return style.laid_out(go.Figure(table), title, 24 * len(frame) + 120, (20, 20, 70, 20))


def draw(
    name: str, model: StackModel[Any], seen: Trace, word: int = 0, automaton: PushdownAutomaton | None = None
) -> go.Figure:
    """Return the figure called ``name``, one of `FIGURES`, of word number ``word``.

    With an ``automaton``, what was read out of the network, it shows the automaton's states where it has a place.
    Raises UnknownNameError: there is no such figure.
    """
    if name not in FIGURES:
        raise UnknownNameError("figure", name, list(FIGURES))
    if name == "paper":
        return paper_figure(model, seen, word, automaton=automaton)
    if name == "map":
        states = [_states_beside(automaton, seen, one) for one in range(len(seen.words))] if automaton else None
        return hidden_map(model, seen, states)
    if name == "predictions" and model.task_kind != "recognition":
        return coloured_table(prediction_table(model, seen, word), style.title_of(model, seen, word))
    lengths, panels = model.action_kind in ("signed", "strengths"), list[style.Panel]()
    nothing = ""  # why there is nothing to draw
    if name == "hidden" and seen.hidden.shape[-1] == 0:
        nothing = f"This {model.name} has no hidden vector: its controller is linear."
    elif name == "hidden":  # after every step, a row a unit, with the automaton's states under it
        panels = [array_panel("hidden", model, seen, word)]
        panels += [] if automaton is None else [style.category_track("state", _states_beside(automaton, seen, word))]
    elif name == "predictions":
        nothing = f"This {model.name} recognises words and predicts nothing."
    elif name == "segments" and not lengths:
        nothing = f"The stack of this {model.name} has no lengths: its cells show it."
    elif name == "stack" and seen.cells is not None:
        panels = stack_panels(seen, word)
    elif name == "rounding" and isinstance(model, Rounded):
        nothing = "These actions are rounded already: draw this figure of the network itself."
    elif model.n_stacks == 0:
        so = {"actions": ", so it takes no actions", "operations": ", so it takes no operations"}.get(name, "")
        nothing = f"This {model.name} has no stack{so}."
    elif name == "stack" and lengths:
        nothing = f"The stack of this {model.name} has lengths, not cells: the segments show it."
    elif name == "stack" and not seen.steps.any():
        nothing = "The word is empty and the network takes no step, so there is nothing to draw."
    elif name == "stack":
        nothing = "This trace has no stack contents: trace with stacks=True."
    elif name == "operations":
        panels = [operation_panel(model, seen, word)]
    elif name == "actions":
        panels = [array_panel(part, model, seen, word) for part in ("actions", "pushed", "reading")]
    elif name == "segments":
        panels = [segment_panel(model, seen, word)]
        panels += [array_panel(part, model, seen, word) for part in ("actions", "reading")]
    else:  # the network over the rounded one on the same word: where they part, rounding changes what the network does
        rounded = trace(Rounded(model), [seen.words[word]], stacks=True)
        for kind, one, number in (("soft actions", seen, word), ("rounded actions", rounded, 0)):
            if one.steps[number]:
                mine = [segment_panel(model, one, number)] if lengths else stack_panels(one, number)
                mine.append(array_panel("actions", model, one, number))
                panels += [replace(panel, heading=f"{kind}: {panel.heading}") for panel in mine]
    if nothing:
        return style.sentence(nothing)
    return style.figure_of(style.title_of(model, seen, word), panels, letters_of(seen, word))
