"""What `stacklens papers run` does once its options are read: which rows are run with what, and how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from stacklens.progress import progress_bar

if TYPE_CHECKING:
    from stacklens.papers.claims import Experiment
    from stacklens.papers.grid import Grid, RunSettings

__all__ = ["Order", "forecast_of", "refuse", "run_one", "show", "whole_experiments"]


@dataclass(frozen=True)
class Order:
    """What `stacklens papers run` was asked for, besides which experiment: its options by their names."""

    seeds: int | None
    first_seed: int
    data_seed: int
    protocol: Any
    epochs: int | None
    device: str
    texts: dict[str, Path | None]
    rows: list[str]
    fresh: bool
    jobs: int
    networks: Path | None
    quiet: bool


def run_one(name: str, order: Order, folder: Path) -> None:
    """Run the experiment called ``name`` as ordered, write its results into ``folder`` and show them.

    Raises:
        StacklensError: there is no such experiment, or something was ordered that it does not have.
    """
    from stacklens.files import check_folder
    from stacklens.papers.experiments import EXPERIMENTS, check_name
    from stacklens.papers.grid import Grid
    from stacklens.papers.results import result_path

    experiment = EXPERIMENTS[check_name(name)]()
    path = result_path(name, folder)
    check_folder(path)
    if isinstance(experiment, Grid):
        experiment = _with_texts(experiment, order.texts)
        _run_grid(experiment, _settings(experiment, order), path.parent, order)
    else:
        chosen: dict[str, Any] = {
            "--seeds": order.seeds,
            "--rows": order.rows,
            "--fresh": order.fresh,
            "--first-seed": order.first_seed,
            "--data-seed": order.data_seed,
            "--jobs": order.jobs > 1,
            "--networks": order.networks,
            "--protocol": order.protocol != "fast",
            "--device": order.device != "cpu",
            "--epochs": order.epochs,
            **order.texts,
        }
        refuse(name, "has claims and no rows of networks", chosen)
        _run_claims(experiment, path.parent, order.quiet)
    if not order.quiet:
        show(experiment, path.parent)
        typer.echo(f"wrote {path}")


def whole_experiments(order: Order) -> list[str]:
    """Return the experiments that ``--all`` runs: grids that need no text and have the protocol and the data seed.

    Claims are measured in one piece and by no protocol: they are run one by one.
    """
    from stacklens.papers.experiments import EXPERIMENTS
    from stacklens.papers.grid import Grid, RunSettings

    grids = [one for build in EXPERIMENTS.values() if isinstance(one := build(), Grid) and one.with_texts is None]
    protocol = RunSettings((0,), order.protocol).protocol  # a name that there is
    fitting = [grid for grid in grids if protocol in grid.protocols]
    return [grid.name for grid in fitting if grid.data_seeds or not order.data_seed]


def forecast_of(names: list[str], order: Order, folder: Path) -> str:
    """Return a line for each grid that has rows left, and one for all of them where there are several."""
    from stacklens.errors import StacklensError
    from stacklens.papers.experiments import EXPERIMENTS, check_name
    from stacklens.papers.grid import Grid
    from stacklens.papers.plan import plan_of, summed_plans

    plans = {}
    for name in names:
        grid = EXPERIMENTS[check_name(name)]()
        if not isinstance(grid, Grid):
            raise StacklensError(f"{name} has claims and no rows of networks: there is no forecast of it")
        grid = _with_texts(grid, order.texts)
        plans[name] = plan_of(grid, _settings(grid, order), folder, order.rows, fresh=order.fresh)
    lines = [f"{name}: {plan}" for name, plan in plans.items()]
    return "\n".join([*lines, f"all: {summed_plans(plans.values())}"] if len(lines) > 1 else lines)


def _with_texts(grid: Grid, texts: dict[str, Path | None]) -> Grid:
    """Return the grid for the user's texts, where it needs such; the grid itself where it does not."""
    from stacklens.errors import StacklensError

    if grid.with_texts is None:
        refuse(grid.name, "needs no text", texts)
        return grid
    files = {option: path for option, path in texts.items() if path is not None}
    if files and list(files) not in (["--text"], ["--train", "--valid", "--test"]):
        raise StacklensError(f"{grid.name} needs --text alone, or all of --train, --valid, --test")
    return grid.with_texts(*files.values())


def _settings(grid: Grid, order: Order) -> RunSettings:
    import hashlib

    from stacklens.files import LARGEST_CORPUS, read_whole
    from stacklens.papers.grid import RunSettings

    told = []
    for path in filter(None, order.texts.values()):
        content = read_whole(path, "a text, a sentence a line", LARGEST_CORPUS)
        told.append(f"{path.name} {hashlib.sha256(content).hexdigest()[:12]}")
    seeds = tuple(range(order.first_seed, order.first_seed + (order.seeds or grid.seeds)))
    told_texts = ", ".join(told)
    return RunSettings(
        seeds, order.protocol, order.device, texts=told_texts, data_seed=order.data_seed, epochs=order.epochs
    )


def refuse(name: str, why: str, options: dict[str, Any]) -> None:
    """Check that none of ``options`` was given."""
    from stacklens.errors import StacklensError

    if given := [option for option, value in options.items() if value]:
        raise StacklensError(f"{name} {why}: leave out {', '.join(given)}")


def _run_grid(grid: Grid, settings: RunSettings, folder: Path, order: Order) -> None:
    from stacklens.papers.runner import run_grid

    chosen = grid.chosen_rows(order.rows)
    with progress_bar(order.quiet) as bar:
        task = bar.add_task(f"{grid.name}", total=len(chosen))

        def told(row: str, done: int) -> None:
            bar.update(task, completed=done, description=row)

        run_grid(
            grid,
            settings,
            folder,
            rows=order.rows,
            fresh=order.fresh,
            jobs=order.jobs,
            networks=order.networks,
            progress=told,
        )
        bar.update(task, completed=len(chosen), description="done")


def _run_claims(experiment: Experiment, folder: Path, quiet: bool) -> None:
    from stacklens.papers.claims_runner import run_into

    with progress_bar(quiet) as bar:
        task = bar.add_task("", total=len(experiment.claims), completed=-1)
        run_into(experiment, folder, lambda claim: bar.update(task, advance=1, description=claim))
        bar.update(task, completed=len(experiment.claims), description="done")


def show(experiment: Experiment | Grid, folder: Path) -> None:
    """Print the tables of an experiment's results in ``folder``, ours beside theirs."""
    from rich.console import Console

    from stacklens.papers.findings import claims_table, rich_table
    from stacklens.papers.grid import Grid
    from stacklens.papers.grid_results import GridResults, read_grid
    from stacklens.papers.grid_tables import folded_tables
    from stacklens.papers.results import read_results
    from stacklens.papers.sun1993_steps import figure_tables, steps_beside

    if isinstance(experiment, Grid):
        nothing = GridResults(experiment.paper, experiment.name, experiment.title)
        tables = folded_tables(experiment, read_grid(experiment.name, folder) or nothing)
    else:
        found = read_results(experiment.name, folder)
        tables = [claims_table(found), *figure_tables(found)]
        tables += [steps_beside(found)] if experiment.name == "sun1993-claims" else []
    for shown in tables:
        Console(highlight=False).print(rich_table(shown))
