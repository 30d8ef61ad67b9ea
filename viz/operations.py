"""What the network does to its stacks over time: heat maps, a coloured table of operations, and tables of steps.

The table with the tops in it is Joulin & Mikolov 2015, figure 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import torch

from ..core.errors import StacklensError
from ..models.base import StackModel
from ..models.rounding import Operation, operation_numbers, round_actions
from ..probe.trace import Trace
from .style import MARKS, OPERATION_COLOURS, Panel, category_colours, category_map, escaped, heat_panel, letters_of

if TYPE_CHECKING:
    import pandas as pd

_VALUES, _MARKS = 30, 100  # steps up to which cells show the top's value, and a mark


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


def action_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> Panel:
    """Return the strengths of the operations, one row for each operation of each stack, between 0 and 1.

    A signed action is a single row between -1 and 1 (Sun et al. 1993, section 3.2.1).
    """
    values, names = _flat(seen.actions, seen, word), action_names(model)
    rows = [name if model.n_stacks == 1 else f"stack {s + 1} {name}" for s in range(model.n_stacks) for name in names]
    low = -1.0 if model.action_kind == "signed" else 0.0
    heading = "action" if model.action_kind == "signed" else "strength of each operation"
    return heat_panel(heading, values, rows, letters_of(seen, word), low=low, high=1, kind="strength")


def pushed_panel(seen: Trace, word: int = 0) -> Panel:
    """Return what a push lays down at every step, one row a number."""
    rows = _number_names("v", *seen.pushed.shape[2:])
    return heat_panel("value to push", _flat(seen.pushed, seen, word), rows, letters_of(seen, word))


def reading_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> Panel:
    """Return what the controller sees of the stacks at every step, one row a number.

    Of stacks that hold input symbols it sees an amount of each, so rows bear their names.
    """
    rows = _number_names("r", *seen.reading.shape[2:])
    if model.pushes_input and len(rows) == len(seen.letters):
        rows = list(seen.letters)
    heading = "seen of the stack" if model.real_time else "seen of queue and stack"
    return heat_panel(heading, _flat(seen.reading, seen, word), rows, letters_of(seen, word))


def _flat(values: np.ndarray, seen: Trace, word: int) -> np.ndarray:
    taken = values[word, : seen.steps[word]]
    return taken.reshape(len(taken), -1) if taken.size else np.zeros((len(taken), 0))


def _number_names(name: str, stacks: int = 0, size: int = 0) -> list[str]:
    if stacks == 1:
        return [f"{name}{place + 1}" for place in range(size)]
    return [f"stack {stack + 1} {name}{place + 1}" for stack in range(stacks) for place in range(size)]


def operation_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> Panel:
    """Return a row of coloured cells for every stack: green pushes ▲, red pops ▼, grey does nothing ·; with a legend.

    The number is what the top holds after the step, where stacks have cells of one number and there is room.
    """
    names = operation_names(model, seen, word)
    taken = {name for step in names for name in step}
    shown = [name for name in dict.fromkeys((*MARKS, *model.operations)) if name in taken]
    others = category_colours([name for name in shown if name not in OPERATION_COLOURS])
    colours = {name: OPERATION_COLOURS.get(name) or others[name] for name in shown}
    numbers = {name: number for number, name in enumerate(colours)}
    tops = None if seen.cells is None or seen.cells.shape[-1] != 1 else seen.cells[word, : len(names), :, 0, 0]
    # of every cell the mark and the value, while there is room, and all of it as a hover text
    room, valued, letters = len(names) <= _MARKS, tops is not None and len(names) <= _VALUES, letters_of(seen, word)
    texts = [[""] * len(names) for _ in range(model.n_stacks)]
    hovers = [[""] * len(names) for _ in range(model.n_stacks)]
    for t, step in enumerate(names):
        for stack, name in enumerate(step):
            strength, top = seen.actions[word, t, stack].max(), 0.0 if tops is None else tops[t, stack]
            texts[stack][t] = (MARKS.get(name, name) + (f"<br>{top:.2f}" if valued else "")) if room else ""
            hovers[stack][t] = f"step {t + 1}, reads {letters[t]}<br>stack {stack + 1}: {name} ({strength:.6g})"
            hovers[stack][t] += "" if tops is None else f"<br>top {top:.6g}"
    map_ = category_map(
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
            name=f"{MARKS.get(name, '')} {name}".strip(),
        )
        for name, colour in colours.items()
    ]
    return Panel(heading, (map_, *legend), y, max(80, 26 * model.n_stacks))


# ---- What lies on a stack over time: cells with their values, or pieces between heights ----
#
# Cells as in Suzgun et al. 2019, figures 3 and 4; pieces as in Sun et al. 1993, figures 4-6, and Hao et al. 2018.

_SHOWN = 20  # cells of a stack in a picture
_VISIBLE = 0.01  # a cell that never differs by so much from an empty one is left out

_NAMED = 80  # steps up to which pieces carry their symbol
_TALL = 0.15  # a piece shorter than this has no room for it


def stack_panels(seen: Trace, word: int = 0, shown: int = _SHOWN) -> list[Panel]:
    """Return a heat map for every stack, the top on top, all with the same scale.

    Cells that stay empty throughout are left out. Where a cell holds several numbers, each has a row. The scale begins
    at what empty cells hold, 0 or -1.
    Of a trace without cells there are none.
    """
    if seen.cells is None:
        return []
    cells = seen.cells[word, : seen.steps[word]]  # (T, n_stacks, C, D)
    counts = []
    for stack in range(cells.shape[1]):
        # how many of the topmost cells something ever lies in, at least 3: it differs from the deepest one at first
        mine = cells[:, stack]
        differs = np.flatnonzero((np.abs(mine - mine[:1, -1:]) > _VISIBLE).any((0, 2)))
        used = max(3, int(differs[-1]) + 1 if len(differs) else 0) if len(cells) else 1
        counts.append(min(shown, used, cells.shape[2]))
    drawn = [cells[:, stack, :count].reshape(len(cells), -1) for stack, count in enumerate(counts)]
    low = -1.0 if any((values < 0).any() for values in drawn) else 0.0
    panels = []
    for stack, values in enumerate(drawn):
        name = "stack" if len(drawn) == 1 else f"stack {stack + 1}"
        many = f"the {counts[stack]} topmost cells" if counts[stack] > 1 else "the topmost cell"
        names = ["top", *(str(cell + 1) for cell in range(1, counts[stack]))][: counts[stack]]
        size = cells.shape[3]
        rows = names if size == 1 else [f"{cell} [{place + 1}]" for cell in names for place in range(size)]
        heading = f"{name} after each step, {many}"
        panels.append(heat_panel(heading, values, rows, letters_of(seen, word), low=low, diverging=False))
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


def pieces(
    pops: np.ndarray, pushes: np.ndarray, then: Callable[[int, list[Piece]], list[Piece]] = lambda _, there: there
) -> list[Piece]:
    """Return what a stack of lengths holds over T steps that pop ``pops`` (T,) and then push ``pushes`` (T,).

    A pop cuts from the top down, as far as there is anything (Sun et al. 1993, eq. 14; Hao et al. 2018, section 2.1).
    There are at most two pieces for every step, however high the stack is. ``then`` says what a step finds, given its
    number and what the one before it left, the lowest piece first.

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
        left, there = there, then(step + 1, there)
        if left is not there:
            ended += [replace(piece, last=step - 1) for piece in left if piece.first < step and piece not in there]
    return [*ended, *(replace(piece, last=len(pops) - 1) for piece in there)]


def pieces_of(
    model: StackModel[Any],
    seen: Trace,
    word: int = 0,
    then: Callable[[int, list[Piece]], list[Piece]] = lambda _, there: there,
) -> list[Piece]:
    """Return what lies in the stack of a network whose actions are signed or strengths, piece by piece.

    ``then`` is that of `pieces`.

    Raises:
        ValueError: its actions are of another kind.
    """
    actions = seen.actions[word, : seen.steps[word], 0] if seen.steps[word] else np.zeros((0, 2))
    if model.action_kind == "signed":
        return pieces(np.maximum(-actions[:, 0], 0), np.maximum(actions[:, 0], 0), then)
    if model.action_kind == "strengths":
        return pieces(actions[:, 0], actions[:, 1], then)
    raise ValueError(f"a stack with {model.action_kind} actions has no lengths")


def segment_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> Panel:
    """Return the pieces as boxes: from step to step, from height to height, coloured by the symbol read at the push."""
    letters, found = letters_of(seen, word), pieces_of(model, seen, word)
    colours = category_colours(seen.letters)
    bars = [
        _bars(letter, colours[letter], mine, seen, word, len(letters) <= _NAMED)
        for letter in seen.letters
        if (mine := [piece for piece in found if letters[piece.pushed] == letter])
    ]
    if not bars:
        bars = [go.Scatter(x=[], y=[], showlegend=False)]
    height = max((piece.top for piece in found), default=1.0)
    y = {"title": {"text": "height"}, "range": [0, 1.02 * max(1.0, height)]}
    return Panel("stack after each step, by the symbol read when it was pushed", tuple(bars), y, 240)


def _bars(letter: str, colour: str, found: list[Piece], seen: Trace, word: int, named: bool) -> Any:
    return go.Bar(
        x=[(piece.first + piece.last) / 2 + 1 for piece in found],
        width=[piece.last - piece.first + 1 for piece in found],
        base=[piece.bottom for piece in found],
        y=[piece.length for piece in found],
        name=escaped(letter),
        legendgroup=letter,
        marker={"color": colour, "line": {"width": 1 if named else 0}},
        text=[escaped(letter) if named and piece.length >= _TALL else "" for piece in found],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        hovertext=[
            f"pushed at step {piece.pushed + 1}, reading {escaped(letter)}<br>length {piece.length:.6g}, from "
            f"{piece.bottom:.6g} to {piece.top:.6g}<br>after steps {piece.first + 1} to {piece.last + 1}<br>value "
            + ", ".join(f"{number:.6g}" for number in seen.pushed[word, piece.pushed, 0])
            for piece in found
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


# ---- Tables of steps, and all numbers of a word as plain data ----


def step_table(model: StackModel[Any], seen: Trace, word: int = 0) -> pd.DataFrame:
    """Return one row a step: symbol, hidden vector, actions, operation, a continuous stack's content, whether rejected.

    Source: Sun et al. 1993, tables 1 and 2. Numbers are rounded to 4 digits here; `Trace.to_frame` has them whole.
    """
    import pandas as pd

    operations = operation_names(model, seen, word)
    rows = []
    for step, letter in enumerate(letters_of(seen, word)):
        row: dict[str, Any] = {"step": step + 1, "symbol": letter, "state": _vector_text(seen.hidden[word, step + 1])}
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

    Raises:
        StacklensError: the network is a recogniser, which predicts nothing.
    """
    import pandas as pd

    if model.task_kind == "recognition":
        raise StacklensError(f"this {model.name} is a recogniser and predicts nothing; step_table shows its steps")
    letters, operations = letters_of(seen, word), operation_names(model, seen, word)
    rows = []
    for step, (letter, follows) in enumerate(zip(letters, [*letters[1:], ""][: len(letters)], strict=True)):
        row = {"current": letter, **_prediction_cells(model, seen.output[word, step], follows)}
        for stack, operation in enumerate(operations[step]):
            suffix = "" if model.n_stacks == 1 else f" {stack + 1}"
            row[f"action{suffix}"] = operation
            if seen.cells is not None:
                row[f"top{suffix}"] = _vector_text(seen.cells[word, step, stack, : model.depth], 2)
        rows.append(row)
    return pd.DataFrame(rows)


def _prediction_cells(model: StackModel[Any], output: np.ndarray, follows: str) -> dict[str, Any]:
    """Return the prediction at a step before the symbol ``follows``, which is empty at the end."""
    best = model.output_alphabet[int(output.argmax())]
    if model.task_kind == "transduction":
        return {"output": best, "probability": float(output.max())}
    if model.task_kind == "next set":
        best = " ".join(symbol for symbol, value in zip(model.output_alphabet, output, strict=True) if value > 0.5)
    given = float(output[model.output_alphabet.index(follows)]) if follows else float("nan")
    return {"next": follows, "prediction": best, "probability": given}


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


def _vector_text(values: np.ndarray, digits: int = 4) -> str:
    return " ".join(f"{value:.{digits}f}" for value in values.ravel())
