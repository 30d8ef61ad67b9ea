"""Random pairs of automata that are often nearly equal, from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random

from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.pda import NONE, POP, Acceptance, Key, Output, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.pda import replace as replace_by

ACCEPTANCES: tuple[Acceptance, ...] = ("final state", "empty stack", "both", "output")
OUTPUTS: tuple[Output, ...] = (None, "0", "1")


def random_pair(seed: int) -> tuple[PushdownAutomaton, PushdownAutomaton, Random]:
    """Return two automata over the same letters, the second mostly the first with up to two changes."""
    rng = Random(seed)
    a = random_automaton(rng, "abc"[: rng.randint(1, 3)])
    b = random_automaton(rng, a.input_alphabet)
    if rng.random() < 0.6:
        b = a
        for _ in range(rng.randint(0, 2)):
            b = with_a_change(b, rng)
        if rng.random() < 0.2:
            b = replace(b, acceptance=rng.choice(ACCEPTANCES))
    return (a, b, rng) if rng.random() < 0.5 else (b, a, rng)


def random_automaton(rng: Random, letters: Sequence[str]) -> PushdownAutomaton:
    states, cells = [f"q{i}" for i in range(rng.randint(1, 3))], "AB"[: rng.randint(1, 2)]
    marker, outputs = rng.choice([None, None, "$"]), rng.choice([OUTPUTS[:1], OUTPUTS])
    density = rng.choice((0.4, 0.7, 0.9, 1.0))
    transitions: dict[Key, Transition] = {
        (state, letter, (top,)): Transition(
            rng.choice(states), (rng.choice(_operations(top, cells)),), rng.choice(outputs)
        )
        for state, letter, top in product(states, [*letters, *filter(None, [marker])], ("⊥", *cells))
        if rng.random() < density
    }
    return PushdownAutomaton(
        tuple(states),
        tuple(letters),
        tuple(cells),
        transitions,
        "q0",
        frozenset(state for state in states if rng.random() < 0.5),
        rng.choice(ACCEPTANCES),
        end_marker=marker,
        initial_output=rng.choice(outputs),
        accepting_outputs=frozenset(output for output in OUTPUTS if rng.random() < 0.5),
    )


def with_a_change(pda: PushdownAutomaton, rng: Random) -> PushdownAutomaton:
    """Return the automaton with another target, output or operation in one transition, or without it."""
    transitions = dict(pda.transitions)
    if transitions:
        key = rng.choice(list(transitions))
        step = transitions.pop(key)
        what = rng.choice(["target", "output", "operations", "operations", "nothing is left"])
        if what == "target":
            transitions[key] = replace(step, target=rng.choice(pda.states))
        elif what == "output":
            transitions[key] = replace(step, output=rng.choice(OUTPUTS))
        elif what == "operations":
            transitions[key] = replace(step, operations=(rng.choice(_operations(key[2][0], pda.stack_alphabet)),))
    return replace(pda, transitions=transitions)


def random_domain(rng: Random, letters: Sequence[str]) -> FiniteAutomaton:
    states = [f"d{i}" for i in range(rng.randint(1, 3))]
    transitions = {(state, letter): rng.choice(states) for state in states for letter in letters if rng.random() < 0.7}
    accepting = frozenset(state for state in states if rng.random() < 0.7)
    return FiniteAutomaton(tuple(states), tuple(letters), transitions, "d0", accepting)


def _operations(top: str, cells: Sequence[str]) -> list[StackOp]:
    if top == "⊥":
        return [NONE, *map(push, cells)]
    return [NONE, POP, POP, *map(push, cells), *map(replace_by, cells)]


def stackless_pair(seed: int) -> tuple[PushdownAutomaton, PushdownAutomaton, Random]:
    """Return an automaton that never pushes and mostly the same with a stack that nothing depends on, in any order."""
    rng = Random(seed)
    drawn = random_automaton(rng, "ab"[: rng.randint(1, 2)])
    still = {
        key: replace(step, operations=(NONE,)) for key, step in drawn.transitions.items() if key[2] == (drawn.bottom,)
    }
    a = replace(drawn, transitions=still)
    idle: dict[Key, Transition] = {
        (state, letter, (top,)): replace(step, operations=(rng.choice(_operations(top, drawn.stack_alphabet)),))
        for (state, letter, _), step in still.items()
        for top in (drawn.bottom, *drawn.stack_alphabet)
    }
    b = replace(drawn, transitions=idle)
    b = with_a_change(b, rng) if rng.random() < 0.5 else b
    return (a, b, rng) if rng.random() < 0.5 else (b, a, rng)
