"""Words as the public face takes them: text, symbols, lists and what can be gone through once; and what is no word."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import stacklens as sl
from stacklens.core.errors import UnknownSymbolError
from stacklens.models.word_network import BlackBox

NAME = "nnpda-palindrome"


def test_words_that_can_be_gone_through_only_once_are_all_read() -> None:
    assert sl.trace(NAME, (word for word in ["abc", "c"])).words == ("abc", "c")  # type: ignore[arg-type]
    assert sl.trace(NAME, iter("abc")).words == ("abc",)  # type: ignore[arg-type]
    seen = sl.intervene(
        NAME,
        (word for word in ["abcba", "c"]),  # type: ignore[arg-type]
        at=1,
        set={"hidden": "mean"},
        reference=(word for word in ["c", "ca"]),
    )
    assert seen.words == ("abcba", "c")
    assert sl.horizon_curve(NAME, (word for word in ["abc", "ab"])).running == (2, 2, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("abx", "position 2 of the word (from 0), 'abx'"),
        (["abc", "abx"], "position 2 of word 1 (from 0), 'abx'"),
        (["abc", ["a", "x"]], "position 1 of word 1 (from 0), 'ax'"),
        ([50 * "a" + "x"], f"position 50 of word 0 (from 0), '{40 * 'a'}…'"),
    ],
)
def test_a_symbol_that_is_not_known_is_found_in_its_word(words: Any, where: str) -> None:
    with pytest.raises(UnknownSymbolError) as caught:
        sl.trace(NAME, words)
    assert str(caught.value) == f"symbol 'x' is not in the alphabet a b c: {where}"
    assert caught.value.symbol == "x"


def test_symbols_of_several_characters_are_counted_as_symbols() -> None:
    with pytest.raises(UnknownSymbolError, match=r"position 1 of word 0 \(from 0\), 'the x cat'$"):
        sl.trace(BlackBox(_even, ("the", "cat")), ["the x cat"])


def _even(words: list[tuple[str, ...]]) -> list[bool]:
    return [len(word) % 2 == 0 for word in words]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (torch.zeros(3), "expected a word, as text or as a list of symbols, not a Tensor"),
        (torch.zeros(()), "expected a word or a list of words, not a Tensor"),
        ([["a", 3]], "expected a word, as text or as a list of symbols, not a list with an int"),
    ],
)
def test_what_is_no_word_is_named(words: Any, expected: str) -> None:
    with pytest.raises(sl.StacklensError, match=expected):
        sl.trace(NAME, words)


def test_saliency_is_of_one_word() -> None:
    assert sl.saliency(NAME, ["ab"]).word == sl.saliency(NAME, ["a", "b"]).word == "ab"
    with pytest.raises(sl.StacklensError, match="saliency is of one word, not of 2; call it for each of them"):
        sl.saliency(NAME, ["ab", "ab"])
