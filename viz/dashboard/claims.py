"""The claims on an automaton, each with the words that it is about, so that one click puts them on the bench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stacklens.extract.equals import equals_of
from stacklens.extract.evaluation.trust import SIGNS, claims_of

__all__ = ["claims_with_words", "disagreements_of"]

_CHECKED, _CAUSES = "checked against the ", " as causes"


def claims_with_words(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every claim of a report: its question, its mark, what it rests on, and a word that shows it, or None.

    "rounded" says whether it is the rounded network that shows it on that word.
    """
    return [
        {
            "what": claim.what,
            "sign": SIGNS[claim.verdict],
            "verdict": claim.verdict,
            "says": claim.says,
            "word": _word_of(claim.what, report),
            "rounded": _is_of_the_rounded(claim.what, report),
        }
        for claim in claims_of(report)
    ]


def _is_of_the_rounded(what: str, report: Mapping[str, Any]) -> bool:
    if what != "result" or report["automaton"] is None:
        return "rounded" in what
    return (
        next((who for who, one in equals_of(report).items() if one["verdict"] == "different"), "") == "rounded network"
    )


def _word_of(what: str, report: Mapping[str, Any]) -> str | None:
    if what == "result" and report["automaton"] is not None:
        return next((one["word"] for one in equals_of(report).values() if one["verdict"] == "different"), None)
    if what.startswith("horizon, "):
        first = report["horizon"][what.removeprefix("horizon, ")]["shortest_difference"]
        return None if first is None else str(first["word"])
    if what.startswith(_CHECKED):
        other = "language" if what.startswith(f"{_CHECKED}language ") else what.removeprefix(_CHECKED)
        return next((word for word, who in disagreements_of(report) if who == other), None)
    if what.endswith(_CAUSES):
        worst = report["causality"][what.removesuffix(_CAUSES)]["worst"]
        return None if worst is None else str(worst["word"])
    if what == "proof":
        word = report["proof"].get("counterexample")
        return None if word is None else str(word)
    return None


def disagreements_of(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return all words on which the automaton is known to differ, with from what, short words first."""
    found = [
        (check["counterexample"], check["between"][1])
        for check in report["checks"]
        if check["disagreements"] and check["counterexample"] is not None
    ]
    found += [
        (entry["shortest_difference"]["word"], who)
        for who, entry in report.get("horizon", {}).items()
        if entry["shortest_difference"] is not None
    ]
    return sorted(dict.fromkeys(found), key=lambda one: (len(one[0]), one))
