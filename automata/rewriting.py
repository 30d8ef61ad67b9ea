"""Automata rewritten for what a network can show: without an end marker, and with the stack top in the state.

Without the marker, the state before it says what the marker would have said. With the top in the state, an output on a
transition may depend on what lies on top after the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from stacklens.automata.epsilon import real_time_form, without_epsilon
from stacklens.automata.naming import unique
from stacklens.automata.pda import (
    NONE,
    POP,
    Acceptance,
    Key,
    Output,
    PushdownAutomaton,
    StackOp,
    State,
    Symbol,
    Transition,
    push,
)
from stacklens.automata.reachability import Head, Heads, heads, trim
from stacklens.errors import AutomatonError

__all__ = ["drop_end_marker", "predictor_of", "with_head_outputs", "with_visible_top"]

_Names = dict[State, tuple[State, Symbol]]  # each new state: the state and the top that it stands for


def drop_end_marker(pda: PushdownAutomaton) -> PushdownAutomaton | None:
    """Return an automaton that accepts the same words without reading an end marker, or None where none is found.

    Acceptance "both" stays "both": the accepting states are those whose marker transition on empty stacks leads to
    acceptance (so Sun et al. 1993, section 4.2, read their figure 8). "Empty stack" becomes "both"; "final state" stays
    where the state alone decides at every head. States and symbols that only the marker needs are trimmed.

    None: a marker transition that pops leads to acceptance, so that it matters how deep the stack is, which the head
    does not show; "final state" where one state accepts with some tops only; acceptance by output; or ε-steps that
    cannot be put into other steps. Only heads that a run can show count. An automaton without an end marker is returned
    as it is.

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
    try:
        pda = trim(without_epsilon(pda))
    except AutomatonError:
        return None
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


def with_visible_top(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the equivalent automaton whose states are ``(state, top)`` and whose stack holds what lies below the top.

    It accepts the same words with acceptance "final state" ("output" stays) and has the same outputs; only what a run
    can reach is kept.

    Raises:
        AutomatonError: the automaton has more than one stack, or ε-steps that cannot be put into other steps.

    >>> dyck = PushdownAutomaton(("q",), ("(", ")"), ("A",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("A"),)), ("q", "(", ("A",)): Transition("q", (push("A"),)),
    ...     ("q", ")", ("A",)): Transition("q", (POP,))}, "q", acceptance="empty stack")
    >>> shown = with_visible_top(dyck)
    >>> shown.states, sorted(shown.accepting), shown.accepts("(())()"), shown.accepts("(()")
    (('(q, ⊥)', '(q, A)'), ['(q, ⊥)'], True, False)
    """
    return _visible(pda)[0]


def with_head_outputs(pda: PushdownAutomaton, output: Callable[[State, Symbol], Output]) -> PushdownAutomaton:
    """Return the automaton that after every symbol outputs ``output(state, top)`` of where it is then.

    Its ``initial_output`` is that of the first head. Errors and the rest as in :func:`with_visible_top`.

    >>> echo = PushdownAutomaton(("q",), ("a",), ("A",), {
    ...     ("q", "a", (top,)): Transition("q", (push("A"),)) for top in ("⊥", "A")}, "q")
    >>> tops = with_head_outputs(echo, lambda state, top: top)
    >>> tops.initial_output, tops.transduce("aa")
    ('⊥', ['A', 'A'])
    """
    visible, names = _visible(pda)
    transitions = {key: replace(step, output=output(*names[step.target])) for key, step in visible.transitions.items()}
    return replace(visible, transitions=transitions, initial_output=output(*names[visible.initial]))


def predictor_of(pda: PushdownAutomaton, end: Symbol | None = None) -> PushdownAutomaton:
    """Return the automaton that after every symbol outputs the symbols that may come next, in alphabet order.

    These are the symbols with a transition at the new head. They are the ones with which a word can go on to be
    accepted where every transition of ``pda`` is useful, as those of our reference automata are. Accepted are the same
    words, by "final state" (Suzgun et al. 2019, section 4.1, train networks to be such predictors).

    Args:
        pda: a recogniser with one stack and acceptance "both".
        end: a symbol, last in the output, for "the word may end here"; None leaves that out.

    Raises:
        AutomatonError: another kind of acceptance, an end marker, or more than one stack.

    >>> dyck = PushdownAutomaton(("q",), ("(", ")"), ("A",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("A"),)), ("q", "(", ("A",)): Transition("q", (push("A"),)),
    ...     ("q", ")", ("A",)): Transition("q", (POP,))}, "q", frozenset({"q"}))
    >>> predictor_of(dyck).initial_output, predictor_of(dyck).transduce("()")
    (('(',), [('(', ')'), ('(',)])
    >>> predictor_of(dyck, end="⊣").transduce("()")
    [('(', ')'), ('(', '⊣')]
    """
    if pda.acceptance != "both" or pda.end_marker is not None:
        marker = "" if pda.end_marker is None else f" and the end marker {pda.end_marker!r}"
        raise AutomatonError(
            f'predictor_of needs a recogniser with acceptance "both" and no end marker, not "{pda.acceptance}"{marker}'
        )

    def following(state: State, top: Symbol) -> Output:
        symbols = tuple(symbol for symbol in pda.input_alphabet if (state, symbol, (top,)) in pda.transitions)
        ends = end is not None and top == pda.bottom and state in pda.accepting
        return (*symbols, end) if ends and end is not None else symbols

    return with_head_outputs(pda, following)


def _visible(pda: PushdownAutomaton) -> tuple[PushdownAutomaton, _Names]:
    if pda.n_stacks != 1:
        raise AutomatonError(f"the top can be shown for one stack, this automaton has {pda.n_stacks}")
    pda = real_time_form(pda, "states that show the top need")
    tops = (pda.bottom, *pda.stack_alphabet)
    name = unique({(state, top): f"({state}, {top})" for state in pda.states for top in tops})  # (a, b), c or a, (b, c)
    names = {called: head for head, called in name.items()}
    accepting = frozenset(called for called, head in names.items() if _accepts(pda, *head))
    by_output = pda.acceptance == "output"
    visible = replace(
        pda,
        states=tuple(names),
        initial=name[pda.initial, pda.bottom],
        transitions=dict(_transitions(pda, tops, name)),
        accepting=frozenset() if by_output else accepting,
        acceptance="output" if by_output else "final state",
    )
    return trim(visible), names


def _accepts(pda: PushdownAutomaton, state: State, top: Symbol) -> bool:
    empty, final = top == pda.bottom, state in pda.accepting
    return {"final state": final, "empty stack": empty, "both": final and empty, "output": False}[pda.acceptance]


def _transitions(
    pda: PushdownAutomaton, tops: tuple[Symbol, ...], name: dict[tuple[State, Symbol], State]
) -> Iterator[tuple[Key, Transition]]:
    for (state, symbol, (top,)), step in pda.transitions.items():
        for below in tops if top != pda.bottom else (pda.bottom,):  # nothing lies below the bottom
            new_top, operation = _move(step.operations[0], top, below, pda.bottom)
            target = name[step.target, new_top]
            yield (name[state, top], symbol, (below,)), Transition(target, (operation,), step.output)


def _move(operation: StackOp, top: Symbol, below: Symbol, bottom: Symbol) -> tuple[Symbol, StackOp]:
    """Return the new top, and what happens to the stack of what lies below it."""
    if operation.push is not None:
        return operation.push, NONE if operation.pop or top == bottom else push(top)
    if operation.pop:
        return below, NONE if below == bottom else POP
    return top, NONE
