"""Measuring the claims of an experiment one after the other; what a stopped run has measured is not measured again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from stacklens.errors import StacklensError
from stacklens.papers.claims import Experiment, PaperClaim
from stacklens.papers.results import Measured, Results, read_results, result_path, versions, write_results

__all__ = ["part_of", "run_experiment", "run_into"]

_Progress = Callable[[str], None]


def run_experiment(
    experiment: Experiment,
    progress: _Progress = lambda _: None,
    *,
    before: tuple[Measured, ...] = (),
    after_each: Callable[[Results], object] = lambda _: None,
) -> Results:
    """Return what ``experiment`` measures.

    Args:
        experiment: what to measure.
        progress: told every claim as its turn comes.
        before: the first claims, where they were measured by a run that was stopped.
        after_each: given what is measured so far, after every claim.
    """
    results = Results(
        paper=experiment.paper,
        experiment=experiment.name,
        title=experiment.title,
        claims=(),
        seeds=experiment.seeds,
        versions=versions(),
        seconds=round(sum(claim.seconds for claim in before), 1),
    )
    for number, claim in enumerate(experiment.claims):
        progress(f"{claim.section} {claim.claim}")
        if number < len(before):
            results = replace(results, claims=(*results.claims, before[number]))
            continue
        done = _measure(claim, experiment.name)
        results = replace(results, claims=(*results.claims, done), seconds=round(results.seconds + done.seconds, 1))
        after_each(results)
    return results


def run_into(experiment: Experiment, folder: Path, progress: _Progress = lambda _: None) -> Results:
    """Return what ``experiment`` measures, written into ``folder`` once it is whole.

    Until then what is measured stands in a file of its own, see `part_of`: a run that was stopped goes on from there,
    unless a version, a seed or a claim has changed since. Results that were there before stay until then.

    Raises:
        StacklensError: the folder is missing or cannot be written to.
    """
    part = f"{experiment.name}.part"
    results = run_experiment(
        experiment,
        progress,
        before=_measured_before(experiment, part, folder),
        after_each=lambda so_far: write_results(replace(so_far, experiment=part), folder),
    )
    write_results(results, folder)
    part_of(experiment, folder).unlink(missing_ok=True)
    return results


def part_of(experiment: Experiment, folder: Path) -> Path:
    """Return where `run_into` keeps the claims that it has measured, until it has measured all."""
    return result_path(f"{experiment.name}.part", folder)


def _measured_before(experiment: Experiment, part: str, folder: Path) -> tuple[Measured, ...]:
    """Return the first claims as a stopped run measured them; none where anything is another than it was."""
    with suppress(StacklensError):  # no such file, or one that was spoilt: everything is measured
        found = read_results(part, folder)
        named = [(claim.section, claim.claim, claim.paper) for claim in experiment.claims[: len(found.claims)]]
        same = [(claim.section, claim.claim, claim.paper) for claim in found.claims] == named
        if same and found.versions == versions() and found.seeds == experiment.seeds:
            return found.claims
    return ()


def _measure(claim: PaperClaim, experiment: str) -> Measured:
    begun = time.process_time()
    finding = claim.measure()
    return Measured(
        section=claim.section,
        claim=claim.claim,
        paper=claim.paper,
        ours=finding.ours,
        figures=finding.figures,
        command=f"stacklens papers run {experiment}",
        seconds=round(time.process_time() - begun, 1),
    )
