"""`stacklens papers`: measure what the papers reported, and show ours beside theirs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import LARGEST_SEED, StacklensError
from ..core.files import LARGEST_CORPUS, check_folder, check_outputs, read_whole, write_whole
from ..core.progress import count, progress_bar
from .shell import MOST_JOBS, Device, QuietTable, new_app, print_table, wide_console

if TYPE_CHECKING:
    from ..papers.grid import Grid, RunSettings
    from ..papers.results import Experiment


# ---- What `stacklens papers run` does once its options are read: which rows are run, and how they are shown ----


@dataclass(frozen=True)
class _RunOrder:
    """What `stacklens papers run` was asked for, besides which experiment: its options by their names."""

    folder: Path
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


def _run_one(name: str, order: _RunOrder) -> None:
    from ..papers.grid import Grid
    from ..papers.results import result_path
    from ..papers.runner import EXPERIMENTS, check_name, run_grid, run_into

    experiment = EXPERIMENTS[check_name(name)]()
    path = result_path(name, order.folder)
    check_folder(path)
    if isinstance(experiment, Grid):
        experiment, settings = _grid_to_run(experiment, order)
        chosen = experiment.chosen_rows(order.rows)
        with progress_bar(order.quiet) as bar:
            task = bar.add_task(name, total=len(chosen))
            chosen_so = {name: getattr(order, name) for name in ("rows", "fresh", "jobs", "networks")}
            on_row = lambda row, done: bar.update(task, completed=done, description=row)  # noqa: E731
            run_grid(experiment, settings, path.parent, **chosen_so, progress=on_row)
            bar.update(task, completed=len(chosen), description="done")
    else:
        names = ("seeds", "rows", "fresh", "first_seed", "data_seed", "networks", "epochs")
        only_grids = {f"--{option.replace('_', '-')}": getattr(order, option) for option in names}
        others = {"--jobs": order.jobs > 1, "--protocol": order.protocol != "fast", "--device": order.device != "cpu"}
        _refuse(name, "has claims and no rows of networks", {**only_grids, **others, **order.texts})
        with progress_bar(order.quiet) as bar:
            task = bar.add_task("", total=len(experiment.claims), completed=-1)
            run_into(experiment, path.parent, lambda claim: bar.update(task, advance=1, description=claim))
            bar.update(task, completed=len(experiment.claims), description="done")
    if not order.quiet:
        show(experiment, path.parent)
        typer.echo(f"wrote {path}")


def _grid_to_run(grid: Grid, order: _RunOrder) -> tuple[Grid, RunSettings]:
    """Return the grid, for the user's texts where it needs such, and how its rows are trained."""
    import hashlib

    from ..papers.grid import RunSettings

    files = {option: path for option, path in order.texts.items() if path is not None}
    if grid.with_texts is None:
        _refuse(grid.name, "needs no text", files)
    elif files and list(files) not in (["--text"], ["--train", "--valid", "--test"]):
        raise StacklensError(f"{grid.name} needs --text alone, or all of --train, --valid, --test")
    else:
        grid = grid.with_texts(*files.values())
    # which texts they are is part of what the results rest on
    digests = []
    for path in files.values():
        content = read_whole(path, "a text, a sentence a line", LARGEST_CORPUS)
        digests.append(f"{path.name} {hashlib.sha256(content).hexdigest()[:12]}")
    seeds = tuple(range(order.first_seed, order.first_seed + (order.seeds or grid.seeds)))
    how: dict[str, Any] = {name: getattr(order, name) for name in ("protocol", "device", "data_seed", "epochs")}
    return grid, RunSettings(seeds, texts=", ".join(digests), **how)


def _refuse(name: str, why: str, options: dict[str, Any]) -> None:
    if given := [option for option, value in options.items() if value]:
        raise StacklensError(f"{name} {why}: leave out {', '.join(given)}")


def show(experiment: Experiment | Grid, folder: Path) -> None:
    """Print the tables of an experiment's results in ``folder``, ours beside theirs."""
    from ..papers.grid import Grid, results_of
    from ..papers.results import read_results
    from ..papers.sun1993_steps import figure_tables, steps_beside
    from ..papers.tables import claims_table, folded_tables, rich_table

    if isinstance(experiment, Grid):
        tables = folded_tables(experiment, results_of(experiment, folder))
    else:
        found = read_results(experiment.name, folder)
        tables = [claims_table(found), *figure_tables(found)]
        tables += [steps_beside(found)] if experiment.name == "sun1993-claims" else []
    for shown in tables:
        wide_console().print(rich_table(shown))


# ---- `stacklens papers`: measure what the papers reported, and show ours beside theirs ----

_MOST = 10_000  # networks a row
_LARGEST = LARGEST_SEED - _MOST  # first seed, of so many

papers_app = new_app("Measure what the papers reported; show ours beside theirs.")

# what options are
_ID = "An experiment; `stacklens papers list` shows them."
_RESULTS = "Folder of the results (default: the one that comes with stacklens)."
_SEEDS = "Networks a row (default: as in the paper)."
_DATA_SEED = "Draw the training words anew; those of the test stay the same."
_ROWS = "Only this row; may be repeated (a wrong name lists all)."
_EPOCHS = "At most so many, with --protocol paper, which may take hours."
_NETWORKS = "Folder that keeps the networks; what is in it is not trained again."
_PART = "Part of the text that joulin2015-table4 needs: a sentence a line."
_WHOLE = "Or a whole text, a verse or sentence a line, which is split 80/10/10."
_README = "The file for the table with a line an experiment."
_FORECAST = "Only say what is left to do, and for how long."
_Folder = Annotated[Path | None, typer.Option("--results", help=_RESULTS)]
_Text = Annotated[Path | None, typer.Option(help=_PART)]
_Whole = Annotated[Path | None, typer.Option(help=_WHOLE)]


@papers_app.command("list")
def list_experiments(results: _Folder = None) -> None:
    """List the experiments, and how much of them has been measured."""
    from ..papers.grid import Grid, read_grid
    from ..papers.results import result_path
    from ..papers.runner import EXPERIMENTS

    rows, folder = list[list[str]](), _folder_with_results(results)
    for name, build in EXPERIMENTS.items():
        experiment = build()
        if isinstance(experiment, Grid):
            found = read_grid(name, folder)
            done = 0 if found is None else sum(found.row(row.name) is not None for row in experiment.rows)
            measured = "yes" if done == len(experiment.rows) else count(done, "row") if done else "no"
            has = count(len(experiment.rows), "row")
        else:
            measured = "yes" if result_path(name, folder).is_file() else "no"
            has = count(len(experiment.claims), "claim")
        rows.append([name, experiment.title, has, measured])
    print_table(("id", "what", "has", "measured"), rows)


@papers_app.command("run")
def run(
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help=_ID)] = None,
    everything: Annotated[bool, typer.Option("--all", help="All experiments that need no text of yours.")] = False,
    results: _Folder = None,
    seeds: Annotated[int | None, typer.Option(min=1, max=_MOST, help=_SEEDS)] = None,
    first_seed: Annotated[int, typer.Option(min=0, max=_LARGEST, help="The first of them.")] = 0,
    data_seed: Annotated[int, typer.Option(min=0, max=_LARGEST, help=_DATA_SEED)] = 0,
    protocol: Annotated[str, typer.Option(help="fast, or paper: as the paper did it, to the letter.")] = "fast",
    rows: Annotated[list[str] | None, typer.Option(help=_ROWS)] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help=_EPOCHS)] = None,
    device: Device = "cpu",
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="Processes, a row each.")] = 1,
    networks: Annotated[Path | None, typer.Option(help=_NETWORKS)] = None,
    train: _Text = None,
    valid: _Text = None,
    test: _Text = None,
    text: _Whole = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what was run before.")] = False,
    forecast: Annotated[bool, typer.Option("--forecast", help=_FORECAST)] = False,
    quiet: QuietTable = False,
) -> None:
    """Measure an experiment and write its results; rows of networks that were measured before are kept.

    A run that is stopped goes on with the rows that are left when it is begun again; with --networks, trainings one
    symbol at a time go on with the epoch that was left. Claims go on with the first that is left: those that are done
    stand in ID.part.json until all are.
    """
    if everything is (name is not None):
        raise StacklensError("give the name of an experiment, or --all: one of the two")
    from ..papers.grid import Grid, RunSettings
    from ..papers.results import FOLDER
    from ..papers.runner import EXPERIMENTS, check_name, plan_of, summed_plans

    texts = {"--train": train, "--valid": valid, "--test": test, "--text": text}
    trained = (seeds, first_seed, data_seed, protocol, epochs, device)
    order = _RunOrder(results or FOLDER, *trained, texts, rows or [], fresh, jobs, networks, quiet)
    names = [name] if name is not None else []
    if everything:  # the grids of the protocol and data seed, without texts; claims are run one by one
        _refuse("--all", "runs whole experiments", {"--rows": rows, **texts})
        grids = [one for build in EXPERIMENTS.values() if isinstance(one := build(), Grid) and one.with_texts is None]
        known = RunSettings((0,), order.protocol).protocol  # a name that there is
        names = [one.name for one in grids if known in one.protocols and (one.data_seeds or not data_seed)]
    if everything or forecast:
        # a line for each grid that has rows left, and one for all of them where there are several
        plans = {}
        for each in names:
            grid = EXPERIMENTS[check_name(each)]()
            if not isinstance(grid, Grid):
                raise StacklensError(f"{each} has claims and no rows of networks: there is no forecast of it")
            plans[each] = plan_of(*_grid_to_run(grid, order), order.folder, order.rows, fresh=fresh)
        for each, plan in plans.items():
            typer.echo(f"{each}: {plan}")
        if len(plans) > 1:
            typer.echo(f"all: {summed_plans(plans.values())}")
    for each in [] if forecast else names:
        _run_one(each, order)


@papers_app.command("table")
def table(name: Annotated[str, typer.Argument(metavar="ID", help=_ID)], results: _Folder = None) -> None:
    """Show the results of an experiment, ours beside theirs."""
    from ..papers.runner import EXPERIMENTS, check_name

    show(EXPERIMENTS[check_name(name)](), _folder_with_results(results))


@papers_app.command("report")
def report(
    readme: Annotated[Path, typer.Option(help=_README)] = Path("docs/papers/results.md"),
    findings: Annotated[Path, typer.Option(help="The file for all tables.")] = Path("docs/papers/rows.md"),
    results: _Folder = None,
) -> None:
    """Write all results into two Markdown files, between their markers."""
    from ..papers.results import FOLDER, result_path
    from ..papers.runner import EXPERIMENTS
    from ..papers.tables import findings_section, readme_section, with_section

    check_outputs([readme, findings])
    folder = results or FOLDER
    if not any(result_path(name, folder).is_file() for name in EXPERIMENTS):
        raise StacklensError(
            f"{folder}: no results of any experiment; expected a folder that `stacklens papers run` has written to"
        )
    written = {
        readme: with_section(readme, readme_section(EXPERIMENTS, folder)),
        findings: with_section(findings, findings_section(EXPERIMENTS, folder)),
    }
    for path, content in written.items():  # nothing is written before all is there
        write_whole(path, content)
        typer.echo(f"wrote the results section of {path}")


def _folder_with_results(given: Path | None) -> Path:
    from ..papers.results import FOLDER

    folder = given or FOLDER
    if not folder.is_dir():
        raise StacklensError(f"{folder}: no such folder; expected one that `stacklens papers run` has written to")
    return folder
