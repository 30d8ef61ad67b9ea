"""The one exception root. Inner code raises these with a short reason; the public edge adds file, word and step."""

from __future__ import annotations

__all__ = ["AutomatonError", "FileFormatError", "StacklensError", "UnknownNameError", "UnknownSymbolError"]


class StacklensError(Exception):
    """Everything that stacklens raises on bad input: what was given, what was expected, what to do."""


class AutomatonError(StacklensError):
    """A pushdown automaton that is not one: an unknown state, a pop of the bottom, two kinds of stacks."""


class UnknownSymbolError(StacklensError):
    """A word with a symbol that is not in the alphabet."""

    def __init__(self, symbol: str, alphabet: tuple[str, ...]) -> None:
        self.symbol, self.alphabet = symbol, alphabet
        super().__init__(f"symbol {symbol!r} is not in the alphabet {' '.join(alphabet)}")


class UnknownNameError(StacklensError):
    """A language, model or format name that stacklens does not know."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}: expected one of {', '.join(sorted(known))}")


class FileFormatError(StacklensError):
    """A file that cannot be read as what it should be."""
