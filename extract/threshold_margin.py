"""How near probabilities come to the threshold that makes sets of next symbols of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import Word
from stacklens.extract.samples import Samples, drawn_examples
from stacklens.extract.specification import Specification
from stacklens.languages.words import format_word
from stacklens.models.base import StackModel
from stacklens.models.own.black_box import BlackBox
from stacklens.models.own.outputs import Outputs
from stacklens.models.own.word_network import WordNetwork
from stacklens.probe.own_contract import outputs_read
from stacklens.probe.trace import trace

__all__ = ["BetterThreshold", "ThresholdMargin", "threshold_margin"]

_TOGETHER = 1_000  # words
_RIGHT, _BETTER = 0.9, 0.1  # of these words another threshold has to be right on, and on more than the network's own


@dataclass(frozen=True)
class BetterThreshold:
    """A threshold at which a network is right on far more words of its task.

    Attributes:
        words: on how many words all thresholds were tried.
        right, right_there: on how many of these it is right as it stands, and with the other threshold.
        low, high: the other threshold may be from ``low`` to just below ``high``.
        threshold: one well between, of few digits.
    """

    words: int
    right: int
    right_there: int
    low: float
    high: float
    threshold: float


@dataclass(frozen=True)
class ThresholdMargin:
    """The probabilities nearest to a threshold, after all beginnings of words that a network does not reject.

    Attributes:
        threshold: what a probability has to exceed for a symbol to count as one that may come next.
        words: on how many words they were looked at, all short ones.
        below, above: the largest that is not above it, and the smallest that is; None where there is none.
        word_below, word_above: after which beginnings they were met.
        better: another threshold with which the network is right far more often; None where there is none.
    """

    threshold: float
    words: int
    below: float | None
    above: float | None
    word_below: Word | None
    word_above: Word | None
    better: BetterThreshold | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        words = {name: getattr(self, name) for name in ("word_below", "word_above")}
        return {**asdict(self), **{name: None if word is None else format_word(word) for name, word in words.items()}}


@torch.no_grad()
def threshold_margin(
    model: StackModel[Any], samples: Samples, specification: Specification | None
) -> ThresholdMargin | None:
    """Return how near the probabilities of a network of one's own come to its threshold, and a better one if there is.

    Of networks that make steps, and of recognisers, a better one only. None for networks whose threshold is no choice.
    """
    read = outputs_read(model)
    if read is None or isinstance(model, BlackBox) or read.kind not in ("recognition", "next set"):
        return None
    better = None if specification is None else _better(model, read, specification)
    margin = None
    if isinstance(model, WordNetwork) and read.kind == "next set":
        margin = _nearest(model, samples)
    if margin is None and better is not None:
        margin = ThresholdMargin(read.threshold, 0, None, None, None, None)
    return None if margin is None else replace(margin, better=better)


def _better(model: StackModel[Any], read: Outputs, specification: Specification) -> BetterThreshold | None:
    """Return the threshold with which a network is right on most words of the task, None where that gains little.

    A word is right from the largest number that should not count to just below the smallest that should; the place
    where most of these intervals overlap is found exactly, from their ends.
    """
    if specification.partial_domain:
        return None
    words, expected = drawn_examples(model, specification)
    if not words:
        return None
    seen = trace(model, words, stacks=False)
    values = seen.output + read.threshold - 0.5  # as the network gives them
    ends = []
    for row, word in enumerate(words):
        numbers, counts = values[row, seen.valid[row].sum() - 1], expected[row] > 0
        if read.kind == "next set":
            numbers = values[row, : len(word), : len(model.alphabet)]
            counts = expected[row, : len(word), None] >> np.arange(numbers.shape[-1]) & 1 > 0
        ends.append((numbers[~counts].max(initial=-np.inf), numbers[counts].min(initial=np.inf)))
    lows, highs = np.array(ends).reshape(-1, 2).T
    starts = np.clip(lows, 0, None)
    right = [int(((lows <= start) & (start < highs)).sum()) for start in starts]
    own = int(((lows <= read.threshold) & (read.threshold < highs)).sum())
    if max(right, default=0) < max(_RIGHT * len(ends), own + _BETTER * len(ends), 1):
        return None
    low = float(starts[int(np.argmax(right))])
    high = min(1.0, float(highs[(lows <= low) & (low < highs)].min()))
    return BetterThreshold(len(ends), own, max(right), low, high, _between(low, high))


def _between(low: float, high: float) -> float:
    """Return a number well between two, near their geometric mean, with as few digits as do.

    >>> _between(0.0112, 0.034), _between(0.2, 0.20001)
    (0.02, 0.200005)
    """
    middle, off = float(np.sqrt(low * high)) if low > 0 else high / 2, (high - low) / 10
    tries = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next((one for one in tries if low + off < one < high - off), middle)


def _nearest(model: WordNetwork, samples: Samples) -> ThresholdMargin | None:
    """Return how near the probabilities of a network that answers whole words come to its threshold."""
    words = samples.words[: samples.n_short]
    nearest: dict[bool, tuple[float, Word]] = {}
    for begin in range(0, len(words), _TOGETHER):
        part = words[begin : begin + _TOGETHER]
        found = _shifted(model, part)
        if found is None:
            return None
        alive = samples.analog[begin : begin + len(part), : found.shape[1], None] >= 0
        for above in (False, True):
            counts = alive & ((found > 0) == above)
            if not counts.any():
                continue
            row, step, _ = np.unravel_index(int(np.where(counts, np.abs(found), np.inf).argmin()), found.shape)
            off = float(np.where(counts, np.abs(found), np.inf).min())
            if above not in nearest or off < nearest[above][0]:
                nearest[above] = off, part[int(row)][: int(step) + 1]
    return _margin(model.outputs.threshold, len(words), nearest)


def _shifted(model: WordNetwork, words: list[Word]) -> np.ndarray | None:
    """Return by how much the probabilities after every symbol are above the threshold, (N, T, K)."""
    codes, lengths = encode_words(words, model.alphabet)
    if not codes.shape[1]:
        return None
    said = model.said_along(torch.from_numpy(np.maximum(codes, 0).astype(np.int64)), lengths.tolist())
    return None if said is None else said.double().cpu().numpy()[..., : len(model.alphabet)] - 0.5


def _margin(threshold: float, words: int, nearest: dict[bool, tuple[float, Word]]) -> ThresholdMargin:
    below, above = (nearest.get(side) for side in (False, True))
    return ThresholdMargin(
        threshold,
        words,
        None if below is None else threshold - below[0],
        None if above is None else threshold + above[0],
        None if below is None else below[1],
        None if above is None else above[1],
    )
