"""`stacklens repair` and `stacklens harden`: from a network that learned to one that is right."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import StacklensError
from ..core.files import check_ending, check_outputs, write_json
from ..core.progress import progress_bar, stages_on
from ..extract.config import parse_budget
from .shell import Language, Model, Quiet, Report, Seed

if TYPE_CHECKING:
    from ..extract.result import Extraction
    from ..models.base import StackModel

_Out = Annotated[Path | None, typer.Option(help="Where to write the network; by default beside this name, in a .pt.")]


def repair_command(
    model: Model,
    language: Language = None,
    out: _Out = None,
    seconds: Annotated[str, typer.Option(help="Processor time, such as 60s or 5m.")] = "2m",
    seed: Seed = 0,
    report: Report = None,
    quiet: Quiet = False,
) -> int:
    """Train a network further on what breaks it until a certificate holds for words of every length; harden it.

    OUT is written whenever a round made the network better; repairing OUT goes on from there.

    Exit status: 0 certified, and nothing contradicts it; 1 not, and what is left; 2 bad input.
    """
    from ..extract.by_name import specification_of
    from ..extract.repair import repair
    from ..models.checkpoint import load_network

    path, out = _targets(model, out, report, "repaired")
    budget = parse_budget(seconds)
    if budget is None:
        raise StacklensError("--seconds is a time such as 60s or 5m, not none: a repair may go on for ever")
    checkpoint = load_network(path)
    with progress_bar(quiet) as bar:
        done = repair(
            checkpoint.model,
            specification_of(checkpoint, language),
            seconds=budget,
            seed=seed,
            progress=stages_on(bar),
            on_round=lambda one, best: one.kept and _save(best, out),
        )
    written = _save(done.model, out, done.after)
    if report is not None:
        write_json(report, done.to_dict())
    if not quiet:
        typer.echo(done)
        typer.echo(
            f"{'wrote' if done.model is not checkpoint.model else 'wrote the network as it came in to'} {written}"
        )
    return done.status


def harden_command(
    model: Model, language: Language = None, out: _Out = None, report: Report = None, quiet: Quiet = False
) -> int:
    """Scale what decides a network's actions until each is exactly 0 or 1, so that it is its own rounded form.

    Exit status: 0 certified as itself for words of every length; 1 its actions are whole, but that is not proved of
    every length; 2 bad input, or actions that cannot be made whole.
    """
    from ..extract.by_name import specification_of
    from ..extract.extraction import extract
    from ..extract.repair import harden
    from ..models.checkpoint import load_network

    path, out = _targets(model, out, report, "hardened")
    checkpoint = load_network(path)
    specification = specification_of(checkpoint, language)
    with progress_bar(quiet) as bar:
        before = extract(checkpoint.model, specification, progress=stages_on(bar))
        done = harden(before)
        after = extract(done.model, specification, progress=stages_on(bar))
    written = _save(done.model, out, after)
    if report is not None:
        entry = {"before": before.headline, "after": after.headline, "hardened": done.to_dict()}
        write_json(report, entry)
    if not quiet:
        typer.echo(f"before   {before.headline}\nafter    {after.headline}\nactions  {done}\nwrote {written}")
    return 0 if getattr(after.certificate.certificate, "itself", False) else 1


def _targets(model: Path, out: Path | None, report: Path | None, made: str) -> tuple[Path, Path]:
    """Return where the network is and where the new one goes, after a check that files can be written there."""
    from ..models.checkpoint import find_network
    from ..models.formats.mapping import is_mapping

    path = find_network(model)
    out = out or Path(f"{model.stem if model.suffix else model.name}-{made}.pt")
    check_ending(out, (".pt", ".pth"))
    check_ending(report, [".json"])
    beside = out.with_suffix(".json") if is_mapping(path) else None
    check_outputs([out, beside, report], {"the network's own file": path})
    return path, out


def _save(network: StackModel[Any], out: Path, found: Extraction | None = None) -> str:
    """Return the files to which the network was written: one of ours, or those of somebody else's weights."""
    from ..models.checkpoint import made_by, save_model
    from ..models.formats.mapping import save_module

    if network.unsaved is not None:
        return " and ".join(map(str, save_module(network, out)))
    proved = found is not None and not found.status and bool(getattr(found.certificate.certificate, "itself", False))
    save_model(out, made_by(network, shlex.join(["stacklens", *sys.argv[1:]]), proved))
    return str(out)
