"""Names of what is different are different, whatever symbols are called."""

from __future__ import annotations

from itertools import product

import pytest
from tests.automata.strategies import plain_accepts
from tests.extract.hand_built import NO_CELL, HandMachine, Rule, StrengthNet

from stacklens.automata.compare import Equal, compare
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, Transition, push
from stacklens.automata.rewriting import with_visible_top
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract

QUICK = ExtractionConfig(max_length=5, long_words=50, long_lengths=(5, 10), walks=5, height=5)


@pytest.mark.parametrize("sets", [(("a", "b"), ("ab",)), (("a",), ("a", "b")), (("ab", "b"), ("a", "b"))])
def test_states_that_predict_other_sets_are_not_taken_for_one(sets: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    letters = ("a", "b", "ab")
    first, second = (sum(1 << letters.index(symbol) for symbol in one) for one in sets)
    said = {0: first, 1: second, 2: 7}
    tops: list[tuple[tuple[int, ...], ...]] = [((NO_CELL,),), ((0,),)]
    rules = {(0, letter, top): Rule(0, (("none", 0),), said[letter]) for letter, top in product(range(3), tops)}
    machine = HandMachine(1, letters, 1, 1, 1, "next set", rules, frozenset({0}))
    result = extract(StrengthNet(machine), None, QUICK)
    assert result.status == 0
    assert result.automaton is not None
    assert compare(result.automaton, machine.automaton(), outputs="all") == Equal()


def test_states_that_show_the_top_are_not_taken_for_one() -> None:
    rules: dict[Key, Transition] = {
        ("a, b", "x", ("⊥",)): Transition("a", (push("b, c"),)),
        ("a", "x", ("b, c",)): Transition("a, b", (push("c"),)),  # "(a, b, c)" as well
        ("a", "y", ("b, c",)): Transition("a", (POP,)),
        ("a, b", "y", ("c",)): Transition("a, b", (NONE,)),
    }
    pda = PushdownAutomaton(("a", "a, b"), ("x", "y"), ("c", "b, c"), rules, "a, b", frozenset({"a, b"}), "final state")
    shown = with_visible_top(pda)
    for length in range(6):
        for word in product("xy", repeat=length):
            assert shown.accepts(word) == plain_accepts(pda, word)
