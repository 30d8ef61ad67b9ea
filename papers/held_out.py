"""How well probabilities predict networks of groups that a model has not seen: order, distance, calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stacklens.papers.intervals import wilson
from stacklens.papers.mixed_logistic import Members, fit_mixed

__all__ = ["Bin", "HeldOut", "auc", "auc_within", "brier", "calibration", "hold_out"]

_DRAWN = 2.0  # networks' weight with which a share is drawn to that of all
_BINS = 5


@dataclass(frozen=True)
class HeldOut:
    """Networks, each predicted by a fit to those of other groups alone.

    Attributes:
        groups: (N,) the one that was held out, of each network.
        seen: (N,) its outcome, 0 or 1.
        model: (N,) its probability by the model.
        rates: (N,) by the share of the networks of its other group, as the family where tasks are held out.
        overall: (N,) by the share of all networks of the other groups.
        settled: whether all fits came to an end.
    """

    groups: tuple[str, ...]
    seen: np.ndarray
    model: np.ndarray
    rates: np.ndarray
    overall: np.ndarray
    settled: bool

    def gain(self, baseline: np.ndarray) -> tuple[float, float, float]:
        """Return by how much the model's Brier score is below that of a ``baseline``, with a 95 % interval over groups.

        Groups are what is drawn, and the interval is Student's: networks of a group are no independent evidence.
        """
        from scipy.stats import t

        gains = (baseline - self.seen) ** 2 - (self.model - self.seen) ** 2
        names = sorted(set(self.groups))
        of = np.array([names.index(group) for group in self.groups])
        mean, k = float(gains.mean()), len(names)
        rests = np.bincount(of, weights=gains - mean)
        half = float(t.ppf(0.975, k - 1)) * math.sqrt(float((rests**2).sum()) * k / (k - 1)) / len(gains)
        return mean, mean - half, mean + half


def hold_out(
    seen: np.ndarray,
    values: np.ndarray,
    members: Members,
    held: Sequence[str],
    other: Sequence[str],
) -> HeldOut:
    """Return every network as predicted by a fit to all networks but those of its group.

    Args:
        seen, values, members: as for `fit_mixed`; both outcomes must occur outside every group.
        held: (N,) the groups that are held out, one at a time.
        other: (N,) the groups whose shares are the baseline.
    """
    groups, others = np.array(held), np.array(other)
    model, rates, overall = (np.zeros(len(seen)) for _ in range(3))
    settled = True
    for group in sorted(set(held)):
        out = groups == group
        rest = Members(members.of[~out], members.kinds)
        fit = fit_mixed(seen[~out], values[~out], rest)
        settled &= fit.settled
        model[out] = fit.probabilities(values[out], Members(members.of[out], members.kinds))
        overall[out] = share = seen[~out].mean()
        for name in set(others[out]):
            known = seen[~out & (others == name)]
            rates[out & (others == name)] = (known.sum() + _DRAWN * share) / (len(known) + _DRAWN)
    return HeldOut(tuple(held), seen, model, np.round(rates, 6), np.round(overall, 6), settled)


def auc(seen: np.ndarray, chances: np.ndarray) -> float | None:
    """Return how often, of two networks, the one of outcome 1 has the higher chance; None with one outcome alone.

    >>> auc(np.array([0, 1, 1]), np.array([0.2, 0.2, 0.9]))
    0.75
    """
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(seen, chances)) if 0 < seen.sum() < len(seen) else None


def auc_within(seen: np.ndarray, chances: np.ndarray, groups: Sequence[str]) -> float | None:
    """Return the same of two networks of one group, over all such pairs; None where there are none.

    What a model says of one group beside another has no part in it.
    """
    names, won, pairs = np.array(groups), 0.0, 0.0
    for group in sorted(set(groups)):
        own = names == group
        number = float(seen[own].sum() * (1 - seen[own]).sum())
        won += number * (auc(seen[own], chances[own]) or 0.0)
        pairs += number
    return won / pairs if pairs else None


def brier(seen: np.ndarray, chances: np.ndarray) -> float:
    """Return the mean squared distance of chances from what came, 0 for perfect foresight.

    >>> brier(np.array([0, 1]), np.array([0.5, 1.0]))
    0.125
    """
    return float(((chances - seen) ** 2).mean())


class Bin(NamedTuple):
    """Networks whose chances lie from ``low`` up to ``high``: mean chance, how many had the outcome, of how many."""

    low: float
    high: float
    mean: float
    hits: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the share that had the outcome."""
        return wilson(self.hits, self.of)


def calibration(seen: np.ndarray, chances: np.ndarray) -> list[Bin]:
    """Return the networks by their chance in five equal steps; steps without a network are left out.

    >>> [one[3:] for one in calibration(np.array([0, 1, 1]), np.array([0.1, 0.15, 1.0]))]
    [(1, 2), (1, 1)]
    """
    steps = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    found = []
    for step in sorted(set(steps.tolist())):
        own = steps == step
        mean = float(chances[own].mean())
        found.append(Bin(step / _BINS, (step + 1) / _BINS, mean, int(seen[own].sum()), int(own.sum())))
    return found
