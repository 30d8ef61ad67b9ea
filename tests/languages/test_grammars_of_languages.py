"""Grammars against a plain fixpoint; hostile files of grammars and automata."""

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.brute_force import derived
from tests.automata.strategies import grammars
from tests.automata.test_formats import xml
from tests.refusals import refused

from stacklens.automata.compare import Equal, compare
from stacklens.automata.enumeration import compile_tables
from stacklens.automata.formats.dot import to_dot
from stacklens.automata.formats.json import to_json
from stacklens.automata.grammar import Grammar, Nonterminal, lr_automaton, parse_grammar
from stacklens.automata.pda import POP, Key, PushdownAutomaton, Transition, push
from stacklens.core.errors import AutomatonError, FileFormatError, StacklensError
from stacklens.languages.catalogue import get_language, language_from_file
from stacklens.languages.classic import Dyck
from stacklens.languages.context_free import ContextFreeLanguage, NormalForm

# Grammars: membership, liveness, listing, counting and drawing against a plain fixpoint, and known languages.

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


@settings(max_examples=200)
@given(grammars())
def test_the_automaton_of_a_random_grammar(grammar: Grammar) -> None:
    language, form, longest = ContextFreeLanguage("random", grammar), NormalForm(grammar), 10
    try:
        pda = lr_automaton(grammar)
    except StacklensError:
        return
    words = {word for length in range(longest + 1) for word in form.words(length)}
    for one in (pda, language.automaton):
        assert set(one.words(longest)) == words
        # no word has two derivations
        assert one.count(longest) == [form.count(length) for length in range(longest + 1)]
        for word in product("ab", repeat=5):
            assert sum(1 for _ in one.taken(word)) == (language.first_dead(word) or 6) - 1, word


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dyck-2", DYCK_2),
        ("dyck-2", "S -> S T | ε\nT -> ( S ) | [ S ]"),
        ("dyck-1", "S -> A | ε\nA -> A B | B\nB -> ( ) | ( A )"),
        ("anbn", "S -> a S b | a b"),
        ("anb2n", "S -> a S b b | a b b"),
        ("anbmcnm", "S -> a S c | a T c\nT -> b T c | b c"),
        ("palindrome", "S -> a S a | b S b | c"),
        ("homomorphic-palindrome", "S -> a S x | b S y | c S z | '#'"),
    ],
)
def test_the_automaton_of_a_grammar_is_that_of_the_language(name: str, text: str) -> None:
    assert compare(language_of(text).automaton, get_language(name).automaton) == Equal()


def test_grammars_of_expressions_have_one_automaton() -> None:
    left = language_of("E -> E + T | T\nT -> T * F | F\nF -> ( E ) | x").automaton
    right = language_of("E -> T + E | T\nT -> F * T | F\nF -> ( E ) | x").automaton
    assert compare(left, right) == Equal()
    assert left.accepts("x*(x+x*x)*((x))+x")
    postfix = language_of("E -> E E + | E E * | x").automaton
    assert postfix.accepts("xxx*+")
    assert not postfix.accepts("xxx*")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (AMBIGUOUS, r"with \( next, S -> · is at odds with S -> · \( S \)"),
        (PALINDROMES, "with a next, S -> · is at odds with S -> · a S a"),
        ("S -> i S | i S e S | x", "with e next, S -> i S · is at odds with S -> i S · e S"),
        ("S -> A | B\nA -> a\nB -> a", "with the end next, B -> a · is at odds with A -> a ·"),
        ("S -> A | a\nA -> S", "with the end next, .* is at odds with .*A -> S ·"),
        # at d all b are forgotten, at c all are counted
        ("S -> X | Y\nX -> a X a | B c\nB -> b B | b\nY -> a Y | Z\nZ -> b Z b | d", "needs ε-steps: a letter may"),
    ],
)
def test_grammars_without_an_automaton_say_why(text: str, message: str) -> None:
    refused(f"test has no reference automaton: .*{message}.*chart parser", lambda: language_of(text).automaton)


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
    assert all(word != word[::-1] for word in language_of(PALINDROMES).sample(30, (10, 20), positive=False))


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
        ("S -> aSb | ε", r"line 1: aSb holds S, which has a rule: put spaces between .* or quote it \('aSb'\)"),
        ("S -> a S b | λ", "line 1: λ stands alone: write ε for the empty word, or quote it"),
        ("S -> a S", "grammar: no word can be derived from S"),
        ("S -> ε", "grammar: no terminals: expected at least one"),
    ],
)
def test_bad_grammars(text: str, message: str) -> None:
    refused(message, parse_grammar, text, error=FileFormatError)


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


# Files of automata and grammars that are made to fill the memory or the day end in one line, at once.


def complaint(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    message = refused("", language_from_file, path, error=FileFormatError)
    assert str(path) in message
    return message


def automaton(**changes: Any) -> str:
    return json.dumps({**json.loads(to_json(Dyck(1).automaton)), **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"n_stacks": 10**12},
        {"n_stacks": 10**300},
        {"n_stacks": True},
        {"states": [str(i) for i in range(10**5)] * 2},
        {"states": ["\x1b[2J", "\n"] * 2},
        {"transitions": [[[[]]] * 10**4] * 3},
        {"acceptance": ["both"]},
        {"accepting": [[]]},
        {"version": "\n" * 10**6},
        {"format": {"a": ["b"] * 10**6}},
        {"bottom": {}},
        {"initial": "\ud800"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_automaton_with_a_wrong_value_is_refused_in_one_line(changes: dict[str, Any], tmp_path: Path) -> None:
    complaint(tmp_path / "pda.json", automaton(**changes))


@pytest.mark.parametrize("depth", [200, 900, 990, 10**5])
def test_lists_in_lists_as_a_value_are_refused_at_any_depth(depth: int, tmp_path: Path) -> None:
    nested = "[" * depth + "]" * depth
    for field in ("initial", "states", "transitions", "n_stacks", "initial_output", "version"):
        found = json.loads(to_json(Dyck(1).automaton))
        text = json.dumps({**found, field: 0}).replace(f'"{field}": 0', f'"{field}": {nested}')
        complaint(tmp_path / "pda.json", text)


def test_an_automaton_whose_tables_would_fill_the_memory_is_refused() -> None:
    many = tuple(f"s{i}" for i in range(3_000))
    steps: dict[Key, Transition] = {("q", many[0], ("⊥",)): Transition("q", (push(many[0]),))}
    pda = PushdownAutomaton(("q",), many, many, steps, "q")
    with pytest.raises(AutomatonError, match="3 states, 3000 letters and 3001 tops of 1 stacks are 27,009,000 cases"):
        compile_tables(PushdownAutomaton(("q", "r", "s"), many, many, steps, "q", n_stacks=1))
    assert compile_tables(pda).target.shape == (1, 3_000, 3_001)
    deep = PushdownAutomaton(("q",), ("a",), ("x", "y"), {}, "q", n_stacks=64)
    refused("do not fit into tables", compile_tables, deep, error=AutomatonError)


def test_an_automaton_whose_grammar_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    states = tuple(f"q{i}" for i in range(25))
    steps: dict[Key, Transition] = {}
    for state, target in product(states, states):  # into any state with a push, and with a pop: 25 ** 4 rules
        for top in ("⊥", "x"):
            steps[state, f"push{target}", (top,)] = Transition(target, (push("x"),))
        steps[state, f"pop{target}", ("x",)] = Transition(target, (POP,))
    letters = tuple(f"{what}{target}" for what in ("push", "pop") for target in states)
    pda = PushdownAutomaton(states, letters, ("x",), steps, states[0], frozenset(states))
    assert "grammar has more than" in complaint(tmp_path / "pda.json", to_json(pda))


def jflap_rule(source: int, target: int, read: str, pop: str, pushed: str) -> str:
    parts = {"from": source, "to": target, "read": read, "pop": pop, "push": pushed}
    return f"<transition>{''.join(f'<{tag}>{value}</{tag}>' for tag, value in parts.items())}</transition>"


def jflap_states(count: int, name: str = "") -> str:
    first = f'<state id="0" name="{name}0"><initial/></state>'
    return first + "".join(f'<state id="{i}" name="{name}"/>' for i in range(1, count))


HOSTILE_DRAWINGS = {
    "a million symbols pushed": xml(jflap_states(1), jflap_rule(0, 0, "a", "", "b" * 10**6)),
    "a chain of silent rules that push": xml(
        jflap_states(9_000), "".join(jflap_rule(i, i + 1, "", "", "b" * 100) for i in range(8_999))
    ),
    "as many letters as states": xml(
        jflap_states(1_500), "".join(jflap_rule(i, i + 1, chr(0x4E00 + i), "", "") for i in range(1_499))
    ),
    "states of one name": xml(jflap_states(60_000, "same"), jflap_rule(0, 1, "ab", "", "")),
    "an unknown encoding": '<?xml version="1.0" encoding="none"?><structure><type>pda</type></structure>'.replace(
        "<type>", "<type><"
    ),
    "no states": xml("", ""),
}


def test_a_drawing_of_nothing_but_lines_is_read_in_one_pass(tmp_path: Path) -> None:
    assert "only drawings that stacklens wrote" in complaint(tmp_path / "pda.dot", "digraph {" + "\n" * 300_000)
    ours = to_dot(Dyck(1).automaton)
    assert "states or labels" in complaint(tmp_path / "more.dot", "\n" * 300_000 + "n0\n" + ours)


HOSTILE_GRAMMARS = {
    "too many rules": "\n".join(f"S{i} -> S{i + 1}" for i in range(100_000)),
    "a text that is too long": f"S -> {'a ' * 10**6}",
    "a right side that is too long": f"S -> {'a ' * 30_000}",
    "a symbol that is too long": f"S -> {'a' * 10**6}",
    "nothing but spaces behind a mistake": f"S -> a -> {' ' * 10**6}",
    "a control character": "S -> \x1b]0;title\x07",
    "no rule that ends": "S -> S S S",
    "quotes that do not close": "S -> " + "' \" " * 9_999,
}


@pytest.mark.parametrize("name", [*HOSTILE_DRAWINGS, *HOSTILE_GRAMMARS])
def test_a_file_that_is_made_to_take_long_is_refused(name: str, tmp_path: Path) -> None:
    file = "pda.jff" if name in HOSTILE_DRAWINGS else "some.cfg"
    complaint(tmp_path / file, (HOSTILE_DRAWINGS | HOSTILE_GRAMMARS)[name])


def test_a_chain_of_unit_rules_and_a_long_side_of_what_may_be_empty_have_a_normal_form() -> None:
    chain = "\n".join(f"S{i} -> S{i + 1}" for i in range(300)) + "\nS300 -> a"
    assert NormalForm(parse_grammar(chain)).count(1) == 1
    form = NormalForm(parse_grammar(f"S -> {'A ' * 190}\nA -> a | ε"))
    long = "\n".join(f"S{i} -> {'a ' * 100} S{i + 1}" for i in range(100)) + "\nS100 -> a"
    assert NormalForm(parse_grammar(long)).shortest[Nonterminal("S0")] == 10_001  # one part found after the other
    assert form.has_empty
    assert form.count(1) == 1  # one word, whichever A it comes from
