"""The automaton as a drawing that a browser can light up, move and fold: SVG from Graphviz with marks of our own."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from ...automata.formats.dot import group_places, render
from ...automata.pda import Output, PushdownAutomaton, StackOp, State, Symbol, rule
from ...automata.summaries import reachable_heads
from ...core.errors import StacklensError
from ...core.progress import count
from ..style import numbered

# ---- What stands at the edges of a drawing: rules that differ only in the top, or in the symbol read, are one line.

MOST_LINES = 6  # of an edge's label; what has more is folded to a number
_ROOMY = 14  # lines of the only edge, which has all the room
_IN_NAMES = "/⊥_-"  # beside letters and digits; states and stack symbols that were merged are called so
_ANY, _FILLED = "any", "not ⊥"
_Box = tuple[frozenset[Symbol], ...]


@dataclass(frozen=True)
class Edge:
    """The rules from one state to another."""

    source: int  # numbers of states in ``pda.states``
    target: int
    # the label, a line a group of rules, with the numbers of its rules in ``pda.transitions``; a single line that says
    # how many rules there are where they would be too many
    lines: tuple[tuple[str, tuple[int, ...]], ...]
    rules: tuple[tuple[str, int], ...]  # every rule as a line of its own, with its number
    folded: bool  # whether the label says only how many


def quoted(symbol: Symbol) -> str:
    """Return how a symbol is written in a label: in quotes where it could be taken for the label's own punctuation.

    >>> quoted("a"), quoted("("), quoted(" "), quoted("s1/⊥")
    ('a', '"("', '" "', 's1/⊥')
    """
    named = len(symbol) > 1 and symbol[0].isalnum() and all(one.isalnum() or one in _IN_NAMES for one in symbol)
    return symbol if symbol.isalnum() or named or symbol in ("⊥", "⊣") else f'"{symbol}"'


def edges_of(pda: PushdownAutomaton, most: int | None = None, outputs: bool = True) -> list[Edge]:
    """Return what joins the states of ``pda``.

    "any" stands for every symbol that can lie on top in a state, "not ⊥" for every one but the bottom; which can,
    `reachable_heads` says, for one stack exactly. Outputs are left out where that makes a label short enough.

    A label has ``most`` lines, None for as many as can be read.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> steps = {("q", "(", (top,)): Transition("q", (NONE,)) for top in ("⊥", "x")}
    >>> pda = PushdownAutomaton(("q",), ("(",), ("x",), steps, "q")
    >>> [edge.lines for edge in edges_of(pda)]
    [(('"(", any → none', (0, 1)),)]
    """
    places, items = {state: number for number, state in enumerate(pda.states)}, list(pda.transitions.items())
    between = defaultdict(list)
    for number, (key, step) in enumerate(items):
        between[places[key[0]], places[step.target]].append(number)
    if most is None:
        most = MOST_LINES if len(between) > 1 else _ROOMY

    # by state what can lie on top of each stack
    everything = {pda.bottom, *pda.stack_alphabet}
    tops = [[set[Symbol]() for _ in range(pda.n_stacks)] for _ in pda.states]
    for state, read in reachable_heads(pda):
        for stack, top in enumerate(read):
            tops[places[state]][stack] |= {top} & everything

    edges = []
    for ends, numbers in between.items():
        rules = tuple((rule(*items[number]), number) for number in numbers)
        there = [frozenset(one) for one in tops[ends[0]]]
        labels = (_label_lines(pda, numbers, there, some) for some in ((True, False) if outputs else (False,)))
        label = next((lines for lines in labels if len(lines) <= most), None)
        folded = ((count(len(numbers), "rule"), tuple(numbers)),)
        edges.append(Edge(*ends, folded if label is None else label, rules, folded=label is None))
    return edges


def _label_lines(
    pda: PushdownAutomaton, numbers: list[int], there: Sequence[frozenset[Symbol]], outputs: bool
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the lines of an edge's label with the numbers of their rules; ``there`` is what can lie on each stack."""
    items = list(pda.transitions.items())
    groups: dict[tuple[Symbol, tuple[StackOp, ...], Output], list[int]] = defaultdict(list)
    for number in numbers:
        key, step = items[number]
        groups[key[1], step.operations, step.output if outputs else None].append(number)
    merged: dict[tuple[str, str], tuple[list[Symbol], list[int]]] = {}
    for (symbol, operations, output), some in groups.items():
        does = ", ".join(one.name if one.push is None else f"{one.name} {quoted(one.push)}" for one in operations)
        if output is not None:
            outputs_ = output if isinstance(output, tuple) else (output or "none",)
            does += f" / {' '.join(map(quoted, outputs_)) or '∅'}"
        for box, mine in _boxes_of_tops([(items[number][0][2], number) for number in some]):
            tops = ", ".join(_top(part, all_, pda.bottom) for part, all_ in zip(box, there, strict=True))
            symbols, rules = merged.setdefault((tops, does), ([], []))
            symbols.append(symbol)
            rules += mine
    lines = []
    for (tops, does), (symbols, rules) in merged.items():
        read = " ".join(quoted(symbol) if symbol else "ε" for symbol in dict.fromkeys(symbols))
        lines.append((f"{read}, {tops} → {does}", tuple(rules)))
    return tuple(lines)


def _boxes_of_tops(heads: list[tuple[tuple[Symbol, ...], int]]) -> list[tuple[_Box, list[int]]]:
    """Return products of sets that hold the tops of ``heads`` between them: those that differ in one stack are one."""
    boxes = [(tuple(frozenset((top,)) for top in tops), [number]) for tops, number in heads]
    for stack in range(len(heads[0][0])):
        joined: dict[_Box, tuple[frozenset[Symbol], list[int]]] = {}
        for box, numbers in boxes:
            rest = (*box[:stack], frozenset[Symbol](), *box[stack + 1 :])
            before, mine = joined.get(rest, (frozenset(), []))
            joined[rest] = before | box[stack], [*mine, *numbers]
        boxes = [((*rest[:stack], part, *rest[stack + 1 :]), mine) for rest, (part, mine) in joined.items()]
    return boxes


def _top(part: frozenset[Symbol], there: frozenset[Symbol], bottom: Symbol) -> str:
    if len(part) > 1 and part >= there:
        return _ANY
    if len(part) > 1 and bottom not in part and part >= there - {bottom}:
        return _FILLED
    return "|".join(quoted(symbol) for symbol in sorted(part, key=numbered))


MOST_STATES, MOST_EDGES = 60, 150  # beyond, nobody reads a drawing, and Graphviz needs minutes for it


def check_size(pda: PushdownAutomaton) -> None:
    """Check that ``pda`` is small enough for a drawing. Raises StacklensError: it has too many states, or too many
    pairs of states that rules join.
    """
    edges = len({(key[0], step.target) for key, step in pda.transitions.items()})
    if len(pda.states) > MOST_STATES or edges > MOST_EDGES:
        raise StacklensError(
            f"this automaton has {len(pda.states):,} states and {edges:,} edges; a drawing has at most {MOST_STATES} "
            f"and {MOST_EDGES}, so read its transition table"
        )


# ---- The automaton as a drawing that a browser can light up, move and fold ----

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
    """
    return _drawn_for_bench(pda, tuple(pda.transitions), None if groups is None else tuple(sorted(groups.items())))


@lru_cache(maxsize=64)
def _drawn_for_bench(
    pda: PushdownAutomaton, order: tuple[Any, ...], grouped: tuple[tuple[State, str], ...] | None
) -> dict[str, Any]:
    del order  # automata that are equal may have their transitions in another one
    check_size(pda)
    groups, place = dict(grouped or ()), _PLACE if grouped is None else _HALF

    def scale(root: ElementTree.Element) -> float:
        """Return how large a drawing can be in the place that it has on the bench."""
        width, height = (float(number) for number in root.attrib["viewBox"].split()[2:])
        return min(place[0] / width, place[1] / height)

    for most, outputs in _LABELS:
        edges = edges_of(pda, most, outputs)
        both = (ElementTree.fromstring(render(_dot(pda, edges, groups, way), "svg")) for way in ("TB", "LR"))
        root = max(both, key=scale)
        if grouped is None or scale(root) >= _READABLE:
            break
    places = group_places(groups)
    numbers = {state: str(places[group]) for state, group in groups.items()}
    for group in root.iter(f"{{{_SVG}}}g"):
        title = group.find(f"{{{_SVG}}}title")  # as Graphviz has named it
        if title is None:
            continue
        group.remove(title)  # a browser would show "n0" over the mouse
        group.attrib.pop("id", None)
        if (node := _NODE.fullmatch(title.text or "")) is not None:
            state = pda.states[int(node[1])]
            group.attrib |= {"class": "state", "data-state": node[1], "data-name": state}
            group.attrib |= {"data-group": numbers[state]} if state in numbers else {}
        elif (ends := _EDGE.fullmatch(title.text or "")) is not None:
            group.attrib |= {"class": "edge", "data-from": ends[1] or "", "data-to": ends[2]}
            edge = next((edge for edge in edges if (str(edge.source), str(edge.target)) == ends.groups()), None)
            if edge is not None:  # the arrow to the initial state has no rules
                for text, (_, rules) in zip(group.iter(f"{{{_SVG}}}text"), edge.lines, strict=True):
                    text.attrib["class"] = "rule folded" if edge.folded else "rule"
                    text.attrib["data-rules"] = " ".join(map(str, rules))
    ElementTree.register_namespace("", _SVG)
    # the drawing in words
    accepting = [state for state in pda.states if state in pda.accepting]
    which = f"; accepting: {', '.join(map(quoted, accepting))}" if accepting and pda.acceptance != "output" else ""
    spoken = [
        f"from {pda.states[edge.source]} to {pda.states[edge.target]}: {'; '.join(line for line, _ in edge.lines)}"
        for edge in edges
    ]
    return {
        "svg": ElementTree.tostring(root, encoding="unicode"),
        "edges": [
            {"from": edge.source, "to": edge.target, "folded": edge.folded, "rules": [line for line, _ in edge.rules]}
            for edge in edges
        ],
        "says": f"{len(pda.states)} states, {pda.initial} is the initial one{which}. {'. '.join(spoken)}.",
    }


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
