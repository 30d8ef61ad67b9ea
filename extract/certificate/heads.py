"""Names for where a network and an automaton are, side by side: finitely many controls, stack cells and heads.

A control is a state of the automaton and the name of a box that holds the hidden vector; a stack cell is the
automaton's symbol and the name of a box that holds the network's value. What a network does with what it holds in boxes
is then a pushdown system over these names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from stacklens.automata.pda import State, Symbol
from stacklens.extract.certificate.interval import Row
from stacklens.extract.certificate.layout import Cell, Piece

__all__ = ["Bounds", "Control", "Entry", "Head", "Key", "Move", "Outcome", "Place", "Tag", "Value"]

Tag = tuple[State | Symbol | None, ...]


class Place(NamedTuple):
    """The name of a box of hidden vectors: the automaton's state, what was read last, and a cell of the grid."""

    tag: Tag
    cell: Cell = ()


class Value(NamedTuple):
    """The name of a box of values: on which stack, the automaton's symbol, what was read, and a cell of the grid."""

    stack: int
    tag: Tag
    cell: Cell = ()


Key = Place | Value
Bounds = dict[Key, tuple[Row, Row]]  # from each name to its box, (D,) each


class Entry(NamedTuple):
    """A stack cell: its symbol (None once the automaton has rejected), and the values that the network sees from it."""

    symbol: Symbol | None
    values: tuple[Value | None, ...]  # top first, as many as the network sees, None below the bottom


class Control(NamedTuple):
    """Where both are between two letters.

    Attributes:
        state: the automaton's state, None once its run is cut.
        place: the box of the hidden vector.
        said: the number of the set predicted last, where sets are predicted.
        domain: the state of the finite automaton of the words that count.
        ended: whether the end symbol has been read.
        accepted: whether the automaton accepts the word, where the end symbol is the network's alone.
        rejected: whether the network rejected the end symbol.
    """

    state: State | None
    place: Place
    said: int | None = None
    domain: State | None = None
    ended: bool = False
    accepted: bool | None = None
    rejected: bool = False


Tops = tuple[Entry | None, ...]
Head = tuple[Control, Tops]


class Move(NamedTuple):
    """A step on a letter: to a control, and what happens to each stack, 0 none, 1 pop, 2 push, 3 replace."""

    letter: Symbol
    control: Control
    operations: tuple[tuple[int, Entry | None], ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one step does for sure: where it leads, and in which boxes the pieces of its images have to lie.

    Attributes:
        letter: what is read.
        control: the next control, but for its place.
        operations: what happens to each stack.
        symbols: what the automaton pushes on each.
        hidden: the names and pieces of the next hidden vector.
        pushed: the same for what is pushed on each stack.
        others: the same for stacks that the automaton has not.
    """

    letter: Symbol
    control: Control
    operations: tuple[int, ...]
    symbols: tuple[Symbol | None, ...]
    hidden: list[tuple[Key, Piece]]
    pushed: tuple[list[tuple[Key, Piece]], ...]
    others: list[tuple[Key, Piece]]

    @property
    def targets(self) -> Iterator[tuple[Key, Piece]]:
        """Yield all names of boxes, each with a piece that has to lie in its box."""
        yield from self.hidden
        yield from self.others
        for pieces in self.pushed:
            yield from pieces

    def moves(self, tops: Tops, depth: int) -> Iterator[Move]:
        """Yield the moves from ``tops``, one for every choice of boxes; the network sees ``depth`` cells."""
        choices: list[list[tuple[int, Entry | None]]] = []
        for operation, symbol, pieces, top in zip(self.operations, self.symbols, self.pushed, tops, strict=True):
            entries: list[Entry | None] = [_entry(symbol, key, operation, top, depth) for key, _ in pieces]
            choices.append([(operation, entry) for entry in entries or [None]])
        for place, _ in self.hidden:
            assert isinstance(place, Place)
            for operations in product(*choices):
                yield Move(self.letter, self.control._replace(place=place), operations)


def _entry(symbol: Symbol | None, value: Key, operation: int, top: Entry | None, depth: int) -> Entry:
    assert isinstance(value, Value)
    below: tuple[Value | None, ...] = (None,) * depth if top is None else top.values
    covered = below[1:] if operation == 3 else below
    return Entry(symbol, (value, *covered)[:depth])
