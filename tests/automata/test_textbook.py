"""Textbook automata as ours: those that can be taken over accept the same words, the others are refused."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, reject, settings
from tests.automata.textbook_automata import LETTERS, runs_accept, textbook_automata

from stacklens.automata.formats.textbook import TextbookAutomaton, TextbookRule, from_textbook
from stacklens.errors import AutomatonError

WORDS = [word for length in range(6) for word in product(LETTERS, repeat=length)]


def given_rules(*lines: str, final: str = "f", accepts_empty: bool = False) -> TextbookAutomaton:
    """Return the automaton of lines "state read pop > state push", with . for nothing and p as the initial state."""
    rules = []
    for line in lines:
        source, read, pop, _, target, push = line.split()
        rules.append(TextbookRule(source, read.strip("."), tuple(pop.strip(".")), target, tuple(push.strip("."))))
    states = tuple(dict.fromkeys(state for rule in rules for state in (rule.source, rule.target)))
    return TextbookAutomaton(states, "p", frozenset(final), "Z", tuple(rules), accepts_empty)


@settings(max_examples=300)
@given(textbook_automata())
def test_those_that_are_taken_over_accept_the_same_words(automaton: TextbookAutomaton) -> None:
    try:
        pda = from_textbook(automaton)
    except AutomatonError:
        reject()  # two of five; were it nearly all, hypothesis would complain
    known = set(pda.input_alphabet)
    for word in WORDS:
        assert (set(word) <= known and pda.accepts(word)) == runs_accept(automaton, word), word


@pytest.mark.parametrize(
    ("lines", "members"),
    [
        (["p a Z > p AAZ", "p a A > p AAA", "p b A > q .", "q b A > q .", "q . Z > f Z"], ["abb", "aabbbb"]),
        (["p . . > q $", "q a . > q A", "q b A > r .", "r b A > r .", "r . $ > f ."], ["ab", "aabb", "aaabbb"]),
        (["p a Z > p B", "p a B > p BB", "p b B > f .", "f b B > f ."], ["ab", "aab", "aabb", "aaab", "aaabbb"]),
        (["p a . > p A", "p b A > p .", "p . Z > f Z"], ["", "ab", "aabb", "abab", "aababb", "ababab", "aabbab"]),
    ],
)  # fmt: skip
def test_automata_as_textbooks_write_them(lines: list[str], members: list[str]) -> None:
    pda = from_textbook(given_rules(*lines))
    for word in ("".join(letters) for length in range(7) for letters in product("ab", repeat=length)):
        assert pda.accepts(word) == runs_accept(given_rules(*lines), word)
        assert pda.accepts(word) or word not in members


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["p a Z > p AZ", "p a . > q A"], r"not deterministic: in state p, reading a with Z on top, 2 rules hold"),
        (["p a Z > q AZ", "q . A > p ."], r"the rule from q to p \(read nothing, pop A, push nothing\) reads nothing"),
        (["p a ZZ > p ."], "pops 2 symbols; expected one"),
        (["p a Z > p AZ", "p a A > p BB"], "puts another symbol in the top's place and pushes"),
    ],
)
def test_what_ours_cannot_do_is_refused_in_one_line(lines: list[str], message: str) -> None:
    with pytest.raises(AutomatonError, match=message) as caught:
        from_textbook(given_rules(*lines))
    assert "\n" not in str(caught.value)
