"""The one exception root, what messages show of what was given, checks of that, and what lacks an optional part.

Inner code raises errors with a short reason; the public edge adds file, word and step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from importlib.util import find_spec
from numbers import Integral
from typing import TypeVar

_MOST_LISTED = 40


def listed(symbols: Collection[str]) -> str:
    """Return ``symbols`` for a line: all of them, or the first ones and how many there are.

    >>> listed("ab"), listed([str(n) for n in range(1_000)])[-25:]
    ('a b', '7 38 39 … (1,000 symbols)')
    """
    shown = " ".join(list(symbols)[:_MOST_LISTED])
    return shown if len(symbols) <= _MOST_LISTED else f"{shown} … ({len(symbols):,} symbols)"


_LONGEST, _HEAD = 2_000, 1_500  # characters of a message about a file, and how many of them are the beginning
_SHOWN = 60  # characters of a value in a message
_LISTED = 20  # names in a message
_LONGEST_INT = 64  # bits of a whole number in a message


def in_short(value: object) -> str:
    """Return ``value`` as a message can show it: short, on one line, and made without printing all of it.

    >>> in_short(3), in_short("a" * 100)[:9], in_short(10**5000), in_short([1] * 5)
    ('3', "'aaaaaaaa", 'a whole number of 16610 bits', 'a list of 5')
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST_INT:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}… ({len(value):,} characters)"
    if value is None or isinstance(value, bool | int | float | complex):
        return repr(value)
    kind = type(value).__name__
    if hasattr(value, "dtype"):  # of torch or numpy, neither of which is imported for this
        return f"{'an array' if kind == 'ndarray' else 'a tensor'} of {value.dtype}"
    return f"a {kind} of {len(value)}" if isinstance(value, dict | list | tuple | set | bytes) else f"a {kind}"


def names_in_short(names: Iterable[object]) -> str:
    """Return names in a row, the first of them where there are many, each as short as `in_short` makes it.

    >>> names_in_short(["b", 1, "a"]), names_in_short(range(30))[-14:]
    ('b, 1, a', '18, 19, … (30)')
    """
    names = list(names)
    words = [name if isinstance(name, str) and len(name) <= _SHOWN else in_short(name) for name in names[:_LISTED]]
    return ", ".join([*words, f"… ({len(names)})"] if len(names) > _LISTED else words)


class StacklensError(Exception):
    """Everything that stacklens raises on bad input: what was given, what was expected, what to do."""


class AutomatonError(StacklensError):
    """A pushdown automaton that is not one: an unknown state, a pop of the bottom, two kinds of stacks."""


class NoWordError(StacklensError):
    """Symbols with which no word of a task begins."""


class UnknownSymbolError(StacklensError):
    """A word with a symbol that is not in the alphabet; ``more`` says where it is, or what to do."""

    def __init__(self, symbol: str, alphabet: tuple[str, ...], more: str = "") -> None:
        self.symbol, self.alphabet, self.more = symbol, alphabet, more
        super().__init__(f"symbol {symbol!r} is not in the alphabet {listed(alphabet)}{more}")


class UnknownNameError(StacklensError):
    """A language, model or format name that stacklens does not know."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}: expected one of {', '.join(sorted(known))}")


class FileFormatError(StacklensError):
    """A file that cannot be read as what it should be.

    The message may quote what the file holds, so it is made fit for a terminal: one line of printable characters, and
    the middle is left out of a very long one.
    """

    def __init__(self, message: str) -> None:
        message = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in message)
        super().__init__(message if len(message) <= _LONGEST else f"{message[:_HEAD]} … {message[_HEAD - _LONGEST :]}")


@contextmanager
def in_file(path: object) -> Iterator[None]:
    """Run a block in which an error that names no file is one of the file at ``path``."""
    try:
        yield
    except FileFormatError:
        raise
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None


# ---- The optional parts of an installation: one clear line where one is missing ----


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Turn a failed import of a library that only ``extra`` brings into one line with the command that installs it.

    ``what``: which part of stacklens, or which library, is being asked for, as the line names it. ``extra``: the
    extra's name in ``pip install 'stacklens[extra]'``.

    >>> with needing("the moon", "space"):
    ...     import no_such_library
    Traceback (most recent call last):
    stacklens.core.errors.StacklensError: the moon is not installed: pip install 'stacklens[space]'
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").split(".")[0] == "stacklens":
            raise  # a defect of ours, which no command installs
        raise _not_installed(what, extra) from None


def check_extra(what: str, extra: str, *libraries: str) -> None:
    """Check that ``libraries``, by the names of their imports, are installed, importing none; see `needing`."""
    if not all(map(is_installed, libraries)):
        raise _not_installed(what, extra)


def is_installed(library: str) -> bool:
    """Return whether there is a ``library`` of this name, without importing it."""
    try:
        return find_spec(library) is not None
    except ValueError:  # somebody has barred it with None in `sys.modules`
        return False


def _not_installed(what: str, extra: str) -> StacklensError:
    return StacklensError(f"{what} is not installed: pip install 'stacklens[{extra}]'")


# ---- Whole numbers that somebody gives: how many, how long, how large; and seeds ----


def check_whole(name: str, value: object, least: int) -> None:
    """Check that ``value``, which the caller knows as ``name``, is a whole number of at least ``least``.

    >>> check_whole("states", 1.5, 1)
    Traceback (most recent call last):
    stacklens.core.errors.StacklensError: states must be a whole number of at least 1, not 1.5
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise StacklensError(f"{name} must be a whole number of at least {least}, not {value!r:.50}")


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
