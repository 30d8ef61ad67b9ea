"""10,000 interchange interventions on the zoo's D2 network: one batched call against a loop over single words.

The loop is what one writes without the toolkit: it steps the same network through the source word and the base word,
one word at a time, replaces the hidden vector, and steps on. Both give the outputs after every symbol of the rest, and
these are compared.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from benchmarks.measure import Report, medians, show_ratio, show_seconds

from stacklens.models.checkpoint import load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.intervene import intervene

NETWORK = "marnn-stack-rnn-dyck-2"
COUNT, LOOPED, RUNS, LENGTH = 10_000, 200, 3, 12

Triple = tuple[str, int, str]


def reports() -> list[Report]:
    network = load_network(NETWORK).model
    triples = drawn(network.alphabet, COUNT)
    rows = []
    for rounded in (True, False):
        ours, loop = partial(batched, network, triples, rounded), partial(looped, network, triples[:LOOPED], rounded)
        assert all(np.allclose(one, other) for one, other in zip(ours(), loop(), strict=False))
        seconds = medians({"ours": ours, "loop": loop}, RUNS)
        per = seconds["loop"] / LOOPED
        name = "rounded" if rounded else "soft"
        rows.append(
            (name, show_seconds(seconds["ours"]), show_seconds(per * COUNT), show_ratio(per * COUNT / seconds["ours"]))
        )
    notes = f"{COUNT:,} words of {LENGTH} symbols, each with a step and a source; the loop on {LOOPED} of them"
    return [Report("Interchanging hidden vectors", (NETWORK, "one call", "plain loop", "ratio"), tuple(rows), notes)]


def drawn(alphabet: tuple[str, ...], count: int, seed: int = 0) -> list[Triple]:
    """Return random words, each with a step and a source."""
    rng = np.random.default_rng(seed)
    words = ["".join(row) for row in rng.choice(list(alphabet), (count, LENGTH))]
    sources = ["".join(row)[: rng.integers(1, LENGTH)] for row in rng.choice(list(alphabet), (count, LENGTH))]
    return list(zip(words, rng.integers(0, LENGTH, count).tolist(), sources, strict=True))


def batched(network: Any, triples: list[Triple], rounded: bool) -> list[np.ndarray]:
    words, steps, sources = (list(part) for part in zip(*triples, strict=True))
    seen = intervene(network, words, steps, "hidden", from_word=sources, rounded=rounded, stacks=False)
    return [output[step:] for output, step in zip(seen.output, steps, strict=True)]


@torch.no_grad()
def looped(network: Any, triples: list[Triple], rounded: bool) -> list[np.ndarray]:
    model = Rounded(network) if rounded else network
    symbols = {symbol: torch.tensor([number]) for number, symbol in enumerate(network.alphabet)}
    found = []
    for word, step, source in triples:
        other = model.initial_state(1)
        for symbol in source:
            other = model.step(symbols[symbol], other).state
        state = model.initial_state(1)
        hidden, stack, outputs = state.hidden, state.stack, []
        for t, symbol in enumerate(word):
            hidden = other.hidden if t == step else hidden
            answer = model.controller(symbols[symbol], hidden, stack.reading())
            hidden, stack = answer.hidden, stack.next(answer.actions, answer.pushed)
            outputs.append(answer.output[0].numpy())
        found.append(np.array(outputs[step:]))
    return found
