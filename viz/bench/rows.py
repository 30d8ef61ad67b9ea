"""The rows of the step table as plain data, a value a step: the browser draws those that are near the current one.

A row has a ``type``: "text" (names, and at each step the number of one), "count" (as text, of numbers up to ``high``),
"heat" (numbers, between ``low`` and ``high``), "category" (as text, in colours of a ``palette``), "operation" (as text,
with a strength). Its ``marks`` are a letter a step: "w" not what is expected, "r" what is expected, "e" empty, "."
nothing; ``differs`` has a "d" where network and automaton say different things, whoever is right. ``short`` are names
that fit into a cell.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract.evaluation.automaton_runs import reference_heights
from stacklens.models.base import StackModel
from stacklens.viz.bench.answers import UNSAID, answer_name
from stacklens.viz.bench.automaton_run import AutomatonRun
from stacklens.viz.bench.changed_stack import pieces_at, read_by
from stacklens.viz.bench.run import BenchRun
from stacklens.viz.operations import action_names, operation_names
from stacklens.viz.panels import letters_of
from stacklens.viz.stacks import pieces_of

__all__ = ["Row", "answer_row", "automaton_rows", "reference_rows", "run_rows", "text_row"]

Row = dict[str, Any]
_DIGITS = 3
_VISIBLE = 0.05  # of a cell: what is filled less is as good as empty
_FEW = 3  # cells that are shown of each of several stacks
_MOST_STACKS = 4  # whose cells are shown
_SIZE = 6  # numbers of a cell that are shown


def text_row(name: str, values: Sequence[str], names: Sequence[str] = (), **more: Any) -> Row:
    """Return a row of texts, each of which is kept once; ``names`` are all that there can be, where that is known."""
    names = list(dict.fromkeys((*names, *values)))
    places = {value: number for number, value in enumerate(names)}
    return {"type": "text", "name": name, "names": names, "at": [places[value] for value in values], **more}


def _count_row(name: str, counts: Sequence[int], **more: Any) -> Row:
    return {**text_row(name, list(map(str, counts)), **more), "type": "count", "high": max([1, *counts])}


def answer_row(
    name: str, model: StackModel[Any], answers: np.ndarray, expected: np.ndarray, all_: Collection[int], **more: Any
) -> Row:
    """Return a row of answers, marked by what is ``expected``; ``all_`` are those of every row of the word."""
    kinds = sorted(all_)
    places = {number: place for place, number in enumerate(kinds)}
    marks = (
        "." if UNSAID in (want, got) else "wr"[got == want]
        for got, want in zip(answers.tolist(), expected.tolist(), strict=True)
    )
    return {
        "type": "text",
        "name": name,
        "names": [answer_name(model, number) for number in kinds],
        "short": [answer_name(model, number, cell=True) for number in kinds],
        "at": [places[number] for number in answers.tolist()],
        "marks": "".join(marks),
        **more,
    }


def _heat(name: str, values: np.ndarray, low: float, high: float, **more: Any) -> Row:
    rounded = np.round(values.astype(float), _DIGITS)
    plain = rounded.astype(object)
    plain[np.isnan(rounded)] = None
    return {"type": "heat", "name": name, "values": plain.tolist(), "low": low, "high": high, **more}


def run_rows(
    model: StackModel[Any], run: BenchRun, said: np.ndarray, expected: np.ndarray, all_: Collection[int]
) -> list[Row]:
    """Return what ``model`` reads, should say and says, how sure it is, what it does to its stacks and what they hold.

    How sure a set is: how far the probability nearest to 0.5, from where on a symbol is in it, lies from there.
    """
    symbols = text_row("symbol", letters_of(run.seen), run.seen.letters, id="symbol")
    return [symbols, *_answer_rows(model, run, said, expected, all_), *_network_rows(run)]


def _answer_rows(
    model: StackModel[Any], run: BenchRun, said: np.ndarray, expected: np.ndarray, all_: Collection[int]
) -> list[Row]:
    recogniser, size = model.task_kind == "recognition", len(said)
    rows = []
    if (expected != UNSAID).any():
        heading = "member so far" if recogniser else "expected"
        nothing = np.full(size, UNSAID)
        rows.append(answer_row(heading, model, expected, nothing, all_, id="expected"))
    heading = "accepts so far" if recogniser else "says" if model.task_kind == "transduction" else "predicted"
    rows.append(answer_row(heading, model, said, expected, all_, id="said"))
    if recogniser or not size or not model.real_time:
        return rows
    output = run.seen.output[0, :size].astype(float)
    if model.task_kind == "next set":
        rows.append(_heat("least |p − 0.5|", np.abs(output - 0.5).min(1), 0, 0.5))
    else:
        rows.append(_heat("probability", np.max(output, 1), 0, 1))
    rows += [
        _heat(f"p({symbol})", output[:, number], 0, 1, group="p of each symbol")
        for number, symbol in enumerate(model.output_alphabet)
    ]
    return rows


def _network_rows(run: BenchRun) -> list[Row]:
    model = run.model
    if not run.steps or model.n_stacks == 0:
        return []
    return [*_operation_rows(run), *_segments(run), *_cell_rows(run), *_pushed_rows(run)]


def _operation_rows(run: BenchRun) -> list[Row]:
    model, actions = run.model, run.seen.actions[0, : run.steps].astype(float)
    names, low = action_names(model), -1.0 if model.action_kind == "signed" else 0.0
    taken = operation_names(model, run.seen)
    rows: list[Row] = []
    for stack in range(model.n_stacks):
        which = "" if model.n_stacks == 1 else f" {stack + 1}"
        strongest = np.round(np.abs(actions[:, stack]).max(-1), _DIGITS).tolist()
        row = text_row(f"operation{which}", [step[stack] for step in taken], strength=strongest, id=f"operation{which}")
        rows.append({**row, "type": "operation"})
    hidden = {} if model.n_stacks == 1 else {"group": "strength of each operation"}
    for stack in range(model.n_stacks):
        which = "" if model.n_stacks == 1 else f" {stack + 1}"
        for place, name in enumerate(names):
            rows.append(_heat(f"{name}{which}", actions[:, stack, place], low, 1, **hidden))
    return rows


def _segments(run: BenchRun) -> list[Row]:
    """Return the pieces of a stack that has lengths: [pushed at, from step, to step, bottom, top]."""
    model = run.model
    if model.action_kind not in ("signed", "strengths") or not model.real_time:
        return []
    found = [
        [piece.pushed, piece.first, piece.last, round(piece.bottom, _DIGITS), round(piece.top, _DIGITS)]
        for piece in pieces_of(model, run.seen, then=pieces_at(model, run.steps))
    ]
    highest = max((piece[4] for piece in found), default=1.0)
    read = run.seen.symbols[0, : run.steps].tolist()
    return [{"type": "segments", "name": "stack", "pieces": found, "high": max(1.0, highest), **read_by(model, read)}]


def _cell_rows(run: BenchRun) -> list[Row]:
    cells, filled = run.cells, run.filled
    if cells is None:
        return []
    rows: list[Row] = []
    stacks = range(cells.shape[1])
    hidden = {} if len(stacks) <= _MOST_STACKS else {"group": "cells of the stacks"}
    low, high = min(0.0, float(np.nanmin(cells))), max(1.0, float(np.nanmax(cells)))
    for stack in stacks:
        shares = None if filled is None else filled[:, stack]
        used = _used(cells[:, stack], shares)
        for depth in range(min(used, cells.shape[2] if len(stacks) == 1 else _FEW)):
            marks = None if shares is None else "".join("e" if share < 0.5 else "." for share in shares[:, depth])
            for place in range(min(cells.shape[3], _SIZE)):
                name = _cell_name(stack, depth, place, cells.shape)
                rows.append(_heat(name, cells[:, stack, depth, place], low, high, marks=marks, **hidden))
    return rows


def _used(cells: np.ndarray, shares: np.ndarray | None) -> int:
    """Return how many of the topmost cells (T, C, D) anything ever lies in, at least one."""
    there = np.abs(cells - cells[:1, -1:]).max((0, 2)) > _VISIBLE if shares is None else (shares > _VISIBLE).any(0)
    return int(np.flatnonzero(there).max(initial=0)) + 1


def _cell_name(stack: int, depth: int, place: int, shape: tuple[int, ...]) -> str:
    which = "" if shape[1] == 1 else f"{stack + 1} "
    number = "" if shape[3] == 1 else f" [{place + 1}]"
    return f"stack {which}top{number}" if depth == 0 else f"{'stack ' if which else ''}{which}cell {depth + 1}{number}"


def _pushed_rows(run: BenchRun) -> list[Row]:
    model, pushed = run.model, run.seen.pushed[0, : run.steps].astype(float)
    if model.pushes_input or not pushed.size:
        return []
    low, high = min(0.0, float(np.nanmin(pushed))), max(1.0, float(np.nanmax(pushed)))
    single = pushed.shape[1:] == (1, 1)
    hidden = {} if single else {"group": "value to push"}
    rows = []
    for stack in range(pushed.shape[1]):
        for place in range(min(pushed.shape[2], _SIZE)):
            which = "" if pushed.shape[1] == 1 else f" {stack + 1}"
            number = "" if pushed.shape[2] == 1 else f" [{place + 1}]"
            rows.append(_heat(f"value to push{which}{number}", pushed[:, stack, place], low, high, **hidden))
    return rows


def automaton_rows(run: AutomatonRun, symbols: Sequence[str], states: Sequence[str], said: Row) -> list[Row]:
    """Return what the automaton says, a row of answers, and what it does and holds at every step it takes."""
    stacks = len(run.heights[0]) if run.heights else 0
    rows: list[Row] = [{**said, "id": "automaton", "part": "automaton"}]
    numbers: list[tuple[str, str, list[int], Sequence[str]]] = [("state", "state", run.states, states)]
    for stack in range(stacks):
        which = "" if stacks == 1 else f" {stack + 1}"
        numbers.append((f"pushes{which}", "stack", [row[stack] for row in run.pushed], symbols))
        numbers.append((f"top{which}", "stack", [row[stack] for row in run.tops], symbols))
    more = {"type": "category", "part": "automaton"}
    rows += [
        {**more, "name": name, "palette": palette, "at": at, "names": list(names), "id": name}
        for name, palette, at, names in numbers
    ]
    for stack in range(stacks):
        which = "" if stacks == 1 else f" {stack + 1}"
        rows.append(_count_row(f"height{which}", [row[stack] for row in run.heights], part="automaton"))
    return rows


def reference_rows(truth: PushdownAutomaton | None, word: Word) -> list[Row]:
    """Return how high the stacks of the language's own automaton are, where there is one that pushes anything."""
    heights = reference_heights(truth, word)
    if heights is None:
        return []
    return [
        _count_row(
            "reference height" if heights.shape[1] == 1 else f"reference height {stack + 1}",
            [int(height) for height in heights[:, stack] if not np.isnan(height)],
            id="reference",
        )
        for stack in range(heights.shape[1] if len(heights) else 0)
    ]
