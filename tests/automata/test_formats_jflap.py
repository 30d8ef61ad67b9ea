from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from tests.automata.brute_force import words
from tests.automata.strategies import pushdown_automata
from tests.automata.test_formats_dot import one_rule
from tests.automata.test_reachability import automaton

from stacklens.automata.formats import to_jflap
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition
from stacklens.errors import AutomatonError


def jflap_accepts(text: str, word: Sequence[str]) -> bool:
    """Return whether JFLAP accepts by final state: Z on the stack, nondeterminism, one character a symbol."""
    structure = ET.fromstring(text)
    rules = [
        [rule.findtext(tag) or "" for tag in ("from", "to", "read", "pop", "push")]
        for rule in structure.iter("transition")
    ]
    final = {state.get("id") for state in structure.iter("state") if state.find("final") is not None}
    initial = next(state.get("id") for state in structure.iter("state") if state.find("initial") is not None)
    note = structure.findtext("automaton/note/text", "symbols: ").removeprefix("symbols: ")
    character = {symbol: name for name, _, symbol in (part.partition(" is ") for part in note.split("; ") if part)}
    unseen = [(initial, "".join(character.get(symbol, symbol) for symbol in word), "Z")]  # the top is the first
    while unseen:
        here, rest, stack = unseen.pop()
        if not rest and here in final:
            return True
        unseen += [
            (to, rest[len(read) :], put + stack[len(pop) :])
            for at, to, read, pop, put in rules
            if at == here and rest.startswith(read) and stack.startswith(pop)
        ]
    return False


@given(pushdown_automata(max_stacks=1, acceptances=("final state", "empty stack", "both")))
def test_jflap_accepts_the_same_words(pda: PushdownAutomaton) -> None:
    silent = {key: replace(step, output=None) for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    pda = replace(pda, transitions=silent, end_marker=None)
    text = to_jflap(pda)
    assert [jflap_accepts(text, word) for word in words(pda, 3)] == [pda.accepts(word) for word in words(pda, 3)]


def test_operations_are_pops_and_pushes_of_characters() -> None:
    pda = automaton("p a ⊥ > p push x \n p a x > p replace y \n p b x > p pop \n p b y > p none")
    rules = {
        tuple(rule.findtext(tag) or "" for tag in ("read", "pop", "push"))
        for rule in ET.fromstring(to_jflap(pda)).iter("transition")
    }
    assert rules == {("a", "Z", "xZ"), ("a", "x", "y"), ("b", "x", ""), ("b", "y", "y")}


with_output = PushdownAutomaton(("q",), ("a",), (), {("q", "a", ("⊥",)): Transition("q", (NONE,), "1")}, "q")


@pytest.mark.parametrize(
    ("pda", "message"),
    [
        (one_rule(end_marker="$"), r"no end marker, this automaton has '\$': try drop_end_marker"),
        (one_rule(acceptance="output"), "no outputs"),
        (PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2), "one stack, this one has 2"),
        (with_output, "no outputs"),
    ],
)
def test_what_jflap_cannot_say_is_refused(pda: PushdownAutomaton, message: str) -> None:
    with pytest.raises(AutomatonError, match=message):
        to_jflap(pda)
