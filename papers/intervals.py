"""Intervals and tests for counts of networks, so that what lies within noise is not called a difference."""

from __future__ import annotations

import math

__all__ = ["counted", "sign_test", "two_means", "wilson"]

_Z = 1.959964  # of a standard normal: 95 % lie within


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of which ``hits`` of ``of`` were seen, in [0, 1] (Wilson 1927).

    >>> [round(end, 3) for end in wilson(8, 10)], wilson(0, 0)
    ([0.49, 0.943], (0.0, 1.0))
    """
    if not of:
        return 0.0, 1.0
    share, room = hits / of, _Z * _Z / of
    centre, half = share + room / 2, _Z * math.sqrt(share * (1 - share) / of + room / of / 4)
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


def sign_test(worse: int, better: int) -> float:
    """Return the two-sided p of a sign test: so many pairs where one is ``worse``, so many where it is ``better``.

    >>> sign_test(9, 1), sign_test(0, 0)
    (0.021484375, 1.0)
    """
    n, least = worse + better, min(worse, better)
    tail = sum(math.comb(n, k) for k in range(least + 1)) / 2.0**n
    return min(1.0, 2 * tail)
