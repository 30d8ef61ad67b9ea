"""How often network, rounded network and automaton are right, by size, as a table of a few rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.evaluation.accuracy_by_size import SizeScore, SizeScores, scores_by_size
from stacklens.extract.specification import Specification
from stacklens.models.base import StackModel

__all__ = ["AccuracyRow", "AccuracyTable", "accuracy_table", "in_rows"]

_LARGEST, _EACH, _FEW = 80, 10, 3  # sizes of the words, and how many of each size and sort
_ROWS = 5


@dataclass(frozen=True)
class AccuracyRow:
    """How many of some words, members and near-misses alike, everybody gets right.

    Attributes:
        low, high: their sizes.
        words: how many.
        network, rounded, automaton: how many of them each is right on; None where there is no automaton.
    """

    low: int
    high: int
    words: int
    network: int
    rounded: int
    automaton: int | None


@dataclass(frozen=True)
class AccuracyTable:
    """Rows of growing sizes.

    Attributes:
        size: what a size is called, "length", "n" or "size".
        rows: the rows.
    """

    size: str
    rows: tuple[AccuracyRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return asdict(self)

    def lines(self, automaton: str) -> list[str]:
        """Return the table as lines of text, the last column called ``automaton``."""
        told = any(row.automaton is not None for row in self.rows)
        titles = [self.size, "words", "network", "rounded network", *([automaton] if told else [])]
        lines = ["  ".join(f"{title:>9}" for title in titles)]
        for row in self.rows:
            right = [row.network, row.rounded, *([row.automaton] if told else [])]
            shares = ["–" if one is None else f"{one / max(1, row.words):.1%}" for one in right]
            cells = [f"{row.low}-{row.high}", f"{row.words:,}", *shares]
            lines.append("  ".join(f"{cell:>{max(9, len(title))}}" for cell, title in zip(cells, titles, strict=True)))
        return lines


def accuracy_table(
    model: StackModel[Any], language: Specification | None, pda: PushdownAutomaton | None
) -> AccuracyTable | None:
    """Return how often everybody is right on words of every size; None where nothing says what is right."""
    if language is None:
        return None
    largest = _LARGEST if model.longest is None else min(_LARGEST, model.longest)
    words = _EACH if model.affordable is None else _FEW
    try:
        return in_rows(scores_by_size(model, language, pda, largest=largest, words=words))
    except StacklensError:  # there are no words of these sizes
        return None


def in_rows(scores: SizeScores, rows: int = _ROWS) -> AccuracyTable:
    """Return ``scores`` with all sorts of words together, and neighbouring sizes, in so many ``rows``."""
    sizes = sorted({score.low for score in scores.scores})
    groups = [set(part.tolist()) for part in np.array_split(np.array(sizes), min(rows, len(sizes)))]
    return AccuracyTable(scores.size, tuple(_row(scores.scores, group) for group in groups))


def _row(scores: tuple[SizeScore, ...], sizes: set[int]) -> AccuracyRow:
    some = [score for score in scores if score.low in sizes]
    right = {who: sum(one.right for one in some if one.who == who) for who in {one.who for one in some}}
    words = sum(one.words for one in some if one.who == "network")
    low, high = min(sizes), max(score.high for score in some)
    return AccuracyRow(low, high, words, right["network"], right["rounded network"], right.get("automaton"))
