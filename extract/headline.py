"""What a report comes to in one sentence: which of language, rounded network and network its automaton equals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.progress import count
from .wording import AS_STORED, cells_named, certified_words, is_boxed, word_shown

# ---- Which of three an automaton equals, from a report's plain data: the language, the rounded network, the network.
#
# They are different questions. An automaton that is proved equal to the language, while the network drifts from both
# on long words, is right about the language and tells something of the network. Reports of earlier versions have no
# horizon; what their checks know stands in for it.

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


# ---- What a report comes to in one sentence ----

_LONGEST_TOLD = 200  # characters of a word where there is more room than in a headline
_LONGEST_WHOLE = 400  # symbols of a word on a line of its own, from where it can be pasted


def headline(report: Mapping[str, Any], brief: bool = False) -> str:
    """Return what a report comes to in one sentence: which of the three the automaton equals, or that there is none.

    The three are the language or task, the rounded network and the network (see `extract.equals`), which is left out
    where it is to be ``brief``; nothing is rounded of a black box. It begins in lower case and has no full stop, so
    that it can stand in other sentences.
    """
    if report["automaton"] is None:
        mark = f" ({AS_STORED})" if "reason" in report.get("as_stored", ()) else ""
        return f"no automaton: {report['reason']}{mark}"
    equals = equals_of(report)
    counts, stored = report.get("counts"), [entry["as_stored"] for entry in equals.values()]
    unread = {"as_stored": "counts" in report.get("as_stored", ()) and not all(stored)}
    differently = f"its accepted words were counted twice, differently{_mark(unread)}"
    twice = [differently] if counts is not None and not counts["equal"] else []
    if all(stored):  # said once, for all of it
        equals = {who: {**entry, "as_stored": False} for who, entry in equals.items()}
    networks = _of("the rounded network", equals["rounded network"]) if brief else _of_networks(equals)
    networks = _of("the black box", equals["network"]) if is_boxed(report) else networks
    says = "; ".join([_of_language(equals["language"], report), *networks, *twice])
    return f"{AS_STORED}: {says}" if all(stored) else says


def _of_language(entry: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    return f"{_about_language(entry, report)}{_mark(entry)}"


def _about_language(entry: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Return what is known of automaton and language."""
    name = report["language"]
    if entry["verdict"] == "equal":
        domain = "" if entry["domain"] == "all words" else f" on {entry['domain']}"
        return f"proved equal to {name}{domain}"
    if entry["verdict"] == "different":
        return f"different from {name}, {'first' if entry['exact'] else 'as'} on {_word_of(entry)}"
    if entry["verdict"] == "no difference found":
        return f"equal to {name} {_among(entry)} (not proved)"
    return "held against no language"


def _of_networks(equals: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what is known of automaton and network, the rounded one first; in one where both are alike."""
    rounded, network = equals["rounded network"], equals["network"]
    alike = [one["verdict"] == "no difference found" and one["by"] == "words" for one in (rounded, network)]
    marks = _mark(rounded), _mark(network)
    if all(alike) and marks[0] == marks[1]:
        return [f"rounded network and network follow it {_among(rounded)}{marks[0]}"]
    if rounded["verdict"] == network["verdict"] == "different" and rounded["exact"] == network["exact"]:
        if rounded["word"] == network["word"] and marks[0] == marks[1]:
            known = "first differ" if rounded["exact"] else "are first known to differ"
            return [f"rounded network and network {known} on {_word_of(rounded)}{marks[0]}"]
        return [f"{_of('the rounded network', rounded)[0]}, the network on {_word_of(network)}{marks[1]}"]
    return [*_of("the rounded network", rounded), *_of("the network", network)]


def _of(name: str, entry: Mapping[str, Any]) -> list[str]:
    if entry["verdict"] == "equal":
        return [f"{name} follows it on {entry['domain']} (certificate){_mark(entry)}"]
    if entry["verdict"] == "different":
        known = "first differs" if entry["exact"] else "is first known to differ"
        return [f"{name} {known} on {_word_of(entry)}{_mark(entry)}"]
    if entry["verdict"] == "no difference found":
        return [f"{name} follows it {_among(entry)}{_mark(entry)}"]
    return []


def _mark(entry: Mapping[str, Any]) -> str:
    return f" ({AS_STORED})" if entry.get("as_stored") else ""


def _word_of(entry: Mapping[str, Any]) -> str:
    return word_shown(entry["word"], entry["word_length"], entry["made_of"])


def _among(entry: Mapping[str, Any]) -> str:
    """Return among which words no difference was found."""
    if entry["length"] is None:
        return "on all words tried"
    how = " (bounded certificate)" if entry["by"] == "bounded certificate" else ""
    others = " and on all others tried" if entry["others"] else ""
    return f"on {entry['domain']} of length <= {entry['length']:,}{how}{others}"


def horizon_claim(entry: Mapping[str, Any]) -> str:
    """Return up to which length all words agree, and the shortest word known on which they do not.

    >>> entry = {"length": 13, "every_length": False, "shown_by": "all words run", "domain": "all words"}
    >>> first = {"word": "[()]" * 12, "length": 48, "height": 2, "made_of": "'[()]' 12 times"}
    >>> horizon_claim({**entry, "words": 1_000, "cycles": 20, "shortest_difference": None})
    'agrees on all words of length <= 13; no difference found in 1,000 words and 20 repeated cycles'
    >>> horizon_claim({**entry, "shortest_difference": first, "exact": True})
    "agrees on all words of length <= 13; first differs on '[()]' 12 times (length 48), height 2"
    """
    limit, first = entry.get("stack_limit"), entry["shortest_difference"]
    how = "" if entry["shown_by"] == "all words run" else f" ({entry['shown_by']})"
    shown = [] if entry["length"] is None else [f"{entry['domain']} of length <= {entry['length']:,}{how}"]
    if entry["every_length"] or limit is not None:
        whose = "all" if entry["domain"] == "all words" else "the task's"
        certified = f"{certified_words({'stack_limit': limit, 'words': whose})} (certificate)"
        shown = [*(shown if entry["shown_by"] != "certificate" else []), certified]
    says = f"agrees on {', and on '.join(shown)}" if shown else "agreement is shown for no length"
    if entry["every_length"] or (first is None and limit is not None):
        return says
    if first is None:
        cycles = f" and {count(entry['cycles'], 'repeated cycle')}" if entry["cycles"] else ""
        return f"{says}; no difference found in {count(entry['words'], 'word')}{cycles}"
    word = word_shown(first["word"], first["length"], first["made_of"], _LONGEST_TOLD)
    known = "first differs on" if entry["exact"] else "the shortest word known on which it differs:"
    return f"{says}; {known} {word}, height {first['height']:,}"


def whole_word(entry: Mapping[str, Any]) -> str | None:
    """Return the word that `horizon_claim` names by its parts, or cuts, to be pasted; None where it is shown whole.

    >>> first = {"word": "[()]" * 12, "length": 48, "height": 2, "made_of": "'[()]' 12 times"}
    >>> whole_word({"every_length": False, "shortest_difference": first})
    '[()][()][()][()][()][()][()][()][()][()][()][()]'
    >>> whole_word({"every_length": False, "shortest_difference": {**first, "word": "()" * 300, "length": 600}})
    'all 600 symbols are in the result and in the report (--save, --report)'
    """
    first = entry["shortest_difference"]
    if entry["every_length"] or first is None:
        return None
    if word_shown(first["word"], first["length"], first["made_of"], _LONGEST_TOLD).startswith(first["word"]):
        return None
    if first["length"] > _LONGEST_WHOLE:
        return f"all {first['length']:,} symbols are in the result and in the report (--save, --report)"
    word: str = first["word"]
    return word


def horizon_cell(entry: Mapping[str, Any] | None) -> str:
    """Return a horizon for a table: up to which length they agree, and that of the shortest word on which they do not.

    >>> entry = {"length": 13, "every_length": False, "shortest_difference": {"length": 48}}
    >>> horizon_cell(entry), horizon_cell({**entry, "shortest_difference": None}), horizon_cell(None)
    ('<= 13, not 48', '<= 13', '–')
    """
    if entry is None:
        return "–"
    limit, first = entry.get("stack_limit"), entry["shortest_difference"]
    if limit is not None and entry["shown_by"] == "certificate":
        parts = [f"<= {cells_named(limit)}"]
    elif entry["every_length"]:
        parts = ["every length"]
    else:
        parts = [] if entry["length"] is None else [f"<= {entry['length']:,}"]
    return ", ".join([*parts, *([] if first is None else [f"not {first['length']:,}"])]) or "–"
