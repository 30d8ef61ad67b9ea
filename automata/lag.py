"""Transducers that answer late: one symbol is written for each letter, a step later than it is read.

What such an automaton writes on a whole word is what another one says letter by letter, if it says in every step what
the other one said in the step before, and what is left on the end marker. So whole words can be compared step by step.
"""

from __future__ import annotations

from dataclasses import replace

from stacklens.automata.epsilon import without_epsilon
from stacklens.automata.naming import unique
from stacklens.automata.pda import NONE, Key, Output, PushdownAutomaton, State, Symbol, Transition
from stacklens.errors import AutomatonError

__all__ = ["delayed", "lag_of"]


def lag_of(pda: PushdownAutomaton) -> int | None:
    """Return by how many letters ``pda`` answers late, 0 or 1; None where it does not write a symbol a letter.

    At 0 every step on a letter writes one symbol, and nothing is written else. At 1 the first letter's writes none, all
    others one, and the step on the end marker one unless the word is empty. Every way through the graph of states is
    looked at, with what reads and writes in one step, so None may stand where stacks would rule a way out.

    >>> echo = {("q", "a", ("⊥",)): Transition("q", (NONE,), "a")}
    >>> lag_of(PushdownAutomaton(("q",), ("a",), (), echo, "q"))
    0
    >>> lag_of(delayed(PushdownAutomaton(("q",), ("a",), (), echo, "q"), "⊣"))
    1
    """
    try:
        pda = without_epsilon(pda)
    except AutomatonError:
        return None
    return next((lag for lag in (0, 1) if _answers_late(pda, lag)), None)


def _answers_late(pda: PushdownAutomaton, lag: int) -> bool:
    places = [(pda.initial, 0)]  # a state, and how many letters were read, as far as that matters
    seen = set(places)
    leaving: dict[State, list[tuple[Symbol, Transition]]] = {}
    for (state, symbol, _), step in pda.transitions.items():
        leaving.setdefault(state, []).append((symbol, step))
    if lag and pda.end_marker is None:
        return False
    for state, read in places:  # the list grows while it is walked
        for symbol, step in leaving.get(state, ()):
            ends = symbol == pda.end_marker
            expected = bool(lag and read) if ends else read >= lag
            if (step.output is not None) is not expected:
                return False
            after = step.target, min(read + 1, lag)
            if not ends and after not in seen:
                seen.add(after)
                places.append(after)
    return True


def delayed(pda: PushdownAutomaton, end_marker: Symbol) -> PushdownAutomaton:
    """Return the automaton that outputs in every step what ``pda`` outputs one step earlier, on the marker the last.

    The first letter's step outputs nothing. It reads ``end_marker`` after every word that ``pda`` reads.

    Raises:
        AutomatonError: ``pda`` has an end marker, ε-steps or several stacks.
    """
    if pda.end_marker is not None or not pda.real_time or pda.n_stacks != 1:
        raise AutomatonError("only a real-time automaton with one stack and no end marker can be delayed")
    outputs: list[Output] = list(dict.fromkeys([None, *(step.output for step in pda.transitions.values())]))
    names = unique({(state, said): f"{state} after {said}" for state in pda.states for said in outputs})
    start, tops = names[pda.initial, None], (pda.bottom, *pda.stack_alphabet)
    rules: dict[Key, Transition] = {}
    for state in pda.states:
        for said in outputs:
            for top in tops:
                rules[names[state, said], end_marker, (top,)] = Transition(names[state, said], (NONE,), said)
    for (state, symbol, read), step in pda.transitions.items():
        for said in outputs:
            target = names[step.target, step.output]
            rules[names[state, said], symbol, read] = replace(step, target=target, output=said)
    return replace(
        pda,
        states=tuple(names.values()),
        transitions=rules,
        initial=start,
        accepting=frozenset(names.values()),
        acceptance="final state",
        end_marker=end_marker,
    )
