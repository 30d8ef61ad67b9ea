"""Find states and stack symbols: walk their numbers upward to the first machine that the rounded network agrees with.

Larger K is not steadily better and silhouettes mislead, so each candidate is run against the rounded network on
checking words. Over-clustering is harmless, since minimisation merges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import Output
from stacklens.errors import StacklensError
from stacklens.extract.attempts import Attempt, Judge, minimised
from stacklens.extract.explore import explore
from stacklens.extract.fidelity import MOST_STACKS
from stacklens.extract.jobs import in_order
from stacklens.extract.machine import Machine, StackSymbols
from stacklens.extract.quantise import Clusters, Levels, Quantiser, cluster
from stacklens.extract.vote import vote
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded, operation_numbers
from stacklens.probe.trace import Trace

__all__ = ["Choice", "vectors", "walk"]

_CLUSTERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_SYMBOLS = (2, 3, 4, 5, 6, 8)
_LARGEST_BINARY = 12  # beyond so many neurons binary states are too many to mean anything


@dataclass(frozen=True)
class Choice:
    """Fixed numbers in place of a walk: of state clusters and of stack symbols; None to walk."""

    states: int | None = None
    stack_symbols: int | None = None


def _quantiser_sizes(model: StackModel[Any], hidden: np.ndarray, states: int | None) -> tuple[int, ...]:
    """Return the numbers of states to try, 0 for binary neurons; one where the controller does not use its states."""
    if not model.recurrent:
        return (1,)
    if states is not None:
        return (states,)
    size = hidden.shape[1]
    binary = size <= _LARGEST_BINARY and hidden.min() >= 0 and hidden.max() <= 1
    return (0, *_CLUSTERS) if binary else _CLUSTERS


def _quantiser(model: StackModel[Any], hidden: np.ndarray, size: int, seed: int) -> Quantiser:
    """Return the quantiser of hidden vectors (M, H) with ``size`` states, of binary neurons for 0."""
    if not model.recurrent:
        return Clusters(np.zeros((1, hidden.shape[1])))
    return cluster(hidden, size, seed) if size else Levels(2, hidden.shape[1])


def _symbol_sizes(model: StackModel[Any], number: int | None) -> tuple[int, ...]:
    """Return the numbers of stack symbols to try."""
    if model.pushes_input or model.action_kind == "none":
        return (model.n_symbols,)
    return _SYMBOLS if number is None else (number,)


def _symbols(model: StackModel[Any], pushed: np.ndarray, size: int, seed: int) -> StackSymbols:
    """Return the stack symbols: the letters where these are pushed, else ``size`` clusters of pushed values (M, D)."""
    if model.pushes_input:
        return StackSymbols(model.letters, np.eye(model.n_symbols))
    if not len(pushed):
        return StackSymbols(("s0",), np.zeros((1, model.cell_size)))
    centres = cluster(pushed, size, seed).centres
    return StackSymbols(tuple(f"s{i}" for i in range(len(centres))), centres)


def _laid(model: StackModel[Any], seen: Trace) -> np.ndarray:
    """Return the traced values that were laid on a stack, (M, D).

    Not what lies on soft stacks: the residue of an empty one would overlap real symbols.
    """
    actions = torch.from_numpy(np.nan_to_num(seen.actions))
    operations = operation_numbers(model.action_kind, model.operations, actions).numpy()
    if model.action_kind == "none":
        return np.zeros((0, 1))
    values: np.ndarray = seen.pushed[(operations >= 2) & seen.valid[..., None]]
    return values


def walk(seen: Trace, judge: Judge, choice: Choice, jobs: int = 1) -> Iterator[Attempt]:
    """Yield attempts one by one, each judged.

    Small machines come first. The last one is exact, unless all of them failed. ``seen`` is a trace of the judge's
    network, rounded. With more ``jobs`` several sizes are tried at once, with the same attempts in the end.
    """
    model = judge.model
    hidden, _ = vectors(model, seen)
    sizes = product(_symbol_sizes(model, choice.stack_symbols), _quantiser_sizes(model, hidden, choice.states))
    ordered = sorted(sizes, key=lambda pair: pair[0] * pair[1])
    tried = set()
    for found, attempts in in_order(_Try(seen, judge), ordered, jobs):
        if found in tried:  # there are no more different vectors than that
            continue
        tried.add(found)
        for attempt in attempts:
            yield attempt
            if attempt.exact:
                return


class _Try:
    """Tries one number of stack symbols and of states: a task that can be sent to another process."""

    def __init__(self, seen: Trace, judge: Judge) -> None:
        self.seen, self.judge = seen, judge
        self.hidden, self.pushed = vectors(judge.model, seen)
        self.states: dict[int, Quantiser] = {}
        self.symbols: dict[int, StackSymbols] = {}

    def __call__(self, sizes: tuple[int, int]) -> tuple[tuple[int, str], list[Attempt]]:
        """Return what was found to be tried, and the attempts, the last of them exact if one is."""
        model, seed = self.judge.model, self.judge.seed
        symbols, states = sizes
        if symbols not in self.symbols:
            self.symbols[symbols] = _symbols(model, self.pushed, symbols, seed)
        if states not in self.states:
            self.states[states] = _quantiser(model, self.hidden, states, seed)
        machine = Machine(Rounded(model), self.symbols[symbols], self.states[states])
        attempts = []
        for attempt in _attempts(machine, self.seen, self.judge.complete):
            attempts.append(self.judge.judged(attempt))
            if attempts[-1].exact:
                break
        return (len(machine.symbols.names), machine.quantiser.name), attempts


def vectors(model: StackModel[Any], seen: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the hidden vectors (M, H) of a trace, rejected words left out, and the values laid on stacks (L, D).

    Where every word is rejected at its first symbol only the initial vector is left: a machine that never moves.
    """
    hidden = seen.hidden[:, 1:][seen.valid & ~seen.rejected]
    if not len(hidden):
        hidden = seen.hidden[:1, 0]
    return hidden, _laid(model, seen)


def _attempts(machine: Machine, seen: Trace, complete: frozenset[Output]) -> Iterator[Attempt]:
    elected = vote(machine, seen, complete)
    number = len(machine.symbols.names)
    blank = Attempt(machine.quantiser.name, number, "exploration", 0, None, elected.minority, machine=machine)
    if machine.n_stacks > MOST_STACKS:
        yield blank
        return
    try:
        yield minimised(blank, explore(machine, complete))
    except StacklensError:  # no closure
        yield blank
    yield minimised(replace(blank, way="vote"), elected.automaton)
