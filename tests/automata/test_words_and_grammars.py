"""Words that an automaton suggests, and its grammar."""

import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.attack.awkward_automata import Run
from tests.automata.brute_force import accepted, derived, words
from tests.automata.strategies import dyck, grammars, palindromes, plain_accepts, pushdown_automata, words_of
from tests.refusals import refused

from stacklens.automata.compare import is_empty
from stacklens.automata.counting import Completions, StackNode, count_words, live_form
from stacklens.automata.coverage import pumps, stack_height_words, transition_pair_words
from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.formats import write_automaton
from stacklens.automata.grammar import Grammar, Nonterminal, grammar_text, parse_grammar
from stacklens.automata.pda import NONE, POP, Configuration, Key, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.rewriting import accepting_by_state, drop_end_marker
from stacklens.automata.small_grammar import readable_grammar, small_grammar
from stacklens.core.errors import AutomatonError, StacklensError
from stacklens.languages.catalogue import get_language
from stacklens.languages.context_free import NormalForm

# The grammar of an automaton, written and read back, against every word up to a length.


@settings(max_examples=50)
@given(pushdown_automata(max_stacks=1))
def test_random_automata(pda: PushdownAutomaton) -> None:
    marked = drop_end_marker(accepting_by_state(pda)) is None
    speaks = any(step.output is not None for step in pda.transitions.values())
    answers = pda.acceptance == "final state" and pda.accepting == set(pda.states) and speaks
    if marked or answers or is_empty(pda):
        refused(r"\A.+\Z", readable_grammar, pda, error=AutomatonError)
        return
    grammar = readable_grammar(pda)
    assert derived(grammar, 5) == accepted(pda, 5)
    form = NormalForm(grammar)  # each word has one derivation
    assert [form.count(length) for length in range(9)] == count_words(pda, 8)


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
    assert set(get_language(str(path)).words(6)) == {"".join(word) for word in accepted(pda, 6)}


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
    refused(says, pda.save, tmp_path / "x.cfg")
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
    assert refused("", grammar_text, grammar).startswith(says)


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


# ---- Words that automata give: shortest endings, repeated cycles, all pairs of transitions. ----


@given(pushdown_automata(max_stacks=1))
def test_a_live_form_cuts_words_where_nothing_leads_on(pda: PushdownAutomaton) -> None:
    try:
        live = live_form(pda)
    except AutomatonError:
        assert is_empty(pda) or pda.end_marker is not None
        return
    for word in words(pda, 4):
        assert live.accepts(word) == pda.accepts(word)
        # all words that go on so, by a finite automaton of these
        rest = {(str(len(word)), symbol): str(len(word)) for symbol in pda.input_alphabet}
        steps = {**rest, **{(str(i), symbol): str(i + 1) for i, symbol in enumerate(word)}}
        states = tuple(str(i) for i in range(len(word) + 1))
        longer = FiniteAutomaton(states, pda.input_alphabet, steps, "0", frozenset(states[-1:]))
        assert (len(list(live.run(word))) == len(word) + 1) is not pda.intersection(longer).is_empty()


def without_end(pda: PushdownAutomaton) -> PushdownAutomaton:
    kept = {key: step for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    return dataclasses.replace(pda, end_marker=None, transitions=kept)


def endings(pda: PushdownAutomaton, start: Configuration, length: int) -> dict[bool, int]:
    """Return the lengths of the shortest words from ``start`` to acceptance, on an empty stack or not, by search."""
    found: dict[bool, int] = {}
    queue = deque([(start, 0)])
    seen = {(start.state, start.stacks)}
    while queue:
        here, steps = queue.popleft()
        if pda.accepts_configuration(here):
            found.setdefault(not any(here.stacks), steps)
        for letter in pda.input_alphabet if steps < length else ():
            after = pda.step(here, letter)
            if after is not None and (after.state, after.stacks) not in seen:
                seen.add((after.state, after.stacks))
                queue.append((after, steps + 1))
    return found


def pile(ways: Completions, configuration: Configuration) -> StackNode:
    here = ways.empty
    for symbol in configuration.stacks[0]:
        here = ways.pile(symbol, here)
    return here


@settings(max_examples=60)
@given(st.data())
def test_a_completion_is_the_shortest_that_a_search_finds(data: st.DataObject) -> None:
    pda = accepting_by_state(without_end(data.draw(pushdown_automata(max_stacks=1))))
    ways = Completions(pda)
    assume(endings(pda, pda.start, 6))
    for word in data.draw(words_of(pda, 6)):
        *_, last = pda.run(word)
        ending, found = ways.word(last.state, pile(ways, last)), endings(pda, last, 5)
        assert ending is not None or not found
        if ending is not None:
            *_, end = pda.run([*word[: len(list(pda.run(word))) - 1], *ending])
            assert pda.accepts_configuration(end)
            empty = not any(end.stacks)
            assert len(ending) == found.get(empty, len(ending))
            assert empty or True not in found


def moves(rules: Mapping[tuple[str, str, str], tuple[str, StackOp]]) -> dict[Key, Transition]:
    """Return the transitions of an automaton with one stack, from state, letter and top."""
    return {(state, letter, (top,)): Transition(to, (op,)) for (state, letter, top), (to, op) in rules.items()}


# from "bbb" a round of "b" is taken back by "a", which leads to s for one round, and to r for more
ONCE = {(state, "⊣", "⊥"): ("e", NONE) for state in "es"} | {("r", "b", "⊥"): ("e", NONE), ("r", "a", "A"): ("r", POP)}
ONCE |= {("q", "b", "⊥"): ("r", push("A")), ("r", "b", "A"): ("q", push("A")), ("q", "b", "A"): ("s", POP)}
ONCE |= {("s", "b", "A"): ("s", push("A")), ("s", "a", "A"): ("q", NONE), ("q", "a", "A"): ("r", NONE)}
WHOLE: dict[str, Any] = {"accepting": frozenset("qrse"), "acceptance": "empty stack", "end_marker": "⊣"}


@example(PushdownAutomaton(tuple("qrse"), ("a", "b"), ("A",), moves(ONCE), "q", **WHOLE))
@settings(max_examples=60)
@given(pushdown_automata())
def test_a_round_more_is_a_run_more_with_the_same_end(pda: PushdownAutomaton) -> None:
    accepts = [
        [plain_accepts(pda, pump.word(n)) for n in (1, 2, 3, 7)] for pump in pumps(pda, 30, seed=0, rejected=False)
    ]
    assert all(len(set(verdicts)) == 1 for verdicts in accepts)
    if pda.n_stacks == 1 and pda.end_marker is None and any(True in verdicts for verdicts in accepts):
        assert all(all(verdicts) for verdicts in accepts)


@settings(max_examples=60)
@given(pushdown_automata(max_stacks=1))
def test_what_a_round_leaves_behind_is_taken_back(pda: PushdownAutomaton) -> None:
    for pump, n in product(pumps(pda, 30, seed=0, rejected=False), (1, 4)):
        begun = (*pump.before, *pump.cycle * n)
        run = Run(without_end(pda), begun)
        assert not run.cut
        assert max(map(len, run.stacks)) <= pump.height + (n - 1) * pump.climb
        assert not Run(without_end(pda), (*begun, *pump.between, *pump.back * n)).cut


def test_no_short_cycle_of_brackets_is_missing() -> None:
    language = get_language("dyck-2")
    found = {"".join(pump.cycle) for pump in pumps(language.automaton, 10_000, seed=0) if not pump.climb}
    balanced = ["".join(word) for length in (2, 4, 6) for word in product("()[]", repeat=length)]
    primitive = [w for w in balanced if w in language and not any(w == w[:k] * (len(w) // k) for k in range(1, len(w)))]
    assert set(primitive) <= found
    assert "[()]" in found


def test_rejected_inputs_end_the_words_of_recognisers_only_where_they_are_wanted() -> None:
    language = get_language("palindrome")
    for pump in pumps(language.automaton, 50, seed=0):
        assert "".join(pump.word(9)) in language
        assert all("".join(pump.word(5, after)) not in language for after in range(1, len(pump.afters)))
    assert {len(pump.afters) for pump in pumps(language.automaton, 50, seed=0, rejected=False)} == {1}


BRACKETS = dyck([("(", ")"), ("[", "]")])


def keys(pda: PushdownAutomaton, word: Sequence[str]) -> list[Key]:
    """Return the transitions that a run takes on a word, an input without one, if any, as the last."""
    run = list(pda.run(word))
    return [(here.state, letter, here.tops(pda.bottom)) for here, letter in zip(run, word, strict=False)]


STEPS = {
    ("q", "a", "⊥"): ("q", push("A")),
    ("q", "a", "A"): ("q", push("A")),
    ("q", "c", "A"): ("r", StackOp(pop=True, push="B")),
    ("r", "d", "B"): ("end", POP),  # onto ⊥ or A, with the same two transitions
}


@example(PushdownAutomaton(("q", "r", "end"), tuple("acd"), ("A", "B"), moves(STEPS), "q"))
@settings(max_examples=40)
@given(pushdown_automata())
def test_every_input_of_every_head_is_tried_even_if_it_is_rejected(pda: PushdownAutomaton) -> None:
    shown, tried = (
        {key for word in some for key in keys(pda, word)} for some in (words(pda, 5), transition_pair_words(pda))
    )
    assert shown <= tried


def test_words_are_whole_words_where_acceptance_matters() -> None:
    assert all(BRACKETS.accepts(word) for word in transition_pair_words(BRACKETS, rejected=False))
    assert all(palindromes().accepts(word) for word in transition_pair_words(palindromes(), rejected=False))
    assert any(not BRACKETS.accepts(word) for word in transition_pair_words(BRACKETS))


def test_every_input_is_tried_at_every_height() -> None:
    for pda, tops in ((BRACKETS, "(["), (palindromes(), "AB")):
        seen = set()
        for word in stack_height_words(pda, height=30, climbs=8, seed=1):
            run = list(pda.run(word))
            seen |= {(len(here.stacks[0]), *key) for here, key in zip(run, keys(pda, word), strict=False)}
        for place in product(range(1, 31), pda.states, pda.input_alphabet):
            assert any((*place, (top,)) in seen for top in tops), place


def test_a_round_that_cannot_be_taken_back_alone_begins_no_family() -> None:
    """Found by an attack: from "[" the cycle "[([" is taken back by "])" and "]](", but a single round is not."""
    into = {"(": push("("), "[": push("[")}
    rules = {("q1", "]", "["): ("q1", POP), ("q1", ")", "("): ("q2", POP), ("q2", "]", "["): ("q2", POP)}
    rules |= {("q1", letter, top): ("q1", into[letter]) for letter in into for top in ("(", "[", "⊥")}
    rules |= {("q2", letter, "("): ("q2", POP) for letter in "([]"} | {("q2", "[", "]"): ("q2", POP)}
    rules |= {(state, "]", "⊥"): ("q2", push("]")) for state in ("q0", "q1")}
    rules |= {("q0", letter, "⊥"): ("q1", into[letter]) for letter in into}
    alphabets, ends = (("(", ")", "[", "]"), ("(", "[", "]")), frozenset({"q1", "q2"})
    pda = PushdownAutomaton(("q0", "q1", "q2"), *alphabets, moves(rules), "q0", ends, acceptance="both")
    families = pumps(pda, 10_000, seed=0)
    assert families
    for family in families:
        assert list(pda.run(family.word(1)))[-1] is not None
        assert pda.accepts(family.word(1)) == pda.accepts(family.word(2))
