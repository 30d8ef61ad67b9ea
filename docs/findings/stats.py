"""Intervals of shares and tests over rows of networks: statsmodels and scipy, put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm, t
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

SURE = 0.05
IntArray = npt.NDArray[np.int64]


def wilson(hits: float, of: float, alpha: float = SURE) -> tuple[float, float]:
    """Return the interval of a share of which ``hits`` of ``of`` were seen, in [0, 1] (Wilson 1927)."""
    low, high = proportion_confint(hits, of, alpha=alpha, method="wilson")
    return float(low), float(high)


def counted(hits: int, of: int) -> str:
    """Return a count with its share and interval in words.

    >>> counted(8, 10)
    '8 of 10 (80 %, 95 % interval 49 to 94)'
    """
    return _in_words(hits, of, wilson(hits, of)) if of else "0 of 0"


def counted_in_rows(rows: Iterable[tuple[int, int]]) -> str:
    """Return a count over rows of networks, (hits, of) each, with a 95 % interval that lets rows differ.

    Networks of a row are no independent evidence. The interval is Wilson's for a smaller number of networks: that
    which, independent, would leave the share as uncertain as the rows do (after Rao & Scott 1992, "A simple method for
    the analysis of clustered binary data"), and no more than there are; with Student's quantile for the number of rows.
    Where all networks are alike each row counts as one. One row
    has no interval.

    >>> counted_in_rows([(9, 10), (3, 10), (5, 10), (7, 10), (0, 0)]), counted_in_rows([(3, 4)])
    ('24 of 40 (60 %, 95 % interval 24 to 88)', '3 of 4 (75 %, one row)')
    """
    found = np.array([row for row in rows if row[1]], dtype=int).reshape(-1, 2)
    (hits, of), k = found.sum(0).tolist(), len(found)
    if k < 2:
        return f"{hits} of {of} ({100 * hits / of:.0f} %, one row)" if of else "0 of 0"
    return _in_words(hits, of, _interval(found))


def _interval(found: IntArray) -> tuple[float, float]:
    """Return the interval of a share over rows (k, 2), hits and of, k > 1."""
    (hits, of), k = found.sum(0).tolist(), len(found)
    share = hits / of
    # the variance of the share between rows, and what it would be if networks were independent
    between = ((found[:, 0] - share * found[:, 1]) ** 2).sum() * k / (k - 1) / of**2
    within = share * (1 - share)
    effective = k if within == 0 else min(of, within / between) if between else of
    quantile = t.ppf(1 - SURE / 2, k - 1)
    return wilson(share * effective, effective, 2 * norm.sf(quantile))


def interval_in_rows(networks: pd.DataFrame, has: str) -> tuple[int, int, float, float]:
    """Return how many networks have what a column says, of how many, and the ends of the share's interval over rows."""
    by_row = networks.groupby("row")[has].agg(["sum", "size"]).to_numpy(dtype=int)
    hits, of = by_row.sum(0).tolist()
    return hits, of, *(_interval(by_row) if len(by_row) > 1 else (0.0, 1.0))


def _in_words(hits: int, of: int, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{hits} of {of} ({100 * hits / of:.0f} %, 95 % interval {100 * low:.0f} to {100 * high:.0f})"


def share(networks: pd.DataFrame, has: str) -> str:
    """Return how many networks have what column ``has`` says, with an interval over rows."""
    by_row = networks.groupby("row")[has].agg(["sum", "size"]) if len(networks) else pd.DataFrame()
    return counted_in_rows((int(hits), int(of)) for hits, of in by_row.to_numpy())


def independent(seeds: Iterable[int], alike: float) -> float:
    """Return how many independent networks would leave as much open about a mean as those of ``seeds``.

    Networks of one seed, trained on several sets of words, have scores that are correlated by ``alike`` (Kish 1965,
    "Survey sampling", the design effect).

    >>> [independent([0, 0, 1, 1], alike) for alike in (0.0, 0.25, 1.0)]
    [4.0, 3.2, 2.0]
    """
    sizes = np.array(list(Counter(seeds).values()))
    return float(sizes.sum() ** 2 / (sizes * (1 + (sizes - 1) * alike)).sum())


def two_means(ours: float, n: float, theirs: float, m: float) -> float:
    """Return z of the difference of two means of scores in [0, 1], over ``n`` and over ``m`` networks.

    The variance is that of scores which are 0 or 1, the largest that there can be with these means: with what papers
    print, which is no spread, the test errs on the side of "within noise".

    >>> round(two_means(0.9, 10, 0.4, 10), 2), two_means(1.0, 5, 1.0, 10)
    (2.34, 0.0)
    """
    if ours == theirs:
        return 0.0
    return float(proportions_ztest([n * ours, m * theirs], [n, m])[0])


def holm(p: Sequence[float]) -> list[float]:
    """Return each of the probabilities ``p`` with all of them allowed for (Holm 1979), in their order."""
    return [float(one) for one in multipletests(p, method="holm")[1]] if len(p) else []


def p_of_sign_flips(values: Sequence[float]) -> float:
    """Return which share of all flips of signs gives a sum of ``values`` as far from 0 as theirs, or farther.

    >>> p_of_sign_flips([1.0, 2.0, 3.0])
    0.25
    """
    signs = np.array(list(product((1, -1), repeat=len(values))))
    sums = np.abs(signs @ np.asarray(values))
    return float((sums >= sums[0] - 1e-9).mean())


def p_in_words(p: float) -> str:
    """Return a p as the text shows it."""
    return "p < .0001" if p < 0.0001 else f"p = {p:.2g}"
