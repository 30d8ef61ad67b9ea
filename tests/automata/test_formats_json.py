from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from tests.automata.strategies import pushdown_automata

from stacklens.automata.formats import from_json, to_json
from stacklens.automata.pda import PushdownAutomaton, Transition, push
from stacklens.errors import AutomatonError

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
        (
            changed(transitions=json.loads(to_json(PDA))["transitions"] * 2),
            r"transition 2 of 2: \(q, a, ⊥\) comes twice",
        ),
        (changed_rule(operations=["push"]), "transition 1 of 1: expected an operation"),
        (changed_rule(operations=[{"pop": 1, "push": None}]), "expected an operation"),
        (changed_rule(operations=[{"push": None}]), '"pop" is missing'),
        (changed_rule(operations=[{"pop": True, "push": None}]), "an empty stack cannot be popped"),
        (changed_rule(output=[["a"]]), "expected an output"),
        (changed_rule(to="r"), "not a state"),
    ],
)
def test_anything_malformed_is_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(AutomatonError, match=message) as caught:
        from_json(text)
    assert "\n" not in str(caught.value)
