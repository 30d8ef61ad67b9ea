"""Results with few checks, made once, for tests of what can be done with them."""

from __future__ import annotations

from functools import cache
from typing import Any

import stacklens as sl

__all__ = ["BUFFERED", "IN_VAIN", "QUICK", "quick_failure", "quick_result"]

QUICK: dict[str, Any] = {
    "max_length": 5,
    "long_words": 50,
    "deep_words": 1,
    "depth": 20,
    "height": 5,
    "climbs": 1,
    "walks": 5,
    "cycles": 8,
}


BUFFERED = "buffered-neural-stack-reversal"
IN_VAIN: dict[str, Any] = {**QUICK, "method": "learn", "budget": 1e-9}  # it ends before anything is found


@cache
def quick_failure() -> sl.Extraction:
    """Return a result without an automaton."""
    return sl.extract(BUFFERED, **IN_VAIN)


@cache
def quick_result(name: str) -> sl.Extraction:
    return sl.extract(name, **QUICK)
