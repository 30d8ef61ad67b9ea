"""What an automaton should do, in one form for languages and tasks: words to check on, and the answers to expect."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from stacklens.automata.compare import Comparison, Undecided, compare
from stacklens.automata.compiled import encode_words
from stacklens.automata.enumeration import count_all
from stacklens.automata.pda import Output, PushdownAutomaton, Word
from stacklens.automata.pumping import Pump, pumps
from stacklens.automata.simulation import first_rejection
from stacklens.errors import StacklensError, listed
from stacklens.languages.language import Language
from stacklens.languages.words import all_words, make_word
from stacklens.models.base import StackModel

__all__ = [
    "LanguageSpecification",
    "Specification",
    "check_same_alphabet",
    "default_max_length",
    "random_words",
    "words_over",
]

_LONGEST = 200  # over one symbol there are few words, however long


class Specification(ABC):
    """What a network was trained to do.

    Attributes:
        name: what the command line calls it.
        alphabet: the symbols of its words.
        complete: for predictors, the outputs that say that a word is complete.
        restricted: whether only some words over the alphabet are meant, and only these are compared.
    """

    name: str
    alphabet: tuple[str, ...]
    complete: frozenset[Output] = frozenset()
    partial_domain: bool = False

    @abstractmethod
    def short_words(self, number: int, longest: int | None = None) -> list[Word]:
        """Return all words that matter up to the length that gives at most ``number``, or up to the ``longest`` asked.

        Raises:
            StacklensError: there are more than ``number`` words up to the length that was asked.
        """

    @abstractmethod
    def long_words(self, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
        """Return ``n`` drawn words, members and near-misses among them where there are such things."""

    @abstractmethod
    def deep_words(self, n: int, depth: int, seed: int) -> list[Word]:
        """Return words that drive a stack ``depth`` deep; none where that means nothing."""

    @abstractmethod
    def answers(self, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
        """Return the answers to expect, in the numbers of ``model``, shaped as `answers.network_answers`."""

    @abstractmethod
    def scored(self, words: Sequence[Word]) -> np.ndarray | None:
        """Return which answers count, of the same shape, bool; None for all."""

    @abstractmethod
    def answers_on_all(self, model: StackModel[Any], max_length: int) -> list[np.ndarray] | None:
        """Return the answers to expect for all words of each length (see `models.verdicts.answers_on_all`).

        None where there is no cheap way to know, or where not all answers count.
        """

    @abstractmethod
    def automaton(self) -> PushdownAutomaton | None:
        """Return the reference automaton, whose words are those that matter; None where there is none."""

    def meant(self, words: Sequence[Word]) -> np.ndarray:
        """Return which of ``words`` matter, (N,) bool: all, or those that the reference automaton reads to the end."""
        automaton = self.automaton() if self.partial_domain else None
        if automaton is None:
            return np.full(len(words), not self.partial_domain)
        read: np.ndarray = first_rejection(automaton, words) < 0
        return read

    def pumps(self, most: int, seed: int) -> list[Pump]:
        """Return at most ``most`` families of words that matter, each with a part that is repeated.

        They come from the reference automaton; there are none where there is none.
        """
        automaton = self.automaton()
        return [] if automaton is None else pumps(automaton, most, seed, rejected=False)

    @abstractmethod
    def compare(self, pda: PushdownAutomaton) -> Comparison:
        """Return whether ``pda`` does what it should on all words, decided against a reference automaton."""

    def compare_written(self, pda: PushdownAutomaton) -> Comparison:
        """Return whether all that ``pda`` writes on every word is what it should be, as far as that is decided."""
        del pda
        return Undecided(f"{self.name} does not say what should be written on a whole word")


class LanguageSpecification(Specification):
    """A language, for recognisers."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.name, self.alphabet = language.name, tuple(language.alphabet)

    def short_words(self, number: int, longest: int | None = None) -> list[Word]:
        """Return all words over the alphabet up to a length."""
        return words_over(self.alphabet, number, longest)

    def long_words(self, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
        """Return words of which half are uniformly random, a quarter members, a quarter near-misses.

        Where the language has no members of such lengths, random words stand in their place.
        """
        words: list[Word] = []
        for positive in (True, False):
            try:
                words += self.language.sample(n // 4, lengths, positive, seed)
            except StacklensError:  # no member of these lengths
                continue
        return words + self.language.sample(n - len(words), lengths, None, seed)

    def deep_words(self, n: int, depth: int, seed: int) -> list[Word]:
        """Return ``n`` members nested so deep, and a near-miss of each: random words never get that deep.

        There are none where the language has no such members, as a regular one.
        """
        rng = np.random.default_rng(seed)
        try:
            members = self.language.deep(n, depth, seed)
            return [*members, *(self.language.near_miss(word, rng) for word in members)]
        except StacklensError:
            return []

    def answers(self, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
        """Return membership by the language's definition, (N, 1).

        Raises:
            StacklensError: ``model`` is no recogniser.
        """
        self._check_kind(model)
        return np.array([[word in self.language] for word in words], dtype=np.int32)

    def scored(self, words: Sequence[Word]) -> None:
        """Return None: every verdict counts."""

    def automaton(self) -> PushdownAutomaton | None:
        """Return the language's reference automaton; None for a grammar that none was found for."""
        try:
            return self.language.automaton
        except StacklensError:
            return None

    def compare(self, pda: PushdownAutomaton) -> Comparison:
        """Return whether ``pda`` accepts the language, decided against the language's reference automaton."""
        try:
            specification = self.language.automaton
        except StacklensError as error:
            return Undecided(str(error))
        return compare(pda, specification, outputs="ignore")

    def answers_on_all(self, model: StackModel[Any], max_length: int) -> list[np.ndarray]:
        """Return membership of all words, from the members that the definition gives, not the reference automaton.

        Raises:
            StacklensError: ``model`` is no recogniser.
        """
        self._check_kind(model)
        k = len(model.alphabet)
        members = [np.zeros(k**n, dtype=np.int32) for n in range(max_length + 1)]
        by_length: dict[int, list[Word]] = {}
        for word in self.language.words(max_length):
            by_length.setdefault(len(word), []).append(word)
        for length, words in by_length.items():
            codes, _ = encode_words(words, model.alphabet)
            members[length][codes.astype(np.int64) @ k ** np.arange(length)[::-1]] = 1
        return members

    def _check_kind(self, model: StackModel[Any]) -> None:
        if model.task_kind != "recognition":
            raise StacklensError(
                f"the language {self.name} says which words are members, and a {model.task_kind} network says "
                "something after every symbol: check it against a task"
            )


def default_max_length(n_symbols: int, words: int) -> int:
    """Return the largest length up to which there are at most ``words`` words over ``n_symbols`` symbols.

    >>> default_max_length(2, 2_500_000), default_max_length(3, 2_500_000)
    (20, 13)
    """
    length = 0
    while count_all(n_symbols, length + 1) <= words and length < _LONGEST:
        length += 1
    return length


def words_over(alphabet: tuple[str, ...], number: int, longest: int | None = None) -> list[Word]:
    """Return all words over ``alphabet`` up to the length that gives at most ``number``, or to the ``longest`` asked.

    Raises:
        StacklensError: there are more than ``number`` words up to the length that was asked.
    """
    most = default_max_length(len(alphabet), number)
    if longest is not None and longest > most:
        raise StacklensError(
            f"there are more than {number:,} words of length <= {longest} over {len(alphabet)} symbols; "
            f"ask for {most} or less"
        )
    return all_words(alphabet, most if longest is None else longest)


def random_words(alphabet: tuple[str, ...], n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
    """Return ``n`` uniformly random words with lengths in a range."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(lengths[0], lengths[1] + 1, n)
    return [make_word([alphabet[i] for i in rng.integers(0, len(alphabet), size)], alphabet) for size in sizes]


def check_same_alphabet(specification: Specification | None, model: StackModel[Any]) -> None:
    """Check that a network reads the symbols of what it is to be checked against.

    Raises:
        StacklensError: it reads others.
    """
    if specification is not None and set(specification.alphabet) != set(model.alphabet):
        raise StacklensError(
            f"language {specification.name} has the alphabet {listed(specification.alphabet)}, the network "
            f"{listed(model.alphabet)}; name the language that it was trained on"
        )
