"""Automata by brute force: their runs, what grammars derive, and automata of textbooks; `tests/attack` has pairs."""

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import strategies as st

from stacklens.automata.formats.textbook import TextbookAutomaton, TextbookRule
from stacklens.automata.grammar import Grammar, Nonterminal
from stacklens.automata.pda import Configuration, Output, PushdownAutomaton
from stacklens.automata.summaries import ReachableHeads


# ---- What an automaton or a grammar does, by trying: every word up to a length, every configuration up to a height.
def words(pda: PushdownAutomaton, max_length: int) -> Iterator[tuple[str, ...]]:
    for length in range(max_length + 1):
        yield from product(pda.input_alphabet, repeat=length)


def accepted(pda: PushdownAutomaton, max_length: int = 5) -> set[tuple[str, ...]]:
    return {word for word in words(pda, max_length) if pda.accepts(word)}


def outputs_seen(pda: PushdownAutomaton, word: tuple[str, ...]) -> list[Output]:
    """Return the outputs of a run up to the last that is one."""
    outputs = [configuration.output for configuration in pda.run(word)][1:]
    while outputs and outputs[-1] is None:
        outputs.pop()
    return outputs


def heads_seen(pda: PushdownAutomaton, max_height: int) -> ReachableHeads:
    """Return the heads of all configurations that are reached without any stack growing higher than ``max_height``."""
    seen = {(pda.start.state, pda.start.stacks)}
    unseen = list(seen)
    ended = set()
    while unseen:
        here = Configuration(*unseen.pop())
        for letter in pda.letters:
            following = pda.step(here, letter)
            if following is None or max(map(len, following.stacks)) > max_height:
                continue
            if letter == pda.end_marker:
                ended.add((following.state, following.tops(pda.bottom)))
            elif (following.state, following.stacks) not in seen:
                seen.add((following.state, following.stacks))
                unseen.append((following.state, following.stacks))
    reading = frozenset((state, Configuration(state, stacks).tops(pda.bottom)) for state, stacks in seen)
    return ReachableHeads(reading, reading if pda.end_marker is None else frozenset(ended))


def derived(grammar: Grammar, longest: int) -> set[tuple[str, ...]]:
    """Return the words up to ``longest``: whatever the rules make of what is there, until that is nothing new."""
    found: dict[Nonterminal, set[tuple[str, ...]]] = {left: set() for left, _ in grammar.rules}
    size = -1
    while size < sum(map(len, found.values())):
        size = sum(map(len, found.values()))
        for left, right in grammar.rules:
            made: set[tuple[str, ...]] = {()}
            for part in right:
                tails = found[part] if isinstance(part, Nonterminal) else {(part,)}
                made = {head + tail for head in made for tail in tails if len(head) + len(tail) <= longest}
            found[left] |= made
    return found[grammar.start]


# ---- Random textbook pushdown automata, and whether they accept, from the definition: all runs at once. ----
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
