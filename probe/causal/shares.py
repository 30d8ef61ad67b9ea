"""Shares of interchanges that did as predicted, with intervals over the words that they are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stacklens.errors import StacklensError

__all__ = ["Share", "wilson"]

_NORMAL = 1.959963984540054  # the normal distribution's 97.5 % point


def wilson(right: float, of: float) -> tuple[float, float]:
    """Return the 95 % score interval of a share (Wilson 1927), (0, 1) of nothing.

    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if not of:
        return 0.0, 1.0
    share, square = right / of, _NORMAL**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    reach = _NORMAL / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True)
class Share:
    """How many of some interchanges did as predicted.

    Attributes:
        right, of: how many of how many.
        worth: how many independent ones they are worth, since those of one word go right or wrong together; None where
            that is not known, and all count.
    """

    right: int
    of: int
    worth: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.of:
            raise StacklensError(f"{self.right} right of {self.of}; expected numbers of which the first is a part")
        if self.worth is not None and not 0 <= self.worth <= self.of:
            raise StacklensError(f"worth is {self.worth}; expected a number from 0 to {self.of}")

    @classmethod
    def over(cls, right: np.ndarray, words: np.ndarray, rows: np.ndarray | slice = slice(None)) -> Share:
        """Return the share of ``right`` (N,) bool in some rows, whose ``words`` (W, N) are numbers.

        The variance is the cluster-robust one of a mean (Liang & Zeger 1986), for each way to group by words, and the
        largest counts. Where all went right, or wrong, it says nothing, and there are as many as there are words.
        """
        right, words = right[rows], words[:, rows]
        of = len(right)
        if not of:
            return cls(0, 0)
        share, worth = float(right.mean()), float(of)
        for some in words:
            number = np.unique(some, return_inverse=True)[1].reshape(-1)
            groups = int(number.max()) + 1
            if share in (0.0, 1.0) or groups < 2:
                worth = min(worth, groups)
                continue
            variance = groups / (groups - 1) * float((np.bincount(number, right - share) ** 2).sum()) / of**2
            worth = min(worth, share * (1 - share) / max(variance, 1e-300))
        return cls(int(right.sum()), of, worth)

    @property
    def accuracy(self) -> float:
        """Return the share, NaN of none."""
        return self.right / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Return its 95 % score interval, over words."""
        worth = self.of if self.worth is None else self.worth
        return wilson(self.right * worth / max(self.of, 1), worth)

    def __add__(self, other: Share) -> Share:
        return Share(self.right + other.right, self.of + other.of)

    def __str__(self) -> str:
        if not self.of:
            return "none"
        low, high = self.interval
        return f"{self.accuracy:.3f} ({low:.3f}-{high:.3f}, {self.right:,} of {self.of:,})"
