"""Interventions in drawn Stack-RNNs, many words at once, against a network of lists and loops, one word at a time."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import torch
from tests.attack.campaign import Attack
from tests.probe.plain_interventions import PlainStackRNN

from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.probe.intervene import intervene

__all__ = ["ATTACKS"]

_LETTERS = "abc"
_WORDS, _LONGEST = 12, 9
_CLOSE = 1e-7  # of numbers that many steps of round-off lie between


def _network(rng: Random) -> MarnnStackRNN:
    net = MarnnStackRNN(MarnnConfig(tuple(_LETTERS), hidden=rng.randint(1, 5), cell_size=rng.randint(1, 3)))
    generator = torch.Generator().manual_seed(rng.randrange(2**31))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype) * 2)
    return net.eval()


def _word(rng: Random, least: int = 0) -> str:
    return "".join(rng.choices(_LETTERS, k=rng.randint(least, _LONGEST)))


def _run(net: MarnnStackRNN, word: str, rounded: bool) -> PlainStackRNN:
    run = PlainStackRNN(net, rounded)
    for symbol in word:
        run.read(_LETTERS.index(symbol))
    return run


def _interventions(seed: int) -> Counter[str]:
    """Put another run's hidden vector, units or cell into drawn words at once, and hold every word against lists."""
    rng = Random(seed)
    net, rounded = _network(rng), rng.random() < 0.5
    part = rng.choice(("hidden", "cells", "units"))
    words, sources = [_word(rng, 1) for _ in range(_WORDS)], [_word(rng) for _ in range(_WORDS)]
    at, cells = [rng.randint(0, len(word)) for word in words], [rng.randint(0, 4) for _ in words]
    units = sorted(rng.sample(range(net.shape.hidden), rng.randint(1, net.shape.hidden))) if part == "units" else None
    named = "cells" if part == "cells" else "hidden"
    seen = intervene(net, words, at, named, from_word=sources, units=units, cell=cells, rounded=rounded)
    for row, word in enumerate(words):
        plain, source = _run(net, word[: at[row]], rounded), _run(net, sources[row], rounded)
        _replace(plain, source, units if part == "units" else None, cells[row] if part == "cells" else None)
        for symbol in word[at[row] :]:
            plain.read(_LETTERS.index(symbol))
        ours = seen.hidden[row, len(word)]
        told = f"seed {seed}: {part} of {sources[row]!r} into {word!r} before step {at[row]}, cell {cells[row]}"
        assert np.allclose(ours, plain.hidden, atol=_CLOSE), f"{told}: {ours} for {plain.hidden}"
    return Counter({f"words with {part} replaced": len(words)})


def _replace(plain: PlainStackRNN, source: PlainStackRNN, units: list[int] | None, cell: int | None) -> None:
    size: int = plain.net.cell_size
    empty: list[Any] = [[0.0] * size for _ in range(6)]
    if cell is not None:
        plain.cells += empty[: max(0, cell + 1 - len(plain.cells))]
        plain.cells[cell] = [*source.cells, *empty][cell]
        return
    for unit in range(len(plain.hidden)) if units is None else units:
        plain.hidden[unit] = source.hidden[unit]


ATTACKS = (Attack("probing: interventions against lists", _interventions),)
