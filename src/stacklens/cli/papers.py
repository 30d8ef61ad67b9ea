"""`stacklens papers`: measure what the papers reported, and show ours beside theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stacklens.cli.papers_run import Order, forecast_of, refuse, run_one, show, whole_experiments
from stacklens.cli.shell import MOST_JOBS, new_app
from stacklens.seeds import LARGEST_SEED

if TYPE_CHECKING:
    from stacklens.papers.claims import Experiment
    from stacklens.papers.grid import Grid

__all__ = ["papers_app"]

_MOST = 10_000  # networks a row
_LARGEST = LARGEST_SEED - _MOST  # first seed, of so many

papers_app = new_app("Measure what the papers reported; show ours beside theirs.")

_Name = Annotated[str, typer.Argument(metavar="ID", help="An experiment; `stacklens papers list` shows them.")]
_Folder = Annotated[
    Path | None, typer.Option("--results", help="Folder of the results (default: the one that comes with stacklens).")
]

_Text = Annotated[Path | None, typer.Option(help="Part of the text that joulin2015-table4 needs: a sentence a line.")]
_Whole = Annotated[
    Path | None, typer.Option(help="Or a whole text, a verse or sentence a line, which is split 80/10/10.")
]


@papers_app.command("list")
def list_experiments(results: _Folder = None) -> None:
    """List the experiments, and how much of them has been measured."""
    from rich.console import Console
    from rich.table import Column, Table

    from stacklens.papers.experiments import EXPERIMENTS

    table = Table(Column("id", no_wrap=True), "paper", "what", "has", "measured")
    for name, build in EXPERIMENTS.items():
        experiment = build()
        table.add_row(name, experiment.paper, experiment.title, *_extent(experiment, _folder(results)))
    Console(highlight=False, soft_wrap=True).print(table)


@papers_app.command("run")
def run(
    name: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="An experiment; `stacklens papers list` shows them.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All experiments that need no text of yours.")] = False,
    results: _Folder = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=_MOST, help="Networks a row (default: as in the paper).")
    ] = None,
    first_seed: Annotated[int, typer.Option(min=0, max=_LARGEST, help="The first of them.")] = 0,
    data_seed: Annotated[
        int, typer.Option(min=0, max=_LARGEST, help="Draw the training words anew; those of the test stay the same.")
    ] = 0,
    protocol: Annotated[str, typer.Option(help="fast, or paper: as the paper did it, to the letter.")] = "fast",
    rows: Annotated[
        list[str] | None, typer.Option(help="Only this row; may be repeated (a wrong name lists all).")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="At most so many, with --protocol paper, which may take hours.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where to train: cpu, cuda, cuda:1, …")] = "cpu",
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="Processes, a row each.")] = 1,
    networks: Annotated[
        Path | None, typer.Option(help="Folder that keeps the networks; what is in it is not trained again.")
    ] = None,
    train: _Text = None,
    valid: _Text = None,
    test: _Text = None,
    text: _Whole = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what was run before.")] = False,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Only say what is left to do, and for how long.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no table.")] = False,
) -> None:
    """Measure an experiment and write its results; rows of networks that were measured before are kept.

    A run that is stopped goes on with the rows that are left when it is begun again; with --networks, trainings one
    symbol at a time go on with the epoch that was left. Claims go on with the first that is left: those that are done
    stand in ID.part.json until all are.
    """
    from stacklens.errors import StacklensError

    if everything is (name is not None):
        raise StacklensError("give the name of an experiment, or --all: one of the two")
    texts = {"--train": train, "--valid": valid, "--test": test, "--text": text}
    order = Order(
        seeds, first_seed, data_seed, protocol, epochs, device, texts, rows or [], fresh, jobs, networks, quiet
    )
    folder = _folder(results)
    if name is not None and not forecast:
        run_one(name, order, folder)
        return
    if everything:
        refuse("--all", "runs whole experiments", {"--rows": rows, **texts})
    names = whole_experiments(order) if name is None else [name]
    typer.echo(forecast_of(names, order, folder))
    for each in [] if forecast else names:
        run_one(each, order, folder)


@papers_app.command("table")
def table(name: _Name, results: _Folder = None) -> None:
    """Show the results of an experiment, ours beside theirs."""
    from stacklens.errors import StacklensError
    from stacklens.papers.experiments import EXPERIMENTS, check_name

    experiment, folder = EXPERIMENTS[check_name(name)](), _folder(results)
    if not folder.is_dir():
        raise StacklensError(f"{folder}: no such folder; expected one that `stacklens papers run` has written to")
    show(experiment, folder)


@papers_app.command("report")
def report(
    readme: Annotated[Path, typer.Option(help="The file for the table with a line an experiment.")] = Path("README.md"),
    findings: Annotated[Path, typer.Option(help="The file for all tables.")] = Path("docs/findings.md"),
    results: _Folder = None,
) -> None:
    """Write all results into two Markdown files, between their markers."""
    from stacklens.files import check_outputs, write_whole
    from stacklens.papers.experiments import EXPERIMENTS
    from stacklens.papers.findings import findings_section, readme_section, with_section

    check_outputs([readme, findings])
    folder = _measured(results)
    written = {
        readme: with_section(readme, readme_section(EXPERIMENTS, folder)),
        findings: with_section(findings, findings_section(EXPERIMENTS, folder)),
    }
    for path, content in written.items():  # nothing is written before all is there
        write_whole(path, content)
        typer.echo(f"wrote the results section of {path}")


def _measured(given: Path | None) -> Path:
    """Return the folder of results if it has any."""
    from stacklens.errors import StacklensError
    from stacklens.papers.experiments import EXPERIMENTS
    from stacklens.papers.results import result_path

    folder = _folder(given)
    if not any(result_path(name, folder).is_file() for name in EXPERIMENTS):
        raise StacklensError(
            f"{folder}: no results of any experiment; expected a folder that `stacklens papers run` has written to"
        )
    return folder


def _folder(given: Path | None) -> Path:
    from stacklens.papers.results import FOLDER

    return FOLDER if given is None else given


def _extent(experiment: Experiment | Grid, folder: Path) -> tuple[str, str]:
    """Return how much an experiment has, and how much of it was measured."""
    from stacklens.papers.grid import Grid
    from stacklens.papers.grid_results import read_grid
    from stacklens.papers.results import result_path

    if not isinstance(experiment, Grid):
        measured = "yes" if result_path(experiment.name, folder).is_file() else "no"
        return f"{len(experiment.claims)} claims", measured
    found = read_grid(experiment.name, folder)
    done = 0 if found is None else sum(found.row(row.name) is not None for row in experiment.rows)
    measured = "yes" if done == len(experiment.rows) else f"{done} rows" if done else "no"
    return f"{len(experiment.rows)} rows", measured
