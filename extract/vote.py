"""The second way to fill the table: a majority vote over what a network was seen to do.

Each traced step votes for an operation, a next state or a rejection at its (state, symbol, top). The share of steps
that were outvoted measures how far the network is from having states: at most 0.03 is good, 0.06 or more is bad.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import Key, PushdownAutomaton, StackOp, Transition
from stacklens.extract.explore import BOTTOM, START, StackHeads, accepting_states, assemble
from stacklens.extract.quantise import Quantiser
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded, round_actions
from stacklens.probe.trace import Trace

__all__ = ["Vote", "vote"]

_REJECT = -1
_START = -1  # the initial hidden vector is a state of its own


@dataclass(frozen=True)
class Vote:
    """The automaton that the majority gives, and the share of traced steps that disagree with it, in [0, 1]."""

    automaton: PushdownAutomaton
    minority: float


@torch.no_grad()
def vote(model: StackModel[Any], seen: Trace, quantiser: Quantiser) -> Vote:
    """Return the majority's automaton over the steps of ``seen``, a trace of ``model`` (analog or rounded)."""
    network = Rounded(model)
    heads = StackHeads.of(network)
    ballots = _ballots(seen, quantiser)
    counted = Counter(map(tuple, ballots.tolist()))
    elected: dict[tuple[int, int, int], tuple[int, tuple[int, int]]] = {}
    for (state, letter, top, action, target), count in sorted(counted.items()):
        place = (state, letter, top)
        if count > elected.get(place, (0, (0, 0)))[0]:
            elected[place] = (count, (action, target))
    numbers = sorted({target for _, (_, target) in elected.values()} - {_REJECT})
    name = {_START: START, **{number: quantiser.label(number) for number in numbers}}
    tops = (BOTTOM, *heads.symbols)
    rules: dict[Key, Transition] = {}
    for (state, letter, top), (_, (action, target)) in elected.items():
        if target != _REJECT and state in name:
            operation = StackOp(pop=action < 0, push=seen.letters[letter] if action > 0 else None)
            rules[name[state], seen.letters[letter], (tops[top],)] = Transition(name[target], (operation,))
    vectors = torch.cat([network.initial_state(1).hidden, torch.from_numpy(quantiser.represent(np.array(numbers)))])
    accepting = accepting_states(network, heads, list(name.values()), vectors)
    minority = 1 - sum(count for count, _ in elected.values()) / max(1, len(ballots))
    return Vote(assemble(network, heads, rules, accepting, list(name.values())[1:]), minority)


def _ballots(seen: Trace, quantiser: Quantiser) -> np.ndarray:
    """Return one row (state, letter, top, action, next state) a step that was not yet rejected, (M, 5) int."""
    before = np.pad(seen.rejected, ((0, 0), (1, 0)))[:, :-1]
    word, step = np.nonzero(seen.valid & ~before)
    hidden = seen.hidden[word, step]
    states = np.where(step == 0, _START, quantiser.assign(hidden))
    reading = seen.reading[word, step, 0]
    tops = np.argmax(np.column_stack([1 - reading.sum(-1), reading]), -1)  # 0: mostly empty
    actions = round_actions(torch.from_numpy(seen.actions[word, step, 0, 0])).numpy().astype(np.int64)
    targets = quantiser.assign(seen.hidden[word, step + 1])
    rejecting = seen.rejected[word, step] | ((tops == 0) & (actions < 0))
    columns = (states, seen.symbols[word, step], tops, np.where(rejecting, 0, actions))
    return np.column_stack([*columns, np.where(rejecting, _REJECT, targets)]).astype(np.int64)
