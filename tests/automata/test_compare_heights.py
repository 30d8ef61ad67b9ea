"""Where the stacks of the two automata are not equally high, and where outputs are compared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.automata.strategies import dyck, palindromes
from tests.automata.test_compare import language, reference
from tests.automata.test_reachability import automaton

from stacklens.automata.compare import Different, Equal, Outputs, Undecided, compare
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition
from stacklens.automata.rewriting import with_visible_top


def transducer(rules: str) -> PushdownAutomaton:
    """Return the automaton of rules such as ``1 a x > 2 push y / b``, all states accepting."""
    lines = [line.partition("/")[::2] for line in filter(str.strip, rules.splitlines())]
    plain = automaton("\n".join(rule for rule, _ in lines), acceptance="final state")
    outputs = [output.strip() or None for _, output in lines]
    steps = zip(plain.transitions.items(), outputs, strict=True)
    transitions = {key: replace(step, output=output) for (key, step), output in steps}
    return replace(plain, transitions=transitions, accepting=frozenset(plain.states))


REPLACING = """
    q a ⊥ > q push x
    q a x > q push y
    q a y > q push x
    q b x > q replace y
    q b y > q replace x
    q c x > q pop
    p c y > p pop
    q d y > p none
"""


@pytest.mark.parametrize(
    "pda", [palindromes(), dyck([("(", ")"), ("[", "]")]), automaton(REPLACING, acceptance="empty stack")]
)
def test_a_top_in_the_state_is_no_difference(pda: PushdownAutomaton) -> None:
    assert compare(with_visible_top(pda), pda) == Equal()
    assert compare(pda, with_visible_top(with_visible_top(with_visible_top(pda)))) == Equal()


PREDICTOR_OF_STREAMS = """
    1 a ⊥ > 2 push y
    1 a y > 2 push y
    2 a y > 2 push x
    2 a x > 2 push x
    2 b x > 3 pop / b
    3 b x > 3 pop / b
    2 b y > 1 none / a
    3 b y > 1 none / a
"""  # leaves y behind for every a^n b^n


@pytest.mark.parametrize("outputs", ["all", "ignore", "where b", "where both"])
def test_cells_that_are_never_popped_are_no_difference(outputs: Outputs) -> None:
    leaves = replace(transducer(PREDICTOR_OF_STREAMS), accepting=frozenset({"1"}))
    assert isinstance(compare(leaves, reference("anbn"), outputs=outputs), Equal)
    assert isinstance(compare(reference("anbn"), leaves, outputs=outputs), Equal)


HALVES = """
    1 a ⊥ > 2 push x
    1 a x > 2 push x
    2 a x > 1 none
    1 b x > 3 none
    2 b x > 4 pop
    3 b x > 4 pop
    4 b x > 3 none
"""  # a^n b^n with one cell for two letters


def test_undecided_where_one_piles_up_twice_as_fast() -> None:
    single, double = language("anbn"), automaton(HALVES, "1 4")
    double = replace(double, accepting=frozenset({"1", "4"}))
    assert [word for word in ("ab", "aabb", "aaabbb", "aab", "abb") if double.accepts(word)] == ["ab", "aabb", "aaabbb"]
    answer = compare(single, replace(double, accepting=frozenset({"4"})))
    assert isinstance(answer, Undecided)
    assert answer.reason == "after the word the first stack is more than 8 higher than the other"
    assert answer.word == ("a",) * 18


def test_outputs_are_compared_as_asked() -> None:
    one = transducer("1 a ⊥ > 1 none / x\n1 b ⊥ > 2 none")
    other = transducer("1 a ⊥ > 1 none / x\n1 b ⊥ > 2 none / y\n2 a ⊥ > 2 none / z")
    assert compare(one, other) == Different(("b",), "at its end the first outputs None, the second 'y'")
    assert compare(one, other, outputs="where both") == Equal("all words that both read")
    assert compare(other, one, outputs="where b") == Equal("all words that the second reads")
    assert compare(one, other, outputs="where b") == Different(
        ("b",), "at its end the first outputs None, the second 'y'"
    )
    cut = replace(other, transitions={**other.transitions, ("1", "b", ("⊥",)): Transition("2", (NONE,))})
    assert compare(one, cut, outputs="where b") == Different(
        ("b", "a"), "at its end the second goes on, the first has been cut"
    )
    assert compare(one, cut, outputs="ignore") == Different(("b", "a"), "only the second accepts it")
