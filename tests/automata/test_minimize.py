from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.automata.brute_force import accepted, outputs_seen, words
from tests.automata.strategies import pushdown_automata
from tests.automata.test_end_marker import FIGURE_7
from tests.automata.test_reachability import automaton

from stacklens.automata import minimize as minimize_module
from stacklens.automata.minimize import minimization, minimize
from stacklens.automata.partition import Column, StateTable, TableCell, coarsest_partition
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.reachability import drop_sinks, heads, trim
from stacklens.automata.rewriting import drop_end_marker

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
def test_the_language_stays(pda: PushdownAutomaton, sink: minimize_module.Sink) -> None:
    assert accepted(minimize(pda, sink)) == accepted(pda)


@given(pushdown_automata(acceptances=("final state", "empty stack", "both")))
def test_outputs_stay(pda: PushdownAutomaton) -> None:
    smaller = minimize(pda)
    assert all(outputs_seen(smaller, word) == outputs_seen(pda, word) for word in words(pda, 4))


def test_what_one_pass_leaves_because_of_its_order_another_one_merges() -> None:
    """One pass left three stack symbols here, a second one merged them to one."""
    rules: dict[Key, Transition] = {
        ("q0", "a", ("⊥",)): Transition("q1", (NONE,)),
        ("q0", "a", ("A",)): Transition("q0", (NONE,)),
        ("q0", "a", ("B",)): Transition("q0", (push("C"),)),
        ("q0", "a", ("C",)): Transition("q2", (push("A"),)),
        ("q1", "a", ("⊥",)): Transition("q2", (push("A"),)),
        ("q2", "a", ("⊥",)): Transition("q0", (NONE,)),
        **{("q1", "a", (top,)): Transition("q0", (NONE,)) for top in "ABC"},
        ("q2", "a", ("A",)): Transition("q0", (push("B"),)),
        **{("q2", "a", (top,)): Transition("q0", (NONE,)) for top in "BC"},
    }
    states = ("q0", "q1", "q2")
    pda = PushdownAutomaton(states, ("a",), ("A", "B", "C"), rules, "q0", frozenset(states), "final state")
    assert sizes(minimize(minimize(pda))) == sizes(minimize(pda))


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


@pytest.mark.parametrize("collide", [False, True])
def test_refinement_finds_every_copy(collide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if collide:  # every row has the same hash, so rows must be compared
        monkeypatch.setattr(np.random, "default_rng", lambda _: SameHashes())
    rng = Random(1)
    base = [[rng.randrange(50) for _ in "ab"] for _ in range(50)]

    def table(copies: int) -> StateTable:
        rows: list[dict[Column, TableCell]] = [
            {
                (x, ("⊥",)): (((), None), target + 50 * rng.randrange(copies))
                for x, target in zip("ab", targets, strict=True)
            }
            for targets in base * copies
        ]
        return StateTable(rows, [i % 50 < 9 for i in range(50 * copies)])

    once, _ = coarsest_partition(table(1))
    assert len(set(once)) > 9
    assert coarsest_partition(table(40))[0] == once * 40


class SameHashes:
    def integers(self, *_: int, size: int, dtype: type[np.uint64]) -> NDArray[np.uint64]:
        return np.zeros(size, dtype)
