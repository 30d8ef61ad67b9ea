"""`stacklens verify`: an automaton against its network and its language on all words up to a length, however long."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import StacklensError
from ..core.progress import progress_bar, stages_on
from .shell import MODEL_OR_RESULT_HELP, Jobs, Language, Quiet, Report, Resume, Scheduler, saved_result

if TYPE_CHECKING:
    from ..automata.compare import Comparison
    from ..automata.pda import PushdownAutomaton
    from ..extract.jobs import Journal
    from ..extract.result import Extraction
    from ..extract.verification.exhaustive import Job, Verification, Work
    from ..models.checkpoint import Checkpoint


_NO_AUTOMATON = 3


def verify_command(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help=MODEL_OR_RESULT_HELP)] = None,
    automaton: Annotated[
        Path | None, typer.Option(help="The automaton: .json, .jff or .dot (default: extract it first).")
    ] = None,
    language: Language = None,
    max_length: Annotated[
        int | None, typer.Option(min=0, help="All words up to this length (default: about 2.5 million words).")
    ] = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    resume: Resume = False,
    journal: Annotated[
        Path | None, typer.Option(help="The journal (default: MODEL's name.verify.jsonl, here); deleted in the end.")
    ] = None,
    report: Report = None,
    everything: Annotated[
        bool, typer.Option("--all", help="A table of every network of the zoo: proof, counts and certificate.")
    ] = False,
    published: Annotated[
        Path | None, typer.Option(help="With --all: a folder with published networks, for the table too.")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Verify an automaton on all words up to a length, against the language, the rounded network and the network.

    The words are split into chunks for any number of processes, with the same result. What is finished stands in a
    journal, so that a run that was killed goes on with --resume and counts nothing twice.

    Exit status: 0 nothing contradicts the automaton on these words; 1 something does (the word is printed); 2 bad
    arguments or unreadable input; 3 no faithful automaton found.
    """
    from ..core.files import check_ending, check_outputs
    from ..extract.jobs import check_scheduler

    if everything:
        _check_of_all({"MODEL": model, "--automaton": automaton, "--language": language, "--journal": journal}, resume)
        check_outputs([report])
        check_ending(report, [".json"])
        check_scheduler(scheduler)
        networks = networks_in(published)
        with progress_bar(quiet) as bar:
            task = bar.add_task("extract and verify", total=len(networks))
            rows = verify_all(networks, max_length, jobs, scheduler, lambda: bar.update(task, advance=1))
        if report is not None:
            write_table(report, rows)
        if not quiet:
            show_table(rows)
        return max((row.status for row in rows if row.status != _NO_AUTOMATON), default=0)
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
    from ..extract.verification.exhaustive import load_job, result_job
    from ..extract.wording import AS_STORED

    result = saved_result(model)
    if result is not None and automaton is not None:
        raise StacklensError(f"{model} has an automaton with it; leave out --automaton, or name the network")
    if result is not None and result.minimised is None:
        typer.echo(f"automaton  none: {result.reason} ({AS_STORED})")
        return _NO_AUTOMATON
    job = (
        load_job(model, automaton, language, max_length) if result is None else result_job(result, language, max_length)
    )
    check_scheduler(scheduler)
    refused = 0 if result is None else _check_proof_beside(model, result, quiet)
    return max(refused, _verify_one(job, result, place, resume, jobs, scheduler, report, quiet))


def _check_proof_beside(path: Path, result: Extraction, quiet: bool) -> int:
    """Return 1 where RESULT.proof.json beside a saved result is refused or proves another automaton, else 0."""
    from ..automata.formats.json import from_json
    from ..core.imports import above
    from ..models.checkpoint import find_network

    proof = path.with_suffix(".proof.json")
    if not proof.exists():
        return 0
    status, shown = above("stacklens.check_proof.verdict", tuple)(
        str(find_network(result.network.path or "")), str(proof)
    )
    if not status and from_json(json.dumps(json.loads(proof.read_text())["automaton"])) != result.automaton:
        status, shown = 1, "refused: it proves another automaton than the result's"
    if status or not quiet:
        typer.echo(f"proof      {proof.name} is {shown}")
    return 1 if status else 0


def _check_of_all(given: Mapping[str, object], resume: bool) -> None:
    """Check that nothing is ``given`` that is about one network.

    Raises:
        StacklensError: something is, which the table of all networks could not heed.
    """
    names = [name for name, value in given.items() if value is not None] + ["--resume"] * resume
    if names:
        refused = f"{names[0]} {given[names[0]]}" if names[0] in given else names[0]
        others = f" (nor {', '.join(names[1:])})" if names[1:] else ""
        raise StacklensError(
            f"--all verifies every network of the zoo, each with its own language, and takes no {refused}{others}; "
            "leave out one or the other"
        )


def _verify_one(
    job: Job,
    result: Extraction | None,
    place: Path,
    resume: bool,
    jobs: int,
    scheduler: str | None,
    report: Path | None,
    quiet: bool,
) -> int:
    from ..core.files import write_whole
    from ..extract.claims import headline
    from ..extract.jobs import Journal
    from ..extract.verification.exhaustive import verify_exhaustively

    with Journal.open(place, job.settings(), resume) as kept:
        pda = _journal_automaton(job, kept, quiet)
        if pda is None:
            kept.remove()
            return _NO_AUTOMATON
        work = job.work(pda)
        begun = time.perf_counter()
        with progress_bar(quiet) as bar:
            task = bar.add_task("verify", total=sum(map(work.words, work.chunks)))
            found = verify_exhaustively(work, kept, jobs, scheduler, lambda words: bar.update(task, advance=words))
        seconds = time.perf_counter() - begun
        content = _report(job, work, found, None if result is None else result.checked_again())
        status = max(found.status, int(content["proof"]["verdict"] == "different" or bool(content["refuted"])))
        if report is not None:
            write_whole(report, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        if not quiet:
            _show_verification(content, found, work.pda.n_stacks, seconds)
        elif status:
            typer.echo(headline(content))
        kept.remove()  # last: a run that is killed before has not shown the result
    return status


def _journal_automaton(job: Job, journal: Journal, quiet: bool) -> PushdownAutomaton | None:
    """Return the automaton to verify: the one given, the one in the journal, or else the one extracted now."""
    from ..automata.formats.json import from_json, to_json

    if job.given is not None:
        return job.given
    if "automaton" in journal.kept:
        return from_json(journal.kept["automaton"])
    from ..extract.config import ExtractionConfig
    from ..extract.extraction import extract

    with progress_bar(quiet) as bar:
        found = extract(job.model, job.specification, ExtractionConfig(), stages_on(bar))
    if found.minimised is None:
        typer.echo(f"automaton  none: {found.reason}")
        return None
    journal.keep(automaton=to_json(found.automaton))
    return found.automaton


def _report(job: Job, work: Work, found: Verification, result: Extraction | None) -> dict[str, Any]:
    """Return what was found as plain data, without the time it took: the same in any number of processes.

    Of a saved ``result`` proof, certificate and differences are added that were shown again; nothing else of its file.
    """
    from ..automata.compare import Equal
    from ..extract.certificate.certify import CERTIFICATE_NOT_TRIED
    from ..extract.claims import equals_of
    from ..extract.horizon import horizon_of, proved_lengths
    from ..extract.report import proof_entry
    from ..extract.result import PROOF_NOT_TRIED

    language = None if job.specification is None else job.specification.name
    proof: Comparison = PROOF_NOT_TRIED
    certificate, refuted = CERTIFICATE_NOT_TRIED, list[str]()
    first = {other: [one.difference] for other, one in found.horizon.items()}
    if result is not None and result.language_name == language and result.loaded is not None:
        shown, refuted = result.loaded.shown, list(result.loaded.refuted)
        proof = result.proof if "proof" in shown else proof
        certificate = result.certificate if "certificate" in shown else certificate
        for other in first:
            if f"difference.{other}" in shown:
                first[other].append(result.horizon[other].difference)
    proved = proved_lengths(certificate, isinstance(proof, Equal))
    horizon = {
        other: horizon_of(
            found.checks,
            other,
            False,
            min((one for one in some if one is not None), key=lambda one: len(one.word), default=None),
            [one for one in proved if one.is_of(other)],
        ).to_dict()
        for other, some in first.items()
    }
    report = {
        "schema": 2,
        "model": {"name": job.model.name, "file": str(job.path), "alphabet": list(job.model.alphabet)},
        "language": language,
        "automaton": {
            "states": len(work.pda.states),
            "stack_symbols": len(work.pda.stack_alphabet),
            "transitions": len(work.pda.transitions),
        },
        "chunks": len(work.chunks),
        **found.to_dict(),
        "horizon": horizon,
        "proof": proof_entry(proof),
        "certificate": certificate.to_dict(),
        "refuted": refuted,
    }
    return {**report, "equals": equals_of(report)}


def _show_verification(report: Mapping[str, Any], found: Verification, n_stacks: int, seconds: float) -> None:
    from ..extract.claims import claims_of, headline
    from ..extract.wording import agreement_claim, as_sentence, whole_word, word_named

    claims = {claim.what: claim for claim in claims_of({**report, "n_stacks": n_stacks}, asides=True)}
    typer.echo(f"{as_sentence(headline(report))}\n")
    typer.echo(f"network    {claims['network'].words}")
    typer.echo(f"automaton  {claims['automaton'].words}")
    for number, (other, entry) in enumerate(report["horizon"].items()):
        typer.echo(f"{'' if number else 'horizon':10} {claims[f'horizon, {other}'].in_brief}")
        if (word := whole_word(entry)) is not None:
            typer.echo(f"           in full: {word}")
    for check in found.checks:
        entry = check.to_dict()
        against = "the language's automaton" if check.other == "language" else f"the {check.other}"
        typer.echo(f"verified   against {against}: {agreement_claim(entry)}")
        if entry["counterexample"] is not None:
            typer.echo(f"           they differ on {word_named(entry['counterexample'])}")
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

_WIDTH = 150  # of the table, at least, where nobody says how wide
_SUFFIXES = {".pt", ".pth", ".dat", ""}  # of the authors' files; those of the C++ program have none


@dataclass(frozen=True)
class VerifiedNetwork:
    """What is known of one network: the parts of its extraction's report that say how far it can be trusted.

    Attributes:
        network: its file's name.
        language: what it was trained on.
        status: of the extraction, 0, 1 or 3.
        automaton: sizes, or None.
        reason: why there is no automaton, or None.
        proof, certificate: verdicts with their reasons.
        checks: the exhaustive ones.
        horizon, equals: how far the automaton agrees with which network, and which of the three it equals.
    """

    network: str
    language: str | None
    status: int
    automaton: dict[str, Any] | None
    reason: str | None
    proof: dict[str, Any]
    certificate: dict[str, Any]
    checks: list[dict[str, Any]]
    horizon: dict[str, Any] = field(default_factory=dict)
    equals: dict[str, Any] | None = None


def networks_in(published: Path | None) -> list[Path]:
    """Return the zoo's networks, and those in the folder ``published`` and its folders.

    Raises:
        StacklensError: there is no such folder, or no network in it.
    """
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


def verify_all(
    networks: Sequence[Path],
    max_length: int | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Callable[[], None] = lambda: None,
) -> list[VerifiedNetwork]:
    """Return a row for every one of ``networks``, in their order; they are extracted side by side.

    Args:
        networks: files.
        max_length: exhaustive up to this length where that is possible, None for about 2.5 million words each.
        jobs, scheduler: see `jobs.finished`.
        progress: called as each of them is finished.
    """
    from ..extract.jobs import finished
    from ..models.checkpoint import load_network

    rows: dict[Path, VerifiedNetwork] = {}
    loaded = ((path, load_network(path)) for path in networks)  # here, since workers elsewhere do not have the files
    for path, row in finished(_Verify(max_length), loaded, jobs, scheduler):
        rows[path] = row
        progress()
    return [rows[path] for path in networks]


@dataclass(frozen=True)
class _Verify:
    """A task that can be sent to another process."""

    max_length: int | None

    def __call__(self, given: tuple[Path, Checkpoint]) -> tuple[Path, VerifiedNetwork]:
        from ..extract.by_name import specification_of
        from ..extract.config import ExtractionConfig
        from ..extract.extraction import extract

        path, checkpoint = given
        found = extract(checkpoint.model, specification_of(checkpoint), ExtractionConfig(max_length=self.max_length))
        content = found.report()
        return path, VerifiedNetwork(
            network=path.name,
            language=checkpoint.task.get("language"),
            status=found.status,
            automaton=content["automaton"],
            reason=content["reason"],
            proof=content["proof"],
            certificate=content["certificate"],
            checks=[check for check in content["checks"] if check["kind"] == "exhaustive"],
            horizon=content["horizon"],
            equals=content["equals"],
        )


def write_table(path: Path, rows: Sequence[VerifiedNetwork]) -> None:
    """Write the rows as JSON, whole or not at all."""
    from ..core.files import write_whole
    from ..papers.results import versions

    content = {"schema": 1, "versions": versions(), "networks": [asdict(row) for row in rows]}
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def show_table(rows: Sequence[VerifiedNetwork]) -> None:
    """Print the rows as a table, and under it why networks have no automaton."""
    from rich.console import Console
    from rich.table import Column, Table

    table = Table(
        Column("network", overflow="fold"),
        "language",
        "size*",
        "proof",
        "all words",
        "differ**",
        "certificate",
        "rounded***",
        "network***",
    )
    for row in rows:
        table.add_row(row.network.removesuffix(".pt"), row.language or "not known", *_verdict_cells(row))
    console = Console(highlight=False)
    wide = Console(highlight=False, width=max(console.width, _WIDTH))
    wide.print(table)
    wide.print("*  states x stack symbols", markup=False)
    wide.print("** the automaton from the language, the rounded network and the network", markup=False)
    wide.print(
        "*** the automaton agrees with it on all words so long, or that need so many cells, and not on a word so long",
        markup=False,
    )
    for row in rows:
        if row.reason is not None:
            wide.print(f"{row.network}: no automaton: {row.reason}", markup=False)


def _verdict_cells(row: VerifiedNetwork) -> list[str]:
    from ..extract.wording import NETWORKS, horizon_cell

    if row.automaton is None:
        return ["none", *[""] * 6]
    sizes = f"{row.automaton['states']} x {row.automaton['stack_symbols']}"
    by_other = {check["between"][1]: check for check in row.checks}
    words = next((f"{check['words']:,} <= {check['max_length']}" for check in row.checks), "")
    differ = ", ".join(
        f"{by_other[other]['disagreements']:,}" if other in by_other else "-"
        for other in ("language", "rounded network", "network")
    )
    horizons = [horizon_cell(row.horizon.get(other)) for other in NETWORKS]
    return [sizes, row.proof["verdict"], words, differ, row.certificate["verdict"], *horizons]
