"""What was extracted from the networks of a row, and how they do on long words, as cells of a table."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from stacklens.papers.grid_results import Network

__all__ = ["EXTRACTION", "LONG_WORDS", "NOTHING", "NOT_RUN", "extraction_cells", "long_word_cells"]

NOT_RUN = "not run"
NOTHING = "–"
EXTRACTION = (
    "converged",
    "extracted",
    "states",
    "stack symbols",
    "proved",
    "certified",
    "equal to the language",
    "rounded network differs at",
)
LONG_WORDS = (
    "measured",
    "symbols",
    "pumped words",
    "random words",
    "rounded, pumped words",
    "rounded, random words",
    "first wrong after, pumped",
    "first wrong after, random",
)


def extraction_cells(networks: Sequence[Network] | None) -> tuple[str, ...]:
    """Return the columns `EXTRACTION` of networks, None where none were trained.

    Counts are of all these networks, sizes those after (before) minimisation.

    An automaton may equal the language where a word contradicts it, on which the rounded network leaves both.
    """
    if networks is None:
        return (NOT_RUN,) * len(EXTRACTION)
    converged = _count(networks, lambda network: network.converged)
    found = [network.extraction for network in networks if network.extraction is not None]
    if not found:
        return (converged, *(NOTHING,) * (len(EXTRACTION) - 1))
    sizes = [one["automaton"] for one in found if one["status"] == 0]
    return (
        converged,
        _count(networks, lambda network: _status(network) == 0),
        _sizes(sizes, "states"),
        _sizes(sizes, "stack_symbols"),
        _count(networks, lambda network: _verdict(network, "proof") == "equal"),
        _count(networks, lambda network: _verdict(network, "certificate") == "certified"),
        _count(networks, lambda network: _equals_language(network.extraction)),
        _differs_at(found),
    )


def _count(networks: Sequence[Network], holds: Callable[[Network], bool]) -> str:
    return f"{sum(map(holds, networks))} of {len(networks)}"


def _status(network: Network) -> int | None:
    return None if network.extraction is None else int(network.extraction["status"])


def _verdict(network: Network, kind: str) -> str | None:
    """Return the verdict of a proof or certificate of an automaton that nothing contradicts."""
    if network.extraction is None or _status(network) != 0:
        return None
    return str(network.extraction[kind]["verdict"])


def _equals_language(extraction: dict[str, Any] | None) -> bool:
    proof = None if extraction is None else extraction.get("proof")
    return proof is not None and proof["verdict"] == "equal"


def _differs_at(found: Sequence[dict[str, Any]]) -> str:
    """Return the lengths of the shortest words known on which rounded networks differ, and of how many, among which."""
    horizons = [one["horizon"]["rounded network"] for one in found if one.get("horizon")]
    lengths = [one["shortest_difference"]["length"] for one in horizons if one["shortest_difference"] is not None]
    if not horizons:
        return NOTHING
    return f"{f'{_range(lengths)}: ' if lengths else ''}{len(lengths)} of {len(horizons)}"


def _sizes(automata: Sequence[dict[str, Any]], key: str) -> str:
    if not automata:
        return NOTHING
    after = _range([automaton[key] for automaton in automata])
    return f"{after} ({_range([automaton['before_minimization'][key] for automaton in automata])})"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def long_word_cells(networks: Sequence[Network] | None) -> tuple[str, ...]:
    """Return the columns `LONG_WORDS` of networks: mean accuracies by length of those on which it was measured.

    Those are the networks that learned their task. After how many symbols one was first wrong is the median over those
    that were, and how many these are.
    """
    if networks is None:
        return (NOT_RUN,) * len(LONG_WORDS)
    found = [long for network in networks if (long := (network.measures or {}).get("long words")) is not None]
    if not found:
        return (NOTHING,) * len(LONG_WORDS)
    shares = [
        " / ".join(f"{100 * statistics.fmean(column):.0f}" for column in zip(*rows, strict=True))
        for net in ("network", "rounded network")
        for kind in ("pumped", "control")
        if (rows := [one[net][kind]["accuracy"] for one in found])
    ]
    lengths = " / ".join(map(str, found[0]["lengths"]))
    horizons = [_horizon([one["network"][kind]["horizon"] for one in found]) for kind in ("pumped", "control")]
    return (f"{len(found)} of {len(networks)}", lengths, *shares, *horizons)


def _horizon(first: Sequence[int | None]) -> str:
    wrong = [length for length in first if length is not None]
    return f"{f'{statistics.median(wrong):g}: ' if wrong else ''}{len(wrong)} of {len(first)}"
