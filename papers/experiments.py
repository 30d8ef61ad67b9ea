"""The experiments by name."""

from __future__ import annotations

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
    suzgun2019_search,
    suzgun2019_traces,
)
from stacklens.papers.claims import Experiment
from stacklens.papers.grid import Grid

__all__ = ["EXPERIMENTS", "check_name"]

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
    suzgun2019_search.NAME: suzgun2019_search.simple_palindrome_search,
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
