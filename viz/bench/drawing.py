"""The automaton as a drawing that a browser can light up, move and fold: SVG from Graphviz with marks of our own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from stacklens.automata.formats.dot import group_places, render
from stacklens.automata.pda import PushdownAutomaton, State
from stacklens.viz.automaton import check_size
from stacklens.viz.bench.labels import Edge, edges_of, quoted

__all__ = ["bench_drawing"]

_PLACE, _HALF = (480, 320), (270, 320)  # pixels of the drawing at 1440 x 900, alone and beside another
_READABLE = 0.55  # of a label's 11 pixels
# how many lines labels have, and whether they have outputs: as large as they may be, and shorter and shorter
_LABELS: tuple[tuple[int | None, bool], ...] = ((None, True), (None, False), (2, False), (1, False), (0, False))
_SVG = "http://www.w3.org/2000/svg"
_NODE, _EDGE = re.compile(r"n(\d+)"), re.compile(r"(?:n(\d+)|start)->n(\d+)")


def bench_drawing(pda: PushdownAutomaton, groups: Mapping[State, str] | None = None) -> dict[str, Any]:
    """Return the drawing as "svg", its "edges" with every rule, and what it "says" to who cannot see it.

    States and edges have the classes "state" and "edge" and say in ``data-state``, ``data-from`` and ``data-to`` which
    they are, from 0 as in ``pda.states``; lines have the class "rule" and the numbers of their rules in ``data-rules``.

    Where ``groups`` names what each state belongs to, as in `to_dot`, it stands beside another drawing: states have the
    number of their group in ``data-group``, and its name under theirs; labels are so short that they can be read.

    Raises:
        StacklensError: the automaton is too large to be drawn, or nothing here can draw.
    """
    return _drawn(pda, tuple(pda.transitions), None if groups is None else tuple(sorted(groups.items())))


@lru_cache(maxsize=64)
def _drawn(
    pda: PushdownAutomaton, order: tuple[Any, ...], grouped: tuple[tuple[State, str], ...] | None
) -> dict[str, Any]:
    del order  # automata that are equal may have their transitions in another one
    check_size(pda)
    groups, place = dict(grouped or ()), _PLACE if grouped is None else _HALF
    for most, outputs in _LABELS:
        edges = edges_of(pda, most, outputs)
        both = (ElementTree.fromstring(render(_dot(pda, edges, groups, way), "svg")) for way in ("TB", "LR"))
        root = max(both, key=lambda drawn: _scale(drawn, place))
        if grouped is None or _scale(root, place) >= _READABLE:
            break
    places = group_places(groups)
    numbers = {state: str(places[group]) for state, group in groups.items()}
    for group in root.iter(f"{{{_SVG}}}g"):
        title = group.find(f"{{{_SVG}}}title")
        if title is not None:
            _mark(group, title.text or "", pda, edges, numbers)
            group.remove(title)  # a browser would show "n0" over the mouse
    ElementTree.register_namespace("", _SVG)
    return {
        "svg": ElementTree.tostring(root, encoding="unicode"),
        "edges": [
            {"from": edge.source, "to": edge.target, "folded": edge.folded, "rules": [line for line, _ in edge.rules]}
            for edge in edges
        ],
        "says": _said(pda, edges),
    }


def _scale(root: ElementTree.Element, place: tuple[int, int]) -> float:
    """Return how large a drawing can be in the place that it has on the bench."""
    width, height = (float(number) for number in root.attrib["viewBox"].split()[2:])
    return min(place[0] / width, place[1] / height)


def _dot(pda: PushdownAutomaton, edges: list[Edge], groups: Mapping[State, str], direction: str) -> str:
    font = 'fontname="Courier"'
    lines = [f"graph [rankdir={direction}, pad=0.1, ranksep=0.5, nodesep=0.4, bgcolor=transparent]"]
    lines += [f"node [shape=circle, {font}]", f"edge [{font}, fontsize=11]", 'start [shape=point, label=""]']
    for number, state in enumerate(pda.states):
        double = state in pda.accepting and pda.acceptance in ("final state", "both")
        label = [state, *([] if groups.get(state, state) == state else [f"= {groups[state]}"])]
        lines.append(f"n{number} [label={_dot_text(label)}{', shape=doublecircle' if double else ''}]")
    lines.append(f"start -> n{pda.states.index(pda.initial)}")
    for edge in edges:
        # a space on either side keeps labels off the lines beside them
        lines.append(f"n{edge.source} -> n{edge.target} [label={_dot_text([f' {line} ' for line, _ in edge.lines])}]")
    return "\n".join(("digraph {", *lines, "}"))


def _dot_text(lines: list[str]) -> str:
    shown = ("".join(one if one.isprintable() else "·" for one in line) for line in lines)
    escaped = (line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in shown)
    return '"' + "\\n".join(escaped) + '"'


def _mark(
    group: ElementTree.Element, title: str, pda: PushdownAutomaton, edges: list[Edge], numbers: Mapping[State, str]
) -> None:
    """Give a group of the drawing, which Graphviz has named ``title``, its class and numbers, and its lines theirs."""
    group.attrib.pop("id", None)
    if (node := _NODE.fullmatch(title)) is not None:
        state = pda.states[int(node[1])]
        group.attrib |= {"class": "state", "data-state": node[1], "data-name": state}
        group.attrib |= {"data-group": numbers[state]} if state in numbers else {}
    elif (found := _EDGE.fullmatch(title)) is not None:
        group.attrib |= {"class": "edge", "data-from": found[1] or "", "data-to": found[2]}
        if not found[1]:
            return
        edge = next(one for one in edges if (one.source, one.target) == (int(found[1]), int(found[2])))
        for text, (_, rules) in zip(group.iter(f"{{{_SVG}}}text"), edge.lines, strict=True):
            text.attrib |= {"class": "rule folded" if edge.folded else "rule", "data-rules": " ".join(map(str, rules))}


def _said(pda: PushdownAutomaton, edges: list[Edge]) -> str:
    """Return the drawing in words."""
    accepting = [state for state in pda.states if state in pda.accepting]
    ends = f"; accepting: {', '.join(map(quoted, accepting))}" if accepting and pda.acceptance != "output" else ""
    lines = [
        f"from {pda.states[edge.source]} to {pda.states[edge.target]}: {'; '.join(line for line, _ in edge.lines)}"
        for edge in edges
    ]
    return f"{len(pda.states)} states, {pda.initial} is the initial one{ends}. {'. '.join(lines)}."
