"""The answers of a network to words, each asked once and in batches: what AALpy calls the system under learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from stacklens.automata.pda import Symbol, Word
from stacklens.extract.answers import network_answers
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel

__all__ = ["DEAD", "AnswersKept", "EnoughError"]

DEAD = -1  # the answer of a predictor from a rejection on
_TOGETHER = 64  # words that are asked together with one that is not known: what may come next
_AHEAD = 24  # symbols of a word up to which that is done: longer ones are dear, and hardly any goes on


class EnoughError(Exception):
    """The learner is to stop, with what it has proposed so far."""


class AnswersKept:
    """The answers of ``network``; what AALpy asks of a system under learning is answered from here.

    A recogniser answers a word with True or False, any other with the number of its output after each symbol, `DEAD`
    from a rejection on. A short word that is not known is asked together with those that begin with it, since learners
    ask for these next.

    Args:
        network: the network, not rounded; what it does to stacks does not matter.
        over: says when the learner is to stop, which `query` then tells it by an `EnoughError`.

    Attributes:
        asked, batches: how many words were asked of the network, and in how many batches.
    """

    def __init__(self, network: StackModel[Any], over: Callable[[], bool] = lambda: False) -> None:
        self.network, self.over = network, over
        self.recogniser = network.task_kind == "recognition"
        self.asked = self.batches = 0
        self.num_queries = self.num_steps = self.num_cached_queries = 0  # AALpy counts these
        self._known: dict[tuple[Symbol, ...], int] = {}
        ahead = 0
        while sum(len(network.alphabet) ** n for n in range(ahead + 2)) <= _TOGETHER:
            ahead += 1
        self._tails = [tail for n in range(ahead + 1) for tail in product(network.alphabet, repeat=n)]

    def keep(self, words: Sequence[Word], answers: np.ndarray) -> None:
        """Keep ``answers`` (N, 1) or (N, T) to ``words``, as `network_answers` gives them."""
        for word, row in zip(words, answers.tolist(), strict=True):
            spelled = tuple(word)
            if self.recogniser:
                self._known[spelled] = row[0]
                continue
            for t, answer in enumerate(row[: len(spelled)]):
                self._known[spelled[: t + 1]] = answer

    def known(self) -> list[Word]:
        """Return the words whose answer is known."""
        return [make_word(word, self.network.alphabet) for word in self._known]

    def answer(self, word: Iterable[Symbol]) -> int | bool:
        """Return the answer to ``word``; a predictor's to the empty word is `DEAD`, which nobody asks."""
        spelled = tuple(word)
        if self.recogniser:
            if spelled not in self._known:
                self._ask(spelled)
            return bool(self._known[spelled])
        if not spelled:
            return DEAD
        if (known := self._known.get(spelled)) is not None:
            return known
        if any(self._known.get(spelled[:n]) == DEAD for n in range(len(spelled) - 1, 0, -1)):
            return DEAD
        self._ask(spelled)
        return self._known[spelled]

    def to_all(self, words: Sequence[Word]) -> list[int | bool]:
        """Return the answers to many words, those that are not known asked in one batch."""
        fresh = [word for word in words if tuple(word) not in self._known]
        if fresh:
            self.asked, self.batches = self.asked + len(fresh), self.batches + 1
            self.keep(fresh, network_answers(self.network, fresh))
        return [self.answer(word) for word in words]

    def answers(self, word: Sequence[Symbol]) -> list[int | bool]:
        """Return the answer after every symbol of ``word``."""
        return [self.answer(word[: t + 1]) for t in range(len(word))]

    def _ask(self, word: tuple[Symbol, ...]) -> None:
        longest = self.network.longest
        spelled = [(*word, *tail) for tail in (self._tails if len(word) <= _AHEAD else [()])]
        fit = [one for one in spelled if longest is None or len(one) <= max(longest, len(word))]
        words = [make_word(one, self.network.alphabet) for one in fit]
        self.asked, self.batches = self.asked + len(words), self.batches + 1
        self.keep(words, network_answers(self.network, words))

    def query(self, word: Sequence[Symbol]) -> list[int | bool]:
        """Return the answer to ``word``, the last after its symbols, which is the one that KV looks at; for AALpy.

        Raises:
            EnoughError: the time is over.
        """
        if self.over():
            raise EnoughError
        self.num_queries, self.num_steps = self.num_queries + 1, self.num_steps + len(word)
        return [self.answer(word)]

    def beginnings(self, word: Sequence[Symbol]) -> Iterator[tuple[int, int | bool]]:
        """Yield the length of every beginning of ``word`` but the empty one, with its answer."""
        yield from enumerate(self.answers(word), start=1)
