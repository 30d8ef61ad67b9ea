"""Grammars made small: the same words, and nothing that need not be there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.automata.brute_force import derived
from tests.automata.strategies import grammars

from stacklens.automata.grammar import Grammar, Nonterminal, parse_grammar
from stacklens.automata.small_grammar import small_grammar


@settings(max_examples=60)
@given(grammars())
def test_random_grammars_keep_their_words(grammar: Grammar) -> None:
    small = small_grammar(grammar)
    assert derived(small, 6) == derived(grammar, 6)
    assert small.alphabet == grammar.alphabet


@settings(max_examples=40)
@given(grammars())
def test_nothing_is_there_that_need_not_be(grammar: Grammar) -> None:
    small = small_grammar(grammar)
    lefts = list(dict.fromkeys(left for left, _ in small.rules))
    sides = [frozenset(right for left, right in small.rules if left == one) for one in lefts]
    assert not any(len(right) == 1 and isinstance(right[0], Nonterminal) for _, right in small.rules)
    assert len(set(sides)) == len(sides)
    assert Grammar(small.rules, small.start, small.alphabet).rules == small.rules  # none is useless
    assert lefts[0] == small.start == Nonterminal("S")


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("T -> ( X T | ε\nX -> ) | ( X X", "S -> ( S ) S | ε"),
        ("S -> 1 X\nX -> 0 | 1 X Y\nY -> 0", "S -> 1 S 0 | 1 0"),
        ("S -> a P P | b\nP -> a P Q | b Q | c\nQ -> c", "S -> a A A | b\nA -> a A c | b c | c"),
        ("S -> A\nA -> B | a\nB -> A | b", "S -> a | b"),  # unit rules in a circle
        ("S -> X Y\nX -> a\nY -> a Y | X Z\nZ -> ε", "S -> a S | a a"),
        ("S -> a X S | ε\nX -> a Y b | b\nY -> a Y b | b", "S -> a A S | ε\nA -> a A b | b"),
        ("S -> x 'S' S | 'A' | B\nB -> x B", "B -> x 'S' B | 'A'"),  # no name of a terminal is one of ours
    ],
)
def test_what_becomes_of(text: str, small: str) -> None:
    assert str(small_grammar(parse_grammar(text))) == small
