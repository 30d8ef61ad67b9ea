"""Agreement of an automaton with what it should do, or with a network, on all words up to a length or on given ones;
and what a certificate of it claims.

Accepted words are counted a second time, by dynamic programming without running any.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, islice, pairwise
from typing import Any, Literal, TypeVar

import numpy as np

from ..automata.counting import count_words
from ..automata.coverage import rare_walks, stack_height_words, transition_pair_words
from ..automata.enumeration import word_at
from ..automata.pda import PushdownAutomaton, State, Symbol, Tops, Word
from ..automata.rewriting import has_real_time_form
from ..core.progress import OutOfTimeError, current_limit, cut_short
from ..languages.language import format_word, make_word, repeated_parts
from ..models.base import StackModel
from ..models.inference import (
    accepted_answers,
    answers_in_time,
    answers_on_all,
    automaton_answers,
    automaton_answers_on_all,
    differences,
    network_answers,
)
from ..models.rounding import Rounded
from .config import Effort
from .specification import Specification, default_max_length
from .wording import agreement_claim, certificate_claim

# ---- The search for a word that breaks an automaton: words that automata suggest, and shorter ones in their place.
#
# Words come from the extracted automaton, and from the specification's where there is one: each knows of places that
# the other may not have.

_SYMBOLS = 250_000  # of all words of a kind together, a second or so for a network
_PAIRS = 2_500  # cuts of two factors that are tried together
_ENDS = 8  # beginnings of a word that are tried, and ends
_UNEQUAL = ((1, 1), (1, 2), (2, 0))  # how many rounds another part loses for each of one, and how many more
_MOST_WAYS = 500  # pairs of repeated parts that are tried
_TRIED = 100_000  # symbols at most of the words that are tried together where things are nested or repeated
_ENOUGH, _ROWS = 5_000, 40  # symbols, and words, that are run at once before it is looked whether one of them serves
BUDGET = 400_000  # symbols that are run to shorten one word

T = TypeVar("T")


def search_words(
    pda: PushdownAutomaton, specification: Specification | None, effort: Effort, seed: int
) -> list[tuple[CheckKind, list[Word]]]:
    """Return words that cover every transition, and words driven to every height, of ``pda`` and of the specification.

    Where only some words are meant (see `Specification.partial_domain`), they all come from the specification's
    automaton, none if it has none. None come from an automaton whose ε-steps cannot be put into other steps.
    """
    meant = None if specification is None else specification.automaton()
    partial_domain = specification is not None and specification.partial_domain
    asked = [meant] if partial_domain else [pda, meant]
    sources = [source for source in asked if source is not None and has_real_time_form(source)]
    covering: dict[Word, None] = {}
    driven: dict[Word, None] = {}
    lengths = effort.height // 2, 2 * effort.height
    for source in sources:
        covering |= _affordable_words(transition_pair_words(source, rejected=not partial_domain), pda, seed)
        ways_up = stack_height_words(source, effort.height, effort.climbs, seed, rejected=not partial_domain)
        walks = rare_walks(source, effort.walks, lengths, effort.height, seed)
        driven |= _affordable_words(ways_up + walks, pda, seed)
    further = [word for word in driven if word not in covering]
    found: tuple[tuple[CheckKind, list[Word]], ...] = (("covering", list(covering)), ("driven", further))
    return [(kind, words) for kind, words in found if words]


def _affordable_words(words: list[tuple[Symbol, ...]], pda: PushdownAutomaton, seed: int) -> dict[Word, None]:
    if sum(map(len, words)) > _SYMBOLS:
        order = np.random.default_rng(seed).permutation(len(words))
        fit = np.cumsum([len(words[i]) for i in order]) <= _SYMBOLS
        words = [words[i] for i in sorted(order[fit].tolist())]
    return {make_word(word, pda.input_alphabet): None for word in words}


def shorten(
    word: Word, differ: Callable[[list[Word]], np.ndarray], pda: PushdownAutomaton | None = None, budget: int = BUDGET
) -> Word:
    """Return ``word``, or a shorter one like it on which two things ``differ``, (N,) bool of some words.

    Factors are cut out, large ones first, one or two at a time: what is nested, as the stack of ``pda`` shows, has to
    go on both sides (Zeller & Hildebrandt 2002, "Simplifying and isolating failure-inducing input", who cut out one).
    What is repeated is repeated less often. It ends where no cut of one symbol helps, ``budget`` symbols were run, or
    the time is over.
    """
    size, together, same = max(1, len(word) // 2), min(_TRIED, budget // 4), set[Word]()

    def batches() -> Iterator[list[Word]]:
        # some thousand symbols together: few words take as many steps as hundreds
        nonlocal size
        enough, batch = min(together, max(_ENOUGH, _ROWS * len(word))), list[Word]()
        while True:
            for cuts in _cuts(word, size, pda, together):
                # words on which both do the same are not run again: a shorter word, or another size, has many of them
                batch += [cut for cut in dict.fromkeys(cuts) if cut not in same]
                if sum(map(len, batch)) >= enough:
                    yield list(dict.fromkeys(batch))
                    batch = []
            if size == 1:
                break
            size = max(1, size // 2)
        if batch:
            yield list(dict.fromkeys(batch))

    while len(word):
        for cuts in batches():
            budget -= sum(map(len, cuts))
            if budget < 0:
                return word
            try:
                hits = np.flatnonzero(differ(cuts)) if cuts else ()
            except OutOfTimeError:
                cut_short()
                return word
            if len(hits):
                word = min((cuts[i] for i in hits), key=len)
                break
            same.update(cuts)
        else:
            return word
        size = min(size, max(1, len(word) // 2))
    return word


def _cuts(word: Word, size: int, pda: PushdownAutomaton | None, together: int) -> Iterator[list[Word]]:
    """Yield words without what is nested, without one factor of ``size``, and, if these are not too many, without two.

    What is nested or repeated is only looked at for the largest and the least size, at ``together`` symbols or so.
    """
    if size == 1 or size >= len(word) // 2:
        # beginnings, and ends that begin as the word does: in a stream, as a new piece
        number = max(2, min(_ENDS, together // len(word)))
        anew = [i for i in range(1, len(word)) if word[i] == word[0] != word[i - 1]]
        lengths = {len(word) * n // number for n in range(number)} | {len(word) - 1}
        yield [word[:n] for n in sorted(lengths)] + [word[i:] for i in _thinned(anew, number)]
        yield from _with_fewer_rounds(word, together)
        if pda is not None:
            yield _unnested(word, pda, together)
    places = range(0, len(word), size)
    yield [_join_words(word[:a], word[a + size :]) for a in places]
    if len(places) ** 2 // 2 <= _PAIRS:
        yield [_join_words(word[:a], word[a + size : b], word[b + size :]) for a in places for b in places if a < b]


def _with_fewer_rounds(word: Word, together: int) -> Iterator[list[Word]]:
    """Yield words with fewer rounds of what is repeated: first neighbours alike, then one or two (see `_UNEQUAL`)."""
    parts = repeated_parts(word)
    repeated = [place for place, (_, times) in enumerate(parts) if times > 1]
    most = max(20, together // (1 + len(word)))
    pairs = list(islice(combinations(repeated, 2), _MOST_WAYS))

    # a way: for some parts, how many rounds each loses times a number, and how many more
    rows = [dict.fromkeys(repeated[i : i + n], (1, 0)) for n in (2, 3, 4) for i in range(len(repeated) - n + 1)]
    others = [{one: (1, 0)} for one in repeated] + [dict.fromkeys(pair, (1, 0)) for pair in pairs]
    for one, other in pairs:
        others += [{one: (1, 0), other: way} for way in _UNEQUAL] + [{other: (1, 0), one: way} for way in _UNEQUAL]
    for ways in (rows, others):
        asked = []
        for way in ways:
            largest = max(0, min((parts[place][1] - more) // each for place, (each, more) in way.items()))
            # numbers dense at both ends, of 20: 1 2 3 4 6 8 12 14 16 17 18 19 20; the fewest rounds are wanted
            steps = [step for n in range(largest.bit_length()) for step in (1 << n, 3 << n) if step <= largest]
            asked += [(way, fewer) for fewer in sorted({*steps, *(largest - step for step in steps), largest} - {0})]
        found = []
        for way, fewer in _thinned(asked, most):
            lost = {place: fewer * each + more for place, (each, more) in way.items()}
            kept = [part for place, (part, n) in enumerate(parts) for _ in range(n - lost.get(place, 0))]
            found.append(_join_words(word[:0], *kept))
        yield found


def _thinned(things: Sequence[T], most: int) -> Sequence[T]:
    return things[:: max(1, -(-len(things) // most))]


def _unnested(word: Word, pda: PushdownAutomaton, together: int) -> list[Word]:
    """Return words without what lies between a push and its pop, or between two pushes and between their pops."""
    # where each cell of the first stack is pushed and popped; an ε-step belongs to the letter before
    pushed, frames, t = list[int](), list[tuple[int, int]](), -1
    for before, after in pairwise(pda.run(word)):
        t += bool(after.symbol) or t < 0
        if t >= len(word):  # the end marker, and what follows it
            break
        change = len(after.stacks[0]) - len(before.stacks[0])
        if change > 0:
            pushed.append(t)
        elif change < 0:
            frames.append((pushed.pop(), t))
    # behind the end of a run that is cut, symbols are taken to pop what is left, one cell each
    frames += zip(reversed(pushed), range(t + 1, len(word)), strict=False)

    shorter = [_join_words(word[:i], word[j + 1 :]) for i, j in frames]
    open_frames: list[tuple[int, int]] = []
    for i, j in sorted(frames):
        open_frames = [frame for frame in open_frames if frame[1] > j]
        levels = [1 << k for k in range(len(open_frames).bit_length())]
        for a, b in (open_frames[-level] for level in levels if level <= len(open_frames)):
            shorter.append(_join_words(word[:a], word[i : j + 1], word[b + 1 :]))
        open_frames.append((i, j))
    shorter += [_join_words(word[:i], word[i + 1 : j], word[j + 1 :]) for i, j in frames]
    ordered = sorted(set(shorter), key=lambda one: (len(one), one))
    # of all sizes: the shortest may lose what counts
    return list(_thinned(ordered, max(20, together // (1 + len(word)))))


def _join_words(*parts: Word) -> Word:
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)  # type: ignore[arg-type]
    return tuple(symbol for part in parts for symbol in part)


# ---- Agreement of an automaton with what it should do, or with a network ----

# words of the analog network, which contradict nothing, are shortened with so many times less effort: the shortest of
# them is shortened on for its horizon
_LESS = 16
_FEW_ALL = 5_000  # words up to a length that are run before all of a greater one, where time may end
_ERRS, MOST_CHECKED = 0.05, 4  # the probability that a bound on errors is wrong, over all automata checked in turn
_MOST_COUNTED = 5_000  # transitions
CheckKind = Literal[
    "exhaustive", "long", "deep", "covering", "driven", "pumped", "sampled", "nested", "conformance", "random"
]


@dataclass(frozen=True)
class Agreement:
    """How often an automaton and something else gave the same answers."""

    # "exhaustive" (all words up to `max_length`), "long" or "deep" (words drawn from a seed), "covering" (every
    # transition and every two in a row), "driven" (every input at every height of the stack), "pumped" (cycles of the
    # automaton, repeated; what is counted are families of words, and the search ends where some break), "sampled" (the
    # words of the search for states, where the automaton is given out although it errs on some), "nested" (what a black
    # box counts to every depth), "conformance" (the W-method) or "random" (drawn anew)
    kind: CheckKind
    other: str  # what the automaton was compared with: "language", "network" or "rounded network"
    max_length: int  # the longest word checked
    words: int  # how many words were checked, the empty one included
    accepted: int  # how many of them the automaton accepts, or does not cut short where it is no recogniser
    disagreements: int  # on how many the two differ
    # a word on which they differ, or None: a shortest one among all words, else a short one
    counterexample: Word | None = None
    by_length: tuple[int, ...] = ()  # for "exhaustive", how many words of each length are accepted; else empty
    made_of: str | None = None  # for "pumped", the counterexample as its parts, and how often each comes
    # for "conformance": what has at most so many states more than the automaton, and answers these words as it does, is
    # equal to it. None where that holds for no number, since only some of the words were asked.
    more_states: int | None = None
    drawn: str | None = None  # for "random", from which distribution

    @property
    def error_bound(self) -> float | None:
        """Return on which share of words so drawn, at most, both differ, with 95 % confidence; None if not known. The
        5 % are for all automata that were mended after a check, too.
        """
        if self.kind != "random" or self.disagreements or not self.words:
            return None
        return float(1 - (_ERRS / MOST_CHECKED) ** (1 / self.words))

    def __str__(self) -> str:
        first = "" if self.counterexample is None else f", first on {format_word(self.counterexample)!r}"
        return f"automaton and {self.other}: {agreement_claim(self.to_dict())}{first}"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "checks"."""
        word = self.counterexample
        return {
            "kind": self.kind,
            "between": ["automaton", self.other],
            "max_length": self.max_length,
            "words": self.words,
            "accepted": self.accepted,
            "disagreements": self.disagreements,
            "counterexample": None if word is None else format_word(word),
            **({} if self.made_of is None else {"made_of": self.made_of}),
            **({"more_states": self.more_states} if self.kind == "conformance" else {}),
            **({} if self.drawn is None else {"drawn": self.drawn, "epsilon": self.error_bound, "delta": _ERRS}),
        }


def first_contradiction(checks: Sequence[Agreement]) -> Agreement | None:
    """Return the first check against the language or the rounded network that found a disagreement, None for none."""
    return next((check for check in checks if check.other != "network" and check.disagreements), None)


def agree_on_all(
    pda: PushdownAutomaton, model: StackModel[Any], other: Specification | None, max_length: int
) -> Agreement | None:
    """Return the agreement with ``other``, ``model`` if None, on all words up to a length; None if not known."""
    made, name, alphabet = None, side_name(model, other), pda.input_alphabet
    # all words of a few lengths first: they count where the time ends before the others are run
    few = default_max_length(len(alphabet), _FEW_ALL)
    for length in (*([few] if few < max_length and current_limit() is not None else []), max_length):
        try:
            theirs = answers_on_all(model, length) if other is None else other.answers_on_all(model, length)
            if theirs is None:
                return None
            mine = automaton_answers_on_all(pda, model, length)
            made = agreement_by_length(name, mine, theirs, alphabet, lambda row, n: accepted_answers(row, model, n))
        except OutOfTimeError:
            if made is None:
                raise
            cut_short()
    return made


def agreement_by_length(
    other: str,
    mine: Iterable[np.ndarray],
    theirs: Iterable[np.ndarray],
    alphabet: tuple[Symbol, ...],
    accepted_of: Callable[[np.ndarray, int], np.ndarray],
) -> Agreement:
    """Return the agreement of two sides' answers to all words of each length, from 0, in the order of the alphabet."""
    words, disagreements, first, accepted = 0, 0, None, list[int]()
    for length, (ours, others) in enumerate(zip(mine, theirs, strict=True)):
        different = np.flatnonzero(differences(ours, others))
        if first is None and len(different):
            first = make_word(word_at(int(different[0]), length, alphabet), alphabet)
        words, disagreements = words + len(ours), disagreements + len(different)
        accepted.append(int(accepted_of(ours, length).sum()))
    longest = len(accepted) - 1
    return Agreement("exhaustive", other, longest, words, sum(accepted), disagreements, first, tuple(accepted))


def agree_on(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    other: Specification | None,
    words: Sequence[Word],
    kind: CheckKind,
    domain: Specification | None = None,
) -> Agreement:
    """Return the agreement on ``words`` with ``other``, or with ``model`` itself where that is None.

    Only answers that count for ``domain`` are compared. The counterexample may be a shorter word (see `shorten`).
    """
    theirs = answers_in_time(model, words) if other is None else other.answers(model, words)
    # those that there was time for; of all words up to a length those of whole lengths, since all of them are claimed
    left_out = min(map(len, words[len(theirs) :]), default=0) if kind == "exhaustive" else 0
    rows = [row for row in range(len(theirs)) if not left_out or len(words[row]) < left_out]
    if words and not rows:
        raise OutOfTimeError
    words, theirs = [words[row] for row in rows], theirs[rows]
    mine = automaton_answers(pda, model, words)
    different = [words[i] for i in np.flatnonzero(_answers_wrong(mine, theirs, words, domain)).tolist()]
    longest = max(map(len, words), default=0)
    first = None
    if different:
        budget = BUDGET if other is not None or isinstance(model, Rounded) else BUDGET // _LESS
        first = shorten(min(different, key=len), lambda words: differ_on(pda, model, other, words, domain), pda, budget)
    lengths = np.array([len(word) for word in words], dtype=int)
    ends = mine[np.arange(len(words)), np.maximum(lengths - 1, 0) if mine.shape[1] > 1 else 0]
    accepted = int(accepted_answers(ends, model, lengths).sum())
    return Agreement(kind, side_name(model, other), longest, len(words), accepted, len(different), first)


def _answers_wrong(
    mine: np.ndarray, theirs: np.ndarray, words: Sequence[Word], domain: Specification | None
) -> np.ndarray:
    scored = None if domain is None else domain.scored(words)
    return np.asarray(np.any(differences(mine, theirs[:, : mine.shape[1]], scored), axis=1))


def differ_on(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    other: Specification | None,
    words: Sequence[Word],
    domain: Specification | None,
) -> np.ndarray:
    """Return on which of any words the automaton and the other differ, (N,) bool; on those that are meant only."""
    meant = np.ones(len(words), dtype=bool) if domain is None else domain.meant(words)
    kept = [words[i] for i in np.flatnonzero(meant).tolist()]
    if kept:
        theirs = network_answers(model, kept) if other is None else other.answers(model, kept)
        meant[meant] = _answers_wrong(automaton_answers(pda, model, kept), theirs, kept, domain)
    return meant


def side_name(model: StackModel[Any], other: Specification | None) -> str:
    """Return what a check against ``other``, or ``model`` where that is None, is called: see `Agreement.other`."""
    if other is not None:
        return "language"
    return "rounded network" if isinstance(model, Rounded) else "network"


@dataclass(frozen=True)
class AcceptedCounts:
    """How many words of each length are accepted, found in two ways."""

    exhaustive: tuple[int, ...]  # by running all words of each length, from 0
    counted: tuple[int, ...]  # by `automata.counting`

    @property
    def equal(self) -> bool:
        """Return whether both ways agree at every length."""
        return self.exhaustive == self.counted

    @property
    def first_different(self) -> int | None:
        """Return the first length at which they do not, None if they do."""
        pairs = enumerate(zip(self.exhaustive, self.counted, strict=True))
        return next((length for length, (one, other) in pairs if one != other), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's "counts"."""
        return {"exhaustive": list(self.exhaustive), "counted": list(self.counted), "equal": self.equal}


def count_again(pda: PushdownAutomaton, checks: Sequence[Agreement], recogniser: bool) -> AcceptedCounts | None:
    """Return the counts of the first check on all words, and those by dynamic programming.

    None where no check was on all words, or the automaton has several stacks, or more than `_MOST_COUNTED` transitions.
    """
    exhaustive = next((check.by_length for check in checks if check.by_length), None)
    if exhaustive is None or pda.n_stacks > 1 or len(pda.transitions) > _MOST_COUNTED:
        return None
    if not recogniser:
        pda = replace(pda, acceptance="final state", accepting=frozenset(pda.states))
    return AcceptedCounts(exhaustive, tuple(count_words(pda, len(exhaustive) - 1)))


# ---- What a certificate claims, or where none was found ----


@dataclass(frozen=True)
class Fault:
    """A step that could not be shown to be right."""

    state: State | None  # the automaton's state, None where its run has been cut
    symbol: Symbol | None  # the letter that is read there, None where it is the verdict that cannot be shown
    tops: Tops  # the automaton's stack tops
    operation: str  # what the automaton does there
    reason: str  # what could not be shown
    what: str = ""  # of what ``box`` has the bounds
    box: tuple[tuple[float, float], ...] = ()  # the bounds that are too wide, (low, high) number by number

    def __str__(self) -> str:
        where = ", ".join([self.state or "(cut)", self.symbol or "the end", *self.tops])
        arrow = f" -> {self.operation}" if self.operation else ""
        widest = ""
        if self.box:
            number = max(range(len(self.box)), key=lambda i: self.box[i][1] - self.box[i][0])
            low, high = self.box[number]
            widest = f"; number {number + 1} of the {self.what} lies anywhere from {low:.4g} to {high:.4g}"
        return f"at ({where}){arrow}: {self.reason}{widest}"


@dataclass(frozen=True)
class Certified:
    """The rounded network follows the automaton on words of every length: proved by boxes."""

    boxes: int  # how many boxes of hidden vectors and stack values the proof has
    steps: int  # how many steps from boxes into boxes it checks
    # the smallest margin of all decisions: of an action or an output from its threshold, or of the largest of several
    # over the next, before a softmax. Infinite where nothing had to be decided
    margin: float
    # how many cells of a stack a word may need; words that need more are left out. It is how many the network has, or
    # up to where the numbers of its format count the stack's height; None for no limit. A buffered network's queues
    # count as stacks: a word needs as many cells of one as it has symbols
    stack_limit: int | None = None
    number_format: str = "float64"  # the floating-point numbers that the network computes with
    # at how many (state, letter, tops) the automaton's run is cut and nothing is claimed from there on: of predictors
    # of one symbol and of transducers only
    cuts: int = 0
    first_cut: tuple[State, Symbol, Tops] | None = None  # one of them, or None
    silent: int = 0  # at how many nothing is claimed of the output, for the automaton's is None
    # the smallest distance of the sums that decide actions from a tie (see `BoxAnswer`), of all stacks
    gap: float = 0.0
    # whether that makes every action exactly 0 or 1 in the number format: the network as it is and the rounded one are
    # then the same, bit for bit, and the certificate is one of the network itself
    itself: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report; an infinite margin or gap, which JSON has not, is None there."""
        margin, gap = (number if math.isfinite(number) else None for number in (self.margin, self.gap))
        return {"verdict": "certified", "reason": None, **asdict(self), "margin": margin, "gap": gap}


@dataclass(frozen=True)
class NotCertified:
    """No proof was found, which does not mean that the network does anything else than the automaton."""

    fault: Fault  # the step at which the last attempt failed
    attempts: int  # how many ways to lay boxes were tried; saved results have it

    @property
    def reason(self) -> str:
        """Return where and why in one sentence."""
        return str(self.fault)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {"verdict": "not certified", "reason": self.reason}


Certificate = Certified | NotCertified


@dataclass(frozen=True)
class BoundedCertificate:
    """Up to which length the rounded network is proved to follow the automaton on all words: boxes carried forward."""

    length: int  # of all words of up to so many symbols it is proved; 0 where nothing is but of the empty word
    reason: str | None = None  # why no longer ones, None where no longer ones were asked for
    boxes: int = 0  # how many boxes of hidden vectors there were at most at one length
    margin: float = math.inf  # the smallest margin of all decisions, also of longer words
    number_format: str = "float64"  # the floating-point numbers that the network computes with
    cuts: int = 0  # at how many (state, letter, tops) the automaton's run is cut and nothing is claimed from there on
    silent: int = 0  # at how many nothing is claimed of the output, for the automaton's is None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report; an infinite margin, which JSON has not, is None there."""
        return {**asdict(self), "margin": self.margin if math.isfinite(self.margin) else None}


@dataclass(frozen=True)
class Certification:
    """A certificate, or why there is none."""

    certificate: Certificate | None  # the answer of `certify`; None where it could not be asked
    # for which words: all, or only those that the task may show the network
    words: Literal["all", "the task's"] = "all"
    reason: str | None = None  # why it could not be asked, None where it was
    # up to which length it is proved where it is not for every length; of words of the task, where it may show the
    # network only some
    bounded: BoundedCertificate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        if self.certificate is None:
            return {"verdict": "not tried", "reason": self.reason}
        bounded = {} if self.bounded is None else {"bounded": self.bounded.to_dict()}
        return {**self.certificate.to_dict(), "words": self.words, **bounded}

    def __str__(self) -> str:
        return certificate_claim(self.to_dict())


CERTIFICATE_NOT_TRIED = Certification(None, reason="there is no automaton")
