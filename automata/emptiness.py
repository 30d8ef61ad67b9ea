"""Whether a one-stack automaton accepts anything, and the shortest word that it accepts: exact, by summaries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stacklens.automata.intersection import is_accepting
from stacklens.automata.pda import PushdownAutomaton, State, Symbol, Transition
from stacklens.automata.summaries import Event, Runs, Step, explore
from stacklens.errors import AutomatonError

__all__ = ["is_empty", "shortest_member"]

_ACCEPTED = "accepted"
_EVERYTHING = 1 << 62


class _Control(NamedTuple):
    state: State
    good: bool  # the last output accepts
    ended: bool  # the end marker was read


def is_empty(pda: PushdownAutomaton) -> bool:
    """Return whether no word is accepted. Time is polynomial in the automaton; for errors see `shortest_member`.

    >>> from stacklens.automata.pda import NONE
    >>> is_empty(PushdownAutomaton(("p", "q"), ("a",), (), {("q", "a", ("⊥",)): Transition("p", (NONE,))}, "p", {"q"}))
    True
    """
    return _ACCEPTED not in _runs(pda).lengths


def shortest_member(pda: PushdownAutomaton) -> tuple[Symbol, ...] | None:
    """Return a shortest word that is accepted, the same every time, or None where there is none.

    With `intersection.intersect` it answers whether there is an accepted word with some regular property, and with
    which one.

    Raises:
        AutomatonError: the automaton has more than one stack (then the question is undecidable), or the word is too
            long to be written out: n stack symbols suffice to count to 2 to the n.

    >>> from stacklens.automata.pda import POP, push
    >>> rules = {("p", "a", (top,)): Transition("p", (push("A"),)) for top in ("⊥", "A")}
    >>> rules |= {("p", "c", ("A",)): Transition("q", (POP,)), ("q", "b", ("A",)): Transition("q", (POP,))}
    >>> shortest_member(PushdownAutomaton(("p", "q"), ("a", "b", "c"), ("A",), rules, "p", {"q"}))
    ('a', 'c')
    """
    runs = _runs(pda)
    return runs.word(_ACCEPTED) if _ACCEPTED in runs.lengths else None


def _runs(pda: PushdownAutomaton) -> Runs[_Control, Symbol, str]:
    if pda.n_stacks != 1:
        raise AutomatonError(f"emptiness can be decided for one stack, this automaton has {pda.n_stacks}")
    steps: dict[tuple[State, Symbol], list[tuple[Symbol, Transition]]] = {}
    for (state, symbol, (top,)), step in pda.transitions.items():
        steps.setdefault((state, top), []).append((symbol, step))

    def moves(control: _Control, top: Symbol | None) -> Iterator[Step[_Control, Symbol] | Event[str]]:
        if control.ended == (pda.end_marker is not None) and _accepts(pda, control, top is None):
            yield Event(None, _ACCEPTED)
        for symbol, step in () if control.ended else steps.get((control.state, top or pda.bottom), ()):
            (operation,), ends = step.operations, symbol == pda.end_marker
            kept = () if operation.pop or top is None else (top,)
            cells = kept if operation.push is None else (*kept, operation.push)
            target = _Control(step.target, is_accepting(pda, step.output), ends)
            yield Step(None if ends else symbol, target, cells)

    return explore(_Control(pda.initial, is_accepting(pda, pda.initial_output), False), moves, _EVERYTHING)


def _accepts(pda: PushdownAutomaton, control: _Control, empty: bool) -> bool:
    if pda.acceptance == "output":
        return control.good
    final = control.state in pda.accepting
    return {"final state": final, "empty stack": empty, "both": final and empty}[pda.acceptance]
