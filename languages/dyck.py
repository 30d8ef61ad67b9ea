"""Dyck languages: words of properly nested brackets of n kinds, the empty word among them.

Parentheses: Sun et al. 1993, section 4.1. Dyck-n as a benchmark: Suzgun et al. 2019.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np

from ..automata.pda import POP, Key, PushdownAutomaton, Symbol, Transition, Word, push
from ..core.errors import StacklensError
from .language import Language
from .words import make_word

MOST_KINDS = 1_000  # of brackets: their automaton has a million transitions
_NAME = re.compile(r"dyck-([1-9][0-9]*)")

PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
TOWARDS = (
    0.75  # a deep word steps towards its goal this often: it wavers, and is about 4 depths long, not depth squared
)


def dyck_kinds(name: str) -> int | None:
    """Return the number of kinds of brackets of the language or task called ``name``, None for another one.

    >>> dyck_kinds("dyck-12"), dyck_kinds("dyck-012")
    (12, None)

    Raises:
        StacklensError: there are too many.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    if len(match[1]) > len(str(MOST_KINDS)):  # Python reads no number of thousands of digits
        raise StacklensError(_too_many(name))
    return int(match[1])


def _too_many(name: str) -> str:
    return f"{name} has too many kinds of brackets: expected dyck-{MOST_KINDS} or less"


@dataclass(frozen=True)
class Dyck(Language):
    """The words over ``n`` kinds of brackets that cancel to nothing when adjacent matching pairs are taken out.

    From the fifth kind on a bracket is written with its number: ``(5``, ``)5``, …

    Raises:
        StacklensError: ``n`` is less than 1 or more than 1,000.

    >>> "([]){}" in Dyck(3), ("(5", "(", ")", ")5") in Dyck(5)
    (True, True)
    >>> Dyck(2).alphabet
    ('(', ')', '[', ']')
    """

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise StacklensError(f"dyck-{self.n} has no brackets: expected n of at least 1")
        if self.n > MOST_KINDS:
            raise StacklensError(_too_many(self.name))

    @property
    def deepest(self) -> float:
        """Return how many brackets may be open at once."""
        return inf

    @property
    def name(self) -> str:
        """Return ``dyck-n``."""
        return f"dyck-{self.n}"

    @cached_property
    def pairs(self) -> tuple[tuple[Symbol, Symbol], ...]:
        """Return the opening and the closing bracket of every kind."""
        return (*PAIRS[: self.n], *((f"({k}", f"){k}") for k in range(len(PAIRS) + 1, self.n + 1)))

    @cached_property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return every opening bracket, followed by its closing one."""
        return tuple(symbol for pair in self.pairs for symbol in pair)

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return one state that pushes opening brackets and pops them with their closing ones."""
        state, bottom = "match", "⊥"
        openers = tuple(opener for opener, _ in self.pairs)
        pushes: dict[Key, Transition] = {
            (state, opener, (top,)): Transition(state, (push(opener),))
            for opener in openers
            for top in (bottom, *openers)
        }
        pops: dict[Key, Transition] = {
            (state, closer, (opener,)): Transition(state, (POP,)) for opener, closer in self.pairs
        }
        return PushdownAutomaton(
            (state,), self.alphabet, openers, pushes | pops, state, frozenset({state}), bottom=bottom
        )

    def __contains__(self, word: Word) -> bool:
        closer_of, awaited = dict(self.pairs), list[Symbol]()
        for symbol in word:
            if symbol in closer_of and len(awaited) < self.deepest:
                awaited.append(closer_of[symbol])
            elif not awaited or awaited.pop() != symbol:
                return False
        return not awaited

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet."""
        empty: tuple[Symbol, ...] = ()
        pending = [(empty, empty)] if self._has_length(length) else []
        while pending:  # depth first, by hand, so that no length meets Python's limit on recursion
            prefix, opened = pending.pop()
            if len(prefix) == length:
                yield make_word(prefix, self.alphabet)
                continue
            for opener, closer in reversed(self.pairs):  # the last one laid down is the first one taken up
                if opened[-1:] == (opener,):
                    pending.append(((*prefix, closer), opened[:-1]))
                # Room is left to close this one too.
                if len(opened) < self.deepest and len(prefix) + len(opened) + 2 <= length:
                    pending.append(((*prefix, opener), (*opened, opener)))

    def _has_length(self, length: int) -> bool:
        return length >= 0 and length % 2 == 0

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        """Return a member, all members of ``length`` being equally likely."""
        # Cycle lemma: of the rotations of n ups and n + 1 downs exactly one, which starts after the first lowest point,
        # goes below 0 only with its last step. All arrangements are equally likely, hence all those rotations.
        steps = rng.permutation(np.repeat([1, -1], [length // 2, length // 2 + 1]))
        start = int(np.argmin(np.cumsum(steps))) + 1
        return self._brackets(np.roll(steps, -start)[:-1].tolist(), rng)

    def of_shape(self, shape: str, rng: np.random.Generator) -> Word:
        """Return the member nested as ``shape``, a member of Dyck-1 such as ``(())()``, with random kinds of brackets.

        >>> Dyck(3).of_shape("(())()", np.random.default_rng(2))
        '{()}()'
        """
        return self._brackets([1 if bracket == "(" else -1 for bracket in shape], rng)

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word:
        """Return a walk that wavers up to ``depth`` and back down to 0, as brackets."""
        steps: list[int] = []
        height = 0
        for goal, towards in ((depth, 1), (0, -1)):
            while height != goal:
                step = towards if rng.random() < TOWARDS else -towards
                if 0 <= height + step <= depth:
                    steps.append(step)
                    height += step
        return self._brackets(steps, rng)

    def _brackets(self, steps: list[int], rng: np.random.Generator) -> Word:
        """Return the word that opens a bracket of random kind at each 1 and closes the latest one at each -1."""
        kinds = iter(rng.integers(self.n, size=len(steps) // 2).tolist())
        symbols, closers = [], []
        for step in steps:
            if step > 0:
                opener, closer = self.pairs[next(kinds)]
                symbols.append(opener)
                closers.append(closer)
            else:
                symbols.append(closers.pop())
        return make_word(symbols, self.alphabet)


@dataclass(frozen=True)
class BalancedParentheses(Dyck):
    """Dyck-1 under the name that Sun et al. 1993, section 4.1, give it.

    >>> BalancedParentheses().name, "(())()" in BalancedParentheses()
    ('parentheses', True)
    """

    n: int = field(default=1, init=False, repr=False)
    name = "parentheses"
