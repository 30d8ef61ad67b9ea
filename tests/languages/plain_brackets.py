"""Nesting by a list, for tests: what is a member, how deep, and what may come next."""

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


def may_come(word: Sequence[str], depth: int = 1_000) -> set[str]:
    """Return the brackets with which a word, nowhere deeper than ``depth``, can go on; none where it is wrong."""
    closing: list[str] = []
    for symbol in word:
        if symbol in "([":
            closing.append(")" if symbol == "(" else "]")
            if len(closing) > depth:
                return set()
        elif not closing or closing.pop() != symbol:
            return set()
    return {*closing[-1:], *("([" if len(closing) < depth else "")}
