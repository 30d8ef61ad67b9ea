"""An automaton as automata-lib's DPDA, and back (the optional extra "interop")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stacklens.automata.epsilon import require_real_time
from stacklens.automata.formats.textbook import TextbookAutomaton, TextbookRule, from_textbook
from stacklens.automata.naming import unique
from stacklens.automata.pda import PushdownAutomaton, StackOp, Symbol
from stacklens.errors import AutomatonError
from stacklens.extras import needing

if TYPE_CHECKING:
    from automata.pda.dpda import DPDA

__all__ = ["from_automata_lib", "to_automata_lib"]

_Move = tuple[str, Symbol, Symbol, str, tuple[Symbol, ...]]  # state, symbol read, top, target, what replaces the top


def to_automata_lib(pda: PushdownAutomaton) -> DPDA:
    """Return the automaton as automata-lib's DPDA without lambda steps; it accepts by final state.

    With acceptance "final state" states and symbols stay. An empty stack cannot be tested there without a lambda step,
    which its DPDAs may not have beside others: so for the other two the lowest symbol on the stack is a primed one, and
    each state is two, the stack being empty ("q") or not ("q, open"). Words with symbols of several characters are
    given to it as tuples; a symbol outside the alphabet is rejected there, without a word.

    Raises:
        AutomatonError: several stacks, outputs or an end marker, which a DPDA does not have.
        StacklensError: automata-lib is not installed.
    """
    _check(pda)
    marked = pda.acceptance != "final state"
    moves = list(_marked_moves(pda) if marked else _moves(pda))
    transitions: dict[str, dict[Symbol, dict[Symbol, Any]]] = defaultdict(lambda: defaultdict(dict))
    for state, symbol, top, target, laid in moves:
        transitions[state][symbol][top] = (target, laid or "")
    states = {*pda.states, *(part for move in moves for part in (move[0], move[3]))}
    for state in states:  # automata-lib wants the initial state to have a row
        transitions[state] = transitions[state]
    return _dpda()(
        states=states,
        input_symbols=set(pda.input_alphabet),
        stack_symbols={pda.bottom, *pda.stack_alphabet, *(symbol for move in moves for symbol in (move[2], *move[4]))},
        transitions={state: {symbol: dict(tops) for symbol, tops in row.items()} for state, row in transitions.items()},
        initial_state=pda.initial,
        initial_stack_symbol=pda.bottom,
        final_states=set(pda.states if pda.acceptance == "empty stack" else pda.accepting),
        acceptance_mode="final_state",
    )


def from_automata_lib(dpda: DPDA) -> PushdownAutomaton:
    """Return a DPDA of automata-lib as an automaton of ours that accepts the same words.

    Names stay where they can; states and symbols stand in alphabetical order, since sets have none.

    Raises:
        AutomatonError: no DPDA, a name that is no string, or lambda steps other than at the start or the end of a word
            (see `textbook`).
        StacklensError: automata-lib is not installed.
    """
    if not isinstance(dpda, _dpda()):
        raise AutomatonError(f"expected a DPDA of automata-lib, found {type(dpda).__name__}")
    names = [*dpda.states, *dpda.input_symbols, *dpda.stack_symbols]
    if others := [name for name in names if not isinstance(name, str) or not name]:
        raise AutomatonError(f"states and symbols must be called by strings, found {others[0]!r}")
    return from_textbook(
        TextbookAutomaton(
            states=tuple(sorted(dpda.states)),
            initial=dpda.initial_state,
            final=frozenset(dpda.final_states if dpda.acceptance_mode != "empty_stack" else ()),
            start=dpda.initial_stack_symbol,
            rules=tuple(sorted(_rules(dpda), key=str)),
            accepts_empty=dpda.acceptance_mode != "final_state",
            alphabet=tuple(sorted(dpda.input_symbols)),
        )
    )


def _dpda() -> type[DPDA]:
    what = "automata-lib (no folder called automata may stand where Python starts)"
    with needing(what, "interop"):
        from automata.pda.dpda import DPDA
    kind: type[DPDA] = DPDA
    return kind


def _check(pda: PushdownAutomaton) -> None:
    if pda.n_stacks > 1:
        raise AutomatonError(f"automata-lib's DPDAs have one stack, this automaton has {pda.n_stacks}")
    if pda.acceptance == "output" or any(step.output is not None for step in pda.transitions.values()):
        raise AutomatonError("automata-lib's DPDAs have no outputs, this automaton has")
    if pda.end_marker is not None:
        raise AutomatonError(f"a DPDA has no end marker, this one has {pda.end_marker!r}: try drop_end_marker first")
    require_real_time(pda, "A DPDA without traps needs")


def _moves(pda: PushdownAutomaton) -> Iterator[_Move]:
    for (state, symbol, (top,)), step in pda.transitions.items():
        yield state, symbol, top, step.target, _laid(step.operations[0], top)


def _laid(operation: StackOp, top: Symbol) -> tuple[Symbol, ...]:
    kept = () if operation.pop else (top,)
    return kept if operation.push is None else (operation.push, *kept)


def _marked_moves(pda: PushdownAutomaton) -> Iterator[_Move]:
    """Yield moves whose states tell whether the stack is empty, by a lowest symbol that looks different."""
    lowest = unique({symbol: f"{symbol}'" for symbol in pda.stack_alphabet}, {pda.bottom, *pda.stack_alphabet})
    opened = unique({state: f"{state}, open" for state in pda.states}, pda.states)
    for state, symbol, top, target, laid in _moves(pda):
        if top == pda.bottom:
            yield (
                state,
                symbol,
                top,
                (target if len(laid) == 1 else opened[target]),
                (*(lowest[symbol] for symbol in laid[:-1]), top),
            )
            continue
        yield opened[state], symbol, top, opened[target], laid
        under = (*laid[:-1], lowest[laid[-1]]) if laid else ()
        yield opened[state], symbol, lowest[top], (opened[target] if laid else target), under


def _rules(dpda: DPDA) -> Iterator[TextbookRule]:
    for source, row in dpda.transitions.items():
        for read, tops in row.items():
            for top, (target, laid) in tops.items():
                yield TextbookRule(source, read, (top,), target, tuple(laid))
