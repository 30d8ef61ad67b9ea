"""How far an extraction can be trusted, as parts of a page in one file: claims, checks, transitions, accuracy."""

from __future__ import annotations

from stacklens.errors import StacklensError
from stacklens.extract.extraction import Extraction
from stacklens.viz.accuracy import accuracy_figure
from stacklens.viz.coverage import coverage_table
from stacklens.viz.lengths import scores_by_size
from stacklens.viz.page import heading, paragraph, plot, table
from stacklens.viz.trust import check_table, claim_table

__all__ = ["trust_parts"]

_ROWS = 1_000  # transitions in the table
_SHOWN = 200  # symbols of a word in a table


def trust_parts(result: Extraction) -> list[str]:
    """Return what the Trust page shows of ``result``, each part HTML for `page.page`."""
    report = result.report()
    parts = [heading("How far it can be trusted"), table(claim_table(report))]
    checks = check_table(report)
    if len(checks):
        checks["counterexample"] = checks["counterexample"].map(_shortened)
        parts += [heading("Checks", 3), table(checks)]
    if result.automaton is not None:
        parts += [heading("Words for every transition", 3), table(coverage_table(result.automaton)[:_ROWS])]
    return [*parts, heading("Right and wrong by size", 3), _accuracy(result)]


def _accuracy(result: Extraction) -> str:
    if result.language is None:
        return paragraph("No language was given, so nothing is right or wrong.")
    try:
        scores = scores_by_size(result.model, result.language, result.automaton)
    except StacklensError as error:
        return paragraph(f"Nothing to draw: {error}.")
    return plot(accuracy_figure(scores, "right by size"))


def _shortened(word: str) -> str:
    return word if len(word) <= _SHOWN else f"{word[:_SHOWN]}… ({len(word):,} characters)"
