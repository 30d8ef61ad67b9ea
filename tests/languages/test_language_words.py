"""Words: text and back, and edits that stay close."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklens.automata.pda import Symbol, Word
from stacklens.errors import UnknownSymbolError
from stacklens.languages.words import edit_word, format_word, make_word, parse_word

symbols = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=3).filter(
    lambda s: s.split() == [s]
)
alphabets = st.lists(symbols, min_size=1, max_size=6, unique=True) | st.lists(
    symbols.filter(lambda s: len(s) == 1), min_size=1, max_size=6, unique=True
)


@st.composite
def words(draw: st.DrawFn) -> tuple[Word, list[Symbol]]:
    alphabet = draw(alphabets)
    return make_word(draw(st.lists(st.sampled_from(alphabet), max_size=12)), alphabet), alphabet


@given(words())
def test_formatted_words_are_read_back(case: tuple[Word, list[Symbol]]) -> None:
    word, alphabet = case
    assert parse_word(format_word(word), alphabet) == word


@given(words(), st.integers(0, 2**32))
def test_one_edit_changes_the_length_by_one_or_cuts(case: tuple[Word, list[Symbol]], seed: int) -> None:
    word, alphabet = case
    edited = edit_word(word, alphabet, np.random.default_rng(seed))
    assert type(edited) is type(word)
    assert set(edited) <= set(alphabet)
    assert len(edited) <= len(word) + 1
    assert len(edited) >= len(word) - 1 or edited == word[: len(edited)]


@pytest.mark.parametrize(("text", "alphabet"), [("ab ", ("a", "b")), ("a ( b", ("a", "(5")), ("ab", ("a", "c"))])
def test_unknown_symbols_are_named(text: str, alphabet: tuple[Symbol, ...]) -> None:
    with pytest.raises(UnknownSymbolError, match="is not in the alphabet"):
        parse_word(text, alphabet)
