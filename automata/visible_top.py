"""Automata whose state shows the top: then an output on a transition may depend on what lies on top after the step.

A real-time automaton that pops learns what it has uncovered one step later, too late for a Mealy output. Keeping the
top in the state and on the stack only what lies below it costs a factor of the stack alphabet in states, and no time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from stacklens.automata.naming import unique
from stacklens.automata.pda import NONE, POP, Key, Output, PushdownAutomaton, StackOp, State, Symbol, Transition, push
from stacklens.automata.reachability import trim
from stacklens.errors import AutomatonError

__all__ = ["predictor_of", "with_head_outputs", "with_visible_top"]

_Names = dict[State, tuple[State, Symbol]]  # each new state: the state and the top that it stands for


def with_visible_top(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the equivalent automaton whose states are ``(state, top)`` and whose stack holds what lies below the top.

    It accepts the same words with acceptance "final state" ("output" stays) and has the same outputs; only what a run
    can reach is kept.

    Raises:
        AutomatonError: the automaton has more than one stack.

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
