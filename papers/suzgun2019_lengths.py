"""Figure 2 of Suzgun et al. 2019: how long and how deep the words of D2 are that networks learn and are tested on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stacklens.papers.claims import Finding

if TYPE_CHECKING:
    from stacklens.automata.pda import Word

__all__ = ["depth", "lengths_and_depths"]

_WORDS, _SEED = 5_000, 1729


def lengths_and_depths(words: int = _WORDS) -> Finding:
    """Return how many words of D2 have which length and which greatest depth, of those trained and tested on."""
    from stacklens.languages.tasks import get_task

    task = get_task("dyck-2")
    figures = {split: _counts(task.sample(words, split=split, seed=_SEED).words) for split in ("train", "test")}
    parts = [
        f"{split}: median length {_median(counts['lengths'])}, median depth {_median(counts['depths'])}, "
        f"at most {max(map(int, counts['depths']))}"
        for split, counts in figures.items()
    ]
    return Finding("; ".join(parts), figures)


def depth(word: Word) -> int:
    """Return how many brackets are open at once at most in a word of D2.

    >>> depth("(([]))()")
    3
    """
    deepest = height = 0
    for symbol in word:
        height += 1 if symbol in "([" else -1
        deepest = max(deepest, height)
    return deepest


def _counts(words: Sequence[Word]) -> dict[str, dict[str, int]]:
    return {"lengths": _counted([len(word) for word in words]), "depths": _counted([depth(word) for word in words])}


def _counted(values: Sequence[int]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}


def _median(counts: dict[str, Any]) -> int:
    """Return the median, the lower one of two, of counted values."""
    total, seen = sum(counts.values()), 0
    for value, count in counts.items():
        seen += count
        if 2 * seen >= total:
            return int(value)
    return 0
