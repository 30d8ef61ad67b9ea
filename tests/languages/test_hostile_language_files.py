"""Files of automata and grammars that are made to fill the memory or the day end in one line, at once."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from stacklens.automata.compiled import compile_tables
from stacklens.automata.formats.dot import to_dot
from stacklens.automata.formats.json import to_json
from stacklens.automata.grammar import Nonterminal, parse_grammar
from stacklens.automata.pda import POP, Key, PushdownAutomaton, Transition, push
from stacklens.errors import AutomatonError, FileFormatError
from stacklens.languages.catalogue import language_from_file
from stacklens.languages.dyck import Dyck
from stacklens.languages.grammar_words import NormalForm


def complaint(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError) as error:
        language_from_file(path)
    message = str(error.value)
    assert str(path) in message
    assert message.isprintable()
    assert len(message) <= 2_010
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
    with pytest.raises(AutomatonError, match="do not fit into tables"):
        compile_tables(deep)


def test_an_automaton_whose_grammar_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    states = tuple(f"q{i}" for i in range(25))
    steps: dict[Key, Transition] = {}
    for state, target in product(states, states):  # into any state with a push, and with a pop: 25 ** 4 rules
        for top in ("⊥", "x"):
            steps[state, f"push {target}", (top,)] = Transition(target, (push("x"),))
        steps[state, f"pop {target}", ("x",)] = Transition(target, (POP,))
    letters = tuple(f"{what}{target}" for what in ("push", "pop") for target in states)
    steps = {(state, letter.replace(" ", ""), tops): step for (state, letter, tops), step in steps.items()}
    pda = PushdownAutomaton(states, letters, ("x",), steps, states[0], frozenset(states))
    assert "grammar has more than" in complaint(tmp_path / "pda.json", to_json(pda))


def jflap(states: str, rules: str) -> str:
    return f'<?xml version="1.0"?><structure><type>pda</type><automaton>{states}{rules}</automaton></structure>'


def jflap_rule(source: int, target: int, read: str, pop: str, pushed: str) -> str:
    parts = {"from": source, "to": target, "read": read, "pop": pop, "push": pushed}
    return f"<transition>{''.join(f'<{tag}>{value}</{tag}>' for tag, value in parts.items())}</transition>"


def jflap_states(count: int, name: str = "") -> str:
    first = f'<state id="0" name="{name}0"><initial/></state>'
    return first + "".join(f'<state id="{i}" name="{name}"/>' for i in range(1, count))


HOSTILE_DRAWINGS = {
    "a million symbols pushed": jflap(jflap_states(1), jflap_rule(0, 0, "a", "", "b" * 10**6)),
    "a chain of silent rules that push": jflap(
        jflap_states(9_000), "".join(jflap_rule(i, i + 1, "", "", "b" * 100) for i in range(8_999))
    ),
    "as many letters as states": jflap(
        jflap_states(1_500), "".join(jflap_rule(i, i + 1, chr(0x4E00 + i), "", "") for i in range(1_499))
    ),
    "states of one name": jflap(jflap_states(60_000, "same"), jflap_rule(0, 1, "ab", "", "")),
    "an unknown encoding": '<?xml version="1.0" encoding="none"?><structure><type>pda</type></structure>'.replace(
        "<type>", "<type><"
    ),
    "no states": jflap("", ""),
}


@pytest.mark.parametrize("name", HOSTILE_DRAWINGS)
def test_a_jflap_file_that_is_made_to_take_long_is_refused(name: str, tmp_path: Path) -> None:
    complaint(tmp_path / "pda.jff", HOSTILE_DRAWINGS[name])


def test_a_drawing_of_nothing_but_lines_is_read_in_one_pass(tmp_path: Path) -> None:
    text = "digraph {" + "\n" * 300_000
    assert "only drawings that stacklens wrote" in complaint(tmp_path / "pda.dot", text)
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


@pytest.mark.parametrize("name", HOSTILE_GRAMMARS)
def test_a_grammar_that_is_made_to_take_long_is_refused(name: str, tmp_path: Path) -> None:
    complaint(tmp_path / "some.cfg", HOSTILE_GRAMMARS[name])


def test_a_chain_of_unit_rules_and_a_long_side_of_what_may_be_empty_have_a_normal_form() -> None:
    chain = "\n".join(f"S{i} -> S{i + 1}" for i in range(300)) + "\nS300 -> a"
    assert NormalForm(parse_grammar(chain)).count(1) == 1
    empty = f"S -> {'A ' * 190}\nA -> a | ε"
    form = NormalForm(parse_grammar(empty))
    long = "\n".join(f"S{i} -> {'a ' * 100} S{i + 1}" for i in range(100)) + "\nS100 -> a"
    assert NormalForm(parse_grammar(long)).shortest[Nonterminal("S0")] == 10_001  # one part found after the other
    assert form.has_empty
    assert form.count(1) == 1  # one word, whichever A it comes from
