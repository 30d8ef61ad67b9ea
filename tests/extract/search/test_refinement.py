from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.doctored import LETTERS, LatchedNet, SlipperyNet
from tests.extract.hand_built import HandMachine, StrengthNet, SuperpositionNet, hand_machines
from tests.models.published_networks import published

import stacklens
from stacklens.automata.compare import Equal
from stacklens.automata.pda import Word
from stacklens.extract.answers import automaton_answers, network_answers
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.extract.samples import Samples, draw_samples
from stacklens.extract.search.candidates import Candidate, Scorer
from stacklens.extract.search.refinement import find_conflict
from stacklens.extract.search.search import find_candidates, search_sizes
from stacklens.languages.catalogue import get_language, get_task
from stacklens.languages.words import all_words
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import build_model, load_model
from stacklens.models.formats.published import read_marnns, read_stacknn
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import Trace, trace

ZOO = f"{stacklens.__path__[0]}/models/zoo"
QUICK = ExtractionConfig(max_length=6, long_words=400, deep_words=5, depth=60, height=20, walks=20, method="kmeans")


def plain(result: Extraction) -> list[Candidate]:
    return [candidate for candidate in result.candidates if candidate.split is None]


def known_on(net: StackModel[Any], words: list[Word]) -> tuple[Scorer, Trace]:
    """Return what knows the network's answers on some words only, and a trace of these."""
    answers = network_answers(Rounded(net), words)
    samples = Samples(words, answers, answers, None, len(words), words, words)
    return Scorer(net, samples, frozenset(), 0), trace(net, words, rounded=True, stacks=False)


def check_refined(result: Extraction, splits: int, drifts: bool = False) -> None:
    """Check that K-means alone was wrong in every way, and that refinement was right in the end, with its history.

    A network that ``drifts`` is contradicted by repeated cycles alone, which no state can repair.
    """
    assert result.status == int(drifts)
    assert not drifts or (result.contradicted is not None and result.contradicted.kind == "pumped")
    assert isinstance(result.proof, Equal)
    assert all(candidate.disagreements != 0 for candidate in plain(result))
    refined = [candidate for candidate in result.candidates if candidate.split is not None]
    assert 1 <= len(refined) <= splits
    assert result.found is refined[-1]
    history = json.loads(json.dumps(result.report()["attempts"]))[-len(refined) :]
    assert {entry["way"] for entry in history[:-1]} <= {"refinement"}
    assert history[-1]["way"] in ("refinement", "refinement and vote")
    for before, after in pairwise(history):
        assert after["way"] == "refinement and vote" or after["split"]["before"] == before["disagreements"]
    assert history[-1]["disagreements"] == 0
    for split in (candidate.split for candidate in refined):
        assert split is not None
        assert split.sizes[1] > 0
        assert sum(split.sizes) > 1  # one vector alone is nothing to split
    check_words(result.model, refined)


def check_words(net: StackModel[Any], refined: list[Candidate]) -> None:
    """Check that the word that led to each split is one on which the machine before it was wrong."""
    for before, after in pairwise(refined):
        if after.way == "refinement":
            assert after.split is not None
            assert before.automaton is not None
            words = [after.split.word]
            assert (automaton_answers(before.automaton, net, words) != network_answers(Rounded(net), words)).any()


@pytest.mark.slow
def test_two_stack_symbols_and_one_cluster_become_right_for_the_published_dyck_network() -> None:
    net = read_marnns(published("marnns/stack_rnn_model_weights.pth"))
    chosen = ExtractionConfig(**{**vars(QUICK), "states": 1, "stack_symbols": 2})
    check_refined(extract(net, get_task("dyck-2"), chosen), splits=6, drifts=True)


@pytest.mark.slow
def test_one_stack_symbol_becomes_right_for_the_published_reversal_network() -> None:
    net = read_stacknn(published("stacknn/linear_reverse_task_20.dat"))
    chosen = ExtractionConfig(**{**vars(QUICK), "stack_symbols": 1})
    check_refined(extract(net, get_task("reversal"), chosen), splits=4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task", "states", "drifts"),
    [
        ("marnn-stack-lstm", "dyck-2", 2, False),
        ("marnn-stack-rnn", "dyck-2", 1, True),
        ("marnn-stack-rnn", "dyck-3", 1, False),
    ],
)
def test_coarse_clusters_of_networks_of_the_zoo_become_right(name: str, task: str, states: int, drifts: bool) -> None:
    chosen = ExtractionConfig(**{**vars(QUICK), "states": states, "stack_symbols": 2})
    check_refined(extract(load_model(f"{ZOO}/{name}-{task}.pt"), get_task(task), chosen), splits=25, drifts=drifts)


def test_one_cluster_becomes_right_for_palindromes() -> None:
    chosen = ExtractionConfig(**{**vars(QUICK), "states": 1})
    result = extract(load_model(f"{ZOO}/nnpda-palindrome.pt"), get_language("palindrome"), chosen)
    check_refined(result, splits=3)
    (split,) = [candidate.split for candidate in result.candidates if candidate.split is not None]
    assert (split.kind, split.name, split.letter) == ("state", "k0", "c")
    assert sum(split.sizes) > 1_000


@pytest.mark.slow
def test_what_only_the_search_finds_is_mended() -> None:
    """The network counts [[[[[ in a part of its hidden vectors that is too small to make clusters."""
    net = LatchedNet(5)
    result = extract(net, None, replace(QUICK, method="auto"))
    assert result.status == 0
    first = next(one for one in result.candidates if one.exact)  # on the words that were drawn
    assert result.found is not first
    assert result.automaton is not None
    rng = random.Random(0)
    words = ["".join(rng.choices(LETTERS, (4, 1, 8, 1), k=rng.randrange(30))) for _ in range(2_000)]
    words += ["[" * 5 + word for word in words]
    assert np.array_equal(automaton_answers(result.automaton, net, words), network_answers(net, words))


@settings(max_examples=15)
@given(hand_machines(("none", "pop", "push", "replace"), ("recognition", "next symbol", "next set")))
def test_one_state_and_one_symbol_are_split_into_the_machine_that_a_network_is(machine: HandMachine) -> None:
    net = StrengthNet(machine)
    words = all_words(machine.letters, 7 if len(machine.letters) == 2 else 5)
    last = find_candidates(*known_on(net, words), ExtractionConfig(states=1, stack_symbols=1))[-1]
    assert last.exact
    assert last.automaton is not None
    assert np.array_equal(automaton_answers(last.automaton, net, words), network_answers(net, words))


@settings(max_examples=20)
@given(hand_machines(("none", "pop", "push"), ("recognition", "next symbol", "next set")), st.data())
def test_a_machine_without_mistakes_has_no_conflict_and_one_with_some_has(
    machine: HandMachine, data: st.DataObject
) -> None:
    net = SuperpositionNet(machine, no_op=True)
    words = all_words(machine.letters, 5)
    first = next(search_sizes(*known_on(net, words), 1, 1))
    assert first.machine is not None
    assert first.raw is not None
    word = data.draw(st.sampled_from(words))
    conflict = find_conflict(first.machine, word)
    right = np.array_equal(automaton_answers(first.raw, net, [word]), network_answers(net, [word]))
    assert right or conflict is not None
    if machine.kind != "recognition":  # recognisers reject for good sooner or later, with the same verdict
        assert (conflict is None) == right
    if conflict is not None:
        assert conflict.machine_did != conflict.network_did


def test_the_same_seed_refines_in_the_same_way() -> None:
    samples = draw_samples(SlipperyNet(4), None, 0)
    scorer = Scorer(SlipperyNet(4), samples, frozenset(), 0)
    seen = trace(SlipperyNet(4), samples.traced, rounded=True, stacks=False)
    one, other = (find_candidates(scorer, seen, ExtractionConfig(states=1, stack_symbols=2)) for _ in range(2))
    assert [candidate.to_dict() for candidate in one] == [candidate.to_dict() for candidate in other]
    assert any(candidate.split is not None for candidate in one)


@pytest.mark.slow
def test_a_network_without_a_stack_is_refined_too() -> None:
    config = {"alphabet": "ab", "controller": "rnn", "hidden": 6, "task_kind": "transduction"}
    result = extract(build_model("rnn", config, seed=0), None, ExtractionConfig(max_length=6, states=1))
    assert len(result.candidates) > 1  # one cluster was not enough
    assert result.status in (0, 1, 3)
