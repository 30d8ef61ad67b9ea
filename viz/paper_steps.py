"""The papers' tables of steps, such as tables 1 and 2 of Sun et al. 1993: what a network did on single words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stacklens.papers.grid_tables import TextTable
from stacklens.papers.results import Results

__all__ = ["step_tables"]

_COLUMNS = ("section", "word", "step", "input", "state", "action", "stack")


def step_tables(results: Results) -> list[TextTable]:
    """Return a table of the steps on every word that a claim was traced on; none where there are no such words."""
    rows = [
        (claim.section, word, str(number), *_cells(step))
        for claim in results.claims
        for word, found in claim.figures.items()
        if isinstance(found, dict) and isinstance(found.get("steps"), list)
        for number, step in enumerate(found["steps"], 1)
    ]
    commands = dict.fromkeys(
        str(found["command"])
        for claim in results.claims
        for found in claim.figures.values()
        if isinstance(found, dict) and "steps" in found and "command" in found
    )
    return [TextTable("Steps on single words", _COLUMNS, tuple(rows), "; ".join(commands))] if rows else []


def _cells(step: Mapping[str, Any]) -> tuple[str, ...]:
    state = " ".join(f"{value:.4f}" for value in step["state"])
    stack = " ".join(f"{symbol} {length:.4f}" for symbol, length in step["segments"])
    return step["input"], state, f"{step['action']:.4f}", stack or "empty"
