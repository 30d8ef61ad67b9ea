from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest
from tests.automata.random_pairs import random_domain, random_pair, stackless_pair
from tests.automata.separation import separating_words, words_that_separate
from tests.automata.strategies import dyck
from tests.automata.test_reachability import automaton

from stacklens.automata.compare import Different, Equal, Outputs, Undecided, compare
from stacklens.automata.finite import FiniteAutomaton, containing
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push
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
