"""What is wrong only below some depth is found by default checks; only the exhaustive ones are shorter here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.extract.doctored import SlipperyNet, forgetful, right, sloppy, to_depth
from tests.models.hand_made import hand_made

from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.agreement import Agreement
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.specification import LanguageSpecification
from stacklens.extract.verification.checks import check_all
from stacklens.languages.catalogue import get_language

DYCK = get_language("dyck-2")
DEFAULT = ExtractionConfig(max_length=6)  # all else as it comes

DRIVEN = replace(DEFAULT, long_words=10, deep_words=0)
LESS = replace(DRIVEN, height=20, walks=10)


def depth(word: str) -> int:
    return int(np.cumsum([1 if letter in "([" else -1 for letter in word]).max(initial=0))


def found(check: Agreement) -> str:
    assert isinstance(check.counterexample, str)
    return check.counterexample


@pytest.mark.parametrize("doctored", [to_depth(12), sloppy(12), forgetful(13)])
def test_an_automaton_that_is_wrong_below_a_depth_is_caught(doctored: PushdownAutomaton) -> None:
    checks = check_all(doctored, hand_made(right(), end="$"), LanguageSpecification(DYCK), LESS)
    caught = [check for check in checks if check.disagreements]
    assert {check.other for check in caught} == {"language", "rounded network", "network"}
    assert {check.kind for check in caught} <= {"covering", "driven", "long", "pumped"}
    for check in caught:
        word = found(check)
        assert doctored.accepts(word) != (word in DYCK)
    driven = [check for check in caught if check.kind == "driven"]
    assert {len(found(check)) for check in driven} == {26}
    assert {depth(found(check)) for check in driven} == {13}


@pytest.mark.parametrize("specification", [None, LanguageSpecification(DYCK)])
def test_a_network_that_slips_at_one_depth_only_is_caught_though_its_automaton_is_right(
    specification: LanguageSpecification | None,
) -> None:
    checks = check_all(right(), SlipperyNet(13), specification, DRIVEN)
    caught = [check for check in checks if check.disagreements and check.other == "rounded network"]
    assert "driven" in {check.kind for check in caught}
    assert min(len(found(check)) for check in caught) == 26
    assert all(depth(found(check)) == 13 and found(check) not in DYCK for check in caught)
    assert not any(check.disagreements for check in checks if check.other == "language")


@pytest.mark.slow
def test_extraction_by_default_is_not_content_with_such_networks() -> None:
    """Refinement goes after the network, which is wrong at depth 13: so the automaton may be, too."""
    slippery = extract(SlipperyNet(13), DYCK, replace(DEFAULT, long_words=500, depth=50))
    assert slippery.automaton is not None
    assert slippery.status == 1
    for check in slippery.checks:
        if check.disagreements:
            assert depth(found(check)) >= 13
            assert len(found(check)) < 50
