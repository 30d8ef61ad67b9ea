"""Nesting by a list, for tests: what is a member, and how deep."""

from collections.abc import Sequence


def nested(word: Sequence[str], depth: int = 1_000) -> bool:
    """Return whether ``word`` over ( ) [ ] is balanced, and nowhere deeper than ``depth``."""
    opened: list[str] = []
    for symbol in word:
        if symbol in "([":
            opened.append(symbol)
        elif not opened or opened.pop() + symbol not in ("()", "[]"):
            return False
        if len(opened) > depth:
            return False
    return not opened
