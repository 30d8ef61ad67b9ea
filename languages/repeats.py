"""Words as parts and how often each comes: what is read of a long word, and what can be made fewer of in it."""

from __future__ import annotations

from collections.abc import Sequence

from stacklens.automata.pda import Word
from stacklens.languages.words import format_word

__all__ = ["named_parts", "repeated_parts"]

_LONGEST_PART = 12  # symbols of a part that is looked for
_LEAST_TIMES, _LEAST_SYMBOLS = 3, 6  # what is repeated less often, or is shorter in all, is read as it stands


def repeated_parts(word: Word) -> tuple[tuple[Word, int], ...]:
    """Return the parts of ``word`` in order, each with how often it comes in a row; together they are the word.

    From the left, what goes on longest is taken first; what is not repeated at least three times stands once.

    >>> repeated_parts("[()][()][()][]"), repeated_parts("abab"), repeated_parts("")
    ((('[()]', 3), ('[]', 1)), (('abab', 1),), ())
    """
    parts: list[tuple[Word, int]] = []
    plain, place = 0, 0  # what stands once begins at the first, and goes on to the second
    while place < len(word):
        size, times = _longest_repeat(word, place)
        if times == 1:
            place += 1
            continue
        if plain < place:
            parts.append((word[plain:place], 1))
        parts.append((word[place : place + size], times))
        place += size * times
        plain = place
    return (*parts, (word[plain:], 1)) if plain < len(word) else tuple(parts)


def _longest_repeat(word: Word, place: int) -> tuple[int, int]:
    """Return the size of the part that goes on longest from ``place``, the shortest such, and how often it comes."""
    best = 1, 1
    for size in range(1, min(_LONGEST_PART, (len(word) - place) // _LEAST_TIMES) + 1):
        same = place + size
        while same < len(word) and word[same] == word[same - size]:
            same += 1
        times = (same - place) // size
        enough = times >= _LEAST_TIMES and size * times >= _LEAST_SYMBOLS
        if enough and size * times > best[0] * best[1]:
            best = size, times
    return best


def named_parts(parts: Sequence[tuple[Word, int]]) -> str:
    """Return parts in words, those that are empty or come no time left out.

    >>> named_parts((("", 1), ("[()", 3), ("]", 1)))
    "'[()' 3 times, then ']'"
    """
    named = [(repr(format_word(part)), n) for part, n in parts if len(part) and n]
    return ", then ".join(part if n == 1 else f"{part} {n:,} times" for part, n in named)
