"""A trace as a table of steps: input, state, action, stack (Sun et al. 1993, tables 1 and 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stacklens.probe.trace import Trace

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["step_table"]


def step_table(seen: Trace, word: int = 0) -> Table:
    """Return the steps of word number ``word`` as a rich table, one row a step, the stack bottom first."""
    from rich.table import Table

    table = Table("step", "input", "state", "action", "stack", "")
    for step in range(int(seen.steps[word])):
        segments = seen.segments(word, step) if seen.lengths is not None else []
        table.add_row(
            str(step + 1),
            seen.letters[seen.symbols[word, step]],
            _vector(seen.hidden[word, step + 1]),
            _vector(seen.actions[word, step]),
            " ".join(f"{symbol} {length:.4f}" for symbol, length in segments) or "empty",
            "rejected" if seen.rejected[word, step] else "",
        )
    return table


def _vector(values: np.ndarray) -> str:
    return " ".join(f"{value:.4f}" for value in values.ravel())
