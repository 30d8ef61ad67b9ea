"""What stands over a picture: which network, which word, what came of it."""

from __future__ import annotations

from typing import Any

from stacklens.languages.words import format_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import Trace

__all__ = ["escaped", "shortened", "title_of", "verdict_of"]

_SHOWN = 60  # symbols of a word in a title


def title_of(model: StackModel[Any], seen: Trace, word: int = 0) -> str:
    """Return the network's name, the word, and the verdict, as one line; a long word is cut in the middle."""
    name = f"{model.model.name}, rounded" if isinstance(model, Rounded) else model.name
    read = escaped(shortened(format_word(seen.words[word]))) or "the empty word"
    return f"{name} on {read}: {verdict_of(model, seen, word)}"


def verdict_of(model: StackModel[Any], seen: Trace, word: int = 0) -> str:
    """Return what came of a word: a recogniser accepts or rejects it, others read all of it or stop at a symbol."""
    if model.task_kind == "recognition":
        return "accepted" if seen.verdicts[word] else "rejected"
    if seen.verdicts[word]:
        return "every symbol was predicted" if model.task_kind == "next set" else "read to the end"
    return f"symbol {int(seen.rejected[word].argmax()) + 1} was not predicted"


def shortened(text: str, shown: int = _SHOWN) -> str:
    """Return ``text``, or its two ends and its length where it has more than ``shown`` characters."""
    if len(text) <= shown:
        return text
    return f"{text[: shown // 2]}…{text[-shown // 4 :]} ({len(text):,} characters)"


def escaped(text: str) -> str:
    """Return ``text`` with <, > and & written so that a picture shows them as they are."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
