from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import given, settings
from tests.automata.brute_force import words
from tests.automata.strategies import dyck, palindromes, pushdown_automata

from stacklens.automata.height_coverage import rare_walks, stack_height_words
from stacklens.automata.pda import Key, PushdownAutomaton
from stacklens.automata.transition_coverage import transition_pair_words

BRACKETS = dyck([("(", ")"), ("[", "]")])


def keys(pda: PushdownAutomaton, word: Sequence[str]) -> list[Key]:
    """Return the transitions that a run takes on a word, an input without one, if any, as the last."""
    run = list(pda.run(word))
    return [(here.state, letter, here.tops(pda.bottom)) for here, letter in zip(run, word, strict=False)]


def pairs(pda: PushdownAutomaton, found: Iterable[Sequence[str]]) -> set[tuple[Key | None, Key]]:
    taken = (keys(pda, word) for word in found)
    return {(before, key) for run in taken for before, key in zip([None, *run], run, strict=False)}


@settings(max_examples=60)
@given(pushdown_automata())
def test_every_pair_that_short_words_show_is_covered(pda: PushdownAutomaton) -> None:
    shown = {pair for pair in pairs(pda, words(pda, 5)) if all(key is None or key in pda.transitions for key in pair)}
    assert shown <= pairs(pda, transition_pair_words(pda))


@settings(max_examples=40)
@given(pushdown_automata())
def test_every_input_of_every_head_is_tried_even_if_it_is_rejected(pda: PushdownAutomaton) -> None:
    shown = {key for _, key in pairs(pda, words(pda, 5))}
    assert shown <= {key for _, key in pairs(pda, transition_pair_words(pda))}


def test_words_are_whole_words_where_acceptance_matters() -> None:
    assert all(BRACKETS.accepts(word) for word in transition_pair_words(BRACKETS, rejected=False))
    assert all(palindromes().accepts(word) for word in transition_pair_words(palindromes(), rejected=False))
    assert any(not BRACKETS.accepts(word) for word in transition_pair_words(BRACKETS))


def test_every_input_is_tried_at_every_height() -> None:
    for pda, tops in ((BRACKETS, "(["), (palindromes(), "AB")):
        seen = set()
        for word in stack_height_words(pda, height=30, climbs=8, seed=1):
            run = list(pda.run(word))
            seen |= {(len(here.stacks[0]), *key) for here, key in zip(run, keys(pda, word), strict=False)}
        for height in range(1, 31):
            for state in pda.states:
                for letter in pda.input_alphabet:
                    assert any((height, state, letter, (top,)) in seen for top in tops), (height, state, letter)


def test_walks_are_ended_and_take_what_is_rare() -> None:
    walks = rare_walks(palindromes(), 50, (10, 40), 20, seed=3)
    assert all(palindromes().accepts(walk) for walk in walks)
    assert max(map(len, walks)) >= 20
    taken = {key for walk in walks for key in keys(palindromes(), walk)}
    assert taken == set(palindromes().transitions)
