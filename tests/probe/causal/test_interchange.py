"""Interchange accuracy of networks whose mechanism is known: what it should be is told by hand."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.hand_built import HandMachine, Rule, SuperpositionNet, hand_machines
from tests.probe.causal.mechanisms import BRACKETS, Mechanism, claim

from stacklens.automata.many_runs import RunTables
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition
from stacklens.errors import StacklensError
from stacklens.extract.causality import claim_of
from stacklens.languages.words import all_words
from stacklens.models.base import StackModel
from stacklens.models.networks.baselines import Baseline, BaselineConfig
from stacklens.models.rounding import Rounded
from stacklens.plain_fields import from_plain, to_plain
from stacklens.probe.causal.interchange import interchange
from stacklens.probe.causal.outcome import Causality, Share, wilson
from stacklens.probe.intervene import intervene
from stacklens.probe.trace import trace

PLAIN, SHORTCUT, REDUNDANT = (Mechanism(copied) for copied in (0, 3, 30))


def experiment(network: StackModel[Any], cases: int = 600, seed: int = 0) -> Causality:
    return interchange(claim(network), Rounded(network), network, cases=cases, seed=seed)


def test_the_networks_behave_alike_and_as_the_automaton() -> None:
    words = all_words(("(", ")", "[", "]"), 5)
    said = [trace(network, words, stacks=False) for network in (PLAIN, SHORTCUT, REDUNDANT)]
    for other in said[1:]:
        alive = ~said[0].rejected & said[0].valid
        assert np.array_equal(other.rejected, said[0].rejected)
        assert np.array_equal(other.output[alive], said[0].output[alive])
    for word, rejected in zip(words, said[0].rejected, strict=True):
        assert rejected.any() == (len(list(BRACKETS.run(word))) <= len(word))


def test_a_network_whose_automaton_is_causal_scores_one() -> None:
    found = experiment(PLAIN)
    assert found.states.accuracy == found.states.soft.accuracy == 1.0  # type: ignore[union-attr]
    assert found.symbols.same.accuracy == 1.0
    assert found.symbols.different.accuracy == 1.0
    assert found.states.worst is None
    assert found.states.baseline is None  # one state: all partitions are the same
    assert found.symbols.baseline is not None
    assert found.symbols.baseline < 0.6
    assert found.symbols.told_apart > 0.5 * found.symbols.different.of


def test_a_copy_in_the_hidden_vector_is_what_is_listened_to_and_not_the_stack() -> None:
    """Its cells do nothing: with the same symbol that is right, with another one never where that can be told."""
    found = experiment(REDUNDANT)
    symbols = found.symbols
    assert symbols.same.accuracy == 1.0
    untold = symbols.different.of - symbols.told_apart
    assert 0.9 * untold <= symbols.different.right <= untold
    assert found.states.accuracy < 0.35  # the one state should carry nothing, and it carries everything
    assert found.states.worst_case is not None
    assert found.states.worst_case.part == "hidden"


def test_a_shortcut_in_the_hidden_vector_fails_up_to_its_height_and_not_above() -> None:
    network = SHORTCUT
    found = experiment(network)
    assert experiment(REDUNDANT).symbols.accuracy < found.symbols.accuracy < 1.0
    assert found.states.accuracy < 1.0
    # above height 3 the top cell is listened to, at height 3 it is not
    for height, heard in ((2, False), (3, False), (4, True), (6, True)):
        word = "(" * height + "]"
        seen = intervene(network, word, height, "cells", from_word="(" * (height - 1) + "[", rounded=True)
        other = intervene(network, word, height, "cells", from_word="[" * height, rounded=True)
        assert seen.output[0, -1, 1] == 1.0  # "(" lies below in either case: ")" may come
        assert bool(other.output[0, -1, 3] == 1.0) is heard  # here "[" lies below the cell that was put in


def test_the_worst_case_can_be_pasted_back() -> None:
    import stacklens as sl

    for network in (REDUNDANT, SHORTCUT):
        found = experiment(network)
        for part in (found.states, found.symbols):
            worst = part.worst_case
            assert worst is not None
            assert part.worst == worst.word
            seen = eval(worst.call, {"sl": sl, "model": network})  # our own line
            at = len(worst.base) + worst.step
            said = {letter for letter, may in zip(network.alphabet, seen.output[0, at], strict=True) if may > 0.5}
            assert worst.said[worst.step] in (
                "{" + " ".join(x for x in network.alphabet if x in said) + "}",
                "a rejection",
            )
            assert worst.said[worst.step] != worst.predicted[worst.step]


@settings(max_examples=10, deadline=None)
@given(
    machine=hand_machines(["push", "pop", "none"], ["next symbol", "recognition", "next set"]), seed=st.integers(0, 99)
)
def test_machines_of_cells_and_states_are_causal_in_all_that_they_are_asked(machine: HandMachine, seed: int) -> None:
    network = SuperpositionNet(machine, no_op=True)
    pda = machine.automaton()
    words = all_words(machine.letters, 4)
    own = claim_of(pda, network, None, words, (0,))
    found = interchange(own, Rounded(network), network, words, cases=120, seed=seed)
    for part in (found.states, found.symbols):
        assert math.isnan(part.accuracy) or part.accuracy == 1.0, str(part)


def test_states_that_matter_fail_where_the_partition_is_a_random_one() -> None:
    """Two states that take turns and say so: exchanged, they say the other; a random partition says that half right."""
    rules = {(s, x, ((c,),)): Rule(1 - s, (("none", 0),), 1 - s) for s in (0, 1) for x in (0, 1) for c in (-1, 0)}
    machine = HandMachine(2, ("a", "b"), 1, 1, 1, "next symbol", rules, frozenset())  # type: ignore[arg-type]
    network = SuperpositionNet(machine, no_op=True)
    words = all_words(("a", "b"), 6)
    own = claim_of(machine.automaton(), network, None, words, (0,))
    found = interchange(own, Rounded(network), network, words, cases=400)
    assert found.states.same.accuracy == found.states.different.accuracy == 1.0
    assert found.states.baseline == pytest.approx(0.5, abs=0.1)
    assert set(found.states.by_name) == set(machine.automaton().states)
    assert found.symbols.reason == "the words lead to too few different ones"  # nothing is ever pushed


def test_the_same_seed_gives_the_same_outcome_and_another_one_another() -> None:
    assert experiment(SHORTCUT, 60) == experiment(SHORTCUT, 60)
    assert experiment(SHORTCUT, 60) != experiment(SHORTCUT, 100, seed=1)


def test_an_outcome_is_plain_data_a_table_and_text() -> None:
    found = experiment(SHORTCUT, 60)
    assert from_plain(Causality, json.loads(json.dumps(to_plain(found))), "causality") == found
    table = found.to_frame()
    assert table.interchanges.sum() == found.states.share.of + found.symbols.share.of
    assert "worst: " in str(found)
    assert found.to_dict()["states"]["accuracy"] == found.states.accuracy
    nothing = Causality.none("the network sleeps")
    assert str(nothing.states) == "nothing to interchange: the network sleeps"
    assert nothing.to_dict()["symbols"]["accuracy"] is None


@given(st.integers(1, 500), st.integers(0, 500))
def test_the_interval_holds_the_shares_that_the_normal_test_does_not_reject(of: int, right: int) -> None:
    right = min(right, of)
    low, high = wilson(right, of)
    for share in np.linspace(0.001, 0.999, 97):
        away = abs(right / of - share) / math.sqrt(share * (1 - share) / of)
        if abs(away - 1.959963984540054) > 1e-6:
            assert (low <= share <= high) == (away < 1.959963984540054)
    assert Share(right, of).accuracy == right / of
    for wrong in ((right, -1), (-1, of), (of + 1, of)):
        with pytest.raises(StacklensError, match="expected numbers of which the first is a part"):
            Share(*wrong)


def delay() -> Baseline:
    """Return a tanh RNN that says the symbol before the one it reads: its units are the symbol and the one before."""
    net = Baseline(BaselineConfig(("a", "b"), "rnn", "next symbol", hidden=2), seed=0)
    values = {name: torch.zeros_like(value) for name, value in net.state_dict().items()}
    for name, value in values.items():
        if name.startswith("input_0_weights"):
            value[0] = torch.tensor([9.0, -9.0])  # unit 1: a or b
        elif name.startswith("hidden_0_weights"):
            value[1, 0] = 9.0  # unit 2 is what unit 1 was
        elif name.startswith("output_weights"):
            value[:, 1] = torch.tensor([1.0, -1.0])
    net.load_state_dict(values)
    return net


def test_without_a_stack_all_is_in_the_hidden_vector() -> None:
    network = delay()
    steps: dict[Key, Transition] = {
        (f"after {last}", symbol, ("⊥",)): Transition(f"after {symbol}", (NONE,), last)
        for last in "ab"
        for symbol in "ab"
    }
    pda = PushdownAutomaton(("after a", "after b"), ("a", "b"), (), steps, "after a")
    words = all_words(("a", "b"), 6)[1:]
    found = interchange(claim_of(pda, network, None, words, ()), Rounded(network), network, words, cases=300)
    assert found.states.same.accuracy == found.states.different.accuracy == 1.0
    assert found.states.baseline == pytest.approx(0.5, abs=0.12)
    assert found.symbols.reason == "there is no stack that the automaton sees"
    centred = interchange(
        claim_of(pda, network, None, words, ()), Rounded(network), network, words, cases=300, values="centre"
    )
    assert centred.states.accuracy == 1.0  # what the states do not say is not needed


def test_heads_behind_an_end_marker_are_no_claim_about_words_that_go_on() -> None:
    """Two states that count parity, of which only one is ever on an empty stack before the end: no rejection there."""
    table: dict[Key, Transition] = {
        ("even", "e", ("⊥",)): Transition("odd", (NONE,)),
        ("even", "a", ("⊥",)): Transition("even", (NONE,)),
    }
    pda = PushdownAutomaton(("even", "odd"), ("a",), (), table, "even", frozenset({"odd"}), end_marker="e")
    assert RunTables.of(pda).known.tolist() == [[True], [False]]
