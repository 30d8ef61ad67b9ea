"""How far an automaton can be trusted: what was checked, counted, proved and certified, and the transitions covered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...automata.coverage import transition_pair_words
from ...automata.enumeration import is_all
from ...automata.formats.dot import transition_table
from ...automata.pda import Key, PushdownAutomaton, Word
from ...core.imports import pd
from ...languages.words import format_word, make_word
from ..claims import ClaimVerdict, claims_of

SIGNS: dict[ClaimVerdict, str] = {"yes": "✓", "no": "✗", "unknown": "?", "note": "·"}
_SORTS = {
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
    # which words take each transition
    taking: dict[Key, list[Word]] = {key: [] for key in pda.transitions}
    for word in covering(pda) if words is None else words:
        for key in set(pda.taken(word)):
            taking[key].append(word)
    table = transition_table(pda)
    table["taken by"] = [len(takers) for takers in taking.values()]
    table["shortest word"] = [format_word(min(takers, key=len, default="")) for takers in taking.values()]
    return table


def covered(pda: PushdownAutomaton, words: Sequence[Word] | None = None) -> tuple[int, int]:
    """Return how many transitions, and how many pairs of two in a row, ``words`` take; by default the covering ones."""
    runs = [list(pda.taken(word)) for word in (covering(pda) if words is None else words)]
    singles = {key for run in runs for key in run}
    return len(singles), len({pair for run in runs for pair in pairwise(run)})


def claim_table(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return the claims of a report as a table, one row each."""
    rows = [{"what": claim.what, "": SIGNS[claim.verdict], "rests on": claim.words} for claim in claims_of(report)]
    return pd.DataFrame(rows, columns=["what", "", "rests on"])


def check_table(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row a check: words, how many, against what, disagreements, and a word ("" for none, ε if empty)."""
    letters = len(report["model"]["alphabet"])
    rows = []
    for check in report["checks"]:
        kind, word = _SORTS.get(check["kind"]) or str(check["kind"]), check["counterexample"]
        if check["kind"] == "exhaustive":
            whole = is_all(letters, check["max_length"], check["words"])
            kind = "all words" if whole else "all words of the task"
        numbers = (check["max_length"], check["words"], check["accepted"], check["between"][1], check["disagreements"])
        rows.append((kind, *numbers, "" if word is None else word or "ε"))
    return pd.DataFrame(rows, columns=_COLUMNS)
