from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.languages.words import all_words
from stacklens.models.inference import verdicts_on, verdicts_on_all
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig, Order
from stacklens.models.rounding import Rounded

ORDERS: tuple[Order, ...] = ("second", "third", "full")


def one_by_one(net: NNPDA, word: Sequence[str]) -> bool:
    state = net.initial_state(1)
    for symbol in word:
        state = net.step(torch.tensor([net.alphabet.index(symbol)]), state).state
    return bool(net.verdict(state))


@settings(max_examples=15)
@given(
    order=st.sampled_from(ORDERS),
    end=st.sampled_from((None, "e")),
    seed=st.integers(0, 1_000),
    trap=st.booleans(),
    chunk=st.sampled_from((1, 7, 8_192)),
)
def test_all_three_ways_of_asking_give_the_same_verdicts(
    order: Order, end: str | None, seed: int, trap: bool, chunk: int
) -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), order, 3, end=end, trap=trap), seed=seed, init=2.0)
    words = all_words(net.alphabet, 5)
    plain = [one_by_one(net, word) for word in words]
    assert verdicts_on(net, words, chunk=chunk).tolist() == plain
    assert np.concatenate(verdicts_on_all(net, 5, chunk=chunk)).tolist() == plain


def test_verdicts_stand_in_the_order_of_the_words_whatever_their_lengths() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), "third", 3, trap=False), seed=35, init=2.0)
    words = all_words(net.alphabet, 7)
    order = np.random.default_rng(0).permutation(len(words))
    expected = verdicts_on(net, words)
    assert 0 < expected.sum() < len(words)
    assert np.array_equal(verdicts_on(net, [words[i] for i in order], chunk=10), expected[order])


def test_nets_on_the_leading_axis_get_each_its_own_verdicts() -> None:
    shape = NNPDAConfig(("a", "b"), "second", 3, end="e", trap=False)
    many = NNPDA(shape, seed=20, init=2.0, nets=5)
    singles = [NNPDA(shape, seed=20 + number, init=2.0) for number in range(5)]
    words = all_words(shape.alphabet, 6)
    for network in (many, Rounded(many)):
        mine = [net if network is many else Rounded(net) for net in singles]
        expected = np.stack([verdicts_on(net, words) for net in mine])
        assert len({tuple(row) for row in expected.tolist()}) > 1
        assert np.array_equal(verdicts_on(network, words), expected)
        assert np.array_equal(np.concatenate(verdicts_on_all(network, 6), -1), expected)
