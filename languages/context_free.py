"""The language of a context-free grammar, by its definition alone: there is no reference automaton.

Membership is decided by Earley's parser, one symbol at a time: it knows after each prefix whether a word can still come
of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stacklens.automata.grammar import Grammar, GrammarSymbol, Nonterminal
from stacklens.automata.pda import PushdownAutomaton, Symbol, Word
from stacklens.automata.reachability import trim
from stacklens.automata.rewriting import drop_end_marker
from stacklens.errors import StacklensError
from stacklens.languages.grammar_words import Nesting, NormalForm
from stacklens.languages.language import Language
from stacklens.languages.words import make_word

__all__ = ["AutomatonLanguage", "Chart", "ContextFreeLanguage"]

_Item = tuple[int, int, int]  # a rule, how much of it is there, and where that began


class Chart:
    """What a grammar makes of a prefix so far.

    >>> from stacklens.automata.grammar import parse_grammar
    >>> chart = Chart(parse_grammar("S -> ( S ) S | ε"))
    >>> [chart.read(symbol) for symbol in "(()"], chart.accepts, sorted(chart.next_symbols)
    ([True, True, True], False, ['(', ')'])
    >>> chart.read(")"), chart.accepts, chart.read(")")
    (True, True, False)
    """

    def __init__(self, grammar: Grammar) -> None:
        self.rules = grammar.rules
        self.start, self.nullable = grammar.start, grammar.nullable
        self.rules_of: dict[Nonterminal, list[int]] = defaultdict(list)
        for i, (left, _) in enumerate(grammar.rules):
            self.rules_of[left].append(i)
        self.waiting: list[dict[GrammarSymbol, list[_Item]]] = []  # after each prefix, the items by what they wait for
        self.accepts = False
        self._close((i, 0, 0) for i in self.rules_of[self.start])

    @property
    def next_symbols(self) -> set[Symbol]:
        """Return the symbols with which the prefix can go on to become a word."""
        return {part for part in self.waiting[-1] if isinstance(part, str)}

    def read(self, symbol: Symbol) -> bool:
        """Read one symbol more; return whether a word can still come of it. After False it must not be used again."""
        items = self.waiting[-1].get(symbol, ())
        self._close((rule, dot + 1, origin) for rule, dot, origin in items)
        return bool(items)

    def read_all(self, word: Word) -> int:
        """Read ``word`` as far as it is live; return how many symbols that were."""
        for n, symbol in enumerate(word):
            if not self.read(symbol):
                return n
        return len(word)

    def _close(self, items: Iterable[_Item]) -> None:
        here = len(self.waiting)
        waiting: dict[GrammarSymbol, list[_Item]] = {}
        self.waiting.append(waiting)
        agenda = list(items)
        seen = set(agenda)
        self.accepts = False
        while agenda:
            rule, dot, origin = agenda.pop()
            left, right = self.rules[rule]
            if dot == len(right):
                self.accepts |= left == self.start and origin == 0
                found = [(r, d + 1, o) for r, d, o in self.waiting[origin].get(left, ())]
            else:
                part = right[dot]
                waiting.setdefault(part, []).append((rule, dot, origin))
                found = [(i, 0, here) for i in self.rules_of[part]] if isinstance(part, Nonterminal) else []
                if part in self.nullable:
                    found.append((rule, dot + 1, origin))
            for item in found:
                if item not in seen:
                    seen.add(item)
                    agenda.append(item)


@dataclass(frozen=True)
class ContextFreeLanguage(Language):
    """The words that a grammar derives.

    Members of a length are drawn with every derivation as likely as another (in Chomsky's normal form): evenly over the
    words if the grammar is unambiguous; else words with more derivations come up more often. Membership takes time with
    the square to the cube of the length: fine for hundreds of symbols, slow for thousands.

    >>> from stacklens.automata.grammar import parse_grammar
    >>> even = ContextFreeLanguage("even", parse_grammar("S -> a S a | b S b | ε"))
    >>> "abba" in even, even.is_live("abab"), list(even.words(4))
    (True, True, ['', 'aa', 'bb', 'aaaa', 'abba', 'baab', 'bbbb'])
    """

    source: str
    grammar: Grammar
    text: str | None = field(default=None, compare=False, repr=False, kw_only=True)  # of its file, if it is from one

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


@dataclass(frozen=True)
class AutomatonLanguage(ContextFreeLanguage):
    """The words that an automaton accepts, which is the reference automaton too; sampling is even over the words.

    >>> from stacklens.automata.automaton_grammar import grammar_of
    >>> from stacklens.languages.dyck import Dyck
    >>> language = AutomatonLanguage("dyck-1.json", grammar_of(Dyck(1).automaton), Dyck(1).automaton)
    >>> "(())" in language, language.first_dead("())"), list(language.words(4))
    (True, 3, ['', '()', '(())', '()()'])
    """

    given: PushdownAutomaton

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return the automaton that was given, trimmed and without its end marker; acceptance as given."""
        return trim(drop_end_marker(self.given) or self.given)

    def __contains__(self, word: Word) -> bool:
        return set(word) <= set(self.alphabet) and self.given.accepts(word)
