"""Languages by name."""

import pytest

from stacklens.errors import UnknownNameError
from stacklens.languages import get_language, language_names

SIMPLE = ["parentheses", "1n0n", "anbn", "anb2n", "anbmcnm", "anbncn", "anbncndn", "palindrome"]
SIMPLE += ["simple-palindrome", "homomorphic-palindrome"]


def test_every_listed_name_is_a_language() -> None:
    for name in language_names():
        example = name.replace("K-M", "2-3").replace("N", "3")
        assert get_language(example).name == example


def test_alphabets() -> None:
    assert get_language("dyck-4").alphabet == ("(", ")", "[", "]", "{", "}", "<", ">")
    assert get_language("dyck-6").alphabet[6:] == ("<", ">", "(5", ")5", "(6", ")6")
    assert get_language("1n0n").alphabet == ("1", "0")
    assert get_language("palindrome").alphabet == ("a", "b", "c")


@pytest.mark.parametrize("name", ["", "dyck", "dyck-0", "dyck-N", "dyck-02", "dyck--1", "dyck-2\n", "dyck-٣", "Anbn"])
def test_unknown_names_list_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"expected one of 1n0n, anb2n, .*, dyck-N, .*, palindrome, parentheses"):
        get_language(name)
