"""AALpy's automata as ours: finite ones without a stack that is used, visibly pushdown ones with theirs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from stacklens.automata.formats.aalpy import from_aalpy
from stacklens.automata.naming import unique
from stacklens.automata.pda import NONE, Acceptance, Key, Output, PushdownAutomaton, StackOp, Transition, push
from stacklens.extract.search.asking.answers_kept import DEAD
from stacklens.extract.search.machine import BOTTOM
from stacklens.extract.search.transition_table import initial_output
from stacklens.models.base import StackModel

__all__ = ["automaton_of"]


def automaton_of(hypothesis: Any, network: StackModel[Any], complete: frozenset[Output]) -> PushdownAutomaton:
    """Return a learner's ``hypothesis`` of ``network`` as an automaton of ours, over its alphabet in its order.

    A step that says `DEAD` is none: the word is rejected for good there.

    Args:
        hypothesis: AALpy's Dfa, MealyMachine or Sevpa.
        network: what it is of.
        complete: the outputs that say that a word is complete, where they are known.
    """
    if hasattr(getattr(hypothesis, "input_alphabet", None), "call_alphabet"):
        return replace(_visible(hypothesis), input_alphabet=network.alphabet)
    return _finite(hypothesis, network, complete)


def _visible(hypothesis: Any) -> PushdownAutomaton:
    """Return a 1-SEVPA without the state that nothing leads on from; what is pushed is called by symbol and state."""
    pda, error = from_aalpy(hypothesis), hypothesis.get_error_state()
    dead = None if error is None or error == hypothesis.initial_state else error.state_id
    cells = {
        str((state, call)): (state, call) for state in pda.states for call in hypothesis.input_alphabet.call_alphabet
    }
    calls = [call for state, call in cells.values() if state != dead]
    wanted = {cell: call if calls.count(call) == 1 else f"{call}{state}" for cell, (state, call) in cells.items()}
    names = {
        **unique({cell: wanted[cell] for cell in pda.stack_alphabet if cell in wanted}, [pda.bottom]),
        pda.bottom: pda.bottom,
    }
    if not set(pda.stack_alphabet) <= set(names):
        return pda  # AALpy calls them otherwise: then as it does
    rules: dict[Key, Transition] = {
        (state, symbol, (names[top],)): replace(step, operations=(_renamed(step.operations[0], names),))
        for (state, symbol, (top,)), step in pda.transitions.items()
        if dead not in (state, step.target)
    }
    kept = tuple(state for state in pda.states if state != dead)
    symbols = tuple(names[cell] for cell in pda.stack_alphabet)
    return replace(pda, states=kept, stack_alphabet=symbols, transitions=rules, accepting=pda.accepting & set(kept))


def _renamed(operation: StackOp, names: dict[str, str]) -> StackOp:
    return operation if operation.push is None else push(names[operation.push])


def _finite(hypothesis: Any, network: StackModel[Any], complete: frozenset[Output]) -> PushdownAutomaton:
    speaks = network.task_kind != "recognition"
    names: dict[Hashable, str] = {hypothesis.initial_state.state_id: "q0"}
    rules: dict[Key, Transition] = {}
    for state in (queue := [hypothesis.initial_state]):  # the list grows while it is walked
        for letter in network.alphabet:
            said = state.output_fun[letter] if speaks else 0
            if said == DEAD:
                continue
            target = state.transitions[letter]
            if target.state_id not in names:
                names[target.state_id] = f"q{len(names)}"
                queue.append(target)
            output = network.output_name(said) if speaks else None
            rules[names[state.state_id], letter, (BOTTOM,)] = Transition(names[target.state_id], (NONE,), output)
    accepting = frozenset(names.values())
    acceptance: Acceptance = "output" if complete else "final state"
    if not speaks:
        accepting = frozenset(names[state.state_id] for state in queue if state.is_accepting)
    return PushdownAutomaton(
        states=tuple(names.values()),
        input_alphabet=network.alphabet,
        stack_alphabet=(),
        transitions=rules,
        initial="q0",
        accepting=frozenset() if complete else accepting,
        acceptance=acceptance,
        bottom=BOTTOM,
        initial_output=initial_output(network),
        accepting_outputs=complete,
    )
