"""Deterministic finite automata, and what a pushdown automaton has in common with one.

A finite automaton can be intersected with a pushdown automaton, or be read out of one that never needs its stack.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..core.errors import AutomatonError, StacklensError
from ..core.validation import unique
from .pda import EPSILON, NONE, Key, Output, PushdownAutomaton, State, Symbol, Tops, Transition, Word
from .rewriting import real_time_form, with_visible_top
from .summaries import Head, reachable_heads

if TYPE_CHECKING:
    from automata.fa.dfa import DFA

_MOST = 1_000  # states


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


def intersect(pda: PushdownAutomaton, dfa: FiniteAutomaton | DFA) -> PushdownAutomaton:
    """Return the pushdown automaton that accepts what both accept; it has the outputs and the stacks of ``pda``.

    States are pairs. Acceptance "empty stack" becomes "both", and "output" becomes "final state", the states then
    saying whether the last output accepts. Only pairs are kept that the graph of states leads to; a symbol that ``dfa``
    does not know rejects. Raises AutomatonError: two pairs of states have the same name.

    >>> from stacklens.automata.compare import shortest_member
    >>> from stacklens.languages.classic import Dyck
    >>> steps = {("0", "("): "1", ("1", "("): "2", ("2", "("): "2", ("2", ")"): "2"}  # begins with two that open
    >>> deep = FiniteAutomaton(("0", "1", "2"), ("(", ")"), steps, "0", frozenset("2"))
    >>> shortest_member(intersect(Dyck(1).automaton, deep))
    ('(', '(', ')', ')')
    """
    dfa = finite_form(dfa)
    start = pda.initial, dfa.initial, is_accepting(pda, pda.initial_output)
    names = {start: _pair_name(pda, *start)}
    by_state: dict[State, list[tuple[Key, Transition]]] = {state: [] for state in pda.states}
    for key, step in pda.transitions.items():
        by_state[key[0]].append((key, step))
    transitions: dict[Key, Transition] = {}
    for point in (queue := [start]):  # the list grows while it is walked
        state, place, _ = point
        for (_, symbol, tops), step in by_state[state]:
            following = place if symbol in (EPSILON, pda.end_marker) else dfa.step(place, symbol)
            if following is None:
                continue
            target = step.target, following, is_accepting(pda, step.output)
            if target not in names:
                names[target] = _pair_name(pda, *target)
                queue.append(target)
            transitions[names[point], symbol, tops] = replace(step, target=names[target])
    if len(set(names.values())) < len(names):  # names with ", " in them: (a, b), c and a, (b, c)
        raise AutomatonError("two pairs of states have the same name: name the states of one automaton without commas")
    by_output, by_stack = pda.acceptance == "output", pda.acceptance == "empty stack"
    return replace(
        pda,
        states=tuple(names.values()),
        initial=names[start],
        transitions=transitions,
        accepting=frozenset(
            name
            for (state, place, good), name in names.items()
            if place in dfa.accepting and (good if by_output else by_stack or state in pda.accepting)
        ),
        acceptance="final state" if by_output else "both" if by_stack else pda.acceptance,
    )


def accepting_by_state(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return ``pda``, with states that know whether the last output accepts if that is how it accepts. Raises
    AutomatonError: two of these states would have the same name.
    """
    if pda.acceptance != "output":
        return pda
    everything = {("", symbol): "" for symbol in pda.input_alphabet}
    return intersect(pda, FiniteAutomaton(("",), pda.input_alphabet, everything, "", frozenset({""})))


def complement(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton that accepts the words over the input alphabet that ``pda`` rejects; it has no outputs.

    It has a state in which cut runs end. For the verdict to be in the state alone, states show the top where an empty
    stack decides, and the last output where outputs do. Raises AutomatonError: an empty stack decides and there are
    several, ε-steps cannot be put into other steps, or two states would have the same name.

    >>> from stacklens.languages.classic import Dyck
    >>> other = Dyck(1).automaton.complement()
    >>> ["".join(word) for word in other.words(2)], other.complement().count(6)
    (['(', ')', '((', ')(', '))'], [1, 0, 1, 0, 2, 0, 5])
    """
    pda = accepting_by_state(pda)
    whole = real_time_form(pda, "complement needs") if pda.acceptance == "final state" else with_visible_top(pda)
    # every head that is missing leads to the state that accepts for good
    cut = unique({"cut": "cut"}, whole.states)["cut"]
    stay = Transition(cut, (NONE,) * whole.n_stacks)
    tops = product((whole.bottom, *whole.stack_alphabet), repeat=whole.n_stacks)
    heads = product((*whole.states, cut), whole.letters, tops)
    steps = {key: replace(step, output=None) for key, step in whole.transitions.items()}
    return replace(
        whole,
        states=(*whole.states, cut),
        transitions={**dict.fromkeys(heads, stay), **steps},
        accepting=frozenset({cut, *whole.states} - whole.accepting),
        initial_output=None,
        accepting_outputs=frozenset(),
    )


def unite(pda: PushdownAutomaton, dfa: FiniteAutomaton | DFA) -> PushdownAutomaton:
    """Return the automaton that accepts what ``pda`` or ``dfa`` accepts (De Morgan); errors as of `complement`."""
    return complement(intersect(complement(pda), finite_form(dfa).complement(pda.input_alphabet)))


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


def _pair_name(pda: PushdownAutomaton, state: State, place: State, good: bool) -> State:
    verdict = "" if pda.acceptance != "output" else ", accepted" if good else ", rejected"
    return f"({state}, {place}{verdict})"


def is_accepting(pda: PushdownAutomaton, output: Output) -> bool:
    """Return whether ``pda`` accepts by outputs, and by this one."""
    return pda.acceptance == "output" and output in pda.accepting_outputs


def regular_domain(pda: PushdownAutomaton) -> FiniteAutomaton:
    """Return a finite automaton of all words on which ``pda`` is not cut, and of some others.

    It forgets what lies under the tops: after a pop any symbol may be there that is with that state in some run. So it
    follows at least the words that ``pda`` follows, which is all that a certificate for these words needs. Raises
    StacklensError: it would have more than 1,000 states, or ``pda`` has ε-steps that cannot be put into others.

    >>> from stacklens.languages.classic import counted_pairs
    >>> words = regular_domain(counted_pairs("a", "b").automaton)
    >>> words.accepts("aabb"), words.accepts("abb"), words.accepts("aba")
    (True, True, False)
    """
    pda = real_time_form(pda, "a regular domain needs")
    following = _following(pda)
    start = frozenset({(pda.initial, (pda.bottom,) * pda.n_stacks)})
    names = {start: "0"}
    steps: dict[tuple[State, Symbol], State] = {}
    # subsets of heads, as an automaton without a stack is made deterministic
    for heads in (queue := [start]):  # the list grows while it is walked
        for letter in pda.input_alphabet:
            after = frozenset(head for before in heads for head in following[before, letter])
            if after and after not in names:
                names[after] = str(len(names))
                queue.append(after)
            if after:
                steps[names[heads], letter] = names[after]
        if len(names) > _MOST:
            raise StacklensError(f"the words that count need more than {_MOST:,} states without a stack; name a domain")
    states = tuple(names.values())
    return FiniteAutomaton(states, pda.input_alphabet, steps, "0", frozenset(states))


def _following(pda: PushdownAutomaton) -> dict[tuple[Head, Symbol], list[Head]]:
    """Return which heads a letter may lead to from each head."""
    tops_with: dict[State, list[Tops]] = defaultdict(list)
    reached = sorted(reachable_heads(pda))
    for state, tops in reached:
        tops_with[state].append(tops)
    following: dict[tuple[Head, Symbol], list[Head]] = defaultdict(list)
    for state, tops in reached:
        for letter in pda.input_alphabet:
            step = pda.transitions.get((state, letter, tops))
            if step is not None:
                # what the step leaves on top is known but where it pops
                known = [op.push or (None if op.pop else top) for top, op in zip(tops, step.operations, strict=True)]
                following[(state, tops), letter] = [
                    (step.target, after)
                    for after in tops_with[step.target]
                    if all(top in (None, new) for top, new in zip(known, after, strict=True))
                ]
    return following
