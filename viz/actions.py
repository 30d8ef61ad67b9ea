"""What the network does to its stacks over time: operation strengths, pushed values and readings as heat maps.

As in Suzgun et al. 2019, figure 3 (shares of the operations), and Hao et al. 2018, figures 5 and 6 (pop and push
strengths and pushed vectors).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from stacklens.models.base import StackModel
from stacklens.probe.trace import Trace
from stacklens.viz.operations import action_names
from stacklens.viz.panels import Panel, figure_of, heat_panel, letters_of
from stacklens.viz.style import sentence
from stacklens.viz.titles import title_of

__all__ = ["action_heatmap", "action_panel", "pushed_panel", "reading_panel"]


def action_heatmap(model: StackModel[Any], seen: Trace, word: int = 0) -> go.Figure:
    """Return the actions, pushed values and readings of word number ``word`` as a figure of three heat maps.

    >>> from stacklens.models.marnn import MarnnConfig, MarnnStackRNN
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
