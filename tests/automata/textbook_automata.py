"""Random textbook pushdown automata, and whether they accept, from the definition: all runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from hypothesis import strategies as st

from stacklens.automata.formats.textbook import TextbookAutomaton, TextbookRule

STATES, LETTERS, CELLS = ("p", "q", "r"), ("a", "b"), ("Z", "A", "B")


@st.composite
def textbook_automata(draw: st.DrawFn) -> TextbookAutomaton:
    """Return a random automaton; most are deterministic where a rule reads, and push words up to three symbols."""
    rng = draw(st.randoms(use_true_random=False))
    rules = []
    for state, letter, top in product(STATES, LETTERS, CELLS):
        if rng.random() < 0.7:
            rules.append(TextbookRule(state, letter, (top,), rng.choice(STATES), _word(rng, top)))
    if rng.random() < 0.3:
        rules.append(TextbookRule(rng.choice(STATES), rng.choice(LETTERS), (), rng.choice(STATES), _word(rng, "")))
    for state, top in product(STATES, CELLS):
        if rng.random() < 0.2:
            rules.append(TextbookRule(state, "", (top,), "end", rng.choice([(), (top,)])))
    start = [TextbookRule("start", "", (), "p", rng.choice([(), ("A",), ("B", "A")]))] if rng.random() < 0.4 else []
    return TextbookAutomaton(
        states=("start", *STATES, "end"),
        initial="start" if start else "p",
        final=frozenset(state for state in (*STATES, "end") if rng.random() < 0.4),
        start="Z",
        rules=(*start, *rules),
        accepts_empty=rng.random() < 0.4,
    )


def _word(rng: object, top: str) -> tuple[str, ...]:
    choice = rng.choice  # type: ignore[attr-defined]
    pushed: tuple[str, ...] = tuple(choice(CELLS) for _ in range(choice((0, 0, 0, 1, 1, 2))))
    return (*pushed, top) if top and choice((True, True, False)) else pushed


def runs_accept(given: TextbookAutomaton, word: Sequence[str]) -> bool:
    """Return whether some run on ``word`` accepts."""
    unseen: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [(given.initial, tuple(word), (given.start,))]
    seen = set(unseen)
    while unseen:
        state, rest, stack = unseen.pop()
        if not rest and (state in given.final or (given.accepts_empty and not stack)):
            return True
        for rule in given.rules:
            reads = (rule.read,) if rule.read else ()
            if rule.source == state and rest[: len(reads)] == reads and stack[: len(rule.pop)] == rule.pop:
                after = rule.target, rest[len(reads) :], (*rule.push, *stack[len(rule.pop) :])
                if after not in seen:
                    seen.add(after)
                    unseen.append(after)
    return False
