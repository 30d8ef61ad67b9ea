"""How often network, rounded network and automaton are right on words of every size (Joulin & Mikolov 2015, figure 2).

A size is a length where there is a language to draw members and near-misses of, else what the task calls so, such as
the n of a^n b^n. Streams are judged by the piece, as in that paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple

import numpy as np
import torch

from ..automata.enumeration import encode_words
from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..core.imports import pd
from ..languages.language import format_word
from ..languages.streams import SIZES, StreamAfter, StreamTask
from ..models.base import StackModel, one_thread
from ..models.inference import automaton_answers, differences, network_answers
from ..models.rounding import Outputs, Rounded
from ..models.word_network import BlackBox, WordNetwork
from ..probe.adapter_check import outputs_read
from ..probe.trace import trace
from .samples import Samples, drawn_examples
from .specification import LanguageSpecification, Specification, TaskSpecification

_LONGEST = 240  # symbols, far beyond what networks are trained on: some fail only there
_WINDOWS = 20  # lengths are taken together, so that even and odd ones, of which a language may have one, are both there
_WARM = 2  # pieces at the beginning of a stream that do not count: the paper empties stacks once for a whole test
_PIECES = 6  # of a stream that do
_EACH = 20  # words of each sort and size
_PARTIES = ("network", "rounded network", "automaton")


class SizeScore(NamedTuple):
    """How many of some words of one sort, sizes ``low`` to ``high``, one party got right."""

    who: str
    sort: str
    low: int
    high: int
    words: int
    right: int


@dataclass(frozen=True)
class SizeScores:
    """Scores of all parties at all sizes."""

    size: str  # what a size is called, "length", "n" or "size"
    scores: tuple[SizeScore, ...]  # a score for every party, sort of words and range of sizes, in this order

    def to_frame(self) -> pd.DataFrame:
        """Return one row a score, with the accuracy between 0 and 1."""
        frame = pd.DataFrame(self.scores, columns=list(SizeScore._fields))
        return frame.assign(accuracy=frame["right"] / frame["words"])


# sort, smallest and largest size of words that are judged together; the row of a word, and its symbols that count
_Drawn = tuple[tuple[str, int, int], int, slice]


def scores_by_size(
    model: StackModel[Any],  # the network, not rounded
    specification: Specification,  # what it should do
    automaton: PushdownAutomaton | None = None,  # what was extracted from it, if anything was
    *,
    largest: int | None = None,  # the largest size
    words: int = _EACH,  # how many words of each sort and size
    seed: int = 0,  # for all that is drawn
) -> SizeScores:
    """Return how often ``model``, rounded, and its ``automaton`` are right on words of every size up to ``largest``.

    A word, or a piece of a stream, is right if everything in it that counts is. Sizes go to 240 by default, the n of
    streams to 59, as in the paper. Raises StacklensError: there are no such words.
    """
    size, drawn, texts = _words_by_size(specification, largest, words, seed)
    if not texts:
        raise StacklensError(f"{specification.name} has no words of sizes up to {largest}: ask for larger ones")
    # where each party's answers are right or do not count, (N, 1) or (N, T) bool
    with one_thread():
        expected, scored = specification.answers(model, texts), specification.scored(texts)
        answers = {"network": network_answers(model, texts), "rounded network": network_answers(Rounded(model), texts)}
        if automaton is not None:
            answers["automaton"] = automaton_answers(automaton, model, texts)
        right = {who: ~differences(found, expected, scored) for who, found in answers.items()}
    scores: dict[tuple[str, str, int, int], list[bool]] = {}
    for who, hits in right.items():
        for group, row, symbols in drawn:
            scores.setdefault((who, *group), []).append(bool(hits[row, symbols].all()))
    order = sorted(scores, key=lambda key: (_PARTIES.index(key[0]), *key[1:3]))
    return SizeScores(size, tuple(SizeScore(*key, len(scores[key]), sum(scores[key])) for key in order))


def _words_by_size(
    specification: Specification, largest: int | None, words: int, seed: int
) -> tuple[str, list[_Drawn], list[Word]]:
    """Return what a size is called, what is judged, and the words."""
    task = specification.task if isinstance(specification, TaskSpecification) else None
    if isinstance(task, StreamAfter | StreamTask):
        stream, before = (task.task, task.before) if isinstance(task, StreamAfter) else (task, "")
        return "n", *_draw_streams(stream, largest or SIZES["test"][1], words, seed, before)
    # who draws words of sizes in a window by sort; and how many are tried: of a task there may be fewer of a size
    counts: tuple[int, ...] = (words,)
    samplers: dict[str, Callable[[int, tuple[int, int], int], Sequence[Word]]]
    if isinstance(specification, LanguageSpecification | TaskSpecification) and specification.language is not None:
        size, language = "length", specification.language
        samplers = {
            "members": lambda count, window, seed: language.sample(count, window, True, seed),
            "near-misses": lambda count, window, seed: language.sample(count, window, False, seed),
        }
    else:
        assert task is not None, "a reference is a language's or a task's"
        size, counts = "size", (words, words // 4, 1)
        samplers = {"words": lambda count, window, seed: task.sample(count, window, seed=seed).words}
    largest = largest or _LONGEST
    width = max(2, -(-largest // _WINDOWS))
    windows = [(low, min(low + width - 1, largest)) for low in range(1, largest + 1, width)]
    drawn, texts = list[_Drawn](), list[Word]()
    for (sort, sample), (number, (low, high)) in product(samplers.items(), enumerate(windows)):
        for count in counts:
            with suppress(StacklensError):  # not so many of these sizes, or none
                some = sample(count, (low, high), seed + number)
                rows = enumerate(some, len(texts))
                drawn += [((sort, low, high), row, slice(max(1, len(word)))) for row, word in rows]
                texts += some
                break
    return size, drawn, texts


def _draw_streams(
    task: StreamTask, largest: int, count: int, seed: int, before: str
) -> tuple[list[_Drawn], list[Word]]:
    """Return ``count`` pieces of every n in streams of a few, with some before them that do not count."""
    rng = np.random.default_rng(seed)
    by_n = task.words_by_n(task.smallest, largest, count, seed)
    pieces = [(n, piece) for n, some in by_n.items() for piece in some]
    order = rng.permutation(len(pieces)).tolist()
    drawn, streams = list[_Drawn](), list[Word]()
    for begin in range(0, len(order), _PIECES):
        # some pieces in front warm the stacks up, and do not count
        mine = [pieces[place] for place in order[begin : begin + _PIECES]]
        warm = [task.piece(int(rng.integers(task.smallest, largest + 1)), rng) for _ in range(_WARM)]
        texts = [before, *warm, *(piece for _, piece in mine)]
        bounds = list(pairwise(accumulate(map(len, texts), initial=0)))[1 + _WARM :]
        drawn += [(("pieces", n, n), len(streams), slice(*ends)) for (n, _), ends in zip(mine, bounds, strict=True)]
        streams.append("".join(texts))
    return drawn, streams


# ---- How often network, rounded network and automaton are right, by size, as a table of a few rows ----

_LARGEST, _EACH_SIZE, _FEW = 80, 10, 3  # sizes of the words, and how many of each size and sort
_ROWS = 5


@dataclass(frozen=True)
class AccuracyRow:
    """How many of some words, members and near-misses alike, everybody gets right."""

    # low, high: their sizes
    low: int
    high: int
    words: int  # how many
    # network, rounded, automaton: how many of them each is right on; None where there is no automaton
    network: int
    rounded: int
    automaton: int | None


@dataclass(frozen=True)
class AccuracyTable:
    """Rows of growing sizes."""

    size: str  # what a size is called, "length", "n" or "size"
    rows: tuple[AccuracyRow, ...]  # the rows

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return asdict(self)

    def lines(self, automaton: str) -> list[str]:
        """Return the table as lines of text, the last column called ``automaton``."""
        beside = any(row.automaton is not None for row in self.rows)
        titles = [self.size, "words", "network", "rounded network", *([automaton] if beside else [])]
        lines = ["  ".join(f"{title:>9}" for title in titles)]
        for row in self.rows:
            right = [row.network, row.rounded, *([row.automaton] if beside else [])]
            shares = ["–" if one is None else f"{one / max(1, row.words):.1%}" for one in right]
            cells = [f"{row.low}-{row.high}", f"{row.words:,}", *shares]
            lines.append("  ".join(f"{cell:>{max(9, len(title))}}" for cell, title in zip(cells, titles, strict=True)))
        return lines


def accuracy_table(
    model: StackModel[Any], language: Specification | None, pda: PushdownAutomaton | None
) -> AccuracyTable | None:
    """Return how often everybody is right on words of every size; None where nothing says what is right."""
    if language is None:
        return None
    largest = _LARGEST if model.longest is None else min(_LARGEST, model.longest)
    words = _EACH_SIZE if model.affordable is None else _FEW
    try:
        scores = scores_by_size(model, language, pda, largest=largest, words=words)
    except StacklensError:  # there are no words of these sizes
        return None
    # all sorts of words together, and neighbouring sizes
    table, sizes = [], np.unique([score.low for score in scores.scores])
    for part in np.array_split(sizes, min(_ROWS, len(sizes))):
        some = [score for score in scores.scores if score.low in part]
        right = {who: sum(one.right for one in some if one.who == who) for who in {one.who for one in some}}
        words = sum(one.words for one in some if one.who == "network")
        bounds = int(part.min()), max(score.high for score in some)
        table.append(AccuracyRow(*bounds, words, right["network"], right["rounded network"], right.get("automaton")))
    return AccuracyTable(scores.size, tuple(table))


# ---- How near probabilities come to the threshold that makes sets of next symbols of them ----

_TOGETHER = 1_000  # words
_RIGHT, _BETTER = 0.9, 0.1  # of these words another threshold has to be right on, and on more than the network's own


@dataclass(frozen=True)
class BetterThreshold:
    """A threshold at which a network is right on far more words of its task."""

    words: int  # on how many words all thresholds were tried
    # right, right_there: on how many of these it is right as it stands, and with the other threshold
    right: int
    right_there: int
    # low, high: the other threshold may be from ``low`` to just below ``high``
    low: float
    high: float
    threshold: float  # one well between, of few digits


@dataclass(frozen=True)
class ThresholdMargin:
    """The probabilities nearest to a threshold, after all beginnings of words that a network does not reject."""

    # what a probability has to exceed for a symbol to count as one that may come next: a number, a share of the largest
    # such as "5%", or "top 2", how many of the largest count
    threshold: float | str
    words: int  # on how many words they were looked at, all short ones
    # below, above: the largest that is not above it, and the smallest that is, as shares of the largest where the
    # threshold is one, and for "top" beside the last that counts, 0.5 being the middle between it and the next one;
    # None where there is none
    below: float | None
    above: float | None
    # word_below, word_above: after which beginnings they were met
    word_below: Word | None
    word_above: Word | None
    # another threshold with which the network is right far more often; None where there is none
    better: BetterThreshold | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        words = {name: getattr(self, name) for name in ("word_below", "word_above")}
        return {**asdict(self), **{name: None if word is None else format_word(word) for name, word in words.items()}}


@torch.no_grad()
def threshold_margin(
    model: StackModel[Any], samples: Samples, specification: Specification | None
) -> ThresholdMargin | None:
    """Return how near the probabilities of a network of one's own come to its threshold, and a better one, or None."""
    read = outputs_read(model)
    if read is None or isinstance(model, BlackBox) or read.kind not in ("recognition", "next set"):
        return None
    better = None if specification is None else _better_threshold(model, read, specification)
    margin = None
    if isinstance(model, WordNetwork) and read.kind == "next set":
        margin = _nearest(model, samples)
    if margin is None and better is not None:
        margin = ThresholdMargin(read.threshold, 0, None, None, None, None)
    return None if margin is None else replace(margin, better=better)


def _better_threshold(model: StackModel[Any], read: Outputs, specification: Specification) -> BetterThreshold | None:
    """Return the threshold with which a network is right on most words of the task, None where that gains little.

    A word is right from the largest number that should not count to just below the smallest that should; the place
    where most of these intervals overlap is found exactly, from their ends.
    """
    if specification.partial_domain or str(read.threshold).startswith("top"):
        return None
    words, expected = drawn_examples(model, specification)
    if not words:
        return None
    seen = trace(model, words, stacks=False)
    values = seen.output + read.cut - 0.5  # as the network gives them, or as shares of the largest
    ends = []
    for row, word in enumerate(words):
        numbers, counts = values[row, seen.valid[row].sum() - 1], expected[row] > 0
        if read.kind == "next set":
            numbers = values[row, : len(word)]
            counts = expected[row, : len(word), None] >> np.arange(numbers.shape[-1]) & 1 > 0
        ends.append((numbers[~counts].max(initial=-np.inf), numbers[counts].min(initial=np.inf)))
    # words that are right at a threshold: those whose interval holds it
    lows, highs = np.array(ends).reshape(-1, 2).T
    starts = np.clip(lows, 0, None)
    right = [int(((lows <= start) & (start < highs)).sum()) for start in starts]
    own = int(((lows <= read.cut) & (read.cut < highs)).sum())
    if max(right, default=0) < max(_RIGHT * len(ends), own + _BETTER * len(ends), 1):
        return None
    # the interval where most are right, and a number of few digits in it
    low = float(starts[int(np.argmax(right))])
    high = min(1.0, float(highs[(lows <= low) & (low < highs)].min()))
    return BetterThreshold(len(ends), own, max(right), low, high, _number_between(low, high))


def _number_between(low: float, high: float) -> float:
    """Return a number well between two, near their geometric mean, with as few digits as do.

    >>> _number_between(0.0112, 0.034), _number_between(0.2, 0.20001)
    (0.02, 0.200005)
    """
    middle, off = float(np.sqrt(low * high)) if low > 0 else high / 2, (high - low) / 10
    tries = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next((one for one in tries if low + off < one < high - off), middle)


def _nearest(model: WordNetwork, samples: Samples) -> ThresholdMargin | None:
    """Return how near the probabilities of a network that answers whole words come to its threshold."""
    words, cut = samples.words[: samples.n_short], model.outputs.cut
    nearest: dict[bool, tuple[float, Word]] = {}
    for begin in range(0, len(words), _TOGETHER):
        # by how much the probabilities after every symbol are above the threshold, (N, T, K)
        part = words[begin : begin + _TOGETHER]
        codes, lengths = encode_words(part, model.alphabet)
        if not codes.shape[1]:
            return None
        along = model.outputs_along(torch.from_numpy(np.maximum(codes, 0).astype(np.int64)), lengths.tolist())
        found = along.double().cpu().numpy() - 0.5
        alive = samples.analog[begin : begin + len(part), : found.shape[1], None] >= 0
        for above in (False, True):
            off = np.where(alive & ((found > 0) == above), np.abs(found), np.inf)
            row, step, _ = np.unravel_index(int(off.argmin()), off.shape)
            if float(off.min()) < nearest.get(above, (np.inf, ""))[0]:
                nearest[above] = float(off.min()), part[int(row)][: int(step) + 1]
    (below, word_below), (above_it, word_above) = (nearest.get(side, (None, None)) for side in (False, True))
    below = None if below is None else cut - below
    above_it = None if above_it is None else cut + above_it
    return ThresholdMargin(model.outputs.threshold, len(words), below, above_it, word_below, word_above)
