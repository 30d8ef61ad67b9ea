"""`stacklens verify`: an automaton against its network and its language on all words up to a length, however long."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import StacklensError
from ..core.progress import progress_bar, stages_on
from .shell import MODEL_OR_RESULT_HELP, MOST_JOBS, saved_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..automata.compare import Comparison
    from ..automata.pda import PushdownAutomaton
    from ..extract.jobs import Journal
    from ..extract.result import Extraction
    from ..extract.verification.exhaustive import Job, Verification, Work


_NO_AUTOMATON = 3


def verify_command(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help=MODEL_OR_RESULT_HELP)] = None,
    automaton: Annotated[
        Path | None, typer.Option(help="The automaton: .json, .jff or .dot (default: extract it first).")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="What it should recognise; by default what the file says it was trained on.")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=0, help="All words up to this length (default: about 2.5 million words).")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="Processes on this machine.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="A Dask scheduler, tcp://host:8786, whose workers do it instead.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the journal of a run that was killed.")] = False,
    journal: Annotated[
        Path | None, typer.Option(help="The journal (default: MODEL's name.verify.jsonl, here); deleted in the end.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write all figures to this .json file.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="A table of every network of the zoo: proof, counts and certificate.")
    ] = False,
    published: Annotated[
        Path | None, typer.Option(help="With --all: a folder with published networks, for the table too.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")] = False,
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
        return _verify_all(max_length, published, jobs, scheduler, report, quiet)
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
    return _verify_one(job, result, place, resume, jobs, scheduler, report, quiet)


def _check_of_all(given: Mapping[str, object], resume: bool) -> None:
    """Check that nothing is ``given`` that is about one network.

    Raises:
        StacklensError: something is, which the table of all networks could not heed.
    """
    names = [name for name, value in given.items() if value is not None] + ["--resume"] * resume
    if names:
        told = f"{names[0]} {given[names[0]]}" if names[0] in given else names[0]
        others = f" (nor {', '.join(names[1:])})" if names[1:] else ""
        raise StacklensError(
            f"--all verifies every network of the zoo, each with its own language, and takes no {told}{others}; "
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

    with Journal.open(place, job.settings(), resume) as kept:
        pda = _automaton(job, kept, quiet)
        if pda is None:
            kept.remove()
            return _NO_AUTOMATON
        work = job.work(pda)
        begun = time.perf_counter()
        found = _run(work, kept, jobs, scheduler, quiet)
        seconds = time.perf_counter() - begun
        content = _report(job, work, found, None if result is None else result.checked_again())
        status = max(found.status, int(content["proof"]["verdict"] == "different" or bool(content["refuted"])))
        if report is not None:
            write_whole(report, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        if not quiet:
            _show(content, found, work.pda.n_stacks, seconds)
        elif status:
            typer.echo(headline(content))
        kept.remove()  # last: whoever is killed before has not seen the result
    return status


def _automaton(job: Job, journal: Journal, quiet: bool) -> PushdownAutomaton | None:
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


def _run(work: Work, journal: Journal, jobs: int, scheduler: str | None, quiet: bool) -> Verification:
    from ..extract.verification.exhaustive import verify_exhaustively

    with progress_bar(quiet) as bar:
        task = bar.add_task("verify", total=sum(map(work.words, work.chunks)))
        return verify_exhaustively(work, journal, jobs, scheduler, lambda words: bar.update(task, advance=words))


def _report(job: Job, work: Work, found: Verification, result: Extraction | None) -> dict[str, Any]:
    """Return what was found as plain data, without the time it took: the same whoever did it.

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
            proved if other == "rounded network" else (),
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


def _show(report: Mapping[str, Any], found: Verification, n_stacks: int, seconds: float) -> None:
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


def _verify_all(
    max_length: int | None,
    published: Path | None,
    jobs: int,
    scheduler: str | None,
    report: Path | None,
    quiet: bool,
) -> int:
    from .verify_all import networks_in, show_table, verify_all, write_table

    networks = networks_in(published)
    with progress_bar(quiet) as bar:
        task = bar.add_task("extract and verify", total=len(networks))
        rows = verify_all(networks, max_length, jobs, scheduler, lambda: bar.update(task, advance=1))
    if report is not None:
        write_table(report, rows)
    if not quiet:
        show_table(rows)
    return max((row.status for row in rows if row.status != _NO_AUTOMATON), default=0)
