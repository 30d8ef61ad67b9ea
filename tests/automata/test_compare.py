from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest
from tests.automata.random_pairs import random_domain, random_pair, stackless_pair
from tests.automata.separation import separating_words, words_that_separate
from tests.automata.strategies import containing, dyck
from tests.automata.test_reachability import automaton

from stacklens.automata.compare import Different, Equal, Outputs, Undecided, compare
from stacklens.automata.counting import count_words
from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.minimize import minimize
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push
from stacklens.automata.pda import replace as replace_by
from stacklens.errors import AutomatonError
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


def test_equal_automata_have_equal_counts() -> None:
    pairs = [random_pair(seed)[:2] for seed in range(40)]
    equal = [(a, b) for a, b in pairs if compare(a, b, outputs="ignore") == Equal()]
    assert len(equal) > 10
    assert sum(a != b and any(count_words(a, 15)) for a, b in equal) > 3  # not only what is empty or one and the same
    for a, b in equal:
        assert count_words(a, 15) == count_words(b, 15)


@pytest.mark.parametrize("name", LANGUAGES)
def test_minimised_languages_are_equal(name: str) -> None:
    assert compare(minimize(language(name)), language(name)) == Equal()


@pytest.mark.parametrize("name", TASKS)
def test_minimised_references_are_equal_outputs_included(name: str) -> None:
    assert compare(minimize(reference(name)), reference(name)) == Equal()


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


@pytest.mark.parametrize("name", ["1n0n", "anb2n", "anbmcnm", "dyck-2", "palindrome", "homomorphic-palindrome"])
def test_a_language_with_another_operation_in_one_transition_is_told_apart(name: str) -> None:
    whole = language(name)
    for key, step in whole.transitions.items():
        cells = [cell for cell in whole.stack_alphabet if cell != step.operations[0].push]
        others = [NONE, *map(push, cells), *([] if key[2] == ("⊥",) else [POP, *map(replace_by, cells)])]
        for operation in set(others) - set(step.operations):
            changed = replace(whole, transitions={**whole.transitions, key: replace(step, operations=(operation,))})
            answer = compare(whole, changed)
            if isinstance(answer, Equal):  # a change that makes no difference: to the words, so to no count of them
                assert operation == replace_by(key[2][0])
                continue
            assert isinstance(answer, Different)
            assert whole.accepts(answer.word) != changed.accepts(answer.word)


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


def test_the_operation_of_the_deepest_transition_matters() -> None:
    whole = bounded_dyck(12)
    deepest = "q", "(", ("(11",)
    changed = replace(whole, transitions={**whole.transitions, deepest: Transition("q", (NONE,))})
    answer = compare(whole, changed)
    assert isinstance(answer, Different)
    assert answer.shortest
    assert whole.accepts(answer.word) != changed.accepts(answer.word)
    assert len(answer.word) == 23  # down from a height that is one too low


def test_replacing_is_popping_and_pushing() -> None:
    one = automaton("1 a ⊥ > 1 push x\n1 a x > 1 replace y\n1 a y > 1 pop", "1")
    other = automaton("1 a ⊥ > 2 push z\n2 a z > 3 none\n3 a z > 1 pop", "1 2 3")
    assert compare(one, other) == Equal()


def with_marker(pda: PushdownAutomaton, empty: bool) -> PushdownAutomaton:
    """Return the automaton that accepts at a marker, on an empty stack or on one with a single symbol."""
    ends = (("⊥", NONE),) if empty else tuple((cell, POP) for cell in pda.stack_alphabet)
    rules: dict[Key, Transition] = {
        (state, "$", (top,)): Transition("end", (operation,)) for state in pda.states for top, operation in ends
    }
    return replace(
        pda,
        states=(*pda.states, "end"),
        transitions={**pda.transitions, **rules},
        accepting=frozenset({"end"}),
        acceptance="both",
        end_marker="$",
    )


def test_end_markers_are_a_last_step() -> None:
    brackets = dyck([("(", ")")])
    assert compare(with_marker(brackets, empty=True), brackets) == Equal()
    assert compare(with_marker(brackets, empty=True), with_marker(brackets, empty=True)) == Equal()
    answer = compare(brackets, with_marker(brackets, empty=False))
    assert answer == Different((), "only the first accepts it")
    one_left = containing("()", ")((")
    answer = compare(brackets, with_marker(brackets, empty=False), one_left)
    assert isinstance(answer, Different)
    assert "".join(answer.word) == "()(()"


def test_only_the_acceptance_of_the_survivor_matters() -> None:
    a = automaton("1 a ⊥ > 2 push x", "1", acceptance="final state")
    trap = automaton(
        """
        1 a ⊥ > 2 push x
        2 a x > 3 push x
        3 a x > 3 push x
        3 a ⊥ > 1 none
        """,
        "1",
        acceptance="final state",
    )
    assert compare(a, trap) == compare(trap, a) == Equal()  # 3 is never seen on an empty stack
    escape = replace(trap, transitions={**trap.transitions, ("3", "a", ("x",)): Transition("3", (POP,))})
    answer = compare(a, escape)
    assert answer == Different(("a",) * 5, "only the second accepts it")


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


def test_other_alphabets_and_options_are_refused() -> None:
    with pytest.raises(AutomatonError, match="only automata over the same alphabet can be compared, not over 1 0 and"):
        compare(language("1n0n"), language("dyck-1"))
    with pytest.raises(AutomatonError, match="outputs is 'some', expected one of all, where both"):
        compare(language("1n0n"), language("1n0n"), outputs="some")  # type: ignore[arg-type]
