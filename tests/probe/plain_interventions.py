"""Interventions in plain Python, one word and one number at a time: a Stack-RNN and an NNPDA with lists and loops.

Written from the papers' equations (Suzgun et al. 2019, section 3.1; Sun et al. 1993), and from nothing in `probe`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.models.plain import PlainStack, plain_controller

from stacklens.models.networks.nnpda import NNPDA
from stacklens.models.networks.suzgun import MarnnStackRNN


@dataclass
class PlainStackRNN:
    """A Stack-RNN between two symbols: its hidden vector, its cells (the top first), and what it said last."""

    net: MarnnStackRNN
    rounded: bool
    hidden: list[float] = field(default_factory=list)
    cells: list[list[float]] = field(default_factory=list)
    output: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.weights: dict[str, Any] = {name: one.tolist() for name, one in self.net.named_parameters()}
        self.hidden = [0.0] * self.net.shape.hidden

    def read(self, symbol: int, change: Callable[[list[float], list[float]], Any] = lambda *_: None) -> None:
        """Take a step; ``change(actions, pushed)`` may write to both before they reach the stack."""
        size = self.net.cell_size
        top = self.cells[0] if self.cells else [0.0] * size
        seen = [h + m for h, m in zip(self.hidden, self._layer("memory", top), strict=True)]
        drive = zip(self._layer("hidden", seen), self.weights["input_weights"], self.weights["input_bias"], strict=True)
        self.hidden = [math.tanh(one + row[symbol] + bias) for one, row, bias in drive]
        logits = self._layer("action", self.hidden)
        shares = [math.exp(one - max(logits)) for one in logits]
        actions = [share / sum(shares) for share in shares]
        if self.rounded:
            actions = [float(number == actions.index(max(actions))) for number in range(len(actions))]
        pushed = [1 / (1 + math.exp(-one)) for one in self._layer("pushed", self.hidden)]
        self.output = [1 / (1 + math.exp(-one)) for one in self._layer("output", self.hidden)]
        change(actions, pushed)
        padded = [*self.cells, [0.0] * size, [0.0] * size]
        moved = [pushed, *padded]
        self.cells = [
            [actions[0] * moved[i][d] + actions[1] * padded[i + 1][d] for d in range(size)]
            for i in range(len(self.cells) + 1)
        ]

    def _layer(self, name: str, values: Sequence[float]) -> list[float]:
        rows = zip(self.weights[f"{name}_weights"], self.weights[f"{name}_bias"], strict=True)
        return [math.fsum(w * v for w, v in zip(row, values, strict=True)) + bias for row, bias in rows]


@dataclass
class PlainNNPDA:
    """An NNPDA between two symbols: its state neurons, and the stack as an array of symbols and lengths."""

    net: NNPDA
    rounded: bool
    hidden: list[float] = field(default_factory=list)
    stack: PlainStack = field(default_factory=PlainStack)

    def __post_init__(self) -> None:
        self.hidden = [1.0, *[0.0] * (self.net.shape.n_states - 1)]

    def read(self, symbol: int, action: float | None = None) -> None:
        """Take a step, with another ``action`` if one is given."""
        self.hidden, own = plain_controller(self.net, self.hidden, self.stack.reading(self.net.n_symbols), symbol)
        if self.rounded:
            own = 0.0 if abs(own) <= 0.5 else math.copysign(1.0, own)
        self.stack.act(own if action is None else action, symbol)
