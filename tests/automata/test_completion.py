from __future__ import annotations

import dataclasses
from collections import deque

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.automata.strategies import palindromes, pushdown_automata, words_of

from stacklens.automata.completion import Completions, StackNode, accepting_by_state
from stacklens.automata.pda import Configuration, PushdownAutomaton


def without_end(pda: PushdownAutomaton) -> PushdownAutomaton:
    kept = {key: step for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    return dataclasses.replace(pda, end_marker=None, transitions=kept)


def endings(pda: PushdownAutomaton, start: Configuration, length: int) -> dict[bool, int]:
    """Return the lengths of the shortest words from ``start`` to acceptance, on an empty stack or not, by search."""
    found: dict[bool, int] = {}
    queue = deque([(start, 0)])
    seen = {(start.state, start.stacks)}
    while queue:
        here, steps = queue.popleft()
        if pda.accepts_configuration(here):
            found.setdefault(not any(here.stacks), steps)
        for letter in pda.input_alphabet if steps < length else ():
            after = pda.step(here, letter)
            if after is not None and (after.state, after.stacks) not in seen:
                seen.add((after.state, after.stacks))
                queue.append((after, steps + 1))
    return found


def pile(ways: Completions, configuration: Configuration) -> StackNode:
    here = ways.empty
    for symbol in configuration.stacks[0]:
        here = ways.pile(symbol, here)
    return here


@settings(max_examples=60)
@given(st.data())
def test_a_completion_is_the_shortest_that_a_search_finds(data: st.DataObject) -> None:
    pda = accepting_by_state(without_end(data.draw(pushdown_automata(max_stacks=1))))
    ways = Completions(pda)
    assume(endings(pda, pda.start, 6))
    for word in data.draw(words_of(pda, 6)):
        *_, last = pda.run(word)
        ending, found = ways.word(last.state, pile(ways, last)), endings(pda, last, 5)
        assert ending is not None or not found
        if ending is not None:
            *_, end = pda.run([*word[: len(list(pda.run(word))) - 1], *ending])
            assert pda.accepts_configuration(end)
            empty = not any(end.stacks)
            assert len(ending) == found.get(empty, len(ending))
            assert empty or True not in found


def test_where_nothing_is_accepted_every_beginning_is_a_word_and_the_stack_is_emptied_if_possible() -> None:
    pda = dataclasses.replace(palindromes(), accepting=frozenset())
    ways = Completions(pda)
    deep = ways.pile("B", ways.pile("A", ways.empty))
    assert ways.word("v", deep) == ("b", "a")
    assert ways.word("u", ways.empty) == ()
