"""How far networks drift from their rounded form, by the outcome of their extraction: figures of the findings' text."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable, markdown_table
from stacklens.papers.learned import family_of, is_good, task_of

__all__ = ["foreseen_figures"]

_STEPS = (10, 25, 50, 75, 100)  # of which drift is shown; others are the ends of short words


def foreseen_figures(measured: Sequence[tuple[Grid, GridResults]]) -> dict[str, str]:
    """Return the figures of networks that learned, were measured before extraction, and were tried."""
    found = [
        (family, task_of(grid, row), network)
        for grid, results in measured
        for row in grid.rows
        if (family := family_of(grid, row)) is not None
        for run in results.runs(row.name)
        for network in run.networks
        if network.converged and network.extraction is not None and (network.measures or {}).get("predictors")
    ]
    groups: dict[str, dict[int, list[float]]] = {"nothing contradicts it": {}, "all others": {}}
    for *_, network in found:
        drift = (network.measures or {})["predictors"]["drift by step"]
        group = groups["nothing contradicts it" if is_good(network) else "all others"]
        for step, output in zip(drift["steps"], drift["outputs"], strict=True):
            if output is not None:
                group.setdefault(step, []).append(output)
    steps = [step for step in sorted({step for group in groups.values() for step in group}) if step in _STEPS]
    rows = [(name, *(_median(group.get(step, [])) for step in steps)) for name, group in groups.items()]
    note = "median, in brackets of how many networks; fewer where words are shorter"
    title = "How far an output of the network is from that of its rounded form, after so many symbols"
    return {
        "foreseen networks": str(len(found)),
        "foreseen tasks": str(len({task for _, task, _ in found})),
        "foreseen families": str(len({family for family, *_ in found})),
        "drift by length": markdown_table(TextTable(title, ("network", *map(str, steps)), tuple(rows), note)),
    }


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2g} ({len(values)})" if values else "–"
