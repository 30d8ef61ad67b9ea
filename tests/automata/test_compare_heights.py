"""Where the stacks of the two automata are not equally high, and where outputs are compared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.automata.strategies import dyck, palindromes
from tests.automata.test_compare import language, reference
from tests.automata.test_reachability import automaton

from stacklens.automata.compare import Different, Equal, Outputs, Undecided, compare
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push
from stacklens.automata.rewriting import predictor_of, with_visible_top


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


def test_cells_that_are_popped_after_all_are_a_difference() -> None:
    leaves = replace(transducer(PREDICTOR_OF_STREAMS + "1 b y > 1 pop"), accepting=frozenset({"1"}))
    answer = compare(leaves, reference("anbn"))
    assert answer == Different(("a", "b", "b"), "at its end the first goes on, the second has been cut")
    answer = compare(leaves, reference("anbn"), outputs="ignore")
    assert answer == Different(("a", "b", "b"), "only the first accepts it")
    assert isinstance(compare(leaves, reference("anbn"), outputs="where b"), Equal)  # which is cut there


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


def test_different_though_heights_part() -> None:
    wrong = automaton(HALVES.replace("2 b x > 4 pop", "2 b x > 3 pop"), "4")
    answer = compare(language("anbn"), wrong)
    assert answer == Different(("a", "b"), "only the first accepts it")


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


# What extract-pda reads out of the published networks (minimised)
PUBLISHED_ANBN = """
    1 a ⊥ > 1 push x / a
    1 b ⊥ > 1 none / a
    1 a y > 1 push y / a
    1 b y > 1 pop / b
    1 a x > 1 push y / a
    1 b x > 1 pop / a
"""
PUBLISHED_REVERSAL = """
    1 0 ⊥ > 1 push y / 0
    1 1 ⊥ > 1 push x / 0
    1 # ⊥ > 1 none / 1
    1 0 x > 1 push y / 1
    1 1 x > 1 push x / 1
    1 # x > 1 pop / 1
    1 0 y > 1 push y / 0
    1 1 y > 1 push x / 0
    1 # y > 1 pop / 0
"""


@pytest.mark.parametrize("outputs", ["where b", "where both"])
def test_the_published_networks_are_right_wherever_the_task_asks(outputs: Outputs) -> None:
    assert isinstance(compare(transducer(PUBLISHED_ANBN), reference("anbn"), outputs=outputs), Equal)
    asked = reference("reversal")
    steps = {key: replace(s, output=None if s.output == "#" else s.output) for key, s in asked.transitions.items()}
    net = transducer(PUBLISHED_REVERSAL)
    assert isinstance(compare(net, replace(asked, transitions=steps), outputs=outputs), Equal)
    answer = compare(net, asked, outputs=outputs)
    assert answer == Different(("0",), "at its end the first outputs '0', the second '#'")


def test_the_predictor_that_the_published_network_is_keeps_its_top_in_the_state() -> None:
    pairs = (("(", ")"), ("[", "]"))
    rules: dict[Key, Transition] = {}
    sets = {"q(": ("(", ")", "["), "q[": ("(", "[", "]"), "q": ("(", "[")}
    for state, top in (("q(", "⊥"), ("q[", "⊥"), *((q, t) for q in ("q(", "q[") for t in ("s", "s(", "s["))):
        for opener, closer in pairs:
            pushed = "s" if top == "⊥" else f"s{state[1]}"
            rules[state, opener, (top,)] = Transition(f"q{opener}", (push(pushed),), sets[f"q{opener}"])
            if top != "⊥" and state == f"q{opener}":
                below = "q(" if top == "s" else f"q{top[1]}"
                rules[state, closer, (top,)] = Transition(below, (POP,), sets["q" if top == "s" else below])
    net = PushdownAutomaton(
        ("q(", "q["),
        ("(", ")", "[", "]"),
        ("s", "s(", "s["),
        rules,
        "q(",
        acceptance="output",
        initial_output=sets["q"],
        accepting_outputs=frozenset({sets["q"]}),
    )
    assert compare(net, predictor_of(language("dyck-2"))) == Equal()
