"""Grammars as text: whatever is written is read back, and what cannot be is refused in one line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.strategies import grammars

from stacklens.automata.grammar import Grammar, Nonterminal, grammar_text, parse_grammar
from stacklens.errors import StacklensError

ODD = ("|", "->", "→", "ε", "#", "#x", "S", "Ab", "'", '"', "it's", 'a"b', "''", "a|b", "|x", "É", "\\", "x#", "'a'")


def of_one_word(*word: str) -> Grammar:
    return Grammar(((Nonterminal("S"), word),), Nonterminal("S"), tuple(dict.fromkeys(word)))


@settings(max_examples=50)
@given(grammars())
def test_a_grammar_is_read_back_equal(grammar: Grammar) -> None:
    if any(isinstance(part, str) for _, right in grammar.rules for part in right):
        back = parse_grammar(grammar_text(grammar))
        assert (set(back.rules), back.start) == (set(grammar.rules), grammar.start)
        assert grammar_text(back) == grammar_text(grammar)


@given(word=st.lists(st.sampled_from(ODD) | st.text(min_size=1, max_size=4), min_size=1, max_size=6))
def test_every_symbol_is_read_back_or_refused_in_one_line(word: list[str]) -> None:
    writable = all(one.split() == [one] and one.isprintable() and not {"'", '"'} <= {*one} for one in word)
    try:
        text = grammar_text(of_one_word(*word))
    except StacklensError:
        assert not writable
        return
    assert parse_grammar(text).rules == of_one_word(*word).rules


@pytest.mark.parametrize(
    ("grammar", "says"),
    [
        (of_one_word("'\""), "the grammar cannot be written, line 1: the quote in "),
        (of_one_word("\x07"), "the grammar cannot be written, line 1: the symbol '\\x07': expected 100 printable"),
        (of_one_word("a" * 101), "the grammar cannot be written, line 1: the symbol 'aaa"),
        (of_one_word(*"a" * 201), "the grammar cannot be written: a right side of 201 symbols; expected 200 at most"),
        (
            Grammar(((Nonterminal("S"), ()),), Nonterminal("S"), ("a",)),
            "the grammar cannot be written: no terminals: expected at least one",
        ),
    ],
)
def test_what_no_text_can_say_is_refused_in_one_line(grammar: Grammar, says: str) -> None:
    with pytest.raises(StacklensError) as error:
        grammar_text(grammar)
    assert str(error.value).startswith(says)
