"""Words of a small grammar by the depth of their derivation, as Hao et al. 2018, section 5, draw them.

The depth of a derivation counts the levels of nodes of its tree, the terminals' included. This is the paper's count
(NLTK's), by which ``()`` from S -> T, T -> ( ) has depth 3.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from stacklens.automata.pda import Symbol
from stacklens.errors import StacklensError
from stacklens.languages.drawing import choose

__all__ = ["Rules", "count_derivations", "draw_derivation", "words_by_depth"]

Rules = tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]  # nonterminal, its alternatives; the start symbol first


def count_derivations(rules: Rules, depth: int) -> int:
    """Return the number of derivations from the start symbol of at most ``depth`` levels.

    >>> formulas = (("S", (("S", "S", "or"), ("T",), ("F",))),)
    >>> [count_derivations(formulas, depth) for depth in range(6)]
    [0, 0, 2, 6, 38, 1446]
    """
    return _counts(rules).of(rules[0][0], depth)


def draw_derivation(rules: Rules, depth: int, rng: np.random.Generator) -> list[Symbol]:
    """Return the word of a random derivation of at most ``depth`` levels, all of them equally likely.

    Raises:
        StacklensError: there is none.
    """
    if count_derivations(rules, depth) == 0:
        raise StacklensError(f"no word has a derivation of at most {depth} levels")
    return _counts(rules).draw(rules[0][0], depth, rng)


class _Counts:
    """The numbers of derivations from each symbol by depth, kept once they are known."""

    def __init__(self, rules: Rules) -> None:
        self.alternatives = dict(rules)
        self.known: dict[tuple[str, int], int] = {}

    def of(self, symbol: str, depth: int) -> int:
        if symbol not in self.alternatives:
            return int(depth >= 1)
        if depth <= 1:
            return 0
        if (symbol, depth) not in self.known:
            self.known[symbol, depth] = sum(self.ways(symbol, depth))
        return self.known[symbol, depth]

    def ways(self, symbol: str, depth: int) -> list[int]:
        """Return how many derivations begin with each alternative of ``symbol``."""
        return [prod(self.of(part, depth - 1) for part in parts) for parts in self.alternatives[symbol]]

    def draw(self, symbol: str, depth: int, rng: np.random.Generator) -> list[Symbol]:
        if symbol not in self.alternatives:
            return [symbol]
        parts = self.alternatives[symbol][choose(self.ways(symbol, depth), rng)]
        return [terminal for part in parts for terminal in self.draw(part, depth - 1, rng)]


_counts = lru_cache(maxsize=16)(_Counts)


@lru_cache(maxsize=16)
def words_by_depth(rules: Rules, depth: int) -> tuple[tuple[Symbol, ...], ...]:
    """Return the distinct words with a derivation of at most ``depth`` levels, sorted; for small depths.

    >>> words_by_depth((("S", (("a", "S"), ("a",))),), 4)
    (('a',), ('a', 'a'), ('a', 'a', 'a'))
    """
    return tuple(sorted(_words(rules, rules[0][0], depth)))


def _words(rules: Rules, symbol: str, depth: int) -> set[tuple[Symbol, ...]]:
    alternatives = dict(rules).get(symbol)
    if alternatives is None:
        return {(symbol,)} if depth >= 1 else set()
    found: set[tuple[Symbol, ...]] = set()
    for parts in alternatives if depth > 1 else ():
        for choice in product(*(_words(rules, part, depth - 1) for part in parts)):
            found.add(tuple(terminal for word in choice for terminal in word))
    return found
