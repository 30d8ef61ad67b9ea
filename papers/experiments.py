"""The experiments by name, and running them."""

from __future__ import annotations

import time
from collections.abc import Callable

from stacklens.errors import UnknownNameError
from stacklens.papers import (
    hao2018,
    hao2018_claims,
    joulin2015,
    repeated_blocks,
    sun1993,
    sun1993_palindromes,
    sun1993_rtrl,
    suzgun2019,
    suzgun2019_counts,
    suzgun2019_traces,
)
from stacklens.papers.claims import Experiment, PaperClaim
from stacklens.papers.grid import Grid
from stacklens.papers.results import Measured, Results, versions

__all__ = ["EXPERIMENTS", "check_name", "run_experiment"]

# Claims of a paper, or a grid: its table. A paper's module says which there are by ``grids()``.
EXPERIMENTS: dict[str, Callable[[], Experiment | Grid]] = {
    "sun1993-claims": sun1993.claims_experiment,
    "sun1993-training": sun1993.training_experiment,
    "sun1993-rtrl": sun1993_rtrl.rtrl_experiment,
    "sun1993-palindromes": sun1993_palindromes.palindromes_experiment,
    **joulin2015.grids(),
    **hao2018.grids(),
    "hao2018-claims": hao2018_claims.claims_experiment,
    **suzgun2019.grids(),
    suzgun2019_traces.NAME: suzgun2019_traces.traces_experiment,
    "suzgun2019-counts": suzgun2019_counts.counts_experiment,
    "suzgun2019-repeated-blocks": repeated_blocks.repeated_blocks,
}


def check_name(name: str) -> str:
    """Return ``name`` if an experiment is called so.

    Raises:
        UnknownNameError: none is; the message lists those that there are.
    """
    if name not in EXPERIMENTS:
        raise UnknownNameError("experiment", name, list(EXPERIMENTS))
    return name


def run_experiment(experiment: Experiment, progress: Callable[[str], None] = lambda _: None) -> Results:
    """Return what ``experiment`` measures; ``progress`` is told every claim as its turn comes."""
    begun = time.process_time()
    claims = tuple(_measure(claim, experiment.name, progress) for claim in experiment.claims)
    return Results(
        paper=experiment.paper,
        experiment=experiment.name,
        title=experiment.title,
        claims=claims,
        seeds=experiment.seeds,
        versions=versions(),
        seconds=round(time.process_time() - begun, 1),
    )


def _measure(claim: PaperClaim, experiment: str, progress: Callable[[str], None]) -> Measured:
    progress(f"{claim.section} {claim.claim}")
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
