"""What a model of the findings is fitted to: networks that learned, what was measured of them, what came of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network
from stacklens.papers.learned import family_of, is_equal, is_good, is_read, task_of

__all__ = [
    "OUTCOMES",
    "PREDICTORS_TOGETHER",
    "PREDICTORS_USED",
    "Observation",
    "learned",
    "observations",
    "on_scale",
    "values_of",
]

# one for each idea of what may tell; others of `predictors.PREDICTORS` say nearly the same as one of these
PREDICTORS_USED = ("action entropy", "action margin, 5 %", "output drift", "spectral radius", "pushed spread")
# entropy and margin are two figures of one thing: in one model each would take the other's part
PREDICTORS_TOGETHER = PREDICTORS_USED[1:]
# as the text names them; of every network that learned its task and was tried
OUTCOMES = {
    "read": "an automaton is read",
    "proved": "proved equal to the task",
    "good": "nothing contradicts it",
}
_SUREST = 0.5  # the largest margin there is
_LEAST = 1e-6  # the digits that are kept


@dataclass(frozen=True)
class Observation:
    """One network that learned its task.

    Attributes:
        family: of networks, over all tables.
        task: what it learned.
        values: of `PREDICTORS_USED`, None for what the network has not.
        came_to: whether each of `OUTCOMES` came of it.
    """

    family: str
    task: str
    values: tuple[float | None, ...]
    came_to: tuple[bool, ...]

    def __getitem__(self, outcome: str) -> bool:
        """Return whether the outcome of this name came of it."""
        return self.came_to[list(OUTCOMES).index(outcome)]


def learned(measured: Iterable[tuple[Grid, GridResults]]) -> Iterator[tuple[Grid, GridRow, Network]]:
    """Yield the networks with a memory that learned their task, were measured before extraction, and were tried."""
    for grid, results in measured:
        for row in grid.rows:
            if family_of(grid, row) is not None:
                for network in (one for run in results.runs(row.name) for one in run.networks):
                    known = (network.measures or {}).get("predictors") is not None
                    if network.converged and network.extraction is not None and known:
                        yield grid, row, network


def observations(measured: Iterable[tuple[Grid, GridResults]]) -> tuple[Observation, ...]:
    """Return the networks of `learned` as a model takes them."""
    found = []
    for grid, row, network in learned(measured):
        values = (network.measures or {})["predictors"]
        named = tuple(values.get(name) for name in PREDICTORS_USED)
        came_to = is_read(network), is_equal(network), is_good(network)
        found.append(Observation(family_of(grid, row) or "", task_of(grid, row), named, came_to))
    return tuple(found)


def on_scale(name: str, value: float | None) -> float:
    """Return a predictor as the model takes it: its logarithm to base 10, of a margin what it lacks, the sign turned.

    All of them are small and spread over powers of ten; what is below a millionth is taken for that. What a network has
    not is NaN.

    >>> on_scale("action entropy", 0.01), on_scale("action margin, 5 %", 0.49), on_scale("output drift", 0.0)
    (-2.0, 2.0, -6.0)
    """
    if value is None or math.isnan(value):
        return math.nan
    if name.startswith("action margin"):
        return -math.log10(max(round(_SUREST - value, 12), _LEAST))
    return math.log10(max(value, _LEAST))


def values_of(found: Iterable[Observation]) -> np.ndarray:
    """Return the predictors of networks as the model takes them, (N, P)."""
    rows = [[on_scale(name, value) for name, value in zip(PREDICTORS_USED, one.values, strict=True)] for one in found]
    return np.array(rows, dtype=float).reshape(-1, len(PREDICTORS_USED))
