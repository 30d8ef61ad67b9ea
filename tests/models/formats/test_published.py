"""The published networks on words that their own formats' tests do not reach: long, deep, and all short ones."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from tests.extract.test_published_extraction import dyck_word, next_sets, prefixes
from tests.models.published_networks import published

from stacklens.models.formats.marnns import read_marnns
from stacklens.models.formats.stack_rnn_cpp import read_stack_rnn_cpp
from stacklens.models.formats.stacknn import read_stacknn
from stacklens.models.inference import outputs_on
from stacklens.models.rounding import Rounded


@pytest.mark.slow
def test_the_rounded_dyck_network_is_right_on_words_of_length_1000_and_100_deep() -> None:
    net, rng = Rounded(read_marnns(published("marnns/stack_rnn_model_weights.pth"))), random.Random(3)
    words = [dyck_word(1_000, depth, rng) for depth in (4, 30, 100) for _ in range(10)]
    numbers = outputs_on(net, words)
    for word, row in zip(words, numbers.tolist(), strict=True):
        assert [net.output_name(number) for number in row[: len(word)]] == next_sets(word)


@pytest.mark.slow
def test_the_dyck_network_is_right_on_every_prefix_of_12_symbols_rounded_or_not() -> None:
    net = read_marnns(published("marnns/stack_rnn_model_weights.pth"))
    words, expected = prefixes(12)
    for runner in (net, Rounded(net)):
        assert np.array_equal(outputs_on(runner, words), expected)


@pytest.mark.slow
def test_the_rounded_counting_network_is_right_as_far_as_its_stack_goes() -> None:
    net = Rounded(read_stack_rnn_cpp(published("stack-rnn-cpp/model_*")))
    assert net.stack_limit == 200
    before, sizes = "aabbaaabbb", range(2, 180)
    numbers = outputs_on(net, [f"{before}{'a' * n}{'b' * n}" for n in sizes])
    for row, n in zip(numbers.tolist(), sizes, strict=True):
        first = len(before) + n
        assert [net.output_name(number) for number in row[first : first + n]] == [*"b" * (n - 1), "a"]


@pytest.mark.slow
@pytest.mark.parametrize("rounded", [False, True])
@torch.no_grad()
def test_the_linear_network_reverses_words_of_length_100_when_rounded(rounded: bool) -> None:
    net, rng = read_stacknn(published("stacknn/linear_reverse_task_20.dat")), random.Random(4)
    words = ["".join(rng.choice("01") for _ in range(100 if rounded else 24)) for _ in range(100)]
    runner = Rounded(net) if rounded else net
    numbers = outputs_on(runner, [word + "#" * len(word) for word in words])
    for word, row in zip(words, numbers.tolist(), strict=True):
        assert "".join(str(net.output_name(number)) for number in row[len(word) :]) == word[::-1]
