"""The automaton as a drawing that a browser can light up, move and fold: SVG from Graphviz with marks of our own."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from ...automata.formats.dot import group_places, render, rule
from ...automata.pda import PushdownAutomaton, State, Word
from ..figures import Edge, check_size, edges_of, quoted

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
        title = group.find(f"{{{_SVG}}}title")
        if title is not None:
            _mark_group(group, title.text or "", pda, edges, numbers)
            group.remove(title)  # a browser would show "n0" over the mouse
    ElementTree.register_namespace("", _SVG)
    # the drawing in words
    accepting = [state for state in pda.states if state in pda.accepting]
    ends = f"; accepting: {', '.join(map(quoted, accepting))}" if accepting and pda.acceptance != "output" else ""
    lines = [
        f"from {pda.states[edge.source]} to {pda.states[edge.target]}: {'; '.join(line for line, _ in edge.lines)}"
        for edge in edges
    ]
    return {
        "svg": ElementTree.tostring(root, encoding="unicode"),
        "edges": [
            {"from": edge.source, "to": edge.target, "folded": edge.folded, "rules": [line for line, _ in edge.rules]}
            for edge in edges
        ],
        "says": f"{len(pda.states)} states, {pda.initial} is the initial one{ends}. {'. '.join(lines)}.",
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


def _mark_group(
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


# ---- An automaton's run on one word as plain data: what a browser needs to follow it by itself ----


@dataclass(frozen=True)
class BenchAutomatonRun:
    """What a run does at each letter, until it is cut short."""

    moves: list[int]  # the number of the rule of each step in ``pda.transitions``, ε-steps too
    # how many moves there have been once each letter and its ε-steps are read; as long as the run goes
    taken: list[int]
    states: list[int]  # the state then, as its number in ``pda.states``
    # the topmost symbol of every stack then, as its number in ``pda.stack_alphabet``, -1 where it is empty
    tops: list[list[int]]
    heights: list[list[int]]  # how high every stack is then
    pushed: list[list[int]]  # what each letter's steps have pushed to every stack, as a number, -1 for nothing
    stuck: str | None = None  # why the run ends early, or None


def bench_automaton_run(pda: PushdownAutomaton, word: Word) -> BenchAutomatonRun:
    """Return the run of ``pda`` on ``word``; with an end marker it is read as a last letter."""
    rules = {key: number for number, key in enumerate(pda.transitions)}
    states = {state: number for number, state in enumerate(pda.states)}
    symbols = {symbol: number for number, symbol in enumerate(pda.stack_alphabet)}
    run = BenchAutomatonRun([], [], [], [], [], [])
    here, letters = pda.start, 0
    for key, after in pda.moves(word):
        step = pda.transitions[key]
        run.moves.append(rules[key])
        here, letters = after, letters + bool(key[1])
        if not letters:  # an ε-step before the first letter
            continue
        if key[1]:
            run.taken.append(0)
            run.states.append(0)
            run.tops.append([])
            run.heights.append([])
            run.pushed.append([-1] * pda.n_stacks)
        for stack, operation in enumerate(step.operations):
            if operation.push is not None:
                run.pushed[-1][stack] = symbols[operation.push]
        run.taken[-1], run.states[-1] = len(run.moves), states[after.state]
        run.tops[-1] = [symbols[stack[-1]] if stack else -1 for stack in after.stacks]
        run.heights[-1] = [len(stack) for stack in after.stacks]
    read = (*word, *pda.letters[len(pda.input_alphabet) :])
    if letters < len(read):
        tops = " ".join(here.tops(pda.bottom))
        stuck = f"rejected: {here.state} has no transition on {read[letters]} with {tops} on top"
        return replace(run, stuck=stuck)
    return run


def run_data(pda: PushdownAutomaton, run: BenchAutomatonRun) -> dict[str, Any]:
    """Return the run with the automaton's rules: of each from, to, operations as [pop, push], and what it is called."""
    places = {state: number for number, state in enumerate(pda.states)}
    rules = [
        [places[key[0]], places[step.target], [[op.pop, op.push] for op in step.operations], rule(key, step)]
        for key, step in pda.transitions.items()
    ]
    return {
        "states": list(pda.states),
        "symbols": list(pda.stack_alphabet),
        "initial": places[pda.initial],
        "stacks": pda.n_stacks,
        "bottom": pda.bottom,
        "rules": rules,
        "moves": run.moves,
        "taken": run.taken,
        "after": run.states,
        "stuck": run.stuck,
    }
