"""N-grams with Kneser-Ney smoothing against a plain one of dictionaries, and the cache against counting."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.core.errors import StacklensError
from stacklens.papers.joulin2015_words import Cache, NgramModel, best_cache, perplexity

Sequence = tuple[int, ...]
streams = st.integers(2, 5).flatmap(
    lambda n: st.tuples(st.just(n), *[st.lists(st.integers(0, n - 1), min_size=1, max_size=40) for _ in range(2)])
)


class Plain:
    """The same model from dictionaries, recursively, as Chen & Goodman 1999 write it."""

    def __init__(self, stream: list[int], n_words: int, order: int) -> None:
        self.n_words = n_words
        seen = {k: Counter(tuple(stream[i : i + k]) for i in range(len(stream) - k + 1)) for k in range(1, order + 1)}
        self.order = max(k for k in seen if seen[k])
        self.counts: dict[int, dict[Sequence, int]] = {self.order: dict(seen[self.order])}
        for k in range(1, self.order):
            before = defaultdict[Sequence, set[int]](set)
            for longer in seen[k + 1]:
                before[longer[1:]].add(longer[0])
            self.counts[k] = {sequence: len(before[sequence]) for sequence in seen[k]}

    def discount(self, k: int, count: int) -> float:
        if count == 0:
            return 0.0
        of = Counter(self.counts[k].values())
        y = of[1] / (of[1] + 2 * of[2]) if of[1] else 0.0
        n = min(count, 3)
        raw = n - (n + 1) * y * of[n + 1] / of[n] if of[n] else 0.5
        return min(max(raw, 0.05), n - 0.05)

    def chance(self, context: Sequence, word: int) -> float:
        k = len(context) + 1
        lower = self.chance(context[1:], word) if context else 1 / self.n_words
        following = {s[-1]: count for s, count in self.counts[k].items() if s[:-1] == context}
        total = sum(following.values())
        if total == 0:
            return lower
        count = following.get(word, 0)
        left = sum(self.discount(k, each) for each in following.values())
        return (count - self.discount(k, count)) / total + left / total * lower


def contexts(stream: list[int], order: int) -> list[Sequence]:
    return [tuple(stream[max(0, i - order + 1) : i]) for i in range(len(stream))]


@settings(max_examples=60)
@given(streams, st.integers(1, 4))
def test_probabilities_are_those_of_a_plain_model(drawn: tuple[int, list[int], list[int]], order: int) -> None:
    n_words, train, test = drawn
    plain = Plain(train, n_words, order)
    found = NgramModel(np.array(train), n_words, order).probabilities(np.array(test))
    expected = [plain.chance(c, word) for c, word in zip(contexts(test, plain.order), test, strict=True)]
    assert found == pytest.approx(expected, rel=1e-12)
    assert (found > 0).all()


@settings(max_examples=60)
@given(streams, st.integers(1, 5))
def test_after_any_words_probabilities_sum_to_one(drawn: tuple[int, list[int], list[int]], order: int) -> None:
    n_words, train, test = drawn
    model = NgramModel(np.array(train), n_words, order)
    total = sum(model.probabilities(np.array([*test, word]))[-1] for word in range(n_words))
    assert total == pytest.approx(1, rel=1e-12)


@settings(max_examples=40)
@given(streams, st.integers(1, 6), st.floats(0, 1))
def test_a_cache_is_what_counting_the_words_before_gives(
    drawn: tuple[int, list[int], list[int]], window: int, weight: float
) -> None:
    n_words, _, test = drawn
    uniform = np.full(len(test), 1 / n_words)
    found = Cache(window, weight).mixed(uniform, np.array(test))
    for i, word in enumerate(test):
        held = test[max(0, i - window) : i]
        expected = (1 - weight) / n_words + weight * held.count(word) / len(held) if held else 1 / n_words
        assert found[i] == pytest.approx(expected, rel=1e-12)


def test_the_cache_that_is_chosen_is_worth_having_on_words_that_come_back() -> None:
    rng = np.random.default_rng(0)
    stream = np.repeat(rng.integers(0, 50, 30), 20)
    uniform = np.full(len(stream), 1 / 50)
    chosen = best_cache(uniform, stream)
    assert (chosen.window, chosen.weight) == (100, 0.5)
    assert perplexity(chosen.mixed(uniform, stream)) < perplexity(uniform) == pytest.approx(50)
    assert best_cache(np.full(400, 0.9), np.arange(400)).weight == 0


def test_perplexity_leaves_out_the_first_word() -> None:
    assert perplexity(np.array([1e-9, 0.25, 0.25])) == pytest.approx(4)
    assert math.isclose(perplexity(np.array([1.0, 1.0])), 1)


@pytest.mark.parametrize(
    ("stream", "order", "message"),
    [
        ([0, 1], 0, "order is 0; expected 1 or more"),
        ([], 2, "numbers from 0 to 1"),
        ([0, 2], 2, "numbers from 0 to 1"),
        ([-1], 2, "numbers from 0 to 1"),
    ],
)
def test_what_cannot_be_counted_is_refused(stream: list[int], order: int, message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        NgramModel(np.array(stream, np.int64), 2, order)
