from __future__ import annotations

from collections import Counter

import pytest

from stacklens.languages import get_language
from stacklens.languages.words import all_words
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.training.objectives import OBJECTIVES, WordSet, cut_at_dead
from stacklens.models.training.recognition_recipes import RECIPES, recipe_for

# "n" and "y" as they are printed in section 4.2
SECTION_4_2 = """
n1 n11 n1000 y1100 n1011
y10 y10 y1100 n110010 y10
n0 n100 n1111 y11110000 n1101
y10 y10 y1100 n110100
n00 n1001 n1110 y1111100000
y10 y1100 n101100 n1010
""".split()  # noqa: SIM905


def test_the_27_strings_of_section_4_2_are_the_printed_ones() -> None:
    for recipe in ("1n0n", "1n0n without hints"):
        (stage,) = RECIPES[recipe].stages
        words = stage.word_list(get_language("1n0n"), seed=0)
        assert Counter(words) == Counter(word[1:] for word in SECTION_4_2)
        legal = [word in get_language("1n0n") for word in words]
        assert (len(words), sum(legal), len(legal) - sum(legal)) == (27, 12, 15)
    assert all((word[0] == "y") == (word[1:] in get_language("1n0n")) for word in SECTION_4_2)


@pytest.mark.parametrize("seed", [0, 1, 17])
def test_the_50_strings_of_section_4_1_are_30_short_and_20_drawn_ones(seed: int) -> None:
    (stage,) = RECIPES["parentheses"].stages
    words = stage.word_list(get_language("parentheses"), seed)
    assert words[0] == ""  # one more than in the paper
    assert len(words) == len(set(words)) == 51
    assert set(words[1:31]) == {word for word in all_words(("(", ")"), 4) if word}
    assert all(5 <= len(word) <= 8 for word in words[31:])
    assert stage.word_list(get_language("parentheses"), seed) == words


def test_another_seed_draws_other_long_strings() -> None:
    (stage,) = RECIPES["parentheses"].stages
    one, other = (stage.word_list(get_language("parentheses"), seed) for seed in (0, 1))
    assert set(one[31:]) != set(other[31:])


def test_the_training_sets_of_section_4_3_have_all_short_words_and_the_longer_legal_ones() -> None:
    language = get_language("palindrome")
    first, second, *_ = (stage.word_list(language, 0) for stage in RECIPES["palindrome"].stages)
    assert len([word for word in first if 0 < len(word) <= 3]) == 39
    assert {word for word in first if len(word) > 3} == {"aacaa", "abcba", "bacab", "bbcbb"}
    assert len([word for word in second if 0 < len(word) <= 5]) == 363
    assert len([word for word in second if len(word) > 5]) == 8
    assert all(word in language for word in second if len(word) > 5)
    printed = RECIPES["palindrome as printed"].stages
    assert [stage.word_list(language, 0) for stage in printed] == [first, second]
    assert [stage.epochs for stage in printed] == [200, 200]


def test_anbn_is_trained_as_1n0n_with_other_letters() -> None:
    (stage,) = recipe_for(get_language("anbn")).stages
    words = stage.word_list(get_language("anbn"), 0)
    assert Counter(words) == Counter(word[1:].replace("1", "a").replace("0", "b") for word in SECTION_4_2)


@pytest.mark.parametrize("name", ["parentheses", "1n0n", "anbn", "palindrome", "dyck-2", "dyck-3"])
def test_every_recipe_names_an_objective_and_a_shape_that_exist(name: str) -> None:
    language = get_language(name)
    recipe = recipe_for(language)
    assert recipe.objective in OBJECTIVES
    assert "Sun et al. 1993" in recipe.source
    NNPDA(NNPDAConfig(language.alphabet, **recipe.shape), init=recipe.init)
    assert all(stage.word_list(language, 0) for stage in recipe.stages)


def test_cutting_at_the_first_dead_symbol_keeps_every_prefix_that_counts() -> None:
    language = get_language("palindrome")
    words = [*all_words(language.alphabet, 5), *language.words(7)]
    cut = cut_at_dead(language, words)
    assert len(cut) < len(words) / 3
    for word in words:
        dead = language.first_dead(word)
        kept = word if dead is None else word[:dead]
        assert any(other[: len(kept)] == kept for other in cut)
    for word in cut:
        assert language.first_dead(word) in (None, len(word))
        assert not any(other != word and other[: len(word)] == word for other in cut)


def test_a_word_set_says_of_every_prefix_whether_it_is_legal_and_live() -> None:
    words = WordSet.of(get_language("1n0n"), ["1100", "01", "", "110"])
    assert words.lengths.tolist() == [4, 2, 0, 3]
    assert words.symbols.tolist() == [[0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert words.legal.int().tolist() == [[0, 0, 0, 0, 1], [0] * 5, [0] * 5, [0] * 5]
    assert words.live.int().tolist() == [[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 1, 0]]
    assert words.members.tolist() == [True, False, False, False]


def test_all_words_come_shorter_first_and_in_the_order_of_the_alphabet() -> None:
    assert all_words(("b", "a"), 2) == ["", "b", "a", "bb", "ba", "ab", "aa"]
    assert all_words(("(5", ")5"), 1) == [(), ("(5",), (")5",)]
