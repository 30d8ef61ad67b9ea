"""Automata as automata-lib's and AALpy's objects and back, and words judged by them as by us."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from aalpy.automata import Dfa, DfaState, Sevpa, SevpaAlphabet, SevpaState, SevpaTransition, Vpa
from automata.pda.dpda import DPDA
from automata.pda.npda import NPDA
from hypothesis import given, settings
from tests.automata.brute_force import words
from tests.automata.strategies import palindromes, pushdown_automata
from tests.automata.test_formats_read_back import RECOGNISERS, silent
from tests.automata.test_textbook import WORDS
from tests.automata.textbook_automata import runs_accept, textbook_automata

from stacklens.automata.formats import from_aalpy, from_automata_lib, to_aalpy, to_automata_lib
from stacklens.automata.formats.textbook import TextbookAutomaton, from_textbook
from stacklens.automata.pda import NONE, PushdownAutomaton, Transition
from stacklens.automata.pda import replace as put
from stacklens.automata.reachability import trim
from stacklens.errors import AutomatonError, StacklensError


@given(RECOGNISERS)
def test_automata_lib_accepts_the_same_words_there_and_back(pda: PushdownAutomaton) -> None:
    pda = silent(pda)
    dpda = to_automata_lib(pda)
    again = from_automata_lib(dpda)
    for word in words(pda, 3):
        theirs = dpda.accepts_input(word)  # tuples do as well
        assert theirs == pda.accepts(word) == again.accepts(word), word


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
@given(textbook_automata())
def test_dpdas_by_others_accept_the_same_words(given_rules: TextbookAutomaton) -> None:
    rules = {(rule.source, rule.read, rule.pop): rule for rule in given_rules.rules if rule.read and rule.pop}
    automaton = replace(given_rules, rules=tuple(rules.values()), initial="p", states=("p", "q", "r", "end"))
    automaton = replace(automaton, final=automaton.final - {"start"}, alphabet=("a", "b"))
    table: dict[str, dict[str, dict[str, Any]]] = {state: {} for state in automaton.states}
    for rule in automaton.rules:
        table[rule.source].setdefault(rule.read, {})[rule.pop[0]] = (rule.target, rule.push or "")
    dpda = DPDA(states=set(automaton.states), input_symbols={"a", "b"}, stack_symbols={"Z", "A", "B"},
                transitions=table, initial_state="p", initial_stack_symbol="Z", final_states=set(automaton.final),
                acceptance_mode="both" if automaton.accepts_empty else "final_state")  # fmt: skip
    try:
        pda = from_automata_lib(dpda)
    except AutomatonError:
        with pytest.raises(AutomatonError):
            from_textbook(automaton)
        return
    for word in WORDS:
        assert pda.accepts(word) == runs_accept(automaton, word), word


@given(RECOGNISERS)
def test_aalpy_accepts_the_same_words_there_and_back(pda: PushdownAutomaton) -> None:
    pda = silent(pda)
    if pda.acceptance == "final state":
        with pytest.raises(AutomatonError, match='an empty stack only, this automaton by "final state"'):
            to_aalpy(pda)
        return
    vpa = to_aalpy(pda)
    again = from_aalpy(vpa)
    for word in words(pda, 3):
        known = set(word) <= set(again.input_alphabet)
        assert vpa.accepts(list(word)) == pda.accepts(word) == (known and again.accepts(word)), word


def test_a_one_sevpa_is_read() -> None:
    state = SevpaState("q", True)
    state.transitions[")"].append(SevpaTransition(state, ")", "pop", ("q", "(")))
    sevpa = Sevpa(state, [state], SevpaAlphabet([], ["("], [")"]))
    pda = from_aalpy(sevpa)
    assert pda.stack_alphabet == ("('q', '(')",)
    assert [word for word in ("", "()", "(())", "(", "())") if pda.accepts(word)] == ["", "()", "(())"]


two_stacks = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
speaking = PushdownAutomaton(("q",), ("a",), (), {("q", "a", ("⊥",)): Transition("q", (NONE,), "1")}, "q")
marked = PushdownAutomaton(("q",), ("a",), (), {}, "q", end_marker="$")


@pytest.mark.parametrize("write", [to_automata_lib, to_aalpy])
@pytest.mark.parametrize(
    ("pda", "message"), [(two_stacks, "this automaton has 2"), (speaking, "outputs"), (marked, r"end marker, .* '\$'")]
)
def test_what_cannot_be_said_is_refused(
    write: Callable[[PushdownAutomaton], object], pda: PushdownAutomaton, message: str
) -> None:
    with pytest.raises(AutomatonError, match=message):
        write(pda)


def test_other_kinds_of_automata_are_refused() -> None:
    npda = NPDA(states={"q"}, input_symbols={"a"}, stack_symbols={"Z"}, transitions={"q": {"a": {"Z": {("q", "Z")}}}},
                initial_state="q", initial_stack_symbol="Z", final_states={"q"})  # fmt: skip
    with pytest.raises(AutomatonError, match="expected a DPDA of automata-lib, found NPDA"):
        from_automata_lib(npda)
    state = DfaState("q", True)
    with pytest.raises(AutomatonError, match="expected a Vpa or Sevpa of AALpy, found Dfa"):
        from_aalpy(Dfa(state, [state]))
    numbered = Vpa.from_state_setup({"q": (True, {1: [("q", None, None)]})}, init_state_id="q")
    with pytest.raises(AutomatonError, match="symbols must be strings, found 1"):
        from_aalpy(numbered)


@pytest.mark.parametrize(
    ("module", "write", "name"),
    [("automata.pda.dpda", to_automata_lib, "automata-lib"), ("aalpy.automata", to_aalpy, "AALpy")],
)
def test_without_the_library_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, write: Callable[[PushdownAutomaton], object], name: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StacklensError, match=rf"{name}.* is not installed: pip install 'stacklens\[interop\]'"):
        write(palindromes())
