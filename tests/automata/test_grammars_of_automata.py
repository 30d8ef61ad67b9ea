"""Grammars of automata: the same words, small, and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.brute_force import accepted, derived
from tests.automata.strategies import dyck, grammars, palindromes, pushdown_automata

from stacklens.automata.compare import is_empty
from stacklens.automata.counting import accepting_by_state, count_words
from stacklens.automata.formats.by_suffix import write_automaton
from stacklens.automata.grammar import Grammar, Nonterminal, grammar_text, parse_grammar
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition
from stacklens.automata.rewriting import drop_end_marker
from stacklens.automata.small_grammar import readable_grammar, small_grammar
from stacklens.core.errors import AutomatonError, StacklensError
from stacklens.languages.catalogue import get_language
from stacklens.languages.context_free import NormalForm

# The grammar of an automaton, written and read back, against every word up to a length.


def same_words(pda: PushdownAutomaton, longest: int) -> None:
    """Check the words of the grammar and of what is read back, and that each has one derivation."""
    grammar = readable_grammar(pda)
    assert derived(grammar, longest) == accepted(pda, longest)
    form = NormalForm(grammar)
    assert [form.count(length) for length in range(9)] == count_words(pda, 8)
    if any(isinstance(part, str) for _, right in grammar.rules for part in right):
        assert derived(parse_grammar(grammar_text(grammar)), longest) == accepted(pda, longest)


@settings(max_examples=50)
@given(pushdown_automata(max_stacks=1))
def test_random_automata(pda: PushdownAutomaton) -> None:
    marked = drop_end_marker(accepting_by_state(pda)) is None
    speaks = any(step.output is not None for step in pda.transitions.values())
    answers = pda.acceptance == "final state" and pda.accepting == set(pda.states) and speaks
    if marked or answers or is_empty(pda):
        with pytest.raises(AutomatonError, match=r"\A.+\Z"):
            readable_grammar(pda)
    else:
        same_words(pda, 5)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dyck-2", "S -> ( S ) S | [ S ] S | ε"),
        ("parentheses", "S -> ( S ) S | ε"),
        ("palindrome", "S -> a S a | b S b | c"),
        ("homomorphic-palindrome", "S -> a S x | b S y | c S z | '#'"),
        ("1n0n", "S -> 1 S 0 | 1 0"),
        ("anb2n", "S -> a S b b | a b b"),
        ("anbmcnm", "S -> a S c | a b A c c\nA -> b A c | ε"),
    ],
)
def test_the_grammars_of_textbooks(name: str, text: str) -> None:
    assert str(readable_grammar(get_language(name).automaton)) == text


def test_a_file_of_a_grammar_is_a_language(tmp_path: Path) -> None:
    path, pda = tmp_path / "brackets.cfg", dyck((("(", ")"), ("|", "#")))
    write_automaton(path, pda, "a title\nof two lines")
    assert path.read_text(encoding="utf-8") == "# a title of two lines\nS -> ( S ) S | '|' S '#' S | ε\n"
    language = get_language(str(path))
    assert set(language.words(6)) == {"".join(word) for word in accepted(pda, 6)}


TWO_STACKS = PushdownAutomaton(
    ("q",), ("a",), ("A",), {("q", "a", ("⊥", "⊥")): Transition("q", (NONE, NONE))}, "q", n_stacks=2
)
ECHO = PushdownAutomaton(
    ("q",), ("a",), (), {("q", "a", ("⊥",)): Transition("q", (NONE,), "a")}, "q", frozenset({"q"}), "final state"
)


@pytest.mark.parametrize(
    ("pda", "says"),
    [
        (TWO_STACKS, "a grammar can be written of an automaton with one stack; this one has 2"),
        (ECHO, "a grammar can be written of a recogniser; this automaton answers whatever it reads"),
        (replace(palindromes(), accepting=frozenset()), "no grammar can be written: the automaton accepts no word"),
    ],
)
def test_automata_without_a_grammar_are_refused_in_one_line(pda: PushdownAutomaton, says: str, tmp_path: Path) -> None:
    with pytest.raises(StacklensError) as error:
        pda.save(tmp_path / "x.cfg")
    assert says in str(error.value)
    assert list(tmp_path.iterdir()) == []


# Grammars as text: whatever is written is read back, and what cannot be is refused in one line.

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
        (Grammar(((Nonterminal("S"), ()),), Nonterminal("S"), ("a",)), "the grammar cannot be written: no terminals:"),
    ],
)
def test_what_no_text_can_say_is_refused_in_one_line(grammar: Grammar, says: str) -> None:
    with pytest.raises(StacklensError) as error:
        grammar_text(grammar)
    assert str(error.value).startswith(says)


# Grammars made small: the same words, and nothing that need not be there.


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
