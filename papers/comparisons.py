"""Where our means differ from a paper's: a table with a test for each row, alone and with all rows allowed for."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stacklens.papers.grid import CONVERGED, Grid, statistic
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable
from stacklens.papers.intervals import two_means

__all__ = ["Comparison", "apart_by_count", "comparisons", "comparisons_table", "far_apart", "holm"]

_THEIRS = 10  # networks a row, in the paper
_SURE = 0.05
_FAR = 20  # points that one network may lie from one of the paper's before the text names it
_NOISE = 1.959964  # z beyond which 5 % of the comparisons lie where nothing differs
_NOTE = (
    "means of the test score in percent; z: of the difference, for scores that are all or nothing, the largest "
    "variance there can be; p, all allowed for: as Holm has it for so many comparisons. Rows with |z| below 1.96 are "
    "not listed: five networks against ten do not tell means apart that lie fifty points from each other"
)


@dataclass(frozen=True)
class Comparison:
    """One row by one protocol beside the paper: means in [0, 1] of ``networks`` of ours, and z of the difference.

    ``right`` of ours learned their task; ``their_right`` of the paper's ten, where its least or best score tells that.
    """

    table: str
    row: str
    protocol: str
    networks: int
    ours: float
    theirs: float
    z: float
    right: int = 0
    their_right: int | None = None

    @property
    def differs(self) -> bool:
        """Return whether the difference would be larger than noise if it were the only one that is looked at."""
        return abs(self.z) > _NOISE

    @property
    def p(self) -> float:
        """Return the two-sided p that belongs to z."""
        return math.erfc(abs(self.z) / math.sqrt(2))

    @property
    def p_of_counts(self) -> float:
        """Return the two-sided p of how many learned (Fisher's exact test), 1 where the paper's count is not known."""
        from scipy.stats import fisher_exact

        if self.their_right is None:
            return 1.0
        counts = [self.right, self.networks - self.right], [self.their_right, _THEIRS - self.their_right]
        return float(fisher_exact(counts)[1])


def comparisons(measured: Iterable[tuple[Grid, GridResults]]) -> list[Comparison]:
    """Return every row for which the paper prints the mean of its test, by every protocol that it was run by."""
    found = []
    for grid, results in measured:
        printed = [row.reported for row in grid.rows]
        for row in grid.rows:
            theirs = row.reported.get("test mean")
            runs = results.runs(row.name)
            known = None if printed.count(row.reported) > 1 else _all_or_none(row.reported)  # one of two is a slip
            for protocol in dict.fromkeys(run.protocol for run in runs) if theirs else ():
                scores = [one.scores["test"] for run in runs if run.protocol == protocol for one in run.networks]
                ours, mean, right = (
                    statistics.fmean(scores),
                    float(theirs or 0) / 100,
                    sum(s >= CONVERGED for s in scores),
                )
                z = two_means(ours, len(scores), mean, _THEIRS)
                found.append(Comparison(grid.name, row.name, protocol, len(scores), ours, mean, z, right, known))
    return found


def _all_or_none(reported: Mapping[str, str]) -> int | None:
    """Return how many of the paper's networks learned, where the least score or the best one says all or none."""
    least, best = (float(reported.get(f"test {name}", missing)) / 100 for name, missing in (("min", 0), ("max", 100)))
    return _THEIRS if least >= CONVERGED else 0 if best < CONVERGED else None


def apart_by_count(found: Sequence[Comparison]) -> dict[str, str]:
    """Return which rows differ in how many networks learned, of how many of which the paper's count is known."""
    known = [one for one in found if one.their_right is not None]
    said = [
        f"{one.row} of `{one.table}` by the protocol `{one.protocol}`, {one.right} of {one.networks} against "
        f"{one.their_right} of {_THEIRS} (p = {one.p_of_counts:.1g}, with all allowed for {p:.1g})"
        for one, p in zip(known, holm([one.p_of_counts for one in known]), strict=True)
        if one.p_of_counts < _SURE
    ]
    return {"counted rows": str(len(known)), "apart by count": "; ".join(said) or "none"}


def far_apart(measured: Iterable[tuple[Grid, GridResults]]) -> dict[str, str]:
    """Return which single networks, the chosen of their rows, lie far from the one that the paper prints."""
    said = []
    for grid, results in measured:
        for row in grid.rows:
            networks = [one.scores for run in results.runs(row.name) for one in run.networks]
            for score in grid.scores:
                ours, theirs = statistic("chosen", networks, score), row.reported.get(f"{score} chosen")
                if ours is not None and theirs is not None and abs(100 * ours - float(theirs)) > _FAR:
                    rounded = " with rounding" if score.endswith(" rounded") else ""
                    said.append(f"{row.name}{rounded} {100 * ours:.0f} against {float(theirs):.0f}")
    return {"far apart": "; ".join(said) or "none", "far points": str(_FAR)}


def holm(p: Sequence[float]) -> list[float]:
    """Return each of the probabilities ``p`` with all of them allowed for (Holm 1979), in their order."""
    from statsmodels.stats.multitest import multipletests

    return [float(one) for one in multipletests(p, method="holm")[1]] if p else []


def comparisons_table(found: Sequence[Comparison]) -> TextTable:
    """Return the rows that differ, each taken by itself, the largest difference first."""
    allowed = zip(found, holm([one.p for one in found]), strict=True)
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
