from __future__ import annotations

import io
import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.extract.doctored import SlipperyNet, right
from tests.extract.hand_built import HandMachine, StrengthNet, SuperpositionNet, hand_machines
from tests.models.hand_made import hand_made

from stacklens.automata.pda import Transition
from stacklens.extract.extraction import Extraction, ExtractionConfig, extract
from stacklens.extract.summary import show_summary
from stacklens.extract.verification.agreement import agree_on, agree_on_all, count_again
from stacklens.extract.verification.divergence import divergence
from stacklens.languages import get_language

DYCK = get_language("dyck-2")


def summary(result: Extraction) -> str:
    console = Console(width=120, file=io.StringIO(), record=True)
    show_summary(result, console, transitions=False)
    return console.export_text()


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


def test_the_summary_shows_both_runs_around_that_step() -> None:
    small = ExtractionConfig(max_length=4, long_words=100, deep_words=0, height=5, walks=5)
    plain = extract(hand_made(right(), end="$"), DYCK, small)
    result = replace(plain, divergence=divergence(right(), SlipperyNet(13), "(" * 13 + "]" + ")" * 12))
    assert result.divergence is not None
    assert result.divergence.first is not None
    word, first = result.divergence.word, result.divergence.first
    (line,) = [line for line in summary(result).splitlines() if "→" in line]
    assert line.split("│")[1:3] == [f" → {first + 1:<2} ", f" {word[first]}     "]
    assert "rejects" in line
    assert "pop" in line
    report = result.report()
    assert report["divergence"]["word"] == word
    assert report["divergence"]["first_step"] == first
    assert report["counts"]["equal"]


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
