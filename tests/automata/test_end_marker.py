from __future__ import annotations

from hypothesis import assume, given
from tests.automata.brute_force import accepted
from tests.automata.strategies import pushdown_automata
from tests.automata.test_reachability import automaton

from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.rewriting import drop_end_marker

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
