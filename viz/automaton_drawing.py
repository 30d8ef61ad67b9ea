"""The drawing of an automaton as SVG whose states and rules can be found again, so that a page can light them up."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from xml.etree import ElementTree

from stacklens.automata.formats.dot import rule, to_dot
from stacklens.automata.formats.rendering import render
from stacklens.automata.pda import Key, PushdownAutomaton
from stacklens.errors import StacklensError

__all__ = ["MOST_EDGES", "MOST_STATES", "automaton_drawing", "check_size"]

MOST_STATES, MOST_EDGES = 60, 150  # beyond, nobody reads a drawing, and Graphviz needs minutes for it

_SVG = "http://www.w3.org/2000/svg"
_NODE, _EDGE = re.compile(r"n(\d+)"), re.compile(r"(?:n(\d+)|start)->n(\d+)")
_Rules = dict[tuple[int, int], list[tuple[str, int]]]


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
    """Return nothing if ``pda`` is small enough for a drawing.

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
