"""Deterministic finite automata: the domains of proofs, and what pushdown automata are intersected with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any

from ..core.errors import AutomatonError, StacklensError, unique
from .pda import State, Symbol, Word


@dataclass(frozen=True)
class FiniteAutomaton:
    """A deterministic finite automaton; a missing transition rejects for good. Raises AutomatonError: on anything
    inconsistent, naming the offending part.

    >>> ordered = FiniteAutomaton(("A", "B"), ("a", "b"), {
    ...     ("A", "a"): "A", ("A", "b"): "B", ("B", "b"): "B"}, "A", frozenset({"A", "B"}))
    >>> ordered.accepts("aabb"), ordered.accepts("aba")
    (True, False)
    """

    states: tuple[State, ...]  # names of the states, without repetition
    alphabet: tuple[Symbol, ...]  # the symbols of words; any other symbol rejects
    transitions: Mapping[tuple[State, Symbol], State]  # ``(state, symbol) -> state``
    initial: State  # the state before the first symbol
    accepting: frozenset[State]  # the accepting states

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(self, "alphabet", tuple(self.alphabet))
        object.__setattr__(self, "accepting", frozenset(self.accepting))
        object.__setattr__(self, "transitions", MappingProxyType(dict(self.transitions)))
        if len(set(self.states)) < len(self.states) or len(set(self.alphabet)) < len(self.alphabet):
            raise AutomatonError(f"states {self.states} or alphabet {self.alphabet} has a repetition")
        used = {self.initial, *self.accepting, *(state for state, _ in self.transitions), *self.transitions.values()}
        if unknown := sorted(used - set(self.states)):
            raise AutomatonError(f"{', '.join(map(repr, unknown))} not among the states {self.states}")
        if unknown := sorted({symbol for _, symbol in self.transitions} - set(self.alphabet)):
            raise AutomatonError(f"{', '.join(map(repr, unknown))} not in the alphabet {self.alphabet}")

    def __hash__(self) -> int:
        return hash((self.states, self.alphabet, frozenset(self.transitions.items()), self.initial, self.accepting))

    def __reduce__(self) -> tuple[Any, ...]:  # a mapping proxy cannot be pickled, a dict can
        return FiniteAutomaton, (self.states, self.alphabet, dict(self.transitions), self.initial, self.accepting)

    def step(self, state: State | None, symbol: Symbol) -> State | None:
        """Return the next state, or None where there is none."""
        return None if state is None else self.transitions.get((state, symbol))

    def accepts(self, word: Word) -> bool:
        """Return whether ``word`` is accepted."""
        state: State | None = self.initial
        for symbol in word:
            state = self.step(state, symbol)
        return state in self.accepting

    def trimmed(self) -> FiniteAutomaton:
        """Return the automaton without the transitions after which nothing is accepted any more."""
        live = set(self.accepting)
        while grown := {state for (state, _), target in self.transitions.items() if target in live} - live:
            live |= grown
        kept = {key: target for key, target in self.transitions.items() if target in live}
        return replace(self, transitions=kept)

    def complement(self, alphabet: tuple[Symbol, ...] = ()) -> FiniteAutomaton:
        """Return the automaton that accepts the other words over its alphabet and the symbols of ``alphabet``."""
        letters, cut = tuple(dict.fromkeys((*self.alphabet, *alphabet))), unique({"cut": "cut"}, self.states)["cut"]
        states = (*self.states, cut)
        steps = {**dict.fromkeys(product(states, letters), cut), **self.transitions}
        return FiniteAutomaton(states, letters, steps, self.initial, frozenset(states) - self.accepting)


def finite_form(other: Any) -> FiniteAutomaton:
    """Return ``other`` as a finite automaton: one of ours, or a DFA of automata-lib."""
    if isinstance(other, FiniteAutomaton):
        return other
    if not all(hasattr(other, name) for name in ("transitions", "final_states", "initial_state", "states")):
        raise StacklensError(
            f"expected a finite automaton (stacklens.automata.finite.FiniteAutomaton, or a DFA of automata-lib), found "
            f"{type(other).__name__}; with another pushdown automaton the result need not be one"
        )
    steps = {(str(q), x): str(to) for q, row in other.transitions.items() for x, to in row.items()}
    states, accepting = tuple(sorted(map(str, other.states))), frozenset(map(str, other.final_states))
    return FiniteAutomaton(states, tuple(sorted(other.input_symbols)), steps, str(other.initial_state), accepting)
