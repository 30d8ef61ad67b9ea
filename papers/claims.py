"""What a claim and an experiment are: data, with the function that measures ours beside what the paper reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Experiment", "Finding", "PaperClaim"]


@dataclass(frozen=True)
class Finding:
    """What we measured: as a line for a table, and the figures that it says, as plain data."""

    ours: str
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperClaim:
    """One claim of a paper.

    Attributes:
        section: where the paper makes it.
        claim: what was measured.
        paper: what the paper reports, with its figures; "not reported" where we only add to it.
        measure: measures ours.
    """

    section: str
    claim: str
    paper: str
    measure: Callable[[], Finding]


@dataclass(frozen=True)
class Experiment:
    """Claims of one paper that are measured together.

    Attributes:
        name: what `stacklens papers run` calls it.
        paper: the specification.
        title: what is measured, in a few words.
        seeds: every seed that something is drawn from.
    """

    name: str
    paper: str
    title: str
    claims: tuple[PaperClaim, ...]
    seeds: tuple[int, ...]
