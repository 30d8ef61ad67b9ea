"""How near probabilities come to the threshold that makes sets of next symbols of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import Word
from stacklens.extract.samples import Samples
from stacklens.languages.words import format_word
from stacklens.models.base import StackModel
from stacklens.models.own.black_box import BlackBox
from stacklens.models.own.word_network import WordNetwork

__all__ = ["ThresholdMargin", "threshold_margin"]

_TOGETHER = 1_000  # words


@dataclass(frozen=True)
class ThresholdMargin:
    """The probabilities nearest to a threshold, after all beginnings of words that a network does not reject.

    Attributes:
        threshold: what a probability has to exceed for a symbol to count as one that may come next.
        words: on how many words they were looked at, all short ones.
        below, above: the largest that is not above it, and the smallest that is; None where there is none.
        word_below, word_above: after which beginnings they were met.
    """

    threshold: float
    words: int
    below: float | None
    above: float | None
    word_below: Word | None
    word_above: Word | None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        words = {name: getattr(self, name) for name in ("word_below", "word_above")}
        return {**asdict(self), **{name: None if word is None else format_word(word) for name, word in words.items()}}


@torch.no_grad()
def threshold_margin(model: StackModel[Any], samples: Samples) -> ThresholdMargin | None:
    """Return how near the probabilities of a network that answers whole words come to its threshold, else None."""
    if not isinstance(model, WordNetwork) or isinstance(model, BlackBox) or model.task_kind != "next set":
        return None
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
