"""Certificates of trained networks, and planted faults, every one of which is refused."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from tests.attack.certified_runs import follow, pump
from tests.automata.strategies import pushdown_automata
from tests.extract.certificate.proved import dyck_2, extracted, proof, recogniser

import stacklens as sl
from stacklens.automata.pda import PushdownAutomaton
from stacklens.core.errors import StacklensError
from stacklens.extract.certificate.abstraction import Bounds, System, TooMany
from stacklens.extract.certificate.certify import LAYOUTS, WITHOUT_GRID, certify, check_invariant, regular_domain
from stacklens.extract.certificate.claim import Certified, NotCertified
from stacklens.extract.certificate.step_check import Unproved
from stacklens.languages.catalogue import get_task
from stacklens.models.checkpoint import ZOO as ZOO_FILES
from stacklens.models.checkpoint import load_network

RECOGNISERS = ("parentheses", "1n0n", "palindrome")
ZOO = (*RECOGNISERS, "stack-rnn-anbn", "neural-stack-reversal", "neural-stack-delayed-xor")
FIRM = "marnn-stack-rnn-dyck-2-firm"  # disturbed in training, so that it can be certified
ROBUST = (FIRM, "marnn-stack-rnn-dyck-3-noise-robust", "marnn-stack-lstm-dyck-2-noise-robust")
SOME = ("palindrome", "stack-rnn-anbn", "neural-stack-reversal", FIRM)  # one for each memory
PUBLISHED = ("stacknn/linear_reverse_task_20.dat", "stack-rnn-cpp/model_*")


def chosen(*names: str) -> list[Any]:
    """Return the names, of which `make test` takes one for each memory."""
    return [pytest.param(name, marks=() if name in SOME else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", chosen(*ZOO, *ROBUST, *PUBLISHED))
def test_trained_networks_are_certified(name: str) -> None:
    certificate = proof(name).certificate
    assert certificate.margin > 0.02
    assert certificate.steps >= len(proof(name).system.automaton.transitions)
    assert certificate.number_format == "float64"
    assert certificate.stack_limit == (104 if "marnn" in name else 200 if "stack-rnn" in name else 2**53)


@pytest.mark.parametrize("name", chosen(*ZOO, *ROBUST))
def test_certified_networks_follow_their_automata_on_random_and_on_pumped_words(name: str) -> None:
    found, rng = proof(name), np.random.default_rng(1)
    system, certificate = found.system, found.certificate
    assert follow(system.model, system.automaton, certificate, rng, steps=1_000)["certified steps"] >= 1_000
    assert pump(system.model, system.automaton, certificate.stack_limit, rng, steps=1_500)["pumped steps"] > 100


def test_pumped_words_find_a_network_that_drifts() -> None:
    model = load_network(ZOO_FILES / "marnn-stack-rnn-dyck-2-drifting.pt").model
    with pytest.raises(AssertionError, match="certified, but says"):
        pump(model, dyck_2(), 104, np.random.default_rng(1), steps=8_000)


def test_a_grid_that_does_not_close_is_given_up_early_and_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[tuple[bool, int]] = []

    def asked(system: System, most: int) -> Bounds:
        allowed.append((system.layout.hidden is not None, most))
        raise TooMany

    monkeypatch.setattr("stacklens.extract.certificate.certify.find_invariant", asked)
    result = sl.load(str(ZOO_FILES / "nnpda-1n0n.json"), kind="result")
    assert isinstance(certify(result.model, result.automaton), NotCertified)
    assert [grid for grid, _ in allowed] == [False] * len(WITHOUT_GRID) + [True]
    assert all(most < allowed[0][1] for grid, most in allowed if grid)
    assert isinstance(certify(result.model, result.automaton, layouts=WITHOUT_GRID), NotCertified)
    assert not any(grid for grid, _ in allowed[len(LAYOUTS) :])


def test_a_network_that_was_not_trained_for_it_is_not_certified_and_the_step_is_named() -> None:
    pda = proof(FIRM).system.automaton
    refused = certify(load_network(ZOO_FILES / "marnn-stack-rnn-dyck-2-drifting.pt").model, pda)
    assert isinstance(refused, NotCertified)
    assert (refused.fault.state, refused.fault.symbol, refused.fault.tops) in pda.transitions
    assert " -> p" in refused.reason  # pop or push


@pytest.mark.parametrize("name", RECOGNISERS)
def test_wrong_verdicts_are_refused(name: str) -> None:
    model, pda = recogniser(name)
    for accepting in (frozenset(pda.states) - pda.accepting, frozenset[str]()):
        assert isinstance(certify(model, replace(pda, accepting=accepting)), NotCertified)
    refused = certify(model, replace(pda, acceptance="final state"))
    assert isinstance(refused, NotCertified)
    assert "the network rejects and the automaton does not" in refused.reason


@pytest.mark.parametrize("name", chosen(*ZOO))
def test_the_margin_that_is_asked_for_is_kept(name: str) -> None:
    found = proof(name)
    system, margin = found.system, found.certificate.margin
    assert isinstance(check_invariant(replace(system, margin=margin * 0.999), found.bounds), Certified)
    with pytest.raises(Unproved, match="not sure"):
        check_invariant(replace(system, margin=margin), found.bounds)
    assert isinstance(certify(system.model, system.automaton, margin=5.0), NotCertified)


@pytest.mark.parametrize("name", chosen(*ZOO))
def test_every_box_that_leaks_is_refused(name: str) -> None:
    """It is a little too small on one side."""
    found = proof(name)
    for key, (low, high) in found.bounds.items():
        for number, side in product(range(len(low)), (0, 1)):
            cut = [low.copy(), high.copy()]
            cut[side][number] = cut[1 - side][number] if low[number] < high[number] else low[number] + 1 - 2 * side
            with pytest.raises(Unproved):
                check_invariant(found.system, {**found.bounds, key: (cut[0], cut[1])})


# Words that count: a finite automaton follows at least those that a pushdown automaton follows.


@settings(max_examples=60)
@given(pushdown_automata())
def test_every_word_that_is_followed_counts(pda: PushdownAutomaton) -> None:
    try:
        domain = regular_domain(pda)
    except StacklensError:  # it would be too large
        reject()
    for word in (word for length in range(5) for word in product(pda.input_alphabet, repeat=length)):
        assert len(list(pda.run(word))) <= len(word) or domain.accepts(word)


def test_a_transducer_that_errs_on_other_words_is_certified_for_those_of_its_task() -> None:
    model, pda = extracted(ZOO_FILES / "marnn-stack-rnn-string-reversal.pt")
    reference = get_task("string-reversal").reference
    assert reference is not None
    assert isinstance(certify(model, pda), NotCertified)
    assert isinstance(certify(model, pda, regular_domain(reference)), Certified)
