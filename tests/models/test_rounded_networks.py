from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from tests.models.hand_made import hand_made, input_pushing_automata

from stacklens.automata.pda import PushdownAutomaton
from stacklens.languages.words import all_words
from stacklens.models.inference import verdicts_on
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.rounding import Rounded


@settings(max_examples=40)
@given(input_pushing_automata())
def test_any_automaton_is_a_third_order_net_with_an_end_symbol(pda: PushdownAutomaton) -> None:
    net = hand_made(pda, end="$")
    words = all_words(pda.input_alphabet, 5)
    expected = [pda.accepts(word) for word in words]
    assert verdicts_on(Rounded(net), words).tolist() == expected
    assert verdicts_on(net, words).tolist() == expected


@settings(max_examples=40)
@given(input_pushing_automata())
def test_without_an_end_symbol_the_trap_neuron_stands_for_missing_transitions(pda: PushdownAutomaton) -> None:
    words = all_words(pda.input_alphabet, 5)
    by_stack = PushdownAutomaton(
        pda.states, pda.input_alphabet, pda.stack_alphabet, pda.transitions, pda.initial, acceptance="empty stack"
    )
    expected = [len(word) > 0 and by_stack.accepts(word) for word in words]
    assert verdicts_on(Rounded(hand_made(pda)), words).tolist() == expected
    assert verdicts_on(Rounded(hand_made(pda, order="full")), words).tolist() == expected


def test_actions_are_rounded_at_the_threshold_of_equation_21() -> None:
    net = NNPDA(NNPDAConfig(("a",), "full", 1))
    start = net.initial_state(1)
    for weight, rounded in [(0.5, 0), (0.51, 1), (1, 1), (-0.5, 0), (-0.51, -1), (0, 0), (0.2, 0)]:
        with torch.no_grad():
            net.action_weights.fill_(weight)
        assert net.step(torch.tensor([0]), start).actions.item() == pytest.approx(weight)
        step = Rounded(net).step(torch.tensor([0]), start)
        assert step.actions.item() == rounded
        assert step.state.stack.length.item() == max(0, rounded)
    with torch.no_grad():
        net.action_weights.fill_(0.3)
    assert Rounded(net, threshold=0.2).step(torch.tensor([0]), start).actions.item() == 1


def test_rounding_keeps_the_stack_at_whole_symbols_and_shares_the_weights() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), "third", 3, trap=False), seed=2, init=4.0)
    rounded = Rounded(net)
    state = rounded.initial_state(64)
    lengths = set()
    for symbol in np.random.default_rng(0).integers(0, 2, (12, 64)):
        state = rounded.step(torch.from_numpy(symbol), state).state
        lengths |= set(state.stack.lengths.flatten().tolist())
    assert lengths == {0.0, 1.0}
    assert (rounded.alphabet, rounded.end, rounded.config()) == (net.alphabet, net.end, net.config())
    assert {id(p) for p in rounded.parameters()} == {id(p) for p in net.parameters()}
