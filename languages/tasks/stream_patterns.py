"""The streams of Joulin & Mikolov 2015, table 1: counting patterns, memorisation and binary addition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, State, Symbol, Transition, push
from stacklens.automata.rewriting import with_head_outputs
from stacklens.errors import NoWordError, UnknownNameError
from stacklens.languages.tasks.streams import StreamTask

__all__ = ["PATTERNS", "Addition", "CountingStream", "Memorization"]

PATTERNS: dict[str, str] = {"anbn": "ab", "anbncn": "abc", "anbncndn": "abcd", "anb2n": "ab", "anbmcnm": "abc"}
_BOTTOM = "⊥"

_NUMBER = "(0|1[01]*)"


@dataclass(frozen=True)
class CountingStream(StreamTask):
    """Streams of one of the ``PATTERNS``. The size of a piece is n; that of a^n b^m c^{n+m} is n + m.

    What counts begins with the first ``b`` (the first ``c`` where m is free) and ends with the next piece's ``a``.

    Raises:
        UnknownNameError: another pattern.

    >>> CountingStream("anbmcnm").expected("abbccca")
    [None, None, None, 'c', 'c', 'a', None]
    >>> CountingStream("anb2n").reference.transduce("abbaabbbb")
    [None, 'b', 'a', None, None, 'b', 'b', 'b', 'a']
    """

    pattern: str
    _first = "a"

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            raise UnknownNameError("counting pattern", self.pattern, list(PATTERNS))

    @property
    def name(self) -> str:
        """Return the pattern."""
        return self.pattern

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the letters, in the order of the authors' program."""
        return tuple(PATTERNS[self.pattern])

    def piece(self, n: int, rng: np.random.Generator) -> str:
        """Return the piece of size ``n``; for a^n b^m c^{n+m} the share of b is drawn evenly from 1 to n - 1."""
        if self.pattern == "anbmcnm":
            m = int(rng.integers(1, n))
            return "a" * (n - m) + "b" * m + "c" * n
        start = "a" * n + "b"
        return start + (self._rest(start) or "")

    def _rest(self, start: str) -> str | None:
        open_end = "a+b*|(a+)(b+)c" if self.pattern == "anbmcnm" else "a+|(a+)b"
        match = re.fullmatch(open_end, start)
        if match is None:
            raise NoWordError(f"no stream of {self.name}: none of its pieces begins with {start}")
        if match[1] is None:
            return None
        n = len(match[1])
        if self.pattern == "anbmcnm":
            return "c" * (n + len(match[2]) - 1)
        if self.pattern == "anb2n":
            return "b" * (2 * n - 1)
        return "b" * (n - 1) + "".join(letter * n for letter in self.alphabet[2:])

    @cached_property
    def reference(self) -> PushdownAutomaton | None:
        """Return the automaton that counts on one stack, accepting at the end of a piece; None for three counts."""
        if self.pattern in ("anbncn", "anbncndn"):
            return None
        last = self.alphabet[-1]  # the letter that pops

        def following(state: State, top: Symbol) -> Symbol | None:
            if state not in ("pop", "half"):
                return None
            return last if top != _BOTTOM or state == "half" else "a"

        return with_head_outputs(self._recogniser(), following)

    def _recogniser(self) -> PushdownAutomaton:
        """Return the automaton of streams of whole pieces, which pushes a letter and pops it with the last one."""
        steps: dict[Key, Transition] = {("start", "a", (_BOTTOM,)): Transition("a", (push("a"),))}
        steps["pop", "a", (_BOTTOM,)] = steps["start", "a", (_BOTTOM,)]
        steps["a", "a", ("a",)] = Transition("a", (push("a"),))
        if self.pattern == "anbmcnm":
            steps["a", "b", ("a",)] = steps["b", "b", ("a",)] = Transition("b", (push("a"),))
            steps["b", "c", ("a",)] = steps["pop", "c", ("a",)] = Transition("pop", (POP,))
        elif self.pattern == "anb2n":  # every second b pops
            steps["a", "b", ("a",)] = steps["pop", "b", ("a",)] = Transition("half", (NONE,))
            steps["half", "b", ("a",)] = Transition("pop", (POP,))
        else:
            steps["a", "b", ("a",)] = steps["pop", "b", ("a",)] = Transition("pop", (POP,))
        states = dict.fromkeys(["start", *(step.target for step in steps.values())])
        return PushdownAutomaton(
            tuple(states), self.alphabet, ("a",), steps, "start", frozenset({"start", "pop"}), bottom=_BOTTOM
        )


@dataclass(frozen=True)
class Memorization(StreamTask):
    """Streams of w = w^R, with w over 1, 2 and not empty; the size of a piece is the length of w.

    What counts is w^R; how the next piece begins cannot be known. Letters are drawn evenly.

    >>> Memorization().expected("2122=22121")
    [None, None, None, None, '2', '2', '1', '2', None, None]
    """

    name = "memorization"
    alphabet = ("=", "1", "2")
    _first = None

    def piece(self, n: int, rng: np.random.Generator) -> str:
        """Return w = w^R for a random w of length ``n``."""
        w = "".join(str(digit) for digit in rng.integers(1, 3, size=n).tolist())
        return f"{w}={w[::-1]}"

    def _rest(self, start: str) -> str | None:
        match = re.fullmatch("([12]+)(=?)", start)
        if match is None:
            raise NoWordError(f"no stream of {self.name}: none of its pieces begins with {start}")
        return match[1][::-1] if match[2] else None

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton that pushes w and pops it, accepting at the end of a piece."""
        steps: dict[Key, Transition] = {}
        for digit in "12":
            write = Transition("write", (push(digit),))
            steps |= {("start", digit, (_BOTTOM,)): write, ("read", digit, (_BOTTOM,)): write}
            steps |= {("write", digit, (top,)): write for top in "12"}
            steps["write", "=", (digit,)] = Transition("read", (NONE,))
            steps["read", digit, (digit,)] = Transition("read", (POP,))
        states, accepting = ("start", "write", "read"), frozenset({"start", "read"})
        pda = PushdownAutomaton(states, self.alphabet, ("1", "2"), steps, "start", accepting, bottom=_BOTTOM)

        def following(state: State, top: Symbol) -> Symbol | None:
            return top if state == "read" and top != _BOTTOM else None

        return with_head_outputs(pda, following)


@dataclass(frozen=True)
class Addition(StreamTask):
    """Streams of binary additions with the result in reverse: ``101+1=011.``; the size is the digits of both numbers.

    What counts, in training too, is the result with its ``.``. Numbers have no leading zeros. How many of the digits
    are the first number's is drawn evenly, 0 digits making the number 0, as in the authors' program.

    >>> Addition().expected("101+1=011.")
    [None, None, None, None, None, '0', '1', '1', '.', None]
    """

    name = "addition"
    alphabet = ("+", "=", ".", "0", "1")
    _first = None
    smallest = 0

    @property
    def reference(self) -> None:
        """Return None: both numbers would have to be read from their ends at once, which takes two stacks."""
        return

    def piece(self, n: int, rng: np.random.Generator) -> str:
        """Return a random addition of two numbers that have ``n`` digits together."""
        first = int(rng.integers(n + 1))
        numbers = ["1" + "".join(map(str, rng.integers(2, size=k - 1))) if k else "0" for k in (first, n - first)]
        start = f"{numbers[0]}+{numbers[1]}="
        return start + (self._rest(start) or "")

    def _rest(self, start: str) -> str | None:
        match = re.fullmatch(rf"{_NUMBER}(\+({_NUMBER}(=?))?)?", start)
        if match is None:
            raise NoWordError(f"no stream of {self.name}: none of its pieces begins with {start}")
        if not match[5]:
            return None
        total = int(match[1], 2) + int(match[4], 2)
        return f"{total:b}"[::-1] + "."
