"""Where boxes lie: how images are cut into pieces that fall into boxes of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from stacklens.extract.certificate.interval import Row

__all__ = ["Cell", "Layout", "Piece", "TooWide", "pieces"]

Cell = tuple[int, ...]  # a cell of a grid by its numbers; () where there is no grid

_OFFSET = 0.37  # of the grid, so that no line of it runs through 0, 0.5 or 1, where networks like to be
_MOST_PIECES = 64
_FARTHEST = 2**50  # cells from 0: farther out their numbers are not exact


@dataclass(frozen=True)
class Layout:
    """How finely boxes are laid. There are different ones for each state of the automaton, and for each stack symbol.

    Attributes:
        tops: whether they also differ by the letter read last and the tops that were seen then; otherwise by the letter
            only.
        hidden: the width of the cells of a grid for hidden vectors, or None for no grid.
        values: the same for values on the stack.
    """

    tops: bool = False
    hidden: float | None = None
    values: float | None = None


class Piece(NamedTuple):
    """The part of a box that lies in one cell: bounds (D,), and those of the cell."""

    cell: Cell
    low: Row
    high: Row
    floor: Row
    ceiling: Row


class TooWide(Exception):  # noqa: N818 - it is caught where a step is judged, and is no error of anybody
    """A box lies in more cells than can be looked at."""


def pieces(low: Row, high: Row, width: float | None = None) -> list[Piece]:
    """Return the parts of a box (D,) in the cells of a grid with lines ``width`` apart; together they are the box.

    Raises:
        TooWide: there are too many, or cells so far out have no numbers.

    >>> [(piece.low.tolist(), piece.high.tolist()) for piece in pieces(np.array([0.0]), np.array([0.5]), 1.0)]
    [([0.0], [0.37]), ([0.37], [0.5])]
    """
    if width is None:
        wide = np.full(low.shape, np.inf)
        return [Piece((), low, high, -wide, wide)]
    if not np.maximum(np.abs(low), np.abs(high)).max(initial=0) / width < _FARTHEST:  # so that NaN is too wide
        raise TooWide
    first, last = _cells(low, width), _cells(high, width)
    if math.prod((last - first + 1).tolist()) > _MOST_PIECES:
        raise TooWide
    cells = product(*(range(a, b + 1) for a, b in zip(first.tolist(), last.tolist(), strict=True)))
    return [_piece(cell, low, high, width) for cell in cells]


def _cells(values: Row, width: float) -> np.ndarray:
    """Return the numbers of the cells that hold ``values``: of the last line that is not above each."""
    numbers = np.floor(values / width - _OFFSET)
    numbers -= _line(numbers, width) > values  # the quotient may be rounded across a line
    numbers += _line(numbers + 1, width) <= values
    return numbers.astype(np.int64)


def _line(numbers: Row, width: float) -> Row:
    return (numbers + _OFFSET) * width


def _piece(cell: Cell, low: Row, high: Row, width: float) -> Piece:
    number = np.array(cell, dtype=np.float64)
    floor, ceiling = _line(number, width), _line(number + 1, width)
    return Piece(cell, np.maximum(low, floor), np.minimum(high, ceiling), floor, ceiling)
