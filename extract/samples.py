"""The words on which candidates are compared with the rounded network, and words that an automaton itself suggests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.enumeration import count_all
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract.verify import long_words
from stacklens.languages.base import Language
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.models.verdicts import verdicts_on
from stacklens.models.word_sets import all_words

__all__ = ["Samples", "draw_samples", "walk_words"]

_SHORT = 20_000  # all words up to the length that gives at most so many
_DRAWN, _LENGTHS = 800, (10, 60)
_TRACED = 400  # words of each sort whose hidden vectors are clustered


@dataclass(frozen=True)
class Samples:
    """Checking words with the rounded network's verdicts.

    Attributes:
        words: all short words, then drawn longer ones.
        verdicts: what the rounded network says of them, (N,) bool.
        n_short: how many of them are the short ones.
        traced: some of them, members first of all, on which hidden vectors are gathered.
    """

    words: list[Word]
    verdicts: np.ndarray
    n_short: int
    traced: list[Word]

    @property
    def short(self) -> list[Word]:
        """Return all words up to some length."""
        return self.words[: self.n_short]


def draw_samples(model: StackModel[Any], language: Language | None, seed: int) -> Samples:
    """Return the checking words for ``model``; without a language the drawn ones are uniformly random."""
    length = 0
    while count_all(len(model.alphabet), length + 1) <= _SHORT:
        length += 1
    short = all_words(model.alphabet, length)
    if language is not None:
        drawn = long_words(language, _DRAWN, _LENGTHS, seed)
    else:
        drawn = _random_words(model.alphabet, _DRAWN, _LENGTHS, seed)
    words = [*short, *drawn]
    verdicts = verdicts_on(Rounded(model), words)
    rng = np.random.default_rng(seed)
    traced: list[Word] = []
    for pool in (np.flatnonzero(verdicts[: len(short)]), np.arange(len(short))):
        traced += [short[i] for i in rng.permutation(pool)[:_TRACED]]
    return Samples(words, verdicts, len(short), [*drawn, *traced])


def _random_words(alphabet: tuple[str, ...], n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(lengths[0], lengths[1] + 1, n)
    return [make_word([alphabet[i] for i in rng.integers(0, len(alphabet), size)], alphabet) for size in sizes]


def walk_words(pda: PushdownAutomaton, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
    """Return ``n`` random walks over the transitions of ``pda``, each with one symbol more that may be any.

    A walk ends early where no transition leads on, so lengths may be below ``lengths``.
    """
    rng = np.random.default_rng(seed)
    words: list[Word] = []
    for size in rng.integers(lengths[0], lengths[1], n):
        current, word = pda.start, []
        for _ in range(size):
            options = [(x, after) for x in pda.input_alphabet if (after := pda.step(current, x)) is not None]
            if not options:
                break
            symbol, current = options[rng.integers(len(options))]
            word.append(symbol)
        word.append(pda.input_alphabet[rng.integers(len(pda.input_alphabet))])
        words.append(make_word(word, pda.input_alphabet))
    return words
