"""Which boxes are near each other: grids that put points into clusters, and what a number counts in them.

Nothing here decides whether a proof is right, only how far it gets.
"""

from __future__ import annotations

import math

import numpy as np

from stacklens.extract.certificate.controllers import BoxController
from stacklens.extract.certificate.intervals import Box, Row

__all__ = ["bent", "cluster", "groups", "sensitivities"]

_LEAST = 1e-4  # points that are nearer than this are never told apart
_NEARER = 1.2  # a grid is not more than so much coarser than it has to be
_NUDGE, _LEAST_SCALE = 0.05, 0.01


def bent(values: Row) -> Row:
    """Return ``values`` with those of more than 1 in size drawn in to less than 2: they differ little to a sigmoid.

    >>> bent(np.array([0.5, -4.0])).tolist()
    [0.5, -1.75]
    """
    sizes = np.maximum(np.abs(values), 1)
    return np.where(np.abs(values) <= 1, values, np.sign(values) * (2 - 1 / sizes))


def cluster(features: Row, kinds: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of N points and where in it each cluster begins: cells of a grid, those of a kind together.

    Args:
        features: the points, (N, F), N at least 1.
        kinds: what must not be mixed, (N,) int.
        most: how many clusters there may be, unless there are more kinds.
    """
    most = max(most, len(np.unique(kinds)))
    mixed = np.random.default_rng(0).integers(1, 2**62, features.shape[1], dtype=np.int64)

    def cells(width: float) -> tuple[np.ndarray, np.ndarray]:
        numbers = np.floor(features / width).astype(np.int64) @ mixed  # two may come to the same, which is harmless
        order = np.lexsort((numbers, kinds))
        new = (np.diff(numbers[order]) != 0) | (np.diff(kinds[order]) != 0)
        return order, np.concatenate([[0], np.flatnonzero(new) + 1])

    found = cells(_LEAST)
    fine, coarse = _LEAST, max(_LEAST, float(np.ptp(features, axis=0).max(initial=0)))
    while len(found[1]) > most:
        coarse *= 2
        found = cells(coarse)
    while coarse > fine * _NEARER:
        middle = math.sqrt(fine * coarse)
        tried = cells(middle)
        if len(tried[1]) > most:
            fine = middle
        else:
            coarse, found = middle, tried
    return found


def groups(values: Row, kinds: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of N values (N, F), and where in it groups of near ones begin: about ``most``, and all kinds."""
    shown = values[:, np.ptp(values, axis=0).argmax()]
    order = np.lexsort((shown, kinds))
    shown, kinds = shown[order], kinds[order]
    changes = np.flatnonzero(np.diff(kinds)) + 1
    first = np.concatenate([[0], changes])
    last = np.concatenate([changes, [len(kinds)]]) - 1
    width = max(float((shown[last] - shown[first]).sum()) / most, _LEAST)
    numbers = np.floor((shown - np.repeat(shown[first], last - first + 1)) / width)
    new = (np.diff(kinds) != 0) | (np.diff(numbers) != 0)
    return order, np.concatenate([[0], np.flatnonzero(new) + 1])


def sensitivities(controller: BoxController, letters: range, hidden: Box, reading: Box, points: bool) -> Row:
    """Return how much wider all that follows gets if a number of hidden vector or reading does, (H + R,), at most 1.

    Args:
        controller: the controller.
        letters: what may be read, by their numbers.
        hidden, reading: what it is asked about, (M, H) and (M, R).
        points: whether readings can only be points.
    """
    size, more = hidden.low.shape[1], 0 if points else reading.low.shape[1]

    def width(by: Row) -> float:
        wide = hidden.wider(by[:size]), reading if points else reading.wider(by[size:])
        total = 0.0
        for letter in letters:
            answer = controller.answer(letter, *wide)
            total += sum(float((bent(box.high) - bent(box.low)).sum()) for box in (answer.hidden, *answer.pushed))
            total -= sum(float(np.minimum(one.margins, 1).sum()) for one in (*answer.operations, answer.output))
        return total

    start = width(np.zeros(size + more))
    gains = np.array([width(_NUDGE * row) - start for row in np.eye(size + more)])
    found = np.nan_to_num(np.concatenate([gains, np.zeros(reading.low.shape[1] - more)]))
    scales: Row = np.sqrt(np.clip(found / max(found.max(initial=0), 1e-300), _LEAST_SCALE, 1))
    return scales
