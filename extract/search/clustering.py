"""Quantisers: from hidden vectors to a finite set of states, each with a vector that stands for it.

Sun et al. 1993, section 3.6: two or more levels for every state neuron, or K-means clusters.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from ...core.progress import check_time, count
from ...models.base import StackModel
from ...models.rounding import Operation, operation_numbers
from ...probe.trace import Trace

_RUNS, _ROUNDS = 4, 300  # of K-means, and of each run at most


class Quantiser(Protocol):
    """A finite set of states over hidden vectors."""

    @property
    def name(self) -> str:
        """Return what a report calls this quantiser."""

    def assign(self, hidden: np.ndarray) -> np.ndarray:
        """Return the number of the state of each of ``hidden`` (M, H), (M,) int64, at least 0."""

    def represent(self, numbers: np.ndarray) -> np.ndarray:
        """Return the vectors that stand for the states ``numbers`` (M,), (M, H)."""

    def label(self, number: int) -> str:
        """Return a name for a state."""


@dataclass(frozen=True)
class Levels:
    """Every neuron apart, rounded to one of ``n`` equally spaced levels between ``low`` and ``high``; 2 is binary.

    With n = 5 the cuts are those of section 4.1: 0.125, 0.375, 0.625, 0.875.

    >>> Levels(2, 3).assign(np.array([[0.9, 0.2, 0.6]])), Levels(2, 3).label(5)
    (array([5]), '101')
    """

    n: int
    size: int
    low: float = 0.0
    high: float = 1.0

    @property
    def name(self) -> str:
        """Return "binary" or the number of levels."""
        return "binary" if self.n == 2 else f"{self.n} levels"

    def assign(self, hidden: np.ndarray) -> np.ndarray:
        """Return the levels of the neurons as one number in base n, the first neuron most significant."""
        scaled = (hidden - self.low) / (self.high - self.low) * (self.n - 1)
        # a value on a cut goes down, as S <= 0.5 is 0 in the paper
        levels = np.clip(np.ceil(scaled - 0.5), 0, self.n - 1).astype(np.int64)
        return np.asarray(levels @ self._weights)

    def represent(self, numbers: np.ndarray) -> np.ndarray:
        """Return the levels themselves."""
        return np.asarray(self.low + self._digits(numbers) * (self.high - self.low) / (self.n - 1))

    def label(self, number: int) -> str:
        """Return the levels as digits, with points between them where some have two."""
        return ("." if self.n > 10 else "").join(map(str, self._digits(np.array([number]))[0]))

    @property
    def _weights(self) -> np.ndarray:
        if self.size * np.log2(self.n) > 62:
            raise ValueError(f"{self.n} levels of {self.size} neurons are too many states to number; use clusters")
        return self.n ** np.arange(self.size, dtype=np.int64)[::-1]

    def _digits(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(numbers[:, None] // self._weights % self.n)


@dataclass(frozen=True)
class Clusters:
    """The nearest of K centres, (K, H)."""

    centres: np.ndarray

    @property
    def name(self) -> str:
        """Return the number of clusters."""
        return count(len(self.centres), "cluster")

    def assign(self, hidden: np.ndarray) -> np.ndarray:
        """Return the number of the nearest centre."""
        # |x|^2 is the same for every centre
        distances = (self.centres**2).sum(1) - 2 * hidden @ self.centres.T
        return np.asarray(distances.argmin(1).astype(np.int64))

    def represent(self, numbers: np.ndarray) -> np.ndarray:
        """Return the centres."""
        return np.asarray(self.centres[numbers])

    def label(self, number: int) -> str:
        """Return a number behind a k."""
        return f"k{number}"


def cluster(vectors: np.ndarray, k: int, seed: int = 0, largest: int = 20_000) -> Clusters:
    """Return at most ``k`` K-means clusters of ``vectors`` (M, H); fewer where there are fewer different vectors.

    At most ``largest`` vectors, drawn by ``seed``, are clustered; of several runs the tightest is taken (Lloyd's
    algorithm from the start of Arthur & Vassilvitskii 2007, "k-means++"). The centres come in lexicographic order, so
    that their numbers do not depend on where it began. It is written out here since scikit-learn, which gives the
    same, takes longer to import than a network takes to be read.
    """
    distinct = np.unique(vectors, axis=0)
    rng = np.random.default_rng(seed)
    if len(distinct) > largest:
        distinct = rng.choice(distinct, largest, replace=False)
    if len(distinct) <= k:
        return Clusters(distinct)
    runs = [_lloyd(distinct, _spread_out(distinct, k, rng)) for _ in range(_RUNS)]
    return Clusters(np.unique(min(runs, key=lambda run: run[0])[1], axis=0))


def _spread_out(vectors: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return ``k`` of ``vectors`` (M, H) to begin with, far apart: each the best of a few drawn by distance."""
    centres = [vectors[rng.integers(len(vectors))]]
    nearest = ((vectors - centres[0]) ** 2).sum(1)
    while len(centres) < k:
        check_time()
        total = np.cumsum(nearest)
        drawn = np.searchsorted(total, rng.random(2 + int(np.log(k))) * total[-1])
        drawn = np.minimum(drawn, len(vectors) - 1)
        left = np.stack([np.minimum(nearest, ((vectors - vectors[one]) ** 2).sum(1)) for one in drawn])  # (drawn, M)
        best = int(left.sum(1).argmin())
        centres.append(vectors[drawn[best]])
        nearest = left[best]
    return np.array(centres)


def _lloyd(vectors: np.ndarray, centres: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the summed squared distance of ``vectors`` (M, H) to the nearest centre, and the centres (K, H)."""
    numbers = np.full(len(vectors), -1)
    for _ in range(_ROUNDS):
        before, numbers = numbers, Clusters(centres).assign(vectors)
        if (before == numbers).all():
            break
        sizes = np.bincount(numbers, minlength=len(centres))
        sums = np.stack([np.bincount(numbers, column, len(centres)) for column in vectors.T], 1)
        # a centre that has lost all its vectors stays where it is
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return float(((vectors - centres[numbers]) ** 2).sum()), centres


def vectors(model: StackModel[Any], seen: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the hidden vectors (M, H) of a trace, at least the initial one, and the values laid on stacks (L, D)."""
    hidden = seen.hidden[:, 1:][seen.valid & ~seen.rejected]
    if not len(hidden):
        hidden = seen.hidden[:1, 0]
    if model.action_kind == "none":
        return hidden, np.zeros((0, 1))

    # not what lies on soft stacks: the residue of an empty one would overlap real symbols
    actions = torch.from_numpy(np.nan_to_num(seen.actions))
    operations = operation_numbers(model.action_kind, model.operations, actions).numpy()
    return hidden, seen.pushed[(operations >= Operation.PUSH) & seen.valid[..., None]]
