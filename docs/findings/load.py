"""What `stacklens papers run` measured as data frames: a line a network, and a line a run of a row.

`make findings` (`python -m docs.findings`) reads `papers/results` with these, counts in `tables.py` and
`long_words.py`, puts the figures into `docs/findings_text.md` with `text.py`, and draws with `figures.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult, read_grid
from stacklens.papers.results import FOLDER
from stacklens.papers.runner import EXPERIMENTS

Measured = Sequence[tuple[Grid, GridResults]]

BRACKETS = ("D2", "D3", "D6")  # tasks that are Dyck languages
# what is learned in a table, where its rows do not say so
_TASKS = {
    "joulin2015-fig2": "memorisation",
    "suzgun2019-table2": "D2",
    "suzgun2019-table3": "D3",
    "suzgun2019-table4": "D6",
    "suzgun2019-table5": "homomorphic palindromes",
    "suzgun2019-table6": "reversal",
    "suzgun2019-d6-one-number": "D6",
    "suzgun2019-simple-palindrome": "simple palindromes",
    "suzgun2019-simple-palindrome-search": "simple palindromes",
}
# why no automaton was read, by what the reason says; the first that fits
REASONS = {
    "out of time": ("no automaton was found in",),
    "no stack": ("is no stack", "are no stacks"),
    "not used as one": ("does not use its stack",),
}
NONE_FITS = "none fits"
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
                for network, seconds in zip(run.networks, processor_seconds(run), strict=True):
                    lines.append({**known, **run_of, **_network(network), "processor_seconds": seconds})
    found = pd.DataFrame(lines)
    if lines:
        order = dict.fromkeys(family for family in families if family is not None)
        found["family"] = pd.Categorical(found.family, list(order))
    return found


def _network(network: Network) -> dict[str, Any]:
    """Return what came of a network.

    ``leaves rounded`` and ``leaves soft`` are the length of the shortest word known on which the automaton and the
    (rounded) network part: 0 where none is known, NaN where no horizon was measured.
    """
    found, measures = network.extraction or {}, network.measures or {}
    status = found.get("status", 3)
    read = status != 3
    stacks, others = _stacks(found)
    return {
        "seed": network.seed,
        "scores": network.scores,
        "test": network.scores.get("test"),
        "learned": network.converged,
        "tried": network.extraction is not None,
        "read": read,
        "proved": read and _verdict(found, "proof", "equal"),
        "good": status == 0,  # no word is known that contradicts the automaton
        "certified": read and _verdict(found, "certificate", "certified"),
        "unrounded": read and str(found.get("caution")).startswith("read from the network as it is"),
        "leaves rounded": _leaves(found, "rounded network"),
        "leaves soft": _leaves(found, "network"),
        "why": why_not_read(network),
        "out of time": _ran_out(found),
        "budget": (found.get("budget") or {}).get("seconds"),
        "seconds": found.get("seconds"),
        "stacks": stacks,
        "others": others,
        "drift": (measures.get("predictors") or {}).get("drift by step"),
        "long": measures.get("long words"),
        "outcome": outcome_of(network),
        "margin": found.get("action_margin"),
    }


def _verdict(found: dict[str, Any], part: str, expected: str) -> bool:
    return (found.get(part) or {}).get("verdict") == expected


def _leaves(found: dict[str, Any], other: str) -> float:
    horizon = (found.get("horizon") or {}).get(other)
    if horizon is None:
        return np.nan
    return float((horizon["shortest_difference"] or {"length": 0})["length"])


def _ran_out(found: dict[str, Any]) -> bool:
    return bool((found.get("budget") or {}).get("ran_out"))


def why_not_read(network: Network) -> str:
    """Return why there is no automaton: "not tried", one of `REASONS`, `NONE_FITS`, or "" where there is one.

    >>> why_not_read(Network(0, {}, True, {"status": 3, "reason": "no automaton was found in 10 seconds"}))
    'out of time'
    """
    if network.extraction is None:
        return "not tried"
    if network.extraction["status"] != 3:
        return ""
    if _ran_out(network.extraction):
        return "out of time"
    reason = str(network.extraction.get("reason"))
    return next((name for name, parts in REASONS.items() if any(part in reason for part in parts)), NONE_FITS)


def _stacks(found: dict[str, Any]) -> tuple[str, str]:
    """Return how many stacks the automaton has, and whether the network uses others."""
    stacks = found.get("stacks")
    if not stacks or not (stacks["kept"] or stacks["dropped"]):
        return UNTOLD, UNTOLD
    push_only = stacks.get("push_only", ())
    return str(len(stacks["kept"]) - len(push_only)), "yes" if push_only or stacks.get("unseen") else "no"


def outcome_of(network: Network) -> str:
    """Return the best that can be said of a network, one of `figures.OUTCOMES`."""
    found = network.extraction
    if found is None:
        return "not converged"
    proved, certified = _verdict(found, "proof", "equal"), _verdict(found, "certificate", "certified")
    if found["status"] != 0:
        if found.get("automaton") is None:
            return "no automaton"
        return "proved, and the network leaves it" if proved else "extracted, contradicted"
    if certified:
        return "certified"
    return "extracted, proved" if proved else "extracted"


def processor_seconds(run: RowResult) -> list[float | None]:
    """Return the seconds of processor time that the extraction of each network took, None where none was tried.

    Older results have a clock for each and the processor's time for the run as a whole, which is shared out by these
    clocks.
    """
    tried = [one.extraction for one in run.networks]
    own = [None if one is None else one.get("processor_seconds") for one in tried]
    if all(one is None or seconds is not None for one, seconds in zip(tried, own, strict=True)):
        return own
    clocks = [None if one is None else float(one["seconds"]) for one in tried]
    whole = sum(clock for clock in clocks if clock is not None)
    rate = min(1.0, run.seconds.get("extraction, CPU", whole) / whole) if whole else 1.0
    return [None if clock is None else rate * clock for clock in clocks]


def runs(measured: Measured) -> pd.DataFrame:
    """Return a line for each run of a row: its data seed, how many networks, hours of processor time, the processor."""
    return pd.DataFrame(
        {
            "table": grid.name,
            "data_seed": run.data_seed,
            "networks": len(run.networks),
            "processor": run.processor,
            **{part: run.seconds.get(f"{part}, CPU", 0.0) / 3600 for part in ("training", "extraction")},
        }
        for grid, results in measured
        for run in results.rows
    )
