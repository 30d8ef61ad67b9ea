"""Success against limits of processor time, and by the number of stacks: figures of the findings' text."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from stacklens.papers.family_tables import why_not_read
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, Network, RowResult
from stacklens.papers.grid_tables import TextTable, markdown_table
from stacklens.papers.learned import family_of, is_equal, is_good, is_read, ran_out

__all__ = ["limit_figures", "processor_seconds"]

_LIMITS = (5, 10, 20, 40, 60, 120, 240, 480)  # seconds
_UNTOLD = "–"


def limit_figures(measured: Sequence[tuple[Grid, GridResults]]) -> dict[str, str]:
    """Return what was read within which limits, of networks that learned their task and were tried."""
    every = [
        (network, seconds)
        for grid, results in measured
        for row in grid.rows
        if family_of(grid, row) is not None
        for run in results.runs(row.name)
        for network, seconds in zip(run.networks, processor_seconds(run), strict=True)
        if network.converged and network.extraction is not None
    ]
    tried = [network for network, _ in every]
    return {
        "limits tried": str(len(tried)),
        "budgets": _budgets(tried),
        **_taken(tried),
        "time table": markdown_table(_times(every)),
        "stacks table": markdown_table(_stacks(tried)),
    }


def _taken(tried: Sequence[Network]) -> dict[str, str]:
    """Return how long extractions took, how many ran out of time, and what came of networks with several stacks."""
    read = [one for one in tried if is_read(one)]
    seconds = sorted(float((one.extraction or {})["seconds"]) for one in read)
    many = [one for one in read if _stacks_of(one)[0] not in (_UNTOLD, "0", "1")]
    return {
        "out of time": f"{sum(why_not_read(one) == 'out of time' for one in tried)} of {len(tried)}",
        "out of time and read": str(sum(is_read(one) and ran_out(one) for one in tried)),
        "median seconds": f"{statistics.median(seconds):.0f}" if seconds else _UNTOLD,
        "ninety percent seconds": f"{seconds[int(0.9 * (len(seconds) - 1))]:.0f}" if seconds else _UNTOLD,
        "several stacks": str(len(many)),
        "several stacks proved": f"{sum(map(is_equal, many))} of {len(many)}",
        "several stacks at most": max((_stacks_of(one)[0] for one in many), default=_UNTOLD),
    }


def _budgets(networks: Sequence[Network]) -> str:
    """Return how many networks had which budget, from the largest; results older than budgets do not tell."""
    told = [((one.extraction or {}).get("budget") or {}).get("seconds") for one in networks]
    known = sorted({seconds for seconds in told if seconds is not None}, reverse=True)
    parts = [f"{seconds:g} s for {told.count(seconds)}" for seconds in known]
    return ", ".join([*parts, f"not told for {told.count(None)}"] if None in told else parts) or "none"


def processor_seconds(run: RowResult) -> list[float | None]:
    """Return the seconds of processor time that the extraction of each network took, None where none was tried.

    Older results have a clock for each and the processor's time for the run as a whole, which is shared out by these
    clocks.
    """
    own = [None if one.extraction is None else one.extraction.get("processor_seconds") for one in run.networks]
    if all(one.extraction is None or seconds is not None for one, seconds in zip(run.networks, own, strict=True)):
        return own
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
    return sum(map(is_read, networks)), sum(map(is_equal, networks)), sum(map(is_good, networks))


def _stacks(networks: Sequence[Network]) -> TextTable:
    """Return a line for each number of stacks that an automaton has, apart where the network uses others besides."""
    groups: dict[tuple[str, str], list[Network]] = {}
    for network in networks:
        groups.setdefault(_stacks_of(network), []).append(network)
    rows = []
    for group, own in sorted(groups.items()):
        shares = (_share(number, len(own)) for number in _counts(own))
        rows.append((*group, str(len(own)), *shares, str(sum(map(ran_out, own)))))
    columns = ("stacks", "others used", "networks", "an automaton is read", "proved", "nothing contradicts it")
    note = (
        "stacks: those of the automaton, where none is read those that matter to what the rounded network says; others "
        "used: by the network, which only ever push or which the automaton does without; –: the network was not asked"
    )
    return TextTable("By the number of stacks", (*columns, "search out of time"), tuple(rows), note)


def _stacks_of(network: Network) -> tuple[str, str]:
    """Return how many stacks the automaton has, and whether the network uses others."""
    stacks = (network.extraction or {}).get("stacks")
    if not stacks or not (stacks["kept"] or stacks["dropped"]):
        return _UNTOLD, _UNTOLD
    others = [*stacks.get("push_only", ()), *stacks.get("unseen", ())]
    return str(len(stacks["kept"]) - len(stacks.get("push_only", ()))), "yes" if others else "no"
