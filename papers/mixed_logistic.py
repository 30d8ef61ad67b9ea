"""A logistic model of networks with groups: slopes of predictors, and an effect of each family and of each task.

The fit is that of statsmodels (`BinomialBayesMixedGLM`, variational): slopes have a normal prior of mean 0 and standard
deviation 2, logarithms of the groups' standard deviations one of 0 and 1. So there is a fit even where some predictor
tells all. Starts are fixed and nothing is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.extras import needing

__all__ = ["Members", "MixedFit", "fit_mixed", "members_of"]

_PRIOR = 2.0  # standard deviation of a slope
_TOLERANCE, _SETTLED = 1e-6, 1e-3  # of the gradient: what is asked for, and what is taken for an end
_START = 0.5  # standard deviations that the search begins with


@dataclass(frozen=True)
class Members:
    """Which networks are in which groups: ``of`` is (N, G), 0 or 1, and ``kinds`` (G,) numbers the kinds of groups."""

    of: np.ndarray
    kinds: np.ndarray


def members_of(*kinds: Sequence[str]) -> Members:
    """Return the groups of every network, of several kinds of groups, each given by a name a network.

    >>> found = members_of(["a", "b", "a"], ["x", "x", "y"])
    >>> found.of.tolist(), found.kinds.tolist()
    ([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]], [0, 0, 1, 1])
    """
    columns, numbers = list[np.ndarray](), list[int]()
    for number, names in enumerate(kinds):
        for group in sorted(set(names)):
            columns.append(np.array([name == group for name in names], dtype=float))
            numbers.append(number)
    return Members(np.stack(columns, 1), np.array(numbers))


@dataclass(frozen=True)
class MixedFit:
    """A fitted model.

    Attributes:
        centre, scale: (P,) by which predictors are standardised, from the networks it was fitted to.
        effects: (1 + P + G,) on the log-odds: intercept, slopes a standard deviation, groups.
        covariance: of these, (1 + P + G, 1 + P + G), at the deviations of groups that were found.
        deviations: (K,) of the effects of groups, by kind.
        freedom: degrees of freedom of intervals: groups less one, summed over the kinds.
        settled: whether the search for it came to an end.
    """

    centre: np.ndarray
    scale: np.ndarray
    effects: np.ndarray
    covariance: np.ndarray
    deviations: np.ndarray
    freedom: int
    settled: bool

    def odds_ratios(self) -> np.ndarray:
        """Return the odds ratio of a standard deviation of each predictor with its 95 % interval, (P, 3).

        The interval is Student's: with few groups their deviations are hardly known, and a normal one is too narrow.
        """
        from scipy.stats import t

        slopes = slice(1, 1 + len(self.centre))
        half = t.ppf(0.975, self.freedom) * np.sqrt(np.diag(self.covariance)[slopes])
        ratios: np.ndarray = np.exp(np.stack([self.effects[slopes] + sign * half for sign in (0, -1, 1)], 1))
        return ratios

    def probabilities(self, values: np.ndarray, members: Members) -> np.ndarray:
        """Return the probability of the outcome for networks, (N,), to six digits; see `fit_mixed` for the arguments.

        What the fit does not know is averaged over: a group that it has not seen may have any effect that groups of its
        kind have (MacKay 1992, eq. 8: the mean of a logistic function over a normal).
        """
        rows = _design(values, self.centre, self.scale, members)
        spread = np.einsum("ni,ij,nj->n", rows, self.covariance, rows)
        odds = rows @ self.effects / np.sqrt(1 + np.pi * spread / 8)
        chances: np.ndarray = np.round(1 / (1 + np.exp(-odds)), 6)  # round-off of the fit is no order
        return chances


def fit_mixed(seen: np.ndarray, values: np.ndarray, members: Members) -> MixedFit:
    """Return the model of outcomes by predictors and groups.

    Args:
        seen: (N,) of outcomes, 0 or 1, of which both must occur.
        values: (N, P), NaN for what a network has not, which counts as the mean.
        members: their groups. One without a network gets the effect 0, give or take what its kind has.

    Raises:
        StacklensError: statsmodels is not installed.
    """
    with needing("the model of the findings", "findings"):
        from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    known = np.ma.masked_invalid(values)
    centre = np.ma.filled(known.mean(0), 0.0)
    scale = np.ma.filled(known.std(0), 0.0)
    scale = np.where(scale < 1e-9, 1.0, scale)
    rows, fixed = _design(values, centre, scale, members), 1 + values.shape[1]
    there = members.of.any(0)
    groups, kinds = members.of[:, there], members.kinds[there]
    model = BinomialBayesMixedGLM(seen.astype(float), rows[:, :fixed], groups, kinds, fe_p=_PRIOR)
    model.exog_vc = model.exog_vc2 = groups.view(_Dense)  # ones and zeros, which are their own squares
    number = fixed + kinds.max() + 1 + groups.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is asked below; overflows are those of its search
        end: Any = model.fit_vb(np.zeros(number), np.full(number, _START), minim_opts={"gtol": _TOLERANCE})
    effects, deviations = np.zeros(rows.shape[1]), np.exp(end.vcp_mean)
    effects[np.concatenate([np.ones(fixed, bool), there])] = np.concatenate([end.fe_mean, end.vc_mean])
    return MixedFit(
        centre,
        scale,
        effects,
        _covariance(rows, effects, np.concatenate([np.full(fixed, _PRIOR), deviations[members.kinds]])),
        deviations,
        max(1, int((np.bincount(kinds) - 1).sum())),
        bool(np.abs(end.optim_retvals.jac).max() < _SETTLED),
    )


class _Dense(np.ndarray):
    """An array that takes the words of a sparse one: at a few hundred rows it is three times as fast."""

    def multiply(self, other: np.ndarray) -> np.ndarray:
        """Return the products, element by element."""
        product: np.ndarray = self * other
        return product


def _design(values: np.ndarray, centre: np.ndarray, scale: np.ndarray, members: Members) -> np.ndarray:
    standardised = np.nan_to_num((values - centre) / scale, nan=0.0)
    return np.concatenate([np.ones((len(values), 1)), standardised, members.of], 1)


def _covariance(rows: np.ndarray, effects: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Return the covariance of the effects by the curvature of their posterior.

    The variational fit takes effects for independent: its own intervals are too narrow where predictors go together.
    """
    chances = 1 / (1 + np.exp(-rows @ effects))
    weights = chances * (1 - chances)
    found: np.ndarray = np.linalg.inv(rows.T @ (weights[:, None] * rows) + np.diag(priors**-2.0))
    return found
