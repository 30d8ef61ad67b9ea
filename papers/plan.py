"""What a run has before it: which rows are left, and how long they took before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stacklens.papers.grid import Grid, RunSettings
from stacklens.papers.grid_results import GridResults, RowResult, read_grid
from stacklens.papers.results import FOLDER
from stacklens.papers.runner import left_to_do

__all__ = ["Plan", "plan_of", "summed_plans"]


@dataclass(frozen=True)
class Plan:
    """How much is left to do.

    Attributes:
        networks: how many are to be trained.
        rows: of which rows.
        seconds: of processor time that rows like these took, one network like another.
        unknown: rows of which no such run is known.
    """

    networks: int
    rows: int
    seconds: float
    unknown: int

    def __str__(self) -> str:
        """Return the plan in a line.

        >>> print(Plan(20, 3, 4000.0, 1))
        3 rows, 20 networks: about 1 h 07 min of processor time, and 1 row of which nothing is known
        """
        if not self.rows:
            return "nothing is left to do"
        minutes = round(self.seconds / 60)
        told = f"about {minutes // 60} h {minutes % 60:02} min of processor time"
        rows = "1 row" if self.unknown == 1 else f"{self.unknown} rows"
        missing = f", and {rows} of which nothing is known" if self.unknown else ""
        return f"{'1 row' if self.rows == 1 else f'{self.rows} rows'}, {self.networks} networks: {told}{missing}"


def plan_of(grid: Grid, settings: RunSettings, folder: Path, rows: Sequence[str] = (), *, fresh: bool = False) -> Plan:
    """Return what `runner.run_grid` would have to do with the same arguments; it reads results and runs nothing.

    What rows took comes from the results in ``folder`` or else from those that come with stacklens, by the same
    protocol and on whatever words. Networks that are trained side by side take less time each than few.

    Raises:
        UnknownNameError: there is no such row.
        FileFormatError: the file that is there holds no results of a grid.
    """
    nothing = GridResults(grid.paper, grid.name, grid.title)
    here, shipped = (read_grid(grid.name, place) or nothing for place in (folder, FOLDER))
    left = left_to_do(grid, settings, here, rows, fresh)
    taken = [_seconds_each((*here.runs(row.name), *shipped.runs(row.name)), settings) for row in left]
    known = [each for each in taken if each is not None]
    nets = len(settings.seeds)
    return Plan(nets * len(left), len(left), nets * sum(known), len(left) - len(known))


def _seconds_each(runs: Iterable[RowResult], settings: RunSettings) -> float | None:
    """Return how many seconds of processor time a network took in the first of ``runs`` by the same protocol."""
    for run in runs:
        if (run.protocol, run.scale) == (settings.protocol, settings.scale):
            return sum(seconds for name, seconds in run.seconds.items() if name.endswith("CPU")) / len(run.networks)
    return None


def summed_plans(plans: Iterable[Plan]) -> Plan:
    """Return all of them as one."""
    each = list(plans)
    return Plan(*(sum(getattr(plan, name) for plan in each) for name in ("networks", "rows", "seconds", "unknown")))
