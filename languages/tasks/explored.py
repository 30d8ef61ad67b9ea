"""Reference automata from a rule: every pair of a control state and a top that can be met is asked what it does."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import product

from stacklens.automata.pda import Key, Output, PushdownAutomaton, StackOp, Symbol, Transition

__all__ = ["BOTTOM", "Move", "explored"]

BOTTOM = "⊥"
Move = tuple[Hashable, StackOp, Output]  # the next control state, what is done to the stack, what is said


def explored(
    alphabet: tuple[Symbol, ...],
    initial: Hashable,
    rule: Callable[[Hashable, Symbol, Symbol], Move | None],
    whole: Callable[[Hashable], bool],
) -> PushdownAutomaton:
    """Return the automaton, acceptance "final state", whose moves are those of ``rule``.

    Args:
        alphabet: the symbols read.
        initial: the control state that it begins in.
        rule: from control state, symbol and top to the move, None for none.
        whole: whether a word that ends in this control state is one of the task's.

    >>> from stacklens.automata.pda import POP, push
    >>> rule = lambda q, x, top: (q, push("A") if x == "a" else POP, None) if (x, top) != ("b", BOTTOM) else None
    >>> pda = explored(("a", "b"), "q", rule, lambda q: True)
    >>> len(pda.transitions), pda.accepts("aab"), pda.accepts("abb")
    (3, True, False)
    """
    controls: dict[Hashable, str] = {initial: _called(initial)}
    tops: dict[Symbol, None] = {BOTTOM: None}
    steps: dict[Key, Transition] = {}
    asked: set[tuple[Hashable, Symbol]] = set()
    while new := [pair for pair in product(controls, tops) if pair not in asked]:
        for control, top in new:
            asked.add((control, top))
            for symbol in alphabet:
                if (move := rule(control, symbol, top)) is None:
                    continue
                target, operation, output = move
                controls.setdefault(target, _called(target))
                if operation.push is not None:
                    tops.setdefault(operation.push)
                steps[controls[control], symbol, (top,)] = Transition(controls[target], (operation,), output)
    accepting = frozenset(name for control, name in controls.items() if whole(control))
    cells = tuple(top for top in tops if top != BOTTOM)
    return PushdownAutomaton(
        tuple(controls.values()), alphabet, cells, steps, controls[initial], accepting, "final state", bottom=BOTTOM
    )


def _called(control: Hashable) -> str:
    """Return a control state's name: its parts, where it is a tuple."""
    return " ".join(map(str, control)) if isinstance(control, tuple) else str(control)
