"""Earley's parser, one symbol at a time: it knows after each prefix whether a word can still come of it.

Grammars have no useless rules, so a prefix is live exactly where an item is left. Nullable nonterminals are stepped
over as they are predicted (Aycock & Horspool 2002, "Practical Earley Parsing"). Time goes with the square of the length
for unambiguous grammars, with its cube for any; memory with the square.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from stacklens.automata.pda import Symbol, Word
from stacklens.languages.grammar import Grammar, Nonterminal, Part

__all__ = ["Chart"]

_Item = tuple[int, int, int]  # a rule, how much of it is there, and where that began


class Chart:
    """What a grammar makes of a prefix so far.

    >>> from stacklens.languages.grammar import parse_grammar
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
        self.waiting: list[dict[Part, list[_Item]]] = []  # after each prefix, the items by what they wait for
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
        waiting: dict[Part, list[_Item]] = {}
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
