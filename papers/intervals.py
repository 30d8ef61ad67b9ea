"""Intervals and tests for counts of networks, so that what lies within noise is not called a difference."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["counted", "counted_in_rows", "two_means", "wilson"]

_Z = 1.959964  # of a standard normal: 95 % lie within


def wilson(hits: float, of: float, z: float = _Z) -> tuple[float, float]:
    """Return the interval of a share of which ``hits`` of ``of`` were seen, in [0, 1] (Wilson 1927); 95 % by default.

    >>> [round(end, 3) for end in wilson(8, 10)], wilson(0, 0)
    ([0.49, 0.943], (0.0, 1.0))
    """
    if not of:
        return 0.0, 1.0
    share, room = hits / of, z * z / of
    centre, half = share + room / 2, z * math.sqrt(share * (1 - share) / of + room / of / 4)
    return max(0.0, (centre - half) / (1 + room)), min(1.0, (centre + half) / (1 + room))


def counted(hits: int, of: int) -> str:
    """Return a count with its share and interval in words.

    >>> counted(8, 10)
    '8 of 10 (80 %, 95 % interval 49 to 94)'
    """
    if not of:
        return "0 of 0"
    low, high = wilson(hits, of)
    return f"{hits} of {of} ({100 * hits / of:.0f} %, 95 % interval {100 * low:.0f} to {100 * high:.0f})"


def counted_in_rows(rows: Iterable[tuple[int, int]]) -> str:
    """Return a count over rows of networks, (hits, of) each, with a 95 % interval that lets rows differ.

    Networks of a row are no independent evidence. The interval is Wilson's for as many networks as would tell as much
    if they were (Rao & Scott 1992, "A simple method for the analysis of clustered binary data"), and no more than there
    are; with Student's quantile for the number of rows. Where all networks are alike each row counts as one. One row
    has no interval.

    >>> counted_in_rows([(9, 10), (3, 10), (5, 10), (7, 10), (0, 0)]), counted_in_rows([(3, 4)])
    ('24 of 40 (60 %, 95 % interval 24 to 88)', '3 of 4 (75 %, one row)')
    """
    from scipy.stats import t  # comes with scikit-learn; takes a while to import

    told = [(hits, of) for hits, of in rows if of]
    hits, of, k = sum(hits for hits, _ in told), sum(of for _, of in told), len(told)
    if k < 2:
        return f"{hits} of {of} ({100 * hits / of:.0f} %, one row)" if of else "0 of 0"
    share = hits / of
    spread = sum((own - share * size) ** 2 for own, size in told) * k / (k - 1) / of**2
    within = share * (1 - share)
    alike = k if within == 0 else of if spread * of <= within else within / spread
    low, high = wilson(share * alike, alike, float(t.ppf(0.975, k - 1)))
    return f"{hits} of {of} ({100 * share:.0f} %, 95 % interval {100 * low:.0f} to {100 * high:.0f})"


def two_means(ours: float, n: int, theirs: float, m: int) -> float:
    """Return z of the difference of two means of scores in [0, 1], over ``n`` and over ``m`` networks.

    The variance is that of scores which are 0 or 1, the largest that there can be with these means: with what papers
    print, which is no spread, the test errs on the side of "within noise".

    >>> round(two_means(0.9, 10, 0.4, 10), 2), two_means(1.0, 5, 1.0, 10)
    (2.34, 0.0)
    """
    pooled = (n * ours + m * theirs) / (n + m)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return 0.0 if spread == 0 else (ours - theirs) / spread
