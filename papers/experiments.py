"""The experiments by name."""

from __future__ import annotations

from collections.abc import Callable

from ..core.errors import UnknownNameError
from . import hao2018, joulin2015, sun1993, sun1993_training, suzgun2019, suzgun2019_studies
from .grid import Grid
from .results import Experiment

# Claims of a paper, or a grid: its table. A paper's module says which there are by ``grids()``.
EXPERIMENTS: dict[str, Callable[[], Experiment | Grid]] = {
    "sun1993-claims": sun1993.claims_experiment,
    "sun1993-training": sun1993.training_experiment,
    "sun1993-rtrl": sun1993_training.rtrl_experiment,
    "sun1993-palindromes": sun1993_training.palindromes_experiment,
    **joulin2015.grids(),
    **hao2018.grids(),
    "hao2018-claims": hao2018.claims_experiment,
    **suzgun2019.grids(),
    suzgun2019_studies.SEARCH_NAME: suzgun2019_studies.simple_palindrome_search,
    suzgun2019_studies.TRACES_NAME: suzgun2019_studies.traces_experiment,
    "suzgun2019-counts": suzgun2019_studies.counts_experiment,
    "suzgun2019-repeated-blocks": suzgun2019_studies.repeated_blocks,
}


def check_name(name: str) -> str:
    """Return ``name`` if an experiment is called so.

    Raises:
        UnknownNameError: none is; the message lists those that there are.
    """
    if name not in EXPERIMENTS:
        raise UnknownNameError("experiment", name, list(EXPERIMENTS))
    return name
