"""What came of all networks with a memory that learned their task, counted by family of networks over all tables."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network
from stacklens.papers.grid_tables import TextTable

__all__ = ["families_table", "family_of", "task_of"]

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

_COLUMNS = (
    "family",
    "converged",
    "automaton",
    "proved equal to the task",
    "nothing contradicts it",
    "certified",
    "the rounded network leaves it",
    "search out of time",
)
_NOTE = (
    "converged: the network itself, not rounded, is right on 99 % of its test; an automaton may come with a word that "
    "contradicts it; the rounded network leaves it: the median length of the shortest words known, and of how many"
)


def family_of(grid: Grid, row: GridRow) -> str | None:
    """Return the family that the networks of ``row`` belong to, None where they have no memory beside their state.

    >>> from stacklens.papers.suzgun2019 import grids
    >>> table = grids()["suzgun2019-table3"]()
    >>> [family_of(table, row) for row in table.rows if row.name.startswith("Baby")][:1]
    ['Suzgun et al. 2019: Baby-NTM']
    """
    if not row.stacks:
        return None
    if grid.name.startswith("hao"):
        name = f"{'buffered ' if row.cells['buffered'] == 'yes' else ''}Neural Stack, {row.cells['controller']}"
    else:
        name = row.name.split(",")[0].split("+Softmax")[0].split("+Gumbel")[0]
    return f"{grid.paper}: {name}"


def task_of(grid: Grid, row: GridRow) -> str:
    """Return what the networks of ``row`` learn, by one name over all tables; that of the grid where none is known.

    >>> from stacklens.papers.hao2018 import grids
    >>> table = grids()["hao2018-table1"]()
    >>> task_of(table, table.rows[0])
    'reversal'
    """
    if row.name.endswith(", addition"):
        return "binary addition"
    named = row.cells.get("task") or row.cells.get("pattern")
    return _TASKS.get(grid.name, grid.name) if named is None else named.lower()


def families_table(measured: Iterable[tuple[Grid, GridResults]]) -> TextTable:
    """Return a line for each family, in the order of the tables, and one for all."""
    families: dict[str, list[Network]] = {}
    for grid, results in measured:
        for row in grid.rows:
            family = family_of(grid, row)
            if family is not None:
                own = [one for run in results.runs(row.name) for one in run.networks if one.converged]
                families.setdefault(family, []).extend(own)
    lines = [(family, *_counts(networks)) for family, networks in families.items() if networks]
    everything = [network for networks in families.values() for network in networks]
    return TextTable("By family", _COLUMNS, (*lines, ("all", *_counts(everything))), _NOTE)


def _counts(networks: Sequence[Network]) -> tuple[str, ...]:
    found = [network.extraction for network in networks if network.extraction is not None]
    read = [one for one in found if one["status"] != 3]
    good = [one for one in read if one["status"] == 0]
    return (
        str(len(networks)),
        _share(len(read), len(networks)),
        _share(sum(_verdict(one, "proof") == "equal" for one in read), len(networks)),
        _share(len(good), len(networks)),
        _share(sum(_verdict(one, "certificate") == "certified" for one in read), len(networks)),
        _leaves(read),
        str(sum(bool((one.get("budget") or {}).get("ran_out")) for one in found)),
    )


def _share(number: int, of: int) -> str:
    return f"{number} ({number / of:.0%})" if of else "–"


def _verdict(extraction: dict[str, Any], kind: str) -> str | None:
    entry = extraction.get(kind)
    return None if entry is None else str(entry["verdict"])


def _leaves(read: Sequence[dict[str, Any]]) -> str:
    """Return the median length of the shortest words known on which rounded networks part, and of how many."""
    horizons = [one["horizon"]["rounded network"] for one in read if one.get("horizon")]
    lengths = [one["shortest_difference"]["length"] for one in horizons if one["shortest_difference"] is not None]
    if not horizons:
        return "–"
    return f"{f'{statistics.median(lengths):g}: ' if lengths else ''}{len(lengths)} of {len(horizons)}"
