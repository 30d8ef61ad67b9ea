"""Whether two automata are equal, against all short words; where heights part; states that show the top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.random_pairs import random_domain, random_pair, stackless_pair
from tests.automata.separation import separating_words, words_that_separate
from tests.automata.strategies import containing, dyck, palindromes, pushdown_automata
from tests.automata.test_smaller import automaton

from stacklens.automata.compare import Different, Equal, Undecided, compare
from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, Word, push
from stacklens.automata.product import Outputs
from stacklens.automata.rewriting import predictor_of, with_visible_top
from stacklens.core.errors import AutomatonError
from stacklens.languages.catalogue import get_language, get_task

LANGUAGES = (
    *("1n0n", "anb2n", "anbmcnm", "anbn", "dyck-1", "dyck-2", "dyck-10", "parentheses"),
    *("palindrome", "homomorphic-palindrome", "simple-palindrome"),
)
TASKS = (
    *("agreement", "anb2n", "anbmcnm", "anbn", "boolean-formula", "delayed-xor", "dyck-2", "homomorphic-palindrome"),
    *("memorization", "parenthesis-prediction", "reversal", "reversal-with-excluded", "simple-palindrome"),
    *("string-reversal", "xor"),
)
OUTPUTS: tuple[Outputs, ...] = ("all", "all", "all", "ignore", "where b", "where both")


def language(name: str) -> PushdownAutomaton:
    automaton = get_language(name).automaton
    assert automaton is not None
    return automaton


def reference(name: str) -> PushdownAutomaton:
    automaton = get_task(name).reference
    assert automaton is not None
    return automaton


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_it_never_disagrees_with_all_words_up_to_8(first: int) -> None:
    seen = held_against_all_words(random_pair(seed) for seed in range(first, first + 50))
    assert seen["Equal"] > 5
    assert seen["Different"] > 5


def test_it_decides_whenever_one_automaton_never_pushes() -> None:
    seen = held_against_all_words(stackless_pair(seed) for seed in range(150))
    assert set(seen) == {"Equal", "Different"}
    assert min(seen.values()) > 20


def held_against_all_words(pairs: Iterable[tuple[PushdownAutomaton, PushdownAutomaton, Random]]) -> Counter[str]:
    """Return how often each answer came, none of which the words up to length 8 may contradict."""
    seen: Counter[str] = Counter()
    for a, b, rng in pairs:
        domain = random_domain(rng, a.input_alphabet) if rng.random() < 0.2 else None
        outputs = rng.choice(OUTPUTS)
        answer = compare(a, b, domain, outputs)
        longest = 8 if len(a.input_alphabet) < 3 else 7
        shortest = words_that_separate(a, b, longest, domain, outputs)
        seen[type(answer).__name__] += 1
        if isinstance(answer, Equal):
            assert not shortest
        elif isinstance(answer, Different):
            assert len(answer.word) > longest or answer.word in set(
                separating_words(a, b, len(answer.word), domain, outputs)
            )
            assert answer.word in shortest or not answer.shortest or (not shortest and len(answer.word) > longest)
    return seen


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != "dyck-10"])
def test_a_language_without_one_of_its_transitions_is_told_apart(name: str) -> None:
    whole = language(name)
    for key in whole.transitions:
        rest = {other: step for other, step in whole.transitions.items() if other != key}
        answer = compare(replace(whole, transitions=rest), whole)
        assert isinstance(answer, Different)
        assert answer.shortest
        assert whole.accepts(answer.word)
        assert key in keys_used(whole, answer.word)


@pytest.mark.parametrize("name", TASKS)
def test_a_predictor_with_one_other_output_is_told_apart(name: str) -> None:
    whole = reference(name)
    for key, step in whole.transitions.items():
        changed = replace(whole, transitions={**whole.transitions, key: replace(step, output="another")})
        answer = compare(whole, changed)
        assert isinstance(answer, Different)
        assert answer.shortest
        assert whole.transduce(answer.word)[:-1] == changed.transduce(answer.word)[:-1]
        assert changed.transduce(answer.word)[-1] == "another"


def keys_used(pda: PushdownAutomaton, word: tuple[str, ...]) -> set[Key]:
    configurations = list(pda.run(word))
    return {(here.state, symbol, here.tops(pda.bottom)) for here, symbol in zip(configurations, word, strict=False)}


def bounded_dyck(depth: int) -> PushdownAutomaton:
    """Return the automaton of Dyck-2 to a depth: its stack symbols say how deep they lie."""
    pairs = (("(", ")"), ("[", "]"))
    rules: dict[Key, Transition] = {}
    for level in range(depth):
        for top in [f"{opener}{level}" for opener, _ in pairs] if level else ["⊥"]:
            rules |= {("q", opener, (top,)): Transition("q", (push(f"{opener}{level + 1}"),)) for opener, _ in pairs}
        rules |= {("q", closer, (f"{opener}{level + 1}",)): Transition("q", (POP,)) for opener, closer in pairs}
    cells = tuple(f"{opener}{level + 1}" for level in range(depth) for opener, _ in pairs)
    return PushdownAutomaton(("q",), ("(", ")", "[", "]"), cells, rules, "q", acceptance="empty stack")


def test_dyck_2_to_depth_50_is_not_dyck_2() -> None:
    answer = compare(bounded_dyck(50), language("dyck-2"))
    assert isinstance(answer, Different)
    assert answer.shortest
    assert len(answer.word) == 102
    assert max(len(here.stacks[0]) for here in language("dyck-2").run(answer.word)) == 51


def test_replacing_is_popping_and_pushing() -> None:
    one = automaton("1 a ⊥ > 1 push x\n1 a x > 1 replace y\n1 a y > 1 pop", "1")
    other = automaton("1 a ⊥ > 2 push z\n2 a z > 3 none\n3 a z > 1 pop", "1 2 3")
    assert compare(one, other) == Equal()


def test_several_stacks_are_undecided() -> None:
    two = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
    assert compare(two, two) == Undecided(
        "equality of automata with 2 stacks is undecidable: only one stack is compared"
    )


def test_a_domain_restricts_the_words() -> None:
    one, two = language("dyck-1"), language("dyck-2")
    one = replace(one, input_alphabet=two.input_alphabet)
    round_ones = FiniteAutomaton(("q",), ("(", ")"), {("q", "("): "q", ("q", ")"): "q"}, "q", frozenset({"q"}))
    assert compare(one, two, round_ones) == Equal("all words of the domain")
    assert compare(one, two) == Different(("[", "]"), "only the second accepts it")
    answer = compare(one, two, containing(two.input_alphabet, "))("))
    assert isinstance(answer, Different)
    assert len(answer.word) == 8


# Where the stacks of the two automata are not equally high, and where outputs are compared.


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


# The state shows the top: the same words, outputs that know the new top, predictors that know what is live.

NAMES = ["parentheses", "dyck-2", "dyck-3", "palindrome", "1n0n"]


def words(alphabet: tuple[str, ...], longest: int) -> list[Word]:
    return [word for length in range(longest + 1) for word in product(alphabet, repeat=length)]


@settings(max_examples=150)
@given(st.data())
def test_the_same_words_and_outputs(data: st.DataObject) -> None:
    pda = data.draw(pushdown_automata(max_stacks=1))
    shown = with_visible_top(pda)
    assert shown.acceptance == ("output" if pda.acceptance == "output" else "final state")
    for word in words(pda.input_alphabet, 4):
        assert shown.accepts(word) == pda.accepts(word), word
        expected, found = list(pda.run(word)), list(shown.run(word))
        assert [moment.output for moment in found] == [moment.output for moment in expected]
        tops = [moment.tops(pda.bottom)[0] for moment in expected]
        assert [moment.state for moment in found] == [
            f"({moment.state}, {top})" for moment, top in zip(expected, tops, strict=True)
        ]
        assert [moment.stacks[0] for moment in found] == [moment.stacks[0][:-1] for moment in expected]


@pytest.mark.parametrize("name", NAMES)
def test_predicted_symbols_are_the_live_ones(name: str) -> None:
    language = get_language(name)
    predictor = predictor_of(language.automaton)
    with_end = predictor_of(language.automaton, end="⊣")
    for word in words(language.alphabet, 6 if len(language.alphabet) < 4 else 5):
        assert predictor.accepts(word) == (word in language)
        if language.is_live(word):
            live = tuple(symbol for symbol in language.alphabet if language.is_live((*word, symbol)))
            assert list(predictor.run(word))[-1].output == live, word
            assert list(with_end.run(word))[-1].output == live + ("⊣",) * (word in language), word


def test_what_has_no_visible_top_is_refused() -> None:
    two = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
    with pytest.raises(AutomatonError, match="for one stack, this automaton has 2"):
        with_visible_top(two)
    final = PushdownAutomaton(("q",), ("a",), (), {}, "q", acceptance="final state")
    with pytest.raises(AutomatonError, match='acceptance "both" and no end marker, not "final state"'):
        predictor_of(final)
    marked = PushdownAutomaton(("q",), ("a",), (), {}, "q", end_marker="$")
    with pytest.raises(AutomatonError, match="and the end marker '\\$'"):
        predictor_of(marked)
