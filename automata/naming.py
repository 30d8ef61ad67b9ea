"""Names for what other formats call otherwise, or do not name at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TypeVar

__all__ = ["fresh", "unique"]

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
