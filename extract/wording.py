"""What a report says in words: one function a claim, from the report's plain data.

`extract-pda`, `stacklens verify`, the pages and the report page all say it so. Reports of earlier versions lack some
entries; nothing is said of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import listed
from ..core.progress import count

AS_STORED = "as stored, not checked"  # beside all that a file claims and that was not shown again
_COUNTED_AT_SIGHT = 9  # symbols of a word
_LONGEST_SHOWN = 60  # characters of a word in a headline
_READABLE = 1_000_000  # powers of two above it are written as such
_KINDS = {  # of words; reports keep the names of their first schema
    "exhaustive": "words, all",
    "long": "words",
    "covering": "transition-pair words",
    "driven": "stack-height words",
    "pumped": "cycles repeated in words",
    "sampled": "words of the search for states",
    "conformance": "words of the W-method",
}


def is_boxed(report: Mapping[str, Any]) -> bool:
    """Return whether a report is of a black box: learned from answers alone, so that nothing was rounded."""
    return str(report.get("method")).startswith("learn-")


def network_claim(model: Mapping[str, Any], language: str | None) -> str:
    """Return which network was looked at, and the ``language`` that it was held against, None for none.

    >>> network_claim({"name": "nnpda", "alphabet": ["a", "b"]}, None)
    'nnpda over a b; no language given'
    """
    given = "no language given" if language is None else f"language {language}"
    return f"{model['name']} over {listed(model['alphabet'])}; {given}"


def automaton_claim(sizes: Mapping[str, Any], stacks: int = 1) -> str:
    """Return how large an automaton with so many ``stacks`` is.

    >>> automaton_claim({"states": 2, "stack_symbols": 1, "transitions": 4})
    '2 states, 1 stack symbol, 4 transitions'
    """
    parts = [count(sizes["states"], "state"), count(sizes["stack_symbols"], "stack symbol")]
    parts += [count(stacks, "stack")] if stacks > 1 else []
    return ", ".join([*parts, count(sizes["transitions"], "transition")])


def before_claim(sizes: Mapping[str, Any]) -> str:
    """Return how large the machine was before minimisation, from the ``sizes`` of the automaton.

    >>> before_claim({"states": 2, "before_minimization": {"states": 6, "stack_symbols": 3}})
    '6 states, 3 stack symbols before minimisation'
    """
    before = sizes["before_minimization"]
    return f"{count(before['states'], 'state')}, {count(before['stack_symbols'], 'stack symbol')} before minimisation"


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


def second_claim(entry: Mapping[str, Any]) -> str:
    """Return how a second automaton was found, and whether it does the same as the first."""
    other = f"another automaton, {found_claim(entry['method'], entry['quantiser'])}"
    stacks = f", with {count(entry['stacks'], 'stack')}" if "stacks" in entry else ""
    return f"{other}{stacks}; the two are {proof_claim(entry['comparison'])}"


def best_claim(entry: Mapping[str, Any]) -> str:
    """Return how large the best automaton is where there is no faithful one, and how often it is wrong.

    >>> sizes = {"states": 2, "stack_symbols": 1, "transitions": 4}
    >>> wrong = {"other": "network", "wrong": 3, "counted": 30, "words": 90, "rate": 0.1, "word": "aab"}
    >>> best_claim({"automaton": sizes, "errors": [wrong]})  # doctest: +NORMALIZE_WHITESPACE
    'NOT FAITHFUL: 2 states, 1 stack symbol, 4 transitions; wrong of the network on 10.0% (3 of the 30 of 90 words that
    either accepts), as on aab'
    """
    told = []
    for one in entry["errors"]:
        among = f"{one['wrong']:,} of the {one['counted']:,} of {one['words']:,} words that either accepts"
        word = "" if one["word"] is None else f", as on {word_shown(one['word'], len(one['word']))}"
        told.append(f"wrong of the {one['other']} on {one['rate']:.1%} ({among}){word}")
    return "; ".join([f"NOT FAITHFUL: {automaton_claim(entry['automaton'])}", *told])


def black_box_claim(entry: Mapping[str, Any]) -> str:
    """Return whether what was learned from answers alone equals the automaton, from a report's "black_box".

    >>> said = {"word": "([)", "shortest": True, "step": 3, "meant": True, "white": "a rejection", "black": "{(}"}
    >>> entry = {"quantiser": "KV, 90 words asked", "reason": None, "agree_to": None, "wrong": 0, "words": 9}
    >>> entry |= {"automaton": {"states": 2, "stack_symbols": 0, "transitions": 3}}
    >>> entry |= {"comparison": {"verdict": "different"}}
    >>> black_box_claim({**entry, "said": {**said, "network": "{(}", "rounded": "a rejection"}})
    ... # doctest: +NORMALIZE_WHITESPACE
    'from answers alone (KV, 90 words asked): 2 states, 0 stack symbols, 3 transitions; different from the automaton,
    first on ([) after symbol 3: the automaton says a rejection, the black box {(}, the network itself {(}, the rounded
    network a rejection'
    """
    size = "no automaton" if entry["automaton"] is None else automaton_claim(entry["automaton"])
    learned = f"from answers alone ({entry['quantiser']}): {size}"
    doubt = "" if entry["reason"] is None else f", which does not stand for the network: {entry['reason']}"
    verdict, said = entry["comparison"]["verdict"], entry["said"]
    if verdict == "equal":
        return f"{learned}{doubt}; proved equal to the automaton on {entry['comparison'].get('domain', 'all words')}"
    if said is None:
        shown = f"equal to the automaton on all words of length <= {entry['agree_to']:,}"
        return f"{learned}{doubt}; {shown}, not proved: {entry['comparison']['reason']}"
    known = "first on" if said["shortest"] else "as on"
    step = "" if said["step"] is None else f" after symbol {said['step']:,}"
    strange = "" if said["meant"] else ", which the task does not ask about"
    parties = (("the automaton", "white"), ("the black box", "black"), ("the network itself", "network"))
    verb = "" if said["step"] is None else "says "
    told = ", ".join(f"{who} {verb if key == 'white' else ''}{said[key]}" for who, key in parties)
    word = f"{known} {word_named(said['word'])}{strange}{step}"
    return f"{learned}{doubt}; different from the automaton, {word}: {told}, the rounded network {said['rounded']}"


def threshold_claim(entry: Mapping[str, Any]) -> str:
    """Return which threshold makes sets of probabilities, and how near these come to it.

    >>> entry = {"threshold": 0.05, "words": 1_000, "below": 0.01, "word_below": "()", "above": None}
    >>> threshold_claim(entry)
    'a symbol may come next where its probability is above 0.05; in 1,000 words the nearest below is 0.01 (after ())'
    """
    near = [
        f"the nearest {side} is {entry[side]:.3g} (after {word_named(entry[f'word_{side}'])})"
        for side in ("below", "above")
        if entry[side] is not None
    ]
    what = "a symbol may come next where its" if near else "what counts is a"
    says = f"{what} probability {'is ' if near else ''}above {entry['threshold']:.3g}"
    says = f"{says}; in {count(entry['words'], 'word')} {', '.join(near)}" if near else says
    return says if entry.get("better") is None else f"{says}; {better_threshold_claim(entry)}"


def better_threshold_claim(entry: Mapping[str, Any]) -> str:
    """Return on how many words a network is right at its threshold, and at another one, which is asked for so.

    >>> better = {"words": 60, "right": 0, "right_there": 60, "low": 0.0112, "high": 0.034, "threshold": 0.02}
    >>> better_threshold_claim({"threshold": 0.5, "better": better})
    'right on 0.0% of 60 words of the task, and with threshold=0.02 (any from 0.0112 to below 0.034) on 100.0%'
    """
    found = entry["better"]
    right, there = (f"{found[name] / found['words']:.1%}" for name in ("right", "right_there"))
    span = f"threshold={found['threshold']:.9g} (any from {found['low']:.3g} to below {found['high']:.3g})"
    return f"right on {right} of {count(found['words'], 'word')} of the task, and with {span} on {there}"


def budget_claim(entry: Mapping[str, Any]) -> str:
    """Return that the budget ended the search.

    >>> budget_claim({"seconds": 60.0, "ran_out": True})
    'the search ended after 60 seconds of processor time, with the best so far'
    """
    return f"the search ended after {entry['seconds']:g} seconds of processor time, with the best so far"


def unseen_claim(entry: Mapping[str, Any]) -> str:
    """Return which stacks a network uses and its automaton does without, from a report's "stacks".

    >>> unseen_claim({"unseen": [1]})
    'the network uses stack 2 too, and the automaton does without: it tells what the network does, not how'
    """
    numbers = " and ".join(str(stack + 1) for stack in entry["unseen"])
    named = f"stack{'s' * (len(entry['unseen']) > 1)} {numbers}"
    return f"the network uses {named} too, and the automaton does without: it tells what the network does, not how"


def nothing_found(reason: str) -> str:
    """Return that there is no automaton, and why."""
    return f"no faithful automaton was found: {reason}"


def rounding_claim(fidelity: Mapping[str, Any]) -> str:
    """Return what rounding the actions changes, and how near they are to whole ones."""
    found, outvoted, margin = fidelity["rounding"], fidelity["minority_transitions"], fidelity["action_margin"]
    if margin is None:
        return "changes nothing: the network has no actions"
    says = (
        f"changes {found['disagreements']:,} of {count(found['words'], 'verdict')}; smallest action margin {margin:.3f}"
    )
    return says if outvoted is None else f"{says}; {outvoted:.1%} of transitions outvoted"


def disagreements_claim(wrong: int, among: str) -> str:
    """Return in how many of what is ``among`` these two things differ."""
    return f"{count(wrong, 'disagreement')} in {among}"


def words_of_kind(kind: str) -> str:
    """Return what the words, or families of words, of a check of this kind are called.

    >>> words_of_kind("driven"), words_of_kind("deep")
    ('stack-height words', 'deep words')
    """
    return _KINDS.get(kind, f"{kind} words")


def agreement_claim(check: Mapping[str, Any]) -> str:
    """Return on how many words of one check the automaton and another thing differ.

    >>> agreement_claim({"kind": "exhaustive", "words": 1_023, "max_length": 9, "disagreements": 1})
    '1 disagreement in 1,023 words, all of length <= 9'
    """
    among = f"{check['words']:,} {words_of_kind(check['kind'])}"
    return disagreements_claim(check["disagreements"], f"{among} of length <= {check['max_length']:,}")


def coverage_claim(check: Mapping[str, Any]) -> str | None:
    """Return how much is known from the words of one check of all others; None where that is not known.

    >>> coverage_claim({"kind": "conformance", "disagreements": 0, "more_states": 2})
    'no machine with up to 2 states more answers the words of the W-method so and is another one'
    >>> drawn = {"drawn": "uniformly random symbols, lengths 10 to 60", "epsilon": 0.00613, "delta": 0.05}
    >>> coverage_claim({"kind": "random", "disagreements": 0, **drawn})
    'at most 0.61 % of words drawn anew differ (uniformly random symbols, lengths 10 to 60), with 95 % confidence'
    """
    if check["disagreements"]:
        return None
    if check.get("more_states") is not None:
        more = count(check["more_states"], "state")
        return f"no machine with up to {more} more answers the words of the W-method so and is another one"
    if check.get("epsilon") is None:
        return None
    sure = f"with {100 * (1 - check['delta']):g} % confidence"
    return f"at most {100 * check['epsilon']:.2g} % of words drawn anew differ ({check['drawn']}), {sure}"


def word_named(word: str) -> str:
    """Return a word of a report as it is called in a sentence."""
    return word or "the empty word"


def word_shown(word: str, length: int, made_of: str | None = None, most: int = _LONGEST_SHOWN) -> str:
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


def counts_claim(counts: Mapping[str, Any]) -> str:
    """Return how many words are accepted, counted in two ways.

    >>> counts_claim({"counted": [0, 2], "exhaustive": [0, 1], "equal": False})
    '2 accepted words of length <= 1, without running them: not as many at length 1 as the 1 found by running all'
    """
    counted, exhaustive = counts["counted"], counts["exhaustive"]
    says = f"{sum(counted):,} accepted words of length <= {len(exhaustive) - 1}, without running them"
    if counts["equal"]:
        return f"{says}: as many as were found by running all"
    length = next(i for i, (one, other) in enumerate(zip(counted, exhaustive, strict=True)) if one != other)
    return f"{says}: not as many at length {length} as the {exhaustive[length]:,} found by running all"


def proof_claim(proof: Mapping[str, Any], other: str | None = None) -> str:
    """Return whether the automaton is proved equal to the ``other`` one, which need not be named.

    >>> proof_claim({"verdict": "equal", "domain": "all words"}, "dyck-1")
    'equal to dyck-1 for all words'
    """
    if proof["verdict"] == "equal":
        return f"equal{'' if other is None else f' to {other}'} for {proof.get('domain', 'all words')}"
    word = "" if proof["counterexample"] is None else f", on {word_named(proof['counterexample'])}"
    different = f"different{'' if other is None else f' from {other}'}"
    verdict = different if proof["verdict"] == "different" else "undecided"
    return f"{verdict}: {proof['reason']}{word}"


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
    return f"the rounded network follows {automaton} on {certified_words(entry, where=True)} ({rests})"


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
    told = " that it tells apart" if entry.get("untold") is not None else ""
    share = f"{100 * entry['accuracy']:.1f} % of {count(entry['interchanges'], 'interchange')}{told}"
    return f"{share} do as the automaton predicts (95 % interval {low:.1f} to {high:.1f}{beside})"


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


def cells_named(limit: int) -> str:
    """Return so many cells of a stack, a large power of two as one.

    >>> cells_named(104), cells_named(2**53)
    ('104 cells', '2^53 cells')
    """
    power = limit.bit_length() - 1
    return f"2^{power} cells" if limit == 2**power and limit > _READABLE else count(limit, "cell")


def stored_claim(report: Mapping[str, Any], reason: str | None = None) -> str:
    """Return what of a report was read from a file and not shown again, ``reason`` being why nothing could be."""
    says = f"read from a file: what is marked ({AS_STORED}) was not shown again"
    refuted = "".join(f"; the file claims {one}, which could not be shown" for one in report["refuted"])
    return f"{says}{refuted}" if reason is None else f"{says}: {reason}"


def depth_claim(limit: int) -> str:
    """Return where the claims end, for stacks of ``limit`` cells."""
    return f"the network's stack has {count(limit, 'cell')}; all claims end there"


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
