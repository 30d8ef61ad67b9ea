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
def test_near_misses_are_varied(language: Language) -> None:
    words = language.sample(300, (20, 40), positive=False)
    assert len(set(words)) > 150
    deaths = {language.first_dead(word) for word in words}
    assert None in deaths  # live, but not yet members
    assert len(deaths) > 10


@each_language
def test_random_words_use_every_symbol_and_length(language: Language) -> None:
    words = language.sample(500, (0, 9), positive=None)
    assert {len(word) for word in words} == set(range(10))
    counts = Counter(symbol for word in words for symbol in word)
    assert set(counts) == set(language.alphabet)
    assert max(counts.values()) < 2 * min(counts.values())


@each_language
def test_words_have_the_type_of_the_language(language: Language) -> None:
    expected = str if max(map(len, language.alphabet)) == 1 else tuple
    words = [word for positive in (True, False, None) for word in language.sample(20, (2, 9), positive)]
    assert {type(word) for word in [*words, *language.deep(2, 3), *language.words(3)]} == {expected}


@each_language
@pytest.mark.parametrize("positive", [True, False, None])
def test_a_seed_fixes_the_words(language: Language, positive: bool | None) -> None:
    words = language.sample(50, (10, 60), positive, seed=7)
    assert words == language.sample(50, (10, 60), positive, seed=7)
    assert words != language.sample(50, (10, 60), positive, seed=8)


@each_language
@pytest.mark.parametrize("depth", [1, 2, 17, 1000])
def test_deep_words_have_exactly_that_depth(language: Language, depth: int) -> None:
    for word in language.deep(2, depth, seed=depth):
        assert word in language
        assert max(len(moment.stacks[0]) for moment in language.automaton.run(word)) == depth


def test_deep_words_follow_their_seed_and_waver() -> None:
    assert Dyck(2).deep(3, 20, seed=1) == Dyck(2).deep(3, 20, seed=1)
    assert Dyck(2).deep(3, 20, seed=1) != Dyck(2).deep(3, 20, seed=2)
    assert all(len(word) > 40 for word in BalancedParentheses().deep(20, 20))
    assert Dyck(3).deep(2, 0) == ["", ""]
    assert MarkedPalindromes().deep(1, 0) == ["c"]


def test_dyck_words_are_uniform() -> None:
    counts = Counter(Dyck(1).sample(2000, (8, 8)))
    assert set(counts) == set(Dyck(1).words_of_length(8))
    assert len(counts) == 14
    assert all(90 < count < 200 for count in counts.values())  # mean 143, standard deviation 11.5


def test_bracket_kinds_are_uniform_and_independent() -> None:
    counts = Counter(Dyck(2).sample(4000, (4, 4)))
    assert set(counts) == set(Dyck(2).words_of_length(4))
    assert len(counts) == 8
    assert all(400 < count < 600 for count in counts.values())  # mean 500, standard deviation 21


def test_dyck_words_are_deep_and_shallow() -> None:
    depths = {
        max(len(moment.stacks[0]) for moment in Dyck(2).automaton.run(word)) for word in Dyck(2).sample(200, (100, 100))
    }
    assert min(depths) < 10
    assert max(depths) > 15


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


def test_the_empty_word_can_be_a_near_miss_or_a_member() -> None:
    assert CountedPairs("a", "b").sample(3, (0, 0), positive=False) == ["", "", ""]
    assert Dyck(2).sample(2, (0, 1)) == ["", ""]
    assert Dyck(2).sample(0) == []


@pytest.mark.parametrize(
    ("language", "depth"),
    [(CountedPairs("1", "0"), 0), (Dyck(1), -1), (MarkedPalindromes(), -2), (MarkedPalindromes(empty=False), 0)],
)
def test_no_members_of_a_depth(language: Language, depth: int) -> None:
    with pytest.raises(StacklensError, match=f"{language.name} has no members of depth {depth}"):
        language.deep(1, depth)
