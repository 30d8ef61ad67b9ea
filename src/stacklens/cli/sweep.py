"""`stacklens sweep`: many networks at once, a row each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stacklens.cli.shell import MOST_JOBS
from stacklens.errors import StacklensError
from stacklens.extract.budget import DEFAULT_BUDGET, parse_budget
from stacklens.progress import count, progress_bar
from stacklens.seeds import LARGEST_SEED

if TYPE_CHECKING:
    from stacklens.extract.config import ExtractionConfig
    from stacklens.extract.evaluation.sweep import Given, Sweep

__all__ = ["sweep_command"]

_WIDTH = 150  # of the table, at least, where nobody says how wide
_NETWORKS = "Trained networks: files, names of the zoo, folders, or patterns such as 'runs/*.pt'."
_OUT = "Write the table (.csv), all of it (.json) or the figure (.html .svg .png); may be repeated."


def sweep_command(
    networks: Annotated[list[str], typer.Argument(metavar="NETWORKS", help=_NETWORKS)],
    language: Annotated[
        str | None, typer.Option(help="What they should do; by default what the file of each says it was trained on.")
    ] = None,
    out: Annotated[list[Path] | None, typer.Option(help=_OUT)] = None,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="Processes on this machine.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="A Dask scheduler, tcp://host:8786, whose workers do it instead.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the journal of a run that was killed.")] = False,
    journal: Annotated[
        Path | None, typer.Option(help="The journal (default: the first OUT's name.sweep.jsonl); deleted in the end.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=0, help="Check all words up to this length (default: about 2.5 million words).")
    ] = None,
    budget: Annotated[
        str, typer.Option(help="Processor time for each search, such as 10s or 2m; or none.")
    ] = f"{DEFAULT_BUDGET:g}s",
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="For everything that is drawn.")] = 0,
    device: Annotated[str, typer.Option(help="Where the networks run: cpu, cuda, cuda:1, …")] = "cpu",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no table.")] = False,
) -> int:
    """Extract from many networks, and put what came out side by side, a row each.

    A file that cannot be read is a row with the reason. Rows are kept in a journal as soon as they are there, so that
    a sweep that was killed goes on with --resume, also over more files. Over the snapshots of a training (stacklens
    train --snapshots 50) it says when the automaton appears and settles: automata are compared by proof.

    Exit status: 0 every network was read, whatever came out of it; 1 some could not be, and their rows say why; 2 bad
    arguments.
    """
    from stacklens.display import check_sweep_target
    from stacklens.extract.config import ExtractionConfig
    from stacklens.extract.verification.parallel import check_scheduler
    from stacklens.files import check_outputs
    from stacklens.models.device import check_device

    place = journal or Path(f"{(out[0] if out else Path('networks')).stem}.sweep.jsonl")
    check_outputs([*(out or []), place], {"the language's own file": language})
    for path in out or []:
        check_sweep_target(path)
    check_device(device)
    check_scheduler(scheduler)
    config = ExtractionConfig(max_length=max_length, seed=seed, device=device, budget=parse_budget(budget))
    found = _swept(networks, language, config, jobs, scheduler, place, resume, quiet)
    problem = None
    for path in out or []:
        try:
            found.save(path)
        except StacklensError as error:  # the other files are written all the same
            problem = error
    if not quiet:
        _show(found, [path for path in out or [] if path.exists()])
    if problem is not None:
        raise StacklensError(f"{problem}; what was found is kept in {place}: go on with --resume")
    place.unlink(missing_ok=True)  # last: whoever is killed before has not seen the result
    return int(any(row.status not in (0, 1, 3) for row in found.rows))


def _swept(
    networks: list[str],
    language: str | None,
    config: ExtractionConfig,
    jobs: int,
    scheduler: str | None,
    place: Path,
    resume: bool,
    quiet: bool,
) -> Sweep:
    from stacklens.extract.evaluation.sweep import networks_named, sweep

    given: list[Given] = networks_named(networks)
    with progress_bar(quiet) as bar:
        task = bar.add_task("sweep", total=len(given))
        return sweep(
            given,
            language,
            config,
            jobs=jobs,
            scheduler=scheduler,
            journal=place,
            resume=resume,
            progress=lambda row: bar.update(task, advance=1, description=Path(row.network).name),
        )


def _show(found: Sweep, written: list[Path]) -> None:
    """Print the table, why rows have no automaton, and when the automaton settles."""
    from rich.console import Console
    from rich.table import Column, Table

    from stacklens.extract.headline import horizon_cell

    names = ("updates", "status", "automaton*", "states", "proof", "certificate", "rounded**", "network**", "accuracy")
    table = Table(Column("network", overflow="fold"), *names, "seconds")
    for row, number in zip(found.rows, found.classes, strict=True):
        accuracy = row.accuracy("network")
        cells = [
            row.network,
            "" if row.updates is None else f"{row.updates:,}",
            str(row.status),
            "none" if number is None else str(number),
            "" if row.sizes is None else str(row.sizes["states"]),
            row.proof or "",
            row.certificate or "",
            *(horizon_cell(row.horizon.get(who)) for who in ("rounded network", "network")),
            "" if accuracy is None else f"{accuracy:.1%}",
            f"{row.seconds:.1f}",
        ]
        table.add_row(*cells)
    console = Console(highlight=False)
    wide = Console(highlight=False, width=max(console.width, _WIDTH))
    wide.print(table)
    wide.print("*  the same number: proved to do the same", markup=False)
    wide.print("** all words up to this length agree, and a word of this length does not", markup=False)
    for row in found.rows:
        if row.reason is not None:
            named = row.reason if row.reason.startswith(row.network) else f"{row.network}: {row.reason}"
            wide.print(named, markup=False, soft_wrap=True)
    if found.settling is not None:
        wide.print(f"settled    {found.settling}", markup=False, soft_wrap=True)
    for path in written:
        wide.print(f"wrote {count(len(found.rows), 'row')} to {path}", markup=False, soft_wrap=True)
