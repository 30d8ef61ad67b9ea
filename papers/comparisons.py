"""Where our means differ from a paper's: a table with a test for each row, alone and with all rows allowed for."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable
from stacklens.papers.intervals import two_means

__all__ = ["Comparison", "comparisons", "comparisons_table", "holm"]

_THEIRS = 10  # networks a row, in the paper
_NOISE = 1.959964  # z beyond which 5 % of the comparisons lie where nothing differs
_NOTE = (
    "means of the test score in percent; z: of the difference, for scores that are all or nothing, the largest "
    "variance there can be; p, all allowed for: as Holm has it for so many comparisons. Rows with |z| below 1.96 are "
    "not listed: five networks against ten do not tell means apart that lie fifty points from each other"
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
        """Return whether the difference would be larger than noise if it were the only one that is looked at."""
        return abs(self.z) > _NOISE

    @property
    def p(self) -> float:
        """Return the two-sided p that belongs to z."""
        return math.erfc(abs(self.z) / math.sqrt(2))


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


def holm(found: Sequence[Comparison]) -> list[float]:
    """Return the p of each comparison with all of them allowed for (Holm 1979), in their order."""
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests([one.p for one in found], method="holm")[1]] if found else []


def comparisons_table(found: Sequence[Comparison]) -> TextTable:
    """Return the rows that differ, each taken by itself, the largest difference first."""
    allowed = zip(found, holm(found), strict=True)
    rows = sorted(((one, p) for one, p in allowed if one.differs), key=lambda pair: -abs(pair[0].z))
    cells = tuple(
        (
            one.table,
            one.row,
            one.protocol,
            str(one.networks),
            f"{100 * one.ours:.1f}",
            f"{100 * one.theirs:.1f}",
            f"{one.z:+.1f}",
            f"{p:.2f}",
        )
        for one, p in rows
    )
    columns = ("table", "row", "protocol", "networks", "ours", "the paper", "z", "p, all allowed for")
    return TextTable("Rows whose mean differs, taken one by one", columns, cells, _NOTE)
