"""Where our means differ from a paper's by more than noise, and where they do not: a table with a test for each row."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable
from stacklens.papers.intervals import two_means

__all__ = ["Comparison", "comparisons", "comparisons_table"]

_THEIRS = 10  # networks a row, in the paper
_NOISE = 1.959964  # z beyond which 5 % of the comparisons lie where nothing differs
_NOTE = (
    "means of the test score in percent; z: of the difference, for scores that are all or nothing, the largest "
    "variance there can be; rows within noise, |z| below 1.96, are not listed. One in twenty lies beyond that by chance"
)


@dataclass(frozen=True)
class Comparison:
    """One row by one protocol beside the paper: means in [0, 1] of ``networks`` of ours, and z of the difference."""

    table: str
    row: str
    protocol: str
    networks: int
    ours: float
    theirs: float
    z: float

    @property
    def differs(self) -> bool:
        """Return whether the difference is larger than noise."""
        return abs(self.z) > _NOISE


def comparisons(measured: Iterable[tuple[Grid, GridResults]]) -> list[Comparison]:
    """Return every row for which the paper prints the mean of its test, by every protocol that it was run by."""
    found = []
    for grid, results in measured:
        for row in grid.rows:
            theirs = row.reported.get("test mean")
            runs = results.runs(row.name)
            for protocol in dict.fromkeys(run.protocol for run in runs) if theirs else ():
                scores = [one.scores["test"] for run in runs if run.protocol == protocol for one in run.networks]
                ours, printed = statistics.fmean(scores), float(theirs or 0) / 100
                z = two_means(ours, len(scores), printed, _THEIRS)
                found.append(Comparison(grid.name, row.name, protocol, len(scores), ours, printed, z))
    return found


def comparisons_table(found: Iterable[Comparison]) -> TextTable:
    """Return the rows that differ by more than noise, the largest difference first."""
    rows = sorted((one for one in found if one.differs), key=lambda one: -abs(one.z))
    cells = tuple(
        (
            one.table,
            one.row,
            one.protocol,
            str(one.networks),
            f"{100 * one.ours:.1f}",
            f"{100 * one.theirs:.1f}",
            f"{one.z:+.1f}",
        )
        for one in rows
    )
    columns = ("table", "row", "protocol", "networks", "ours", "the paper", "z")
    return TextTable("Rows that differ from the paper by more than noise", columns, cells, _NOTE)
