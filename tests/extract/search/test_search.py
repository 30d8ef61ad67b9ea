"""The ways to an automaton: learning from behaviour, clusters and their refinement."""

import json
import random
import re
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.extract.doctored import LETTERS, LatchedNet, SlipperyNet, dyck_machine
from tests.extract.hand_built import HandMachine, Place, Rule, StrengthNet, SuperpositionNet, hand_machines
from tests.models.hand_made import hand_made, input_pushing_automata
from tests.models.published_networks import published

from stacklens.automata.compare import Different, Equal, compare
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract import samples as drawing
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.extract.samples import Samples, draw_samples
from stacklens.extract.search.candidates import Candidate, Scorer
from stacklens.extract.search.learn import (
    BOTTOM_SYMBOL,
    DIES,
    NOWHERE,
    SILENT,
    UNKNOWN_SYMBOL,
    Evidence,
    RunTree,
    gather,
    learned_candidates,
    merged_states,
    tail_symbols,
)
from stacklens.extract.search.machine import Clusters, Levels, Quantiser, cluster
from stacklens.extract.search.search import SearchPlan, find_candidates, find_conflict, search_sizes
from stacklens.languages.catalogue import get_language, get_task
from stacklens.languages.language import all_words
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import load_network
from stacklens.models.inference import automaton_answers, network_answers
from stacklens.models.networks import build_model
from stacklens.models.rounding import Operation, Rounded
from stacklens.probe.trace import Trace, trace

# ---- Learning from behaviour: a network made from an automaton gives that automaton back, with no look at its vectors.

MANY = settings(
    max_examples=3,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
    phases=[Phase.generate],
)


def learned(model: StackModel[Any]) -> Candidate | None:
    """Return the first exact candidate that is learned from ``model``."""
    scorer = Scorer(model, draw_samples(model, None, 0), 0)
    return next((candidate for candidate in learned_candidates(scorer) if candidate.exact), None)


@MANY
@given(input_pushing_automata())
def test_a_small_automaton_comes_back(pda: PushdownAutomaton) -> None:
    assume(any((state, top) == (pda.initial, "⊥") for state, _, (top,) in pda.transitions))
    found = learned(hand_made(pda, end="$"))
    assume(found is not None)  # else clusters are tried
    # nothing is known of longer words than those that it was learned from
    different, learned_from = compare(found.automaton, pda), re.search(r"to length (\d+)", found.quantiser)
    if isinstance(different, Different):
        assert len(different.word) > float(learned_from[1] if learned_from else "inf")


@MANY
@given(hand_machines(("push", "pop", "none"), ("recognition", "next set", "next symbol", "transduction")))
def test_a_small_machine_on_cells_comes_back(machine: HandMachine) -> None:
    found = learned(SuperpositionNet(machine, no_op=True))
    assume(found is not None)
    pda = machine.automaton()
    if machine.kind != "recognition":  # one that speaks accepts whatever it reads
        pda = replace(pda, accepting=frozenset(pda.states))
    assert not isinstance(compare(found.automaton, pda), Different)


def test_a_stack_symbol_is_what_happens_right_after_the_push() -> None:
    tree = RunTree(SuperpositionNet(dyck_machine(), no_op=True), None, 2_000)
    symbols = tail_symbols(tree, (0,))
    runs = tree.runs
    known = symbols.numbers >= 0
    below, letters = runs.below == 0, runs.letters[runs.makers]
    what = {
        (int(n), int(x), bool(low))
        for n, x, low in zip(symbols.numbers[known], letters[known], below[known], strict=True)
    }
    assert len({n for n, _, _ in what}) == len({(x, low) for _, x, low in what}) == 4
    assert symbols.numbers[0] == BOTTOM_SYMBOL
    assert (symbols.numbers[~runs.followed[runs.makers] & (runs.makers > 0)] == UNKNOWN_SYMBOL).all()


def test_a_tree_has_all_words_that_are_not_rejected_and_what_they_do() -> None:
    net = hand_made(get_language("palindrome").automaton, end="$")
    runs = RunTree(net, None, 300).runs
    words = [""]
    for parent, letter in zip(runs.parents[1:].tolist(), runs.letters[1:].tolist(), strict=True):
        words.append(words[parent] + net.letters[letter])
    assert len(set(words)) == len(words)
    language = get_language("palindrome")
    for place, word in enumerate(words):
        if word.endswith("$"):
            assert bool(runs.verdicts[place]) == (word[:-1] in language)
    depth = dict.fromkeys(range(1), 0)
    for node in range(1, len(words)):
        change = (runs.operations[node] == Operation.PUSH) * 1 - (runs.operations[node] == Operation.POP)
        depth[node] = depth[int(runs.parents[node])] + int(change[0])
        assert (runs.tops[node, 0] == 0) == (depth[node] == 0)


def evidence_of(rows: list[dict[int, tuple[int, int, int]]]) -> Evidence:
    return Evidence(rows, [((-1,),)], [((Operation.NONE, None),)], [1] * len(rows), False)


def test_an_output_that_does_not_count_agrees_with_any() -> None:
    chain = [{0: (0, 5, 1)}, {0: (0, SILENT, 2)}, {0: (0, 5, 3)}, {}]
    states = merged_states(evidence_of(chain), 10)
    assert states == {0: {0: (0, 5, 0)}}
    apart = [{0: (0, 5, 1)}, {0: (0, SILENT, 2)}, {0: (0, 6, 3)}, {}]
    assert len(merged_states(evidence_of(apart), 10) or ()) > 1


def test_a_rejection_is_evidence_and_too_many_states_are_none() -> None:
    dies = (DIES, SILENT, NOWHERE)
    rows = [{0: (0, SILENT, 1), 1: dies}, {0: (0, SILENT, 2), 1: (0, SILENT, 3)}, {}, {}]
    assert len(merged_states(evidence_of(rows), 10) or ()) == 2
    assert merged_states(evidence_of(rows), 1) is None


def test_nothing_is_known_beyond_a_push_that_was_not_followed() -> None:
    tree = RunTree(SuperpositionNet(dyck_machine(), no_op=True), None, 50)
    symbols = tail_symbols(tree, (0,))
    evidence = gather(tree, (0,), symbols)
    last = np.flatnonzero(~tree.runs.followed & (tree.runs.pushed[:, 0] >= 0) & ~tree.runs.rejected)
    assert len(last)
    targets = {target for row in evidence.entries for _, _, target in row.values()}
    assert not targets & set(last.tolist())


def two_stacks() -> HandMachine:
    """Return a^n b^n's predictor on stack 0; stack 1 is used too, and nothing that is said depends on it."""
    rules = dict[Place, Rule]()
    for first, second in product((-1, 0), repeat=2):
        rules[0, 0, ((first,), (second,))] = Rule(0, (("push", 0), ("pop" if second == 0 else "push", 0)), 0)
        rules[0, 1, ((first,), (second,))] = Rule(0, (("pop", 0), ("push", 0)), 1 if first == 0 else 0)
    return HandMachine(1, ("a", "b"), 1, 2, 1, "next symbol", rules, frozenset({0}))


def test_of_several_stacks_as_few_are_shown_as_explain_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_SHORT", 3_000)
    monkeypatch.setattr(drawing, "_DRAWN", 200)
    found = learned(SuperpositionNet(two_stacks(), no_op=True))
    assert found.stacks == (0,)
    assert (found.automaton.n_stacks, len(found.automaton.states)) == (1, 1)
    assert found.to_dict()["stacks"] == [0]


UNIT = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(0, 1))


def test_five_levels_cut_where_section_4_1_does() -> None:
    levels = Levels(5, 1)
    for number, cut in enumerate([0.125, 0.375, 0.625, 0.875]):
        assert levels.assign(np.array([[np.nextafter(cut, 0)], [np.nextafter(cut, 1)]])).tolist() == [
            number,
            number + 1,
        ]
    assert levels.represent(np.arange(5)).ravel().tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert levels.assign(np.array([[0.0], [1.0]])).tolist() == [0, 4]


def test_a_binary_neuron_is_one_above_a_half_and_zero_at_it_and_too_many_levels_are_refused() -> None:
    assert Levels(2, 3).assign(np.array([[0.5, 0.500001, 0.9], [1.0, 0.0, 0.49]])).tolist() == [0b011, 0b100]
    assert Levels(2, 3).represent(np.array([0b011])).tolist() == [[0, 1, 1]]
    with pytest.raises(ValueError, match=r"^10 levels of 40 neurons are too many states to number; use clusters$"):
        Levels(10, 40).assign(np.zeros((1, 40)))


@given(UNIT, st.sampled_from([2, 3, 5, 11]))
def test_a_vector_is_at_most_half_a_step_from_what_stands_for_it(hidden: np.ndarray, n: int) -> None:
    levels = Levels(n, hidden.shape[1])
    numbers = levels.assign(hidden)
    centres = levels.represent(numbers)
    assert (np.abs(centres - hidden) <= 0.5 / (n - 1) + 1e-12).all()
    assert levels.assign(centres).tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("quantiser", "count"), [(Levels(2, 4), 16), (Levels(5, 2), 25), (Levels(12, 2), 144), (Clusters(np.eye(7)), 7)]
)
def test_different_states_have_different_names(quantiser: Quantiser, count: int) -> None:
    assert len({quantiser.label(number) for number in range(count)}) == count


@given(UNIT, st.integers(0, 9))
def test_a_cluster_is_the_nearest_centre(vectors: np.ndarray, seed: int) -> None:
    centres = np.random.default_rng(seed).random((4, vectors.shape[1]))
    distances = ((vectors[:, None] - centres) ** 2).sum(-1)
    chosen = Clusters(centres).assign(vectors)
    np.testing.assert_allclose(distances[np.arange(len(vectors)), chosen], distances.min(1), atol=1e-12)
    np.testing.assert_array_equal(Clusters(centres).represent(chosen), centres[chosen])


def test_k_means_finds_clear_clusters_and_is_the_same_every_time() -> None:
    blobs = np.eye(3).repeat(50, 0) + 0.01 * np.random.default_rng(0).standard_normal((150, 3))
    one, other = (cluster(blobs, 3, seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.centres, other.centres)
    assert one.centres.tolist() == sorted(one.centres.tolist())
    np.testing.assert_allclose(one.centres[one.assign(np.eye(3))], np.eye(3), atol=0.01)
    assert np.array_equal(one.assign(blobs), one.assign(np.eye(3)).repeat(50))
    shuffled = np.random.default_rng(1).permutation(blobs)
    np.testing.assert_allclose(cluster(shuffled, 3, seed=5).centres, one.centres, atol=1e-9)


@pytest.mark.parametrize(("k", "size"), [(2, 1), (3, 8), (7, 3), (12, 8)])
def test_k_means_is_as_tight_as_that_of_scikit_learn(k: int, size: int) -> None:
    from sklearn.cluster import KMeans  # which takes seconds to import

    rng = np.random.default_rng(k)
    vectors = rng.random((k, size))[rng.integers(k, size=2_000)] + rng.normal(0, 0.05, (2_000, size))
    centres = cluster(vectors, k).centres
    spread = ((vectors[:, None] - centres) ** 2).sum(2).min(1).sum()
    assert spread <= 1.01 * KMeans(k, n_init=4, random_state=0).fit(vectors).inertia_


def test_fewer_different_vectors_than_clusters_are_their_own_centres_and_give_no_warning() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert cluster(vectors, 5).centres.tolist() == [[0, 1], [1, 0]]
    assert cluster(vectors, 2).centres.tolist() == [[0, 1], [1, 0]]
    assert len(cluster(vectors, 1).centres) == 1
    vectors = np.concatenate([np.full((4, 1), x) + np.arange(4)[:, None] * 1e-17 for x in (0.1, 0.9)])
    assert 1 <= len(cluster(vectors, 6).centres) <= 8


def test_of_very_many_vectors_some_are_drawn_by_the_seed() -> None:
    vectors = np.random.default_rng(0).random((500, 2))
    one, same, other = (cluster(vectors, 4, seed, largest=50).centres for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


QUICK = ExtractionConfig(max_length=6, long_words=400, deep_words=5, depth=60, height=20, walks=20, method="kmeans")


def known_on(net: StackModel[Any], words: list[Word]) -> tuple[Scorer, Trace]:
    """Return what knows the network's answers on some words only, and a trace of these."""
    answers = network_answers(Rounded(net), words)
    samples = Samples(words, answers, answers, None, len(words), words, words)
    return Scorer(net, samples, 0), trace(net, words, rounded=True, stacks=False)


def check_refined(result: Extraction, splits: int, drifts: bool = False) -> None:
    """Check that K-means alone was wrong in every way, and that refinement was right in the end, with its history.

    A network that ``drifts`` is contradicted by repeated cycles alone, which no state can repair.
    """
    assert result.status == int(drifts)
    assert not drifts or (result.contradicted is not None and result.contradicted.kind == "pumped")
    assert isinstance(result.proof, Equal)
    assert all(candidate.disagreements != 0 for candidate in result.candidates if candidate.split is None)
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
        assert split.sizes[1] > 0
        assert sum(split.sizes) > 1  # one vector alone is nothing to split
    for one, other in pairwise(refined):
        if other.way == "refinement":  # the word that led to it is one on which the machine before it was wrong
            words, net = [other.split.word], result.model
            assert (automaton_answers(one.automaton, net, words) != network_answers(Rounded(net), words)).any()


def test_few_stack_symbols_and_one_cluster_become_right_for_published_networks() -> None:
    net = load_network(published("marnns/stack_rnn_model_weights.pth")).model
    chosen = ExtractionConfig(**{**vars(QUICK), "states": 1, "stack_symbols": 2})
    check_refined(extract(net, get_task("dyck-2"), chosen), splits=6, drifts=True)
    net = load_network(published("stacknn/linear_reverse_task_20.dat")).model
    chosen = ExtractionConfig(**{**vars(QUICK), "stack_symbols": 1})
    check_refined(extract(net, get_task("reversal"), chosen), splits=4)


@pytest.mark.parametrize(("name", "states"), [("lstm-dyck-2", 2), ("rnn-dyck-2-drifting", 1), ("rnn-dyck-3", 1)])
def test_coarse_clusters_of_networks_of_the_zoo_become_right(name: str, states: int) -> None:
    chosen = ExtractionConfig(**{**vars(QUICK), "states": states, "stack_symbols": 2})
    result = extract(load_network(f"marnn-stack-{name}").model, get_task(f"dyck-{'3' if '3' in name else '2'}"), chosen)
    check_refined(result, splits=25, drifts="drifting" in name)


def test_one_cluster_becomes_right_for_palindromes() -> None:
    chosen = ExtractionConfig(**{**vars(QUICK), "states": 1})
    result = extract(load_network("nnpda-palindrome").model, get_language("palindrome"), chosen)
    check_refined(result, splits=3)
    (split,) = [candidate.split for candidate in result.candidates if candidate.split is not None]
    assert (split.kind, split.name, split.letter) == ("state", "k0", "c")
    assert sum(split.sizes) > 1_000


def test_what_only_the_search_finds_is_mended() -> None:
    """The network counts [[[[[ in a part of its hidden vectors that is too small to make clusters."""
    net = LatchedNet(5)
    result = extract(net, None, replace(QUICK, method="auto"))
    assert result.status == 0
    first = next(one for one in result.candidates if one.exact)  # on the words that were drawn
    assert result.found is not first
    rng = random.Random(0)
    words = ["".join(rng.choices(LETTERS, (4, 1, 8, 1), k=rng.randrange(30))) for _ in range(2_000)]
    words += ["[" * 5 + word for word in words]
    assert np.array_equal(automaton_answers(result.automaton, net, words), network_answers(net, words))


@settings(max_examples=15)
@given(hand_machines(("none", "pop", "push", "replace"), ("recognition", "next symbol", "next set")))
def test_one_state_and_one_symbol_are_split_into_the_machine_that_a_network_is(machine: HandMachine) -> None:
    net = StrengthNet(machine)
    words = all_words(machine.letters, 7 if len(machine.letters) == 2 else 5)
    last = find_candidates(*known_on(net, words), SearchPlan(ExtractionConfig(states=1, stack_symbols=1)))[-1]
    assert last.exact
    assert np.array_equal(automaton_answers(last.automaton, net, words), network_answers(net, words))


@settings(max_examples=20)
@given(hand_machines(("none", "pop", "push"), ("recognition", "next symbol", "next set")), st.data())
def test_a_machine_without_mistakes_has_no_conflict_and_one_with_some_has(
    machine: HandMachine, data: st.DataObject
) -> None:
    net = SuperpositionNet(machine, no_op=True)
    words = all_words(machine.letters, 5)
    first = next(search_sizes(*known_on(net, words), 1, 1))
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
    scorer = Scorer(SlipperyNet(4), samples, 0)
    seen = trace(SlipperyNet(4), samples.traced, rounded=True, stacks=False)
    plan = SearchPlan(ExtractionConfig(states=1, stack_symbols=2))
    one, other = (find_candidates(scorer, seen, plan) for _ in range(2))
    assert [candidate.to_dict() for candidate in one] == [candidate.to_dict() for candidate in other]
    assert any(candidate.split is not None for candidate in one)


def test_a_network_without_a_stack_is_refined_too() -> None:
    config = {"alphabet": "ab", "controller": "rnn", "hidden": 3, "task_kind": "transduction"}
    result = extract(build_model("rnn", config, seed=1), None, replace(QUICK, states=1))
    assert result.found.split is not None  # one cluster was not enough
    assert result.status == 0
