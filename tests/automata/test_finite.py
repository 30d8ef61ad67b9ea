from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automata.brute_force import accepted
from tests.automata.random_pairs import random_domain
from tests.automata.strategies import dyck, palindromes, pushdown_automata

from stacklens.automata.compare import is_empty, shortest_member
from stacklens.automata.finite import FiniteAutomaton, containing, intersect
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import AutomatonError


@given(pushdown_automata(), st.randoms(use_true_random=False))
def test_accepted_is_what_both_accept(pda: PushdownAutomaton, rng: Random) -> None:
    dfa = random_domain(rng, pda.input_alphabet)
    assert accepted(intersect(pda, dfa)) == {word for word in accepted(pda) if dfa.accepts(word)}


@given(st.text("ab", max_size=5), st.text("ab", max_size=8))
def test_containing_is_to_have_the_factor_somewhere(factor: str, word: str) -> None:
    assert containing("ab", factor).accepts(word) == (factor in word)


def test_is_there_an_accepted_word_with() -> None:
    brackets = dyck([("(", ")"), ("[", "]")])
    found = shortest_member(intersect(brackets, containing(brackets.input_alphabet, "])(")))
    assert found is not None
    assert "".join(found) == "([])()"
    assert is_empty(intersect(brackets, containing(brackets.input_alphabet, "(]")))
    assert is_empty(intersect(palindromes(), containing("abc", "cabc")))


def test_inconsistent_automata_are_refused() -> None:
    with pytest.raises(AutomatonError, match="has a repetition"):
        FiniteAutomaton(("p", "p"), ("a",), {}, "p", frozenset())
    with pytest.raises(AutomatonError, match="'q', 'r' not among the states"):
        FiniteAutomaton(("p",), ("a",), {("p", "a"): "q"}, "r", frozenset())
    with pytest.raises(AutomatonError, match="'b' not in the alphabet"):
        FiniteAutomaton(("p",), ("a",), {("p", "b"): "p"}, "p", frozenset())
