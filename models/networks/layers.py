"""The numbers and names of a network's shape, checked by the types that the dataclass gives them.

A shape may come from a file that anybody made, so every field is of exactly the type that it says (True is no number of
cells, a tensor no switch) before anything is computed from it.
"""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ...core.errors import StacklensError
from ...core.validation import check_alphabet
from ..plain_data import in_short

LARGEST_SIZE = 4_096  # against typing errors and damaged files, not against ambition
LARGEST_ALPHABET = 65_536  # symbols; those of a language model are words: 10,000 in the Penn Treebank
MOST_CELLS = 1_000_000  # of a stack
_LONGEST = 100  # characters of a symbol
_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a string",
    tuple[str, ...]: f"up to {LARGEST_ALPHABET} symbols",
    NoneType: "None",
}


def check_fields(shape: Any) -> None:
    """Check that every field of the dataclass ``shape`` is of its type.

    Whole numbers may stand for numbers, lists and strings for tuples of symbols. Symbols are 1 to 100 printable
    characters; alphabets have 65,536 at most.

    Raises:
        StacklensError: naming the field, what it is and what it should be.
    """
    kind: Any
    for name, kind in get_type_hints(type(shape)).items():
        value = getattr(shape, name)
        if not _is_a(value, kind):
            raise StacklensError(f"{name} is {in_short(value)}; expected {_described(kind)}")
        if _is_symbols(kind) and value is not None:
            check_symbols(name, tuple(value))


def check_sizes(**sizes: int) -> None:
    """Check that every one of ``sizes`` is from 1 to `LARGEST_SIZE`.

    Raises:
        StacklensError: naming one that is not.
    """
    for name, size in sizes.items():
        if type(size) is not int or not 1 <= size <= LARGEST_SIZE:
            raise StacklensError(f"{name} is {in_short(size)}; expected a whole number from 1 to {LARGEST_SIZE}")


def _is_symbols(kind: Any) -> bool:
    return tuple[str, ...] in (get_args(kind) if isinstance(kind, UnionType) else (kind,))


def _is_a(value: object, kind: Any) -> bool:
    if isinstance(kind, UnionType):
        return any(_is_a(value, one) for one in get_args(kind))
    if get_origin(kind) is Literal:
        return type(value) is str  # which one, the class checks and says
    if kind == tuple[str, ...]:
        parts = value if isinstance(value, str | tuple | list) else None
        return parts is not None and len(parts) <= LARGEST_ALPHABET and all(type(part) is str for part in parts)
    if kind is float:
        return type(value) is float or (type(value) is int and value.bit_length() <= 64)
    return type(value) is kind


def _described(kind: Any) -> str:
    if isinstance(kind, UnionType):
        return " or ".join(map(_described, get_args(kind)))
    return "a string" if get_origin(kind) is Literal else _WORDS[kind]


def check_symbols(name: str, symbols: tuple[str, ...]) -> None:
    """Check that ``symbols`` can be read, shown and told apart.

    Raises:
        StacklensError: naming one that is empty, longer than 100 characters, not printable, or there twice.
    """
    for symbol in symbols:
        if not 1 <= len(symbol) <= _LONGEST or not symbol.isprintable():
            raise StacklensError(
                f"{name} has the symbol {in_short(symbol)}; expected 1 to {_LONGEST} printable characters"
            )
    check_alphabet(symbols)
