"""What was tried for a row whose settings are searched: kept among the scores of its networks, shown as a table.

A paper that chooses sizes on validation says which it tried and not what became of them. Here every network of a row
carries, besides its own scores, those of the networks of its seed with the settings that were not chosen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from stacklens.papers.grid_results import Network

__all__ = ["COLUMNS", "tried_cells", "tried_scores"]

_NAME = re.compile(r"tried ([^:]+): (.+)")
_FIGURES = ("symbols", "updates", "seconds", "loss", "test")  # in the order of their columns
COLUMNS = (
    "tried",
    "symbols a network",
    "updates",
    "minutes of processor time",
    "best loss on validation",
    "test of that network",
    "test: median / max",
)


def tried_scores(settings: str, figures: Mapping[str, float]) -> dict[str, float]:
    """Return scores that tell what became of a network with ``settings``, which have no colon.

    ``figures`` are "symbols" that it read in training, "updates", "seconds" of processor time for all seeds together,
    its best "loss" on validation and its score "test".

    >>> tried_scores("1 x 50", {"symbols": 1e6, "loss": 0.1})
    {'tried 1 x 50: symbols': 1000000.0, 'tried 1 x 50: loss': 0.1}
    """
    return {f"tried {settings}: {name}": float(value) for name, value in figures.items()}


def tried_cells(networks: Sequence[Network]) -> list[tuple[str, ...]]:
    """Return a line of cells, see `COLUMNS`, for all settings that were tried for ``networks``; none if none was."""
    found: dict[str, dict[str, list[float]]] = {}
    for network in networks:
        for name, value in network.scores.items():
            match = _NAME.fullmatch(name)
            if match and match[2] in _FIGURES:
                found.setdefault(match[1], {figure: [] for figure in _FIGURES})[match[2]].append(value)
    return [(settings, *_cells(figures)) for settings, figures in found.items()]


def _cells(figures: Mapping[str, list[float]]) -> tuple[str, ...]:
    symbols, updates, seconds, losses, tests = (figures[name] for name in _FIGURES)
    best = losses.index(min(losses))
    ordered = sorted(tests)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return (
        f"{max(symbols):,.0f}",
        f"{max(updates):,.0f}",
        f"{max(seconds) / 60:.1f}",
        f"{losses[best]:.2g}",
        f"{100 * tests[best]:.1f}",
        f"{100 * middle:.1f} / {100 * ordered[-1]:.1f}",
    )
