"""All results at once: a line each for the README, and every table for the findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from stacklens.papers.claims import Experiment
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, read_grid
from stacklens.papers.grid_tables import TextTable, summed_minutes
from stacklens.papers.results import read_results, result_path
from stacklens.papers.tables import claims_table, grid_markdown, markdown_table

__all__ = ["findings_section", "readme_section"]

Experiments = Mapping[str, Callable[[], Experiment | Grid]]
_COLUMNS = ("experiment", "what", "measured", "networks", "converged", "extracted", "proved", "certified", "minutes")


def readme_section(experiments: Experiments, folder: Path) -> str:
    """Return a table with a line for each experiment: how much was measured, what was extracted, how long it took.

    "extracted" counts automata that nothing contradicts, minutes are those of processor time.
    """
    rows = tuple(_line(build(), folder) for build in experiments.values())
    return markdown_table(TextTable("What `stacklens papers run` measured", _COLUMNS, rows))


def findings_section(experiments: Experiments, folder: Path) -> str:
    """Return every table."""
    return "\n\n".join(_tables(build(), folder) for build in experiments.values())


def _tables(experiment: Experiment | Grid, folder: Path) -> str:
    if isinstance(experiment, Grid):
        return grid_markdown(experiment, read_grid(experiment.name, folder) or _nothing(experiment))
    if result_path(experiment.name, folder).is_file():
        return markdown_table(claims_table(read_results(experiment.name, folder)))
    title = f"{experiment.paper}: {experiment.title}"
    return f"**{title}**\n\n(not run: stacklens papers run {experiment.name})"


def _nothing(grid: Grid) -> GridResults:
    return GridResults(grid.paper, grid.name, grid.title)


def _line(experiment: Experiment | Grid, folder: Path) -> tuple[str, ...]:
    what = (f"`{experiment.name}`", f"{experiment.paper}: {experiment.title}")
    if isinstance(experiment, Grid):
        return (*what, *_grid_cells(experiment, read_grid(experiment.name, folder) or _nothing(experiment)))
    if not result_path(experiment.name, folder).is_file():
        return (*what, "not run", *("–",) * 6)
    results = read_results(experiment.name, folder)
    return (*what, f"{len(results.claims)} claims", *("–",) * 5, f"{results.seconds / 60:.1f}")


def _grid_cells(grid: Grid, results: GridResults) -> tuple[str, ...]:
    if not results.rows:
        return ("not run", *("–",) * 6)
    networks = [network for row in results.rows for network in row.networks]
    found = [network.extraction for network in networks if network.extraction is not None]
    good = [one for one in found if one["status"] == 0]
    return (
        f"{len(results.rows)} of {len(grid.rows)} rows",
        str(len(networks)),
        str(sum(network.converged for network in networks)),
        str(len(good)),
        str(sum(one["proof"]["verdict"] == "equal" for one in good)),
        str(sum(one["certificate"]["verdict"] == "certified" for one in good)),
        f"{summed_minutes(results.rows):.1f}",
    )
