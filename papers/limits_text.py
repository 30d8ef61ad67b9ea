"""Success against limits, as figures of the findings' text: processor time, stacks; interchange accuracy beside it."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stacklens.errors import FileFormatError
from stacklens.papers.families import family_of
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, Network, RowResult
from stacklens.papers.grid_tables import TextTable
from stacklens.papers.intervals import counted

__all__ = ["interchange_figures", "limit_figures", "processor_seconds"]

_LIMITS = (5, 10, 20, 40, 60, 120, 240, 480)  # seconds
_UNTOLD = "–"
_WAYS = {"learn": "its behaviour", "kmeans": "clusters of hidden vectors"}


def limit_figures(measured: Sequence[tuple[Grid, GridResults]]) -> dict[str, str]:
    """Return what was read within which limits, of networks that learned their task and were tried."""
    from stacklens.papers.findings import markdown_table

    tried = [
        (network, seconds)
        for grid, results in measured
        for row in grid.rows
        if family_of(grid, row) is not None
        for run in results.runs(row.name)
        for network, seconds in zip(run.networks, processor_seconds(run), strict=True)
        if network.converged and network.extraction is not None
    ]
    return {
        "limits tried": str(len(tried)),
        "budgets": _budgets([network for network, _ in tried]),
        "time table": markdown_table(_times(tried)),
        "stacks table": markdown_table(_stacks([network for network, _ in tried])),
    }


def _budgets(networks: Sequence[Network]) -> str:
    """Return how many networks had which budget, from the largest; results older than budgets do not tell."""
    told = [((one.extraction or {}).get("budget") or {}).get("seconds") for one in networks]
    known = sorted({seconds for seconds in told if seconds is not None}, reverse=True)
    parts = [f"{seconds:g} s for {told.count(seconds)}" for seconds in known]
    return ", ".join([*parts, f"not told for {told.count(None)}"] if None in told else parts) or "none"


def processor_seconds(run: RowResult) -> list[float | None]:
    """Return the seconds of processor time that the extraction of each network took, None where none was tried.

    Each has its clock; the processor's time is kept for the run as a whole, and shared out by these clocks.
    """
    clocks = [None if one.extraction is None else float(one.extraction["seconds"]) for one in run.networks]
    whole = sum(clock for clock in clocks if clock is not None)
    rate = min(1.0, run.seconds.get("extraction, CPU", whole) / whole) if whole else 1.0
    return [None if clock is None else rate * clock for clock in clocks]


def _times(tried: Sequence[tuple[Network, float | None]]) -> TextTable:
    rows = []
    for limit in _LIMITS:
        within = [network for network, seconds in tried if seconds is not None and seconds <= limit]
        rows.append((f"{limit}", *map(_share, _counts(within), [len(tried)] * 3)))
    rows.append(("no limit", *map(_share, _counts([network for network, _ in tried]), [len(tried)] * 3)))
    columns = ("seconds", "an automaton is read", "proved equal to the task", "nothing contradicts it")
    note = "of a whole extraction, the search and all checks; its search has a budget of its own"
    return TextTable("Read within so many seconds of processor time", columns, tuple(rows), note)


def _share(number: int, of: int) -> str:
    return f"{number} ({100 * number / of:.0f} %)" if of else "0 of 0"


def _counts(networks: Sequence[Network]) -> tuple[int, int, int]:
    """Return how many were read, how many of these proved, and how many that nothing contradicts."""
    found = [one.extraction for one in networks if one.extraction is not None]
    read = [one for one in found if one["status"] != 3]
    proved = sum((one.get("proof") or {}).get("verdict") == "equal" for one in read)
    return len(read), proved, sum(one["status"] == 0 for one in read)


def _stacks(networks: Sequence[Network]) -> TextTable:
    """Return a line for each number of stacks that a network has, and of those that matter to what it says."""
    groups: dict[tuple[str, str], list[Network]] = {}
    for network in networks:
        groups.setdefault(_number_of_stacks(network.extraction or {}), []).append(network)
    rows = []
    for group, own in sorted(groups.items(), key=lambda item: list(map(_order, item[0]))):
        shares = (counted(number, len(own)) for number in _counts(own))
        rows.append((*group, str(len(own)), *shares, str(sum(_ran_out(one.extraction or {}) for one in own))))
    columns = ("stacks", "that matter", "networks", "an automaton is read", "proved", "nothing contradicts it")
    note = (
        "stacks that matter: those without which the rounded network says something else; –: the network was not asked"
    )
    return TextTable("By the number of stacks", (*columns, "search out of time"), tuple(rows), note)


def _number_of_stacks(extraction: dict[str, Any]) -> tuple[str, str]:
    stacks = extraction.get("stacks")
    if not stacks or not (stacks["kept"] or stacks["dropped"]):
        return _UNTOLD, _UNTOLD
    return str(len(stacks["kept"]) + len(stacks["dropped"])), str(len(stacks["kept"]))


def _order(name: str) -> float:
    return math.inf if name == _UNTOLD else float(name)


def _ran_out(extraction: dict[str, Any]) -> bool:
    return bool((extraction.get("budget") or {}).get("ran_out"))


def interchange_figures(file: Path | None) -> dict[str, str]:
    """Return what `docs/interchanges.py` kept in ``file``: "not measured" where there is none.

    Raises:
        FileFormatError: the file holds something else.
    """
    from stacklens.papers.findings import markdown_table

    if file is None or not file.is_file():
        return {"interchange table": "(Not measured.)", "interchange networks": "0"}
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for one in kept:
            for which in ("minimised", "raw"):
                if (one.get(which) or {}).get("states"):
                    groups.setdefault((_WAYS.get(one["way"], one["way"]), which), []).append(
                        {**one, "told": one[which]}
                    )
        rows = [(*group, *_interchanged(own)) for group, own in sorted(groups.items())]
        names = {one["name"] for own in groups.values() for one in own}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{file}: no interchanges: {error!r}; write it with docs/interchanges.py") from None
    columns = ("read from", "automaton", "networks", "proved equal", "states", "random", "symbols", "random")
    note = "accuracy: the median, in brackets the least, and of how many networks; random: with labels permuted"
    table = TextTable("Is the automaton what the network computes with?", columns, tuple(rows), note)
    return {"interchange table": markdown_table(table), "interchange networks": str(len(names))}


def _interchanged(own: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    proved = sum(one.get("proof") == "equal" for one in own)
    parts = [[one["told"][part] for one in own] for part in ("states", "symbols")]
    cells = [_spread([one[key] for one in part], key) for part in parts for key in ("accuracy", "baseline")]
    return str(len(own)), str(proved), *cells


def _spread(values: Sequence[float | None], key: str) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return _UNTOLD
    least = f" ({min(known):.2f}), of {len(known)}" if key == "accuracy" else ""
    return f"{statistics.median(known):.2f}{least}"
