from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.extract.doctored import SlipperyNet, right
from tests.extract.hand_built import HandMachine, StrengthNet, SuperpositionNet, hand_machines

from stacklens.automata.pda import Transition
from stacklens.extract.agreement import agree_on, agree_on_all, count_again
from stacklens.extract.verification.divergence import divergence


@settings(max_examples=40)
@given(hand_machines(("none", "pop", "push"), ("recognition", "next symbol", "next set"), 2), st.data())
def test_a_network_and_its_own_automaton_never_part(machine: HandMachine, data: st.DataObject) -> None:
    word = data.draw(st.text("".join(machine.letters), max_size=12))
    found = divergence(machine.automaton(), SuperpositionNet(machine, no_op=True), word)
    assert found.first is None
    assert found.accepted == found.network_accepts
    assert len(found.moments) == len(word)


@settings(max_examples=60)
@given(hand_machines(("none", "pop", "push", "replace"), ("next symbol", "next set")), st.data())
def test_a_changed_transition_is_where_they_part(machine: HandMachine, data: st.DataObject) -> None:
    word = data.draw(st.text("".join(machine.letters), min_size=1, max_size=12))
    pda = machine.automaton()
    run = list(pda.run(word))
    steps = [(here.state, letter, here.tops(pda.bottom)) for here, letter in zip(run, word, strict=False)]
    taken = [key for key in steps if key in pda.transitions]
    assume(taken)
    key = data.draw(st.sampled_from(taken))
    changed = dict(pda.transitions)
    removed = changed.pop(key)
    cut = divergence(replace(pda, transitions=changed), StrengthNet(machine), word)
    assert cut.first == steps.index(key)
    assert cut.moments[cut.first].cut
    changed[key] = Transition(removed.target, removed.operations, "?")
    other = divergence(replace(pda, transitions=changed), StrengthNet(machine), word)
    assert other.first == steps.index(key)
    assert other.moments[other.first].output == "?" != other.moments[other.first].network_output


def test_a_slip_is_found_where_it_happens() -> None:
    word = "(" * 13 + "]" + ")" * 12
    found = divergence(right(), SlipperyNet(13), word)
    assert (found.first, found.accepted, found.network_accepts) == (13, False, True)
    moment = found.moments[13]
    assert (moment.symbol, moment.tops, moment.operations, moment.network_operations) == ("]", ("(",), (), ("pop",))
    assert moment.cut
    assert moment.margin == pytest.approx(0.5)
    assert json.loads(json.dumps(found.to_dict()))["first_step"] == 13


@settings(max_examples=30)
@given(hand_machines(("none", "pop", "push"), ("recognition", "next symbol", "next set")))
def test_both_counts_are_equal_for_every_kind_of_network(machine: HandMachine) -> None:
    pda = machine.automaton()
    network = SuperpositionNet(machine, no_op=True)
    check = agree_on_all(pda, network, None, 5)
    assert check is not None
    by_length = [list(product(pda.input_alphabet, repeat=length)) for length in range(6)]
    whole = [[len(list(pda.run(word))) == len(word) + 1 for word in words] for words in by_length]  # never cut short
    if machine.kind == "recognition":
        whole = [[pda.accepts(word) for word in words] for words in by_length]
    assert check.by_length == tuple(map(sum, whole))
    listed = agree_on(pda, network, None, [word for words in by_length for word in words], "covering")
    assert (listed.words, listed.accepted) == (check.words, check.accepted) == (check.words, sum(check.by_length))
    counts = count_again(pda, [check], machine.kind == "recognition")
    assert counts is not None
    assert counts.equal
