"""The tasks of Delétang et al. 2023, "Neural Networks and the Chomsky Hierarchy", as their program has them.

There a network reads a whole word and gives one answer. Here it answers after every symbol for what it has read, so
that each beginning of a word counts as a word; the answer to the whole is the last one. Where the answer is a string
the network reads empty symbols, #, one for each symbol of the answer, and outputs the answer meanwhile. Sizes are
lengths: 1 to 40 to train, 41 to 500 to test, all equally likely.

>>> [task.expected("aabba") for task in (EVEN_PAIRS, PARITY_CHECK)], CYCLE_NAVIGATION.expected("01021")
([['0', '0', '1', '1', '0'], ['0', '0', '1', '0', '0']], ['0', '1', '1', '0', '1'])
>>> MODULAR_ARITHMETIC.expected("1+2*3"), STACK_MANIPULATION.expected("ab-B###")
(['1', None, '3', None, '2'], [None, None, None, None, 'b', 'a', '.'])
>>> MODULAR_ARITHMETIC_BRACKETS.expected("(1-(-3))")[-1], SOLVE_EQUATION.expected("(1-x)=3")[-1]
('4', '3')
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from ..automata.pda import NONE, POP, StackOp, Symbol, Word, push, replace
from .hao2018 import NULL, random_letters, reversal
from .task import BOTTOM, Move, Rule, RuleTask, Task, evenly

END = "."
MODULUS = 5

_ACTIONS: dict[Symbol, StackOp] = {"-": POP, "A": push("a"), "B": push("b")}
_SIGNS = {"+": 1, "-": -1}
_SHORT = ("{}", "-{}", "({})", "(-{})")  # expressions of up to four symbols


# ---- Regular tasks ----


def _even_pairs(control: str, symbol: Symbol, _: Symbol) -> Move:
    first = symbol if control == "start" else control[0]
    return first + symbol, NONE, str(int(first != symbol))  # the number is odd where first and last symbol differ


def _parity_check(control: str, symbol: Symbol, _: Symbol) -> Move:
    parity = str((int(control) + (symbol == "b")) % 2)
    return parity, NONE, parity


def _cycle_navigation(control: str, symbol: Symbol, _: Symbol) -> Move:
    place = str((int(control) + (0, 1, -1)[int(symbol)]) % MODULUS)
    return place, NONE, place


def _modular_arithmetic(control: tuple[str, int, int], symbol: Symbol, _: Symbol) -> Move | None:
    """A state is the sum before the last product, and that product or what its next factor is to be times."""
    awaited, total, product = control
    if symbol.isdecimal() != (awaited == "operand"):
        return None
    if awaited == "operand":
        product = product * int(symbol) % MODULUS
        return ("operator", total, product), NONE, str((total + product) % MODULUS)
    if symbol == "*":
        return ("operand", total, product), NONE, None
    return ("operand", (total + product) % MODULUS, 1 if symbol == "+" else MODULUS - 1), NONE, None


def _sum(size: int, rng: np.random.Generator) -> Word:
    digits = rng.integers(MODULUS, size=(size + 1) // 2)
    operators = rng.integers(3, size=len(digits) - 1)
    joined = [part for pair in zip(operators, digits[1:], strict=True) for part in ("+-*"[pair[0]], str(pair[1]))]
    return "".join([str(digits[0]), *joined])


def _on_letters(name: str, letters: str, answers: str, initial: str, rule: Rule) -> RuleTask:
    words = evenly(partial(random_letters, letters))
    return RuleTask(name, tuple(letters), tuple(answers), initial=initial, rule=rule, words=words)


_DIGITS = tuple(map(str, range(MODULUS)))
# Whether ab and ba together come an odd number of times: 1 or, for an even number, 0.
EVEN_PAIRS = _on_letters("even-pairs", "ab", "01", "start", _even_pairs)
# Whether the number of b is odd: 1 or, for an even number, 0. It is `xor` over other letters.
PARITY_CHECK = _on_letters("parity-check", "ab", "01", "0", _parity_check)
# Where on a cycle of places one is, from place 0: 0 stays, 1 goes on by one, 2 goes back by one.
CYCLE_NAVIGATION = _on_letters("cycle-navigation", "012", "".join(_DIGITS), "0", _cycle_navigation)
# The value of digits joined by +, - and *; products first. It is the output after digits alone. Words have odd lengths:
# a size that is even stands for the length below it.
MODULAR_ARITHMETIC = RuleTask(
    "modular-arithmetic",
    (*_DIGITS, "+", "-", "*"),
    _DIGITS,
    initial=("operand", 0, 1),
    rule=_modular_arithmetic,
    words=evenly(_sum),
    whole=lambda control: control[0] == "operator",
)


# ---- Arithmetic with brackets, and equations, as the authors' program draws them by default ----
# An expression is E -> d | -d | (d) | (-d) | (E+E) | (E-E) with a digit d: every sum and difference has its brackets,
# and there are no products (their figure has some; their program's data have none). In an equation E=d one digit of E
# is an x; since x is added or taken away, there is one solution.


def _arithmetic(name: str, equation: bool) -> RuleTask:
    return RuleTask(
        name,
        (*_DIGITS, *"+-()", *("x=" if equation else "")),
        _DIGITS,
        initial=_ArithmeticControl("operand"),
        rule=_Arithmetic(equation),
        words=evenly(_equation, smallest=3) if equation else evenly(_expression),
        whole=_DONE.__eq__,
    )


def _expression(size: int, rng: np.random.Generator) -> str:
    """Return an expression of ``size`` symbols; where it is split, every split is as likely as another."""
    if size <= len(_SHORT):
        return _SHORT[size - 1].format(rng.integers(MODULUS))
    left = int(rng.integers(1, size - 3))
    first = _expression(left, rng)
    return f"({first}{'+-'[rng.integers(2)]}{_expression(size - 3 - left, rng)})"


def _equation(size: int, rng: np.random.Generator) -> str:
    """Return an equation of ``size`` symbols: an expression and its value, with an x in the place of a digit."""
    text = _expression(size - 2, rng)
    place = int(rng.choice([n for n, symbol in enumerate(text) if symbol.isdecimal()]))
    [value] = [out for out in MODULAR_ARITHMETIC_BRACKETS.expected(text) if out is not None]
    return f"{text[:place]}x{text[place + 1 :]}={value}"


class _Linear(NamedTuple):
    """``slope`` times x and ``rest``."""

    slope: int
    rest: int


class _ArithmeticControl(NamedTuple):
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
        operand = "" if self.left is None else f"{self.left.slope}x+{self.left.rest}{self.operator}"
        return f"({operand}{'!' if self.must else ''}{'_' if self.lowest else ''}"


_DONE = _ArithmeticControl("end")


class _Arithmetic:
    """The rule of both tasks. Words of which nothing can come any more are cut at once."""

    def __init__(self, equation: bool) -> None:
        self.equation = equation
        self.frames: dict[Symbol, _Frame] = {}

    def __call__(self, control: _ArithmeticControl, symbol: Symbol, top: Symbol) -> Move | None:
        """Return the move."""
        frame, value = self.frames.get(top), control.value
        x_on_the_left = frame is not None and frame.left is not None and frame.left.slope
        if x_on_the_left and (not control.seen or (value is not None and value.slope)):
            return None  # another x on the right
        if control.waits in ("operand", "digit"):
            # an x has to stand in this operand where it is the last that can have one
            last = self.equation if top == BOTTOM else frame is not None and frame.must and frame.left is not None
            must = last and not control.seen
            if control.waits == "operand" and symbol == "-":
                return control._replace(waits="digit"), NONE, None
            if control.waits == "operand" and symbol == "(":
                opened = _Frame(None, "", must, top == BOTTOM)
                return _ArithmeticControl("operand", control.seen), push(self.cell(opened)), None
            sign = -1 if control.waits == "digit" else 1
            if symbol == "x" and not control.seen:
                return self.whole(_Linear(sign, 0), True, "operator", top == BOTTOM, NONE)
            if not symbol.isdecimal() or must:
                return None
            value = _Linear(0, sign * int(symbol) % MODULUS)
            return self.whole(value, control.seen, "operator", top == BOTTOM, NONE)
        if control.waits == "equals":
            return (control._replace(waits="right side"), NONE, None) if symbol == "=" else None
        if value is None:
            return None
        if control.waits == "right side" and symbol.isdecimal():
            return _DONE, NONE, str(value.slope * (int(symbol) - value.rest) % MODULUS)
        # behind an operand: its operator, or the end of its bracket
        if frame is None:
            return None
        if symbol in _SIGNS and frame.left is None:
            opened = frame._replace(left=value, operator=symbol)
            return _ArithmeticControl("operand", control.seen), replace(self.cell(opened)), None
        unfinished = (frame.left is None and control.waits == "only operator") or (frame.must and not control.seen)
        if symbol != ")" or unfinished:
            return None
        if frame.left is not None:
            sign, left = _SIGNS[frame.operator], frame.left
            value = _Linear(left.slope + sign * value.slope, (left.rest + sign * value.rest) % MODULUS)
        return self.whole(value, control.seen, "only operator", frame.lowest, POP)

    def whole(self, value: _Linear, seen: bool, waits: str, outermost: bool, operation: StackOp) -> Move:
        """Return the move that makes an expression whole; the ``outermost`` one is all, or the left side."""
        if not outermost:
            return _ArithmeticControl(waits, seen, value), operation, None
        if self.equation:
            return _ArithmeticControl("equals", True, value), operation, None
        return _DONE, operation, str(value.rest)

    def cell(self, frame: _Frame) -> Symbol:
        self.frames[frame.name] = frame
        return frame.name


# The value of an expression, and what x is in an equation such as (1-x)=3: the output with the last symbol. The size is
# the length.
MODULAR_ARITHMETIC_BRACKETS = _arithmetic("modular-arithmetic-brackets", False)
SOLVE_EQUATION = _arithmetic("solve-equation", True)


# ---- Reversing and stack manipulation: deterministic context-free tasks whose answer is a string ----


def _stack_manipulation(control: str, symbol: Symbol, top: Symbol) -> Move | None:
    if symbol == NULL and control in ("content", "act", "say"):
        return ("end", NONE, END) if top == BOTTOM else ("say", POP, top)
    if symbol in ("a", "b") and control in ("begin", "content"):
        return "content", push(symbol), None
    if symbol in _ACTIONS and control in ("content", "act"):
        return "act", NONE if (symbol, top) == ("-", BOTTOM) else _ACTIONS[symbol], None
    return None


def _manipulation(size: int, rng: np.random.Generator) -> Word:
    letters = 1 if size == 1 else int(rng.integers(1, size))
    actions = tuple(_ACTIONS)
    begun = [*random_letters("ab", letters, rng)]
    begun += [actions[i] for i in rng.integers(len(actions), size=size - letters)]
    height = letters
    for symbol in begun[letters:]:
        height = max(0, height - 1) if symbol == "-" else height + 1
    return "".join([*begun, *([NULL] * (height + 1))])


# w #^|w| becomes #^|w| w^R over a and b; w^R counts. The size is the length of w.
REVERSE_STRING = reversal("reverse-string", "ab", "ab")
# The word has a stack's content from the bottom, at least one letter of a and b; then actions, - to pop, A and B to
# push a or b; then # for every symbol of the answer: the stack from the top, and a full stop. Popping an empty stack
# does nothing. Nothing is expected before the first #. The size counts letters and actions, about as many of each.
STACK_MANIPULATION = RuleTask(
    "stack-manipulation",
    ("a", "b", *_ACTIONS, NULL),
    ("a", "b", END),
    initial="begin",
    rule=_stack_manipulation,
    words=evenly(_manipulation),
    whole="end".__eq__,
    form="letters a b, actions - A B, and # for each symbol of the answer",
)

# every task, what it asks, and its class of languages
_FREE = "deterministic context-free"
CHOMSKY_TASKS: tuple[tuple[Task, str, str], ...] = (
    (CYCLE_NAVIGATION, "where on a cycle of five places one is", "regular"),
    (EVEN_PAIRS, "whether ab and ba together come an odd number of times", "regular"),
    (MODULAR_ARITHMETIC, "the value of sums and products of digits, modulo 5", "regular"),
    (PARITY_CHECK, "whether b comes an odd number of times", "regular"),
    (REVERSE_STRING, "w and then w reversed, over a b", _FREE),
    (STACK_MANIPULATION, "the content of a stack after some actions", _FREE),
    (MODULAR_ARITHMETIC_BRACKETS, "the value of an expression with brackets, modulo 5", _FREE),
    (SOLVE_EQUATION, "what x is, modulo 5", _FREE),
)
