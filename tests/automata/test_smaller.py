"""Automata made smaller: reachable, without an end marker, minimised, cut with a finite one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.automata.brute_force import accepted, heads_seen, outputs_seen, words
from tests.automata.random_pairs import random_domain
from tests.automata.strategies import pushdown_automata

from stacklens.automata import minimize as minimize_module
from stacklens.automata.finite import FiniteAutomaton, intersect
from stacklens.automata.minimize import merge_same_rules, minimization, minimize
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.pda import replace as put
from stacklens.automata.rewriting import drop_end_marker
from stacklens.automata.summaries import drop_sinks, heads, trim
from stacklens.core.errors import AutomatonError


def automaton(rules: str, accepting: str = "", **options: object) -> PushdownAutomaton:
    """Return the automaton of rules like "p a x > q push x", one a line, with one stack of symbols x, y, z."""
    transitions: dict[Key, Transition] = {}
    for line in filter(str.strip, rules.splitlines()):
        left, right = line.split(">")
        state, letter, top = left.split()
        target, name, *symbol = right.split()
        operation: StackOp = {"none": NONE, "pop": POP}.get(name) or {"push": push, "replace": put}[name](symbol[0])
        transitions[state, letter, (top,)] = Transition(target, (operation,))
    marker = options.get("end_marker")
    states = dict.fromkeys(q for key, step in transitions.items() for q in (key[0], step.target))
    return PushdownAutomaton(
        states=tuple(states),
        input_alphabet=tuple(sorted({letter for _, letter, _ in transitions} - {marker})),
        stack_alphabet=("x", "y", "z"),
        transitions=transitions,
        initial=next(iter(states)),
        accepting=frozenset(accepting.split()),
        **options,  # type: ignore[arg-type]
    )


@given(pushdown_automata())
def test_every_head_that_a_run_shows_is_reachable(pda: PushdownAutomaton) -> None:
    seen, found = heads_seen(pda, max_height=3), heads(pda)
    assert seen.reading <= found.reading
    assert seen.ending <= found.ending


@given(pushdown_automata(max_stacks=1))
def test_every_reachable_head_is_shown_by_a_run(pda: PushdownAutomaton) -> None:
    one_symbol = {
        key: replace(
            step, operations=tuple(StackOp(op.pop, op.push and pda.stack_alphabet[0]) for op in step.operations)
        )
        for key, step in pda.transitions.items()
    }
    counter = replace(pda, transitions=one_symbol)  # so that heights up to 40 can be tried in full
    assert heads(counter) == heads_seen(counter, max_height=40)


@given(pushdown_automata())
def test_trimming_keeps_every_run(pda: PushdownAutomaton) -> None:
    trimmed = trim(pda)
    for word in words(pda, 4):
        assert list(trimmed.run(word)) == list(pda.run(word))
    found = heads(pda)
    assert {(state, tops) for state, _, tops in trimmed.transitions} <= found.reading
    assert set(trimmed.states) == {state for state, _ in found.reading | found.ending}


@given(pushdown_automata())
def test_dropping_sinks_keeps_the_language(pda: PushdownAutomaton) -> None:
    assert accepted(drop_sinks(pda)) == accepted(pda)


@given(pushdown_automata(acceptances=("final state", "empty stack", "both")))
def test_dropping_sinks_keeps_outputs_that_do_not_decide_acceptance(pda: PushdownAutomaton) -> None:
    smaller = drop_sinks(pda)
    assert all(outputs_seen(smaller, word) == outputs_seen(pda, word) for word in words(pda, 4))


# Sun et al. 1993, figure 7, with its rules for the end symbol: (1) starts, (2) counts, (3) traps, (4) is the legal end
FIGURE_7 = """
    1 ( ⊥ > 2 push x
    1 ) ⊥ > 3 none
    1 e ⊥ > 3 none
    2 ( ⊥ > 2 push x
    2 ( x > 2 push x
    2 ) x > 2 pop
    2 ) ⊥ > 3 none
    2 e ⊥ > 4 none
    2 e x > 3 none
    3 ( ⊥ > 3 none
    3 ) ⊥ > 3 none
    3 e ⊥ > 3 none
"""


@given(pushdown_automata())
def test_the_language_stays(pda: PushdownAutomaton) -> None:
    without = drop_end_marker(pda)
    assume(without is not None)
    assert without is not None
    assert without.end_marker is None
    assert accepted(without) == accepted(pda)


def test_figure_7_needs_no_end_marker() -> None:
    without = drop_end_marker(automaton(FIGURE_7, "4", end_marker="e"))
    assert without is not None
    assert without.accepting == {"2"}
    assert without.acceptance == "both"
    assert set(without.states) == {"1", "2", "3"}


def test_a_marker_that_pops_into_acceptance_stays() -> None:
    assert (
        drop_end_marker(automaton("p a ⊥ > p push x \n p a x > p push x \n p $ x > q pop", "q", end_marker="$")) is None
    )


def test_final_states_that_depend_on_the_top_need_the_marker() -> None:
    rules = "p a ⊥ > p push x \n p a x > p push x \n p $ x > q none"
    assert drop_end_marker(automaton(rules, "q", end_marker="$", acceptance="final state")) is None
    without = drop_end_marker(automaton(f"{rules} \n p $ ⊥ > q none", "q", end_marker="$", acceptance="final state"))
    assert without is not None
    assert without.accepting == {"p"}


# Sun et al. 1993, figure 8: (1) starts, (2) counts up, (3a) and (3b) down, (4a) and (4b) trap
FIGURE_8 = """
    1 1 ⊥ > 2 push x
    1 0 ⊥ > 4a none
    2 1 x > 2 push x
    2 0 x > 3a pop
    3a 0 x > 3b pop
    3b 0 x > 3a pop
    3a 0 ⊥ > 4a none
    3b 0 ⊥ > 4b none
    3a 1 ⊥ > 4b none
    3b 1 ⊥ > 4a none
    3a 1 x > 4a push x
    3b 1 x > 4b push x
    4a 0 ⊥ > 4b none
    4a 1 ⊥ > 4a none
    4b 0 ⊥ > 4a none
    4b 1 ⊥ > 4b none
    4a 0 x > 4b none
    4a 1 x > 4a none
    4b 0 x > 4a none
    4b 1 x > 4b none
"""


def sizes(pda: PushdownAutomaton) -> tuple[int, int]:
    return len(pda.states), len(pda.stack_alphabet)


def doubled(pda: PushdownAutomaton, rng: Random) -> PushdownAutomaton:
    """Return an automaton that does the same with several copies of each state and each stack symbol."""
    states = {state: [f"{state}.{i}" for i in range(rng.randint(1, 3))] for state in pda.states}
    cells = {cell: [f"{cell}.{i}" for i in range(rng.randint(1, 2))] for cell in pda.stack_alphabet}
    transitions = {}
    for (state, letter, tops), step in pda.transitions.items():
        for copy, *read in product(states[state], *(cells.get(top, [top]) for top in tops)):
            operations = tuple(StackOp(op.pop, op.push and rng.choice(cells[op.push])) for op in step.operations)
            transitions[copy, letter, tuple(read)] = Transition(
                rng.choice(states[step.target]), operations, step.output
            )
    return replace(
        pda,
        states=tuple(copy for copies in states.values() for copy in copies),
        stack_alphabet=tuple(copy for copies in cells.values() for copy in copies),
        transitions=transitions,
        initial=states[pda.initial][-1],
        accepting=frozenset(copy for state in pda.accepting for copy in states[state]),
    )


@given(pushdown_automata(), st.sampled_from(["drop", "keep"]))
def test_the_language_stays_minimised(pda: PushdownAutomaton, sink: minimize_module.Sink) -> None:
    assert accepted(minimize(pda, sink)) == accepted(pda)


@given(pushdown_automata(acceptances=("final state", "empty stack", "both")))
def test_outputs_stay(pda: PushdownAutomaton) -> None:
    smaller = minimize(pda)
    assert all(outputs_seen(smaller, word) == outputs_seen(pda, word) for word in words(pda, 4))


@given(pushdown_automata(), st.sampled_from(["drop", "keep"]))
def test_it_never_grows_and_a_second_time_changes_nothing(pda: PushdownAutomaton, sink: minimize_module.Sink) -> None:
    smaller = minimize(pda, sink)
    bound = sizes(drop_sinks(pda))
    assert sizes(smaller)[0] <= bound[0] + (sink == "keep")
    assert sizes(smaller)[1] <= bound[1]
    assert sizes(minimize(smaller, sink)) == sizes(smaller)


@given(pushdown_automata(), st.randoms(use_true_random=False))
def test_copies_of_states_and_stack_symbols_are_found(pda: PushdownAutomaton, rng: Random) -> None:
    assert sizes(minimize(doubled(pda, rng))) == sizes(minimize(pda))


@given(pushdown_automata())
def test_with_the_sink_kept_nothing_is_missing(pda: PushdownAutomaton) -> None:
    complete = minimize(pda, sink="keep")
    for (state, tops), letter in product(heads(complete).reading, complete.letters):
        assert (state, letter, tops) in complete.transitions
    assert "sink" not in complete.accepting
    assert trim(complete) is complete


@given(pushdown_automata(), st.sampled_from(["drop", "keep"]))
def test_runs_are_mapped_step_by_step(pda: PushdownAutomaton, sink: minimize_module.Sink) -> None:
    result = minimization(pda, sink)
    for word in accepted(pda, 4):
        for before, after in zip(pda.run(word), result.automaton.run(word), strict=True):
            assert after.state == result.states[before.state]
            assert after.stacks == tuple(tuple(map(result.stack_symbols.get, stack)) for stack in before.stacks)


def test_figure_7_is_one_state_where_the_empty_word_is_legal() -> None:
    without = drop_end_marker(automaton(FIGURE_7.replace("1 e ⊥ > 3", "1 e ⊥ > 4"), "4", end_marker="e"))
    assert without is not None
    assert minimize(without).states == ("q0",)
    strict = drop_end_marker(automaton(FIGURE_7, "4", end_marker="e"))
    assert strict is not None
    assert minimize(strict).states == ("q0", "q1")


def test_figure_8_is_two_states_and_a_sink() -> None:
    pda = automaton(FIGURE_8, "3a 3b")
    result = minimization(pda, sink="keep")
    assert result.automaton.states == ("q0", "q1", "sink")
    assert result.states == {"1": "q0", "2": "q0", "3a": "q1", "3b": "q1", "4a": "sink", "4b": "sink"}
    assert minimize(pda).states == ("q0", "q1")  # (1) and (2) differ only at heads that no run shows
    assert accepted(minimize(pda), 6) == {tuple("10"), tuple("1100"), tuple("111000")}


def test_figure_9_is_figure_8_with_the_states_merged_that_make_the_same_moves() -> None:
    result = merge_same_rules(automaton(FIGURE_8, "3a 3b"))
    assert result.states == {"1": "1", "2": "2", "3a": "3a", "3b": "3a", "4a": "4a", "4b": "4a"}
    assert accepted(result.automaton, 6) == {tuple("10"), tuple("1100"), tuple("111000")}


@given(pushdown_automata(), st.randoms(use_true_random=False))
def test_accepted_is_what_both_accept(pda: PushdownAutomaton, rng: Random) -> None:
    dfa = random_domain(rng, pda.input_alphabet)
    assert accepted(intersect(pda, dfa)) == {word for word in accepted(pda) if dfa.accepts(word)}


def test_inconsistent_automata_are_refused() -> None:
    with pytest.raises(AutomatonError, match="has a repetition"):
        FiniteAutomaton(("p", "p"), ("a",), {}, "p", frozenset())
    with pytest.raises(AutomatonError, match="'q', 'r' not among the states"):
        FiniteAutomaton(("p",), ("a",), {("p", "a"): "q"}, "r", frozenset())
    with pytest.raises(AutomatonError, match="'b' not in the alphabet"):
        FiniteAutomaton(("p",), ("a",), {("p", "b"): "p"}, "p", frozenset())
