"""What the network does to its stacks over time: heat maps, a coloured table of operations, and tables of steps.

The table with the tops in it is Joulin & Mikolov 2015, figure 3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from torch import Tensor

from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..core.imports import pd
from ..models.base import Cell, StackModel
from ..models.rounding import Operation, operation_numbers, round_actions
from ..models.stacks import SuperpositionStack
from ..probe.edits import Edit, Intervened
from ..probe.trace import Trace
from ..probe.trace_io import vector_text
from . import style

_VALUES, _MARKS = 30, 100  # steps up to which cells show the top's value, and a mark


def letters_of(seen: Trace, word: int = 0) -> list[str]:
    """Return what word number ``word`` of a trace reads, one letter a step, the end symbol included."""
    return [seen.letters[number] for number in seen.symbols[word, : seen.steps[word]]]


def operation_names(model: StackModel[Any], seen: Trace, word: int = 0) -> list[tuple[str, ...]]:
    """Return the operation of every stack, one tuple a step; of models that name their own operations these names."""
    actions = torch.from_numpy(seen.actions[word, : seen.steps[word]])
    if not len(actions) or model.action_kind == "none":
        return [()] * len(actions)
    rounded = round_actions(model.action_kind, actions)
    if model.action_kind == "softmax":
        return [tuple(model.operations[place] for place in row) for row in rounded.argmax(-1).tolist()]
    numbers = operation_numbers(model.action_kind, model.operations, rounded)
    return [tuple(str(Operation(number)) for number in row) for row in numbers.tolist()]


def action_names(model: StackModel[Any]) -> tuple[str, ...]:
    """Return what each number in a row of actions says: a share, a strength, or a push above 0 and a pop below."""
    if model.action_kind == "signed":
        return ("push + / pop −",)
    return model.operations or (("pop", "push") if model.action_kind == "strengths" else ())


_HEADINGS = {  # of each array its heading, and the letter of its rows
    "pushed": ("value to push", "v"),
    "reading": ("seen of the stack", "r"),
    "hidden": ("hidden vector after each step", "h"),
}


def array_panel(part: str, model: StackModel[Any], seen: Trace, word: int = 0) -> style.Panel:
    """Return an array of the trace over its steps, a row a number: "actions", "pushed", "reading" or "hidden".

    Strengths of operations lie between 0 and 1; a signed action is a single row between -1 and 1 (Sun et al. 1993,
    section 3.2.1). Of stacks that hold input symbols the controller sees an amount of each, so rows bear their names.
    """
    steps, limits = int(seen.steps[word]), dict[str, Any]()
    heading, letter = _HEADINGS.get(part, ("", ""))
    values = seen.hidden[word, 1 : steps + 1, None] if part == "hidden" else getattr(seen, part)[word, :steps]
    stacks, size = values.shape[1:]
    names = [f"{letter}{place + 1}" for place in range(size)]
    if part == "actions":
        signed, names = model.action_kind == "signed", list(action_names(model))
        heading = "action" if signed else "strength of each operation"
        limits = {"low": -1.0 if signed else 0.0, "high": 1, "kind": "strength"}
    elif part == "reading":
        names = list(seen.letters) if model.pushes_input and stacks * size == len(seen.letters) else names
        heading = heading if model.real_time else "seen of queue and stack"
    rows = names if stacks == 1 else [f"stack {stack + 1} {name}" for stack in range(stacks) for name in names]
    panel = style.heat_panel(heading, values.reshape(steps, len(rows)), rows, letters_of(seen, word), **limits)
    return panel if part != "hidden" else replace(panel, height=max(64, min(400, 16 * len(rows))))


def operation_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> style.Panel:
    """Return a row of coloured cells for every stack: green pushes ▲, red pops ▼, grey does nothing ·; with a legend.

    The number is what the top holds after the step, where stacks have cells of one number and there is room.
    """
    names = operation_names(model, seen, word)
    taken = {name for step in names for name in step}
    shown = [name for name in dict.fromkeys((*style.MARKS, *model.operations)) if name in taken]
    others = style.category_colours([name for name in shown if name not in style.OPERATION_COLOURS])
    colours = {name: style.OPERATION_COLOURS.get(name) or others[name] for name in shown}
    numbers = {name: number for number, name in enumerate(colours)}
    tops = None if seen.cells is None or seen.cells.shape[-1] != 1 else seen.cells[word, : len(names), :, 0, 0]
    # of every cell the mark and the value, while there is room, and all of it as a hover text
    room, valued, letters = len(names) <= _MARKS, tops is not None and len(names) <= _VALUES, letters_of(seen, word)
    texts = [[""] * len(names) for _ in range(model.n_stacks)]
    hovers = [[""] * len(names) for _ in range(model.n_stacks)]
    for t, step in enumerate(names):
        for stack, name in enumerate(step):
            strength, top = seen.actions[word, t, stack].max(), 0.0 if tops is None else tops[t, stack]
            texts[stack][t] = (style.MARKS.get(name, name) + (f"<br>{top:.2f}" if valued else "")) if room else ""
            hovers[stack][t] = f"step {t + 1}, reads {letters[t]}<br>stack {stack + 1}: {name} ({strength:.6g})"
            hovers[stack][t] += "" if tops is None else f"<br>top {top:.6g}"
    map_ = style.category_map(
        np.array([[numbers[name] for name in step] for step in names]).T,
        texts,
        [f"stack {stack + 1}" for stack in range(model.n_stacks)],
        colours.values(),
        "%{customdata}<extra></extra>",
        texttemplate="%{text}",
        customdata=hovers,
        xgap=1 if room else 0,
        ygap=1,
    )
    heading = "operation of each stack" + (", with what its top then holds" if valued else "")
    y = {"autorange": "reversed", "type": "category", "showgrid": False}
    # an empty trace for every operation, for the legend
    legend = [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": "square", "size": 12, "color": colour},
            name=f"{style.MARKS.get(name, '')} {name}".strip(),
        )
        for name, colour in colours.items()
    ]
    return style.Panel(heading, (map_, *legend), y, max(80, 26 * model.n_stacks))


def reference_heights(automaton: PushdownAutomaton | None, word: Word) -> np.ndarray | None:
    """Return how high the stacks of ``automaton`` are after every letter, (T, n_stacks), NaN once it rejects.

    With an end marker T is one more than the word is long. None where there is no automaton, or it never pushes.
    """
    if automaton is None or automaton.stackless:
        return None
    steps = len(word) + (automaton.end_marker is not None)
    heights = np.full((steps, automaton.n_stacks), np.nan)
    for step, configuration in enumerate(automaton.at_rest(word)):
        heights[step] = [len(stack) for stack in configuration.stacks]
    return heights


# ---- What lies on a stack over time: cells with their values, or pieces between heights ----
#
# Cells as in Suzgun et al. 2019, figures 3 and 4; pieces as in Sun et al. 1993, figures 4-6, and Hao et al. 2018.

_SHOWN = 20  # cells of a stack in a picture
_VISIBLE = 0.01  # a cell that never differs by so much from an empty one is left out

_NAMED = 80  # steps up to which pieces carry their symbol
_TALL = 0.15  # a piece shorter than this has no room for it


def stack_panels(seen: Trace, word: int = 0, shown: int = _SHOWN) -> list[style.Panel]:
    """Return a heat map for every stack, the top on top, all with the same scale.

    Cells that stay empty throughout are left out. Where a cell holds several numbers, each has a row. The scale begins
    at what empty cells hold, 0 or -1. Of a trace without cells there are none.
    """
    if seen.cells is None:
        return []
    cells = seen.cells[word, : seen.steps[word]]  # (T, n_stacks, C, D)
    counts = []
    for stack in range(cells.shape[1]):
        # how many of the topmost cells something ever lies in, at least 3: it differs from the deepest one at first
        mine = cells[:, stack]
        differs = np.flatnonzero((np.abs(mine - mine[:1, -1:]) > _VISIBLE).any((0, 2)))
        used = max(3, int(differs.max(initial=-1)) + 1) if len(cells) else 1
        counts.append(min(shown, used, cells.shape[2]))
    drawn = [cells[:, stack, :count].reshape(len(cells), -1) for stack, count in enumerate(counts)]
    low = -1.0 if any((values < 0).any() for values in drawn) else 0.0
    panels = []
    for stack, values in enumerate(drawn):
        name = "stack" if len(drawn) == 1 else f"stack {stack + 1}"
        many = f"the {counts[stack]} topmost cells" if counts[stack] > 1 else "the topmost cell"
        names = ["top", *(str(cell + 1) for cell in range(1, counts[stack]))]
        size = cells.shape[3]
        rows = names if size == 1 else [f"{cell} [{place + 1}]" for cell in names for place in range(size)]
        heading = f"{name} after each step, {many}"
        panels.append(style.heat_panel(heading, values, rows, letters_of(seen, word), low=low, diverging=False))
    return panels


@dataclass(frozen=True)
class Piece:
    """A part of what one step laid down, as long as it keeps its length."""

    pushed: int  # the step that laid it down
    first: int  # it lies there after each of the steps from the first to the last
    last: int
    bottom: float  # the heights between which it lies, 0 at the bottom of the stack
    top: float

    @property
    def length(self) -> float:
        """Return how much of it there is."""
        return self.top - self.bottom


def pieces(pops: np.ndarray, pushes: np.ndarray, edits: Sequence[Edit] = ()) -> list[Piece]:
    """Return what a stack of lengths holds over T steps that pop ``pops`` (T,) and then push ``pushes`` (T,).

    A pop cuts from the top down, as far as there is anything (Sun et al. 1993, eq. 14; Hao et al. 2018, section 2.1).
    There are at most two pieces for every step, however high the stack is. What ``edits`` put there is numbered as if
    steps behind the last one had pushed it, see `read_by`.

    >>> [(piece.pushed, piece.first, piece.last, piece.length) for piece in pieces([0, 0, 0.75], [1, 0.5, 0])]
    [(1, 1, 1, 0.5), (0, 0, 1, 1.0), (0, 2, 2, 0.75)]
    """
    there: list[Piece] = []  # the bottom first; `last` is not known yet
    ended: list[Piece] = []
    for step, (pop, push) in enumerate(zip(pops, pushes, strict=True)):
        height = max(0.0, (there[-1].top if there else 0.0) - float(pop))
        while there and there[-1].top > height:
            above = there.pop()
            ended.append(replace(above, last=step - 1))
            if above.bottom < height:
                there.append(Piece(above.pushed, step, step, above.bottom, height))
        if push > 0:
            there.append(Piece(step, step, step, height, height + float(push)))
        left = there
        for edit in edits:
            if int(edit.at[0]) != step + 1:
                continue
            high = there[-1].top if there else 0.0
            if edit.part == "height":
                there = _pieces_between(there, 0.0, max(0.0, high - float(edit.value[0])), step)
            elif edit.part == "cells":
                high = max(0.0, high - int(edit.place[0]))
                low, put = max(0.0, high - 1), list[Piece]()
                ends = (low + np.cumsum([0.0, *edit.value.lengths[0].tolist()])).tolist()
                for number, (bottom, top) in enumerate(pairwise(ends)):
                    if min(top, high) > bottom:
                        put.append(Piece(len(pops) + number, step, step, bottom, min(top, high)))
                there = [*_pieces_between(there, 0.0, low, step), *put, *_pieces_between(there, high, np.inf, step)]
        if left is not there:
            ended += [replace(piece, last=step - 1) for piece in left if piece.first < step and piece not in there]
    return [*ended, *(replace(piece, last=len(pops) - 1) for piece in there)]


def _pieces_between(there: list[Piece], low: float, high: float, step: int) -> list[Piece]:
    """Return the pieces that lie between two heights, those that are cut as new ones from ``step`` on."""
    found = []
    for piece in there:
        bottom, top = max(piece.bottom, low), min(piece.top, high)
        if top > bottom:
            same = (bottom, top) == (piece.bottom, piece.top)
            found.append(piece if same else Piece(piece.pushed, step, step, bottom, top))
    return found


def pieces_of(model: StackModel[Any], seen: Trace, word: int = 0) -> list[Piece]:
    """Return what lies in the stack of a network whose actions are signed or strengths, piece by piece. Raises
    ValueError: its actions are of another kind.
    """
    actions = seen.actions[word, : seen.steps[word], 0] if seen.steps[word] else np.zeros((0, 2))
    edits = model.edits if isinstance(model, Intervened) else ()
    if model.action_kind == "signed":
        return pieces(np.maximum(-actions[:, 0], 0), np.maximum(actions[:, 0], 0), edits)
    if model.action_kind == "strengths":
        return pieces(actions[:, 0], actions[:, 1], edits)
    raise ValueError(f"a stack with {model.action_kind} actions has no lengths")


def segment_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> style.Panel:
    """Return the pieces as boxes: from step to step, from height to height, coloured by the symbol read at the push."""
    letters, found = letters_of(seen, word), pieces_of(model, seen, word)
    colours, named = style.category_colours(seen.letters), len(letters) <= _NAMED
    bars: list[Any] = []
    for letter in seen.letters:
        mine = [piece for piece in found if letters[piece.pushed] == letter]
        if not mine:
            continue
        hovers = [
            f"pushed at step {piece.pushed + 1}, reading {style.escaped(letter)}<br>length {piece.length:.6g}, from "
            f"{piece.bottom:.6g} to {piece.top:.6g}<br>after steps {piece.first + 1} to {piece.last + 1}<br>value "
            + ", ".join(f"{number:.6g}" for number in seen.pushed[word, piece.pushed, 0])
            for piece in mine
        ]
        bar = go.Bar(
            x=[(piece.first + piece.last) / 2 + 1 for piece in mine],
            width=[piece.last - piece.first + 1 for piece in mine],
            base=[piece.bottom for piece in mine],
            y=[piece.length for piece in mine],
            name=style.escaped(letter),
            legendgroup=letter,
            marker={"color": colours[letter], "line": {"width": 1 if named else 0}},
            text=[style.escaped(letter) if named and piece.length >= _TALL else "" for piece in mine],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertext=hovers,
            hovertemplate="%{hovertext}<extra></extra>",
        )
        bars.append(bar)
    height = max((piece.top for piece in found), default=1.0)
    y = {"title": {"text": "height"}, "range": [0, 1.02 * max(1.0, height)]}
    traces = tuple(bars) or (go.Scatter(x=[], y=[], showlegend=False),)
    return style.Panel("stack after each step, by the symbol read when it was pushed", traces, y, 240)


# ---- Who pushed what lies on a stack, in a run that may have been changed ----

_PUT_THERE = "put there"  # in place of a letter


def read_by(model: StackModel[Any], read: list[int]) -> dict[str, Any]:
    """Return which letter each step pushed, by its number in "names"; behind the steps what was put there, so many.

    What is no letter is called so.
    """
    names = list(model.letters)
    if not isinstance(model, Intervened):
        return {"read": read, "names": names, "put": 0}
    read, put = list(read), [row for edit in model.edits if edit.part == "cells" for row in edit.value.values[0]]

    def letter(value: Tensor) -> int:
        """Return which letter a network that pushes what it reads has pushed for ``value``; one too many for none."""
        one_hot = model.pushes_input and sorted(value.tolist()) == [*[0.0] * (len(value) - 1), 1.0]
        return int(value.argmax()) if one_hot else len(names)

    for edit in model.edits:
        if edit.part == "pushed":  # by a function of what was there it is no letter
            read[int(edit.at[0])] = letter(edit.value[0, 0]) if isinstance(edit.value, Tensor) else len(names)
    return {"read": [*read, *map(letter, put)], "names": [*names, _PUT_THERE], "put": len(put)}


def filled_shares(model: StackModel[Any], actions: np.ndarray, cells: int) -> np.ndarray | None:
    """Return which share of each of the topmost ``cells`` was pushed, (T, n_stacks, cells), between 0 and 1.

    What lies in a soft cell is a mixture, and this is the share of it that any push has laid there: what a stack of
    zeros holds that moves as the actions (T, n_stacks, A) say and pushes ones. What a change has put into a cell counts
    as pushed. None where the actions are of another kind.
    """
    names = model.operations
    if model.action_kind != "softmax" or not {"push", "pop"} <= set(names) <= {"push", "pop", "none", "no-op"}:
        return None
    if not len(actions):
        return np.zeros((0, actions.shape[1], cells))
    push, pop = (actions[..., names.index(name)] for name in ("push", "pop"))
    taken = torch.from_numpy(np.stack([push, pop, np.clip(1 - push - pop, 0, 1)], -1)).double()
    stack = SuperpositionStack.empty((1,), actions.shape[1], 1, taken, limit=model.stack_limit)
    edits, one, found = model.edits if isinstance(model, Intervened) else (), taken.new_ones(1, 1), list[Tensor]()
    for step in range(len(taken) + 1):
        if step:
            stack = stack.next(taken[None, step - 1], one)
        for edit in edits:
            rows = edit.rows(step)
            if edit.part == "cells" and rows.any():
                stack = stack.with_cell(rows, edit.number, edit.place, Cell.of(one))
            elif edit.part == "height" and rows.any():
                stack = stack.lowered(rows, edit.number, edit.value)
        found += [stack.cells(cells)[0, ..., 0]] if step else []
    shares: np.ndarray = torch.stack(found).clamp(0, 1).numpy()
    return shares


# ---- What the symbols of an automaton's stack stand for: which values of the network they are, and who pushes them.


def symbol_meanings(
    model: StackModel[Any], seen: Trace, pda: PushdownAutomaton, memories: Sequence[int]
) -> list[dict[str, Any]]:
    """Return for every stack symbol of ``pda`` the input symbols that push it and the values that the network pushes.

    ``memories`` are the numbers of the network's stacks that are the automaton's. "low" and "high" are the least and
    the largest pushed value on the words of the trace, a number for each place of a cell; None where the network pushes
    the symbol that it reads, or where it never pushed this one.
    """
    pushers, values = defaultdict[str, set[str]](set), defaultdict[str, list[np.ndarray]](list)
    same = len(memories) == pda.n_stacks and not model.pushes_input and model.real_time
    for number, word in enumerate(seen.words):
        letters, read = letters_of(seen, number), -1
        for key, _ in pda.moves(word):
            read += bool(key[1])
            pushed = enumerate(one.push for one in pda.transitions[key].operations) if 0 <= read < len(letters) else ()
            for stack, symbol in pushed:
                if symbol is not None:
                    pushers[symbol].add(letters[read])
                    values[symbol] += [seen.pushed[number, read, memories[stack]]] if same else []
    return [
        {
            "symbol": symbol,
            "pushed by": sorted(pushers[symbol], key=style.numbered),
            "low": np.min(values[symbol], 0).round(3).tolist() if values[symbol] else None,
            "high": np.max(values[symbol], 0).round(3).tolist() if values[symbol] else None,
        }
        for symbol in pda.stack_alphabet
    ]


# ---- Tables of steps, and all numbers of a word as plain data ----


def step_table(model: StackModel[Any], seen: Trace, word: int = 0) -> pd.DataFrame:
    """Return one row a step: symbol, hidden vector, actions, operation, a continuous stack's content, whether rejected.

    Source: Sun et al. 1993, tables 1 and 2. Numbers are rounded to 4 digits here; `Trace.to_frame` has them whole.
    """
    operations = operation_names(model, seen, word)
    rows = []
    for step, letter in enumerate(letters_of(seen, word)):
        row: dict[str, Any] = {"step": step + 1, "symbol": letter, "state": vector_text(seen.hidden[word, step + 1])}
        for stack, actions in enumerate(seen.actions[word, step]):
            for name, value in zip(action_names(model), actions, strict=True):
                row[name if model.n_stacks == 1 else f"{name} {stack + 1}"] = round(float(value), 4)
        row["operation"] = ", ".join(operations[step])
        if seen.lengths is not None:
            held = (f"{symbol} {length:.4f}" for symbol, length in seen.segments(word, step))
            row["stack"] = " ".join(held) or "empty"
        rows.append({**row, "rejected": bool(seen.rejected[word, step])})
    return pd.DataFrame(rows)


def prediction_table(model: StackModel[Any], seen: Trace, word: int = 0) -> pd.DataFrame:
    """Return one row a step: current and next symbol, prediction, probability, every stack's operation and top cells.

    The probability is the one given to the next symbol, NaN for the last step, or, in a transduction, to the output.
    The cells are the ``depth`` topmost ones after the step, where the trace has them (Joulin & Mikolov 2015, table 3).
    Raises StacklensError: the network is a recogniser, which predicts nothing.
    """
    if model.task_kind == "recognition":
        raise StacklensError(f"this {model.name} is a recogniser and predicts nothing; step_table shows its steps")
    letters, operations = letters_of(seen, word), operation_names(model, seen, word)
    rows = []
    for step, (letter, follows) in enumerate(zip(letters, [*letters[1:], ""][: len(letters)], strict=True)):
        output = seen.output[word, step]
        best = model.output_alphabet[int(output.argmax())]
        row: dict[str, Any] = {"current": letter}
        if model.task_kind == "transduction":
            row |= {"output": best, "probability": float(output.max())}
        else:
            if model.task_kind == "next set":
                best = " ".join(one for one, value in zip(model.output_alphabet, output, strict=True) if value > 0.5)
            given = float(output[model.output_alphabet.index(follows)]) if follows else float("nan")
            row |= {"next": follows, "prediction": best, "probability": given}
        for stack, operation in enumerate(operations[step]):
            suffix = "" if model.n_stacks == 1 else f" {stack + 1}"
            row[f"action{suffix}"] = operation
            if seen.cells is not None:
                row[f"top{suffix}"] = vector_text(seen.cells[word, step, stack, : model.depth], 2)
        rows.append(row)
    return pd.DataFrame(rows)


def trace_data(model: StackModel[Any], seen: Trace, word: int = 0) -> dict[str, Any]:
    """Return everything of one word as plain data: the network's name, the word, its steps, the verdict, all numbers.

    Lists are nested as the arrays of `Trace` are, without the leading axis; there is no number for NaN, so None stands
    for it. Cells and lengths are there where the trace has them.
    """
    steps = int(seen.steps[word])
    data: dict[str, Any] = {
        "schema": 1,
        "model": model.name,
        "word": list(seen.words[word]),
        "symbols": letters_of(seen, word),
        "actions_are": list(action_names(model)),
        "verdict": bool(seen.verdicts[word]),
        "rejected": seen.rejected[word, :steps].tolist(),
        "operations": [list(names) for names in operation_names(model, seen, word)],
        "hidden": _plain_numbers(seen.hidden[word, : steps + 1]),
    }
    for name in ("actions", "pushed", "reading", "output"):
        data[name] = _plain_numbers(getattr(seen, name)[word, :steps])
    if seen.cells is not None:
        data["cells"] = _plain_numbers(seen.cells[word, :steps])
    if seen.lengths is not None:
        data["lengths"] = _plain_numbers(seen.lengths[word, :steps, :steps])
    return data


def _plain_numbers(values: np.ndarray) -> Any:
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return plain.tolist()
