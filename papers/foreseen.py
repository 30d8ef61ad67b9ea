"""Can one know before extracting? A model for each outcome, what it predicts of tasks and families it has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from stacklens.papers.held_out import HeldOut, hold_out
from stacklens.papers.mixed_logistic import fit_mixed, members_of
from stacklens.papers.observations import OUTCOMES, PREDICTORS_TOGETHER, PREDICTORS_USED, Observation, values_of

__all__ = ["GROUPS", "Foreseen", "foreseen", "separates"]

GROUPS = ("task", "family")  # of networks: each kind is held out in turn
_NETWORKS, _RARER, _ELSEWHERE = 40, 10, 5  # the least that a model is fitted to


@dataclass(frozen=True)
class Foreseen:
    """What is known of one outcome beforehand.

    Attributes:
        outcome: one of `OUTCOMES`.
        hits, of: how many networks came to it, of how many.
        too_few: why there is no model, in words; "" where there is one.
        alone: (P, 3) odds ratios with intervals, each predictor by itself beside the groups.
        together: (P, 3) the same, `PREDICTORS_TOGETHER` in one model, which is the one that predicts; NaN for others.
        separated: whether some weights of these tell all networks apart: odds ratios are the prior's.
        settled: whether all fits came to an end.
        held: by kind of group, what is predicted where groups of this kind are held out; those that can be.
        cannot: by kind of group, why groups of this kind cannot be held out; those that can are not among them.
    """

    outcome: str
    hits: int
    of: int
    too_few: str = ""
    alone: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    together: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    separated: bool = False
    settled: bool = True
    held: dict[str, HeldOut] = field(default_factory=dict)
    cannot: dict[str, str] = field(default_factory=dict)


@lru_cache(maxsize=4)
def foreseen(found: tuple[Observation, ...]) -> dict[str, Foreseen]:
    """Return what is known beforehand of each of `OUTCOMES`.

    Raises:
        StacklensError: statsmodels is not installed, and there is enough for a model.
    """
    return {outcome: _foreseen(found, outcome) for outcome in OUTCOMES}


def _foreseen(found: Sequence[Observation], outcome: str) -> Foreseen:
    seen = np.array([one[outcome] for one in found], dtype=int)
    hits, of = int(seen.sum()), len(found)
    if few := _too_few(found, hits, of):
        return Foreseen(outcome, hits, of, few)
    values, named = values_of(found), {kind: [str(getattr(one, kind)) for one in found] for kind in GROUPS}
    members = members_of(*named.values())
    used = [PREDICTORS_USED.index(name) for name in PREDICTORS_TOGETHER]
    together, ratios = fit_mixed(seen, values[:, used], members), np.full((len(PREDICTORS_USED), 3), np.nan)
    ratios[used] = together.odds_ratios()
    alone = [fit_mixed(seen, values[:, [p]], members) for p in range(len(PREDICTORS_USED))]
    cannot = {kind: _cannot(seen, named[kind]) for kind in GROUPS}
    held = {
        kind: hold_out(seen, values[:, used], members, named[kind], named[other])
        for kind, other in zip(GROUPS, GROUPS[::-1], strict=True)
        if not cannot[kind]
    }
    return Foreseen(
        outcome,
        hits,
        of,
        alone=np.concatenate([fit.odds_ratios() for fit in alone]),
        together=ratios,
        separated=separates(seen, values[:, used]),
        settled=all(fit.settled for fit in (together, *alone)) and all(one.settled for one in held.values()),
        held=held,
        cannot={kind: why for kind, why in cannot.items() if why},
    )


def _too_few(found: Sequence[Observation], hits: int, of: int) -> str:
    """Return why there is too little for a model, "" where there is enough."""
    if of < _NETWORKS:
        return f"too few networks: {of}, of {_NETWORKS} at least"
    if min(hits, of - hits) < _RARER:
        which = "without it" if of - hits < hits else "with it"
        return f"nearly all alike: {min(hits, of - hits)} of {of} networks are {which}, of {_RARER} at least"
    if any(len({getattr(one, kind) for one in found}) < 2 for kind in GROUPS):
        return "networks of one task or one family only"
    return ""


def _cannot(seen: np.ndarray, names: Sequence[str]) -> str:
    """Return why groups of a kind cannot be held out, "" where they can: the others must tell of both outcomes."""
    groups = np.array(names)
    if len(set(names)) < 3:
        return f"there are {len(set(names))} only"
    for group in sorted(set(names)):
        rarer = min(Counter({0: 0, 1: 0, **Counter(seen[groups != group].tolist())}).values())
        if rarer < _ELSEWHERE:
            return f"without {group} only {rarer} networks of the rarer outcome are left"
    return ""


def separates(seen: np.ndarray, values: np.ndarray) -> bool:
    """Return whether some weights of predictors put all networks of one outcome beyond all those of the other.

    Maximum likelihood has no end then (Albert & Anderson 1984). What a network has not counts as the mean.

    >>> separates(np.array([0, 0, 1]), np.array([[1.0], [2.0], [3.0]]))
    True
    """
    from scipy.optimize import linprog

    known = np.ma.masked_invalid(values)
    centred = np.ma.filled(known - known.mean(0), 0.0)
    signs = np.where(seen, 1.0, -1.0)[:, None]
    rows = -signs * np.concatenate([np.ones((len(seen), 1)), centred], 1)
    size = rows.shape[1]
    answer = linprog(np.zeros(size), A_ub=rows, b_ub=-np.ones(len(seen)), bounds=[(None, None)] * size)
    return int(answer.status) == 0
