"""Samplers: what they draw is what was asked for, evenly, deeply and again."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklens.errors import StacklensError
from stacklens.languages.blocks import CountedPairs
from stacklens.languages.dyck import BalancedParentheses, Dyck
from stacklens.languages.language import Language
from stacklens.languages.palindrome import MarkedPalindromes

LANGUAGES: list[Language] = [
    BalancedParentheses(),
    Dyck(2),
    Dyck(6),
    CountedPairs("1", "0"),
    CountedPairs("a", "b"),
    MarkedPalindromes(),
    MarkedPalindromes(("do", "re"), "|"),
    MarkedPalindromes("abc", "#", "xyz"),
]
each_language = pytest.mark.parametrize("language", LANGUAGES, ids=repr)


@each_language
@pytest.mark.parametrize("length", [(2, 12), (50, 160), (7, 8), (30, 31)])
def test_members_are_members_of_every_possible_length(language: Language, length: tuple[int, int]) -> None:
    words = language.sample(400, length)
    possible = {n for n in range(length[0], length[1] + 1) if next(language.words_of_length(n), None) is not None}
    assert len(words) == 400
    assert all(word in language for word in words)
    assert {len(word) for word in words} <= possible
    assert len({len(word) for word in words}) > 0.9 * len(possible)


@each_language
@pytest.mark.parametrize("length", [(2, 12), (50, 160), (1, 1), (2, 2), (7, 7), (8, 8)])
def test_near_misses_are_no_members(language: Language, length: tuple[int, int]) -> None:
    words = language.sample(100, length, positive=False)
    assert len(words) == 100
    for word in words:
        assert word not in language
        assert not language.automaton.accepts(word)
        assert length[0] <= len(word) <= length[1]


@each_language
@pytest.mark.parametrize("depth", [1, 2, 17, 1000])
def test_deep_words_have_exactly_that_depth(language: Language, depth: int) -> None:
    for word in language.deep(2, depth, seed=depth):
        assert word in language
        assert max(len(moment.stacks[0]) for moment in language.automaton.run(word)) == depth


def test_bracket_kinds_are_uniform_and_independent() -> None:
    counts = Counter(Dyck(2).sample(4000, (4, 4)))
    assert set(counts) == set(Dyck(2).words_of_length(4))
    assert len(counts) == 8
    assert all(400 < count < 600 for count in counts.values())  # mean 500, standard deviation 21


@settings(max_examples=50)
@given(st.sampled_from(LANGUAGES), st.integers(0, 40), st.integers(0, 10), st.integers(0, 2**32))
def test_near_miss_of_any_member(language: Language, length: int, slack: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    [member] = language.sample(1, (length, length + slack + 2), seed=seed)
    missed = language.near_miss(member, rng)
    assert missed not in language
    assert len(missed) <= len(member) + 3
    assert set(missed) <= set(language.alphabet)


@pytest.mark.parametrize(
    ("language", "length", "positive", "message"),
    [
        (Dyck(2), (7, 7), True, "dyck-2 has no members of lengths 7 to 7: widen the range"),
        (CountedPairs("1", "0"), (0, 1), True, "1n0n has no members of lengths 0 to 1"),
        (MarkedPalindromes(), (4, 4), True, "palindrome has no members of lengths 4 to 4"),
        (Dyck(1), (0, 0), False, "dyck-1: found no near-miss of lengths 0 to 0"),
        (Dyck(1), (5, 4), True, "cannot sample 1 words of lengths 5 to 4"),
        (Dyck(1), (-1, 4), None, "cannot sample 1 words of lengths -1 to 4"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    language: Language, length: tuple[int, int], positive: bool | None, message: str
) -> None:
    with pytest.raises(StacklensError, match=message):
        language.sample(1, length, positive)
