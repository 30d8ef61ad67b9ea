"""`stacklens papers`: measure what the papers reported, and show ours beside theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stacklens.shell import new_app, progress_bar

__all__ = ["papers_app"]

papers_app = new_app("Measure what the papers reported; show ours beside theirs.")

_Name = Annotated[str, typer.Argument(metavar="ID", help="An experiment; `stacklens papers list` shows them.")]
_Folder = Annotated[
    Path | None, typer.Option("--results", help="Folder of the results (default: the one that comes with stacklens).")
]


@papers_app.command("list")
def list_experiments(results: _Folder = None) -> None:
    """List the experiments, and which of them have been measured."""
    from rich.console import Console
    from rich.table import Table

    from stacklens.papers.experiments import EXPERIMENTS
    from stacklens.papers.results import result_path

    table = Table("id", "paper", "what", "claims", "measured")
    for name, build in EXPERIMENTS.items():
        experiment = build()
        measured = "yes" if result_path(name, _folder(results)).is_file() else "no"
        table.add_row(name, experiment.paper, experiment.title, str(len(experiment.claims)), measured)
    Console(highlight=False, soft_wrap=True).print(table)


@papers_app.command("run")
def run(
    name: _Name,
    results: _Folder = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no table.")] = False,
) -> None:
    """Measure an experiment and write its results."""
    from stacklens.files import check_folder
    from stacklens.papers.experiments import EXPERIMENTS, check_name, run_experiment
    from stacklens.papers.results import result_path, write_results

    experiment = EXPERIMENTS[check_name(name)]()
    check_folder(result_path(name, _folder(results)))
    with progress_bar(quiet) as bar:
        task = bar.add_task("", total=len(experiment.claims), completed=-1)
        measured = run_experiment(experiment, lambda claim: bar.update(task, advance=1, description=claim))
        bar.update(task, completed=len(experiment.claims), description="done")
    path = write_results(measured, _folder(results))
    if not quiet:
        _show(name, results)
        typer.echo(f"wrote {path}")


@papers_app.command("table")
def table(name: _Name, results: _Folder = None) -> None:
    """Show the results of an experiment, ours beside theirs."""
    from stacklens.papers.experiments import check_name

    _show(check_name(name), results)


@papers_app.command("report")
def report(
    readme: Annotated[Path, typer.Option(help="The file whose results section is written.")] = Path("README.md"),
    results: _Folder = None,
) -> None:
    """Write all results into the results section of README.md, between its two markers."""
    from stacklens.papers.experiments import EXPERIMENTS
    from stacklens.papers.results import read_results
    from stacklens.papers.tables import write_report

    write_report(readme, [read_results(name, _folder(results)) for name in EXPERIMENTS])
    typer.echo(f"wrote the results section of {readme}")


def _folder(given: Path | None) -> Path:
    from stacklens.papers.results import FOLDER

    return FOLDER if given is None else given


def _show(name: str, results: Path | None) -> None:
    from rich.console import Console

    from stacklens.papers.results import read_results
    from stacklens.papers.tables import rich_table

    Console(highlight=False).print(rich_table(read_results(name, _folder(results))))
