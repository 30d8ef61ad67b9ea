"""String reversal and exclusive or on words of 0 and 1: Hao et al. 2018, sections 4.1 and 4.2.

Also the string reversal of Suzgun et al. 2019, section 7, the same function over a, b, c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from operator import xor

import numpy as np

from stacklens.automata.pda import NONE, POP, Key, Output, PushdownAutomaton, Symbol, Transition, Word, push
from stacklens.errors import NoWordError, StacklensError
from stacklens.languages.drawing import distinct_words
from stacklens.languages.tasks.task import Split, Task

__all__ = ["NORMAL", "Reversal", "ReversalWithExcluded", "SuzgunReversal", "Xor"]

NULL = "#"
NORMAL: dict[Split, tuple[float, float, int]] = {"train": (10, 2, 12), "test": (20, 4, 24)}  # mean, deviation, longest
XOR_LENGTH: dict[Split, int] = {"train": 12, "test": 24}
SUZGUN_LENGTHS: dict[Split, tuple[int, int]] = {"train": (2, 50), "test": (52, 100)}


@dataclass(frozen=True)
class Reversal(Task):
    """w #^|w| becomes #^|w| w^R (Hao et al. 2018, section 4.1); # is their null symbol, the last input and output.

    Only w^R counts. The size is the length of w: int(N(10, 2)) in 1..12, for testing int(N(20, 4)) in 1..24, with
    ``lengths`` drawn evenly instead. (The authors pad to twice the longest; what is said there does not count.)

    >>> task = Reversal()
    >>> task.expected("110###"), task.scored("110###")
    (['#', '#', '#', '0', '1', '1'], [False, False, False, True, True, True])
    """

    name = "reversal"
    kind = "transduction"
    _letters = "01"
    silent = frozenset({NULL})

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the letters and the null symbol."""
        return (*self._letters, NULL)

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the transducer of figure 3: it pushes w, then pops and says it, and says # when all is said.

        Any prefix is transduced; accepted are the words w #^|w|.
        """
        letters, bottom = tuple(self._letters), "⊥"
        steps: dict[Key, Transition] = {}
        for top in (bottom, *letters):
            steps |= {("read", letter, (top,)): Transition("read", (push(letter),), NULL) for letter in letters}
        for state in ("read", "say"):
            steps |= {(state, NULL, (letter,)): Transition("say", (POP,), letter) for letter in letters}
        states = ("read", "say")
        return PushdownAutomaton(states, self.alphabet, letters, steps, "read", frozenset(states), bottom=bottom)

    def expected(self, word: Word) -> list[Output]:
        """Return # for every letter, then the letters in reverse."""
        length = list(word).index(NULL) if NULL in word else len(word)
        letters, nulls = list(word[:length]), list(word[length:])
        if not set(letters) <= set(self._letters) or set(nulls) - {NULL} or len(nulls) > length:
            raise NoWordError(f"{''.join(word)} is no input of {self.name}: expected w and up to |w| times {NULL}")
        return [*([NULL] * length), *letters[::-1][: len(nulls)]]

    def scored(self, word: Word) -> list[bool]:
        """Return True where w^R is said."""
        return [symbol != NULL for symbol in self.expected(word)]

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        mean, deviation, longest = NORMAL[split]
        sizes = np.clip(np.trunc(rng.normal(mean, deviation, n)), 1, longest).astype(int)
        if lengths is not None:
            sizes = rng.integers(lengths[0], lengths[1] + 1, size=n)
        return [self._draw(size, rng) for size in sizes.tolist()]

    def _draw(self, size: int, rng: np.random.Generator) -> str:
        return "".join(self._letters[i] for i in rng.integers(len(self._letters), size=size)) + NULL * size


@dataclass(frozen=True)
class ReversalWithExcluded(Reversal):
    """w #^k becomes #^|w| v^R, where v is w without its 2s and 3s, and k its length (Hao et al. 2018, figure 5).

    Section 6, experiment 1: "a variant of this task in which certain alphabet symbols are excluded from the reversed
    output". Sizes are those of w in `Reversal`.

    >>> task = ReversalWithExcluded()
    >>> task.expected("1203##"), task.scored("1203##")
    (['#', '#', '#', '#', '0', '1'], [False, False, False, False, True, True])
    """

    name = "reversal-with-excluded"
    _letters = "0123"
    included = "01"

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the transducer of `Reversal`, which only pushes what it will say."""
        whole, letters = super().reference, tuple(self.included)
        steps = {
            key: step if key[1] in (*letters, NULL) else Transition(step.target, (NONE,), NULL)
            for key, step in whole.transitions.items()
            if set(key[2]) <= {*letters, whole.bottom}
        }
        return replace(whole, stack_alphabet=letters, transitions=steps)

    def expected(self, word: Word) -> list[Output]:
        """Return # for every letter, then the included letters in reverse."""
        length = list(word).index(NULL) if NULL in word else len(word)
        kept = [letter for letter in word[:length] if letter in self.included]
        nulls = list(word[length:])
        if not set(word[:length]) <= set(self._letters) or set(nulls) - {NULL} or len(nulls) > len(kept):
            raise NoWordError(
                f"{''.join(word)} is no input of {self.name}: expected w and up to {NULL} for every 0 and 1 in it"
            )
        return [*([NULL] * length), *kept[::-1][: len(nulls)]]

    def _draw(self, size: int, rng: np.random.Generator) -> str:
        letters = super()._draw(size, rng)[:size]
        return letters + NULL * sum(letter in self.included for letter in letters)


@dataclass(frozen=True)
class SuzgunReversal(Reversal):
    """w #^|w| becomes #^|w| w^R over a, b, c (Suzgun et al. 2019, section 7): every position counts.

    Words are distinct. The size is the length of the whole, w #^|w|: 2-50 to train, 52-100 to test, as the paper's
    memory of 104 cells for "the longest sequence in all the tasks", 100, suggests; w itself is not given there, nor is
    the alphabet: both are read as in its palindromes.

    >>> SuzgunReversal().scored("ab##")
    [True, True, True, True]
    """

    name = "string-reversal"
    _letters = "abc"
    silent = frozenset()

    def scored(self, word: Word) -> list[bool]:
        """Return True for every position."""
        return [True] * len(word)

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or SUZGUN_LENGTHS[split]
        halves = range(-(-low // 2), high // 2 + 1)
        if not halves:
            raise StacklensError(f"{self.name} has no words of lengths {low} to {high}: they are even")
        draw: Callable[[], Word] = lambda: self._draw(halves[int(rng.integers(len(halves)))], rng)  # noqa: E731
        return distinct_words(n, draw, f"words of {self.name} of lengths {low} to {high}")


@dataclass(frozen=True)
class Xor(Task):
    """After each symbol, the exclusive or of all symbols so far (section 4.2), or of all but the last (``delayed``).

    Every position counts. The size is the length: 12, for testing 24.

    >>> Xor().expected("1010110"), Xor(delayed=True).expected("1010")
    (['1', '1', '0', '0', '1', '0', '0'], ['0', '1', '1', '0'])
    """

    delayed: bool = False
    kind = "transduction"
    alphabet = ("0", "1")
    output_alphabet = ("0", "1")

    @property
    def name(self) -> str:
        """Return ``xor`` or ``delayed-xor``."""
        return "delayed-xor" if self.delayed else "xor"

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton of figure 4, left: the state is the parity, the stack is not used."""
        steps: dict[Key, Transition] = {}
        for parity in "01":
            for bit in "01":
                new = "0" if bit == parity else "1"
                steps[parity, bit, ("⊥",)] = Transition(new, (NONE,), parity if self.delayed else new)
        return PushdownAutomaton(("0", "1"), self.alphabet, (), steps, "0", frozenset("01"))

    def expected(self, word: Word) -> list[Output]:
        """Return the parity of the ones so far, as 0 or 1."""
        if not set(word) <= {"0", "1"}:
            raise NoWordError(f"{''.join(word)} is no input of {self.name}: expected 0 and 1 only")
        parities = [str(parity) for parity in accumulate(map(int, word), xor, initial=0)]
        return [*(parities[:-1] if self.delayed else parities[1:])]

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or (XOR_LENGTH[split],) * 2
        sizes = rng.integers(low, high + 1, size=n).tolist()
        return ["".join(str(bit) for bit in rng.integers(2, size=size).tolist()) for size in sizes]
