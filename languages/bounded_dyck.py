"""Bounded Dyck languages: words of properly nested brackets of k kinds, at most m deep. They are regular.

Dyck-(k, m), as in Hewitt et al. 2020, "RNNs can generate bounded hierarchical languages with optimal memory".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stacklens.automata.pda import NONE, Key, PushdownAutomaton, Symbol, Transition, Word
from stacklens.errors import StacklensError
from stacklens.languages.dyck import Dyck
from stacklens.languages.tasks.next_sets import DyckNextSet
from stacklens.languages.words import make_word

__all__ = ["BoundedDyck", "BoundedDyckNextSet", "bounded_dyck"]

_NAME = re.compile(r"dyck-([1-9][0-9]{0,3})-([1-9][0-9]{0,3})")
_MOST_STATES = 5_000  # of the automaton: one for every stack
_START = "empty"


def bounded_dyck(name: str) -> tuple[int, int] | None:
    """Return kinds and depth of the language or task called ``name``, None for another one.

    >>> bounded_dyck("dyck-2-3"), bounded_dyck("dyck-2")
    ((2, 3), None)
    """
    match = _NAME.fullmatch(name)
    return None if match is None else (int(match[1]), int(match[2]))


@dataclass(frozen=True)
class BoundedDyck(Dyck):
    """The words of Dyck-``n`` in which no more than ``depth`` brackets are open at once.

    Raises:
        StacklensError: ``depth`` is less than 1, or the automaton would have more than 5,000 states.

    >>> "([])" in BoundedDyck(2, 2), "([()])" in BoundedDyck(2, 2), len(BoundedDyck(2, 3).automaton.states)
    (True, False, 15)
    """

    depth: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth < 1:
            raise StacklensError(f"{self.name} has no depth: expected m of at least 1")
        states = 1
        for _ in range(self.depth):
            states = states * self.n + 1
            if states > _MOST_STATES:
                raise StacklensError(f"{self.name} is too large: its automaton has more than {_MOST_STATES:,} states")

    @property
    def name(self) -> str:
        """Return ``dyck-n-depth``."""
        return f"dyck-{self.n}-{self.depth}"

    @cached_property
    def automaton(self) -> PushdownAutomaton:
        """Return a state for every way in which brackets can be open; its stack is never used."""
        opened: list[tuple[Symbol, ...]] = [()]
        rules: dict[Key, Transition] = {}
        for stack in opened:  # the list grows while it is walked
            for opener, closer in self.pairs:
                if len(stack) < self.depth:
                    deeper = (*stack, opener)
                    opened.append(deeper)
                    rules[_state(stack), opener, ("⊥",)] = Transition(_state(deeper), (NONE,))
                    rules[_state(deeper), closer, ("⊥",)] = Transition(_state(stack), (NONE,))
        states = tuple(map(_state, opened))
        return PushdownAutomaton(states, self.alphabet, (), rules, _START, frozenset({_START}))

    def __contains__(self, word: Word) -> bool:
        return super().__contains__(word) and self._fits(word)

    def is_live(self, prefix: Word) -> bool:
        """Return whether ``prefix`` can be closed and has never been too deep."""
        return super().is_live(prefix) and self._fits(prefix)

    def words_of_length(self, length: int) -> Iterator[Word]:
        """Yield the members of ``length`` in the order of the alphabet."""
        pending: list[tuple[tuple[Symbol, ...], tuple[Symbol, ...]]] = [((), ())] if self._has_length(length) else []
        while pending:  # depth first, by hand, so that no length meets Python's limit on recursion
            prefix, opened = pending.pop()
            if len(prefix) == length:
                yield make_word(prefix, self.alphabet)
                continue
            for opener, closer in reversed(self.pairs):
                if opened[-1:] == (opener,):
                    pending.append(((*prefix, closer), opened[:-1]))
                if len(opened) < self.depth and len(prefix) + len(opened) + 2 <= length:
                    pending.append(((*prefix, opener), (*opened, opener)))

    def _fits(self, word: Word) -> bool:
        openers = {opener for opener, _ in self.pairs}
        steps = [1 if symbol in openers else -1 for symbol in word]
        return max(np.cumsum(steps), default=0) <= self.depth

    def _ways(self, length: int) -> list[list[int]]:
        """Return how many walks of each number of steps lead from each height to 0 within the bound."""
        known = self.__dict__.setdefault("_walks", [[1, *[0] * self.depth]])
        while len(known) <= length:
            row = [0, *known[-1], 0]
            known.append([row[h] * (h > 0) + row[h + 2] for h in range(self.depth + 1)])
        found: list[list[int]] = known
        return found

    def _member(self, length: int, rng: np.random.Generator) -> Word:
        """Return a member, all members of ``length`` being equally likely."""
        ways, height = self._ways(length), 0
        steps: list[int] = []
        for left in range(length - 1, -1, -1):
            up = ways[left][height + 1] if height < self.depth else 0
            down = ways[left][height - 1] if height else 0
            steps.append(1 if rng.random() < up / (up + down) else -1)
            height += steps[-1]
        return self._brackets(steps, rng)

    def _deep_member(self, depth: int, rng: np.random.Generator) -> Word:
        """Return a member as deep as it may be: the automaton's stack stays empty, so any depth means that."""
        return super()._deep_member(min(depth, self.depth), rng)


def _state(stack: tuple[Symbol, ...]) -> str:
    return " ".join(stack) or _START


@dataclass(frozen=True)
class BoundedDyckNextSet(DyckNextSet):
    """Which brackets may come next in Dyck-(n, depth): at the full depth the closing one alone.

    Members are drawn with every length as likely as the others, all members of a length being equally likely.

    >>> BoundedDyckNextSet(2, 1).expected("()")
    [(')',), ('(', '[')]
    """

    depth: int

    def __post_init__(self) -> None:
        super().__post_init__()
        BoundedDyck(self.n, self.depth)

    @cached_property
    def language(self) -> BoundedDyck:
        """Return Dyck-(n, depth)."""
        return BoundedDyck(self.n, self.depth)

    def _following(self, symbols: list[Symbol], t: int) -> list[Symbol]:
        following = super()._following(symbols, t)
        openers = {opener for opener, _ in self.language.pairs}
        height = sum(1 if symbol in openers else -1 for symbol in symbols[: t + 1])
        return [symbol for symbol in following if symbol not in openers] if height == self.depth else following

    def _draw(self, low: int, high: int, rng: np.random.Generator) -> Callable[[], Word | None]:
        return lambda: self.language.sample(1, (low, high), seed=int(rng.integers(2**63)))[0]
