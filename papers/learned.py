"""Networks that learned their task, row by row, by family and task: what the findings' shares are shares of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network
from stacklens.papers.intervals import counted_in_rows

__all__ = [
    "BRACKETS",
    "LearnedRow",
    "family_of",
    "is_equal",
    "is_good",
    "is_read",
    "learned_rows",
    "parts_from",
    "ran_out",
    "share",
    "task_of",
    "verdict",
]


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


@dataclass(frozen=True)
class LearnedRow:
    """The networks of one row, of all its runs, that learned the row's task; they share their words.

    Attributes:
        family: of networks, over all tables.
        task: what they learned, by one name over all tables.
        networks: those that converged, none where none did.
    """

    family: str
    task: str
    networks: tuple[Network, ...]


def learned_rows(measured: Iterable[tuple[Grid, GridResults]]) -> list[LearnedRow]:
    """Return a `LearnedRow` for each row of networks with a memory, in the order of the tables."""
    return [
        LearnedRow(
            family,
            task_of(grid, row),
            tuple(one for run in results.runs(row.name) for one in run.networks if one.converged),
        )
        for grid, results in measured
        for row in grid.rows
        if (family := family_of(grid, row)) is not None
    ]


def share(rows: Sequence[LearnedRow], has: Callable[[Network], bool], of: Callable[[Network], bool] = bool) -> str:
    """Return how many of the networks of ``rows`` have something, of those that ``of`` is true of, with an interval."""
    asked = [[one for one in row.networks if of(one)] for row in rows]
    return counted_in_rows((sum(map(has, networks)), len(networks)) for networks in asked)


def is_read(network: Network) -> bool:
    """Return whether an automaton was read out of it."""
    return network.extraction is not None and network.extraction["status"] != 3


def is_equal(network: Network) -> bool:
    """Return whether the automaton that was read is proved equal to the task."""
    return is_read(network) and verdict(network, "proof") == "equal"


def is_good(network: Network) -> bool:
    """Return whether no word contradicts the automaton that was read, as the task or the rounded network has it."""
    return network.extraction is not None and network.extraction["status"] == 0


def ran_out(network: Network) -> bool:
    """Return whether the search had spent its budget when it ended, with an automaton or without one."""
    return bool(((network.extraction or {}).get("budget") or {}).get("ran_out"))


def verdict(network: Network, kind: str) -> str | None:
    """Return what the "proof" or the "certificate" says, None where there is none."""
    entry = (network.extraction or {}).get(kind)
    return None if entry is None else entry.get("verdict")


def parts_from(network: Network, other: str) -> int | None:
    """Return the length of the shortest word known on which the automaton and ``other`` part; 0 where none is known.

    ``other`` is "network" or "rounded network". None where no horizon was measured.
    """
    horizon: dict[str, Any] | None = ((network.extraction or {}).get("horizon") or {}).get(other)
    if horizon is None:
        return None
    first = horizon["shortest_difference"]
    return 0 if first is None else int(first["length"])
