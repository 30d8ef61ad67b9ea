"""An automaton as a page shows it: a drawing whose states light up, and its stack over time beside the soft one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go

from stacklens.automata.formats.dot import render, rule, to_dot
from stacklens.automata.pda import Key, PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.extract.evaluation.automaton_runs import stacks_beside, state_names
from stacklens.models.base import StackModel
from stacklens.probe.trace import Trace
from stacklens.viz.panels import Panel, category_track, figure_of, letters_of
from stacklens.viz.stacks import segment_panel, stack_panels
from stacklens.viz.style import category_colours, escaped, stepped, title_of

__all__ = ["MOST_EDGES", "MOST_STATES", "automaton_drawing", "check_size", "discrete_panel", "stacks_figure"]

MOST_STATES, MOST_EDGES = 60, 150  # beyond, nobody reads a drawing, and Graphviz needs minutes for it

_SVG = "http://www.w3.org/2000/svg"
_NODE, _EDGE = re.compile(r"n(\d+)"), re.compile(r"(?:n(\d+)|start)->n(\d+)")
_Rules = dict[tuple[int, int], list[tuple[str, int]]]

_SHOWN = 20  # cells of a stack in a picture, as many as of a soft one
_FEW = 6  # of each of several
_NAMED = 60  # steps up to which cells carry their symbol
_ROW = 22  # pixels


def automaton_drawing(pda: PushdownAutomaton) -> str:
    """Return the drawing as SVG text, labelled as in Sun et al. 1993, figures 7-12: input, top → operation.

    States are numbered as in ``pda.states`` and rules as in ``pda.transitions``, from 0. A state's group has the class
    "state" and ``data-state``; an edge's has the class "edge", ``data-from`` (empty at the arrow into the initial
    state) and ``data-to``; each of its lines of text has the class "rule" and ``data-rule``.

    Raises:
        StacklensError: the automaton is too large to be drawn, or nothing here can draw.

    >>> pda = PushdownAutomaton(states=("q",), input_alphabet=("a",), stack_alphabet=(), initial="q", transitions={})
    >>> 'class="state" data-state="0"' in automaton_drawing(pda)
    True
    """
    return _drawn(pda, tuple(pda.transitions))


@lru_cache(maxsize=64)
def _drawn(pda: PushdownAutomaton, order: tuple[Key, ...]) -> str:
    """Return the drawing; automata that are equal may have their transitions in another ``order``."""
    del order
    check_size(pda)
    root = ElementTree.fromstring(render(to_dot(pda), "svg"))
    rules = _rules(pda)
    for group in root.iter(f"{{{_SVG}}}g"):
        title = group.find(f"{{{_SVG}}}title")
        if title is not None:
            _mark(group, title.text or "", pda, rules)
            group.remove(title)  # a browser would show "n0" over the mouse
    return _text(root)


def check_size(pda: PushdownAutomaton) -> None:
    """Check that ``pda`` is small enough for a drawing.

    Raises:
        StacklensError: it has too many states, or too many pairs of states that rules join.
    """
    edges = len({(key[0], step.target) for key, step in pda.transitions.items()})
    if len(pda.states) > MOST_STATES or edges > MOST_EDGES:
        raise StacklensError(
            f"this automaton has {len(pda.states):,} states and {edges:,} edges; a drawing has at most {MOST_STATES} "
            f"and {MOST_EDGES}, so read its transition table"
        )


def _rules(pda: PushdownAutomaton) -> _Rules:
    """Return the text and the number of every rule, by the numbers of the two states that it joins."""
    places = {state: number for number, state in enumerate(pda.states)}
    found: _Rules = defaultdict(list)
    for number, (key, step) in enumerate(pda.transitions.items()):
        found[places[key[0]], places[step.target]].append((rule(key, step), number))
    return found


def _mark(group: ElementTree.Element, title: str, pda: PushdownAutomaton, rules: _Rules) -> None:
    """Give a group of the drawing, which Graphviz has named ``title``, its class and numbers, and its rules theirs."""
    group.attrib.pop("id", None)  # a page may hold several drawings
    if (node := _NODE.fullmatch(title)) is not None:
        group.attrib |= {"class": "state", "data-state": node[1], "data-name": pda.states[int(node[1])]}
    elif (edge := _EDGE.fullmatch(title)) is not None:
        source, target = edge[1] or "", edge[2]
        group.attrib |= {"class": "edge", "data-from": source, "data-to": target}
        left = list(rules[int(source), int(target)]) if source else []
        for text in group.iter(f"{{{_SVG}}}text"):
            said = (text.text or "").replace("\N{NO-BREAK SPACE}", " ")
            place = next(place for place, (shown, _) in enumerate(left) if shown == said)  # two may look the same
            text.attrib |= {"class": "rule", "data-rule": str(left.pop(place)[1])}


def _text(root: ElementTree.Element) -> str:
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode")


def stacks_figure(
    model: StackModel[Any],
    seen: Trace,
    pda: PushdownAutomaton,
    word: int = 0,
    *,
    stacks: Sequence[int] | None = None,
) -> go.Figure:
    """Return the network's stack over the automaton's on word number ``word`` of a trace with stacks, and its states.

    Where the network's stack has cells both show the top on top; where its contents have lengths, both stand on the
    bottom (Sun et al. 1993, figures 4-6). ``stacks`` are the numbers of the network's stacks that are the automaton's,
    all by default.
    """
    letters, read = letters_of(seen, word), seen.words[word]
    if not letters:
        return figure_of(title_of(model, seen, word), [], letters)
    lengths = model.action_kind in ("signed", "strengths")
    panels = [segment_panel(model, seen, word)] if lengths else _soft(seen, word, stacks)
    for stack in range(pda.n_stacks):
        panels.append(discrete_panel(pda, read, stack, from_the_bottom=lengths))
    panels.append(category_track("state", state_names(pda, read)))
    return figure_of(title_of(model, seen, word), panels, letters)


def _soft(seen: Trace, word: int, stacks: Sequence[int] | None) -> list[Panel]:
    """Return the cells of those of the network's stacks that are asked for."""
    if seen.cells is None:
        return []
    numbers = range(seen.cells.shape[2]) if stacks is None else stacks
    panels = stack_panels(seen, word, _SHOWN if len(numbers) <= 1 else _FEW)
    return [panels[number] for number in numbers]


def discrete_panel(pda: PushdownAutomaton, word: Word, stack: int = 0, *, from_the_bottom: bool = False) -> Panel:
    """Return what lies on stack number ``stack`` after each letter of ``word``, a colour and a name for each symbol.

    At most 20 cells are shown: those nearest the top, with the top on top, or ``from_the_bottom`` the lowest ones.
    """
    steps = len(word) + (pda.end_marker is not None)
    colours = category_colours(pda.stack_alphabet)
    numbers = {symbol: float(number) for number, symbol in enumerate(pda.stack_alphabet)}
    values, names = np.full((_SHOWN, steps), np.nan), np.full((_SHOWN, steps), "", dtype=object)
    highest = 0
    for step, stacks in enumerate(stacks_beside(pda, word)):
        content = stacks[stack][:_SHOWN] if from_the_bottom else stacks[stack][: -_SHOWN - 1 : -1]
        values[: len(content), step] = [numbers[symbol] for symbol in content]
        names[: len(content), step] = [escaped(symbol) for symbol in content]
        highest = max(highest, len(content))
    rows = max(1, highest)
    y, axis = _rows(rows, from_the_bottom)
    name = "automaton's stack" if pda.n_stacks == 1 else f"automaton's stack {stack + 1}"
    heading = f"{name} after each step{', the top on top' if not from_the_bottom else ''}"
    map_ = _map(values[:rows], names[:rows], y, list(colours.values()))
    return Panel(heading, (map_,), axis, max(64, _ROW * rows))


def _rows(rows: int, from_the_bottom: bool) -> tuple[list[Any], dict[str, Any]]:
    """Return where the rows of cells stand, and the axis that they stand on."""
    if from_the_bottom:
        return [row + 0.5 for row in range(rows)], {"title": {"text": "height"}, "range": [0, 1.02 * rows]}
    names = ["top", *(str(row + 1) for row in range(1, rows))]
    return names, {"autorange": "reversed", "type": "category", "showgrid": False}


def _map(values: np.ndarray, names: np.ndarray, y: list[Any], colours: list[str]) -> go.Heatmap:
    return go.Heatmap(
        z=values,
        x=list(range(1, values.shape[1] + 1)),
        y=y,
        zmin=-0.5,
        zmax=max(1, len(colours)) - 0.5,
        colorscale=stepped(colours),
        showscale=False,
        showlegend=False,
        text=names,
        texttemplate="%{text}" if values.shape[1] <= _NAMED else None,
        hovertemplate="after step %{x}, %{y}<br>%{text}<extra></extra>",
        hoverongaps=False,
        xgap=1 if values.shape[1] <= _NAMED else 0,
        ygap=1,
    )
