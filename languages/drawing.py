"""Exact random draws by whole-number weights of any size, and distinct draws of anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError

__all__ = ["choose", "distinct_words", "random_below"]

DRAWS_WITHOUT_NEW = 2_000  # in a row without a new word, after which we say that there are no more


def random_below(total: int, rng: np.random.Generator) -> int:
    """Return a random whole number from 0 to ``total - 1``, all equally likely to within 2**-64.

    >>> {random_below(3, np.random.default_rng(seed)) for seed in range(20)}
    {0, 1, 2}
    """
    return int.from_bytes(rng.bytes(total.bit_length() // 8 + 9), "little") % total


def choose(weights: Sequence[int], rng: np.random.Generator) -> int:
    """Return a random index, each as likely as its weight says; one of the weights must not be 0.

    >>> {choose([0, 10**30, 1], np.random.default_rng(seed)) for seed in range(20)}
    {1}
    """
    left = random_below(sum(weights), rng)
    for i, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return i
    raise AssertionError("the weights have changed while they were summed")


def distinct_words(n: int, draw: Callable[[], Word | None], what: str) -> list[Word]:
    """Return ``n`` distinct results of ``draw``, in the order drawn; None is drawn again.

    Raises:
        StacklensError: ``DRAWS_WITHOUT_NEW`` draws in a row gave nothing new.
    """
    found: dict[Word, None] = {}
    idle = 0
    while len(found) < n:
        word = draw()
        idle = idle + 1 if word is None or word in found else 0
        if word is not None:
            found[word] = None
        if idle >= DRAWS_WITHOUT_NEW:
            raise StacklensError(f"found only {len(found)} of {n} distinct {what}: widen the lengths or ask for fewer")
    return list(found)
