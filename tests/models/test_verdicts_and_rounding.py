"""Verdicts on many words, and networks with rounded actions, step by step and all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.hand_made import hand_made, input_pushing_automata

from stacklens.automata.pda import NONE, POP, PushdownAutomaton, push, replace
from stacklens.languages.words import all_words
from stacklens.models.checkpoint import build_model
from stacklens.models.inference import verdicts_on, verdicts_on_all
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig, Order
from stacklens.models.rounding import Operation, Rounded, RoundedSteps, without_empty_pops
from stacklens.probe.trace import trace

ORDERS: tuple[Order, ...] = ("second", "third", "full")


def one_by_one(net: NNPDA, word: Sequence[str]) -> bool:
    state = net.initial_state(1)
    for symbol in word:
        state = net.step(torch.tensor([net.alphabet.index(symbol)]), state).state
    return bool(net.verdict(state))


@settings(max_examples=15)
@given(
    order=st.sampled_from(ORDERS),
    end=st.sampled_from((None, "e")),
    seed=st.integers(0, 1_000),
    trap=st.booleans(),
    chunk=st.sampled_from((1, 7, 8_192)),
)
def test_all_three_ways_of_asking_give_the_same_verdicts(
    order: Order, end: str | None, seed: int, trap: bool, chunk: int
) -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), order, 3, end=end, trap=trap), seed=seed, init=2.0)
    words = all_words(net.alphabet, 5)
    plain = [one_by_one(net, word) for word in words]
    assert verdicts_on(net, words, chunk=chunk).tolist() == plain
    assert np.concatenate(verdicts_on_all(net, 5, chunk=chunk)).tolist() == plain


def test_verdicts_stand_in_the_order_of_the_words_whatever_their_lengths() -> None:
    net = NNPDA(NNPDAConfig(("a", "b"), "third", 3, trap=False), seed=35, init=2.0)
    words = all_words(net.alphabet, 7)
    order = np.random.default_rng(0).permutation(len(words))
    expected = verdicts_on(net, words)
    assert 0 < expected.sum() < len(words)
    assert np.array_equal(verdicts_on(net, [words[i] for i in order], chunk=10), expected[order])


def test_nets_on_the_leading_axis_get_each_its_own_verdicts() -> None:
    shape = NNPDAConfig(("a", "b"), "second", 3, end="e", trap=False)
    many = NNPDA(shape, seed=20, init=2.0, nets=5)
    singles = [NNPDA(shape, seed=20 + number, init=2.0) for number in range(5)]
    words = all_words(shape.alphabet, 6)
    for network in (many, Rounded(many)):
        mine = [net if network is many else Rounded(net) for net in singles]
        expected = np.stack([verdicts_on(net, words) for net in mine])
        assert len({tuple(row) for row in expected.tolist()}) > 1
        assert np.array_equal(verdicts_on(network, words), expected)
        assert np.array_equal(np.concatenate(verdicts_on_all(network, 6), -1), expected)


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


# What a rounded network does in a step, in numbers: the same for a batch, for traced words and one by one.

NETWORKS: dict[str, dict[str, Any]] = {
    "nnpda": {"alphabet": "ab"},
    "stack-rnn": {"alphabet": "ab", "n_stacks": 2},
    "marnn-stack-rnn": {"alphabet": "()[]", "first": "(["},
    "neural-stack": {"alphabet": "01#", "controller": "lstm", "null": "#"},
    "rnn": {"alphabet": "ab", "controller": "rnn", "hidden": 3, "task_kind": "transduction"},
}


def test_each_operation_is_the_one_of_an_automaton_with_the_same_name() -> None:
    made = [operation.stack_op("x") for operation in Operation]
    assert made == [NONE, POP, push("x"), replace("x")]
    assert [Operation.of(one) for one in made] == list(Operation)
    assert [str(operation) for operation in Operation] == [one.name for one in made]


@given(st.lists(st.sampled_from(Operation)))
def test_heights_are_those_of_a_list_that_is_pushed_to_and_popped(operations: list[Operation]) -> None:
    cells: list[int] = []
    heights = np.zeros(1, np.int64)
    for operation in operations:
        done, heights = without_empty_pops(np.array([operation]), heights)
        assert Operation(done[0]).pops == (operation.pops and bool(cells))
        if operation.pops and cells:
            cells.pop()
        if operation.pushes:
            cells.append(0)
        assert heights[0] == len(cells)


@settings(max_examples=20)
@given(st.sampled_from(sorted(NETWORKS)), st.integers(0, 50), st.data())
def test_steps_of_a_trace_are_those_that_are_taken_one_by_one(name: str, seed: int, data: st.DataObject) -> None:
    network = Rounded(build_model(name, NETWORKS[name], seed=seed))
    word = data.draw(st.lists(st.sampled_from(network.alphabet), min_size=1, max_size=6))
    seen = trace(network, [word], stacks=False)
    arrays = seen.hidden[:, 1:], seen.actions, seen.pushed, seen.output, seen.rejected
    whole = RoundedSteps.of(network, *map(torch.from_numpy, arrays))
    with torch.no_grad():
        state = network.initial_state(1)
        for t, letter in enumerate(seen.symbols[0].tolist()):
            step = network.step(torch.tensor([letter]), state)
            state = step.state
            one = RoundedSteps.of(network, step.hidden, step.actions, step.pushed, step.output, state.rejected)
            for field in ("operations", "pushed", "targets", "outputs", "rejected"):
                assert np.array_equal(getattr(whole, field)[:, t], getattr(one, field))


@pytest.mark.parametrize("stacks", [0, 2])
def test_an_automaton_has_a_stack_where_the_network_has_none(stacks: int) -> None:
    name = "stack-rnn" if stacks else "rnn"
    network = Rounded(build_model(name, NETWORKS[name], seed=0))
    seen = trace(network, ["ab", "b"], stacks=False)
    arrays = (np.nan_to_num(x) for x in (seen.hidden[:, 1:], seen.actions, seen.pushed, seen.output, seen.rejected))
    steps = RoundedSteps.of(network, *map(torch.from_numpy, arrays))
    assert steps.operations.shape == steps.pushed.shape == (2, 2, max(1, stacks))
