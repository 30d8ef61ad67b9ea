"""How often network, rounded network and automaton are right on words of every size (Joulin & Mikolov 2015, figure 2).

A size is a length where there is a language to draw members and near-misses of, else what the task calls so, such as
the n of a^n b^n. Streams are judged by the piece, as in that paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.extract.answers import automaton_answers, differences, network_answers
from stacklens.extract.specification import LanguageSpecification, Specification
from stacklens.extract.task_specification import TaskSpecification
from stacklens.languages.language import Language
from stacklens.languages.tasks.streams import SIZES, StreamAfter, StreamTask
from stacklens.languages.tasks.task import Task
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.models.rounding import Rounded

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SizeScore", "SizeScores", "scores_by_size"]

_LONGEST = 240  # symbols, far beyond what networks are trained on: some fail only there
_WINDOWS = 20  # lengths are taken together, so that even and odd ones, of which a language may have one, are both there
_WARM = 2  # pieces at the beginning of a stream that do not count: the paper empties stacks once for a whole test
_PIECES = 6  # of a stream that do
_EACH = 20  # words of each sort and size


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
    """Scores of all parties at all sizes.

    Attributes:
        size: what a size is called, "length", "n" or "size".
        scores: a score for every party, sort of words and range of sizes, in this order.
    """

    size: str
    scores: tuple[SizeScore, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a score, with the accuracy between 0 and 1."""
        import pandas as pd

        frame = pd.DataFrame(self.scores, columns=list(SizeScore._fields))
        return frame.assign(accuracy=frame["right"] / frame["words"])


class _Drawn(NamedTuple):
    """Words that are judged together, and the symbols (begin, end) of them that each score is about."""

    sort: str
    low: int
    high: int
    row: int
    begin: int
    end: int


def scores_by_size(
    model: StackModel[Any],
    specification: Specification,
    automaton: PushdownAutomaton | None = None,
    *,
    largest: int | None = None,
    words: int = _EACH,
    seed: int = 0,
) -> SizeScores:
    """Return how often ``model``, rounded, and its ``automaton`` are right on words of every size up to ``largest``.

    A word, or a piece of a stream, is right if everything in it that counts is. Sizes go to 240 by default,
    the n of streams to 59, as in the paper.

    Args:
        model: the network, not rounded.
        specification: what it should do, see `extract.names.reference_of`.
        automaton: what was extracted from it, if anything was.
        largest: the largest size.
        words: how many words of each sort and size.
        seed: for all that is drawn.

    Raises:
        StacklensError: there are no such words.
    """
    task = specification.task if isinstance(specification, TaskSpecification) else None
    size, drawn, texts = _draw(specification, task, largest, words, seed)
    if not texts:
        raise StacklensError(f"{specification.name} has no words of sizes up to {largest}: ask for larger ones")
    with one_thread():
        right = _right(model, specification, automaton, texts)
    scores: dict[tuple[str, str, int, int], list[bool]] = {}
    for who, hits in right.items():
        for one in drawn:
            good = bool(hits[one.row, one.begin : one.end].all())
            scores.setdefault((who, one.sort, one.low, one.high), []).append(good)
    return SizeScores(
        size, tuple(SizeScore(*key, len(found), sum(found)) for key, found in sorted(scores.items(), key=_order))
    )


def _order(scored: tuple[tuple[str, str, int, int], list[bool]]) -> tuple[int, str, int]:
    (who, sort, low, _), _ = scored
    return ("network", "rounded network", "automaton").index(who), sort, low


def _right(
    model: StackModel[Any], specification: Specification, automaton: PushdownAutomaton | None, words: Sequence[Word]
) -> dict[str, np.ndarray]:
    """Return where each party's answers are right or do not count, (N, 1) or (N, T) bool."""
    expected, scored = specification.answers(model, words), specification.scored(words)
    answers = {"network": network_answers(model, words), "rounded network": network_answers(Rounded(model), words)}
    if automaton is not None:
        answers["automaton"] = automaton_answers(automaton, model, words)
    return {who: ~differences(found, expected, scored) for who, found in answers.items()}


def _draw(
    specification: Specification, task: Task | None, largest: int | None, words: int, seed: int
) -> tuple[str, list[_Drawn], list[Word]]:
    """Return what a size is called, what is judged, and the words."""
    if isinstance(task, StreamAfter):
        return "n", *_draw_streams(task.task, largest or SIZES["test"][1], words, seed, task.before)
    if isinstance(task, StreamTask):
        return "n", *_draw_streams(task, largest or SIZES["test"][1], words, seed)
    language = specification.language if isinstance(specification, LanguageSpecification | TaskSpecification) else None
    samples = (
        _language_words(language, largest, words, seed)
        if language is not None
        else _task_words(task, largest, words, seed)
    )
    drawn, texts = list[_Drawn](), list[Word]()
    for sort, (low, high), some in samples:
        drawn += [_Drawn(sort, low, high, len(texts) + row, 0, max(1, len(word))) for row, word in enumerate(some)]
        texts += some
    return "length" if language is not None else "size", drawn, texts


def _windows(largest: int) -> list[tuple[int, int]]:
    """Return about 20 ranges of sizes from 1 to ``largest``."""
    width = max(2, -(-largest // _WINDOWS))
    return [(low, min(low + width - 1, largest)) for low in range(1, largest + 1, width)]


_Sample = tuple[str, tuple[int, int], list[Word]]


def _language_words(language: Language, largest: int | None, words: int, seed: int) -> Iterator[_Sample]:
    """Yield members and near-misses of lengths in each window where there are some."""
    for sort, member in (("members", True), ("near-misses", False)):
        for number, window in enumerate(_windows(largest or _LONGEST)):
            try:
                yield sort, window, language.sample(words, window, member, seed + number)
            except StacklensError:  # none of these lengths
                continue


def _task_words(task: Task | None, largest: int | None, words: int, seed: int) -> Iterator[_Sample]:
    """Yield words of the task of sizes in each window; fewer where there are not so many."""
    assert task is not None, "a reference is a language's or a task's"
    for number, window in enumerate(_windows(largest or _LONGEST)):
        for count in (words, words // 4, 1):
            try:
                yield "words", window, list(task.sample(count, window, seed=seed + number).words)
            except StacklensError:  # not so many of these sizes
                continue
            break


def _draw_streams(
    task: StreamTask, largest: int, count: int, seed: int, before: str = ""
) -> tuple[list[_Drawn], list[Word]]:
    """Return ``count`` pieces of every n in streams of a few, with some before them that do not count."""
    rng = np.random.default_rng(seed)
    by_n = task.words_by_n(task.smallest, largest, count, seed)
    pieces = [(n, piece) for n, some in by_n.items() for piece in some]
    order = rng.permutation(len(pieces)).tolist()
    drawn, streams = list[_Drawn](), list[Word]()
    for begin in range(0, len(order), _PIECES):
        mine = [pieces[place] for place in order[begin : begin + _PIECES]]
        warm = [task.piece(int(rng.integers(task.smallest, largest + 1)), rng) for _ in range(_WARM)]
        texts = [before, *warm, *(piece for _, piece in mine)]
        bounds = list(pairwise(accumulate(map(len, texts), initial=0)))[1 + _WARM :]
        drawn += [_Drawn("pieces", n, n, len(streams), *ends) for (n, _), ends in zip(mine, bounds, strict=True)]
        streams.append("".join(texts))
    return drawn, streams
