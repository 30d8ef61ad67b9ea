"""Languages of blocks: not every length has a member, and not every one an automaton."""

import pytest

from stacklens.errors import StacklensError
from stacklens.languages.blocks import EqualBlocks, SumBlocks, TwiceAsMany
from stacklens.languages.language import Language

each_language = pytest.mark.parametrize(
    "language", [EqualBlocks(3), EqualBlocks(4), TwiceAsMany(), SumBlocks()], ids=repr
)


@each_language
def test_members_and_near_misses(language: Language) -> None:
    members = language.sample(200, (3, 40), seed=1)
    assert all(word in language and 3 <= len(word) <= 40 for word in members)
    assert {len(word) for word in members} == {n for n in range(3, 41) if next(language.words_of_length(n), None)}
    for length in ((2, 2), (7, 8), (20, 40)):
        near = language.sample(100, length, positive=False, seed=1)
        assert not any(word in language for word in near)
        assert len({language.first_dead(word) for word in near}) > 1


@each_language
def test_deep_words_count_far(language: Language) -> None:
    for depth in (2, 9, 300):
        [word] = language.deep(1, depth)
        assert word in language
        height = sum(symbol in word[:1] or (language.name == "anbmcnm" and symbol == "b") for symbol in word)
        assert height == depth
    with pytest.raises(StacklensError, match=f"{language.name} has no members of depth 0"):
        language.deep(1, 0)
