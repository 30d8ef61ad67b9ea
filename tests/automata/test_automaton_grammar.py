"""The grammar of an automaton, written and read back, against every word up to a length."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.automata.brute_force import accepted, derived
from tests.automata.strategies import dyck, palindromes, pushdown_automata

from stacklens.automata.automaton_grammar import readable_grammar
from stacklens.automata.compare import is_empty
from stacklens.automata.completion import accepting_by_state
from stacklens.automata.counting import count_words
from stacklens.automata.formats.by_suffix import write_automaton
from stacklens.automata.grammar import grammar_text, parse_grammar
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition
from stacklens.automata.rewriting import drop_end_marker
from stacklens.errors import AutomatonError, StacklensError
from stacklens.languages import get_language
from stacklens.languages.grammar_words import NormalForm


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
    assert str(error.value) == says
    assert list(tmp_path.iterdir()) == []
