"""What an automaton or a grammar does, by trying: every word up to a length, every configuration up to a height."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from stacklens.automata.grammar import Grammar, Nonterminal
from stacklens.automata.pda import Configuration, Output, PushdownAutomaton
from stacklens.automata.summaries import ReachableHeads


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
