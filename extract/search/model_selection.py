"""Model-size search: machines of more and more states and stack symbols, each held against the rounded network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from stacklens.automata.pda import Output
from stacklens.errors import StacklensError
from stacklens.extract.fidelity import MOST_STACKS
from stacklens.extract.search.candidates import Candidate, Scorer, minimised
from stacklens.extract.search.machine import Machine, StackSymbols
from stacklens.extract.search.quantisers import Clusters, Levels, Quantiser, cluster, vectors
from stacklens.extract.search.transition_table import explore, majority_table
from stacklens.extract.verification.parallel import in_order
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import Trace

__all__ = ["search_sizes"]

_CLUSTERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_SYMBOLS = (2, 3, 4, 5, 6, 8)
_LARGEST_BINARY = 12  # beyond so many neurons binary states are too many to mean anything


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


def search_sizes(
    scorer: Scorer,
    seen: Trace,
    states: int | None = None,
    stack_symbols: int | None = None,
    jobs: int = 1,
    come: Callable[[int, int | None], None] = lambda *_: None,
    over: Callable[[], bool] = lambda: False,
) -> Iterator[Candidate]:
    """Yield candidates one by one, small machines first, each scored: whoever asks stops at an exact one.

    Args:
        scorer: who knows the rounded network's answers.
        seen: a trace of the scorer's network, rounded.
        states, stack_symbols: fixed numbers in place of a walk upward.
        jobs: how many sizes are tried at once, in processes, with the same candidates in the end.
        come: told how many sizes have been tried, and of how many.
        over: says when to stop.
    """
    model = scorer.model
    hidden, _ = vectors(model, seen)
    sizes = product(_symbol_sizes(model, stack_symbols), _quantiser_sizes(model, hidden, states))
    ordered = sorted(sizes, key=lambda pair: pair[0] * pair[1])
    tried = set()
    for number, (found, candidates) in enumerate(in_order(_Try(seen, scorer), ordered, jobs), start=1):
        come(number, len(ordered))
        if found not in tried:  # else there are no more different vectors than that
            yield from candidates
        tried.add(found)
        if over():
            return


class _Try:
    """Tries one number of stack symbols and of states: a task that can be sent to another process."""

    def __init__(self, seen: Trace, scorer: Scorer) -> None:
        self.seen, self.scorer = seen, scorer
        self.hidden, self.pushed = vectors(scorer.model, seen)
        self.states: dict[int, Quantiser] = {}
        self.symbols: dict[int, StackSymbols] = {}

    def __call__(self, sizes: tuple[int, int]) -> tuple[tuple[int, str], list[Candidate]]:
        """Return what was found to be tried, and the candidates, the last of them exact if one is."""
        model, seed = self.scorer.model, self.scorer.seed
        symbols, states = sizes
        if symbols not in self.symbols:
            self.symbols[symbols] = _symbols(model, self.pushed, symbols, seed)
        if states not in self.states:
            self.states[states] = _quantiser(model, self.hidden, states, seed)
        machine = Machine(Rounded(model), self.symbols[symbols], self.states[states])
        candidates = []
        for candidate in _attempts(machine, self.seen, self.scorer.complete):
            candidates.append(self.scorer.score(candidate))
            if candidates[-1].exact:
                break
        return (len(machine.symbols.names), machine.quantiser.name), candidates


def _attempts(machine: Machine, seen: Trace, complete: frozenset[Output]) -> Iterator[Candidate]:
    elected = majority_table(machine, seen, complete)
    number = len(machine.symbols.names)
    blank = Candidate(machine.quantiser.name, number, "exploration", 0, None, elected.minority, machine=machine)
    if machine.n_stacks > MOST_STACKS:
        yield blank
        return
    try:
        yield minimised(blank, explore(machine, complete))
    except StacklensError:  # no closure
        yield blank
    yield minimised(replace(blank, way="vote"), elected.automaton)
