from __future__ import annotations

import dataclasses
from itertools import product
from math import comb

import pytest
from hypothesis import given
from tests.automata.strategies import dyck, palindromes, plain_accepts, pushdown_automata

from stacklens.automata.counting import count_words
from stacklens.automata.enumeration import accepts_all
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push, replace
from stacklens.errors import AutomatonError


@given(pushdown_automata(max_stacks=1))
def test_counts_are_those_of_brute_force(pda: PushdownAutomaton) -> None:
    words = [list(product(pda.input_alphabet, repeat=length)) for length in range(6)]
    assert count_words(pda, 5) == [sum(plain_accepts(pda, word) for word in row) for row in words]


@given(pushdown_automata(max_stacks=1))
def test_counts_are_those_of_enumeration(pda: PushdownAutomaton) -> None:
    assert count_words(pda, 8) == [int(accepted.sum()) for accepted in accepts_all(pda, 8)]


def test_palindromes_double_with_every_second_symbol() -> None:
    assert count_words(palindromes(), 101) == [2 ** (n // 2) if n % 2 else 0 for n in range(102)]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_nested_brackets_are_counted_by_catalan_numbers(k: int) -> None:
    pda = dyck([(f"<{i}>", f"</{i}>") for i in range(k)])
    assert count_words(pda, 60)[::2] == [comb(2 * n, n) // (n + 1) * k**n for n in range(31)]


def test_the_last_output_decides_also_after_a_return() -> None:
    steps: dict[Key, Transition] = {
        ("q", "(", ("⊥",)): Transition("q", (push("x"),), "open"),
        ("q", "(", ("x",)): Transition("q", (push("x"),), "open"),
        ("q", ")", ("x",)): Transition("q", (POP,), "close"),
    }
    ends_closing = PushdownAutomaton(
        ("q",), ("(", ")"), ("x",), steps, "q", acceptance="output", accepting_outputs=frozenset({"close"})
    )
    counts = count_words(ends_closing, 40)
    prefixes = [comb(n, n // 2) for n in range(41)]  # of Dyck words; those that end in "(" are the prefixes one shorter
    assert counts == [0, *(prefixes[n] - prefixes[n - 1] for n in range(1, 41))]


def test_a_marker_may_pop_the_last_cell() -> None:
    steps: dict[Key, Transition] = {
        ("q", "a", ("⊥",)): Transition("q", (push("x"),)),
        ("q", "a", ("x",)): Transition("q", (replace("x"),)),
        ("q", "b", ("x",)): Transition("q", (push("x"),)),
        ("q", "$", ("x",)): Transition("q", (POP,)),
    }
    pda = PushdownAutomaton(("q",), ("a", "b"), ("x",), steps, "q", acceptance="empty stack", end_marker="$")
    assert count_words(pda, 6) == [0, 1, 1, 1, 1, 1, 1]


def test_more_words_than_fit_in_a_machine_number() -> None:
    steps: dict[Key, Transition] = {("q", x, ("⊥",)): Transition("q", (NONE,)) for x in ("a", "'", "bc")}
    pda = PushdownAutomaton(("q",), ("a", "'", "bc"), (), steps, "q", acceptance="empty stack")
    assert count_words(pda, 100) == [3**n for n in range(101)]


def test_no_lengths_and_no_letters() -> None:
    empty = PushdownAutomaton(("q",), (), (), {}, "q", frozenset({"q"}))
    assert count_words(empty, -1) == []
    assert count_words(empty, 2) == [1, 0, 0]


def test_several_stacks_are_refused() -> None:
    pda = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
    with pytest.raises(AutomatonError, match="needs one stack, this automaton has 2: use accepts_all"):
        count_words(pda, 3)


def test_states_that_nothing_leads_to_cost_nothing() -> None:
    """A file may have any number of them: minutes, if each was counted from."""
    pda = palindromes()
    more = dataclasses.replace(pda, states=(*pda.states, *(f"p{i}" for i in range(300_000))))
    assert count_words(more, 9) == count_words(pda, 9)
