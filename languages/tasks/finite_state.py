"""The regular tasks of Delétang et al. 2023, "Neural Networks and the Chomsky Hierarchy", as their program has them.

There a network reads a whole word and gives one answer. Here it answers after every symbol for what it has read, so
that each beginning of a word counts as a word; the answer to the whole is the last one. Sizes are lengths: 1 to 40 to
train, 41 to 500 to test, all equally likely.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np

from stacklens.automata.pda import NONE, Key, Output, PushdownAutomaton, StackOp, Symbol, Transition, Word
from stacklens.errors import NoWordError, StacklensError
from stacklens.languages.tasks.task import Split, Task
from stacklens.languages.words import make_word

__all__ = [
    "BOTTOM",
    "LENGTHS",
    "CycleNavigation",
    "EvenPairs",
    "ModularArithmetic",
    "Move",
    "ParityCheck",
    "drawn_sizes",
    "explored",
]

BOTTOM = "⊥"
Move = tuple[Hashable, StackOp, Output]  # the next control state, what is done to the stack, what is said
LENGTHS: dict[Split, tuple[int, int]] = {"train": (1, 40), "test": (41, 500)}


def drawn_sizes(
    name: str, n: int, lengths: tuple[int, int] | None, split: Split, smallest: int, rng: np.random.Generator
) -> list[int]:
    """Return ``n`` sizes of at least ``smallest``, those asked for or the paper's, all equally likely.

    Raises:
        StacklensError: there are none in the range asked for.
    """
    low, high = lengths or LENGTHS[split]
    if high < smallest:
        raise StacklensError(f"{name} has no words of sizes {low} to {high}: they begin at {smallest}")
    sizes: list[int] = rng.integers(max(low, smallest), high + 1, size=n).tolist()
    return sizes


class _FiniteState(Task):
    """A task whose answers a finite automaton gives; a subclass says which."""

    kind = "transduction"

    @abstractmethod
    def _answer(self, word: Word) -> Output:
        """Return the answer to a whole word, by definition; None where it is only the beginning of one."""

    @abstractmethod
    def _move(self, control: Any, symbol: Symbol) -> tuple[Any, Output] | None:
        """Return the next state and the answer, None where no word goes on so."""

    @property
    @abstractmethod
    def _initial(self) -> Any: ...

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the finite automaton; its stack is never used."""

        def rule(control: Any, symbol: Symbol, _: Symbol) -> Move | None:
            made = self._move(control, symbol)
            return None if made is None else (made[0], NONE, made[1])

        return explored(self.alphabet, self._initial, rule, self._is_whole)

    def _is_whole(self, control: Any) -> bool:
        """Return whether a word may end in that state."""
        del control
        return True

    def expected(self, word: Word) -> list[Output]:
        """Return the answer to everything read so far, after each symbol."""
        self._check(word)
        return [self._answer(word[: length + 1]) for length in range(len(word))]

    def _check(self, word: Word) -> None:
        if not set(word) <= set(self.alphabet):
            raise NoWordError(f"{''.join(word)} is no input of {self.name}: expected {' '.join(self.alphabet)} only")

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        return [self._draw(size, rng) for size in drawn_sizes(self.name, n, lengths, split, 1, rng)]

    def _draw(self, size: int, rng: np.random.Generator) -> Word:
        return make_word([self.alphabet[i] for i in rng.integers(len(self.alphabet), size=size)], self.alphabet)


class _EvenOrOdd(_FiniteState):
    """One over a and b that says whether something is even or odd."""

    alphabet = ("a", "b")
    output_alphabet = ("0", "1")


@dataclass(frozen=True)
class EvenPairs(_EvenOrOdd):
    """Whether ab and ba together come an odd number of times: 1 or, for an even number, 0.

    >>> EvenPairs().expected("aabba")
    ['0', '0', '1', '1', '0']
    """

    name = "even-pairs"
    _initial = "start"

    def _answer(self, word: Word) -> Output:
        return str(sum(one != other for one, other in pairwise(word)) % 2)

    def _move(self, control: str, symbol: Symbol) -> tuple[str, Output]:
        first = symbol if control == "start" else control[0]
        return first + symbol, str(int(first != symbol))  # the number is odd where first and last symbol differ


@dataclass(frozen=True)
class ParityCheck(_EvenOrOdd):
    """Whether the number of b is odd: 1 or, for an even number, 0. It is `xor` over other letters.

    >>> ParityCheck().expected("aabba")
    ['0', '0', '1', '0', '0']
    """

    name = "parity-check"
    _initial = "0"

    def _answer(self, word: Word) -> Output:
        return str(list(word).count("b") % 2)

    def _move(self, control: str, symbol: Symbol) -> tuple[str, Output]:
        parity = str((int(control) + (symbol == "b")) % 2)
        return parity, parity


@dataclass(frozen=True)
class CycleNavigation(_FiniteState):
    """Where on a cycle of ``length`` places one is, from place 0: 0 stays, 1 goes on by one, 2 goes back by one.

    >>> CycleNavigation().expected("01021")
    ['0', '1', '1', '0', '1']
    """

    length: int = 5
    name = "cycle-navigation"
    alphabet = ("0", "1", "2")
    _initial = "0"

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the places."""
        return tuple(map(str, range(self.length)))

    def _answer(self, word: Word) -> Output:
        symbols = list(word)
        return str((symbols.count("1") - symbols.count("2")) % self.length)

    def _move(self, control: str, symbol: Symbol) -> tuple[str, Output]:
        place = str((int(control) + (0, 1, -1)[int(symbol)]) % self.length)
        return place, place


@dataclass(frozen=True)
class ModularArithmetic(_FiniteState):
    """The value of digits joined by +, - and *, modulo ``modulus``; products first. It is said after digits alone.

    Words have odd lengths: a size that is even stands for the length below it.

    >>> ModularArithmetic().expected("1+2*3")
    ['1', None, '3', None, '2']
    """

    modulus: int = 5
    name = "modular-arithmetic"
    _initial = "operand", 0, 1

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the digits and the operators."""
        return (*self.output_alphabet, "+", "-", "*")

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the digits."""
        return tuple(map(str, range(self.modulus)))

    def _check(self, word: Word) -> None:
        super()._check(word)
        for place, symbol in enumerate(word):
            if (symbol in self.output_alphabet) != (place % 2 == 0):
                raise NoWordError(f"no word of {self.name}: {symbol!r} at position {place + 1} of {''.join(word)}")

    def _answer(self, word: Word) -> Output:
        if len(word) % 2 == 0:
            return None
        total, product, symbols = 0, int(word[0]), list(word)
        for operator, digit in zip(symbols[1::2], symbols[2::2], strict=True):
            if operator == "*":
                product *= int(digit)
            else:
                total, product = total + product, int(digit) if operator == "+" else -int(digit)
        return str((total + product) % self.modulus)

    def _move(self, control: tuple[str, int, int], symbol: Symbol) -> tuple[tuple[str, int, int], Output] | None:
        """Return a state: the sum before the last product, and that product or what its next factor is to be times."""
        awaited, total, product = control
        if (symbol in self.output_alphabet) != (awaited == "operand"):
            return None
        if awaited == "operand":
            product = product * int(symbol) % self.modulus
            return ("operator", total, product), str((total + product) % self.modulus)
        if symbol == "*":
            return ("operand", total, product), None
        return ("operand", (total + product) % self.modulus, 1 if symbol == "+" else self.modulus - 1), None

    def _is_whole(self, control: tuple[str, int, int]) -> bool:
        return control[0] == "operator"

    def _draw(self, size: int, rng: np.random.Generator) -> Word:
        digits = rng.integers(self.modulus, size=(size + 1) // 2)
        operators = rng.integers(3, size=len(digits) - 1)
        joined = [part for pair in zip(operators, digits[1:], strict=True) for part in ("+-*"[pair[0]], str(pair[1]))]
        return "".join([str(digits[0]), *joined])


def explored(
    alphabet: tuple[Symbol, ...],
    initial: Hashable,
    rule: Callable[[Hashable, Symbol, Symbol], Move | None],
    whole: Callable[[Hashable], bool],
) -> PushdownAutomaton:
    """Return the automaton, acceptance "final state", whose moves are those of ``rule``.

    Args:
        alphabet: the symbols read.
        initial: the control state that it begins in.
        rule: from control state, symbol and top to the move, None for none.
        whole: whether a word that ends in this control state is one of the task's.

    >>> from stacklens.automata.pda import POP, push
    >>> rule = lambda q, x, top: (q, push("A") if x == "a" else POP, None) if (x, top) != ("b", BOTTOM) else None
    >>> pda = explored(("a", "b"), "q", rule, lambda q: True)
    >>> len(pda.transitions), pda.accepts("aab"), pda.accepts("abb")
    (3, True, False)
    """
    controls: dict[Hashable, str] = {initial: _called(initial)}
    tops: dict[Symbol, None] = {BOTTOM: None}
    steps: dict[Key, Transition] = {}
    asked: set[tuple[Hashable, Symbol]] = set()
    while new := [pair for pair in product(controls, tops) if pair not in asked]:
        for control, top in new:
            asked.add((control, top))
            for symbol in alphabet:
                if (move := rule(control, symbol, top)) is None:
                    continue
                target, operation, output = move
                controls.setdefault(target, _called(target))
                if operation.push is not None:
                    tops.setdefault(operation.push)
                steps[controls[control], symbol, (top,)] = Transition(controls[target], (operation,), output)
    accepting = frozenset(name for control, name in controls.items() if whole(control))
    cells = tuple(top for top in tops if top != BOTTOM)
    return PushdownAutomaton(
        tuple(controls.values()), alphabet, cells, steps, controls[initial], accepting, "final state", bottom=BOTTOM
    )


def _called(control: Hashable) -> str:
    """Return a control state's name: its parts, where it is a tuple."""
    return " ".join(map(str, control)) if isinstance(control, tuple) else str(control)
