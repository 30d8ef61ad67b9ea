"""N-grams with modified Kneser-Ney smoothing, and a cache of the words read last.

Chen & Goodman 1999, "An empirical study of smoothing techniques for language modeling", section 3: every order gives a
little of what it has seen to the order below, and an order below the highest counts in how many contexts a sequence
stands, not how often. Mikolov et al. 2011, "Empirical evaluation and combination of advanced language modeling
techniques", has both models on the Penn Treebank, which Joulin & Mikolov 2015 quote in table 4.

Everything is arrays: a sequence of k words is the number of its first k - 1 words and its last word, as one integer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stacklens.errors import StacklensError

__all__ = ["Cache", "NgramModel", "best_cache", "perplexity"]

Numbers = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]
_WINDOWS = (100, 200, 500, 1_000, 2_000, 5_000)  # words that a cache may hold
_WEIGHTS = tuple(round(0.01 * percent, 2) for percent in range(51))  # of a cache


@dataclass(frozen=True)
class _Order:
    """Sequences of k words that were seen, and what follows from them.

    Attributes:
        keys: sorted; a sequence is the place of its first k - 1 words in the order below, times the words that there
            are, plus its last word.
        seen: how often each counts, less its discount, (sequences,).
        totals: how often something follows each sequence of k - 1 words, (contexts,).
        passed: what is left for the order below there, as a share of the total, (contexts,).
    """

    keys: Numbers
    seen: Shares
    totals: Shares
    passed: Shares


class NgramModel:
    """An interpolated n-gram model of a stream of words, which are numbers below ``n_words``.

    Contexts are the ``order - 1`` words before, ends of lines among them; fewer where the stream begins. Below single
    words there is the uniform distribution, so that no word is impossible.

    Args:
        stream: the words to learn from, (T,).
        n_words: how many words there are.
        order: the longest sequences that are counted, 1 or more.

    Raises:
        StacklensError: the stream is empty or has other words, or the order is less than 1.

    >>> model = NgramModel(np.array([0, 1, 0, 1, 2]), n_words=3, order=2)
    >>> model.probabilities(np.array([0, 1])).round(3).tolist()  # after so few words all is left to single words
    [0.333, 0.35]
    """

    def __init__(self, stream: Numbers, n_words: int, order: int = 5) -> None:
        if order < 1:
            raise StacklensError(f"order is {order}; expected 1 or more")
        if not len(stream) or stream.min() < 0 or stream.max() >= n_words:
            raise StacklensError(f"expected a stream of words that are numbers from 0 to {n_words - 1}")
        counted = _sequences(stream, n_words, order)
        self.n_words, self.order = n_words, len(counted)
        self._orders = [
            _discounted(keys, counts, n_words, len(counted[k - 1][0]) if k else 1)
            for k, (keys, counts) in enumerate(counted)
        ]

    def probabilities(self, stream: Numbers) -> Shares:
        """Return how likely each word of ``stream`` (T,) is after those before it, (T,)."""
        chances = np.full(len(stream), 1 / self.n_words)
        before = np.zeros(len(stream), np.int64)  # of every word the place of the k - 1 words before it; -1 for unseen
        for k, order in enumerate(self._orders):
            known = np.flatnonzero(before >= 0)
            known = known[order.totals[before[known]] > 0]
            places = _find(order.keys, before[known] * self.n_words + stream[known])
            own = np.where(places >= 0, order.seen[places], 0) / order.totals[before[known]]
            chances[known] = own + order.passed[before[known]] * chances[known]
            if k + 1 < self.order:
                before = self._contexts(stream, k + 1)
        return chances

    def _contexts(self, stream: Numbers, length: int) -> Numbers:
        """Return the place of the ``length`` words before each word, (T,); -1 where these were never seen."""
        found = np.zeros(len(stream), np.int64)
        found[:length] = -1
        if len(stream) <= length:
            return found
        for k in range(length):
            words = stream[k : len(stream) - length + k]
            known = found[length:] >= 0
            keys = np.where(known, found[length:], 0) * self.n_words + words
            found[length:] = np.where(known, _find(self._orders[k].keys, keys), -1)
        return found


def _sequences(stream: Numbers, n_words: int, order: int) -> list[tuple[Numbers, Shares]]:
    """Return the keys of all sequences of 1 to ``order`` words, and how often each counts.

    The longest count as often as they come, all others once for every word that stands before them.
    """
    found: list[tuple[Numbers, Shares]] = []
    place = np.zeros(len(stream) + 1, np.int64)  # of the sequence of k - 1 words that begins at each place
    suffixes: list[Numbers] = []  # of every sequence of k words the place of its last k - 1
    for k in range(1, min(order, len(stream)) + 1):
        all_keys = place[: len(stream) - k + 1] * n_words + stream[k - 1 :]
        keys, first, numbers, counts = np.unique(all_keys, return_index=True, return_inverse=True, return_counts=True)
        suffixes.append(place[first + 1])
        found.append((keys, counts.astype(np.float64)))
        place = numbers
    for k in range(len(found) - 1):
        found[k] = (found[k][0], np.bincount(suffixes[k + 1], minlength=len(found[k][0])).astype(np.float64))
    return found


def _discounted(keys: Numbers, counts: Shares, n_words: int, contexts: int) -> _Order:
    """Return an order with modified Kneser-Ney discounts: one for what counts once, twice, and three times or more."""
    ones, twos, threes, fours = (int((counts == n).sum()) for n in (1, 2, 3, 4))
    y = ones / (ones + 2 * twos) if ones else 0.0
    ratios = ((twos, ones, 2), (threes, twos, 3), (fours, threes, 4))
    found = [n - 1 - n * y * more / fewer if fewer else 0.5 for more, fewer, n in ratios]
    discounts = np.array([0.0, *(min(max(one, 0.05), n + 0.95) for n, one in enumerate(found))])
    taken = discounts[np.minimum(counts, 3).astype(np.int64)]
    context = keys // n_words
    totals: Shares = np.bincount(context, counts, contexts).astype(np.float64)
    passed = np.bincount(context, taken, contexts) / np.maximum(totals, 1)
    return _Order(keys, counts - taken, totals, passed)


def _find(keys: Numbers, wanted: Numbers) -> Numbers:
    """Return the places of ``wanted`` among sorted ``keys``, -1 for what is not there."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, places, -1)


@dataclass(frozen=True)
class Cache:
    """The words read last, each as likely as it is frequent among them, mixed with another model.

    Attributes:
        window: how many words it holds.
        weight: its share of the mixture, from 0 to 1.
    """

    window: int
    weight: float

    def mixed(self, chances: Shares, stream: Numbers) -> Shares:
        """Return the mixture's probabilities of the words of ``stream`` (T,), given those of the other model, (T,).

        Where nothing was read yet the other model speaks alone.
        """
        return _mixture(chances, _frequencies(stream, self.window), self.weight)


def _mixture(chances: Shares, frequent: Shares, weight: float) -> Shares:
    mixture: Shares = (1 - weight) * chances + weight * frequent
    mixture[:1] = chances[:1]
    return mixture


def _frequencies(stream: Numbers, window: int) -> Shares:
    """Return which share of the ``window`` words before each word are that word, (T,); 0 for the first."""
    at = np.arange(len(stream))
    keys = stream * (len(stream) + 1) + at
    order = np.sort(keys)
    since = stream * (len(stream) + 1) + np.maximum(at - window, 0)
    held = np.searchsorted(order, keys) - np.searchsorted(order, since)
    return np.asarray(held / np.maximum(np.minimum(at, window), 1), np.float64)


def best_cache(chances: Shares, stream: Numbers) -> Cache:
    """Return the cache with which a model's ``chances`` of the words of ``stream`` make the smallest perplexity."""
    found: dict[Cache, float] = {}
    for window in _WINDOWS:
        frequent = _frequencies(stream, window)
        found |= {Cache(window, weight): perplexity(_mixture(chances, frequent, weight)) for weight in _WEIGHTS}
    return min(found, key=lambda cache: found[cache])


def perplexity(chances: Shares) -> float:
    """Return the perplexity of a stream whose words have ``chances`` (T,); that of the first, with nothing before it,
    does not count, as no network is asked for it.

    >>> perplexity(np.array([0.1, 0.5, 0.125]))
    4.0
    """
    return math.exp(-float(np.log(chances[1:]).mean()))
