"""Grammars: membership, liveness, listing, counting and drawing against a plain fixpoint, and known languages."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.brute_force import derived
from tests.automata.strategies import grammars

from stacklens.automata.grammar import Grammar, Nonterminal, parse_grammar
from stacklens.errors import FileFormatError
from stacklens.languages import get_language
from stacklens.languages.context_free import ContextFreeLanguage
from stacklens.languages.grammar_words import NormalForm

DYCK_2 = "S -> ( S ) S | [ S ] S | ε"
PALINDROMES = "S -> a S a | b S b | a | b | ε"
AMBIGUOUS = "S -> S S | ( S ) | ε"


def language_of(text: str) -> ContextFreeLanguage:
    return ContextFreeLanguage("test", parse_grammar(text))


@settings(max_examples=150)
@given(grammars())
def test_random_grammars(grammar: Grammar) -> None:
    language, longest = ContextFreeLanguage("random", grammar), 5
    words = derived(grammar, longest)
    for length in range(longest + 1):
        of_length = {word for word in words if len(word) == length}
        assert list(map(tuple, language.words_of_length(length))) == sorted(of_length)
        for word in product("ab", repeat=length):
            assert (word in language) == (word in words), word
        form = NormalForm(grammar)
        assert (form.count(length) > 0) == bool(of_length)
        assert form.count(length) >= len(of_length)
        if of_length:
            assert tuple(form.draw(length, np.random.default_rng(length))) in of_length
    for word in words:
        assert all(language.is_live(word[:n]) for n in range(len(word) + 1))


@settings(max_examples=40)
@given(grammars(), st.integers(0, 2**32))
def test_live_prefixes_of_random_grammars_can_be_completed(grammar: Grammar, seed: int) -> None:
    language = ContextFreeLanguage("random", grammar)
    for word in [prefix for length in range(4) for prefix in product("ab", repeat=length)]:
        going_on = tuple(symbol for symbol in "ab" if language.is_live((*word, symbol)))
        assert language.is_live(word) == (word in language or bool(going_on)), word
        if language.is_live(word):
            assert language.next_symbols(word)[-1] == going_on
    deep = language._deep_member(2, np.random.default_rng(seed))
    assert deep is None or deep in language


def test_ambiguity_changes_counts_and_not_words() -> None:
    plain, ambiguous = language_of("S -> ( S ) S | ε"), language_of(AMBIGUOUS)
    assert list(plain.words(8)) == list(ambiguous.words(8))
    assert [NormalForm(plain.grammar).count(n) for n in (2, 4, 6, 8)] == [1, 2, 5, 14]
    assert NormalForm(ambiguous.grammar).count(8) > 14


def test_sampling_is_even_where_the_grammar_is_unambiguous() -> None:
    counts = Counter(language_of("S -> ( S ) S | ε").sample(1400, (8, 8)))
    assert len(counts) == 14
    assert all(65 < count < 140 for count in counts.values())  # mean 100, standard deviation 9.6
    words = language_of(DYCK_2).sample(60, (10, 60), seed=1)
    assert all(word in get_language("dyck-2") and 10 <= len(word) <= 60 for word in words)
    assert words == language_of(DYCK_2).sample(60, (10, 60), seed=1)
    near = language_of(PALINDROMES).sample(30, (10, 20), positive=False)
    assert all(word != word[::-1] for word in near)


def test_how_grammars_are_written() -> None:
    grammar = parse_grammar(
        """
        # statements
        Block → begin Rest   # two words
        Rest -> 'S' "|" Rest
              | '->' '#' "'" x' | ε
              | A#b ;
        """.replace("A#b", "'A#b'")
    )
    assert grammar.start == Nonterminal("Block")
    assert grammar.alphabet == ("begin", "S", "|", "->", "#", "'", "x'", "A#b", ";")
    assert ("begin", "S", "|", "A#b", ";") in ContextFreeLanguage("test", grammar)
    assert ("begin",) in ContextFreeLanguage("test", grammar)
    useless = parse_grammar("S -> a | B\nB -> b B\nC -> c")
    assert useless.rules == ((Nonterminal("S"), ("a",)),)
    assert "c" not in ContextFreeLanguage("test", useless)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "grammar: no rules, expected lines such as S -> "),
        ("# nothing\n", "grammar: no rules"),
        ("S -> a\nS a b", "grammar, line 2: expected a rule such as S -> .*, found 'S a b'"),
        ("S->a", "grammar, line 1: expected a rule such as S -> .*, found 'S->a'"),
        ("'a' -> b", "line 1: expected a rule"),
        ("S -> a -> b", r"line 1: a second ->: write one rule a line, or quote it \('->'\)"),
        ("S -> a |", "line 1: an alternative is empty: write ε for the empty word"),
        ("\n\nS ->", "line 3: an alternative is empty"),
        ("S -> a ε", "line 1: ε stands beside other symbols"),
        ("| a", "line 1: | goes on with a rule, and there is none above".replace("|", r"\|")),
        ("S -> 'a", "line 1: the quote in 'a is not closed"),
        ("S -> 'a b'", "line 1: 'a b' must hold a symbol without spaces"),
        ("S -> ''", "line 1: '' must hold a symbol without spaces"),
        ("S -> a\n  | B", r"line 2: B has no rule: add one, or quote it if it is a terminal \('B'\)"),
        ("S -> a S", "grammar: no word can be derived from S"),
        ("S -> ε", "grammar: no terminals: expected at least one"),
    ],
)
def test_bad_grammars(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as error:
        parse_grammar(text)
    assert "\n" not in str(error.value)


@settings(max_examples=200)
@given(st.text(alphabet="SAab->|ε'\"# \n→", max_size=30))
def test_any_text_is_a_grammar_or_one_clear_line(text: str) -> None:
    message = ""
    try:
        assert parse_grammar(text, "file").rules
    except FileFormatError as error:
        message = str(error)
    assert not message or message.startswith("file")
    assert "\n" not in message
