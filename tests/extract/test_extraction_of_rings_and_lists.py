from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.attack.built_networks import brackets_on_a_ring, moving_head
from tests.extract.ring_networks import ListCounter, RingCounter, RingTape

import stacklens as sl
from stacklens.automata.compare import Equal
from stacklens.extract.certificate.claim import Certified, NotCertified
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction

QUICK = ExtractionConfig(
    max_length=6, long_words=60, long_lengths=(10, 30), deep_words=2, depth=20, height=8, climbs=1, walks=10, cycles=12
)


@cache
def counter(up: str, down: str) -> Extraction:
    return extract(RingCounter(up, down), None, QUICK)


def check_that_it_counts(result: Extraction) -> None:
    assert result.automaton is not None, result.reason
    assert [step.output for step in result.automaton.transitions.values()].count("a") == 2
    for word, said in (("ab", "ba"), ("aabb", "baaa"), ("abbaab", "babbaa")):
        run = list(result.automaton.taken(word))
        assert "".join(str(result.automaton.transitions[key].output) for key in run) == said


def test_a_ring_that_is_used_as_a_stack_is_seen_as_one() -> None:
    result = counter("pop right", "pop left")
    assert (result.status, result.view and result.view.name) == (0, "its ring as one stack")
    assert result.view is not None
    assert (result.view.cells, result.view.memories, result.memories) == (59, (0,), (0,))
    check_that_it_counts(result)
    assert str(result.certificate.reason).startswith("a ring counter cannot be certified; expected one of ")
    assert result.view.shown is not None
    assert "it does not rotate right or rotate left, so nothing turned away is read" in result.view.shown


def test_a_ring_that_is_used_the_other_way_round_is_seen_so_and_where_it_comes_round_it_is_told() -> None:
    """Counting down on an empty ring turns it: what was counted down before comes in at the other side."""
    result = counter("rotate left", "rotate right")
    assert result.view is not None
    assert (result.view.name, result.view.shown) == ("its ring as one stack, mirrored", None)
    check_that_it_counts(result)
    assert (result.status, result.view.wrong) == (1, True)
    pumped = [check for check in result.checks if check.kind == "pumped" and check.other == "rounded network"]
    assert pumped[0].disagreements


def test_a_ring_whose_head_goes_both_ways_is_two_stacks() -> None:
    result = extract(RingTape(200), None, QUICK)
    assert result.view is not None
    assert (result.view.name, result.view.cells) == ("its ring as two stacks", 99)
    assert result.automaton is not None, result.reason
    assert (result.status, result.automaton.n_stacks) == (0, 2)
    assert [one.differences > 0 for one in result.view.tried if one.name != "its ring as two stacks"] == [True, True]


def test_a_ring_that_comes_round_gives_no_automaton_and_the_reason_is_a_word() -> None:
    result = extract(RingTape(3), None, QUICK)
    assert result.status == 3
    assert result.minimised is None
    assert result.candidates == []
    assert str(result.reason).startswith("the network does not use its memory as stacks: with its ring as one stack it")
    assert "; with its ring as two stacks it differs on " in str(result.reason)
    assert "'wrrr" in str(result.reason)
    assert "learned something that is no pushdown automaton" in result.why()


def test_a_list_is_two_stacks_of_which_those_are_kept_that_matter() -> None:
    result = extract(ListCounter(), None, QUICK)
    assert result.view is not None
    assert (result.status, result.view.name, result.view.assumes) == (0, "each of its lists as two stacks", None)
    assert (result.stacks.kept, result.memories) == ((0,), (0,))
    assert "1 of 2 matter: the right of list 1 is ignored" in str(result)
    check_that_it_counts(result)


def test_rings_and_lists_are_certified_on_stacks_that_are_their_memory_exactly(tmp_path: Path) -> None:
    ring, head = brackets_on_a_ring(np.random.default_rng(4))[0], moving_head(np.random.default_rng(4))[0]
    names = "its ring as one stack", "each of its lists as two stacks"
    for view, name in zip((ring, head), names, strict=True):
        result = extract(view.model, None, QUICK)
        assert (result.status, result.view and result.view.name) == (0, name)
        found = result.certificate.certificate
        assert isinstance(found, Certified), result.certificate.reason
        assert found.stack_limit == (view.ring_size - 1 if view is ring else None)
        assert result.horizon["rounded network"].shown_by == "certificate"
        view.model.save(tmp_path / "net.pt")
        again = extract(sl.load(str(tmp_path / "net.pt")), None, QUICK)
        again.save(tmp_path / "result.json")
        assert sl.load(tmp_path / "result.json").certificate == again.certificate
    drifts, _ = brackets_on_a_ring(np.random.default_rng(4), adds=-4.0)
    result = extract(drifts.model, None, QUICK)
    assert (result.status, type(result.certificate.certificate)) == (1, NotCertified)


@pytest.mark.slow
def test_the_zoos_baby_ntm_gives_an_automaton_that_is_proved_equal_and_what_breaks_the_network_is_found(
    tmp_path: Path,
) -> None:
    result = sl.extract("baby-ntm-dyck-2", max_length=6, long_words=40, deep_words=1, depth=20, height=5, cycles=40)
    assert isinstance(result.proof, Equal)
    assert result.view is not None
    assert result.view.name == "its ring as one stack"
    assert (result.status, result.view.wrong) == (1, True)
    pumped = [check for check in result.checks if check.kind == "pumped" and check.other == "rounded network"]
    assert pumped[0].made_of == "'(', then '()' 12 times, then ')'"
    assert "what that leaves out has added up there" in result.why()
    result.save(tmp_path / "result.json")
    loaded = sl.load(tmp_path / "result.json")
    assert isinstance(loaded, Extraction)
    assert loaded == result
    assert loaded.view == result.view
