"""Words as training sees them: encoded, with what the language says of every prefix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Word
from stacklens.languages.language import Language
from stacklens.languages.words import make_word

__all__ = ["WordSet", "all_words", "cut_at_dead"]


@dataclass(frozen=True)
class WordSet:
    """Words of a language's alphabet, padded, and the language's word on each of their prefixes.

    Attributes:
        words: the words, N of them.
        symbols: their symbols' indices, (N, T) int64, 0 beyond the end of a word.
        lengths: (N,) int64.
        legal: whether the prefix of t symbols is a member, (N, T + 1) bool; false beyond the end.
        live: whether some continuation of it is a member, (N, T + 1) bool; false beyond the end.
    """

    words: tuple[Word, ...]
    symbols: Tensor
    lengths: Tensor
    legal: Tensor
    live: Tensor

    @classmethod
    def of(cls, language: Language, words: Iterable[Word]) -> WordSet:
        """Return ``words`` encoded; they may repeat, which gives them weight."""
        kept = tuple(words)
        index = {symbol: number for number, symbol in enumerate(language.alphabet)}
        longest = max(map(len, kept), default=0)
        symbols = np.zeros((len(kept), longest), dtype=np.int64)
        legal, live = (np.zeros((len(kept), longest + 1), dtype=bool) for _ in range(2))
        for row, word in enumerate(kept):
            symbols[row, : len(word)] = [index[symbol] for symbol in word]
            for t in range(len(word) + 1):
                legal[row, t], live[row, t] = word[:t] in language, language.is_live(word[:t])
        lengths = np.array([len(word) for word in kept], dtype=np.int64)
        return cls(kept, *(torch.from_numpy(array) for array in (symbols, lengths, legal, live)))

    def to(self, device: str) -> WordSet:
        """Return the same words with their tensors on ``device``."""
        tensors = (self.symbols, self.lengths, self.legal, self.live)
        return WordSet(self.words, *(tensor.to(device) for tensor in tensors))

    @property
    def members(self) -> Tensor:
        """Return whether each word as a whole is a member, (N,) bool."""
        return self.legal.gather(1, self.lengths.unsqueeze(1)).squeeze(1)


def all_words(alphabet: tuple[str, ...], max_length: int) -> list[Word]:
    """Return all words over ``alphabet`` up to ``max_length``, the empty one first, in length-lexicographic order."""
    return [make_word(word, alphabet) for n in range(max_length + 1) for word in product(alphabet, repeat=n)]


def cut_at_dead(language: Language, words: Iterable[Word]) -> list[Word]:
    """Return ``words`` cut after their first dead symbol, without those that are then prefixes of others.

    A prefix objective sees every prefix anyway, and stops at the first dead one: 371 palindrome words become 105.
    """
    cut = set()
    for word in words:
        dead = language.first_dead(word)
        cut.add(word if dead is None else word[:dead])
    prefixes = {word[:t] for word in cut for t in range(len(word))}
    return sorted(cut - prefixes, key=lambda word: (len(word), word))
