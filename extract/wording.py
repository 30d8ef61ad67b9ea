"""The sentences that claims are made of, each from one entry of a report.

Reports of earlier versions lack some entries; nothing is claimed of these.
"""

from collections.abc import Mapping
from typing import Any

from ..automata.pda import PushdownAutomaton
from ..core.progress import count
from .config import SEARCH

AS_STORED = "as stored, not checked"  # beside all that a file claims and that was not shown again
NETWORKS = ("rounded network", "network")
_COUNTED_AT_SIGHT = 9  # symbols of a word
IN_A_SENTENCE = 60  # characters of a word in a headline, and of a counterexample; the table of checks has all of it
_ON_A_LINE = 200  # characters of a word where there is more room than in a headline
_LONGEST_WHOLE = 400  # symbols of a word on a line of its own, from where it can be pasted
_READABLE = 1_000_000  # powers of two above it are written as such
# how each kind of words is called: in a sentence, in a row of the summary's table, and in the table of checks
KINDS = {
    "exhaustive": ("words, all", "", "all words"),
    "long": ("words", "", "long words"),
    "deep": ("deep words", "deep", "deeply nested words"),
    "covering": ("transition-pair words", "transition-pair words", "transition-pair coverage"),
    "driven": ("stack-height words", "stack-height words", "stack-height coverage"),
    "nested": ("nested words", "that nest to every depth", "words nested to every depth"),
    "conformance": ("words of the W-method", "of the W-method", "words of the W-method"),
    "random": ("random words", "drawn anew", "words drawn anew"),
    "pumped": (
        "cycles repeated in words",
        "repeated in words",
        "families of words that repeat a cycle of the automaton",
    ),
    "sampled": ("words of the search for states", "sampled", "sampled"),
}


def is_boxed(report: Mapping[str, Any]) -> bool:
    """Return whether a report is of a black box: learned from answers alone, so that nothing was rounded."""
    return str(report.get("method")).startswith("learn-")


def horizon_claim(entry: Mapping[str, Any]) -> str:
    """Return up to which length all words agree, and the shortest word known on which they do not."""
    limit, first = entry.get("stack_limit"), entry["shortest_difference"]
    how = "" if entry["shown_by"] == "all words run" else f" ({entry['shown_by']})"
    shown = [] if entry["length"] is None else [f"{entry['domain']} of length <= {entry['length']:,}{how}"]
    # up to a length by running words, and on all that need few enough cells by a certificate
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
    word = word_shown(first["word"], first["length"], first["made_of"], _ON_A_LINE)
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
    if word_shown(first["word"], first["length"], first["made_of"], _ON_A_LINE).startswith(first["word"]):
        return None
    if first["length"] > _LONGEST_WHOLE:
        return f"all {first['length']:,} symbols are in the result and in the report (--save, --report)"
    return str(first["word"])


def horizon_cell(entry: Mapping[str, Any] | None) -> str:
    """Return a horizon for a table: up to which length they agree, and that of the shortest word where they do not."""
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


def certificate_claim(entry: Mapping[str, Any], automaton: str = "it") -> str:
    """Return what a certificate claims, calling the automaton ``automaton``, or why there is none.

    >>> entry = {"verdict": "certified", "number_format": "float16", "boxes": 4, "margin": 0.25, "stack_limit": 2_048}
    >>> certificate_claim(entry)  # doctest: +NORMALIZE_WHITESPACE
    'the rounded network follows it on words of every length that need at most 2,048 cells of a stack
    (float16, 4 boxes, smallest margin 0.250)'
    """
    if entry["verdict"] != "certified":
        bounded = entry.get("bounded") or {"length": 0}
        short = f"; proved on all words of length <= {bounded['length']:,}" if bounded["length"] else ""
        return f"{entry['verdict']}: {entry['reason']}{short}"
    margin = "" if entry["margin"] is None else f", smallest margin {entry['margin']:.3f}"
    numbers = f"{entry['number_format']}, " if "number_format" in entry else ""
    rests = f"{numbers}{count(entry['boxes'], 'box', 'boxes')}{margin}"
    network = "the network itself, whose actions are exactly 0 or 1," if entry.get("itself") else "the rounded network"
    return f"{network} follows {automaton} on {certified_words(entry, where=True)} ({rests})"


def certified_words(entry: Mapping[str, Any], where: bool = False) -> str:
    """Return for which words a certificate holds, the entry of a report or of its horizon; ``where`` they are cut, too.

    >>> certified_words({"stack_limit": 104, "words": "the task's"})
    'words of the task of every length that need at most 104 cells of a stack'
    """
    limit, cuts, silent = entry.get("stack_limit"), entry.get("cuts"), entry.get("silent")
    says = "words of every length" if entry.get("words", "all") == "all" else "words of the task of every length"
    if limit is not None:
        says += f" that need at most {cells_named(limit)} of a stack"
    if cuts:
        says += ", up to where its run is cut"
        if where and entry.get("first_cut") is not None:
            state, letter, tops = entry["first_cut"]
            says += f" ({count(cuts, 'place')}, as at {', '.join([state, letter, *tops])})"
    if silent:
        says += f", but for the output at {count(silent, 'place')}"
    return says


def cells_named(limit: int) -> str:
    """Return so many cells of a stack, a large power of two as one.

    >>> cells_named(104), cells_named(2**53)
    ('104 cells', '2^53 cells')
    """
    power = limit.bit_length() - 1
    return f"2^{power} cells" if limit == 2**power and limit > _READABLE else count(limit, "cell")


def interchange_claim(entry: Mapping[str, Any]) -> str:
    """Return how often interchanges of states, or of stack symbols, did what the automaton predicts.

    Reports of earlier versions counted interchanges that the automaton does not tell apart, too.

    >>> entry = {"accuracy": 0.75, "interval": [0.731, 0.768], "interchanges": 2_000, "baseline": 0.4}
    >>> interchange_claim(entry)
    '75.0 % of 2,000 interchanges do as the automaton predicts (95 % interval 73.1 to 76.8; random partitions 40.0 %)'
    >>> beside = {"random partitions": [2, 5], "random weights": [0, 5]}
    >>> interchange_claim({**entry, "untold": [3, 4], "baselines": beside})  # doctest: +NORMALIZE_WHITESPACE
    '75.0 % of 2,000 interchanges that it tells apart do as the automaton predicts (95 % interval 73.1 to 76.8;
    random partitions 40.0 %; random weights 0.0 %)'
    """
    if entry["accuracy"] is None:
        return f"no score: {entry['reason']}"
    low, high = (100 * end for end in entry["interval"])
    baselines = {name: right / of for name, (right, of, *_) in entry.get("baselines", {}).items()}
    if entry["baseline"] is not None:
        baselines = {"random partitions": entry["baseline"], **baselines}
    beside = "".join(f"; {name} {100 * share:.1f} %" for name, share in baselines.items())
    apart = " that it tells apart" if entry.get("untold") is not None else ""
    share = f"{100 * entry['accuracy']:.1f} % of {count(entry['interchanges'], 'interchange')}{apart}"
    return f"{share} do as the automaton predicts (95 % interval {low:.1f} to {high:.1f}{beside})"


def agreement_claim(check: Mapping[str, Any]) -> str:
    """Return on how many words of one check the automaton and another thing differ.

    >>> agreement_claim({"kind": "exhaustive", "words": 1_023, "max_length": 9, "disagreements": 1})
    '1 disagreement in 1,023 words, all of length <= 9'
    """
    among = f"{check['words']:,} {KINDS[check['kind']][0]} of length <= {check['max_length']:,}"
    return f"{count(check['disagreements'], 'disagreement')} in {among}"


def drift_claim(entry: Mapping[str, Any]) -> str:
    """Return what a rounded network accumulates over the cycles of a word, and when it tips over.

    >>> entry = {"quantity": "the top of the stack", "per_cycle": -0.012, "cycle": "()", "symbol": ")"}
    >>> entry |= {"first_broken": 12, "threshold": 0.25, "values": [0.5, 0.24]}
    >>> drift_claim({**entry, "decision": "output )"})  # doctest: +NORMALIZE_WHITESPACE
    'the top of the stack where ) is read falls by 0.012 a cycle of () (from 0.500 to 0.240, threshold 0.250):
    at cycle 12 output ) is gone'
    >>> drift_claim({**entry, "decision": "no output ("})[-26:]
    'at cycle 12 output ( comes'
    """
    values, decision = entry["values"], entry["decision"]
    moves = f"{'falls' if values[-1] < values[0] else 'rises'} by {abs(entry['per_cycle']):.2g}"
    crossed = "" if entry["threshold"] is None else f", threshold {entry['threshold']:.3f}"
    happens = f"{decision.removeprefix('no ')} comes" if decision.startswith("no ") else f"{decision} is gone"
    return (
        f"{entry['quantity']} where {entry['symbol']} is read {moves} a cycle of {entry['cycle']} "
        f"(from {values[0]:.3f} to {values[-1]:.3f}{crossed}): at cycle {entry['first_broken']} {happens}"
    )


def view_claim(entry: Mapping[str, Any]) -> str:
    """Return on which view of a network, whose memory is no stack, an automaton was looked for, and what that assumes.

    >>> view_claim({"name": "its list as two stacks", "assumes": None, "shown": None, "cells": 200, "tried": []})
    'the network with its list as two stacks, which it is up to height 200'
    """
    height = "at every height" if entry["cells"] is None else f"up to height {entry['cells']:,}"
    says = f"the network with {entry['name']}, "
    says += f"which it is {height}" if entry["assumes"] is None else f"assuming {entry['assumes']} ({height})"
    for tried in entry["tried"]:
        if tried["name"] == entry["name"]:
            same = tried["words"] - tried["differences"]
            says += f"; so seen it answers as the rounded network on {same:,} of {count(tried['words'], 'word')}"
    return says if entry["shown"] is None else f"{says}; {entry['shown']}"


def sizes_of(pda: PushdownAutomaton) -> dict[str, int]:
    """Return how many states, stack symbols and transitions an automaton has, as reports name them."""
    return {"states": len(pda.states), "stack_symbols": len(pda.stack_alphabet), "transitions": len(pda.transitions)}


def automaton_claim(sizes: Mapping[str, Any], stacks: int = 1) -> str:
    """Return how large an automaton with so many ``stacks`` is.

    >>> automaton_claim({"states": 2, "stack_symbols": 1, "transitions": 4})
    '2 states, 1 stack symbol, 4 transitions'
    """
    parts = [count(sizes["states"], "state"), count(sizes["stack_symbols"], "stack symbol")]
    parts += [count(stacks, "stack")] if stacks > 1 else []
    return ", ".join([*parts, count(sizes["transitions"], "transition")])


def merged_claim(names: Mapping[str, str]) -> str:
    """Return which states, or stack symbols, became which by minimisation, from what each became.

    >>> merged_claim({"start": "q0", "k1": "q0", "k2": "q1"})
    'q0 = start k1; q1 = k2'
    """
    members: dict[str, list[str]] = {}
    for before, after in names.items():
        members.setdefault(after, []).append(before)
    return "; ".join(f"{name} = {' '.join(some)}" for name, some in sorted(members.items()))


def found_claim(method: str, quantiser: str) -> str:
    """Return how an automaton was found.

    >>> found_claim("kmeans", "2 clusters"), found_claim("learn", "all words to length 7, 1-tails")
    ('read off 2 clusters of hidden vectors', 'learned from all words to length 7, 1-tails as stack symbols')
    """
    if method.startswith("learn-"):
        return f"learned as a black box by {quantiser}, nothing rounded: it tells what the network does, not how"
    if method == "kmeans":
        return f"read off {'binary' if quantiser == 'binary' else f'{quantiser} of'} hidden vectors"
    return f"learned from {quantiser} as stack symbols"


def best_claim(entry: Mapping[str, Any]) -> str:
    """Return how large the best automaton is where there is no faithful one, and how often it is wrong.

    >>> sizes = {"states": 2, "stack_symbols": 1, "transitions": 4}
    >>> wrong = {"other": "network", "wrong": 3, "counted": 30, "words": 90, "rate": 0.1, "word": "aab"}
    >>> best_claim({"automaton": sizes, "errors": [wrong]})  # doctest: +NORMALIZE_WHITESPACE
    'NOT FAITHFUL: 2 states, 1 stack symbol, 4 transitions; wrong of the network on 10.0% (3 of the 30 of 90 words that
    either accepts), as on aab'
    """
    wrong = []
    for one in entry["errors"]:
        among = f"{one['wrong']:,} of the {one['counted']:,} of {one['words']:,} words that either accepts"
        word = "" if one["word"] is None else f", as on {word_shown(one['word'], one.get('length', len(one['word'])))}"
        wrong.append(f"wrong of the {one['other']} on {one['rate']:.1%} ({among}){word}")
    return "; ".join([f"NOT FAITHFUL: {automaton_claim(entry['automaton'])}", *wrong])


def better_threshold_claim(entry: Mapping[str, Any]) -> str:
    """Return on how many words a network is right at its threshold, and at another one, which is asked for so.

    >>> better = {"words": 60, "right": 0, "right_there": 60, "low": 0.0112, "high": 0.034, "threshold": 0.02}
    >>> better_threshold_claim({"threshold": 0.5, "better": better})
    'right on 0.0% of 60 words of the task, and with threshold=0.02 (any from 0.0112 to below 0.034) on 100.0%'
    """
    found = entry["better"]
    right, there = (f"{found[name] / found['words']:.1%}" for name in ("right", "right_there"))
    given = entry["threshold"]
    low, high = (threshold_shown(float(f"{found[side]:.3g}"), given) for side in ("low", "high"))
    span = f"threshold={threshold_shown(found['threshold'], given)} (any from {low} to below {high})"
    return f"right on {right} of {count(found['words'], 'word')} of the task, and with {span} on {there}"


def threshold_shown(number: float, given: float | str) -> str:
    """Return a threshold as one writes it, in the units of the one that is ``given``: a share of the largest as "5%".

    >>> threshold_shown(0.02, 0.5), threshold_shown(0.02, "5%")
    ('0.02', '"2%"')
    """
    return f'"{100 * number:.9g}%"' if isinstance(given, str) else f"{number:.9g}"


def budget_claim(entry: Mapping[str, Any]) -> str:
    """Return what the budget ended; reports of earlier versions have none but that of the search.

    >>> budget_claim({"seconds": 60.0, "unfinished": ["the certificate", "the proof"]})
    'the budget of 60 seconds ended before these were over: the certificate, the proof'
    """
    named = {SEARCH: f"{SEARCH} (the best so far is taken)"}
    ended = ", ".join(named.get(name, name) for name in entry.get("unfinished") or [SEARCH])
    return f"the budget of {entry['seconds']:g} seconds ended before these were over: {ended}"


CONTRADICTS = "the evidence contradicts itself"
UNCHECKED = "the budget ended before the automaton was held against the network on any word; give more"


def evidence_claim(explained: int, asked: int, of: str = "steps") -> str:
    """Return of how much of evidence that contradicts itself an automaton is one.

    >>> evidence_claim(12_185, 12_345)
    'the evidence contradicts itself: the automaton explains 98.7% of 12,345 steps; never status 0'
    """
    return f"{CONTRADICTS}: the automaton explains {explained / asked:.1%} of {asked:,} {of}; never status 0"


def nothing_found(reason: str) -> str:
    """Return that there is no automaton, and why."""
    return f"no faithful automaton was found: {reason}"


def word_named(word: str) -> str:
    """Return a word of a report as it is called in a sentence."""
    return word or "the empty word"


def word_shown(word: str, length: int, made_of: str | None = None, most: int = IN_A_SENTENCE) -> str:
    """Return a word of a report as a sentence shows it: by its parts where that is shorter to say, cut after ``most``.

    >>> word_shown("([)]", 4), word_shown("[()]" * 12, 48, "'[()]' 12 times"), word_shown("", 0)
    ('([)]', "'[()]' 12 times (length 48)", 'the empty word')
    """
    if made_of is not None and len(made_of) < min(len(word), most):
        return f"{made_of} (length {length:,})"
    if len(word) > most:
        return f"{word[:most]}… (length {length:,})"
    return f"{word} (length {length:,})" if length > _COUNTED_AT_SIGHT else word_named(word)


def as_sentence(says: str) -> str:
    """Return a claim as a sentence of its own.

    >>> as_sentence("equal to dyck-1")
    'Equal to dyck-1.'
    """
    return f"{says[:1].upper()}{says[1:]}."
