"""A self-check of certificates: run the rounded network at random, and see that nothing leaves its boxes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Configuration, State, Symbol, Tops, Transition
from stacklens.extract.answers import output_number
from stacklens.extract.certificate.abstraction import System, Tag, Value
from stacklens.extract.certificate.certify import Proof
from stacklens.models.base import StackModel, Step, one_thread
from stacklens.models.rounding import Operation, Rounded, operation_numbers

__all__ = ["Replayed", "replay"]

_WALKS, _LENGTH = 1_000, 300
_HIDDEN = -1  # in place of a stack's number
_Where = tuple[int, Tag]  # a stack or `_HIDDEN`, and the tag of its boxes


@dataclass(frozen=True)
class Replayed:
    """What random runs of the rounded network showed.

    Attributes:
        steps: how many steps were made.
        outside: how many left the boxes, or did something else than the automaton.
        word: the first word on which that was so, or None.
    """

    steps: int
    outside: int
    word: tuple[Symbol, ...] | None = None


def replay(proof: Proof, steps: int = 1_000_000, seed: int = 0) -> Replayed:
    """Return what at least ``steps`` random steps show, on words on which the automaton is not cut.

    Each word is a walk that likes some letters better than others, so that stacks grow high and shrink again; but none
    needs more cells than the certificate speaks of. There are no steps where no word has a first letter.
    """
    rng, made, outside, word = np.random.default_rng(seed), 0, 0, None
    expectations, boxes = _Expectations(proof.system), _by_tag(proof)
    with one_thread(), torch.no_grad():
        while made < steps:
            walks, before = _Walks(expectations, boxes, rng), made
            for wrong in walks.run():
                made, outside = made + len(wrong), outside + int(wrong.sum())
                if word is None and wrong.any():
                    word = tuple(walks.words[walks.alive[int(wrong.argmax())]])
                if made >= steps:
                    break
            if made == before:
                break
    return Replayed(made, outside, word)


class _Expected(NamedTuple):
    """What a transition asks of the network: its letter, operations and output, and boxes for what it makes."""

    letter: int
    symbol: Symbol
    domain: State | None
    operations: tuple[int, ...]
    output: int  # -1: nothing is asked
    places: tuple[_Where, ...]


class _Expectations:
    """What the automaton can do at each head, looked up once."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.known: dict[tuple[State, State | None, Tops], list[_Expected]] = {}

    def at(self, state: State, domain: State | None, names: Tops) -> list[_Expected]:
        """Return what each letter asks for, where the automaton and the domain go on."""
        key = state, domain, names
        if key not in self.known:
            self.known[key] = list(self._look(*key))
        return self.known[key]

    def _look(self, state: State, domain: State | None, names: Tops) -> Iterator[_Expected]:
        system = self.system
        for letter, symbol in enumerate(system.model.alphabet):
            step = system.automaton.transitions.get((state, symbol, names))
            after = None if system.domain is None else system.domain.step(domain, symbol)
            if step is not None and (system.domain is None or after is not None):
                operations = tuple(map(Operation.of, step.operations))[: len(system.stacks)]
                output = -1 if step.output is None else output_number(step.output, system.model)
                yield _Expected(letter, symbol, after, operations, output, tuple(self._places(step, symbol, names)))

    def _places(self, step: Transition, symbol: Symbol, names: Tops) -> Iterator[_Where]:
        layout, both = self.system.layout, (symbol, *names)
        if self.system.model.recurrent:
            yield _HIDDEN, (step.target, *(both if layout.tops else both[:1]))
        for stack, operation in zip(self.system.stacks, step.operations, strict=False):
            if operation.push is not None:
                yield stack, (operation.push, *(both if layout.value_tops else both[:1]))


class _Walks:
    """Random walks side by side; each ends where the automaton has nowhere to go."""

    def __init__(
        self, expectations: _Expectations, boxes: dict[_Where, tuple[Tensor, Tensor]], rng: np.random.Generator
    ) -> None:
        self.expectations, self.boxes, self.rng = expectations, boxes, rng
        self.system = expectations.system
        self.taste = rng.exponential(size=(_WALKS, len(self.system.model.alphabet))).tolist()
        self.runs: list[Configuration] = [self.system.automaton.start] * _WALKS
        self.domain = [self.system.start[0].domain] * _WALKS
        self.words: list[list[Symbol]] = [[] for _ in range(_WALKS)]
        self.alive = list(range(_WALKS))

    @cached_property
    def network(self) -> StackModel[Any]:
        """Return the rounded network."""
        return Rounded(self.system.model)

    def run(self) -> Iterator[np.ndarray]:
        """Yield for each step where something was wrong with the walks that take it; these are ``alive``."""
        state = self.network.initial_state(_WALKS)
        for _ in range(_LENGTH):
            chosen = [
                self._choose(walk, share)
                for walk, share in zip(self.alive, self.rng.random(len(self.alive)).tolist(), strict=True)
            ]
            rows = [row for row, choice in enumerate(chosen) if choice is not None]
            if not rows:
                return
            self.alive = [self.alive[row] for row in rows]
            expected = [choice for choice in chosen if choice is not None]
            symbols = torch.tensor([one.letter for one in expected])
            tops = [self._advance(walk, one) for walk, one in zip(self.alive, expected, strict=True)]
            step = self.network.step(symbols, state.select(torch.tensor(rows)))
            state = step.state
            yield self._differs(expected, tops, step) | self._outside(expected, step)

    def _choose(self, walk: int, share: float) -> _Expected | None:
        """Return one of the steps that can be taken, the ones that the walk likes more often."""
        current = self.runs[walk]
        names = current.tops(self.system.automaton.bottom)
        options = self.expectations.at(current.state, self.domain[walk], names)
        if (limit := self.system.stack_limit) is not None and max(map(len, current.stacks)) >= limit:
            options = [option for option in options if Operation.PUSH not in option.operations]
        left = share * sum(self.taste[walk][option.letter] for option in options)
        for option in options:
            left -= self.taste[walk][option.letter]
            if left <= 0:
                return option
        return options[-1] if options else None

    def _advance(self, walk: int, expected: _Expected) -> list[Operation]:
        """Return a mask of the operations that count on each stack before the step; move the automaton on."""
        bottom = self.system.automaton.bottom
        tops = self.runs[walk].tops(bottom)  # a pop of nothing does nothing
        masks = [Operation.PUSH if name == bottom else Operation.REPLACE for name in tops]
        following = self.system.automaton.step(self.runs[walk], expected.symbol)
        assert following is not None
        self.runs[walk], self.domain[walk] = following, expected.domain
        self.words[walk].append(expected.symbol)
        return masks[: len(expected.operations)]

    def _differs(self, expected: list[_Expected], masks: list[list[Operation]], step: Step[Any]) -> np.ndarray:
        """Return where the network rejected, or did or said something else than the automaton, (M,) bool."""
        model, different = self.system.model, step.state.rejected.numpy().copy()
        if self.system.stacks:
            done = operation_numbers(model.action_kind, model.operations, step.actions)
            done = done.expand(len(expected), -1)[:, list(self.system.stacks)]
            wanted = torch.tensor([one.operations for one in expected])
            different |= ((done & torch.tensor(masks)) != wanted).any(1).numpy()
        if model.task_kind != "recognition":
            outputs = np.array([one.output for one in expected], dtype=model.number_type)
            different |= (model.output_numbers(step.output) != outputs) & (outputs >= 0)
        return different

    def _outside(self, expected: list[_Expected], step: Step[Any]) -> np.ndarray:
        """Return where a hidden vector or a pushed value is in none of the boxes that are meant for it, (M,) bool."""
        members = defaultdict[_Where, list[int]](list)
        for row, one in enumerate(expected):
            for place in one.places:
                members[place].append(row)
        outside = np.zeros(len(expected), dtype=bool)
        for place, rows in members.items():
            values = (
                step.hidden[rows] if place[0] == _HIDDEN else step.pushed.expand(len(expected), -1, -1)[rows, place[0]]
            )
            outside[rows] |= ~self._in_boxes(values, place)
        return outside

    def _in_boxes(self, values: Tensor, place: _Where) -> np.ndarray:
        if place not in self.boxes:
            return np.zeros(len(values), dtype=bool)
        low, high = self.boxes[place]
        rows = values.double().unsqueeze(1)
        inside: np.ndarray = ((low <= rows) & (rows <= high)).all(-1).any(1).numpy()
        return inside


def _by_tag(proof: Proof) -> dict[_Where, tuple[Tensor, Tensor]]:
    """Return the boxes of each tag, (B, D) each."""
    found = defaultdict[_Where, list[tuple[np.ndarray, np.ndarray]]](list)
    system = proof.system
    size = 2 + (system.automaton.n_stacks if system.layout.tops else 0)  # of a tag without the steps before the last
    for key, bounds in proof.bounds.items():
        if isinstance(key, Value):
            found[key.stack, key.tag].append(bounds)
        else:
            found[_HIDDEN, key.tag[:size]].append(bounds)
    sides = {place: [np.stack(side) for side in zip(*boxes, strict=True)] for place, boxes in found.items()}
    return {place: (torch.from_numpy(low), torch.from_numpy(high)) for place, (low, high) in sides.items()}
