"""All of one word for the workbench, or its beginning, as plain data that a browser draws."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...automata.pda import PushdownAutomaton, Word
from ...core.errors import UnknownSymbolError
from ...extract.specification import Specification
from ...models.base import StackModel, one_thread
from ...models.rounding import Rounded
from ..operations import action_names, letters_of, operation_names, pieces_of, read_by, reference_heights
from ..style import numbered
from .run import (
    UNSAID,
    BenchAutomatonRun,
    BenchRun,
    Expected,
    answer_name,
    answers_of,
    automaton_says,
    bench_run,
    expected_of,
    run_automaton,
    run_data,
    set_name,
)

# ---- The one sentence over the table: how often the network is right, where it first fails, and the automaton ----

Part = dict[str, Any]  # {"text": …}, and "step" where it leads to one


def steps_at(there: np.ndarray) -> list[int]:
    """Return the steps, from 1, where something is."""
    return [int(place) + 1 for place in np.flatnonzero(there)]


def step_part(place: int) -> Part:
    """Return the part of a sentence that leads to the step at a place, from 0."""
    return {"text": f"step {place + 1:,}", "step": place + 1}


def differing_steps(model: StackModel[Any], actual: np.ndarray, other: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return where network and automaton say something, and not the same, (T,) bool; nowhere but where it counts."""
    counts = expected != UNSAID
    if model.task_kind == "recognition" or not counts.any():
        counts = np.ones(len(actual), dtype=bool)
    different: np.ndarray = counts & (actual != UNSAID) & (other != UNSAID) & (actual != other)
    return different


def sentence_of(
    model: StackModel[Any],
    letters: list[str],
    actual: np.ndarray,
    expected: Expected,
    automaton: np.ndarray | None,
    rounded: bool,
) -> list[Part]:
    """Return the sentence as parts; those that name a step give its number, from 1.

    ``actual`` is what the network says after each symbol, see `bench.run.answers_of`; None of an ``automaton`` is none.
    """
    recogniser, answers = model.task_kind == "recognition", expected.answers
    parts = list[Part]()

    # the verdict of a recogniser
    if recogniser and len(actual):
        does, want = f"{'accepts' if actual[-1] else 'rejects'} the {'' if letters else 'empty '}word", answers[-1]
        right = bool(actual[-1]) == bool(want)
        member = f"{'rightly' if right else 'wrongly'}: it is {'a' if want else 'no'} member of {expected.name}"
        known = {"text": f"{does}, {member}{'; ' if letters else ''}", "good": right}
        parts.append({"text": f"{does}; "} if want == UNSAID else known)

    # how much is right, and where it first is not
    asked = answers != UNSAID
    wrong, total = np.flatnonzero(asked & (actual != answers)), int(asked.sum())
    what = "beginnings" if recogniser else "symbols"
    among = what if total == len(actual) else f"{what} that count"
    if not len(actual):
        parts.append({"text": "the empty word has no symbols to be right or wrong on"})
    elif not letters and total:
        pass  # its verdict is all
    elif not total:
        parts.append({"text": f"nothing here is right or wrong: {expected.problem or 'nothing is expected'}"})
    elif not len(wrong):
        parts.append({"text": f"right on all {total:,} {among}" if total > 1 else f"right on the one of the {among}"})
    else:
        first = int(wrong[0])
        got, meant = (answer_name(model, numbers[first]) for numbers in (actual, answers))
        count = f"right on {total - len(wrong):,} of {total:,} {among}; first wrong at "
        parts += [{"text": count, "good": False}, step_part(first), {"text": f" ({got}, expected {meant})"}]

    # where a word of a predictor leaves the language
    cut = np.flatnonzero(answers == -1)
    if not recogniser and len(cut):
        left = int(cut[0])
        parts += [{"text": f"; the word leaves {expected.name} at "}, step_part(left), {"text": f" ({letters[left]})"}]

    # how far the automaton agrees
    who = "the rounded network" if rounded else "the network"
    if automaton is None:
        parts.append({"text": "; no automaton has been read out of this network yet"})
    elif not letters and len(actual):
        parts.append({"text": f"; the automaton {'accepts' if automaton[0] else 'rejects'} it"})
    elif len(actual):
        places = np.flatnonzero(differing_steps(model, actual, automaton, answers))
        if not len(places):
            parts.append({"text": f"; the automaton agrees with {who} to the end"})
        else:
            first = int(places[0])
            says, want = automaton[first], answers[first]
            judged = "" if want == UNSAID else ", rightly" if says == want else ", wrongly"
            parts += [{"text": f"; the automaton agrees with {who} up to "}, step_part(first)]
            parts.append({"text": f", where it says {answer_name(model, says)}{judged}"})
    parts[0]["text"] = parts[0]["text"][:1].upper() + parts[0]["text"][1:]
    return [*parts, {"text": "."}]


# ---- The rows of the step table as plain data, a value a step: the browser draws those that are near the current one.
#
# A row has a ``type``: "text" (names, and at each step the number of one), "count" (as text, of numbers up to
# ``high``), "heat" (numbers, between ``low`` and ``high``), "category" (as text, in colours of a ``palette``),
# "operation" (as text, with a strength). Its ``marks`` are a letter a step: "w" not what is expected, "r" what is
# expected, "e" empty, "." nothing; ``differs`` has a "d" where network and automaton answer differently, right or
# wrong. ``short`` are names that fit into a cell.

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


def _heat_row(name: str, values: np.ndarray, low: float, high: float, **more: Any) -> Row:
    exact = values.astype(float)
    halves = np.abs(np.round(exact, _DIGITS) * 10**_DIGITS % 10 - 5) < 0.5  # which would be rounded astray again
    rounded = np.where(halves, np.round(exact, 2 * _DIGITS), np.round(exact, _DIGITS))
    plain = rounded.astype(object)
    plain[np.isnan(rounded)] = None
    return {"type": "heat", "name": name, "values": plain.tolist(), "low": low, "high": high, **more}


def _scale_ends(values: np.ndarray) -> tuple[float, float]:
    return min(0.0, float(np.nanmin(values))), max(1.0, float(np.nanmax(values)))


def _numbered(name: str, place: int, of: int, form: str = "{} {}") -> str:
    return name if of == 1 else form.format(name, place + 1)


def run_rows(
    model: StackModel[Any], run: BenchRun, actual: np.ndarray, expected: np.ndarray, all_: Collection[int]
) -> list[Row]:
    """Return what ``model`` reads, should say and says, how sure it is, what it does to its stacks and what they hold.

    How sure a set is: how far the probability nearest to 0.5, from where on a symbol is in it, lies from there.
    """
    rows = [text_row("symbol", letters_of(run.seen), run.seen.letters, id="symbol")]
    recogniser, size = model.task_kind == "recognition", len(actual)
    if (expected != UNSAID).any():
        heading, nothing = "member so far" if recogniser else "expected", np.full(size, UNSAID)
        rows.append(answer_row(heading, model, expected, nothing, all_, id="expected"))
    heading = "accepts so far" if recogniser else "says" if model.task_kind == "transduction" else "predicted"
    rows.append(answer_row(heading, model, actual, expected, all_, id="said"))
    if not recogniser and size and model.real_time:
        output = run.seen.output[0, :size].astype(float)
        if model.task_kind == "next set":
            rows.append(_heat_row("least |p − 0.5|", np.abs(output - 0.5).min(1), 0, 0.5))
        else:
            rows.append(_heat_row("probability", np.max(output, 1), 0, 1))
        for number, symbol in enumerate(model.output_alphabet):
            rows.append(_heat_row(f"p({symbol})", output[:, number], 0, 1, group="p of each symbol"))
    if not run.steps or run.model.n_stacks == 0:
        return rows
    # the operation of every stack, and under it how strong each is
    actions, count = run.seen.actions[0, : run.steps].astype(float), run.model.n_stacks
    taken = operation_names(run.model, run.seen)
    for stack in range(count):
        name = _numbered("operation", stack, count)
        strongest = np.round(np.abs(actions[:, stack]).max(-1), _DIGITS).tolist()
        row = text_row(name, [step[stack] for step in taken], strength=strongest, id=name)
        rows.append({**row, "type": "operation"})
    low, folded = -1.0 if run.model.action_kind == "signed" else 0.0, {} if count == 1 else {"group": "strengths"}
    for stack in range(count):
        for place, name in enumerate(action_names(run.model)):
            rows.append(_heat_row(_numbered(name, stack, count), actions[:, stack, place], low, 1, **folded))
    if run.model.action_kind in ("signed", "strengths") and run.model.real_time:
        # the pieces of a stack that has lengths: [pushed at, from step, to step, bottom, top]
        found = [
            [piece.pushed, piece.first, piece.last, round(piece.bottom, _DIGITS), round(piece.top, _DIGITS)]
            for piece in pieces_of(run.model, run.seen)
        ]
        high = max([1.0, *(piece[4] for piece in found)])
        read = read_by(run.model, run.seen.symbols[0, : run.steps].tolist())
        rows.append({"type": "segments", "name": "stack", "pieces": found, "high": high, **read})
    rows += _cell_rows(run)
    pushed = run.seen.pushed[0, : run.steps].astype(float)
    if pushed.size and not run.model.pushes_input:
        _, count, width = pushed.shape
        hidden: dict[str, Any] = {} if (count, width) == (1, 1) else {"group": "value to push"}
        for stack in range(count):
            for place in range(min(width, _SIZE)):
                name = _numbered(_numbered("value to push", stack, count), place, width, "{} [{}]")
                rows.append(_heat_row(name, pushed[:, stack, place], *_scale_ends(pushed), **hidden))
    return rows


def _cell_rows(run: BenchRun) -> list[Row]:
    cells, filled = run.cells, run.filled
    if cells is None:
        return []
    rows: list[Row] = []
    count, size = cells.shape[1], cells.shape[3]
    hidden: dict[str, Any] = {} if count <= _MOST_STACKS else {"group": "cells"}
    ends = _scale_ends(cells)
    for stack in range(count):
        shares = None if filled is None else filled[:, stack]
        # how many of the topmost cells (T, C, D) anything ever lies in, at least one
        mine = cells[:, stack]
        there = np.abs(mine - mine[:1, -1:]).max((0, 2)) > _VISIBLE if shares is None else (shares > _VISIBLE).any(0)
        used = int(np.flatnonzero(there).max(initial=0)) + 1
        for depth in range(min(used, cells.shape[2] if count == 1 else _FEW)):
            marks = None if shares is None else "".join("e" if share < 0.5 else "." for share in shares[:, depth])
            top, below = _numbered("stack", stack, count), "" if count == 1 else f"stack {stack + 1} "
            name = f"{top} top" if depth == 0 else f"{below}cell {depth + 1}"
            for place in range(min(size, _SIZE)):
                one = _numbered(name, place, size, "{} [{}]")
                rows.append(_heat_row(one, mine[:, depth, place], *ends, marks=marks, **hidden))
    return rows


def automaton_rows(run: BenchAutomatonRun, symbols: Sequence[str], states: Sequence[str], answers: Row) -> list[Row]:
    """Return what the automaton says, a row of answers, and what it does and holds at every step it takes."""
    stacks = len(run.letters[0].heights) if run.letters else 0
    numbers = [("state", "state", [one.state for one in run.letters], states)]
    for stack in range(stacks):
        pushed, tops = [one.pushed[stack] for one in run.letters], [one.tops[stack] for one in run.letters]
        for name, at in (("pushes", pushed), ("top", tops)):
            numbers.append((_numbered(name, stack, stacks), "stack", at, symbols))
    more = {"type": "category", "part": "automaton"}
    rows: list[Row] = [{**answers, "id": "automaton", "part": "automaton"}]
    rows += [
        {**more, "name": name, "palette": palette, "at": at, "names": list(names), "id": name}
        for name, palette, at, names in numbers
    ]
    for stack in range(stacks):
        heights = [one.heights[stack] for one in run.letters]
        rows.append(_count_row(_numbered("height", stack, stacks), heights, part="automaton"))
    return rows


# ---- All of one word for the workbench, or its beginning, as plain data that a browser draws ----


def word_data(
    model: StackModel[Any],
    word: Word,
    automaton: PushdownAutomaton | None = None,
    specification: Specification | None = None,
    truth: PushdownAutomaton | None = None,
) -> dict[str, Any]:
    """Return what ``model``, a network or a rounded one, does on ``word``, a value a step for every row of the table.

    What it and the automaton say is held against what the ``specification`` expects, and against one another; ``truth``
    is an automaton of that, whose stacks are as high as words are deep, where there is one. Raises UnknownSymbolError:
    the word has a symbol outside the network's alphabet.

    >>> from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
    >>> found = word_data(NNPDA(NNPDAConfig(("a", "b")), seed=1), "ab")
    >>> found["letters"], [row["name"] for row in found["rows"]]
    (['a', 'b'], ['symbol', 'accepts so far', 'operation', 'push + / pop −', 'stack'])
    """
    with one_thread():
        run = bench_run(model, word)
        actual, expected = answers_of(run), expected_of(specification, model, word)
        by_automaton = None if automaton is None else automaton_says(automaton, model, word)
    letters = letters_of(run.seen)
    parties = [party for party in (actual, expected.answers, by_automaton) if party is not None]
    judged = actual, expected, by_automaton
    if run.accepts is not None and not len(word):  # no step, and a verdict all the same
        right = np.full(1, UNSAID) if specification is None else specification.answers(model, [word])[:, 0]
        own = None if automaton is None else np.array([automaton.accepts(word)])
        judged = run.accepts.astype(np.int64), replace(expected, answers=right), own
    all_ = {number for party in parties for number in party.tolist()}
    rows = run_rows(model, run, actual, expected.answers, all_)
    ran, differs = None, np.zeros(len(actual), dtype=bool)
    if automaton is not None and by_automaton is not None:
        ran = run_automaton(automaton, word)
        differs = differing_steps(model, actual, by_automaton, expected.answers)
        says = answer_row("automaton says", model, by_automaton, expected.answers, all_)
        says["differs"] = "".join(".d"[different] for different in differs.tolist())
        rows += automaton_rows(ran, automaton.stack_alphabet, automaton.states, says)
    heights = reference_heights(truth, word)
    if heights is not None and len(heights):
        for stack, column in enumerate(heights.T):
            name = _numbered("reference height", stack, heights.shape[1])
            rows.append(_count_row(name, [int(height) for height in column if not np.isnan(height)], id="reference"))
    return {
        "kind": model.task_kind,
        "letters": letters,
        "rows": rows,
        "sentence": sentence_of(model, letters[: len(word)], *judged, isinstance(model, Rounded)),
        "wrong": steps_at((expected.answers != UNSAID) & (actual != expected.answers)),
        "parts": next(iter(steps_at(differs)), None),
        "run": None if automaton is None or ran is None else run_data(automaton, ran),
    }


def beginning_data(
    model: StackModel[Any],
    word: Word,
    symbols: int,
    automaton: PushdownAutomaton | None = None,
    specification: Specification | None = None,
    truth: PushdownAutomaton | None = None,
) -> dict[str, Any] | None:
    """Return `word_data` of the first ``symbols`` of a longer ``word``, and in "of" how many steps it has in all.

    None where they do not say what they say in the whole word: where a network or an automaton reads an end symbol, or
    a network answers when it has read all. Raises UnknownSymbolError: the word, be it at its end, has a symbol outside
    the network's alphabet.
    """
    ends = [one.end_marker for one in (automaton, truth) if one is not None]
    if len(word) <= symbols or not model.real_time or model.extra_steps or model.end is not None or any(ends):
        return None
    unknown = set(word) - set(model.alphabet)
    if unknown:
        raise UnknownSymbolError(min(unknown), model.alphabet)
    found = word_data(model, word[:symbols], automaton, specification, truth)
    note = {"text": f"The first {symbols:,} of {len(word):,} symbols are shown; the others are being read."}
    return {**found, "of": len(word), "sentence": [note]}


# ---- An automaton's run on one word for the workbench, where the network that it was read out of is not there ----


def automaton_data(pda: PushdownAutomaton, word: Word) -> dict[str, Any]:
    """Return what ``pda`` does on ``word``, in the form of `word_data`; there is nothing to be right or wrong about.
    Raises UnknownSymbolError: the word has a symbol that the automaton does not read.

    >>> from stacklens.languages.catalogue import get_language
    >>> found = automaton_data(get_language("dyck-1").automaton, "()")
    >>> [row["name"] for row in found["rows"]]
    ['symbol', 'automaton says', 'state', 'pushes', 'top', 'height']
    """
    run = run_automaton(pda, word)
    letters = [*word, *pda.letters[len(pda.input_alphabet) :]]
    judges = pda.acceptance == "output" or all(step.output is None for step in pda.transitions.values())
    if judges:
        judged = [{"text": f"The automaton {'accepts' if pda.accepts(word) else 'rejects'} the word; "}]
    else:
        judged = [{"text": "Nothing here is right or wrong: "}]
    # after every letter, as long as it runs; an answer before the end that an automaton reads is of other words
    says = ["·" if judges else _output_text(one.output) for one in pda.at_rest(word)]
    if judges and pda.end_marker is None:
        says = [("yes" if pda.accepts_configuration(one) else "no") for one in pda.at_rest(word)]
    return {
        "kind": "automaton",
        "letters": letters,
        "rows": [
            text_row("symbol", letters, pda.letters, id="symbol"),
            *automaton_rows(run, pda.stack_alphabet, pda.states, text_row("automaton says", says)),
        ],
        "sentence": [*judged, {"text": "only the automaton runs: its network is not here."}],
        "wrong": [],
        "parts": None,
        "run": run_data(pda, run),
    }


def _output_text(output: object) -> str:
    if isinstance(output, frozenset | tuple | set):
        return set_name(sorted(map(str, output), key=numbered))
    return "·" if output is None else str(output)
