from __future__ import annotations

import dataclasses
from itertools import product
from math import comb

import pytest
from hypothesis import given
from tests.automata.strategies import dyck, palindromes, plain_accepts, pushdown_automata

from stacklens.automata.counting import count_words
from stacklens.automata.pda import POP, Key, PushdownAutomaton, Transition, push


@given(pushdown_automata(max_stacks=1))
def test_counts_are_those_of_brute_force(pda: PushdownAutomaton) -> None:
    words = [list(product(pda.input_alphabet, repeat=length)) for length in range(6)]
    assert count_words(pda, 5) == [sum(plain_accepts(pda, word) for word in row) for row in words]


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


def test_states_that_nothing_leads_to_cost_nothing() -> None:
    """A file may have any number of them: minutes, if each was counted from."""
    pda = palindromes()
    more = dataclasses.replace(pda, states=(*pda.states, *(f"p{i}" for i in range(300_000))))
    assert count_words(more, 9) == count_words(pda, 9)
