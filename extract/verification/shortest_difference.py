"""The search for the shortest word on which an automaton and a network part, from all words that checks have found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.automata.simulation import greatest_heights
from stacklens.extract.specification import Specification
from stacklens.extract.verification.agreement import Agreement, differing
from stacklens.extract.verification.counterexamples import shorten
from stacklens.extract.verification.horizon import FirstDifference, Horizon, ProvedLength, horizon_of, shortest_of
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded

__all__ = ["find_horizons", "shortest_difference"]

_BUDGET = 300_000  # symbols that are run to make words shorter, of one network: checks have shortened most before
_LESS = 3  # for the network that is not rounded, whose stack is slow to read, so many times less


def find_horizons(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    specification: Specification | None,
    checks: Sequence[Agreement],
    proved: Sequence[ProvedLength] = (),
    budget: int = _BUDGET,
) -> dict[str, Horizon]:
    """Return how far ``pda`` is known to agree with ``model``, rounded and as it is.

    Args:
        pda: the automaton.
        model: the network, not rounded.
        specification: which words are meant; None for all.
        checks: those of the automaton against the network.
        proved: up to which lengths the rounded network is proved to follow the automaton.
        budget: how many symbols may be run to make words shorter; fewer for the network that is not rounded.
    """
    partial_domain = specification is not None and specification.partial_domain
    horizons: dict[str, Horizon] = {}
    for other, network in (("rounded network", Rounded(model)), ("network", model)):
        if horizons and model.action_kind == "none":  # there is nothing to round
            horizons[other] = next(iter(horizons.values()))
            continue
        against = [check for check in checks if check.other == other]
        difference = shortest_difference(pda, network, specification, against, budget)
        horizons[other] = horizon_of(
            checks, other, partial_domain, difference, proved if other == "rounded network" else ()
        )
    return horizons


def shortest_difference(
    pda: PushdownAutomaton,
    network: StackModel[Any],
    specification: Specification | None,
    checks: Sequence[Agreement],
    budget: int = _BUDGET,
) -> FirstDifference | None:
    """Return the shortest word that can be found on which ``pda`` and ``network`` differ, None if no check knows one.

    What all words of a length have shown is a shortest word. All others are made shorter, each from where it stands and
    the shortest first: which of them leads to the shortest cannot be told beforehand. Of the network that is not
    rounded only the shortest is.
    """
    known = [(check.counterexample, check.kind) for check in checks]
    words = sorted(((word, kind) for word, kind in known if word is not None), key=lambda one: len(one[0]))
    left = budget if isinstance(network, Rounded) else budget // _LESS

    def differ(words: list[Word]) -> np.ndarray:
        nonlocal left
        left -= sum(map(len, words))
        different = differing(pda, network, None, words, specification)
        if network.stack_limit is not None and different.any():  # nothing is claimed of words that need more cells
            rows = np.flatnonzero(different)
            different[rows] = greatest_heights(pda, [words[i] for i in rows]) <= network.stack_limit
        return different

    if not any(kind == "exhaustive" for _, kind in words):
        words = words if isinstance(network, Rounded) else words[:1]
        words = [(shorten(word, differ, pda, max(0, left)), kind) for word, kind in words]
    return shortest_of(pda, words)
