"""What `stacklens papers run` measured as data frames: a line a network, and a line a run of a row.

`make findings` (`python -m docs.findings`) reads `papers/results` with these, counts in `tables.py` and
`comparisons.py`, and the fresh networks' experiments in `experiments.py`; it puts the figures into
`docs/findings_text.md` with `text.py`, and draws with `figures.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stacklens.papers.grid import Grid, GridResults, GridRow, Network, read_grid
from stacklens.papers.results import FOLDER
from stacklens.papers.runner import EXPERIMENTS

Measured = Sequence[tuple[Grid, GridResults]]

# what is learned in a table, where its rows do not say so
_TASKS = {
    "joulin2015-fig2": "memorisation",
    "suzgun2019-rates": "brackets and reversal",
    "suzgun2019-table2": "D2",
    "suzgun2019-table3": "D3",
    "suzgun2019-table4": "D6",
    "suzgun2019-table5": "homomorphic palindromes",
    "suzgun2019-table6": "reversal",
    "suzgun2019-d6-one-number": "D6",
    "suzgun2019-simple-palindrome": "simple palindromes",
    "suzgun2019-simple-palindrome-search": "simple palindromes",
}
UNTOLD = "–"


def measured_grids(folder: Path = FOLDER) -> list[tuple[Grid, GridResults]]:
    """Return every grid that has results in ``folder``, with these."""
    grids = [experiment for build in EXPERIMENTS.values() if isinstance(experiment := build(), Grid)]
    return [(grid, found) for grid in grids if (found := read_grid(grid.name, folder)) is not None]


def family_of(grid: Grid, row: GridRow) -> str | None:
    """Return the family of the networks of ``row``, None where they have no memory beside their state."""
    if not row.stacks:
        return None
    if grid.name.startswith("hao"):
        name = f"{'buffered ' if row.cells['buffered'] == 'yes' else ''}Neural Stack, {row.cells['controller']}"
    else:
        name = row.name.split(",")[0].split("+Softmax")[0].split("+Gumbel")[0]
    return f"{name} ({grid.paper})"


def task_of(grid: Grid, row: GridRow) -> str:
    """Return what the networks of ``row`` learn, by one name over all tables; that of the grid where none is known."""
    if row.name.endswith(", addition"):
        return "binary addition"
    named = row.cells.get("task") or row.cells.get("pattern")
    return _TASKS.get(grid.name, grid.name) if named is None else named.lower()


def networks(measured: Measured) -> pd.DataFrame:
    """Return a line for each network, in the order of the tables; see `_network` for what came of it.

    ``family`` is NaN for networks without a memory. ``row`` names table and row: networks that share it share their
    words, so tests and intervals are over rows.
    """
    families = [family_of(grid, row) for grid, _ in measured for row in grid.rows]
    lines = []
    for grid, results in measured:
        for row in grid.rows:
            known = {
                "table": grid.name,
                "name": row.name,
                "row": f"{grid.name}: {row.name}",
                "family": family_of(grid, row),
                "task": task_of(grid, row),
                "numbers": row.cells.get("numbers a cell"),
            }
            for run in results.runs(row.name):
                run_of = {"protocol": run.protocol, "data_seed": run.data_seed}
                lines += [{**known, **run_of, **_network(network)} for network in run.networks]
    found = pd.DataFrame(lines)
    if lines:
        order = dict.fromkeys(family for family in families if family is not None)
        found["family"] = pd.Categorical(found.family, list(order))
    return found


def _network(network: Network) -> dict[str, Any]:
    """Return what came of a network: ``good`` where no word is known that contradicts its automaton."""
    found = network.extraction or {}
    status = found.get("status", 3)
    read = status != 3
    return {
        "seed": network.seed,
        "scores": network.scores,
        "test": network.scores.get("test"),
        "learned": network.converged,
        "read": read,
        "proved": read and _verdict(found, "proof", "equal"),
        "good": status == 0,
        "certified": read and _verdict(found, "certificate", "certified"),
    }


def _verdict(found: dict[str, Any], part: str, expected: str) -> bool:
    return (found.get(part) or {}).get("verdict") == expected


def runs(measured: Measured) -> pd.DataFrame:
    """Return a line for each run of a row: how many networks, hours of processor time, the processor."""
    return pd.DataFrame(
        {
            "networks": len(run.networks),
            "processor": run.processor,
            **{part: run.seconds.get(f"{part}, CPU", 0.0) / 3600 for part in ("training", "extraction")},
        }
        for _, results in measured
        for run in results.rows
    )
