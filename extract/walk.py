"""Find the states: walk the number of clusters upward, take the first machine that the rounded network agrees with.

Larger K is not steadily better and silhouettes mislead, so each candidate is run against the rounded network on
checking words. Over-clustering is harmless, since minimisation merges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.end_marker import drop_end_marker
from stacklens.automata.minimize import minimize
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.automata.reachability import trim
from stacklens.automata.simulation import accepts_many
from stacklens.errors import StacklensError
from stacklens.extract.explore import explore
from stacklens.extract.quantise import Levels, Quantiser, cluster
from stacklens.extract.vote import vote
from stacklens.models.base import StackModel
from stacklens.probe.trace import Trace

__all__ = ["Attempt", "candidates", "quantisers", "walk"]

_CLUSTERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_LARGEST_BINARY = 12  # beyond so many neurons binary states are too many to mean anything


@dataclass(frozen=True)
class Attempt:
    """One quantiser tried in one of the two ways.

    Attributes:
        quantiser: its name.
        way: "exploration" or "vote".
        states: states of the machine before minimisation, 0 where none came out.
        disagreements: words on which it differs from the rounded network, or None where none came out.
        raw: the machine before minimisation, if one came out.
        automaton: the minimised automaton, if one came out.
        minority: the share of outvoted steps with this quantiser.
    """

    quantiser: str
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
        return {
            "quantiser": self.quantiser,
            "way": self.way,
            "states": self.states,
            "disagreements": self.disagreements,
            "minority_transitions": self.minority,
        }


def quantisers(hidden: np.ndarray, states: int | None, seed: int) -> Iterator[Quantiser]:
    """Yield the quantisers to try on hidden vectors (M, H): binary, then more and more clusters, or only ``states``."""
    if states is not None:
        yield cluster(hidden, states, seed)
        return
    size = hidden.shape[1]
    if size <= _LARGEST_BINARY and hidden.min() >= 0 and hidden.max() <= 1:
        yield Levels(2, size)
    found = 0
    for k in _CLUSTERS:
        clusters = cluster(hidden, k, seed)
        if len(clusters.centres) == found:  # no more different vectors than that
            return
        found = len(clusters.centres)
        yield clusters


def candidates(model: StackModel[Any], seen: Trace, states: int | None, seed: int) -> Iterator[Attempt]:
    """Yield machines for ``model`` from its trace, by exploration and by vote for each quantiser, not yet checked."""
    before = np.pad(seen.rejected, ((0, 0), (1, 0)))[:, 1:]
    hidden = seen.hidden[:, 1:][seen.valid & ~before]
    if not len(hidden):
        raise StacklensError("the network rejects every word at its first symbol; there is nothing to extract")
    for quantiser in quantisers(hidden, states, seed):
        elected = vote(model, seen, quantiser)
        try:
            explored = explore(model, quantiser)
            yield _attempt(quantiser, "exploration", explored, elected.minority)
        except StacklensError:  # no closure: too many states
            yield Attempt(quantiser.name, "exploration", 0, None, elected.minority)
        yield _attempt(quantiser, "vote", elected.automaton, elected.minority)


def _attempt(quantiser: Quantiser, way: str, machine: PushdownAutomaton, minority: float) -> Attempt:
    raw = trim(machine)
    automaton = minimize(drop_end_marker(raw) or raw)
    return Attempt(quantiser.name, way, len(raw.states), None, minority, raw, automaton)


def walk(
    model: StackModel[Any], seen: Trace, words: Sequence[Word], verdicts: np.ndarray, states: int | None, seed: int
) -> Iterator[Attempt]:
    """Yield the attempts one by one, checked on ``words`` against the rounded network's ``verdicts`` (N,) bool.

    The last one is exact, unless all of them failed.
    """
    for attempt in candidates(model, seen, states, seed):
        if attempt.automaton is None:
            yield attempt
            continue
        wrong = int((accepts_many(attempt.automaton, words) != verdicts).sum())
        checked = Attempt(**{**vars(attempt), "disagreements": wrong})
        yield checked
        if checked.exact:
            return
