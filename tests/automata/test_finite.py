from __future__ import annotations

import pickle
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automata.brute_force import accepted
from tests.automata.random_pairs import random_domain
from tests.automata.strategies import containing, dyck, palindromes, pushdown_automata

from stacklens.automata.compare import is_empty, shortest_member
from stacklens.automata.finite import FiniteAutomaton, intersect
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Transition
from stacklens.errors import AutomatonError


@given(pushdown_automata(), st.randoms(use_true_random=False))
def test_accepted_is_what_both_accept(pda: PushdownAutomaton, rng: Random) -> None:
    dfa = random_domain(rng, pda.input_alphabet)
    assert accepted(intersect(pda, dfa)) == {word for word in accepted(pda) if dfa.accepts(word)}


@given(pushdown_automata(acceptances=("final state", "output")), st.randoms(use_true_random=False))
def test_outputs_stay(pda: PushdownAutomaton, rng: Random) -> None:
    dfa = random_domain(rng, pda.input_alphabet)
    both = intersect(pda, dfa)
    for word in accepted(both, 4):
        assert both.transduce(word) == pda.transduce(word)


def test_is_there_an_accepted_word_with() -> None:
    brackets = dyck([("(", ")"), ("[", "]")])
    found = shortest_member(intersect(brackets, containing(brackets.input_alphabet, "])(")))
    assert found is not None
    assert "".join(found) == "([])()"
    assert is_empty(intersect(brackets, containing(brackets.input_alphabet, "(]")))
    assert is_empty(intersect(palindromes(), containing("abc", "cabc")))


@pytest.mark.parametrize("word", ["".join(word) for n in range(5) for word in product("ab", repeat=n)])
def test_trimmed_accepts_the_same(word: str) -> None:
    steps = {("1", "a"): "2", ("2", "b"): "1", ("1", "b"): "trap", ("trap", "a"): "trap"}
    whole = FiniteAutomaton(("1", "2", "trap"), ("a", "b"), steps, "1", frozenset({"1"}))
    assert whole.trimmed().accepts(word) == whole.accepts(word)
    assert ("1", "b") not in whole.trimmed().transitions


def test_it_is_a_value() -> None:
    dfa = containing("ab", "ba")
    assert pickle.loads(pickle.dumps(dfa)) == dfa
    assert hash(dfa) == hash(containing("ab", "ba"))


def test_inconsistent_automata_are_refused() -> None:
    with pytest.raises(AutomatonError, match="has a repetition"):
        FiniteAutomaton(("p", "p"), ("a",), {}, "p", frozenset())
    with pytest.raises(AutomatonError, match="'q', 'r' not among the states"):
        FiniteAutomaton(("p",), ("a",), {("p", "a"): "q"}, "r", frozenset())
    with pytest.raises(AutomatonError, match="'b' not in the alphabet"):
        FiniteAutomaton(("p",), ("a",), {("p", "b"): "p"}, "p", frozenset())


def test_pairs_of_one_name_are_refused() -> None:
    steps: dict[Key, Transition] = {("a", "x", ("⊥",)): Transition("a, b", (NONE,))}
    pda = PushdownAutomaton(("a", "a, b"), ("x",), (), steps, "a")
    dfa = FiniteAutomaton(("b, c", "c"), ("x",), {("b, c", "x"): "c"}, "b, c", frozenset({"c"}))
    with pytest.raises(AutomatonError, match="two pairs of states have the same name"):
        intersect(pda, dfa)
