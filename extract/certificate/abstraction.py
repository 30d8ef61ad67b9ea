"""The rounded network beside an automaton with boxes in place of vectors: controls, stack cells and heads.

Where boxes lie is the layout: images are cut into pieces that fall into boxes of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...automata.finite import FiniteAutomaton
from ...automata.pda import PushdownAutomaton, State, Symbol
from ...models.base import StackModel
from ...models.rounding import Operation
from ...models.views import RingAsTwoStacks, StackView
from .intervals import Box, BoxAnswer, BoxController, Row

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
    hidden: list[tuple[BoxKey, ImagePiece]]  # the names and pieces of the next hidden vector
    pushed: tuple[list[tuple[BoxKey, ImagePiece]], ...]  # the same for what is pushed on each stack
    others: list[tuple[BoxKey, ImagePiece]]  # the same for stacks that the automaton has not

    @property
    def targets(self) -> Iterator[tuple[BoxKey, ImagePiece]]:
        """Yield all names of boxes, each with a piece that has to lie in its box."""
        yield from self.hidden
        yield from self.others
        for image_pieces in self.pushed:
            yield from image_pieces

    def moves(self, tops: BoxTops, depth: int) -> Iterator[BoxMove]:
        """Yield the moves from ``tops``, one for every choice of boxes; the network sees ``depth`` cells."""
        choices: list[list[tuple[Operation, Entry | None]]] = []
        for operation, symbol, image_pieces, top in zip(self.operations, self.symbols, self.pushed, tops, strict=True):
            below: tuple[Value | None, ...] = (None,) * depth if top is None else top.values
            covered = below[1:] if operation.pops else below
            entries: list[Entry | None] = []
            for value, _ in image_pieces:
                assert isinstance(value, Value)
                entries.append(Entry(symbol, (value, *covered)[:depth]))
            choices.append([(operation, entry) for entry in entries or [None]])
        for place, _ in self.hidden:
            assert isinstance(place, Place)
            for operations in product(*choices):
                yield BoxMove(self.letter, self.control._replace(place=place), operations)


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
    cells = product(*(range(a, b + 1) for a, b in zip(first.tolist(), last.tolist(), strict=True)))
    pieces = []
    for cell in cells:
        number = np.array(cell, dtype=np.float64)
        floor, ceiling = _grid_line(number, width), _grid_line(number + 1, width)
        pieces.append(ImagePiece(cell, np.maximum(low, floor), np.minimum(high, ceiling), floor, ceiling))
    return pieces


def _cell_numbers(values: Row, width: float) -> np.ndarray:
    """Return the numbers of the cells that hold ``values``: of the last line that is not above each."""
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
        return Control(self.automaton.initial, Place(("start",)), domain=domain), (None,) * len(self.stacks)

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
        hidden = _first_of_batch(self.model.initial_state(1).hidden)
        empty = self.empty_cells()
        names = [(stack, name) for stack in self.others for name in self.names_of(stack, Place(("start",)))]
        others: Bounds = {name: (empty[stack], empty[stack]) for stack, name in names}
        return {Place(("start",)): (hidden, hidden), **others}

    def names_of(self, stack: int, place: Place) -> list[Value]:
        """Return the names of the boxes of what is seen of a stack that the automaton has not, top first."""
        return [*([other_top(stack, place)] if self.layout.others else []), other_stack(stack)]

    def empty_cells(self) -> Row:
        """Return what an empty cell of each stack reads as, (n_stacks, D)."""
        reading = _first_of_batch(self.model.initial_state(1).stack.reading())
        return np.asarray(reading.reshape(self.model.n_stacks, self.model.depth, -1)[:, 0])

    def answers(self, heads: Sequence[BoxHead], bounds: Bounds) -> Iterator[BoxAnswer]:
        """Yield what the controller answers to each letter, at all of ``heads``."""
        hidden = Box(*(np.stack([bounds[control.place][side] for control, _ in heads]) for side in (0, 1)))
        # the box of what is on each stack that the automaton has not; of a ring's what is on any of them
        empty, others = self.empty_cells(), {stack: bounds[other_stack(stack)] for stack in self.others}
        if isinstance(self.model, RingAsTwoStacks) and others:
            lows, highs = zip(*others.values(), strict=True)
            others = dict.fromkeys(others, (np.min(lows, axis=0), np.max(highs, axis=0)))

        def reading(head: BoxHead, side: int) -> Row:
            """Return one side of the box of what the controller sees, (n_stacks * depth * D,)."""
            cells = [others[stack][side] if stack in others else empty[stack] for stack in range(len(empty))]
            if others and isinstance(self.model, RingAsTwoStacks):
                cells = [next(iter(others.values()))[side]] * len(empty)
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


def _first_of_batch(tensor: Any) -> Row:
    return np.asarray(tensor[0].detach().cpu().double().numpy())


class TooMany(Exception):  # noqa: N818 - it ends an attempt, and is no error
    """There are too many heads, or pieces of an image, to look at."""
