"""Networks that learned their task, row by row: what every share in the findings is a share of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklens.papers.families import family_of, task_of
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, Network
from stacklens.papers.intervals import counted_in_rows

__all__ = [
    "LearnedRow",
    "is_equal",
    "is_good",
    "is_read",
    "learned_rows",
    "parts_from",
    "ran_out",
    "share",
    "verdict",
]


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
