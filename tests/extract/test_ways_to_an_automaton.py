"""Which way gave an automaton, what the other one says, what a budget ends, and what is given out with its errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.extract.doctored import ResidueNet
from tests.extract.hand_built import HandMachine, Place, Rule, SuperpositionNet
from tests.models.hand_made import parentheses_net

from stacklens.automata.compare import Equal
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.fidelity import MOST_CHANGED, Fidelity, Rounding, caution, rounding_changes_behaviour
from stacklens.extract.report import load_result
from stacklens.extract.samples import draw_samples
from stacklens.extract.search.candidates import LEARNING, Candidate, Scorer
from stacklens.extract.search.search import is_near
from stacklens.extract.specification import LanguageSpecification
from stacklens.extract.verification.checks import check_sampled
from stacklens.languages.catalogue import get_language

QUICK = ExtractionConfig(
    max_length=5, long_words=40, long_lengths=(10, 20), deep_words=2, depth=30, height=8, walks=10, cycles=20
)
DYCK = get_language("parentheses")


def test_a_budget_that_is_used_up_at_once_ends_the_search_and_is_named() -> None:
    result = extract(parentheses_net(), DYCK, replace(QUICK, method="learn", budget=1e-9))
    assert result.budget is not None
    assert result.budget.ran_out
    assert result.report()["budget"]["ran_out"]
    assert (result.status, result.minimised) == (3, None)
    assert "the search ended after 1e-09 seconds of processor time" in str(result)


def test_what_few_stacks_explain_is_what_the_network_does_and_not_how(tmp_path: Path) -> None:
    """Both stacks hold the same; what is said after a is read off the first, and after b off the second."""
    rules = dict[Place, Rule]()
    for first in (-1, 0):
        for second in (-1, 0):
            windows: tuple[tuple[int, ...], ...] = ((first,), (second,))
            rules[0, 0, windows] = Rule(0, (("push", 0), ("push", 0)), first + 1)
            rules[0, 1, windows] = Rule(0, (("pop", 0), ("pop", 0)), second + 1)
    net = SuperpositionNet(HandMachine(1, ("a", "b"), 1, 2, 1, "next symbol", rules, frozenset({0})), no_op=True)
    by_clusters = extract(net, None, QUICK)
    assert by_clusters.automaton is not None
    assert (by_clusters.status, by_clusters.automaton.n_stacks) == (0, 2)
    result = extract(net, None, replace(QUICK, method="learn"))
    assert result.automaton is not None
    assert (result.status, result.automaton.n_stacks) == (0, 1)
    assert (len(result.stacks.stacks), len(result.stacks.unseen), result.stacks.dropped) == (1, 1, ())
    assert "it tells what the network does, not how" in str(result)
    assert "stacks that the automaton does without" in str(result.certificate)
    assert result.second is not None
    assert result.second.automaton is not None
    assert result.second.automaton.n_stacks == 2
    assert "another automaton" in str(result)
    result.save(tmp_path / "result.json")
    assert str(load_result(tmp_path / "result.json", trusted=True)) == str(result)


def found_with(errors: int) -> Candidate:
    return Candidate("", 1, LEARNING, 1, errors, None, raw=DYCK.automaton, automaton=DYCK.automaton)


def test_few_errors_are_given_out_and_more_only_where_the_automaton_is_proved_right() -> None:
    net = parentheses_net()
    scorer = Scorer(net, draw_samples(net, LanguageSpecification(DYCK), 0), frozenset(), 0)
    alive = scorer.samples.alive()
    assert 100 < alive < len(scorer.samples.words) / 2  # most words are rejected by anything
    proved = replace(scorer, specification=LanguageSpecification(DYCK))
    for errors, near, near_if_proved in (
        (0, True, True),
        (1, True, True),
        (alive // 20, False, True),
        (alive, False, False),
    ):
        assert is_near(scorer, found_with(errors)) is near
        assert is_near(proved, found_with(errors)) is near_if_proved


def test_an_automaton_with_errors_is_contradicted_by_a_word() -> None:
    net = parentheses_net()
    with torch.no_grad():
        net.action_weights.view(2, 6)[0, 4] = 0  # a closing bracket does nothing any more
    scorer = Scorer(net, draw_samples(net, LanguageSpecification(DYCK), 0), frozenset(), 0)
    (found,) = check_sampled(found_with(3), scorer, net, ())
    assert (found.kind, found.other) == ("sampled", "rounded network")
    assert found.disagreements > 0
    assert found.counterexample is not None
    assert not check_sampled(found_with(0), scorer, net, ())
    assert not check_sampled(found_with(3), scorer, net, (found,))  # one word is enough


def test_much_changed_by_rounding_calls_for_caution() -> None:
    def rounded(disagreements: int) -> Fidelity:
        return Fidelity(Rounding(1_000, disagreements, 100), None, 0.5, 0.0)

    assert caution(rounded(10)) is None
    assert "not what the network does" in (caution(rounded(24)) or "")
    result = extract(parentheses_net(), DYCK, QUICK)
    assert (result.status, replace(result, caution="so").status) == (0, 1)


@pytest.mark.parametrize(("drive", "status"), [(1.386, 3), (2.95, 1)])
def test_what_rounding_changes_much_is_told_with_its_share_and_never_called_right(drive: float, status: int) -> None:
    net = parentheses_net()
    with torch.no_grad():
        net.action_weights[0, 3] = drive  # a push of 0.6, or of 0.9: they add up, and rounding makes them whole
    result = extract(net, None, QUICK)
    mismatch = result.fidelity.rounding.mismatch
    assert mismatch > MOST_CHANGED if status == 3 else 0.1 < mismatch <= MOST_CHANGED
    assert result.status == status
    assert status == 3 or f"changes {result.fidelity.rounding.disagreements} of " in str(result.caution)


def test_what_soft_operations_leave_behind_is_read_from_the_network_as_it_is() -> None:
    """Rounded it slips on every word with a bracket; as it is, it is dyck-2's automaton on its own stack."""
    result = extract(ResidueNet(), get_language("dyck-2"), QUICK)
    assert rounding_changes_behaviour(result.model, result.fidelity)
    assert result.fidelity.rounding.mismatch > MOST_CHANGED
    assert (result.status, isinstance(result.proof, Equal)) == (1, True)
    assert str(result.caution).startswith("read from the network as it is")
    wrong = {check.other: check.disagreements for check in result.checks if check.kind == "exhaustive"}
    assert wrong["network"] == 0
    assert wrong["rounded network"] > 0
    assert result.horizon["network"].length == QUICK.max_length
    assert "boxes follow rounded ones" in str(result.certificate.reason)
    assert result.diagnosis is not None
    assert result.diagnosis.cause.name == "computes with leftovers"
    assert "though 0.0% of them are graded" in result.diagnosis.cause.measured
    assert "drift" not in result.why().split("What to do next:")[1]  # no value moves: something is left over
    clustered = extract(ResidueNet(), get_language("dyck-2"), replace(QUICK, method="kmeans", budget=5.0))
    assert {one.method for one in clustered.candidates} <= {"kmeans"}  # who asks for clusters gets no other way
    graded = replace(result.fidelity, graded_actions=0.3)
    assert not rounding_changes_behaviour(result.model, graded)  # it means little which operation each is nearest to
