"""Boxes of vectors with bounds on what torch computes, and the rounded network beside an automaton with boxes in
place of vectors: controls, stack cells and heads.

Where boxes lie is the layout: images are cut into pieces that fall into boxes of their own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch

from ...automata.finite import FiniteAutomaton
from ...automata.pda import PushdownAutomaton, State, Symbol
from ...core.errors import StacklensError
from ...models.base import StackModel
from ...models.rounding import Operation
from ...models.views import RingAsTwoStacks, StackView

# ---- Boxes of vectors, and bounds on what torch may compute from them, rounding errors and overflows included ----
# A bound here holds for the numbers that a network's own floating-point arithmetic gives, not only for the exact ones.
# A sum of n products, in whatever order and with or without fused operations, is off by at most (1 + u)^n - 1 times the
# sum of their sizes (Higham 2002, section 3.1), u being half the distance from 1 to the next number; our own bounds are
# such sums in float64. Each of them is moved outward by `_SAFETY` times that. Sigmoids and tanh of torch and numpy are
# taken to be right to `_CURVE` u, which is more than their authors allow them (1 to 4 units in the last place).
#
# Where a number that is computed on the way, a partial sum in whatever order among them, may be larger than the format
# can hold, the bounds are NaN, and so is all that is computed from them: no decision is sure, and no box holds them.

Row = np.ndarray  # (M,) or (M, D) float64

_SAFETY = 4.0  # once for the network, once for ourselves, and twice for what follows from the slack itself
_CURVE = 32.0
_TINY = -709.0  # whose sigmoid is below the smallest normal number of every format
_FORMATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass(frozen=True)
class Arithmetic:
    """The floating-point numbers that a network computes with."""

    name: str  # what torch calls them
    unit: float  # half the distance from 1 to the next number, u
    least: float  # what a number may lose by underflow, flushed to zero or not: the smallest normal one
    most: float  # no number may be larger on the way; half of the largest, as the bound on it is rounded too
    whole: int  # up to which size all whole numbers are there; one more than that is this again

    @classmethod
    def of(cls, dtype: torch.dtype) -> Arithmetic:
        """Return that of ``dtype``, but never finer than the float64 of the bounds themselves.

        Raises StacklensError: the format is none whose arithmetic is known here.

        >>> Arithmetic.of(torch.float16).whole
        2048
        """
        name = str(dtype).removeprefix("torch.")
        if dtype not in _FORMATS:
            names = ", ".join(str(known).removeprefix("torch.") for known in _FORMATS)
            raise StacklensError(f"a network in {name} cannot be certified; expected one of {names}")
        info = torch.finfo(dtype)
        unit = max(float(info.eps), float(np.finfo(np.float64).eps)) / 2
        return cls(name, unit, float(info.tiny), float(info.max) / 2, int(2 / float(info.eps)))

    @property
    def curve(self) -> float:
        """Return how far a computed sigmoid or tanh may be from the exact one."""
        return _CURVE * self.unit

    def slack(self, sizes: Row, terms: int, lost: Row | float | None = None) -> Row:
        """Return how far sums of ``terms`` products may be off, whose sizes sum to ``sizes``; NaN where they overflow.

        ``lost`` is how often `least` may be lost, once a term unless given.
        """
        growth = np.expm1((terms + 4) * np.log1p(self.unit))
        spread: Row = _SAFETY * (growth * sizes + (terms if lost is None else lost) * self.least)
        return np.where(sizes + spread <= self.most, spread, np.nan)


@dataclass(frozen=True, eq=False)
class Box:
    """M boxes of vectors, from ``low`` to ``high``, (M, D) float64 each.

    >>> Box(np.array([[0.0, 1.0]]), np.array([[0.5, 1.0]])).sizes
    array([[0.5, 1. ]])
    """

    low: Row
    high: Row

    @classmethod
    def point(cls, values: Row) -> Box:
        """Return boxes of one point each."""
        return cls(values, values)

    @classmethod
    def beside(cls, boxes: list[Box]) -> Box:
        """Return boxes of the vectors that stand one after the other, (M, D1 + D2 + ...)."""
        return cls(np.concatenate([box.low for box in boxes], -1), np.concatenate([box.high for box in boxes], -1))

    @cached_property
    def sizes(self) -> Row:
        """Return the largest size of each number, (M, D)."""
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)))

    def columns(self, begin: int, end: int | None = None) -> Box:
        """Return the boxes of some of the numbers."""
        return Box(self.low[:, begin:end], self.high[:, begin:end])

    def rows(self, rows: np.ndarray | slice) -> Box:
        """Return some of the boxes."""
        return Box(self.low[rows], self.high[rows])

    def wider(self, by: Row | float, low: float = -np.inf, high: float = np.inf) -> Box:
        """Return the boxes, wider by so much on every side, but between ``low`` and ``high``."""
        return Box(np.maximum(self.low - by, low), np.minimum(self.high + by, high))


@dataclass(frozen=True, eq=False)
class Affine:
    """A layer W x + b, with what its rounding errors depend on."""

    weights: Row  # W, (O, I)
    bias: Row  # b, (O,)
    # the sum of the sizes of the products that make up each weight, (O, I); |W| unless W is a product itself
    sizes: Row
    bias_sizes: Row  # the same for the bias, (O,)
    terms: int  # how many products a number is the sum of
    lost: Row  # how often an underflow counts in each number, (O,): once a term, times the weights that come after it
    inner: tuple[Affine, ...] = ()  # the layers whose numbers are computed on the way, as functions of the same x

    @classmethod
    def of(cls, weights: Row, bias: Row | None = None) -> Affine:
        """Return the layer of ``weights`` (O, I) and ``bias`` (O,), which is 0 where there is none."""
        there, terms = np.zeros(len(weights)) if bias is None else bias, weights.shape[1] + 1
        return cls(weights, there, np.abs(weights), np.abs(there), terms, np.full(len(weights), float(terms)))

    @classmethod
    def beside(cls, layers: list[Affine]) -> Affine:
        """Return the sum of layers on inputs that stand one after the other: W1 x1 + b1 + W2 x2 + b2 + ..."""
        ends = np.cumsum([0, *(layer.weights.shape[1] for layer in layers)])
        inner = [one._padded(at, ends[-1]) for layer, at in zip(layers, ends, strict=False) for one in layer.inner]
        return cls(
            np.concatenate([layer.weights for layer in layers], 1),
            np.sum([layer.bias for layer in layers], axis=0),
            np.concatenate([layer.sizes for layer in layers], 1),
            np.sum([layer.bias_sizes for layer in layers], axis=0),
            sum(layer.terms for layer in layers),
            np.sum([layer.lost for layer in layers], axis=0),
            tuple(inner),
        )

    def after(self, first: Affine) -> Affine:
        """Return this layer, which is not itself after another, on what ``first`` gives."""
        return Affine(
            self.weights @ first.weights,
            self.weights @ first.bias + self.bias,
            self.sizes @ first.sizes,
            self.sizes @ first.bias_sizes + self.bias_sizes,
            self.terms + first.terms,
            self.sizes @ first.lost + self.lost,
            (*first.inner, first),
        )

    def rows(self, index: Row | slice) -> Affine:
        """Return the layer of some of the outputs."""
        parts = (self.weights, self.bias, self.sizes, self.bias_sizes)
        weights, bias, sizes, bias_sizes = (part[index] for part in parts)
        return Affine(weights, bias, sizes, bias_sizes, self.terms, self.lost[index], self.inner)

    def minus(self, index: int) -> Affine:
        """Return the layer of each output less output ``index``."""
        return Affine(
            self.weights - self.weights[index],
            self.bias - self.bias[index],
            self.sizes + self.sizes[index],
            self.bias_sizes + self.bias_sizes[index],
            2 * self.terms,
            self.lost + self.lost[index],
            self.inner,
        )

    def of_box(self, box: Box, arithmetic: Arithmetic) -> Box:
        """Return bounds on what the layer computes from vectors of ``box`` (M, I), (M, O); NaN where it overflows."""
        up, down = np.maximum(self.weights, 0).T, np.minimum(self.weights, 0).T
        low = box.low @ up + box.high @ down + self.bias
        high = box.high @ up + box.low @ down + self.bias
        largest = np.ones((len(low), 1))  # of what a weight is multiplied with, if it is flushed to zero
        for sizes in (box.sizes, *(layer.of_box(box, arithmetic).sizes for layer in self.inner)):
            largest = np.maximum(largest, sizes.max(1, keepdims=True, initial=0))
        slack = arithmetic.slack(box.sizes @ self.sizes.T + self.bias_sizes, self.terms, self.lost * (1 + largest))
        return Box(low, high).wider(slack)

    def _padded(self, before: int, size: int) -> Affine:
        sides = (0, 0), (before, size - before - self.weights.shape[1])
        weights, sizes = (np.pad(part, sides) for part in (self.weights, self.sizes))
        inner = tuple(layer._padded(before, size) for layer in self.inner)
        return Affine(weights, self.bias, sizes, self.bias_sizes, self.terms, self.lost, inner)


def sigmoid(box: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on the sigmoid, between 0 and 1."""
    exact = Box((1 + np.tanh(box.low / 2)) / 2, (1 + np.tanh(box.high / 2)) / 2)
    return exact.wider(arithmetic.curve, 0.0, 1.0)


def small_sigmoid(box: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on the sigmoid, tight near 0: torch computes 1 / (1 + exp(-x)), off by a share of itself."""
    low, high = (1 / (1 + np.exp(-np.maximum(side, _TINY))) for side in (box.low, box.high))
    least, most = low * (1 - arithmetic.curve) - arithmetic.least, high * (1 + arithmetic.curve) + arithmetic.least
    return Box(np.maximum(least, 0.0), np.minimum(most, 1.0))


def tanh(box: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on tanh, between -1 and 1."""
    return Box(np.tanh(box.low), np.tanh(box.high)).wider(arithmetic.curve, -1.0, 1.0)


def times(a: Box, b: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on the product, number by number."""
    corners = np.stack([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
    return Box(corners.min(0), corners.max(0)).wider(arithmetic.slack(a.sizes * b.sizes, 1))


def plus(a: Box, b: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on the sum, number by number."""
    return Box(a.low + b.low, a.high + b.high).wider(arithmetic.slack(a.sizes + b.sizes, 1))


def rounded_sum(a: Box, b: Box, arithmetic: Arithmetic) -> Box:
    """Return bounds on the sum of two numbers of the format, number by number; NaN where it may be too large.

    One sum needs no slack, for rounding to nearest keeps the order of numbers; that it is rounded to float64 first
    changes nothing (Figueroa 1995). So what is too small to change a number never adds up.
    """
    a, b = (_or_flushed(box, arithmetic) for box in (a, b))
    dtype = getattr(torch, arithmetic.name)
    low, high = (torch.from_numpy(total).to(dtype).double().numpy() for total in (a.low + b.low, a.high + b.high))
    low, high = (np.where(np.abs(side) <= arithmetic.most, side, np.nan) for side in (low, high))
    return _or_flushed(Box(low, high), arithmetic)


def _or_flushed(box: Box, arithmetic: Arithmetic) -> Box:
    """Return the boxes with 0 in place of numbers so small that they may be flushed to it, where it is farther out."""
    low, high = (np.where(np.abs(side) < arithmetic.least, 0.0, side) for side in (box.low, box.high))
    return Box(np.fmin(box.low, low), np.fmax(box.high, high))


def array(tensor: torch.Tensor) -> Row:
    """Return a tensor's exact values in float64."""
    return np.asarray(tensor.detach().cpu().double().numpy())


# ---- What a controller answers for boxes ----


@dataclass(frozen=True, eq=False)
class Decision:
    """What is decided, as numbers (M,), and by which margin (M,): not for sure where that is not above 0."""

    numbers: np.ndarray
    margins: Row

    def rows(self, rows: slice) -> Decision:
        """Return some of the decisions."""
        return Decision(self.numbers[rows], self.margins[rows])


@dataclass(frozen=True, eq=False)
class BoxAnswer:
    """What a controller answers for M boxes; NaN where a number on the way may leave the network's format."""

    hidden: Box  # bounds on the next hidden vectors, (M, H)
    operations: tuple[Decision, ...]  # what is done to each stack, as the number of an `Operation`
    pushed: tuple[Box, ...]  # bounds on what a push lays on each stack, (M, D)
    output: Decision  # the number of the output (see `StackModel.output_numbers`); of a recogniser 0
    # how far the sums that decide the actions of all stacks are from a tie, at least, (M,): by how much the largest
    # that goes into a softmax leads, and how far what goes into a sigmoid is from 0. 0 where an action is never whole.
    # See `EXACT_GAPS`
    gaps: Row

    @property
    def in_range(self) -> np.ndarray:
        """Return where all numbers stay in the network's format, (M,) bool."""
        boxes = (self.hidden, *self.pushed)
        sides = [side for box in boxes for side in (box.low, box.high)]
        margins = [decision.margins[:, None] for decision in (*self.operations, self.output)]
        return np.asarray(~np.isnan(np.concatenate([*sides, *margins], -1)).any(-1))


class BoxController(ABC):
    """The controller of one network on boxes."""

    arithmetic: Arithmetic  # the numbers that it computes with
    # up to how many cells the network's stacks are exact; None where no number counts them, as in a superposition stack
    height_limit: int | None = None

    @abstractmethod
    def answer(self, letter: int, hidden: Box, reading: Box) -> BoxAnswer:
        """Return the answer to ``letter`` from boxes of hidden vectors (M, H) and readings (M, n_stacks * R)."""

    def traps(self, hidden: Box) -> Decision:
        """Return whether a recogniser rejects for good after a step to ``hidden``, 1 or 0."""
        raise NotImplementedError

    def accepts(self, hidden: Box) -> Decision:
        """Return whether a recogniser accepts a word that leads to ``hidden`` and an empty stack, 1 or 0."""
        raise NotImplementedError


# ---- The rounded network beside an automaton ----

Tag = tuple[State | Symbol | None, ...]

BoxCell = tuple[int, ...]  # a cell of a grid by its numbers; () where there is no grid
_OFFSET = 0.37  # of the grid, so that no line of it runs through 0, 0.5 or 1, where networks like to be
_MOST_PIECES = 64
_FARTHEST = 2**50  # cells from 0: farther out their numbers are not exact


class Place(NamedTuple):
    """The name of a box of hidden vectors: the automaton's state, what was read last, and a cell of the grid."""

    tag: Tag
    cell: BoxCell = ()


class Value(NamedTuple):
    """The name of a box of values: on which stack, the automaton's symbol, what was read, and a cell of the grid."""

    stack: int
    tag: Tag
    cell: BoxCell = ()


BoxKey = Place | Value
Bounds = dict[BoxKey, tuple[Row, Row]]  # from each name to its box, (D,) each
FIRST = Place(("start",))  # before the first letter


class Entry(NamedTuple):
    """A stack cell: its symbol (None once the automaton has rejected), and the values that the network sees from it."""

    symbol: Symbol | None
    values: tuple[Value | None, ...]  # top first, as many as the network sees, None below the bottom


class Control(NamedTuple):
    """Where both are between two letters."""

    state: State | None  # the automaton's state, None once its run is cut
    place: Place  # the box of the hidden vector
    said: int | None = None  # the number of the set predicted last, where sets are predicted
    domain: State | None = None  # the state of the finite automaton of the words that count
    ended: bool = False  # whether the end symbol has been read
    accepted: bool | None = None  # whether the automaton accepts the word, where the end symbol is the network's alone
    rejected: bool = False  # whether the network rejected the end symbol


BoxTops = tuple[Entry | None, ...]
BoxHead = tuple[Control, BoxTops]


class BoxMove(NamedTuple):
    """A step on a letter: to a control, and what happens to each stack, with what a push lays there."""

    letter: Symbol
    control: Control
    operations: tuple[tuple[Operation, Entry | None], ...]


@dataclass(frozen=True, eq=False)
class StepOutcome:
    """What one step does for sure: where it leads, and in which boxes the pieces of its images have to lie."""

    letter: Symbol  # what is read
    control: Control  # the next control, but for its place
    operations: tuple[Operation, ...]  # what happens to each stack
    symbols: tuple[Symbol | None, ...]  # what the automaton pushes on each
    hidden: list[tuple[Place, ImagePiece]]  # the names and pieces of the next hidden vector
    pushed: tuple[list[tuple[Value, ImagePiece]], ...]  # the same for what is pushed on each stack
    others: list[tuple[Value, ImagePiece]]  # the same for stacks that the automaton has not

    @property
    def targets(self) -> Iterator[tuple[BoxKey, ImagePiece]]:
        """Yield all names of boxes, each with a piece that has to lie in its box."""
        yield from self.hidden
        for image_pieces in (self.others, *self.pushed):
            yield from image_pieces

    def moves(self, tops: BoxTops, depth: int) -> Iterator[BoxMove]:
        """Yield the moves from ``tops``, one for every choice of boxes; the network sees ``depth`` cells."""
        choices: list[list[tuple[Operation, Entry | None]]] = []
        for operation, symbol, image_pieces, top in zip(self.operations, self.symbols, self.pushed, tops, strict=True):
            below: tuple[Value | None, ...] = (None,) * depth if top is None else top.values
            covered = below[1:] if operation.pops else below
            entries = [Entry(symbol, (value, *covered)[:depth]) for value, _ in image_pieces]
            choices.append([(operation, entry) for entry in entries] or [(operation, None)])
        for (place, _), *operations in product(self.hidden, *choices):
            yield BoxMove(self.letter, self.control._replace(place=place), tuple(operations))


@dataclass(frozen=True)
class Layout:
    """How finely boxes are laid: there are different ones for each state of the automaton and each stack symbol."""

    # whether boxes of hidden vectors also differ by the letter read last and the tops that were seen then; otherwise by
    # the letter only
    tops: bool = False
    value_tops: bool = False  # the same for values on the stack
    # of how many steps, the last ones, letters and tops tell boxes of hidden vectors apart; at least 1. Values on the
    # stack differ by the last one
    steps: int = 1
    hidden: float | None = None  # the width of the cells of a grid for hidden vectors, or None for no grid
    values: float | None = None  # the same for values on the stack
    # whether what is on top of a stack that the automaton has not is held in a box for each box of hidden vectors, and
    # not in the one of all that lies there
    others: bool = False

    def remembered(self, before: Place, read: Tag) -> Tag:
        """Return the tags of the last steps, after one that ``read`` so much from the box ``before``.

        >>> Layout(steps=2).remembered(Place(("q0", "a", "b")), ("c",))
        ('c', 'a')
        """
        return (*read, *before.tag[1:])[: self.steps * len(read)]


class ImagePiece(NamedTuple):
    """The part of a box that lies in one cell: bounds (D,), and those of the cell."""

    cell: BoxCell
    low: Row
    high: Row
    floor: Row
    ceiling: Row


def image_pieces(low: Row, high: Row, width: float | None = None) -> list[ImagePiece]:
    """Return the parts of a box (D,) in the cells of a grid with lines ``width`` apart; together they are the box.

    Raises TooMany: there are too many, or cells so far out have no numbers.

    >>> [(piece.low.tolist(), piece.high.tolist()) for piece in image_pieces(np.array([0.0]), np.array([0.5]), 1.0)]
    [([0.0], [0.37]), ([0.37], [0.5])]
    """
    if width is None:
        wide = np.full(low.shape, np.inf)
        return [ImagePiece((), low, high, -wide, wide)]
    if not np.maximum(np.abs(low), np.abs(high)).max(initial=0) / width < _FARTHEST:  # so that NaN is too wide
        raise TooMany
    first, last = _cell_numbers(low, width), _cell_numbers(high, width)
    if math.prod((last - first + 1).tolist()) > _MOST_PIECES:
        raise TooMany
    pieces = []
    for cell in product(*map(range, first.tolist(), (last + 1).tolist())):
        number = np.array(cell, dtype=np.float64)
        floor, ceiling = _grid_line(number, width), _grid_line(number + 1, width)
        pieces.append(ImagePiece(cell, np.maximum(low, floor), np.minimum(high, ceiling), floor, ceiling))
    return pieces


def _cell_numbers(values: Row, width: float) -> np.ndarray:  # by the last line that is not above each
    numbers = np.floor(values / width - _OFFSET)
    numbers -= _grid_line(numbers, width) > values  # the quotient may be rounded across a line
    numbers += _grid_line(numbers + 1, width) <= values
    return numbers.astype(np.int64)


def _grid_line(numbers: Row, width: float) -> Row:
    return (numbers + _OFFSET) * width


def other_stack(stack: int) -> Value:
    """Return the name of the one box that holds everything on a stack that the automaton has not."""
    return Value(stack, ("any",))


def other_top(stack: int, place: Place) -> Value:
    """Return the name of the box that holds the top of a stack that the automaton has not (see `Layout.others`)."""
    return Value(stack, ("top", str(place)))


@dataclass(frozen=True, eq=False)
class System:
    """A rounded network and an automaton, side by side on boxes."""

    model: StackModel[Any]  # the network
    controller: BoxController  # its controller on boxes
    automaton: PushdownAutomaton  # what it is to follow
    stacks: tuple[int, ...]  # which of the network's stacks are the automaton's
    layout: Layout  # how boxes are laid
    domain: FiniteAutomaton | None  # the words that count, trimmed; None for all
    margin: float  # what every decision has to be more certain than

    @property
    def start(self) -> BoxHead:
        """Return the head before the first letter."""
        domain = None if self.domain is None else self.domain.initial
        return Control(self.automaton.initial, FIRST, domain=domain), (None,) * len(self.stacks)

    @property
    def stack_limit(self) -> int | None:
        """Return how many cells of a stack a word may need: as many as there are, and as the network can count."""
        model = self.model
        cells = model.cells_for(self.stacks) if isinstance(model, StackView) else model.stack_limit
        return min((limit for limit in (cells, self.controller.height_limit) if limit is not None), default=None)

    @property
    def others(self) -> tuple[int, ...]:
        """Return the stacks that the automaton has not."""
        return tuple(stack for stack in range(self.model.n_stacks) if stack not in self.stacks)

    def start_bounds(self) -> Bounds:
        """Return the boxes before the first letter, all of them points: the hidden vector, and other stacks' values."""
        hidden, empty = array(self.model.initial_state(1).hidden[0]), self.empty_cells()
        bounds: Bounds = {FIRST: (hidden, hidden)}
        bounds |= {name: (empty[stack],) * 2 for stack in self.others for name in self.names_of(stack, FIRST)}
        return bounds

    def names_of(self, stack: int, place: Place) -> list[Value]:
        """Return the names of the boxes of what is seen of a stack that the automaton has not, top first."""
        return [*([other_top(stack, place)] if self.layout.others else []), other_stack(stack)]

    def empty_cells(self) -> Row:
        """Return what an empty cell of each stack reads as, (n_stacks, D)."""
        reading = array(self.model.initial_state(1).stack.reading()[0])
        return np.asarray(reading.reshape(self.model.n_stacks, self.model.depth, -1)[:, 0])

    def answers(self, heads: Sequence[BoxHead], bounds: Bounds) -> Iterator[BoxAnswer]:
        """Yield what the controller answers to each letter, at all of ``heads``."""
        hidden = Box(*(np.stack([bounds[control.place][side] for control, _ in heads]) for side in (0, 1)))
        # the box of what is on each stack that the automaton has not; of a ring's what is on any of them
        empty, others = self.empty_cells(), {stack: bounds[other_stack(stack)] for stack in self.others}
        if isinstance(self.model, RingAsTwoStacks) and others:
            lows, highs = zip(*others.values(), strict=True)
            others = dict.fromkeys(range(len(empty)), (np.min(lows, axis=0), np.max(highs, axis=0)))

        def reading(head: BoxHead, side: int) -> Row:
            """Return one side of the box of what the controller sees, (n_stacks * depth * D,)."""
            cells = [others[stack][side] if stack in others else empty[stack] for stack in range(len(empty))]
            seen = [[cell] * self.model.depth for cell in cells]
            for stack in self.others if self.layout.others else ():
                seen[stack][0] = bounds[other_top(stack, head[0].place)][side]
            for stack, top in zip(self.stacks, head[1], strict=True):
                values = () if top is None else top.values
                seen[stack] = [empty[stack] if one is None else bounds[one][side] for one in values] or seen[stack]
            return np.concatenate([cell for cells in seen for cell in cells])

        readings = Box(*(np.stack([reading(head, side) for head in heads]) for side in (0, 1)))
        for letter in range(self.model.n_symbols):
            yield self.controller.answer(letter, hidden, readings)

    def keys(self, head: BoxHead) -> Iterator[BoxKey]:
        """Yield the names of the boxes on which the answers at a head depend."""
        control, tops = head
        yield control.place
        yield from (name for stack in self.others for name in self.names_of(stack, control.place))
        yield from (value for top in tops if top is not None for value in top.values if value is not None)


class TooMany(Exception):  # noqa: N818 - it ends an attempt, and is no error
    """There are too many heads, or pieces of an image, to look at."""
