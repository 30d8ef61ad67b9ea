"""Whole numbers that somebody gives: how many, how long, how large."""

from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral
from typing import TypeVar

from .errors import StacklensError


def check_whole(name: str, value: object, least: int) -> None:
    """Check that ``value``, which the caller knows as ``name``, is a whole number of at least ``least``.

    >>> check_whole("states", 1.5, 1)
    Traceback (most recent call last):
    stacklens.core.errors.StacklensError: states must be a whole number of at least 1, not 1.5
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise StacklensError(f"{name} must be a whole number of at least {least}, not {value!r:.50}")


# ---- Seeds: which numbers they may be ----

LARGEST_SEED = 2**32 - 1  # scikit-learn takes no larger one


def check_seed(seed: int) -> None:
    """Check that ``seed`` is a whole number from 0 to `LARGEST_SEED`."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise StacklensError(f"a seed is a whole number from 0 to {LARGEST_SEED}, not {seed!r:.50}")


# ---- Names: new ones for what has none or another, and symbols that can be written in text and read back ----

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

    >>> check_alphabet("aba")
    Traceback (most recent call last):
    stacklens.core.errors.StacklensError: the alphabet a b a has a repetition: expected each symbol once
    """
    if not all(isinstance(symbol, str) and symbol.split() == [symbol] for symbol in alphabet):
        raise StacklensError(f"the alphabet {tuple(alphabet)} must hold non-empty strings without whitespace")
    if len(set(alphabet)) < len(alphabet):
        raise StacklensError(f"the alphabet {' '.join(alphabet)} has a repetition: expected each symbol once")
