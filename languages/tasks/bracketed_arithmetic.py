"""Arithmetic with brackets, and equations, modulo 5: Delétang et al. 2023, as their program draws them by default.

An expression is E -> d | -d | (d) | (-d) | (E+E) | (E-E) with a digit d: every sum and difference has its brackets, and
there are no products (their figure has some; their program's data have none). In an equation E=d one digit of E is an
x; since x is added or taken away, there is one solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stacklens.automata.grammar import Grammar, parse_grammar
from stacklens.automata.pda import NONE, POP, Output, PushdownAutomaton, StackOp, Symbol, Word, push, replace
from stacklens.errors import NoWordError
from stacklens.languages.context_free import Chart
from stacklens.languages.tasks.finite_state import BOTTOM, Move, drawn_sizes, explored
from stacklens.languages.tasks.task import Split, Task

__all__ = ["ModularArithmeticBrackets", "SolveEquation"]

_SIGNS = {"+": 1, "-": -1}
_SHORT = ("{}", "-{}", "({})", "(-{})")  # expressions of up to four symbols


@dataclass(frozen=True)
class ModularArithmeticBrackets(Task):
    """The value of an expression, said with its last symbol. The size is its length: 1 to 40, or 41 to 500 to test.

    >>> ModularArithmeticBrackets().expected("(1-(-3))")
    [None, None, None, None, None, None, None, '4']
    """

    modulus: int = 5
    name = "modular-arithmetic-brackets"
    kind = "transduction"

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return digits, operators and brackets."""
        return (*self.output_alphabet, "+", "-", "(", ")")

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the digits."""
        return tuple(map(str, range(self.modulus)))

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton whose stack has an open bracket's left operand and operator."""
        rule = _Rule(self.modulus, equation=False)
        return explored(self.alphabet, _Control("operand"), rule, lambda control: control == _DONE)

    @cached_property
    def _grammar(self) -> Grammar:
        return parse_grammar(_expressions(self.modulus))

    def expected(self, word: Word) -> list[Output]:
        """Return nothing but the value, where the expression is whole."""
        chart = Chart(self._grammar)
        if chart.read_all(word) < len(word):
            raise NoWordError(f"no word of {self.name} begins with {''.join(word)}")
        answer = self._answer("".join(word)) if chart.accepts else None
        return [*([None] * (len(word) - 1)), answer] if word else []

    def _answer(self, text: str) -> str:
        return str(_value(text, 0) % self.modulus)

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        sizes = drawn_sizes(self.name, n, lengths, split, 1, rng)
        return [_draw(size, self.modulus, rng) for size in sizes]


@dataclass(frozen=True)
class SolveEquation(ModularArithmeticBrackets):
    """What x is in an equation such as (1-x)=3, said with its last symbol. The size is its length, at least 3.

    >>> SolveEquation().expected("(1-x)=3")[-1]
    '3'
    """

    name = "solve-equation"

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return digits, operators, brackets, the unknown and the sign of equality."""
        return (*super().alphabet, "x", "=")

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton that keeps every value as a sum of a multiple of x and a number."""
        rule = _Rule(self.modulus, equation=True)
        return explored(self.alphabet, _Control("operand"), rule, lambda control: control == _DONE)

    @cached_property
    def _grammar(self) -> Grammar:
        unknown = "X -> x | - x | ( x ) | ( - x ) | ( X + E ) | ( X - E ) | ( E + X ) | ( E - X )"
        return parse_grammar(f"Q -> X = D\n{unknown}\n{_expressions(self.modulus)}")

    def _answer(self, text: str) -> str:
        left, _, right = text.partition("=")
        at_zero, slope = _value(left, 0), _value(left, 1) - _value(left, 0)
        return str(slope * (int(right) - at_zero) % self.modulus)

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        sizes = drawn_sizes(self.name, n, lengths, split, 3, rng)
        return [self._equation(_draw(size - 2, self.modulus, rng), rng) for size in sizes]

    def _equation(self, text: str, rng: np.random.Generator) -> str:
        """Return the equation in which an ``x`` stands for one of the digits of ``text``."""
        place = int(rng.choice([n for n, symbol in enumerate(text) if symbol.isdecimal()]))
        return f"{text[:place]}x{text[place + 1 :]}={_value(text, 0) % self.modulus}"


def _expressions(modulus: int) -> str:
    """Return the grammar of expressions."""
    digits = " | ".join(map(str, range(modulus)))
    return f"E -> D | - D | ( D ) | ( - D ) | ( E + E ) | ( E - E )\nD -> {digits}"


def _value(text: str, unknown: int) -> int:
    """Return the value of a whole expression in which x is ``unknown``."""
    values: list[int] = []
    operators: list[str] = []
    sign, before = 1, "("
    for symbol in text:
        if symbol == "-" and before in "(+-":
            sign = -1
        elif symbol in _SIGNS or symbol == "(":
            operators.append(symbol)
        elif symbol == ")":
            while (operator := operators.pop()) != "(":
                right = values.pop()
                values[-1] += _SIGNS[operator] * right
        else:
            values.append(sign * (unknown if symbol == "x" else int(symbol)))
            sign = 1
        before = symbol
    return values[0]


def _draw(size: int, modulus: int, rng: np.random.Generator) -> str:
    """Return an expression of ``size`` symbols; where it is split, every split is as likely as another."""
    if size <= len(_SHORT):
        return _SHORT[size - 1].format(rng.integers(modulus))
    left = int(rng.integers(1, size - 3))
    return f"({_draw(left, modulus, rng)}{'+-'[rng.integers(2)]}{_draw(size - 3 - left, modulus, rng)})"


class _Linear(NamedTuple):
    """``slope`` times x and ``rest``."""

    slope: int
    rest: int


class _Control(NamedTuple):
    """What the automaton waits for, whether x was read, and the value that it has."""

    waits: str  # "operand", "digit" after a sign, "operator", "only operator", "equals", "right side", "end"
    seen: bool = False
    value: _Linear | None = None


class _Frame(NamedTuple):
    """An open bracket: its left operand and operator, if there are any yet; whether an x has to stand in it."""

    left: _Linear | None
    operator: str
    must: bool
    lowest: bool

    @property
    def name(self) -> str:
        """Return the stack symbol."""
        operand = "" if self.left is None else f"{self.left.slope}x+{self.left.rest}{self.operator}"
        return f"({operand}{'!' if self.must else ''}{'_' if self.lowest else ''}"


_DONE = _Control("end")


class _Rule:
    """What the automaton does (see `explored`). Words of which nothing can come any more are cut at once."""

    def __init__(self, modulus: int, equation: bool) -> None:
        self.modulus, self.equation = modulus, equation
        self.frames: dict[Symbol, _Frame] = {}

    def __call__(self, control: object, symbol: Symbol, top: Symbol) -> Move | None:
        """Return the move."""
        assert isinstance(control, _Control)
        frame = self.frames.get(top)
        if frame is not None and frame.left is not None and frame.left.slope and not self._one_x(control):
            return None
        if control.waits in ("operand", "digit"):
            return self._operand(control, symbol, top, frame)
        if control.waits == "equals":
            return (control._replace(waits="right side"), NONE, None) if symbol == "=" else None
        if control.waits == "right side" and symbol.isdecimal():
            assert control.value is not None
            answer = control.value.slope * (int(symbol) - control.value.rest) % self.modulus
            return _DONE, NONE, str(answer)
        return None if frame is None or control.value is None else self._inside(control, control.value, symbol, frame)

    def _one_x(self, control: _Control) -> bool:
        """Return whether a control state fits an open bracket that has the x: no run leads to others."""
        return control.seen and not (control.value is not None and control.value.slope)

    def _operand(self, control: _Control, symbol: Symbol, top: Symbol, frame: _Frame | None) -> Move | None:
        must = self._must(control, top, frame)
        if control.waits == "operand" and symbol == "-":
            return control._replace(waits="digit"), NONE, None
        if control.waits == "operand" and symbol == "(":
            return _Control("operand", control.seen), self._push(_Frame(None, "", must, top == BOTTOM)), None
        sign = -1 if control.waits == "digit" else 1
        if symbol == "x" and not control.seen:
            return self._whole(_Linear(sign, 0), True, "operator", top == BOTTOM, NONE)
        if symbol.isdecimal() and not must:
            value = _Linear(0, sign * int(symbol) % self.modulus)
            return self._whole(value, control.seen, "operator", top == BOTTOM, NONE)
        return None

    def _must(self, control: _Control, top: Symbol, frame: _Frame | None) -> bool:
        """Return whether an x has to stand in the operand that comes now."""
        if control.seen:
            return False
        if top == BOTTOM:
            return self.equation
        return frame is not None and frame.must and frame.left is not None

    def _inside(self, control: _Control, value: _Linear, symbol: Symbol, frame: _Frame) -> Move | None:
        """Return the move after an operand within a bracket."""
        if symbol in _SIGNS and frame.left is None:
            opened = frame._replace(left=value, operator=symbol)
            return _Control("operand", control.seen), replace(self._named(opened)), None
        if symbol != ")" or (frame.left is None and control.waits == "only operator"):
            return None
        if frame.must and not control.seen:
            return None
        if frame.left is not None:
            value = self._joined(frame.left, frame.operator, value)
        return self._whole(value, control.seen, "only operator", frame.lowest, POP)

    def _whole(self, value: _Linear, seen: bool, waits: str, outermost: bool, operation: StackOp) -> Move:
        """Return the move that makes an expression whole; the ``outermost`` one is all, or the left side."""
        if not outermost:
            return _Control(waits, seen, value), operation, None
        if self.equation:
            return _Control("equals", True, value), operation, None
        return _DONE, operation, str(value.rest)

    def _joined(self, left: _Linear, operator: str, right: _Linear) -> _Linear:
        sign = _SIGNS[operator]
        return _Linear(left.slope + sign * right.slope, (left.rest + sign * right.rest) % self.modulus)

    def _push(self, frame: _Frame) -> StackOp:
        return push(self._named(frame))

    def _named(self, frame: _Frame) -> Symbol:
        self.frames[frame.name] = frame
        return frame.name
