"""Languages by name, as the shell and the zoo's files call them."""

from __future__ import annotations

from collections.abc import Callable

from stacklens.errors import UnknownNameError
from stacklens.languages.base import Language
from stacklens.languages.blocks import EqualBlocks, SumBlocks, TwiceAsMany
from stacklens.languages.counting import CountedPairs
from stacklens.languages.dyck import BalancedParentheses, Dyck, dyck_kinds
from stacklens.languages.from_file import is_path, language_from_file
from stacklens.languages.palindrome import MarkedPalindromes

__all__ = ["get_language", "language_names"]

_LANGUAGES: dict[str, Callable[[], Language]] = {
    "1n0n": lambda: CountedPairs("1", "0"),
    "anb2n": TwiceAsMany,
    "anbmcnm": SumBlocks,
    "anbn": lambda: CountedPairs("a", "b"),
    "anbncn": lambda: EqualBlocks(3),
    "anbncndn": lambda: EqualBlocks(4),
    "homomorphic-palindrome": lambda: MarkedPalindromes("abc", "#", "xyz"),
    "homomorphic-palindrome-nonempty": lambda: MarkedPalindromes("abc", "#", "xyz", empty=False),
    "palindrome": MarkedPalindromes,
    "parentheses": BalancedParentheses,
    "simple-palindrome": lambda: MarkedPalindromes("abc", "#"),
    "simple-palindrome-nonempty": lambda: MarkedPalindromes("abc", "#", empty=False),
}


def get_language(name: str) -> Language:
    """Return the language that is called ``name``, or that the file at that path holds: a grammar or an automaton.

    Raises:
        UnknownNameError: there is none; the message lists the names that there are.
        FileFormatError: it is a path, and the file cannot be read or holds neither.

    >>> get_language("dyck-2"), get_language("1n0n")
    (Dyck(n=2), CountedPairs(first='1', second='0'))
    """
    if (kinds := dyck_kinds(name)) is not None:
        return Dyck(kinds)
    if name not in _LANGUAGES and is_path(name):
        return language_from_file(name)
    if name not in _LANGUAGES:
        raise UnknownNameError("language", name, language_names())
    return _LANGUAGES[name]()


def language_names() -> list[str]:
    """Return the names of all languages for people to read, sorted; ``dyck-N`` stands for dyck-1, dyck-2, …

    >>> ", ".join(language_names()[:7])
    '1n0n, anb2n, anbmcnm, anbn, anbncn, anbncndn, dyck-N'
    """
    return sorted([*_LANGUAGES, "dyck-N"])
