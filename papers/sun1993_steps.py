"""Tables 1 and 2 of Sun et al. 1993 step by step, as printed, beside the steps of our network on the same words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stacklens.papers.grid_tables import TextTable
from stacklens.papers.results import Results

__all__ = ["PRINTED", "steps_beside"]

# word: of every step the action, and what is on the stack after it, the bottom first, as printed
PRINTED: dict[str, tuple[tuple[str, str], ...]] = {
    "acabc": (
        ("1.0000", "a 1.0000"),
        ("0.1323", "a 1.0000 c 0.1323"),
        ("-0.9869", "a 0.1454"),
        ("0.7667", "a 0.1454 b 0.7667"),
        ("0.9684", "a 0.1454 b 0.7667 c 0.9584"),
    ),
    "bacab": (
        ("1.0000", "b 1.0000"),
        ("0.9540", "b 1.0000 a 0.9540"),
        ("0.0625", "b 1.0000 a 0.9540 c 0.0625"),
        ("-0.9989", "b 1.0000 a 0.0176"),
        ("-0.9858", "b 0.0318"),
    ),
    "bacba": (
        ("1.0000", "b 1.0000"),
        ("0.9540", "b 1.0000 a 0.9540"),
        ("0.0625", "b 1.0000 a 0.9540 c 0.0625"),
        ("0.6850", "b 1.0000 a 0.9540 c 0.0625 b 0.6850"),
        ("0.9524", "b 1.0000 a 0.9540 c 0.0625 b 0.6850 a 0.9524"),
    ),
    "ababcbaba": (
        ("1.0000", "a 1.0000"),
        ("0.9716", "a 1.0000 b 0.9716"),
        ("0.9936", "a 1.0000 b 0.9716 a 0.9936"),
        ("0.9932", "a 1.0000 b 0.9716 a 0.9936 b 0.9932"),
        ("0.0810", "a 1.0000 b 0.9716 a 0.9936 b 0.9932 c 0.0810"),
        ("-0.9981", "a 1.0000 b 0.9716 a 0.9936 b 0.0761"),
        ("-0.8207", "a 1.0000 b 0.9716 a 0.2491"),
        ("-0.8674", "a 1.0000 b 0.3533"),
        ("-0.2757", "a 1.0000 b 0.0776"),
    ),
}
_COLUMNS = ("word", "step", "input", "action: the paper", "ours", "stack: the paper", "ours", "same operation")
_TITLE = "Sun et al. 1993, tables 1 and 2: palindromes step by step"


def steps_beside(results: Results) -> TextTable:
    """Return the steps of tables 1 and 2, ours from the results of sun1993-claims beside theirs.

    Operations are rounded actions: push above 0.5, pop below -0.5, nothing between.
    """
    ours = {
        word: found["steps"]
        for claim in results.claims
        for word, found in claim.figures.items()
        if word in PRINTED and isinstance(found, dict)
    }
    rows = [
        _row(word, number, theirs, step)
        for word, steps in PRINTED.items()
        for number, (theirs, step) in enumerate(zip(steps, ours.get(word, ()), strict=False))
    ]
    same = sum(row[-1] == "yes" for row in rows)
    caption = f"stacklens papers run {results.experiment}; the same operation in {same} of {len(rows)} steps"
    return TextTable(_TITLE, _COLUMNS, tuple(rows), caption)


def _row(word: str, number: int, theirs: tuple[str, str], step: Mapping[str, Any]) -> tuple[str, ...]:
    action, stack = theirs
    segments = " ".join(f"{symbol} {length:.4f}" for symbol, length in step["segments"]) or "empty"
    same = "yes" if _operation(float(action)) == _operation(step["action"]) else "no"
    return word, str(number + 1), word[number], action, f"{step['action']:.4f}", stack, segments, same


def _operation(action: float) -> int:
    return (action > 0.5) - (action < -0.5)
