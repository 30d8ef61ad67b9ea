"""What stacklens writes as JFLAP or DOT is read back equal; what others write is read or refused in one line."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.automata.strategies import palindromes, pushdown_automata
from tests.automata.test_formats_dot import AWKWARD, one_rule
from tests.automata.test_formats_jflap import jflap_accepts
from tests.automata.test_textbook import WORDS
from tests.automata.textbook_automata import runs_accept, textbook_automata

from stacklens.automata.formats import from_dot, from_jflap, read_automaton, to_dot, to_jflap, to_json
from stacklens.automata.formats.textbook import TextbookAutomaton, from_textbook
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import AutomatonError, FileFormatError

UNSEEN = ["\n", " ", "\x00", "\ud800", "\u2028", "🙂", "--", "-->", "λ", "Z"]
RECOGNISERS = pushdown_automata(max_stacks=1, acceptances=("final state", "empty stack", "both"))


def silent(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return ``pda`` without what JFLAP cannot say: outputs and an end marker."""
    steps = {key: replace(step, output=None) for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    return replace(pda, transitions=steps, end_marker=None)


def jflap_of(automaton: TextbookAutomaton) -> str:
    """Return the file that JFLAP would write for a textbook automaton."""
    number = {state: str(i) for i, state in enumerate(automaton.states)}
    parts = ["<structure><type>pda</type><automaton>"]
    for state in automaton.states:
        marks = ("<initial/>" * (state == automaton.initial)) + ("<final/>" * (state in automaton.final))
        parts.append(f'<state id="{number[state]}" name="{state}"><x>1.0</x><y>2.0</y>{marks}</state>')
    for rule in automaton.rules:
        fields = (number[rule.source], number[rule.target], rule.read, "".join(rule.pop), "".join(rule.push))
        tags = zip(("from", "to", "read", "pop", "push"), fields, strict=True)
        parts.append(f"<transition>{''.join(f'<{tag}>{text}</{tag}>' for tag, text in tags)}</transition>")
    return '<?xml version="1.0" encoding="UTF-8" standalone="no"?>' + "".join([*parts, "</automaton></structure>"])


@given(RECOGNISERS)
def test_a_jflap_file_of_ours_is_read_back_equal(pda: PushdownAutomaton) -> None:
    pda = silent(pda)
    again = from_jflap(to_jflap(pda))
    assert again == pda
    assert to_jflap(again) == to_jflap(pda)


@given(pushdown_automata())
def test_a_drawing_of_ours_is_read_back_equal(pda: PushdownAutomaton) -> None:
    assert from_dot(to_dot(pda)) == pda
    assert from_dot(to_dot(pda, title='Die "Ränder"\n}')) == pda


@pytest.mark.parametrize("symbol", [*AWKWARD, *UNSEEN])
def test_awkward_symbols_are_read_back(symbol: str) -> None:
    pda = one_rule(symbol, symbol, state=symbol)
    assert from_jflap(to_jflap(pda)) == pda
    assert from_dot(to_dot(pda, title=symbol)) == pda
    assert to_dot(pda).count("\n") == to_dot(one_rule()).count("\n")


def test_a_drawing_may_be_coloured_but_not_be_changed() -> None:
    text = to_dot(palindromes())
    assert from_dot(text.replace('[label="u"', '[color=red, label="u"').replace("pad=0.2", "pad=1")) == palindromes()
    for old, new in (
        ("pop", "none"),
        ('label="u"', 'label="w"'),
        ("n0 -> n1", "n1 -> n1"),
        (", shape=doublecircle", ""),
    ):
        assert old in text
        with pytest.raises(AutomatonError, match="states or labels are not those that stacklens wrote"):
            from_dot(text.replace(old, new, 1))


@pytest.mark.parametrize("text", ["", "digraph { a -> b }", "graph {}\n# stacklens {}", "not DOT at all"])
def test_a_drawing_by_others_is_refused(text: str) -> None:
    with pytest.raises(AutomatonError, match="no automaton: only drawings that stacklens wrote can be read"):
        from_dot(text)


@settings(max_examples=60)
@given(RECOGNISERS)
def test_without_our_comment_the_same_words_are_accepted(pda: PushdownAutomaton) -> None:
    pda = silent(pda)
    text = re.sub("<!--.*?-->", "", to_jflap(pda), flags=re.DOTALL)
    bare = from_jflap(text)
    read = {key[1] for key in pda.transitions}
    if not all(len(symbol) == 1 for symbol in read) or not read <= set(bare.input_alphabet):
        return
    for word in (word for length in range(4) for word in product(sorted(read), repeat=length)):
        assert bare.accepts(word) == jflap_accepts(text, word), word


@settings(max_examples=100)
@given(textbook_automata())
def test_jflap_files_by_others(automaton: TextbookAutomaton) -> None:
    automaton = replace(automaton, accepts_empty=not automaton.final)
    try:
        pda = from_jflap(jflap_of(automaton))
    except AutomatonError:
        with pytest.raises(AutomatonError):
            from_textbook(automaton)
        return
    for word in WORDS:
        assert (set(word) <= set(pda.input_alphabet) and pda.accepts(word)) == runs_accept(automaton, word), word


def test_an_older_file_has_no_automaton_element() -> None:
    text = """<structure><type>pda</type><!--The list of states.--><state id="0"><initial/><final/></state>
    <transition><from>0</from><to>0</to><read>a</read><pop/><push>A</push></transition></structure>"""
    assert from_jflap(text).accepts("aa")
    assert from_jflap(text).states == ("q0",)


def xml(states: str = '<state id="0"><initial/></state>', rules: str = "", head: str = "", kind: str = "pda") -> str:
    return f"{head}<structure><type>{kind}</type><automaton>{states}{rules}</automaton></structure>"


BOMB = '<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not XML: no element found"),
        ("<structure>", "not XML"),
        ("\ud800", "not XML"),
        (xml(kind="fa"), "expected <type>pda</type>, found 'fa'"),
        ("<a/>", "expected <type>pda</type>, found 'none'"),
        (xml(head=BOMB), "a document type or entities"),
        (xml(head=OUTSIDE, rules="&a;"), "a document type or entities"),
        (xml(rules="&a;"), "not XML: undefined entity"),
        ("<a>" * 60, "more than 50 elements in each other"),
        (xml(states='<state id="0"/>'), "0 initial states, expected one"),
        (xml(states='<state><initial/></state>'), "a state without id"),
        (xml(rules="<transition><from>0</from><to>3</to></transition>"), "there is no state '3'"),
        (
            xml(rules="<transition><from>0</from><to>0</to><read>ab</read><pop>Z</pop><push>Z</push></transition>"),
            "reads 2 symbols; expected one a step",
        ),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(AutomatonError, match=message) as caught:
        from_jflap(text)
    assert "\n" not in str(caught.value)


def test_a_file_too_large_is_not_parsed() -> None:
    with pytest.raises(AutomatonError, match=r"20,000,001 characters: expected 20,000,000 at most"):
        from_jflap(" " * 20_000_001)


@pytest.mark.parametrize(("name", "write"), [("pda.json", to_json), ("pda.jff", to_jflap), ("pda.dot", to_dot)])
def test_files_are_read_by_their_suffix_or_by_how_they_begin(name: str, write: object, tmp_path: Path) -> None:
    assert callable(write)
    for path in (tmp_path / name, tmp_path / "pda"):
        path.write_text(write(palindromes()), encoding="utf-8")
        assert read_automaton(path) == palindromes()
    (tmp_path / name).write_text("S -> a", encoding="utf-8")
    with pytest.raises(FileFormatError, match=f"{name}: (not|no) "):
        read_automaton(tmp_path / name)


def test_a_file_that_is_no_automaton(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text("S -> a", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"grammar: no automaton file: expected \.json, \.jff, \.dot"):
        read_automaton(tmp_path / "grammar")
    with pytest.raises(FileFormatError, match=r"missing\.jff: no such file; expected an automaton"):
        read_automaton(tmp_path / "missing.jff")
    (tmp_path / "binary.dot").write_bytes(b"\xff\xfe")
    with pytest.raises(FileFormatError, match="not text in UTF-8, expected an automaton"):
        read_automaton(tmp_path / "binary.dot")
