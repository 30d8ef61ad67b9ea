"""How far an automaton can be trusted: what was checked, counted, proved and certified, and the transitions covered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...automata.coverage import transition_pair_words
from ...automata.description import transition_table
from ...automata.enumeration import is_all
from ...automata.pda import Key, PushdownAutomaton, Word
from ...core.progress import count
from ...languages.words import format_word, make_word
from ...probe.outcome import BAR
from ..headline import equals_of, headline, horizon_claim
from ..wording import (
    AS_STORED,
    automaton_claim,
    before_claim,
    certificate_claim,
    counts_claim,
    coverage_claim,
    depth_claim,
    disagreements_claim,
    interchange_claim,
    is_boxed,
    proof_claim,
    rounding_claim,
    view_claim,
    word_named,
)

if TYPE_CHECKING:
    import pandas as pd


ClaimVerdict = Literal["yes", "no", "unknown", "note"]
SIGNS: dict[ClaimVerdict, str] = {"yes": "✓", "no": "✗", "unknown": "?", "note": "·"}
_WORDS = {
    "long": "long words",
    "deep": "deeply nested words",
    "covering": "transition-pair coverage",
    "driven": "stack-height coverage",
    "nested": "words nested to every depth",
    "conformance": "words of the W-method",
    "random": "words drawn anew",
    "pumped": "families of words that repeat a cycle of the automaton",
}
_COLUMNS = ["words", "up to length", "checked", "accepted", "automaton and", "disagreements", "counterexample"]
_ROUNDED = "rounded network"
_SHORT = 60  # symbols of a counterexample that is told in a sentence; the table of checks has all of it


def covering(pda: PushdownAutomaton) -> list[Word]:
    """Return words that together take every transition that can be taken, and every two that can follow each other."""
    return [make_word(word, pda.input_alphabet) for word in transition_pair_words(pda)]


def coverage_table(pda: PushdownAutomaton, words: Sequence[Word] | None = None) -> pd.DataFrame:
    """Return one row a transition: how many of ``words``, by default the covering ones, take it, and a shortest.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> step = Transition("q", (NONE,))
    >>> pda = PushdownAutomaton(("q",), ("a", "b"), (), {("q", x, ("⊥",)): step for x in "ab"}, "q", frozenset({"q"}))
    >>> coverage_table(pda, ["aa", "a"])[["input", "taken by", "shortest word"]].values.tolist()
    [['a', 2, 'a'], ['b', 0, '']]
    """
    taking = _words_taking(pda, covering(pda) if words is None else words).values()
    table = transition_table(pda)
    table["taken by"] = [len(takers) for takers in taking]
    table["shortest word"] = [format_word(min(takers, key=len, default="")) for takers in taking]
    return table


def covered(pda: PushdownAutomaton, words: Sequence[Word] | None = None) -> tuple[int, int]:
    """Return how many transitions, and how many pairs of two in a row, ``words`` take; by default the covering ones."""
    runs = [list(pda.taken(word)) for word in (covering(pda) if words is None else words)]
    singles = {key for run in runs for key in run}
    return len(singles), len({pair for run in runs for pair in pairwise(run)})


def _words_taking(pda: PushdownAutomaton, words: Sequence[Word]) -> dict[Key, list[Word]]:
    taking: dict[Key, list[Word]] = {key: [] for key in pda.transitions}
    for word in words:
        for key in set(pda.taken(word)):
            taking[key].append(word)
    return taking


class Claim(NamedTuple):
    """What is known of one question: the question, whether the answer is good, and what it rests on, in a sentence."""

    what: str
    verdict: ClaimVerdict
    says: str


def claims_of(report: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Return every claim of a report: what it equals, its size, rounding, checks, horizons, counts, proof, and so on.

    They are different kinds of evidence and stand side by side. Without an automaton there is its reason, and rounding.
    """
    if report["automaton"] is None:
        stored = report.get("as_stored", ())
        none = Claim("automaton", "unknown" if "reason" in stored else "no", f"none: {report['reason']}")
        return (none, *(_marked(claim, stored) for claim in _rounding(report)))
    sizes = report["automaton"]
    limit = report["stack_limit"]
    others = dict.fromkeys(check["between"][1] for check in report["checks"])
    others = {other: None for other in others if other != _ROUNDED or not is_boxed(report)}
    found = (
        _result(report),
        Claim("automaton", "yes", f"{automaton_claim(sizes, _n_stacks(report))}; {before_claim(sizes)}"),
        *([] if (view := report.get("view")) is None else [Claim("seen as", "note", view_claim(view))]),
        *_rounding(report),
        *(_checked(report, other) for other in others),
        *horizon_claims(report),
        *([] if report["counts"] is None else [_counted(report["counts"])]),
        _proof(report["proof"], report["language"]),
        _certificate(report["certificate"]),
        *causal_claims(report),
        *([Claim("depth", "note", depth_claim(limit))] if view is None and limit is not None else []),
    )
    return tuple(_marked(claim, report.get("as_stored", ())) for claim in found)


def _marked(claim: Claim, stored: Sequence[str]) -> Claim:
    """Return ``claim``, which is unknown where it was read from a file and not shown again."""
    entries = {"rounding": "fidelity", "counted twice": "counts", "seen as": "view"}
    entry = entries.get(claim.what, claim.what.replace("horizon, ", "horizon."))
    entry = "causality" if claim.what.endswith(" as causes") or claim.what == "mechanism" else entry
    if (entry if not claim.what.startswith("checked ") else "checks") not in stored:
        return claim
    return Claim(claim.what, "note" if claim.verdict == "note" else "unknown", f"{claim.says} ({AS_STORED})")


def causal_claims(report: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Return whether states and stack symbols are what the network computes with, where that was asked.

    What is right need not be: an automaton may merge what the network keeps apart.
    """
    found = report.get("causality") or {}
    parts = {what: found[what] for what in ("states", "symbols", "heads") if found.get(what) is not None}
    claims = [Claim(f"{what} as causes", _is_cause(entry), interchange_claim(entry)) for what, entry in parts.items()]
    if found.get("verdict") is not None:
        verdict: ClaimVerdict = "note" if found["doubt"] is not None else "no" if found["mechanism"] is None else "yes"
        claims.append(Claim("mechanism", verdict, found["verdict"]))
    return tuple(claims)


def _is_cause(entry: Mapping[str, Any]) -> ClaimVerdict:
    if entry["accuracy"] is None:
        return "note"
    return "yes" if entry["accuracy"] >= BAR else "no"


def horizon_claims(report: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Return how far the automaton is known to agree with each network; reports of schema 1 do not say."""
    return tuple(
        Claim(f"horizon, {other}", "yes" if entry["shortest_difference"] is None else "no", horizon_claim(entry))
        for other, entry in report.get("horizon", {}).items()
        if other != _ROUNDED or not is_boxed(report)
    )


def claim_table(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return the claims of a report as a table, one row each."""
    import pandas as pd

    rows = [{"what": claim.what, "": SIGNS[claim.verdict], "rests on": claim.says} for claim in claims_of(report)]
    return pd.DataFrame(rows, columns=["what", "", "rests on"])


def check_table(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row a check: which words, how many, what the automaton was compared with, disagreements, a word.

    The counterexample is empty where there is none, and ε where it is the empty word.
    """
    import pandas as pd

    letters = len(report["model"]["alphabet"])
    rows = [
        (
            _kind(check, letters),
            check["max_length"],
            check["words"],
            check["accepted"],
            check["between"][1],
            check["disagreements"],
            "" if check["counterexample"] is None else check["counterexample"] or "ε",
        )
        for check in report["checks"]
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _kind(check: Mapping[str, Any], letters: int) -> str:
    if check["kind"] != "exhaustive":
        return _WORDS.get(check["kind"]) or str(check["kind"])
    return "all words" if is_all(letters, check["max_length"], check["words"]) else "all words of the task"


def _result(report: Mapping[str, Any]) -> Claim:
    """Return which of language, rounded network and network the automaton equals."""
    equals, counts = equals_of(report), report["counts"]
    wrong = any(equals[other]["verdict"] == "different" for other in ("language", _ROUNDED))
    unequal = counts is not None and not counts["equal"]
    unread = any(entry["as_stored"] for entry in equals.values() if entry["verdict"] in ("equal", "different"))
    verdict: ClaimVerdict = "no" if wrong or unequal or report.get("refuted") else "unknown" if unread else "yes"
    return Claim("result", verdict, headline(report))


def _n_stacks(report: Mapping[str, Any]) -> int:
    """Return how many stacks the automaton of a report has."""
    use = report["stacks"]
    return max(1, len(set(use["kept"]) - set(use["push_only"])))


def _rounding(report: Mapping[str, Any]) -> tuple[Claim, ...]:
    fidelity = report["fidelity"]
    claim = Claim("rounding", "no" if fidelity["rounding"]["disagreements"] else "yes", rounding_claim(fidelity))
    return () if is_boxed(report) else (claim,)


def _checked(report: Mapping[str, Any], other: str) -> Claim:
    """Return how often the automaton and one ``other`` differ, over all checks."""
    checks = [check for check in report["checks"] if check["between"][1] == other]
    wrong = sum(check["disagreements"] for check in checks)
    words, cycles = (sum(c["words"] for c in checks if (c["kind"] == "pumped") is pumped) for pumped in (False, True))
    among = count(words, "word") + (f" and {count(cycles, 'repeated cycle')}" if cycles else "")
    says = "; ".join([disagreements_claim(wrong, among), *filter(None, map(coverage_claim, checks))])
    first = min((check["counterexample"] for check in checks if check["disagreements"]), key=len, default=None)
    if first is not None:
        says += f"; a short one is {word_named(first)}" if len(first) <= _SHORT else ""
    if wrong and other == "network" and not is_boxed(report):
        says += "; the errors of the network with soft actions add up on long words, which contradicts nothing"
    what = f"language {report['language']}" if other == "language" else other
    return Claim(f"checked against the {what}", "no" if wrong else "yes", says)


def _counted(counts: Mapping[str, Any]) -> Claim:
    return Claim("counted twice", "yes" if counts["equal"] else "no", counts_claim(counts))


def _proof(proof: Mapping[str, Any], language: str | None) -> Claim:
    """Return what is proved; ``language`` is the one that was checked against, which need not be the network's own."""
    verdicts: dict[str, ClaimVerdict] = {"equal": "yes", "different": "no"}
    says = proof_claim(proof, f"that of the language {language}")
    whose = "the automaton is " if proof["verdict"] == "equal" else ""
    return Claim("proof", verdicts.get(proof["verdict"], "unknown"), f"{whose}{says}")


def _certificate(found: Mapping[str, Any]) -> Claim:
    certified = found["verdict"] == "certified"
    return Claim("certificate", "yes" if certified else "unknown", certificate_claim(found, "the automaton"))
