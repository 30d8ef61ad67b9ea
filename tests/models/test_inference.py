from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.errors import UnknownSymbolError
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


def test_the_place_of_a_verdict_is_the_words_lexicographic_number() -> None:
    net = NNPDA(NNPDAConfig(("a", "b", "c"), "third", 3, trap=False), seed=28, init=2.0)
    verdicts = verdicts_on_all(net, 4)
    assert [len(array) for array in verdicts] == [1, 3, 9, 27, 81]
    assert np.concatenate(verdicts).sum() > 5
    for length, array in enumerate(verdicts):
        for number, word in enumerate(product("abc", repeat=length)):
            assert array[number] == one_by_one(net, word)


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


def test_a_network_that_rejects_everything_at_once_has_verdicts_on_all_words() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), n_states=2))
    net.load_state_dict({name: torch.zeros_like(value) - 1 for name, value in net.state_dict().items()})
    assert [array.any() for array in verdicts_on_all(net, 4)] == [False] * 5


def test_no_words_have_no_verdicts_and_the_empty_word_has_one() -> None:
    net = NNPDA(NNPDAConfig(("a",), n_states=1))
    assert verdicts_on(net, []).shape == (0,)
    assert verdicts_on(net, ["", ""]).tolist() == [True, True]  # the only neuron is 1 at the start
    assert [array.tolist() for array in verdicts_on_all(net, 0)] == [[True]]


def test_symbols_of_several_characters_are_words_as_tuples() -> None:
    net = NNPDA(NNPDAConfig(("ab", "c"), n_states=2, trap=False), seed=1, init=3.0)
    words = [("ab", "c"), (), ("c", "c", "ab")]
    assert verdicts_on(net, words).tolist() == [one_by_one(net, word) for word in words]


def test_a_symbol_outside_the_alphabet_is_named() -> None:
    with pytest.raises(UnknownSymbolError, match=r"^symbol 'x' is not in the alphabet a b$"):
        verdicts_on(NNPDA(NNPDAConfig(("a", "b"))), ["ab", "axb"])
