"""How far networks drift from their rounded forms by length, by outcome: a table of the findings' text."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable
from stacklens.papers.observations import learned

__all__ = ["drift_table"]

_STEPS = (10, 25, 50, 75, 100)  # others are the ends of short words


def drift_table(measured: Sequence[tuple[Grid, GridResults]]) -> TextTable:
    """Return the median drift of outputs after so many steps, by the outcome."""
    groups: dict[str, dict[int, list[float]]] = {"nothing contradicts it": {}, "all others": {}}
    for _, _, network in learned(measured):
        drift = (network.measures or {})["predictors"]["drift by step"]
        good = (network.extraction or {})["status"] == 0
        group = groups["nothing contradicts it" if good else "all others"]
        for step, output in zip(drift["steps"], drift["outputs"], strict=True):
            if output is not None:
                group.setdefault(step, []).append(output)
    steps = [step for step in sorted({step for group in groups.values() for step in group}) if step in _STEPS]
    rows = [(name, *(_median(group.get(step, [])) for step in steps)) for name, group in groups.items()]
    note = "median, in brackets of how many networks; fewer where words are shorter"
    title = "How far an output of the network is from that of its rounded form, after so many symbols"
    return TextTable(title, ("network", *map(str, steps)), tuple(rows), note)


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2g} ({len(values)})" if values else "–"
