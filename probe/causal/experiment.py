"""Interchange experiments (Geiger et al. 2021, section 3) with pushdown automata.

Prefixes u and v lead the automaton to configurations. With the hidden vector of v put into the network's run after u,
the automaton predicts what state of v, stack of u does on any continuation. With a cell of v put in the place of a
cell of u it predicts what u's configuration does with v's symbol in that place. Both are held against the network,
rounded and as it is, after every symbol of a continuation that tells the prediction from another one where any does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from stacklens.automata.many_runs import ManyRuns
from stacklens.models.base import NetworkState, StackModel
from stacklens.models.memory_editing import Cell, cell_at, put_cell, put_stacks
from stacklens.probe.causal.claim import Claim, Predicted, walks
from stacklens.probe.causal.prefixes import Prefixes
from stacklens.probe.moments import Moments

__all__ = ["Cells", "Drawn", "Kind", "Stacks", "States", "answers_after", "drawn_pairs", "prepared"]

_TRIES, _LONGEST = 6, 20  # continuations tried for a case, and their length
_STRAY = 0.08


@dataclass(frozen=True, eq=False)
class Kind:
    """What is interchanged: M items, each at a prefix.

    Attributes:
        claim, prefixes: of what.
        prefix: at which prefix each item is, (M,).
        label: what the automaton takes it for, (M,) int.
        names: of the labels.
    """

    claim: Claim
    prefixes: Prefixes
    prefix: np.ndarray
    label: np.ndarray
    names: tuple[str, ...]

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        """Return the configurations at items ``base`` (N,) with something that is ``labels`` (N,) in its place."""
        raise NotImplementedError

    def changed(
        self, model: StackModel[Any], moments: Moments, base: np.ndarray, source: np.ndarray
    ) -> NetworkState[Any]:
        """Return the network at ``base`` with what there is at ``source``."""
        raise NotImplementedError

    def meant(self, base: np.ndarray, source: np.ndarray, same: np.ndarray) -> ManyRuns | None:
        """Return from where words are meant to go on: the base, with what is the source's where not the ``same``."""
        del source, same
        return None if self.prefixes.meant is None else self.prefixes.meant.select(self.prefix[base])


class States(Kind):
    """Hidden vectors, with the stacks that are part of the state."""

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        """Return the configurations of the base with states ``labels``."""
        return replace(self.prefixes.runs.select(self.prefix[base]), state=labels.astype(np.int32))

    def changed(
        self, model: StackModel[Any], moments: Moments, base: np.ndarray, source: np.ndarray
    ) -> NetworkState[Any]:
        """Return the network at ``base`` with the hidden vectors of ``source``."""
        here, other = (moments.select(self.prefix[items]).state for items in (base, source))
        everything = torch.ones(len(base), dtype=torch.bool)
        state = replace(here, hidden=other.hidden)
        if self.claim.state_stacks:
            state = replace(state, stack=put_stacks(state.stack, everything, self.claim.state_stacks, other.stack))
        return unexpecting(model, state)

    def meant(self, base: np.ndarray, source: np.ndarray, same: np.ndarray) -> ManyRuns | None:
        """Return the automaton of the words that are meant, in the state of the source where it is another one."""
        runs = self.prefixes.meant
        if runs is None:
            return None
        here, other = runs.select(self.prefix[base]), runs.select(self.prefix[source])
        return replace(here, state=np.where(same, here.state, other.state))


@dataclass(frozen=True, eq=False)
class Cells(Kind):
    """Single cells, of stack ``stack`` (M,) at ``place`` (M,) below the top; labels count stack symbols from 1."""

    stack: np.ndarray
    place: np.ndarray

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        """Return the configurations of the base with symbols ``labels`` at its places."""
        runs = self.prefixes.runs.select(self.prefix[base])
        for stack in np.unique(self.stack[base]):
            rows = self.stack[base] == stack
            other = runs.with_symbol(int(stack), np.where(rows, self.place[base], 0), labels)
            runs = runs.put(rows, other)
        return runs

    def changed(
        self, model: StackModel[Any], moments: Moments, base: np.ndarray, source: np.ndarray
    ) -> NetworkState[Any]:
        """Return the network at ``base`` with the cells of ``source``."""
        state, other = (moments.select(self.prefix[items]).state for items in (base, source))
        places, from_places = (torch.from_numpy(self.place[items].astype(np.int64)) for items in (base, source))
        stack = state.stack
        for into in np.unique(self.stack[base]).tolist():
            for out_of in np.unique(self.stack[source]).tolist():
                rows = torch.from_numpy((self.stack[base] == into) & (self.stack[source] == out_of))
                if bool(rows.any()):
                    found: Cell = cell_at(other.stack, self.claim.stacks[out_of], from_places)
                    stack = put_cell(stack, rows, self.claim.stacks[into], places, found)
        return unexpecting(model, replace(state, stack=stack))


@dataclass(frozen=True, eq=False)
class Stacks(Kind):
    """Whole stacks, where a symbol stands for several cells; every label is what all stacks hold.

    Attributes:
        nodes: the nodes of every label's stacks, (n_stacks, L).
    """

    nodes: np.ndarray

    def configured(self, base: np.ndarray, labels: np.ndarray) -> ManyRuns:
        """Return the configurations of the base with stacks ``labels``."""
        return replace(self.prefixes.runs.select(self.prefix[base]), node=self.nodes[:, labels])

    def changed(
        self, model: StackModel[Any], moments: Moments, base: np.ndarray, source: np.ndarray
    ) -> NetworkState[Any]:
        """Return the network at ``base`` with the stacks of ``source``."""
        state, other = (moments.select(self.prefix[items]).state for items in (base, source))
        everything = torch.ones(len(base), dtype=torch.bool)
        stack = put_stacks(state.stack, everything, self.claim.stacks, other.stack)
        return unexpecting(model, replace(state, stack=stack))

    def meant(self, base: np.ndarray, source: np.ndarray, same: np.ndarray) -> ManyRuns | None:
        """Return the automaton of the words that are meant, with the stacks of the source."""
        del same
        runs = self.prefixes.meant
        if runs is None:
            return None
        return replace(runs.select(self.prefix[base]), node=runs.node[:, self.prefix[source]])


@dataclass(frozen=True, eq=False)
class Drawn:
    """N interchanges.

    Attributes:
        base, source: the items, (N,).
        same: whether they are taken for the same, (N,).
        letters: the continuations, (N, T), numbers in the automaton's alphabet, -1 beyond the end.
        predicted: what the automaton predicts.
        told: whether a different prediction for no interchange was found, (N,).
    """

    base: np.ndarray
    source: np.ndarray
    same: np.ndarray
    letters: np.ndarray
    predicted: Predicted
    told: np.ndarray

    def select(self, rows: np.ndarray) -> Drawn:
        """Return some of them."""
        numbers, counted = self.predicted.numbers[rows], self.predicted.counted[rows]
        base, source, same, letters = (part[rows] for part in (self.base, self.source, self.same, self.letters))
        return Drawn(base, source, same, letters, Predicted(numbers, counted), self.told[rows])


def drawn_pairs(kind: Kind, labels: np.ndarray, count: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return items base, source and decoy, (N,) each: half with the same of ``labels`` (M,), half with another.

    Labels are drawn evenly, not as often as they occur. A decoy has another label than the base.
    """
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    several = [number for number, group in enumerate(groups) if len(np.unique(kind.prefix[group])) > 1]
    base, source, decoy = (list[int]() for _ in range(3))
    for turn in range(count):
        same = turn % 2 == 0 or len(groups) == 1
        if same and not several:
            if len(groups) == 1:
                break
            same = False
        first = int(rng.choice(several)) if same else int(rng.integers(len(groups)))
        other = (first + int(rng.integers(1, len(groups)))) % len(groups) if len(groups) > 1 else first
        one, two = rng.choice(groups[first]), rng.choice(groups[first if same else other])
        if same and kind.prefix[one] == kind.prefix[two]:
            two = rng.choice(groups[first])
        base.append(int(one))
        source.append(int(two))
        decoy.append(int(rng.choice(groups[other])))
    return tuple(np.array(items, np.int64) for items in (base, source, decoy))


def prepared(kind: Kind, labels: np.ndarray, count: int, rng: np.random.Generator) -> Drawn:
    """Return interchanges of ``kind`` where items are taken for ``labels`` (M,), with continuations and predictions.

    Where labels are the same, nothing may change: what is predicted is what the base does by itself.
    """
    base, source, decoy = drawn_pairs(kind, labels, count, rng)
    same = labels[base] == labels[source]
    own = kind.configured(base, kind.label[base])
    swapped = kind.configured(base, labels[source])
    if isinstance(kind, States) and kind.claim.all_in_state:
        swapped = replace(swapped, node=kind.configured(source, labels[source]).node)
    else:
        swapped = swapped.put(same, own)
    other = kind.configured(base, labels[decoy]).put(~same, own)
    best: tuple[np.ndarray, Predicted] | None = None
    told = np.zeros(len(base), np.bool_)
    for turn in range(_TRIES):
        letters = _continuations(kind, swapped if turn % 3 else own, turn, rng, kind.meant(base, source, same))
        predicted = kind.claim.predicted(swapped, letters)
        apart = predicted.differs(kind.claim.predicted(other, letters))
        if best is None:
            best, told = (letters, predicted), apart
            continue
        better = (apart & ~told) | (~told & (predicted.counted.sum(1) > best[1].counted.sum(1)))
        best = _either(better, (letters, predicted), best)
        told = told | apart
    assert best is not None
    return Drawn(base, source, same, *best, told)


def _continuations(
    kind: Kind, runs: ManyRuns, turn: int, rng: np.random.Generator, meant: ManyRuns | None
) -> np.ndarray:
    lean = np.full(len(runs), (-1, 0, -1)[turn % 3])
    stray = 0.0 if kind.claim.partial else _STRAY
    return walks(runs, len(kind.claim.pda.input_alphabet), _LONGEST, rng, lean, stray, meant)


def _either(
    rows: np.ndarray, one: tuple[np.ndarray, Predicted], other: tuple[np.ndarray, Predicted]
) -> tuple[np.ndarray, Predicted]:
    mask = rows[:, None]
    parts = ((one[0], other[0]), (one[1].numbers, other[1].numbers), (one[1].counted, other[1].counted))
    letters, numbers, counted = (np.where(mask, new, old) for new, old in parts)
    return letters, Predicted(numbers, counted)


@torch.no_grad()
def answers_after(model: StackModel[Any], claim: Claim, state: NetworkState[Any], letters: np.ndarray) -> np.ndarray:
    """Return what ``model`` says from ``state`` after each of ``letters`` (N, T), as `Claim.predicted` does, (N, T)."""
    said = np.full(letters.shape, -1, claim.numbers.dtype)
    codes = torch.from_numpy(claim.letters[np.maximum(letters, 0)].astype(np.int64))
    order = np.argsort(-(letters >= 0).sum(1), kind="stable")
    lengths = (letters[order] >= 0).sum(1)
    state = state.select(torch.from_numpy(order))
    for t in range(letters.shape[1]):
        going = int((lengths > t).sum())
        if not going:
            break
        if going < len(state.rejected):
            state = state.select(torch.arange(going))
        state = model.step(codes[order[:going], t], state).state
        said[order[:going], t] = model.answer(state)
    return said


def unexpecting(model: StackModel[Any], state: NetworkState[Any]) -> NetworkState[Any]:
    """Return ``state`` with nothing expected: what was predicted before an interchange rejects nothing after it."""
    if model.task_kind != "next set":
        return state
    like = state.hidden if state.output is None else state.output
    return replace(state, output=like.new_ones(len(state.hidden), len(model.output_alphabet)))
