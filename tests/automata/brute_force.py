"""Automata by brute force: their runs, pairs of them, what separates two, and those of textbooks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from random import Random

from hypothesis import strategies as st

from stacklens.automata.compare import Outputs
from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.formats.textbook import TextbookAutomaton, TextbookRule
from stacklens.automata.grammar import Grammar, Nonterminal
from stacklens.automata.pda import (
    NONE,
    POP,
    Acceptance,
    Configuration,
    Key,
    Output,
    PushdownAutomaton,
    StackOp,
    Transition,
    push,
)
from stacklens.automata.pda import replace as replace_by
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


# ---- Random pairs of automata that are often nearly equal, from a seed. ----
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
    still = {k: replace(step, operations=(NONE,)) for k, step in drawn.transitions.items() if k[2] == (drawn.bottom,)}
    a = replace(drawn, transitions=still)
    idle: dict[Key, Transition] = {
        (state, letter, (top,)): replace(step, operations=(rng.choice(_operations(top, drawn.stack_alphabet)),))
        for (state, letter, _), step in still.items()
        for top in (drawn.bottom, *drawn.stack_alphabet)
    }
    b = replace(drawn, transitions=idle)
    b = with_a_change(b, rng) if rng.random() < 0.5 else b
    return (a, b, rng) if rng.random() < 0.5 else (b, a, rng)


# ---- Whether words tell two automata apart, by running both on every word: what `compare` is held against. ----
Place = Configuration | None  # None: the run has been cut
Word = tuple[str, ...]


def words_that_separate(
    a: PushdownAutomaton, b: PushdownAutomaton, max_length: int, domain: FiniteAutomaton | None, outputs: Outputs
) -> set[Word]:
    """Return the shortest words up to ``max_length`` that tell the automata apart; none if none do."""
    found: set[Word] = set()
    for word in separating_words(a, b, max_length, domain, outputs):
        if found and len(word) > len(next(iter(found))):
            break
        found.add(word)
    return found


def separating_words(
    a: PushdownAutomaton, b: PushdownAutomaton, max_length: int, domain: FiniteAutomaton | None, outputs: Outputs
) -> Iterator[Word]:
    """Yield the words that tell the automata apart, short ones first; not those that begin with another such word."""
    if not any(step.output is not None for pda in (a, b) for step in pda.transitions.values()) and outputs == "all":
        outputs = "ignore"
    level: list[tuple[Word, Place, Place]] = [((), a.start, b.start)]
    for length in range(max_length + 1):
        following = []
        for word, x, y in level:
            member = domain is None or domain.accepts(word)
            if (length and _outputs_differ(x, y, outputs)) or (member and _ends_differ(a, x, b, y, outputs)):
                yield word
                continue
            for letter in a.input_alphabet if length < max_length else ():
                longer = (*word, letter)
                if domain is None or _is_prefix(domain, longer):
                    after = (longer, x and a.step(x, letter), y and b.step(y, letter))
                    if _goes_on(*after[1:], outputs):
                        following.append(after)
        level = following


def _goes_on(x: Place, y: Place, outputs: Outputs) -> bool:
    """Whether anything more is asked."""
    if outputs == "where both":
        return x is not None and y is not None
    return y is not None or (x is not None and outputs != "where b")


def _outputs_differ(x: Place, y: Place, outputs: Outputs) -> bool:
    """Whether the last outputs differ; both automata read the last letter unless their runs were cut."""
    if outputs == "where b":
        return y is not None and (x is None or (y.output is not None and x.output != y.output))
    if outputs == "all" and (x is None) != (y is None):
        return True
    if x is None or y is None or outputs == "ignore":
        return False
    return x.output != y.output and not (outputs == "where both" and None in (x.output, y.output))


def _ends_differ(a: PushdownAutomaton, x: Place, b: PushdownAutomaton, y: Place, outputs: Outputs) -> bool:
    last_x, last_y = _at_the_end(a, x), _at_the_end(b, y)
    if a.end_marker is not None and b.end_marker is not None and _outputs_differ(last_x, last_y, outputs):
        return True
    accepted = (
        (last_x is not None and a.accepts_configuration(last_x)),
        (last_y is not None and b.accepts_configuration(last_y)),
    )
    return outputs in ("all", "ignore") and accepted[0] != accepted[1]


def _at_the_end(pda: PushdownAutomaton, place: Place) -> Place:
    return place if pda.end_marker is None else place and pda.step(place, pda.end_marker)


def _is_prefix(domain: FiniteAutomaton, word: Word) -> bool:
    """Whether some word of the domain begins with ``word``: one of it is reached from where ``word`` leads."""
    state: str | None = domain.initial
    for symbol in word:
        state = domain.step(state, symbol)
    seen = {state} - {None}
    for here in (queue := list(seen)):
        new = {domain.step(here, symbol) for symbol in domain.alphabet} - seen - {None}
        seen |= new
        queue += new
    return bool(seen & domain.accepting)


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
