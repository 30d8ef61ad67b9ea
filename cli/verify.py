"""`stacklens verify`: an automaton against its network and its language on all words up to a length, however long."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..automata.compare import Comparison, Equal
from ..automata.formats.json import from_json, to_json
from ..automata.pda import PushdownAutomaton
from ..core.errors import StacklensError
from ..core.files import check_ending, check_outputs, write_json
from ..core.imports import above
from ..core.progress import progress_bar
from ..extract import wording
from ..extract.config import ExtractionConfig
from . import shell

if TYPE_CHECKING:
    from ..extract.jobs import Journal
    from ..extract.result import Extraction
    from ..extract.verification.exhaustive import Verification, Work


_NO_AUTOMATON = 3
_AUTOMATON = "The automaton: .json, .jff or .dot (default: extract it first)."
_JOURNAL = "The journal (default: MODEL's name.verify.jsonl, here); deleted in the end."
_EVERYTHING = "A table of every network of the zoo: proof, counts and certificate."
_PUBLISHED = "With --all: a folder with published networks, for the table too."


def verify_command(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help=shell.MODEL_OR_RESULT_HELP)] = None,
    automaton: Annotated[Path | None, typer.Option(help=_AUTOMATON)] = None,
    language: shell.Language = None,
    max_length: shell.MaxLength = None,
    jobs: shell.Jobs = 1,
    scheduler: shell.Scheduler = None,
    resume: shell.Resume = False,
    journal: Annotated[Path | None, typer.Option(help=_JOURNAL)] = None,
    report: shell.Report = None,
    everything: Annotated[bool, typer.Option("--all", help=_EVERYTHING)] = False,
    published: Annotated[Path | None, typer.Option(help=_PUBLISHED)] = None,
    quiet: shell.Quiet = False,
) -> int:
    """Verify an automaton on all words up to a length, against the language, the rounded network and the network.

    The words are split into chunks for any number of processes, with the same result. What is finished stands in a
    journal, so that a run that was killed goes on with --resume and counts nothing twice.

    Exit status: 0 nothing contradicts the automaton on these words; 1 something does (the word is printed); 2 bad
    arguments or unreadable input; 3 no faithful automaton found.
    """
    from ..extract.jobs import check_scheduler

    if everything:
        given = {"MODEL": model, "--automaton": automaton, "--language": language, "--journal": journal}
        of_one = [f"{name} {value}" for name, value in given.items() if value is not None] + ["--resume"] * resume
        if of_one:
            raise StacklensError(
                "--all verifies every network of the zoo, each with its own language, and takes no "
                f"{', '.join(of_one)}; leave out one or the other"
            )
        return _verify_all(published, max_length, jobs, scheduler, report, quiet)
    if published is not None:
        raise StacklensError(f"--published {published}: only the table of --all has published networks; add --all")
    if model is None:
        raise StacklensError("which network? expected MODEL, a file with a trained network, or --all")
    from ..models.checkpoint import find_network

    model = find_network(model)
    place = journal or Path(f"{model.stem}.verify.jsonl")
    read = {"the network's own file": model, "the automaton's own file": automaton, "the language's own file": language}
    check_outputs([place, report], read)
    check_ending(report, [".json"])
    from ..extract.claims import headline
    from ..extract.jobs import Journal
    from ..extract.verification.exhaustive import verify_exhaustively, work_of_files, work_of_result

    result = shell.saved_result(model)
    if result is not None and automaton is not None:
        raise StacklensError(f"{model} has an automaton with it; leave out --automaton, or name the network")
    if result is not None and result.minimised is None:
        typer.echo(f"automaton  none: {result.reason} ({wording.AS_STORED})")
        return _NO_AUTOMATON
    asked = (language, max_length)
    work = work_of_files(model, automaton, *asked) if result is None else work_of_result(result, *asked)
    check_scheduler(scheduler)
    refused = 0 if result is None else _check_proof_beside(model, result, quiet)
    with Journal.open(place, work.settings(), resume) as kept:
        pda = _journal_automaton(work, kept, quiet)
        if pda is None:
            kept.remove()
            return _NO_AUTOMATON
        work = replace(work, pda=pda)
        begun = time.perf_counter()
        with progress_bar(quiet) as bar:
            task = bar.add_task("verify", total=sum(map(work.words, work.chunks)))
            found = verify_exhaustively(work, kept, jobs, scheduler, lambda words: bar.update(task, advance=words))
        seconds = time.perf_counter() - begun
        content = _report(work, pda, found, None if result is None else result.checked_again())
        status = max(found.status, int(content["proof"]["verdict"] == "different" or bool(content["refuted"])))
        if report is not None:
            write_json(report, content)
        if not quiet:
            _show_verification(content, found, pda.n_stacks, seconds)
        elif status:
            typer.echo(headline(content))
        kept.remove()  # last: a run that is killed before has not shown the result
    return max(refused, status)


def _check_proof_beside(path: Path, result: Extraction, quiet: bool) -> int:
    """Return 1 where RESULT.proof.json beside a saved result is refused or proves another automaton, else 0."""
    from ..models.checkpoint import find_network

    proof = path.with_suffix(".proof.json")
    if not proof.exists():
        return 0
    network = find_network(result.network.path or "")
    status, shown = above("stacklens.check_proof.verdict", tuple)(str(network), str(proof))
    if not status and from_json(json.dumps(json.loads(proof.read_text())["automaton"])) != result.automaton:
        status, shown = 1, "refused: it proves another automaton than the result's"
    if status or not quiet:
        typer.echo(f"proof      {proof.name} is {shown}")
    return 1 if status else 0


def _journal_automaton(work: Work, journal: Journal, quiet: bool) -> PushdownAutomaton | None:
    if work.pda is not None:
        return work.pda
    if "automaton" in journal.kept:
        return from_json(journal.kept["automaton"])
    from ..face.results import extract

    found = extract(work.model, work.specification, quiet=quiet)
    if found.minimised is None:
        typer.echo(f"automaton  none: {found.reason}")
        return None
    journal.keep(automaton=to_json(found.automaton))
    return found.automaton


def _report(work: Work, pda: PushdownAutomaton, found: Verification, result: Extraction | None) -> dict[str, Any]:
    """Return what was found as plain data, the same in any number of processes; of ``result`` what was shown again."""
    from ..extract.agreement import CERTIFICATE_NOT_TRIED
    from ..extract.claims import equals_of
    from ..extract.horizon import horizons_of, proved_lengths
    from ..extract.result import PROOF_NOT_TRIED, proof_entry

    language = None if work.specification is None else work.specification.name
    proof: Comparison = PROOF_NOT_TRIED
    certificate, refuted = CERTIFICATE_NOT_TRIED, list[str]()
    first = {other: one.difference for other, one in found.horizon.items()}
    if result is not None and result.language_name == language and result.loaded is not None:
        shown, refuted = result.loaded.shown, list(result.loaded.refuted)
        proof = result.proof if "proof" in shown else proof
        certificate = result.certificate if "certificate" in shown else certificate
        for other, mine in first.items():
            stored = result.horizon[other].difference if f"difference.{other}" in shown else None
            if stored is not None and (mine is None or len(stored.word) < len(mine.word)):
                first[other] = stored
    horizons = horizons_of(found.checks, False, first, proved_lengths(certificate, isinstance(proof, Equal)))
    report = {
        "schema": 2,
        "model": {"name": work.model.name, "file": str(work.path), "alphabet": list(work.alphabet)},
        "language": language,
        "automaton": wording.sizes_of(pda),
        "chunks": len(work.chunks),
        **found.to_dict(),
        "horizon": {other: horizon.to_dict() for other, horizon in horizons.items()},
        "proof": proof_entry(proof),
        "certificate": certificate.to_dict(),
        "refuted": refuted,
    }
    return {**report, "equals": equals_of(report)}


def _show_verification(report: Mapping[str, Any], found: Verification, n_stacks: int, seconds: float) -> None:
    from ..extract.claims import claims_of, headline

    claims = {claim.what: claim for claim in claims_of({**report, "n_stacks": n_stacks}, asides=True)}
    typer.echo(f"{wording.as_sentence(headline(report))}\n")
    typer.echo(f"network    {claims['network'].words}")
    typer.echo(f"automaton  {claims['automaton'].words}")
    for number, (other, entry) in enumerate(report["horizon"].items()):
        typer.echo(f"{'' if number else 'horizon':10} {claims[f'horizon, {other}'].in_brief}")
        if (word := wording.whole_word(entry)) is not None:
            typer.echo(f"           in full: {word}")
    for check in found.checks:
        entry = check.to_dict()
        against = "the language's automaton" if check.other == "language" else f"the {check.other}"
        typer.echo(f"verified   against {against}: {wording.agreement_claim(entry)}")
        if entry["counterexample"] is not None:
            typer.echo(f"           they differ on {wording.word_named(entry['counterexample'])}")
    if found.counts is not None:
        typer.echo(f"counted    {claims['counted twice'].words}")
    if report["proof"]["verdict"] != "undecided":
        typer.echo(f"proof      {claims['proof'].in_brief.removesuffix(' (proof)')}")
    if report["certificate"]["verdict"] != "not tried":
        typer.echo(f"certified  {claims['certificate'].in_brief}")
    for refuted in report["refuted"]:
        typer.echo(f"stored     the file claims {refuted}, which could not be shown")
    typer.echo(f"time       {seconds:,.1f} s for {report['chunks']:,} chunks")


# ---- `--all`: proof, exhaustive counts and certificate side by side, for every network of the zoo and published ones

_SUFFIXES = {".pt", ".pth", ".dat", ""}  # of the authors' files; those of the C++ program have none
_OTHERS = ("language", "rounded network", "network")
_COLUMNS = ("language", "size*", "proof", "all words", "differ**", "certificate", "rounded***", "network***")
_NOTES = (
    "*  states x stack symbols",
    "** the automaton from the language, the rounded network and the network",
    "*** the automaton agrees with it on all words so long, or that need so many cells, and not on a word so long",
)


def networks_in(published: Path | None) -> list[Path]:
    """Return the zoo's networks, and those in the folder ``published`` and its folders."""
    from ..models.checkpoint import ZOO, load_network

    def is_network(path: Path) -> bool:
        if path.suffix not in _SUFFIXES or path.name.startswith("."):
            return False
        try:
            load_network(path)
        except StacklensError:
            return False
        return True

    networks = sorted(ZOO.glob("*.pt"))
    if published is None:
        return networks
    found = [path for path in sorted(published.rglob("*")) if path.is_file() and is_network(path)]
    if not found:
        raise StacklensError(f"--published {published}: no networks there; expected a folder with the authors' files")
    return [*networks, *found]


def _verify_all(
    published: Path | None, max_length: int | None, jobs: int, scheduler: str | None, report: Path | None, quiet: bool
) -> int:
    from ..extract.evaluation.sweep import sweep
    from ..extract.jobs import check_scheduler
    from ..papers.results import versions

    check_outputs([report])
    check_ending(report, [".json"])
    check_scheduler(scheduler)
    networks = networks_in(published)
    with progress_bar(quiet) as bar:
        task = bar.add_task("extract and verify", total=len(networks))
        config = ExtractionConfig(max_length=max_length)
        found = sweep(
            networks, None, config, jobs=jobs, scheduler=scheduler, progress=lambda _: bar.update(task, advance=1)
        )
    # of each extraction's report what is written: sizes and verdicts with their reasons, and the exhaustive checks
    rows = list[dict[str, Any]]()
    for path, row in zip(networks, found.rows, strict=True):
        if row.report is None:
            raise StacklensError(f"{path}: {row.reason}")
        part = {name: row.report[name] for name in ("automaton", "reason", "proof", "certificate")}
        checks = [check for check in row.report["checks"] if check["kind"] == "exhaustive"]
        ends = {"checks": checks, "horizon": row.report["horizon"], "equals": row.report["equals"]}
        rows.append({"network": path.name, "language": row.language, "status": row.status, **part, **ends})
    if report is not None:
        write_json(report, {"schema": 1, "versions": versions(), "networks": rows})
    if not quiet:
        shown, notes = list[list[str]](), list(_NOTES)
        for one in rows:
            named = [one["network"].removesuffix(".pt"), one["language"] or "not known"]
            if one["automaton"] is None:
                shown.append([*named, "none", *[""] * 6])
                notes.append(f"{one['network']}: no automaton: {one['reason']}")
                continue
            by_other = {check["between"][1]: check for check in one["checks"]}
            words = next((f"{check['words']:,} <= {check['max_length']}" for check in one["checks"]), "")
            differ = [f"{by_other[other]['disagreements']:,}" if other in by_other else "-" for other in _OTHERS]
            horizons = [wording.horizon_cell(one["horizon"].get(other)) for other in wording.NETWORKS]
            sizes = f"{one['automaton']['states']} x {one['automaton']['stack_symbols']}"
            verdicts = one["proof"]["verdict"], words, ", ".join(differ), one["certificate"]["verdict"]
            shown.append([*named, sizes, *verdicts, *horizons])
        shell.print_table(("network", *_COLUMNS), shown, notes)
    return max((row["status"] for row in rows if row["status"] != _NO_AUTOMATON), default=0)
