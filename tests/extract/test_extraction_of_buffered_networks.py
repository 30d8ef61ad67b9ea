"""Buffered networks built by hand give automata that write, on whole words, what they were built to write."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from tests.extract.buffered_networks import PLANTED, planted

from stacklens.extract.answers import automaton_answers, network_answers
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.models.networks.neural_stack import BufferedConfig, BufferedNeuralStack
from stacklens.models.rounding import Rounded

SMALL = ExtractionConfig(
    max_length=6, long_words=50, long_lengths=(8, 20), height=3, climbs=1, walks=3, cycles=2, shortening=1_000
)
WORDS = ["".join(word) for n in range(7) for word in product("ab", repeat=n)]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * name.startswith("takes")) for name in PLANTED]
)
def test_a_planted_network_is_read_on_whole_words(name: str) -> None:
    net, expected = planted(name), PLANTED[name][2]
    result = extract(net, None, SMALL)
    assert result.status == 0, result.reason
    pda = result.automaton
    assert pda is not None
    for word in [*WORDS, "ab" * 20, "abbaa" * 7]:
        assert "".join(map(str, pda.written(word)))[: len(word)] == expected(word), word
    numbers = [["ab".index(x) for x in expected(word)] + [-1] * (6 - len(expected(word))) for word in WORDS]
    for network in (net, Rounded(net)):
        assert network_answers(network, WORDS).tolist() == numbers
    assert automaton_answers(pda, net, WORDS).tolist() == numbers
    assert [check.kind for check in result.checks][:2] == ["exhaustive", "exhaustive"]


def test_epsilon_steps_are_there_where_the_network_waits() -> None:
    reverser = extract(planted("reads all, then pops and writes"), None, SMALL).automaton
    assert reverser is not None
    assert not reverser.real_time
    assert len(reverser.states) == 2
    assert reverser.written("aab") == ["b", "a", "a"]


def test_graded_strengths_are_the_reason_why_there_is_none() -> None:
    net = planted("takes two steps a letter, and writes twice")
    with torch.no_grad():
        net.net.weight[2] = 0.0
        net.net.bias[2] = 0.1  # takes about half a letter in every step
    result = extract(net, None, SMALL)
    assert result.status == 3
    assert str(result.reason).startswith(
        "the network does not read, write, push and pop in whole steps: rounding its strengths changes what it writes"
    )


def test_words_with_nulls_behind_them_are_answered_in_full() -> None:
    """The first unit that is written is never seen: so it is read one null further."""
    shape = BufferedConfig(("a", "#"), cell_size=1, null="#", dequeue_first=True)
    net = BufferedNeuralStack(shape)
    assert (net.reads_on, net.skipped) == (("#",), 1)
    with torch.no_grad():
        net.net.weight.zero_()
        net.net.bias.copy_(torch.tensor([-8.0, -8, 8, 8, 0, 0, 0]))
        net.net.weight[5:, :2] = 16.0 * torch.eye(2)
    assert network_answers(net, ["a#a", "aa"]).tolist() == [[1, 0, 1], [0, 1, -1]]  # the next letter, then the null
    result = extract(net, None, SMALL)
    assert result.automaton is not None
    assert [result.automaton.written(word) for word in ("", "a#a", "aa")] == [[], ["#", "a", "#"], ["a", "#"]]
    assert np.array_equal(network_answers(Rounded(net), ["a#a"]), automaton_answers(result.automaton, net, ["a#a"]))
