"""The words on which candidates are compared with the rounded network, and words that an automaton itself suggests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.extract.answers import differences, network_answers
from stacklens.extract.fidelity import Rounding, rounding_fidelity
from stacklens.extract.specification import Specification, default_max_length, random_words
from stacklens.languages.words import all_words, make_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded

__all__ = ["Samples", "draw_samples", "drawn_examples", "nested_words", "walk_words"]

_SHORT = 20_000  # all words up to the length that gives at most so many
_DRAWN, _LENGTHS = 800, (10, 60)
_TOGETHER = 4_000  # words on which an automaton is run at once
_NESTED, _MOST_NESTED = (4, 9, 20, 200), 8  # how often, and symbols
_TRIALS, _TRIAL_LENGTHS = 60, (2, 14)  # words on which another adapter or threshold is tried, and their lengths
_TRACED = 400  # words of each sort whose hidden vectors are clustered


@dataclass(frozen=True)
class Samples:
    """Checking words with the answers of a network and its rounded twin.

    Attributes:
        words: all short words, then drawn longer ones.
        rounded: what the rounded network says of them, (N, 1) or (N, T) int (see `answers`).
        analog: what the network itself says of the short ones; on longer words its errors sum up.
        scored: which answers count, of the same shape; None for all.
        n_short: how many of the words are the short ones.
        traced: some of them on which hidden vectors are gathered: drawn ones, accepted ones and others.
        short_traced: the short ones among these.
    """

    words: list[Word]
    rounded: np.ndarray
    analog: np.ndarray
    scored: np.ndarray | None
    n_short: int
    traced: list[Word]
    short_traced: list[Word]

    def differing(self, answers_to: Callable[[list[Word]], np.ndarray], enough: int | None = None) -> list[Word]:
        """Return the words on which other answers differ from the rounded network's, in order.

        Args:
            answers_to: gives the other answers to some words, (M, 1) or (M, T') for words of at most T' symbols.
            enough: how many such words end the search, which looks at drawn ones first; None to look at all.
        """
        wrong: list[int] = []
        for part in self._parts():
            answers = answers_to([self.words[i] for i in part])
            width = answers.shape[1]
            scored = None if self.scored is None else self.scored[part, :width]
            different = np.any(differences(answers, self.rounded[part, :width], scored), axis=1)
            wrong += [part[i] for i in np.flatnonzero(different).tolist()]
            if enough is not None and len(wrong) > enough:
                break
        return [self.words[i] for i in sorted(wrong)]

    def _parts(self) -> Iterator[list[int]]:
        """Yield the numbers of the words, some at a time: drawn ones, then short ones, which are of like lengths."""
        yield list(range(self.n_short, len(self.words)))
        for first in range(0, self.n_short, _TOGETHER):
            yield list(range(first, min(first + _TOGETHER, self.n_short)))

    def alive(self) -> int:
        """Return how many words the rounded network accepts, or does not cut short where it is no recogniser.

        Most words are rejected by anything, so this is what disagreements are a share of.
        """
        width = self.rounded.shape[1]
        ends = np.array([0 if width == 1 else max(0, len(word) - 1) for word in self.words], np.int64)
        last = self.rounded[np.arange(len(self.words)), ends]
        return int((last > 0 if width == 1 else last >= 0).sum())

    def rounding(self) -> Rounding:
        """Return what rounding changes on the short words."""
        n, width = self.analog.shape
        scored = None if self.scored is None else self.scored[:n, :width]
        return rounding_fidelity(self.analog, self.rounded[:n, :width], scored)


def draw_samples(model: StackModel[Any], specification: Specification | None, seed: int) -> Samples:
    """Return the checking words for ``model``; without a specification the drawn ones are uniformly random."""
    most = _SHORT if model.affordable is None else min(_SHORT, model.affordable)
    lengths = _LENGTHS if model.longest is None else (min(_LENGTHS[0], model.longest), min(_LENGTHS[1], model.longest))
    if specification is None:
        short = all_words(model.alphabet, default_max_length(len(model.alphabet), most))
        drawn = random_words(model.alphabet, _DRAWN, lengths, seed)
    else:
        short = specification.short_words(most)
        drawn = specification.long_words(_DRAWN, lengths, seed)
    if model.longest is not None:
        short, drawn = ([word for word in words if len(word) <= model.longest] for words in (short, drawn))
    words = [*short, *drawn]
    rounded, analog = network_answers(Rounded(model), words), network_answers(model, short)
    accepted = rounded[: len(short)].max(1, initial=-1) > 0
    rng = np.random.default_rng(seed)
    traced: list[Word] = []
    for pool in (np.flatnonzero(accepted), np.arange(len(short))):
        traced += [short[i] for i in rng.permutation(pool)[:_TRACED]]
    scored = None if specification is None else specification.scored(words)
    return Samples(words, rounded, analog, scored, len(short), [*drawn, *traced], traced)


def drawn_examples(model: StackModel[Any], specification: Specification) -> tuple[list[Word], np.ndarray]:
    """Return some short words and what is expected of them (see `Specification.answers`), for trials of ``model``.

    Of predictors and transducers they are beginnings of the task's words only. There may be none.
    """
    low, high = (length if model.longest is None else min(length, model.longest) for length in _TRIAL_LENGTHS)
    words: list[Word] = []
    with suppress(StacklensError):  # there are none of these lengths
        words = specification.long_words(_TRIALS, (low, high), 0)
        if 0 < len(words) < _TRIALS:  # of some tasks fewer come than are asked for
            words = specification.long_words(_TRIALS**2 // len(words), (low, high), 0)
    words = [word for word in words if len(word)]
    expected = specification.answers(model, words) if words else np.zeros((0, 1), np.int32)
    if model.task_kind == "next set":
        whole = [row for row, word in enumerate(words) if (expected[row, : len(word)] >= 0).all()]
        words, expected = [words[row] for row in whole], expected[whole]
    return words, expected


def nested_words(alphabet: tuple[str, ...], longest: int | None = None) -> list[Word]:
    """Return a^n b^n and a^n b^(n + 1) for all pairs of symbols: words that no automaton of few states counts.

    They see depth where nothing is known of a language, of which random words see none.
    """
    powers = [n for n in _NESTED if longest is None or 2 * n < longest]
    pairs = [(a, b) for a in alphabet[:_MOST_NESTED] for b in alphabet[:_MOST_NESTED] if a != b]
    return [make_word((*[a] * n, *[b] * (n + more)), alphabet) for n in powers for a, b in pairs for more in (0, 1)]


def walk_words(pda: PushdownAutomaton, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
    """Return ``n`` random walks over the transitions of ``pda``, every other one with a symbol more that may be any.

    A walk ends early where no transition leads on, so lengths may be below ``lengths``.
    """
    rng = np.random.default_rng(seed)
    words: list[Word] = []
    for number, size in enumerate(rng.integers(lengths[0], lengths[1], n)):
        current, word = pda.rest(pda.start), []
        for _ in range(size):
            options = [(x, after) for x in pda.input_alphabet if (after := pda.step(current, x)) is not None]
            if not options:
                break
            symbol, current = options[rng.integers(len(options))]
            current = pda.rest(current)
            word.append(symbol)
        if number % 2:
            word.append(pda.input_alphabet[rng.integers(len(pda.input_alphabet))])
        words.append(make_word(word, pda.input_alphabet))
    return words
