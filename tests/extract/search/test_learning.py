"""Learning from behaviour: a network made from an automaton gives that automaton back, with no look at its vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from tests.extract.doctored import LETTERS, dyck_machine
from tests.extract.hand_built import HandMachine, Place, Rule, SuperpositionNet, hand_machines
from tests.models.hand_made import hand_made, input_pushing_automata

from stacklens.automata.compare import Different, Equal, compare
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract import samples as drawing
from stacklens.extract.samples import draw_samples
from stacklens.extract.search.candidates import LEARNING, Candidate, Scorer, cost
from stacklens.extract.search.learn import (
    BOTTOM_SYMBOL,
    DIES,
    NOWHERE,
    UNKNOWN_SYMBOL,
    Evidence,
    gather,
    learned_candidates,
    merged_states,
    tail_symbols,
)
from stacklens.extract.search.run_tree import SILENT, RunTree
from stacklens.extract.specification import Specification
from stacklens.languages.catalogue import get_language
from stacklens.models.base import StackModel
from stacklens.models.rounding import Operation

MANY = settings(
    max_examples=3,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
    phases=[Phase.generate],
)


@pytest.fixture
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_SHORT", 3_000)
    monkeypatch.setattr(drawing, "_DRAWN", 200)


def scorer_of(model: StackModel[Any], specification: Specification | None = None) -> Scorer:
    samples = draw_samples(model, specification, 0)
    return Scorer(model, samples, frozenset() if specification is None else specification.complete, 0, specification)


def learned(model: StackModel[Any]) -> Candidate | None:
    """Return the first exact candidate that is learned from ``model``."""
    return next((candidate for candidate in learned_candidates(scorer_of(model)) if candidate.exact), None)


def automaton_of(machine: HandMachine) -> PushdownAutomaton:
    """Return the machine's automaton; one that speaks accepts whatever it reads."""
    pda = machine.automaton()
    return pda if machine.kind == "recognition" else replace(pda, accepting=frozenset(pda.states))


@pytest.mark.usefixtures("few_words")
@pytest.mark.parametrize(
    ("name", "states", "symbols", "transitions"),
    [("parentheses", 1, 1, 3), ("1n0n", 2, 1, 4), ("palindrome", 2, 2, 11), ("dyck-2", 1, 2, 8)],
)
def test_the_languages_give_their_smallest_automata(name: str, states: int, symbols: int, transitions: int) -> None:
    automaton = get_language(name).automaton
    one, other = (learned(hand_made(automaton, end="$")) for _ in range(2))
    assert one is not None
    assert one.automaton is not None
    assert one == other  # the same every time
    assert (one.way, one.method, one.minority, one.machine) == (LEARNING, "learn", None, None)
    assert isinstance(compare(one.automaton, automaton), Equal)
    found = one.automaton
    assert (len(found.states), len(found.stack_alphabet), len(found.transitions)) == (states, symbols, transitions)


@MANY
@given(input_pushing_automata())
def test_a_small_automaton_comes_back(pda: PushdownAutomaton) -> None:
    assume(any((state, top) == (pda.initial, "⊥") for state, _, (top,) in pda.transitions))
    found = learned(hand_made(pda, end="$"))
    assume(found is not None)  # else clusters are tried
    assert found is not None
    assert found.automaton is not None
    assert not isinstance(compare(found.automaton, pda), Different)


@MANY
@given(hand_machines(("push", "pop", "none"), ("recognition", "next set", "next symbol", "transduction")))
def test_a_small_machine_on_cells_comes_back(machine: HandMachine) -> None:
    found = learned(SuperpositionNet(machine, no_op=True))
    assume(found is not None)
    assert found is not None
    assert found.automaton is not None
    assert not isinstance(compare(found.automaton, automaton_of(machine)), Different)


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
    for first in (-1, 0):
        for second in (-1, 0):
            windows: tuple[tuple[int, ...], ...] = ((first,), (second,))
            rules[0, 0, windows] = Rule(0, (("push", 0), ("pop" if second == 0 else "push", 0)), 0)
            rules[0, 1, windows] = Rule(0, (("pop", 0), ("push", 0)), 1 if first == 0 else 0)
    return HandMachine(1, ("a", "b"), 1, 2, 1, "next symbol", rules, frozenset({0}))


@pytest.mark.usefixtures("few_words")
def test_of_several_stacks_as_few_are_shown_as_explain_what_is_said() -> None:
    found = learned(SuperpositionNet(two_stacks(), no_op=True))
    assert found is not None
    assert found.automaton is not None
    assert found.stacks == (0,)
    assert (found.automaton.n_stacks, len(found.automaton.states)) == (1, 1)
    assert found.to_dict()["stacks"] == [0]


def test_words_in_error_cost_more_than_states_and_these_more_than_transitions() -> None:
    pda = get_language("dyck-2").automaton
    exact = Candidate("", 0, LEARNING, 1, 0, None, automaton=pda)
    assert cost(exact) + 20 == cost(replace(exact, disagreements=1))
    assert cost(replace(exact, automaton=None)) == float("inf")
    assert tuple(pda.input_alphabet) == LETTERS
