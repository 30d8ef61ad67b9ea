"""The language of a context-free grammar, by its definition alone: there is no reference automaton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Symbol, Word
from stacklens.errors import StacklensError
from stacklens.languages.base import Language
from stacklens.languages.earley import Chart
from stacklens.languages.grammar import Grammar
from stacklens.languages.nesting import Nesting
from stacklens.languages.normal_form import NormalForm
from stacklens.languages.words import make_word

__all__ = ["ContextFreeLanguage"]


@dataclass(frozen=True)
class ContextFreeLanguage(Language):
    """The words that a grammar derives.

    Members of a length are drawn with every derivation as likely as another (in Chomsky's normal form): evenly over the
    words if the grammar is unambiguous; else words with more derivations come up more often. Membership takes time with
    the square to the cube of the length: fine for hundreds of symbols, slow for thousands.

    >>> from stacklens.languages.grammar import parse_grammar
    >>> even = ContextFreeLanguage("even", parse_grammar("S -> a S a | b S b | ε"))
    >>> "abba" in even, even.is_live("abab"), list(even.words(4))
    (True, True, ['', 'aa', 'bb', 'aaaa', 'abba', 'baab', 'bbbb'])
    """

    source: str
    grammar: Grammar

    @property
    def name(self) -> str:
        """Return where the grammar comes from, such as the path of its file."""
        return self.source

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the terminals, in the order in which the grammar first has them."""
        return self.grammar.alphabet

    @property
    def automaton(self) -> PushdownAutomaton:
        """Raise an error: a grammar gives none.

        Raises:
            StacklensError: always.
        """
        raise StacklensError(
            f"{self.name} is given by a grammar, which has no reference automaton: compare with the language itself, "
            "or give an automaton as a .json file"
        )

    def __contains__(self, word: Word) -> bool:
        chart = Chart(self.grammar)
        return chart.read_all(word) == len(word) and chart.accepts

    def is_live(self, prefix: Word) -> bool:
        """Return whether some word begins with ``prefix``."""
        return self.first_dead(prefix) is None

    def first_dead(self, word: Word) -> int | None:
        """Return the number of symbols after which the prefix of ``word`` is dead, None if ``word`` is live."""
        n = Chart(self.grammar).read_all(word)
        return n + 1 if n < len(word) else None

    def next_symbols(self, word: Word) -> list[tuple[Symbol, ...]]:
        """Return, after each prefix of ``word`` from the empty one on, the symbols that can come next.

        The list ends where the prefix is dead.
        """
        chart = Chart(self.grammar)
        found = [self._sorted(chart.next_symbols)]
        for symbol in word:
            if not chart.read(symbol):
                break
            found.append(self._sorted(chart.next_symbols))
        return found

    def _sorted(self, symbols: set[Symbol]) -> tuple[Symbol, ...]:
        return tuple(symbol for symbol in self.alphabet if symbol in symbols)

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet; all are made before the first is yielded."""
        place = {symbol: i for i, symbol in enumerate(self.alphabet)}
        for word in sorted(self._form.words(length), key=lambda word: [place[symbol] for symbol in word]):
            yield make_word(word, self.alphabet)

    @cached_property
    def _form(self) -> NormalForm:
        return NormalForm(self.grammar)

    @cached_property
    def _nesting(self) -> Nesting:
        return Nesting(self._form, self.__contains__)

    def _has_length(self, length: int) -> bool:
        return self._form.count(length) > 0

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        return make_word(self._form.draw(length, rng), self.alphabet)

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word | None:
        """Return a member with ``depth`` self-embeddings of a nonterminal in each other, with which a stack grows."""
        word = self._nesting.draw(depth, rng)
        return None if word is None else make_word(word, self.alphabet)
