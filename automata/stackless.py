"""Automata that never touch their stack, run beside one that does: then stacks of equal height are compared."""

from __future__ import annotations

from dataclasses import replace

from stacklens.automata.naming import unique
from stacklens.automata.pda import NONE, Key, PushdownAutomaton, State, Transition

__all__ = ["is_stackless", "side_by_side", "with_stack_of"]

_MOST = 20_000  # pairs of states, beyond which two automata stay as they are
_Pair = tuple[State | None, State]  # None where the other automaton's run is cut


def is_stackless(pda: PushdownAutomaton) -> bool:
    """Return whether no transition pushes, so that the stack, or every stack, stays empty."""
    return all(operation.push is None for step in pda.transitions.values() for operation in step.operations)


def with_stack_of(pda: PushdownAutomaton, other: PushdownAutomaton) -> PushdownAutomaton:
    """Return an automaton that does what the stackless ``pda`` does, and to a stack what ``other`` does to its own.

    Its states are pairs. Where the run of ``other`` is cut, the stack stays as it is. Both are real-time, over the same
    alphabet, with one stack each.

    >>> from stacklens.automata.pda import push
    >>> echo = PushdownAutomaton(("p",), ("a",), (), {("p", "a", ("⊥",)): Transition("p", (NONE,), "b")}, "p")
    >>> once = PushdownAutomaton(("q",), ("a",), ("x",), {("q", "a", ("⊥",)): Transition("q", (push("x"),))}, "q")
    >>> [str(step.operations[0]) for step in with_stack_of(echo, once).transitions.values()]
    ['push x', 'none', 'none', 'none']
    """
    start: _Pair = other.initial, pda.initial
    tops = (other.bottom, *other.stack_alphabet)
    found: dict[tuple[_Pair, str, str], tuple[_Pair, Transition]] = {}
    pairs = {start: None}
    for pair in (queue := [start]):  # the list grows while it is walked
        for letter in pda.letters:
            step = pda.transitions.get((pair[1], letter, (pda.bottom,)))
            for top in tops if step is not None else ():
                assert step is not None
                cut = pair[0] is None or letter == pda.end_marker
                theirs = None if cut or pair[0] is None else other.transitions.get((pair[0], letter, (top,)))
                target: _Pair = (None if theirs is None else theirs.target), step.target
                done = (NONE,) if theirs is None else theirs.operations
                found[pair, letter, top] = target, Transition("", done, step.output)
                if target not in pairs:
                    pairs[target] = None
                    queue.append(target)
    names = unique({pair: f"({pair[0] or 'cut'}, {pair[1]})" for pair in pairs})
    rules: dict[Key, Transition] = {
        (names[pair], letter, (top,)): replace(step, target=names[target])
        for (pair, letter, top), (target, step) in found.items()
    }
    final = frozenset(names[pair] for pair in pairs if pda.acceptance == "empty stack" or pair[1] in pda.accepting)
    by_output = pda.acceptance == "output"
    return replace(
        pda,
        states=tuple(names.values()),
        stack_alphabet=other.stack_alphabet,
        bottom=other.bottom,
        transitions=rules,
        initial=names[start],
        accepting=frozenset() if by_output else final,
        acceptance="output" if by_output else "final state",
    )


def side_by_side(a: PushdownAutomaton, b: PushdownAutomaton) -> tuple[PushdownAutomaton, PushdownAutomaton]:
    """Return both, that one which alone has no stack with the other's, unless there are too many states."""
    if is_stackless(a) is is_stackless(b) or len(a.states) * len(b.states) > _MOST:
        return a, b
    return (with_stack_of(a, b), b) if is_stackless(a) else (a, with_stack_of(b, a))
