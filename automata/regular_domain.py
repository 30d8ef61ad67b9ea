"""A finite automaton of the words that count, from a pushdown automaton of just these words."""

from __future__ import annotations

from collections import defaultdict

from stacklens.automata.intersection import FiniteAutomaton
from stacklens.automata.pda import PushdownAutomaton, StackOp, State, Symbol, Tops
from stacklens.automata.reachability import Head, reachable_heads
from stacklens.errors import StacklensError

__all__ = ["regular_domain"]

_MOST = 1_000  # states


def regular_domain(pda: PushdownAutomaton) -> FiniteAutomaton:
    """Return a finite automaton of all words on which ``pda`` is not cut, and of some others.

    It forgets what lies under the tops: after a pop any symbol may be there that is with that state in some run. So it
    follows at least the words that ``pda`` follows, which is all that a certificate for these words needs.

    Raises:
        StacklensError: it would have more than 1,000 states.

    >>> from stacklens.automata.pda import POP, Transition, push
    >>> rules = {("a", "a", (top,)): Transition("a", (push("A"),)) for top in ("⊥", "A")}
    >>> rules |= {(state, "b", ("A",)): Transition("b", (POP,)) for state in ("a", "b")}
    >>> words = regular_domain(PushdownAutomaton(("a", "b"), ("a", "b"), ("A",), rules, "a"))
    >>> words.accepts("aabb"), words.accepts("abb"), words.accepts("aba")
    (True, True, False)
    """
    following = _following(pda)
    start = frozenset({(pda.initial, (pda.bottom,) * pda.n_stacks)})
    names = {start: "0"}
    steps: dict[tuple[State, Symbol], State] = {}
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
                fitting = (after for after in tops_with[step.target] if _fits(tops, step.operations, after))
                following[(state, tops), letter] = [(step.target, after) for after in fitting]
    return following


def _fits(tops: Tops, operations: tuple[StackOp, ...], after: Tops) -> bool:
    """Return whether ``operations`` may lead from some tops to others."""
    for top, operation, new in zip(tops, operations, after, strict=True):
        known = operation.push if operation.push is not None else None if operation.pop else top
        if known is not None and known != new:
            return False
    return True
