"""A trace as a table of steps.

For continuous stacks: input, state, action, stack (Sun et al. 1993, tables 1 and 2). For others: input, action, what
was laid down, what the controller saw, and what it says (Joulin & Mikolov 2015, table 3; Hao et al. 2018, figures 5
and 6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stacklens.models.base import StackModel
from stacklens.probe.trace import Trace

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["rich_step_table"]


def rich_step_table(model: StackModel[Any], seen: Trace, word: int = 0) -> Table:
    """Return the steps of word number ``word`` of a trace of ``model`` as a rich table, one row a step."""
    from rich.table import Table

    continuous = seen.lengths is not None
    columns = ("state", "action", "stack") if continuous else ("action", "pushed", "seen of the stack", "says")
    cells = _continuous if continuous else _others
    table = Table("step", "input", *columns, "")
    for step in range(int(seen.steps[word])):
        letter = seen.letters[seen.symbols[word, step]]
        after = "rejected" if seen.rejected[word, step] else ""
        table.add_row(str(step + 1), letter, *cells(model, seen, word, step), after)
    return table


def _continuous(model: StackModel[Any], seen: Trace, word: int, step: int) -> tuple[str, ...]:
    """Return state, action and stack, the bottom first."""
    del model
    segments = " ".join(f"{symbol} {length:.4f}" for symbol, length in seen.segments(word, step))
    return _vector(seen.hidden[word, step + 1]), _vector(seen.actions[word, step]), segments or "empty"


def _others(model: StackModel[Any], seen: Trace, word: int, step: int) -> tuple[str, ...]:
    """Return actions, pushed values and readings, one line a stack, and the output."""
    actions = "\n".join(_actions(model, row) for row in seen.actions[word, step])
    pushed = "\n".join(_vector(row, 2) for row in seen.pushed[word, step])
    reading = "\n".join(_vector(row, 2) for row in seen.reading[word, step])
    return actions, pushed, reading, _said(model, seen.output[word, step])


def _actions(model: StackModel[Any], row: np.ndarray) -> str:
    """Return the shares of a stack's operations, of more than three the largest, or how much it pops and pushes."""
    names = model.operations or ("pop", "push")
    if model.action_kind == "softmax" and len(names) > 3:
        return f"{names[int(row.argmax())]} {row.max():.2f}"
    return "  ".join(f"{name} {share:.2f}" for name, share in zip(names, row, strict=True))


def _said(model: StackModel[Any], output: np.ndarray) -> str:
    """Return the predicted set, or the likeliest symbol and its probability."""
    if model.task_kind == "next set":
        return "{" + " ".join(model.output_alphabet[i] for i in np.flatnonzero(output > 0.5)) + "}"
    if model.task_kind == "recognition":
        return _vector(output, 2)
    return f"{model.output_alphabet[int(output.argmax())]} {output.max():.2f}"


def _vector(values: np.ndarray, digits: int = 4) -> str:
    return " ".join(f"{value:.{digits}f}" for value in values.ravel())
