from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from stacklens.automata.pda import Word
from stacklens.extract.agreement import search_words, shorten
from stacklens.extract.config import Effort
from stacklens.extract.specification import LanguageSpecification, TaskSpecification
from stacklens.languages.catalogue import get_language, get_task

QUICK = Effort(height=15, climbs=2, walks=10)


def depth(word: Word) -> int:
    heights = np.cumsum([1 if letter in "([" else -1 for letter in word])
    return int(heights.max(initial=0))


@given(st.text("abc", max_size=40), st.integers(0, 5))
def test_what_is_left_still_differs_and_no_symbol_of_it_can_go(word: str, least: int) -> None:
    def differ(words: list[Word]) -> np.ndarray:
        return np.array([list(word).count("a") >= least for word in words])

    assume(word.count("a") >= least)
    assert shorten(word, differ) == "a" * least


def test_brackets_are_taken_out_in_pairs() -> None:
    language = get_language("dyck-2")

    def differ(words: list[Word]) -> np.ndarray:
        return np.array([word in language and depth(word) > 12 for word in words])

    for word in language.deep(4, 40, seed=1):
        short = shorten(word, differ, language.automaton)
        assert len(short) == 26
        assert differ([short]).all()


def test_words_come_from_the_automaton_and_from_the_reference() -> None:
    brackets, palindromes = get_language("dyck-2"), get_language("palindrome")
    kinds = dict(search_words(brackets.automaton, None, QUICK, seed=0))
    assert list(kinds) == ["covering", "driven"]
    assert max(depth(word) for word in kinds["driven"]) >= 15
    assert not set(kinds["driven"]) & set(kinds["covering"])
    both = dict(search_words(palindromes.automaton, LanguageSpecification(palindromes), QUICK, seed=0))
    assert any(word in palindromes and len(word) > 20 for word in both["driven"])


def test_only_words_of_the_task_are_tried_where_only_these_are_meant() -> None:
    specification = TaskSpecification(get_task("reversal"))
    automaton = specification.automaton()
    assert automaton is not None
    for _, words in search_words(get_language("dyck-2").automaton, specification, QUICK, seed=0):
        assert words
        for word in words:
            assert len(list(automaton.run(word))) == len(word) + 1
    nothing = TaskSpecification(get_task("anbncn"))
    assert search_words(get_language("dyck-2").automaton, nothing, QUICK, seed=0) == []
