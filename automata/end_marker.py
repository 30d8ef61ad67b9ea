"""Automata that read an end marker, without it: the state before the marker says what the marker would have said."""

from __future__ import annotations

from dataclasses import replace

from stacklens.automata.pda import Acceptance, Key, PushdownAutomaton, State, Transition
from stacklens.automata.reachability import Head, Heads, heads, trim

__all__ = ["drop_end_marker"]


def drop_end_marker(pda: PushdownAutomaton) -> PushdownAutomaton | None:
    """Return an automaton that accepts the same words without reading an end marker, or None where none is found.

    Acceptance "both" stays "both": the accepting states are those whose marker transition on empty stacks leads to
    acceptance (so Sun et al. 1993, section 4.2, read their figure 8). "Empty stack" becomes "both"; "final state" stays
    where the state alone decides at every head. States and symbols that only the marker needs are trimmed.

    None: a marker transition that pops leads to acceptance, so that it matters how deep the stack is, which the head
    does not show; "final state" where one state accepts with some tops only; or acceptance by output. Only heads
    that a run can show count. An automaton without an end marker is returned as it is.

    >>> from stacklens.automata.pda import NONE
    >>> pda = PushdownAutomaton(
    ...     states=("p", "yes"), input_alphabet=("a",), stack_alphabet=(), initial="p", accepting=frozenset({"yes"}),
    ...     transitions={("p", "$", ("⊥",)): Transition("yes", (NONE,))}, end_marker="$")
    >>> without = drop_end_marker(pda)
    >>> without.states, without.accepts("")
    (('p',), True)
    """
    if pda.end_marker is None:
        return pda
    pda = trim(pda)
    found = heads(pda)
    if pda.acceptance == "output" or _needs_depth(pda):
        return None
    accepting = _accepting_heads(pda)
    states = frozenset(state for state, _ in accepting)
    if pda.acceptance == "final state" and _undecided(found, accepting, states):
        return None
    letters = {key: step for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    acceptance: Acceptance = "final state" if pda.acceptance == "final state" else "both"
    return trim(replace(pda, transitions=letters, end_marker=None, accepting=states, acceptance=acceptance))


def _accepting_heads(pda: PushdownAutomaton) -> set[Head]:
    """Return the heads at which the marker leads to acceptance without a pop that empties the stack."""
    empty = (pda.bottom,) * pda.n_stacks
    found = set()
    for (state, symbol, tops), step in pda.transitions.items():
        stays_empty = tops == empty and not _pushes(step)
        if symbol == pda.end_marker and (pda.acceptance == "final state" or stays_empty) and _is_final(pda, step):
            found.add((state, tops))
    return found


def _needs_depth(pda: PushdownAutomaton) -> bool:
    """Return whether some word is accepted because the marker pops the last symbol."""
    if pda.acceptance == "final state":
        return False
    popping = {key: step for key, step in pda.transitions.items() if key[1] == pda.end_marker and _pops(pda, key, step)}
    letters = {key: step for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    ending = heads(replace(pda, transitions={**letters, **popping})).ending
    return any(set(tops) == {pda.bottom} for _, tops in ending)


def _pops(pda: PushdownAutomaton, key: Key, step: Transition) -> bool:
    return set(key[2]) != {pda.bottom} and not _pushes(step) and _is_final(pda, step)


def _pushes(step: Transition) -> bool:
    return any(operation.push is not None for operation in step.operations)


def _is_final(pda: PushdownAutomaton, step: Transition) -> bool:
    return pda.acceptance == "empty stack" or step.target in pda.accepting


def _undecided(found: Heads, accepting: set[Head], states: frozenset[State]) -> bool:
    """Return whether a state that accepts with some tops rejects with others."""
    return any(head not in accepting for head in found.reading if head[0] in states)
