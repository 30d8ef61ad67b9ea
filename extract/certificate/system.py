"""The rounded network beside an automaton, with boxes in place of vectors: evaluated at many heads at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.intersection import FiniteAutomaton
from stacklens.automata.pda import PushdownAutomaton
from stacklens.extract.certificate.box_controller import BoxAnswer, BoxController
from stacklens.extract.certificate.heads import Bounds, Control, Entry, Head, Key, Place, Value
from stacklens.extract.certificate.interval import Box, Row
from stacklens.extract.certificate.layout import Layout
from stacklens.models.base import StackModel

__all__ = ["System", "other_stack"]


def other_stack(stack: int) -> Value:
    """Return the name of the one box that holds everything on a stack that the automaton has not."""
    return Value(stack, ("any",))


@dataclass(frozen=True, eq=False)
class System:
    """A rounded network and an automaton, side by side on boxes.

    Attributes:
        model: the network.
        controller: its controller on boxes.
        automaton: what it is to follow.
        stacks: which of the network's stacks are the automaton's.
        layout: how boxes are laid.
        domain: the words that count, trimmed; None for all.
        margin: what every decision has to be more certain than.
    """

    model: StackModel[Any]
    controller: BoxController
    automaton: PushdownAutomaton
    stacks: tuple[int, ...]
    layout: Layout
    domain: FiniteAutomaton | None
    margin: float

    @property
    def start(self) -> Head:
        """Return the head before the first letter."""
        domain = None if self.domain is None else self.domain.initial
        return Control(self.automaton.initial, Place(("start",)), domain=domain), (None,) * len(self.stacks)

    @property
    def stack_limit(self) -> int | None:
        """Return how many cells of a stack a word may need: as many as there are, and as the network can count."""
        limits = [limit for limit in (self.model.stack_limit, self.controller.height_limit) if limit is not None]
        return min(limits, default=None)

    @property
    def others(self) -> tuple[int, ...]:
        """Return the stacks that the automaton has not."""
        return tuple(stack for stack in range(self.model.n_stacks) if stack not in self.stacks)

    def start_bounds(self) -> Bounds:
        """Return the boxes before the first letter, all of them points: the hidden vector, and other stacks' values."""
        hidden = _numbers(self.model.initial_state(1).hidden)
        empty = self.empty_cells()
        others: Bounds = {other_stack(stack): (empty[stack], empty[stack]) for stack in self.others}
        return {Place(("start",)): (hidden, hidden), **others}

    def empty_cells(self) -> Row:
        """Return what an empty cell of each stack reads as, (n_stacks, D)."""
        reading = _numbers(self.model.initial_state(1).stack.reading())
        cells: Row = reading.reshape(self.model.n_stacks, self.model.depth, -1)[:, 0]
        return cells

    def answers(self, heads: Sequence[Head], bounds: Bounds) -> Iterator[BoxAnswer]:
        """Yield what the controller answers to each letter, at all of ``heads``."""
        hidden = Box(*(np.stack([bounds[control.place][side] for control, _ in heads]) for side in (0, 1)))
        empty = self.empty_cells()
        sides = [np.stack([self._reading(tops, bounds, empty, side) for _, tops in heads]) for side in (0, 1)]
        for letter in range(self.model.n_symbols):
            yield self.controller.answer(letter, hidden, Box(*sides))

    def keys(self, head: Head) -> Iterator[Key]:
        """Yield the names of the boxes on which the answers at a head depend."""
        control, tops = head
        yield control.place
        yield from (other_stack(stack) for stack in self.others)
        yield from (value for top in tops if top is not None for value in top.values if value is not None)

    def _reading(self, tops: tuple[Entry | None, ...], bounds: Bounds, empty: Row, side: int) -> Row:
        """Return one side of the box of what the controller sees of all stacks, (n_stacks * depth * D,)."""
        cells = [
            bounds[other_stack(stack)][side] if stack in self.others else empty[stack] for stack in range(len(empty))
        ]
        seen = [[cell] * self.model.depth for cell in cells]
        for stack, top in zip(self.stacks, tops, strict=True):
            values = () if top is None else top.values
            seen[stack] = [empty[stack] if value is None else bounds[value][side] for value in values] or seen[stack]
        return np.concatenate([cell for cells in seen for cell in cells])


def _numbers(tensor: Any) -> Row:
    """Return the one entry of a batch in float64."""
    numbers: Row = tensor[0].detach().cpu().double().numpy()
    return numbers
