"""A self-check of bounded certificates: random runs of the rounded network lie in the rows of every length."""

from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import PushdownAutomaton, Symbol
from stacklens.extract.certificate.abstraction import Layout, System
from stacklens.extract.certificate.bounded import Forward, ForwardRows
from stacklens.extract.certificate.controllers import boxes_of
from stacklens.models.base import NetworkState
from stacklens.models.rounding import Rounded


@torch.no_grad()
def left_out(
    model: Any, pda: PushdownAutomaton, length: int, rng: np.random.Generator, walks: int, rows: int = 30
) -> tuple[Symbol, ...] | None:
    """Return a word after which the rounded network is in no row of its length, None if none of ``walks`` is."""
    stacks = tuple(range(min(model.n_stacks, pda.n_stacks)))
    forward = Forward(System(model, boxes_of(model), pda, stacks, Layout(), None, 0.0), rows)
    lengths = [found for _, found in zip(range(length + 1), forward.lengths(), strict=False)]
    network = Rounded(model)
    for _ in range(walks):
        state, current, word = network.initial_state(1), pda.start, tuple[Symbol, ...]()
        for found in lengths:
            if not _holds(forward, found, state, current.state, current.tops(pda.bottom)):
                return word
            letters = [letter for letter in model.alphabet if pda.step(current, letter) is not None]
            if not letters:
                break
            word = (*word, letters[rng.integers(len(letters))])
            current = pda.step(current, word[-1])
            state = network.step(torch.tensor([model.alphabet.index(word[-1])]), state).state
    return None


def _holds(forward: Forward, rows: ForwardRows, state: NetworkState[Any], name: str, tops: tuple[Symbol, ...]) -> bool:
    hidden = state.hidden[0].double().numpy()
    reading = state.stack.reading()[0].double().numpy()
    inside: Any = np.ones(len(rows.control), dtype=bool)
    if forward.system.model.recurrent:
        inside = (rows.hidden.low <= hidden).all(1) & (hidden <= rows.hidden.high).all(1)
    inside = inside & np.array([rows.controls[control].state == name for control in rows.control], dtype=bool)
    symbols = [[forward.frames.symbols[kind] for kind in kinds] for kinds in forward.frames.kinds[rows.frames]]
    bottom = forward.system.automaton.bottom
    named = [tuple(bottom if one is None else one[0] for one in row) for row in symbols]
    inside &= np.array([row[: len(tops)] == tops for row in named], dtype=bool)
    for stack, column in enumerate(rows.frames.T):
        shown = forward._shown(stack, column)
        inside &= (shown.low <= reading[stack]).all(1) & (reading[stack] <= shown.high).all(1)
    return bool(inside.any())
