"""Names: new ones for what has none or another, and symbols that can be written in text and read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TypeVar

from stacklens.errors import StacklensError

__all__ = ["check_alphabet", "fresh", "unique"]

K = TypeVar("K")


def fresh(name: str, taken: Iterable[str]) -> str:
    """Return ``name``, with as many primes as it takes to be none of those ``taken``.

    >>> fresh("q", {"q", "q'"})
    "q''"
    """
    taken = taken if isinstance(taken, Set) else set(taken)
    while name in taken:
        name += "'"
    return name


def unique(wanted: Mapping[K, str], taken: Iterable[str] = ()) -> dict[K, str]:
    """Return the names that are ``wanted``, with primes where they are taken or two want the same.

    >>> unique({1: "q", 2: "q"})
    {1: 'q', 2: "q'"}
    """
    names: dict[K, str] = {}
    used = set(taken)
    for key, name in wanted.items():
        names[key] = fresh(name, used)
        used.add(names[key])
    return names


def check_alphabet(alphabet: Sequence[str]) -> None:
    """Check that every symbol is a non-empty string without whitespace, and that no symbol is there twice.

    Raises:
        StacklensError: it is not so. Whitespace separates symbols in text, so a symbol with it could not be read back.

    >>> check_alphabet("aba")
    Traceback (most recent call last):
    stacklens.errors.StacklensError: the alphabet a b a has a repetition: expected each symbol once
    """
    if not all(symbol.split() == [symbol] for symbol in alphabet):
        raise StacklensError(f"the alphabet {tuple(alphabet)} must hold non-empty strings without whitespace")
    if len(set(alphabet)) < len(alphabet):
        raise StacklensError(f"the alphabet {' '.join(alphabet)} has a repetition: expected each symbol once")
