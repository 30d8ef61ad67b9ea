"""The one exception root. Inner code raises these with a short reason; the public edge adds file, word and step."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

_MOST_LISTED = 40


def listed(symbols: Collection[str]) -> str:
    """Return ``symbols`` for a line: all of them, or the first ones and how many there are.

    >>> listed("ab"), listed([str(n) for n in range(1_000)])[-25:]
    ('a b', '7 38 39 … (1,000 symbols)')
    """
    shown = " ".join(list(symbols)[:_MOST_LISTED])
    return shown if len(symbols) <= _MOST_LISTED else f"{shown} … ({len(symbols):,} symbols)"


_LONGEST, _HEAD = 2_000, 1_500  # characters of a message about a file, and how many of them are the beginning


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
        if not message.isprintable():
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
