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
from typing import Any, NamedTuple

import numpy as np

from ..automata.grammar import Grammar, parse_grammar
from ..automata.pda import NONE, POP, Key, Output, PushdownAutomaton, StackOp, Symbol, Transition, Word, push, replace
from ..core.errors import NoWordError, StacklensError
from .context_free import Chart
from .hao2018 import NULL, Reversal
from .task import Split, Task
from .words import make_word

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
    return " ".join(map(str, control)) if isinstance(control, tuple) else str(control)


# ---- Arithmetic with brackets, and equations, modulo 5: Delétang et al. 2023, as their program draws them by default.
#
# An expression is E -> d | -d | (d) | (-d) | (E+E) | (E-E) with a digit d: every sum and difference has its brackets,
# and there are no products (their figure has some; their program's data have none). In an equation E=d one digit of E
# is an x; since x is added or taken away, there is one solution.

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


# ---- Reversing and stack manipulation of Delétang et al. 2023: deterministic context-free tasks whose answer is a
# string.
#
# There a network that has read its input reads empty symbols, one for each symbol of the answer, and says the answer
# meanwhile. So it is here, the empty symbol being #.

END = "."
_ACTIONS: dict[Symbol, StackOp] = {"-": POP, "A": push("a"), "B": push("b")}


@dataclass(frozen=True)
class ReverseString(Reversal):
    """w #^|w| becomes #^|w| w^R over a and b; w^R counts. The size is the length of w: 1 to 40, or 41 to 500 to test.

    >>> ReverseString().expected("aab###")
    ['#', '#', '#', 'b', 'a', 'a']
    """

    name = "reverse-string"
    _letters = "ab"

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        return [self._draw(size, rng) for size in drawn_sizes(self.name, n, lengths, split, 1, rng)]


@dataclass(frozen=True)
class StackManipulation(Task):
    """Say what is on a stack after some actions, from the top, and a full stop.

    The word has the stack's content from the bottom, at least one letter of a and b; then actions, - to pop, A and B to
    push a or b; then # for every symbol of the answer. Popping an empty stack does nothing. Nothing is expected before
    the first #. The size is the number of letters and actions: 1 to 40, or 41 to 500 to test, as many letters as
    actions on the average.

    >>> StackManipulation().expected("ab-B###")
    [None, None, None, None, 'b', 'a', '.']
    """

    name = "stack-manipulation"
    kind = "transduction"
    alphabet = ("a", "b", *_ACTIONS, NULL)
    output_alphabet = ("a", "b", END)

    @cached_property
    def reference(self) -> PushdownAutomaton:
        """Return the automaton that does to its own stack what the word says."""
        return explored(self.alphabet, "begin", _move, lambda control: control == "end")

    def expected(self, word: Word) -> list[Output]:
        """Return nothing for letters and actions, then the stack from its top, then the full stop."""
        symbols = list(word)
        asked = symbols.index(NULL) if NULL in symbols else len(symbols)
        given = next((n for n, symbol in enumerate(symbols) if symbol not in ("a", "b")), len(symbols))
        stack = symbols[:given]
        for action in symbols[given:asked]:
            if action not in _ACTIONS:
                raise self._no_word(word)
            stack = stack[:-1] if action == "-" else [*stack, action.lower()]
        answer = [*reversed(stack), END]
        if (symbols and not given) or set(symbols[asked:]) - {NULL} or len(symbols) - asked > len(answer):
            raise self._no_word(word)
        return [*([None] * asked), *answer[: len(symbols) - asked]]

    def _no_word(self, word: Word) -> NoWordError:
        return NoWordError(
            f"{''.join(word)} is no input of {self.name}: expected letters a b, actions - A B, and {NULL} for each "
            "symbol of the answer"
        )

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        return [self._draw(size, rng) for size in drawn_sizes(self.name, n, lengths, split, 1, rng)]

    def _draw(self, size: int, rng: np.random.Generator) -> Word:
        letters = 1 if size == 1 else int(rng.integers(1, size))
        actions = tuple(_ACTIONS)
        begun = ["ab"[i] for i in rng.integers(2, size=letters)]
        begun += [actions[i] for i in rng.integers(len(actions), size=size - letters)]
        height = letters
        for symbol in begun[letters:]:
            height = max(0, height - 1) if symbol == "-" else height + 1
        return make_word([*begun, *([NULL] * (height + 1))], self.alphabet)


def _move(control: object, symbol: Symbol, top: Symbol) -> Move | None:
    if symbol == NULL and control in ("content", "act", "say"):
        return ("end", NONE, END) if top == BOTTOM else ("say", POP, top)
    if symbol in ("a", "b") and control in ("begin", "content"):
        return "content", push(symbol), None
    if symbol in _ACTIONS and control in ("content", "act"):
        return "act", NONE if (symbol, top) == ("-", BOTTOM) else _ACTIONS[symbol], None
    return None
