"""Memories with something in them replaced: what interventions do to a batch of stacks, for every kind of memory.

Everything here is of single networks, whose stacks have no axes before the batch. A cell is told by its `place`: 0 is
the top of a stack, the first cell of a ring, the head of a list. On stacks of strengths and lengths the cell at place i
is what lies between i and i + 1 below the top, in pieces. Functions that change something take ``rows`` (B,) bool:
where it is False nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import singledispatch
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from ..core.errors import StacklensError
from .networks.baselines import NoStack
from .networks.joulin import EMPTY_READING, ListMemory
from .stacks.continuous import ContinuousStack, StrengthStack
from .stacks.superposition import SuperpositionStack
from .stacks.tapes import Buffers, RingMemory

M = TypeVar("M")


class Cell(NamedTuple):
    """What is in one cell of each of B stacks: pieces, one above the other; a whole value is one piece of length 1."""

    lengths: Tensor  # (B, K), the lowest piece first
    values: Tensor  # (B, K, D)

    @classmethod
    def of(cls, values: Tensor) -> Cell:
        """Return whole cells that hold ``values`` (B, D)."""
        return cls(values.new_ones(len(values), 1), values.unsqueeze(1))


def joined(parts: Sequence[M]) -> M:
    """Return memories of one kind one batch after the other, with as many slots as the longest needs.

    Raises:
        StacklensError: nothing is known of memories of this kind.
    """
    return _joined(parts[0], parts)  # type: ignore[no-any-return]


@singledispatch
def _joined(first: Any, parts: Sequence[Any]) -> Any:
    del parts
    raise _undefined(first, "runs of different lengths cannot stand side by side")


@_joined.register
def _join_superposition(first: SuperpositionStack, parts: Sequence[SuperpositionStack]) -> SuperpositionStack:
    size = max(part.stored.shape[-2] for part in parts)
    return replace(first, stored=torch.cat([part.cells(size) for part in parts]))


@_joined.register(StrengthStack)
@_joined.register(ContinuousStack)
def _join_interval(first: Any, parts: Sequence[Any]) -> Any:
    return type(first)(**{one.name: _cat_slots([getattr(part, one.name) for part in parts]) for one in fields(first)})


@_joined.register
def _join_ring(first: RingMemory, parts: Sequence[RingMemory]) -> RingMemory:
    del first
    return RingMemory(torch.cat([part.cells for part in parts]))


@_joined.register
def _join_list(first: ListMemory, parts: Sequence[ListMemory]) -> ListMemory:
    sides = {side: [getattr(part, side).movedim(2, 1) for part in parts] for side in ("left", "right")}
    left, right = (_cat_slots(found, EMPTY_READING).movedim(1, 2) for found in sides.values())
    return replace(first, left=left, right=right)


@_joined.register
def _join_buffers(first: Buffers, parts: Sequence[Buffers]) -> Buffers:
    size = max(part.ends.shape[1] for part in parts)
    ends = [torch.cat([part.ends, _last(part.ends).expand(-1, size - part.ends.shape[1])], 1) for part in parts]
    letters, gone = _cat_slots([part.letters for part in parts]), torch.cat([part.gone for part in parts])
    return replace(first, letters=letters, ends=torch.cat(ends), gone=gone, stack=joined([p.stack for p in parts]))


@_joined.register
def _join_nothing(first: NoStack, parts: Sequence[NoStack]) -> NoStack:
    del first
    return NoStack(torch.cat([part.nothing for part in parts]))


@singledispatch
def cell_at(memory: Any, number: int, place: Tensor) -> Cell:
    """Return the cell at ``place`` (B,) int of memory ``number``; empty ones hold what an empty memory shows.

    Raises:
        StacklensError: there are no cells.
    """
    del number, place
    raise _undefined(memory, "it has no cells")


@cell_at.register
def _cell_at_superposition(memory: SuperpositionStack, number: int, place: Tensor) -> Cell:
    cells = memory.cells(int(place.max()) + 1)[:, number]  # (B, C, D)
    return Cell.of(cells[torch.arange(len(cells)), place])


@cell_at.register
def _cell_at_ring(memory: RingMemory, number: int, place: Tensor) -> Cell:
    return Cell.of(memory.cells[torch.arange(len(place)), number, place % memory.cells.shape[-2]])


@cell_at.register
def _cell_at_list(memory: ListMemory, number: int, place: Tensor) -> Cell:
    cells = memory.topmost(int(place.max()) + 1)[:, number]
    return Cell.of(cells[torch.arange(len(cells)), place])


@cell_at.register(StrengthStack)
@cell_at.register(ContinuousStack)
def _cell_at_interval(memory: Any, number: int, place: Tensor) -> Cell:
    del number  # there is one stack
    low, high = _span(memory, place)
    return Cell(_clipped(memory.tops, low, high) - _clipped(memory.bottoms, low, high), memory.values)


@cell_at.register
def _cell_at_buffers(memory: Buffers, number: int, place: Tensor) -> Cell:
    return cell_at(memory.stack, number, place)


@singledispatch
def put_cell(memory: Any, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Any:
    """Return the memories with ``cell`` at ``place`` (B,) of memory ``number``, in the given ``rows``.

    On stacks of strengths the pieces take the place of what is there, cut off at the length that there is.

    Raises:
        StacklensError: there are no cells.
    """
    del rows, number, place, cell
    raise _undefined(memory, "it has no cells")


@put_cell.register
def _put_cell_superposition(
    memory: SuperpositionStack, rows: Tensor, number: int, place: Tensor, cell: Cell
) -> SuperpositionStack:
    size = max(memory.stored.shape[-2], int(place[rows].max()) + 1 if bool(rows.any()) else 0)
    stored = memory.cells(size).clone()
    stored[rows, number, place[rows]] = cell.values[rows, 0]
    return replace(memory, stored=stored)


@put_cell.register
def _put_cell_ring(memory: RingMemory, rows: Tensor, number: int, place: Tensor, cell: Cell) -> RingMemory:
    cells = memory.cells.clone()
    cells[rows, number, place[rows] % cells.shape[-2]] = cell.values[rows, 0]
    return RingMemory(cells)


@put_cell.register
def _put_cell_list(memory: ListMemory, rows: Tensor, number: int, place: Tensor, cell: Cell) -> ListMemory:
    size = max(memory.left.shape[-2], int(place[rows].max()) + 1 if bool(rows.any()) else 0)
    left = replace(memory, limit=None).topmost(size).clone()
    left[rows, number, place[rows]] = cell.values[rows, 0]
    return replace(memory, left=left)


@put_cell.register(StrengthStack)
@put_cell.register(ContinuousStack)
def _put_cell_interval(memory: Any, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Any:
    del number
    low, high = _span(memory, place)
    none, whole = low.expand(-1, memory.tops.shape[-1]), ~rows.unsqueeze(-1)
    above = cell.lengths.cumsum(-1)
    tops, bottoms = (torch.minimum(low + ends, high) for ends in (above, above - cell.lengths))
    kept = {"bottoms": memory.bottoms, "tops": memory.tops}
    under = {name: torch.where(whole, ends, torch.minimum(ends, low)) for name, ends in kept.items()}
    over = {name: torch.where(whole, none, torch.maximum(ends, high)) for name, ends in kept.items()}
    new = {"bottoms": torch.where(whole, tops, bottoms), "tops": tops}
    return replace(
        memory,
        **{name: torch.cat([under[name], new[name], over[name]], -1) for name in kept},
        values=torch.cat([memory.values, cell.values, memory.values], -2),
    )


@put_cell.register
def _put_cell_buffers(memory: Buffers, rows: Tensor, number: int, place: Tensor, cell: Cell) -> Buffers:
    return replace(memory, stack=put_cell(memory.stack, rows, number, place, cell))


def put_stacks(memory: M, rows: Tensor, numbers: Sequence[int], other: M) -> M:
    """Return the memories with all that ``other`` holds in memories ``numbers``, in the given ``rows``.

    Raises:
        StacklensError: nothing is known of memories of this kind.
    """
    both = joined([memory, other])
    size = len(rows)
    if isinstance(both, SuperpositionStack | RingMemory | ListMemory):
        changed = {}
        for one in fields(both):
            cells = getattr(both, one.name)
            if isinstance(cells, Tensor):
                mask = torch.zeros(size, cells.shape[1], dtype=torch.bool)
                mask[:, list(numbers)] = rows.unsqueeze(1)
                changed[one.name] = torch.where(mask[..., None, None], cells[size:], cells[:size])
        return replace(both, **changed)  # type: ignore[arg-type]
    if isinstance(both, Buffers):
        return replace(memory, stack=put_stacks(memory.stack, rows, numbers, other.stack))  # type: ignore
    index = torch.arange(size) + size * rows
    return both.select(index)  # type: ignore[no-any-return, attr-defined]


@singledispatch
def lowered(memory: Any, rows: Tensor, number: int, count: Tensor) -> Any:
    """Return the memories of which ``count`` (B,) cells are taken off the top of memory ``number``, in ``rows``.

    Raises:
        StacklensError: the memory has no height.
    """
    del rows, number, count
    raise _undefined(memory, "it has no height")


@lowered.register
def _lower_superposition(memory: SuperpositionStack, rows: Tensor, number: int, count: Tensor) -> SuperpositionStack:
    stored = memory.stored.clone()
    size = stored.shape[-2]
    places = torch.arange(size) + count.long().unsqueeze(-1)  # (B, C)
    below = memory.cells(2 * size)[:, number]
    places = places.clamp(max=max(0, 2 * size - 1)).unsqueeze(-1).expand(-1, -1, below.shape[-1])
    stored[rows, number] = below.gather(1, places)[rows]
    return replace(memory, stored=stored)


@lowered.register(StrengthStack)
@lowered.register(ContinuousStack)
def _lower_interval(memory: Any, rows: Tensor, number: int, count: Tensor) -> Any:
    del number
    length = torch.where(rows, torch.relu(memory.length - count), memory.length)
    ends = {name: torch.minimum(getattr(memory, name), length.unsqueeze(-1)) for name in ("bottoms", "tops")}
    return replace(memory, **ends, length=length)


@lowered.register
def _lower_buffers(memory: Buffers, rows: Tensor, number: int, count: Tensor) -> Buffers:
    return replace(memory, stack=lowered(memory.stack, rows, number, count))


def _undefined(memory: Any, why: str) -> StacklensError:
    return StacklensError(f"nothing can be replaced in a {type(memory).__name__}: {why}")


def _cat_slots(parts: Sequence[Tensor], filling: float = 0.0) -> Tensor:
    """Return tensors (B, T, …), or (B,), one batch after the other, the shorter ones filled up."""
    if parts[0].dim() == 1:
        return torch.cat(list(parts))
    size = max(part.shape[1] for part in parts)
    return torch.cat(
        [
            torch.cat([part, part.new_full((len(part), size - part.shape[1], *part.shape[2:]), filling)], 1)
            for part in parts
        ]
    )


def _last(ends: Tensor) -> Tensor:
    return ends[:, -1:] if ends.shape[1] else ends.new_zeros(len(ends), 1)


def _span(memory: Any, place: Tensor) -> tuple[Tensor, Tensor]:
    """Return between which heights the cell at ``place`` lies, (B, 1) each."""
    high = torch.relu(memory.length - place).unsqueeze(-1)
    return torch.relu(high - 1), high


def _clipped(ends: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return torch.minimum(torch.maximum(ends, low), high)
