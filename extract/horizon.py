"""The horizon: up to which length an automaton and a network agree on all words, and the shortest on which they part.

Both are kept apart: no difference is known below the shortest word that shows one, and none is excluded between the
length up to which agreement is shown and that word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..automata.pda import PushdownAutomaton, Word
from ..automata.runs import greatest_heights
from ..languages.language import format_word, named_parts, repeated_parts
from ..models.base import StackModel
from ..models.rounding import Rounded
from .agreement import Agreement, Certification, Certified, CheckKind, differ_on, shorten
from .specification import Specification
from .wording import NETWORKS, horizon_claim

# ---- Horizons ----

_UNREACHED = 2**53  # cells of a stack, or symbols of a word: no word that can be read has so many

ShownBy = Literal["all words run", "bounded certificate", "certificate"]
HorizonDomain = Literal["all words", "all words of the task"]


@dataclass(frozen=True)
class ProvedLength:
    """Up to which length two things are proved to agree on all words, None for every length, and by what.

    Longer words count that need at most ``stack_limit`` cells. ``itself``: of the network as it is, too.
    """

    length: int | None
    by: ShownBy
    stack_limit: int | None = None
    number_format: str | None = None
    itself: bool = False


@dataclass(frozen=True)
class FirstDifference:
    """The shortest word known on which an automaton and a network differ."""

    word: Word  # the word
    height: int  # how high the automaton's stacks get on it
    kind: CheckKind  # the search that led to it; it may have been made shorter since

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report; "made_of" is the word as its parts, where some of them are repeated."""
        parts = repeated_parts(self.word)
        return {
            "word": format_word(self.word),
            "length": len(self.word),
            "height": self.height,
            "found_by": self.kind,
            "made_of": named_parts(parts) if len(parts) < len(self.word) and any(n > 1 for _, n in parts) else None,
        }


@dataclass(frozen=True)
class Horizon:
    """How far an automaton and a network are known to agree."""

    # the largest length up to which they are shown to agree on all words of the domain; None where they are for every
    # length (see `every_length`), or for none: they differ on the empty word, or not all words of any length were run
    length: int | None
    shown_by: ShownBy | None  # how that is shown; None where it is for no length
    domain: HorizonDomain  # which words are meant
    # words, cycles: how many words were run in search of a difference, and how many repeated cycles
    words: int
    cycles: int
    others: int  # how many of these words were not among all words of a length
    difference: FirstDifference | None = None  # the shortest word known on which they differ; None where none was found
    # a certificate shows them to agree on longer words, too, that need at most so many cells of a stack; None where
    # there is none, or there is no such limit
    stack_limit: int | None = None
    # the floating-point numbers for which a certificate holds; None where there is none
    number_format: str | None = None

    @property
    def every_length(self) -> bool:
        """Return whether they are shown to agree on words of every length, or of every one that can be read."""
        return self.shown_by is not None and self.length is None

    @property
    def exact(self) -> bool:
        """Return whether the word on which they differ is one of the shortest that there are."""
        shown = -1 if self.length is None else self.length
        return self.difference is not None and len(self.difference.word) == shown + 1

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "horizon"."""
        plain = {name: value for name, value in vars(self).items() if name != "difference"}
        first = None if self.difference is None else self.difference.to_dict()
        return {**plain, "every_length": self.every_length, "shortest_difference": first, "exact": self.exact}

    def __str__(self) -> str:
        return horizon_claim(self.to_dict())


def horizon_of(
    checks: Sequence[Agreement],  # of the automaton, against anything
    other: str,  # the one that is meant, see `Agreement.other`
    partial_domain: bool,  # whether only some words over the alphabet are meant
    difference: FirstDifference | None = None,  # the shortest word known on which they differ
    proved: Sequence[ProvedLength] = (),  # lengths that are proved by other means than running words
) -> Horizon:
    """Return how far ``checks`` and proofs, unless a word refutes them, show an automaton to agree with ``other``."""
    mine = [check for check in checks if check.other == other]
    shown: list[ProvedLength] = list(proved)
    for check in mine:
        if check.kind == "exhaustive":
            first = check.counterexample
            shown.append(ProvedLength(check.max_length if first is None else len(first) - 1, "all words run"))
    # a certificate that a difference outdoes shows nothing
    certified = next((one for one in shown if one.by == "certificate"), None)
    if certified is not None and difference is not None and difference.height <= (certified.stack_limit or _UNREACHED):
        shown.remove(certified)
        certified = None
    # a word on which they differ is longer than all that are shown
    most = _UNREACHED if difference is None else len(difference.word) - 1
    ends = [(_UNREACHED if one.length is None else min(one.length, most), one) for one in shown]
    length, longest = max(ends, key=lambda end: end[0], default=(-1, None))
    longest = None if length < 0 else longest
    return Horizon(
        None if longest is None or length == _UNREACHED else length,
        None if longest is None else longest.by,
        "all words of the task" if partial_domain else "all words",
        sum(check.words for check in mine if check.kind != "pumped"),
        sum(check.words for check in mine if check.kind == "pumped"),
        sum(check.words for check in mine if check.kind not in ("pumped", "exhaustive")),
        difference,
        None if certified is None else certified.stack_limit,
        next((one.number_format for one in (certified, longest) if one is not None), None),
    )


def proved_lengths(certificate: Certification, equal: bool) -> tuple[ProvedLength, ...]:
    """Return up to which lengths networks are proved to follow an automaton on all words that are meant.

    A certificate leaves out words whose run is cut, and outputs that the automaton does not give: it is for every
    length only where there are none, or where the automaton is proved ``equal`` to what it should do. Where it
    ends at some cells of a stack, all words with fewer symbols need no more (the end of a word may need one, too).
    """
    found = certificate.certificate
    if isinstance(found, Certified) and (equal or not (found.cuts or found.silent)):
        limit = found.stack_limit
        length = None if limit is None or limit >= _UNREACHED else limit - 1
        return (ProvedLength(length, "certificate", limit, found.number_format, found.itself),)
    bounded = certificate.bounded
    if bounded is not None and bounded.length and (equal or not (bounded.cuts or bounded.silent)):
        return (ProvedLength(bounded.length, "bounded certificate", number_format=bounded.number_format),)
    return ()


def with_stack_limit(entry: Mapping[str, Any], certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a report, of which earlier versions left out for how many cells a certificate holds."""
    if not entry["every_length"] or "stack_limit" in entry:
        return dict(entry)
    limit = certificate.get("stack_limit")
    known = {"stack_limit": limit, "number_format": certificate.get("number_format")}
    if "stack_limit" not in certificate:  # not known, so nothing is shown
        return {**entry, **known, "every_length": False, "shown_by": None}
    ends = {} if limit is None or limit >= _UNREACHED else {"every_length": False, "length": limit - 1}
    return {**entry, **known, **ends}


def horizons_of(
    checks: Sequence[Agreement],
    partial_domain: bool,
    differences: Mapping[str, FirstDifference | None],  # by network: the shortest word known on which they differ
    proved: Sequence[ProvedLength] = (),
    alike: bool = False,  # whether a proof of one network is one of each
) -> dict[str, Horizon]:
    """Return how far ``checks``, and what is ``proved``, show an automaton to agree with each of these networks."""
    itself = proved if alike else [one for one in proved if one.itself]
    return {
        other: horizon_of(checks, other, partial_domain, first, proved if other == "rounded network" else itself)
        for other, first in differences.items()
    }


def known_horizons(
    pda: PushdownAutomaton, checks: Sequence[Agreement], partial_domain: bool, proved: Sequence[ProvedLength] = ()
) -> dict[str, Horizon]:
    """Return what ``checks``, and what is ``proved``, know of the horizons of ``pda``; no word is looked for."""
    against = {other: [check for check in checks if check.other == other] for other in NETWORKS}
    differences = {other: shortest_of(pda, _broken_words(some)) for other, some in against.items() if some}
    return horizons_of(checks, partial_domain, differences, proved)


def shortest_of(pda: PushdownAutomaton, found: Sequence[tuple[Word, CheckKind]]) -> FirstDifference | None:
    """Return the shortest of words on which ``pda`` and a network differ, the first of these; None for no words."""
    if not found:
        return None
    word, kind = min(found, key=lambda one: len(one[0]))
    return FirstDifference(word, int(greatest_heights(pda, [word])[0]), kind)


def _broken_words(checks: Sequence[Agreement]) -> list[tuple[Word, CheckKind]]:
    return [(check.counterexample, check.kind) for check in checks if check.counterexample is not None]


# ---- The search for the shortest word on which an automaton and a network part, from words that checks found ----

_LESS = 3  # of the network that is not rounded, whose stack is slow to read, so many times fewer symbols are run


def find_horizons(
    pda: PushdownAutomaton,  # the automaton
    model: StackModel[Any],  # the network, not rounded
    specification: Specification | None,  # which words are meant; None for all
    checks: Sequence[Agreement],  # those of the automaton against the network
    proved: Sequence[ProvedLength] = (),  # up to which lengths the networks are proved to follow the automaton
    budget: int = 300_000,  # symbols that are run to make words shorter: checks have shortened most before
) -> dict[str, Horizon]:
    """Return how far ``pda`` is known to agree with ``model``, rounded and as it is."""
    networks: dict[str, StackModel[Any]] = {"rounded network": Rounded(model), "network": model}
    alone = model.action_kind == "none"  # then there is nothing to round: both are one
    found: dict[str, FirstDifference | None] = {}
    for other, network in networks.items():
        if not (alone and network is model):
            against = [check for check in checks if check.other == other]
            found[other] = shortest_difference(pda, network, specification, against, budget)
    horizons = horizons_of(checks, specification is not None and specification.partial_domain, found, proved)
    return dict.fromkeys(networks, horizons["rounded network"]) if alone else horizons


def shortest_difference(
    pda: PushdownAutomaton,
    network: StackModel[Any],
    specification: Specification | None,
    checks: Sequence[Agreement],
    budget: int,
) -> FirstDifference | None:
    """Return the shortest word that can be found on which ``pda`` and ``network`` differ, None if no check knows one.

    All but a shortest of its length are made shorter, shortest first; of the network as it is only the shortest is.
    """
    words = sorted(_broken_words(checks), key=lambda one: len(one[0]))
    left = budget if isinstance(network, Rounded) else budget // _LESS

    def differ(words: list[Word]) -> np.ndarray:
        nonlocal left
        left -= sum(map(len, words))
        different = differ_on(pda, network, None, words, specification)
        if network.stack_limit is not None and different.any():  # nothing is claimed of words that need more cells
            rows = np.flatnonzero(different)
            different[rows] = greatest_heights(pda, [words[i] for i in rows]) <= network.stack_limit
        return different

    if not any(kind == "exhaustive" for _, kind in words):
        words = words if isinstance(network, Rounded) else words[:1]
        words = [(shorten(word, differ, pda, max(0, left)), kind) for word, kind in words]
    return shortest_of(pda, words)
