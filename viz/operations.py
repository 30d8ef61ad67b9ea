"""What the network does to its stacks over time: strengths as heat maps, and as a coloured table of operations.

The table with the tops in it is Joulin & Mikolov 2015, figure 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch

from stacklens.models.base import StackModel
from stacklens.models.rounding import Operation, operation_numbers, round_actions
from stacklens.probe.trace import Trace
from stacklens.viz.panels import Panel, figure_of, heat_panel, letters_of
from stacklens.viz.style import MARKS, OPERATION_COLOURS, category_colours, sentence, stepped, title_of

__all__ = [
    "action_heatmap",
    "action_names",
    "action_panel",
    "operation_names",
    "operation_panel",
    "operation_table",
    "pushed_panel",
    "reading_panel",
    "top_values",
]

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


def action_heatmap(model: StackModel[Any], seen: Trace, word: int = 0) -> go.Figure:
    """Return the actions, pushed values and readings of word number ``word`` as a figure of three heat maps.

    >>> from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
    >>> from stacklens.probe.trace import trace
    >>> net = MarnnStackRNN(MarnnConfig(("(", ")")), seed=1)
    >>> figure = action_heatmap(net, trace(net, "(())"))
    >>> figure.data[0].y, figure.data[0].z.shape
    (('push', 'pop'), (2, 4))
    """
    if model.n_stacks == 0:
        return sentence(f"This {model.name} has no stack, so it takes no actions.")
    panels = [action_panel(model, seen, word), pushed_panel(seen, word), reading_panel(model, seen, word)]
    return figure_of(title_of(model, seen, word), panels, letters_of(seen, word))


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
    rows = _rows("v", *seen.pushed.shape[2:])
    return heat_panel("value to push", _flat(seen.pushed, seen, word), rows, letters_of(seen, word))


def reading_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> Panel:
    """Return what the controller sees of the stacks at every step, one row a number.

    Of stacks that hold input symbols it sees an amount of each, so rows bear their names.
    """
    rows = _rows("r", *seen.reading.shape[2:])
    if model.pushes_input and len(rows) == len(seen.letters):
        rows = list(seen.letters)
    heading = "seen of the stack" if model.real_time else "seen of queue and stack"
    return heat_panel(heading, _flat(seen.reading, seen, word), rows, letters_of(seen, word))


def _flat(values: np.ndarray, seen: Trace, word: int) -> np.ndarray:
    taken = values[word, : seen.steps[word]]
    return taken.reshape(len(taken), -1) if taken.size else np.zeros((len(taken), 0))


def _rows(name: str, stacks: int = 0, size: int = 0) -> list[str]:
    if stacks == 1:
        return [f"{name}{place + 1}" for place in range(size)]
    return [f"stack {stack + 1} {name}{place + 1}" for stack in range(stacks) for place in range(size)]


def operation_table(model: StackModel[Any], seen: Trace, word: int = 0) -> go.Figure:
    """Return the operations as a table, a row a stack: green pushes ▲, red pops ▼, grey does nothing ·.

    The number is what the top holds after the step, where stacks have cells of one number and there is room.
    """
    if model.n_stacks == 0:
        return sentence(f"This {model.name} has no stack, so it takes no operations.")
    return figure_of(title_of(model, seen, word), [operation_panel(model, seen, word)], letters_of(seen, word))


def operation_panel(model: StackModel[Any], seen: Trace, word: int = 0) -> Panel:
    """Return one row of coloured cells for every stack, with a legend of the operations taken."""
    names = operation_names(model, seen, word)
    taken = {name for step in names for name in step}
    colours = _colours([name for name in dict.fromkeys((*MARKS, *model.operations)) if name in taken])
    numbers = {name: number for number, name in enumerate(colours)}
    tops = None if seen.cells is None or seen.cells.shape[-1] != 1 else top_values(seen, word)[..., 0]
    map_ = go.Heatmap(
        z=np.array([[numbers[name] for name in step] for step in names]).T,
        x=list(range(1, len(names) + 1)),
        y=[f"stack {stack + 1}" for stack in range(model.n_stacks)],
        zmin=-0.5,
        zmax=max(len(colours), 1) - 0.5,
        colorscale=stepped(colours.values()),
        showscale=False,
        text=_texts(names, tops),
        texttemplate="%{text}",
        customdata=_hovers(names, tops, seen, word),
        hovertemplate="%{customdata}<extra></extra>",
        xgap=1 if len(names) <= _MARKS else 0,
        ygap=1,
    )
    valued = tops is not None and len(names) <= _VALUES
    heading = "operation of each stack" + (", with what its top then holds" if valued else "")
    y = {"autorange": "reversed", "type": "category", "showgrid": False}
    return Panel(heading, (map_, *_legend(colours)), y, max(80, 26 * model.n_stacks))


def _colours(names: Sequence[str]) -> dict[str, str]:
    others = category_colours([name for name in names if name not in OPERATION_COLOURS])
    return {name: OPERATION_COLOURS.get(name) or others[name] for name in names}


def _texts(names: Sequence[tuple[str, ...]], tops: np.ndarray | None) -> list[list[str]]:
    """Return what is written into the cells, a row a stack: mark and value, a mark, or nothing."""
    if len(names) > _MARKS or not names:
        return [[""] * len(names)] * (len(names[0]) if names else 0)
    valued = tops is not None and len(names) <= _VALUES
    return [
        [
            MARKS.get(step[stack], step[stack]) + (f"<br>{tops[t, stack]:.2f}" if valued and tops is not None else "")
            for t, step in enumerate(names)
        ]
        for stack in range(len(names[0]))
    ]


def _hovers(names: Sequence[tuple[str, ...]], tops: np.ndarray | None, seen: Trace, word: int) -> list[list[str]]:
    letters = letters_of(seen, word)
    stacks = len(names[0]) if names else 0
    return [
        [
            f"step {t + 1}, reads {letters[t]}<br>stack {stack + 1}: {step[stack]} "
            f"({seen.actions[word, t, stack].max():.6g})" + ("" if tops is None else f"<br>top {tops[t, stack]:.6g}")
            for t, step in enumerate(names)
        ]
        for stack in range(stacks)
    ]


def _legend(colours: dict[str, str]) -> list[Any]:
    """Return an empty trace for every operation, for the legend."""
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": "square", "size": 12, "color": colour},
            name=f"{MARKS.get(name, '')} {name}".strip(),
        )
        for name, colour in colours.items()
    ]


def top_values(seen: Trace, word: int = 0) -> np.ndarray:
    """Return what the top of every stack holds after each step, (T, n_stacks, D).

    Raises:
        ValueError: the trace has no cells.
    """
    if seen.cells is None:
        raise ValueError("this trace has no cells: trace a network whose stack has cells with stacks=True")
    tops: np.ndarray = seen.cells[word, : seen.steps[word], :, 0]
    return tops
