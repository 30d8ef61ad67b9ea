"""What a report says in words: one function a claim, from the report's plain data.

`extract-pda`, `stacklens verify`, the pages and the report page all say it so. Reports of earlier versions lack some
entries; nothing is said of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stacklens.errors import listed
from stacklens.progress import count

__all__ = [
    "agreement_claim",
    "automaton_claim",
    "before_claim",
    "certificate_claim",
    "counts_claim",
    "depth_claim",
    "disagreements_claim",
    "network_claim",
    "nothing_found",
    "proof_claim",
    "rounding_claim",
    "word_named",
    "words_of_kind",
]

_READABLE = 1_000_000  # powers of two above it are written as such
_KINDS = {  # of words; reports keep the names of their first schema
    "exhaustive": "words, all",
    "long": "words",
    "covering": "transition-pair words",
    "driven": "stack-height words",
    "pumped": "cycles repeated in words",
}


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
    """Return how large the machine was before minimisation, from the ``sizes`` of the automaton."""
    before = sizes["before_minimization"]
    return f"before minimisation {count(before['states'], 'state')}, {count(before['stack_symbols'], 'stack symbol')}"


def nothing_found(reason: str) -> str:
    """Return that there is no automaton, and why."""
    return f"no faithful automaton was found: {reason}"


def rounding_claim(fidelity: Mapping[str, Any]) -> str:
    """Return what rounding the actions changes, and how near they are to whole ones."""
    found, outvoted = fidelity["rounding"], fidelity["minority_transitions"]
    says = (
        f"changes {found['disagreements']:,} of {count(found['words'], 'verdict')}; "
        f"smallest action margin {fidelity['action_margin']:.3f}"
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


def word_named(word: str) -> str:
    """Return a word of a report as it is called in a sentence."""
    return word or "the empty word"


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
        return f"{entry['verdict']}: {entry['reason']}"
    words = "words of the task" if entry.get("words", "all") != "all" else "words"
    margin = "" if entry["margin"] is None else f", smallest margin {entry['margin']:.3f}"
    numbers = f"{entry['number_format']}, " if "number_format" in entry else ""
    rests = f"{numbers}{count(entry['boxes'], 'box', 'boxes')}{margin}"
    return f"the rounded network follows {automaton} on {words} of every length{_limits(entry)} ({rests})"


def _limits(entry: Mapping[str, Any]) -> str:
    """Return of what nothing is claimed."""
    limit, first = entry.get("stack_limit"), entry.get("first_cut")
    says = "" if limit is None else f" that need at most {_cells(limit)} of a stack"
    if first is not None:
        state, letter, tops = first
        where = ", ".join([state, letter, *tops])
        says += f", up to where its run is cut ({count(entry['cuts'], 'place')}, as at {where})"
    if entry.get("silent"):
        says += f", but for the output at {count(entry['silent'], 'place')}"
    return says


def _cells(limit: int) -> str:
    power = limit.bit_length() - 1
    return f"2^{power} cells" if limit == 2**power and limit > _READABLE else count(limit, "cell")


def depth_claim(limit: int) -> str:
    """Return where the claims end, for stacks of ``limit`` cells."""
    return f"the network's stack has {count(limit, 'cell')}; all claims end there"
