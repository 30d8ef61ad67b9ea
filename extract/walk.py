"""Find states and stack symbols: walk their numbers upward to the first machine that the rounded network agrees with.

Larger K is not steadily better and silhouettes mislead, so each candidate is run against the rounded network on
checking words. Over-clustering is harmless, since minimisation merges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import torch

from stacklens.automata.end_marker import drop_end_marker
from stacklens.automata.minimize import minimize
from stacklens.automata.pda import Output, PushdownAutomaton
from stacklens.automata.reachability import trim
from stacklens.errors import StacklensError
from stacklens.extract.answers import automaton_answers, network_answers
from stacklens.extract.explore import explore
from stacklens.extract.fidelity import MOST_STACKS
from stacklens.extract.machine import Machine, StackSymbols
from stacklens.extract.quantise import Clusters, Levels, Quantiser, cluster
from stacklens.extract.samples import Samples, walk_words
from stacklens.extract.vote import vote
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded, operation_numbers
from stacklens.probe.trace import Trace

__all__ = ["Attempt", "Choice", "walk"]

_CLUSTERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_SYMBOLS = (2, 3, 4, 5, 6, 8)
_WALKS = 200, (10, 60)  # words, and their lengths
_LARGEST_BINARY = 12  # beyond so many neurons binary states are too many to mean anything


@dataclass(frozen=True)
class Choice:
    """Fixed numbers in place of a walk: of state clusters and of stack symbols; None to walk."""

    states: int | None = None
    stack_symbols: int | None = None


@dataclass(frozen=True)
class Attempt:
    """One machine tried.

    Attributes:
        quantiser: the name of its states' quantiser.
        stack_symbols: how many stack symbols it was given.
        way: "exploration" or "vote".
        states: states before minimisation, 0 where none came out.
        disagreements: checking words, or walks, on which it differs from the rounded network; None where none came out.
        minority: the share of outvoted steps.
        raw: the machine before minimisation, if one came out.
        automaton: the minimised automaton, if one came out.
    """

    quantiser: str
    stack_symbols: int
    way: str
    states: int
    disagreements: int | None
    minority: float
    raw: PushdownAutomaton | None = None
    automaton: PushdownAutomaton | None = None

    @property
    def exact(self) -> bool:
        """Return whether the machine agrees with the rounded network on every checking word."""
        return self.disagreements == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report's history."""
        names = ("quantiser", "stack_symbols", "way", "states", "disagreements")
        return {**{name: getattr(self, name) for name in names}, "minority_transitions": self.minority}


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


def walk(
    model: StackModel[Any], seen: Trace, samples: Samples, choice: Choice, complete: frozenset[Output], seed: int
) -> Iterator[Attempt]:
    """Yield attempts one by one, each checked against the rounded network's answers on the samples.

    One that passes is checked on walks over its own transitions as well, where all words over the alphabet are meant.
    Small machines come first. The last one is exact, unless all of them failed. ``seen`` is a trace of the rounded
    network; ``complete`` are the outputs that say that a word is complete, where they are known.
    """
    hidden = seen.hidden[:, 1:][seen.valid & ~seen.rejected]
    if not len(hidden):
        raise StacklensError("the network rejects every word at its first symbol; there is nothing to extract")
    pushed = _laid(model, seen)
    state_quantiser = cache(lambda size: _quantiser(model, hidden, size, seed))
    symbols = cache(lambda size: _symbols(model, pushed, size, seed))
    sizes = product(_symbol_sizes(model, choice.stack_symbols), _quantiser_sizes(model, hidden, choice.states))
    tried = set()
    for pair in sorted(sizes, key=lambda pair: pair[0] * pair[1]):
        machine = Machine(Rounded(model), symbols(pair[0]), state_quantiser(pair[1]))
        found = (len(machine.symbols.names), machine.quantiser.name)
        if found in tried:  # there are no more different vectors than that
            continue
        tried.add(found)
        for attempt in _attempts(machine, seen, complete):
            if attempt.automaton is None:
                yield attempt
                continue
            answers = automaton_answers(attempt.automaton, model, samples.words)
            wrong = int(samples.differ(answers).sum())
            if not wrong and samples.scored is None:
                wrong = _differ_on_walks(attempt.automaton, machine.network, seed)
            checked = replace(attempt, disagreements=wrong)
            yield checked
            if checked.exact:
                return


def _differ_on_walks(pda: PushdownAutomaton, network: Rounded[Any], seed: int) -> int:
    """Return on how many random walks over a candidate's own transitions the rounded network differs from it.

    Random words die early in a predictor of small sets, and tell nothing of what comes after; walks go on.
    """
    words = walk_words(pda, *_WALKS, seed)
    wrong: np.ndarray = automaton_answers(pda, network, words) != network_answers(network, words)
    return int(wrong.any(1).sum())


def _attempts(machine: Machine, seen: Trace, complete: frozenset[Output]) -> Iterator[Attempt]:
    elected = vote(machine, seen, complete)
    blank = Attempt(machine.quantiser.name, len(machine.symbols.names), "exploration", 0, None, elected.minority)
    if machine.n_stacks > MOST_STACKS:
        yield blank
        return
    try:
        yield _minimised(blank, explore(machine, complete))
    except StacklensError:  # no closure
        yield blank
    yield _minimised(replace(blank, way="vote"), elected.automaton)


def _minimised(blank: Attempt, machine: PushdownAutomaton) -> Attempt:
    raw = trim(machine)
    return replace(blank, states=len(raw.states), raw=raw, automaton=minimize(drop_end_marker(raw) or raw))
