"""A pushdown automaton of ours as automata-lib's and as AALpy's, in the form that each runs fastest."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from aalpy.automata.Vpa import Vpa
from automata.pda.dpda import DPDA

from stacklens.automata.pda import PushdownAutomaton


def to_automata_lib(pda: PushdownAutomaton) -> DPDA:
    """Return ``pda`` (acceptance "both", one-character stack symbols) as a DPDA without lambda steps.

    Acceptance by final state and empty stack would take a lambda step a word there, since the bottom lies on its stack.
    Instead the lowest symbol is marked (upper case for lower, else another sign), and states say whether it is gone.
    """
    marked = dict(zip(pda.stack_alphabet, "ABCDEFGH", strict=False))
    moves: dict[Any, Any] = defaultdict(lambda: defaultdict(dict))
    for (state, symbol, (top,)), step in pda.transitions.items():
        (operation,) = step.operations
        if top == pda.bottom:
            pushed = (pda.bottom,) if operation.push is None else (marked[operation.push], pda.bottom)
            moves[f"{state} empty"][symbol][top] = (f"{step.target} {'empty' if len(pushed) == 1 else 'open'}", pushed)
            continue
        for below, seen in ((False, top), (True, marked[top])):
            kept = () if operation.pop else (seen,)
            laid = operation.push and (marked[operation.push] if below and operation.pop else operation.push)
            pushed = kept if laid is None else (laid, *kept)
            target = "empty" if below and not pushed else "open"
            moves[f"{state} open"][symbol][seen] = (f"{step.target} {target}", pushed or "")
    states = {f"{state} {kind}" for state in pda.states for kind in ("empty", "open")}
    return DPDA(
        states=states,
        input_symbols=set(pda.input_alphabet),
        stack_symbols={pda.bottom, *pda.stack_alphabet, *marked.values()},
        transitions={state: {symbol: dict(tops) for symbol, tops in row.items()} for state, row in moves.items()},
        initial_state=f"{pda.initial} empty",
        initial_stack_symbol=pda.bottom,
        final_states={f"{state} empty" for state in pda.accepting},
        acceptance_mode="final_state",
    )


def to_aalpy(pda: PushdownAutomaton) -> Vpa:
    """Return ``pda`` (acceptance "both") as AALpy's VPA, state by state; it too accepts by state and empty stack.

    AALpy asks for the top only where it pops, so pushes and no-ops must be the same for every top. Its VPA may push and
    pop on one letter, depending on the state, although a visibly pushdown automaton may not: palindromes need it.
    """
    rows: dict[str, dict[str, dict[tuple[Any, ...], None]]] = {q: defaultdict(dict) for q in pda.states}
    for (state, symbol, (top,)), step in pda.transitions.items():
        (operation,) = step.operations
        if operation.pop:
            assert operation.push is None, "AALpy has no replace"
            rows[state][symbol][step.target, "pop", top] = None
        else:
            rows[state][symbol][step.target, "push" if operation.push else None, operation.push] = None
    for row in rows.values():
        for entries in row.values():
            assert len(entries) == 1 or all(action == "pop" for _, action, _ in entries), "depends on the top"
    setup = {q: (q in pda.accepting, {x: list(entries) for x, entries in row.items()}) for q, row in rows.items()}
    return Vpa.from_state_setup(setup, init_state_id=pda.initial)
