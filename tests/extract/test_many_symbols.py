"""Predictors over more symbols than a machine word has bits: what is predicted is not taken for something else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.extract.many_symbols import alphabet_of, constant_net

from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition
from stacklens.extract.agreement import agree_on_all
from stacklens.extract.answers import automaton_answers, network_answers, output_number
from stacklens.extract.certificate.certify import certify
from stacklens.extract.certificate.claim import Certified, NotCertified
from stacklens.extract.certificate.controllers import set_of
from stacklens.extract.certificate.intervals import Box
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.models.inference import answers_on_all, outputs_on


def saying(letters: tuple[str, ...], predicted: tuple[str, ...]) -> PushdownAutomaton:
    """Return the automaton that says ``predicted`` after every symbol and goes on with what it said."""
    step = Transition("q", (NONE,), predicted)
    rules: dict[Key, Transition] = {("start", letter, ("⊥",)): step for letter in letters}
    rules |= {("q", letter, ("⊥",)): step for letter in predicted}
    states = ("start", "q")
    return PushdownAutomaton(states, letters, (), rules, "start", frozenset(states), "final state")


@pytest.mark.parametrize("further", [31, 63, 64, 127])
def test_a_far_symbol_is_not_lost_from_a_predicted_set(further: int) -> None:
    letters = alphabet_of(further + 1)
    net = constant_net(letters, (letters[0], letters[further]))
    right = saying(letters, (letters[0], letters[further]))
    wrong = saying(letters, (letters[0],))
    same = agree_on_all(right, net, None, 2)
    other = agree_on_all(wrong, net, None, 2)
    assert same is not None
    assert other is not None
    assert same.disagreements == 0
    assert other.disagreements == 3 * len(letters)  # of length 1 all, of length 2 those that go on with a predicted one
    words = [(letter, letters[further]) for letter in letters]
    assert (network_answers(net, words) == automaton_answers(right, net, words)).all()
    assert (network_answers(net, words) != automaton_answers(wrong, net, words)).all()
    assert [net.output_name(number) for number in outputs_on(net, words[:1])[0]] == [(letters[0], letters[further])] * 2
    longest = answers_on_all(net, 2)[2].reshape(len(letters), len(letters))
    assert (longest[:, [0, further]] == output_number((letters[0], letters[further]), net)).all()
    assert (np.delete(longest, [0, further], 1) == -1).all()


@pytest.mark.parametrize("further", [31, 63, 64])
def test_a_network_is_not_certified_against_an_automaton_that_is_cut_on_a_far_symbol(further: int) -> None:
    letters = alphabet_of(further + 1)
    net = constant_net(letters, (letters[0], letters[further]))
    assert isinstance(certify(net, saying(letters, (letters[0], letters[further]))), Certified)
    right = saying(letters, (letters[0], letters[further]))
    cut = {key: step for key, step in right.transitions.items() if key[:2] != ("q", letters[further])}
    refused = certify(net, replace(right, transitions=cut))
    assert isinstance(refused, NotCertified)
    assert "the network goes on" in str(refused)
    assert isinstance(certify(net, saying(letters, (letters[0],))), NotCertified)


@pytest.mark.parametrize("n_symbols", [3, 31, 62, 63, 64, 65, 200])
def test_sets_of_boxes_have_the_numbers_of_sets_of_points(n_symbols: int) -> None:
    rng = np.random.default_rng(n_symbols)
    values = rng.random((40, n_symbols))
    values[:20] = values[20:]
    decision = set_of(Box.point(values))
    net = constant_net(alphabet_of(n_symbols), ())
    numbers = net.output_numbers(torch.from_numpy(values))
    assert decision.numbers.tolist() == numbers.tolist()
    assert numbers.tolist() == [sum(1 << i for i in np.flatnonzero(row > 0.5).tolist()) for row in values]
    assert len(set(numbers.tolist())) == len({(row > 0.5).tobytes() for row in values})
    named = [tuple(net.alphabet[i] for i in np.flatnonzero(row > 0.5)) for row in values]
    assert [net.output_name(number) for number in numbers] == named
    assert [output_number(name, net) for name in named] == numbers.tolist()


def test_a_predictor_over_many_symbols_is_extracted() -> None:
    letters = alphabet_of(70)
    net = constant_net(letters, (letters[0], letters[64]))
    result = extract(net, None, ExtractionConfig(max_length=2, long_words=100, long_lengths=(4, 8), walks=5, height=5))
    assert result.automaton is not None
    assert result.status == 0
    assert {step.output for step in result.automaton.transitions.values()} == {("x0", "x64")}
    assert {check.disagreements for check in result.checks} == {0}
