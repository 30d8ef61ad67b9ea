"""Tables 1 and 2 of Sun et al. 1993: what a trained network does on a word, step by step, as data."""

from __future__ import annotations

from typing import Any

from stacklens.papers.claims import Finding
from stacklens.papers.sun1993_measures import zoo_path

__all__ = ["TABLE_1", "TABLE_2", "traced"]

TABLE_1 = ("acabc", "bacab", "bacba")
TABLE_2 = ("ababcbaba",)
_NAMES = {True: "legal", False: "illegal"}
_DIGITS = 4  # as printed


def traced(words: tuple[str, ...]) -> Finding:
    """Return how the zoo's palindrome net ends on ``words``, with every step in the figures.

    The verdict is the net's with its trap monitor; the paper's tables are of a net without (section 4.3 (5)), which is
    judged by the last step alone: legal where S_last > 0.5 and L <= 0.5. Where the two differ, both are given.
    """
    from stacklens.models.checkpoint import load_model
    from stacklens.probe.trace import trace

    path = zoo_path("palindrome")
    seen = trace(load_model(path), words)
    figures, shown = dict[str, Any](), []
    for number, word in enumerate(words):
        steps = [_step(seen, number, t) for t in range(int(seen.steps[number]))]
        last, length = steps[-1]["state"][-1], sum(part for _, part in steps[-1]["segments"])
        at_end, verdict = _NAMES[last > 0.5 and length <= 0.5], _NAMES[bool(seen.verdicts[number])]
        without = "" if at_end == verdict else f" (without the monitor {at_end})"
        shown.append(f"{word}: S_N {last:.4f}, L {length:.4f}, {verdict}{without}")
        command = f"stacklens trace models/zoo/{path.name} {word}"
        figures[word] = {
            "steps": steps,
            "length": round(length, _DIGITS),
            "verdict": verdict,
            "at_end": at_end,
            "command": command,
        }
    return Finding("; ".join(shown), figures)


def _step(seen: Any, word: int, t: int) -> dict[str, Any]:
    """Return one line of the paper's tables."""
    return {
        "input": seen.letters[seen.symbols[word, t]],
        "state": [round(float(value), _DIGITS) for value in seen.hidden[word, t + 1]],
        "action": round(float(seen.actions[word, t, 0, 0]), _DIGITS),
        "segments": [[symbol, round(float(length), _DIGITS)] for symbol, length in seen.segments(word, t)],
    }
