"""ε-steps: steps of an automaton that read nothing.

They are deterministic: at a head (state and top) with an ε-step no letter is read, so a run takes them as soon as it
can, and it rests where there is none. A word begins and ends where the run rests. With one stack it can be decided
whether ε-steps always come to an end; an automaton where they do not is refused.

Most exact algorithms are for real-time automata. Two ways lead there: `with_letter` reads a letter in every ε-step,
which is as good for all that looks at single steps, and `without_epsilon` puts ε-steps into the steps before them,
where one operation on the stack can do what they do together. `real_time_form` is what such an algorithm asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stacklens.automata.naming import fresh
from stacklens.automata.pda import (
    EPSILON,
    Key,
    Output,
    PushdownAutomaton,
    StackOp,
    State,
    Symbol,
    Transition,
)
from stacklens.errors import AutomatonError

__all__ = [
    "check_epsilon",
    "endless_head",
    "has_real_time_form",
    "real_time_form",
    "require_real_time",
    "with_letter",
    "without_epsilon",
    "without_letter",
]

_Head = tuple[State, Symbol]


def check_epsilon(pda: PushdownAutomaton) -> None:
    """Check the ε-steps of ``pda``: one stack, nothing else at their heads, and no endless run of them.

    From every head, reached or not, the run is followed until what lies under its top is seen, or it rests. One that
    comes to its own head again before, on the same level or a higher one, does so for ever.

    Raises:
        AutomatonError: something is wrong with them.
    """
    if pda.n_stacks > 1:
        raise AutomatonError(
            f"an ε-step in an automaton with {pda.n_stacks} stacks: expected one stack, since with several it cannot "
            "be decided whether ε-steps end"
        )
    silent = {(state, tops) for state, symbol, tops in pda.transitions if symbol == EPSILON}
    for state, symbol, tops in pda.transitions:
        if symbol != EPSILON and (state, tops) in silent:
            raise AutomatonError(
                f"not deterministic: in state {state} with {tops[0]} on top there is an ε-step, and one that reads "
                f"{symbol}"
            )
    endless = endless_head(pda.transitions)
    if endless is not None:
        raise AutomatonError(f"ε-steps never end that begin in state {endless[0]} with {endless[1]} on top")


def endless_head(transitions: Mapping[Key, Transition]) -> tuple[State, Symbol] | None:
    """Return a head (state, top) of one stack that ε-steps come back to for ever, None if there is none.

    `pops[head]` is the state in which the cell on top of ``head`` is gone, None where the run rests before. Depth
    first: a head that is still being looked at is met again only by a run that goes round.
    """
    pops: dict[_Head, State | None] = {}
    for state, symbol, (top,) in transitions:
        begun: list[_Head] = []
        waiting: dict[_Head, None] = {}
        head: _Head | None = (state, top) if symbol == EPSILON else None
        while head is not None:
            if head not in pops and head in waiting:
                return head
            if head not in pops:
                waiting[head] = None
                begun.append(head)
            head = _looked_at_next(transitions, begun, waiting, pops)
    return None


def _looked_at_next(
    transitions: Mapping[Key, Transition],
    begun: list[_Head],
    waiting: dict[_Head, None],
    pops: dict[_Head, State | None],
) -> _Head | None:
    """Close the heads whose run is known; return the one that the last open one waits for, None where none is open."""
    while begun:
        state, top = begun[-1]
        step = transitions.get((state, EPSILON, (top,)))
        gone: State | None = None
        if step is not None:
            (operation,) = step.operations
            if operation.name == "pop":
                gone = step.target
            else:
                needed: _Head = step.target, operation.push or top
                if needed not in pops:
                    return needed
                gone = pops[needed]
                if operation.name == "push" and gone is not None:
                    needed = gone, top
                    if needed not in pops:
                        return needed
                    gone = pops[needed]
        pops[begun[-1]] = gone
        del waiting[begun.pop()]
    return None


def require_real_time(pda: PushdownAutomaton, what: str) -> None:
    """Check that ``pda`` has no ε-steps, as ``what`` (the beginning of a sentence) needs it.

    Raises:
        AutomatonError: it has some.
    """
    if not pda.real_time:
        raise AutomatonError(
            f"{what} a letter read in every step, and this automaton takes ε-steps; see without_epsilon"
        )


def real_time_form(pda: PushdownAutomaton, what: str) -> PushdownAutomaton:
    """Return an equivalent automaton without ε-steps, as ``what`` (the beginning of a sentence) needs it.

    Raises:
        AutomatonError: none was found (see `without_epsilon`).
    """
    try:
        return without_epsilon(pda)
    except AutomatonError as error:
        raise AutomatonError(f"{what} a letter read in every step, and ε-steps stay: {error}") from None


def has_real_time_form(pda: PushdownAutomaton) -> bool:
    """Return whether `real_time_form` finds one."""
    try:
        without_epsilon(pda)
    except AutomatonError:
        return False
    return True


def with_letter(pda: PushdownAutomaton) -> tuple[PushdownAutomaton, Symbol]:
    """Return the real-time automaton that reads a letter of its own in every ε-step, and that letter.

    The end marker, which ε-steps may follow, is a letter like others there. It runs on words of single steps.
    """
    letter = fresh("ε", set(pda.letters))
    steps = {(state, symbol or letter, tops): step for (state, symbol, tops), step in pda.transitions.items()}
    return replace(pda, input_alphabet=(*pda.letters, letter), end_marker=None, transitions=steps), letter


def without_letter(stepwise: PushdownAutomaton, letter: Symbol, like: PushdownAutomaton) -> PushdownAutomaton:
    """Return what `with_letter` was made of, after changes: ``letter`` is ε, alphabet and marker are as in ``like``."""
    steps = {
        (state, EPSILON if symbol == letter else symbol, tops): step
        for (state, symbol, tops), step in stepwise.transitions.items()
    }
    return replace(stepwise, input_alphabet=like.input_alphabet, end_marker=like.end_marker, transitions=steps)


@dataclass(frozen=True)
class _Reached:
    """Where a step and the ε-steps after it lead.

    ``kept`` is whether the old top still lies there, ``laid`` what lies above it, bottom first, ``said`` what was
    written.
    """

    state: State
    kept: bool
    laid: tuple[Symbol, ...]
    said: tuple[Output, ...] = ()


def without_epsilon(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return a real-time automaton that accepts the same words and writes the same on each, without what no run uses.

    Every step takes the ε-steps after it along. That is possible where all of them together see no deeper than the old
    top, come to one operation on the stack, and write one symbol at most. Acceptance by output is not among it.

    Raises:
        AutomatonError: there is a step for which that is not so, which is named.

    >>> from stacklens.automata.pda import POP, push
    >>> rules = {("p", "a", ("⊥",)): Transition("q", (push("x"),))}
    >>> rules["q", EPSILON, ("x",)] = Transition("p", (POP,), "b")
    >>> twice = PushdownAutomaton(("p", "q"), ("a",), ("x",), rules, "p", frozenset({"p"}))
    >>> without_epsilon(twice).transitions[("p", "a", ("⊥",))]
    Transition(target='p', operations=(StackOp(pop=False, push=None),), output='b')
    """
    if pda.real_time:
        return pda
    if pda.acceptance == "output":
        raise AutomatonError("ε-steps cannot be taken into other steps where the last output accepts")
    from stacklens.automata.reachability import trim

    pda = trim(pda)
    first = _followed(pda, _Reached(pda.initial, True, ()), pda.bottom, "the run before the first symbol")
    if first.laid or first.said:
        raise AutomatonError("the ε-steps before the first symbol push or write, and no step is there to take them in")
    steps: dict[Key, Transition] = {}
    for (state, symbol, (top,)), step in pda.transitions.items():
        if symbol != EPSILON:
            where = f"the step from {state} that reads {symbol} with {top} on top"
            steps[state, symbol, (top,)] = _together(pda, top, step, where)
    return replace(pda, initial=first.state, transitions=steps)


def _together(pda: PushdownAutomaton, top: Symbol, step: Transition, where: str) -> Transition:
    """Return ``step`` at a ``top`` with the ε-steps after it."""
    (operation,) = step.operations
    said = () if step.output is None else (step.output,)
    laid = () if operation.push is None else (operation.push,)
    end = _followed(pda, _Reached(step.target, not operation.pop, laid, said), top, where)
    if len(end.laid) > 1 or len(end.said) > 1:
        raise AutomatonError(f"{where} and the ε-steps after it push {len(end.laid)} symbols and write {len(end.said)}")
    whole = StackOp(pop=not end.kept, push=end.laid[0] if end.laid else None)
    return Transition(end.state, (whole,), end.said[0] if end.said else None)


def _followed(pda: PushdownAutomaton, here: _Reached, top: Symbol, where: str) -> _Reached:
    """Return where the ε-steps from ``here`` lead, on a stack whose old ``top`` is known and nothing below it.

    Only a symbol on which something is pushed can lie below.
    """
    covered = {tops for (_, _, tops), step in pda.transitions.items() for op in step.operations if op.name == "push"}
    silent = {state for state, symbol, tops in pda.transitions if symbol == EPSILON and tops in covered}
    while True:
        seen: Sequence[Symbol] = here.laid[-1:] or ((top,) if here.kept else ())
        if not seen:
            if here.state in silent:
                raise AutomatonError(f"{where}: the ε-steps after it look below the top")
            return here
        step = pda.transitions.get((here.state, EPSILON, (seen[0],)))
        if step is None:
            return here
        (operation,) = step.operations
        kept, laid = here.kept, here.laid
        if operation.pop:
            kept, laid = (kept, laid[:-1]) if laid else (False, ())
        if operation.push is not None:
            laid = (*laid, operation.push)
        said = here.said if step.output is None else (*here.said, step.output)
        here = _Reached(step.target, kept, laid, said)
