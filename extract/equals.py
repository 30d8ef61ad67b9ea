"""Which of three an automaton equals, from a report's plain data: the language, the rounded network, the network.

They are different questions. An automaton that is proved equal to the language, while the network drifts from both on
long words, is right about the language and tells something of the network. Reports of earlier versions have no horizon;
what their checks know stands in for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stacklens.extract.wording import certified_words

__all__ = ["NETWORKS", "equals_of"]

NETWORKS = ("rounded network", "network")
_NOTHING = {
    "verdict": "not compared",
    "by": None,
    "domain": None,
    "length": None,
    "others": 0,
    "word": None,
    "word_length": None,
    "made_of": None,
    "exact": False,
    "as_stored": False,
}


def equals_of(report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entry "equals" of a report: an entry each for "language", "rounded network" and "network".

    Each has these keys. "verdict" is "equal" (on all words of "domain"), "different", "no difference found" or "not
    compared"; "by" says what shows that: "proof", "certificate", or "words"; "length" is up to which length all words
    agree, None where that is not known; "others" is how many other words, and repeated cycles, were run; "word",
    "word_length" and "made_of" are of the shortest word known on which they differ, and "exact" says whether there can
    be none that is shorter; "as_stored" says whether that was read from a file, and not shown again.
    """
    horizon, stored = report.get("horizon") or {}, report.get("as_stored", ())
    domain = next((entry["domain"] for entry in horizon.values()), "all words")
    found = {
        "language": _language(report, {**_from_checks(report, "language"), "domain": domain}),
        **{other: _network(report, other, horizon.get(other) or _from_checks(report, other)) for other in NETWORKS},
    }
    words = {"language": "checks", **{other: f"horizon.{other}" for other in NETWORKS}}
    return {
        who: {**entry, "as_stored": (entry["by"] if entry["by"] in ("proof", "certificate") else words[who]) in stored}
        for who, entry in found.items()
    }


def _language(report: Mapping[str, Any], horizon: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of the language: a proof says more than any words."""
    found, proof, stored = _of_words(horizon), report["proof"], report.get("as_stored", ())
    word = proof["counterexample"]
    unread = "checks" in stored and "proof" not in stored  # words of a file are no match for a proof
    if proof["verdict"] == "different" and word is not None:
        length = _length(report, word)
        if found["verdict"] != "different" or unread or length < found["word_length"]:
            exact = bool(proof.get("shortest"))
            return {**found, "verdict": "different", "by": "proof", "word": word, "word_length": length, "exact": exact}
    if proof["verdict"] == "equal" and (found["verdict"] != "different" or unread):
        return {**found, "verdict": "equal", "by": "proof", "domain": proof.get("domain", "all words")}
    return found


def _network(report: Mapping[str, Any], other: str, horizon: Mapping[str, Any]) -> dict[str, Any]:
    found, certificate = _of_words(horizon), report["certificate"]
    certified = other == "rounded network" and certificate["verdict"] == "certified"
    if not certified or found["verdict"] == "different":
        return found
    return {**found, "verdict": "equal", "by": "certificate", "domain": certified_words(certificate)}


def _of_words(horizon: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of what a horizon says."""
    first = horizon["shortest_difference"]
    others = horizon["others"] + horizon["cycles"]
    compared = horizon["length"] is not None or others
    verdict = "different" if first is not None else "no difference found" if compared else "not compared"
    if verdict == "not compared":
        return dict(_NOTHING)
    word = {} if first is None else {"word": first["word"], "word_length": first["length"], "made_of": first["made_of"]}
    by = "bounded certificate" if first is None and horizon["shown_by"] == "bounded certificate" else "words"
    known = {name: horizon[name] for name in ("domain", "length", "exact")}
    return {**_NOTHING, "verdict": verdict, "by": by, "others": others, **known, **word}


def _from_checks(report: Mapping[str, Any], other: str) -> dict[str, Any]:
    """Return what the checks of a report say of a horizon, in the form of one."""
    checks = [check for check in report["checks"] if check["between"][1] == other]
    words = [check["counterexample"] for check in checks if check["counterexample"] is not None]
    exhaustive = [check for check in checks if check["kind"] == "exhaustive"]
    length = max((check["max_length"] for check in exhaustive), default=None)
    first, exact = None, False
    if words:
        word = min(words, key=lambda word: _length(report, word))
        first = {"word": word, "length": _length(report, word), "made_of": None}
        exact = word in [check["counterexample"] for check in exhaustive]
        length = (first["length"] - 1 if first["length"] else None) if exact else length
    return {
        "length": length,
        "shown_by": None if length is None else "all words run",
        "domain": "all words",
        "words": sum(check["words"] for check in checks if check["kind"] != "pumped"),
        "cycles": sum(check["words"] for check in checks if check["kind"] == "pumped"),
        "others": sum(check["words"] for check in checks if check["kind"] not in ("pumped", "exhaustive")),
        "shortest_difference": first,
        "exact": exact,
    }


def _length(report: Mapping[str, Any], word: str) -> int:
    """Return how many symbols a word of a report has: those of several characters stand apart."""
    single = all(len(symbol) == 1 for symbol in report["model"]["alphabet"])
    return len(word) if single else len(word.split())
