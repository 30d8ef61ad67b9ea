"""Memories and the NNPDA in plain Python, from Sun et al. 1993 and Hao et al. 2018 alone; networks step by step."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from tests.attack.plain_networks import Plain
from torch import Tensor, nn

from stacklens.models.base import Step
from stacklens.models.networks.nnpda import NNPDA


@dataclass
class PlainStack:
    """The two arrays of section 3.3, bottom first, a segment a step, of length 0 where none was pushed or is left."""

    symbols: list[int] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    underflow: float = 0.0

    def act(self, action: float, symbol: int) -> None:
        left = max(0.0, -action)
        for step in reversed(range(len(self.lengths))):
            taken = min(left, self.lengths[step])
            left -= taken
            self.lengths[step] -= taken
        self.symbols.append(symbol)
        self.lengths.append(max(0.0, action))
        self.underflow = max(self.underflow, left)

    def reading(self, n_symbols: int) -> list[float]:
        seen, depth = [0.0] * n_symbols, 1.0
        for symbol, length in zip(reversed(self.symbols), reversed(self.lengths), strict=True):
            part = min(length, depth)
            seen[symbol] += part
            depth -= part
        return seen

    @property
    def length(self) -> float:
        return math.fsum(self.lengths)


Items = list[tuple[list[float], float]]  # values and strengths, what leaves first first


def taken_off(items: Items, strength: float) -> Items:
    """Return what a pop of so much leaves of each item, by the cascades of Hao et al. 2018, section 2.1."""
    kept: Items = []
    for value, own in items:
        kept.append((value, max(0.0, own - strength)))
        strength = max(0.0, strength - own)
    return kept


def read_off(items: Items, size: int) -> list[float]:
    """Return the sum of the values that lie in the first 1 of strength, (size,)."""
    total, left_over = [0.0] * size, 1.0
    for value, own in items:
        total = [whole + min(own, left_over) * part for whole, part in zip(total, value, strict=True)]
        left_over = max(0.0, left_over - own)
    return total


def after_step(kind: str, cells: Any, actions: list[float], new: list[float]) -> Any:
    """Return the stack after a step: (value, strength) pairs, or for superposition cells alone, the top first."""
    if kind in ("superposition", "own"):
        whole = [float(share == max(actions)) for share in actions] if kind == "own" else actions
        empty = [0.0] * len(new)
        column = [new, *cells, empty, empty]
        return [
            [whole[0] * a + whole[1] * b + whole[2] * c for a, b, c in zip(*column[i : i + 1], *three, strict=True)]
            for i in range(len(cells) + 1)
            for three in [(column[i + 2] if i + 2 < len(column) else empty, column[i + 1])]
        ]
    pop, push = actions if kind == "strength" else (max(0.0, -actions[0]), max(0.0, actions[0]))
    return [(new, push), *taken_off(cells, pop)]


def top_of(kind: str, cells: Any, size: int) -> list[float]:
    if kind in ("superposition", "own"):
        return cells[0] if cells else [0.0] * size
    return read_off(cells, size)


class OnStacks(nn.Module):
    """Layers of torch's cells on stacks of cells of 2 numbers, whose outputs may see their tops after the update."""

    def __init__(self, kind: str, cell: Any, layers: int, n_stacks: int, after: bool) -> None:
        super().__init__()
        torch.manual_seed(layers)
        self.kind, self.after, acts = kind, after, {"strength": 2, "continuous": 1}.get(kind, 3)
        self.cells = nn.ModuleList(cell(2 + 2 * n_stacks if number == 0 else 5, 5) for number in range(layers))
        self.acts = nn.ModuleList(nn.Linear(5, acts) for _ in range(n_stacks))
        self.new, self.head = nn.Linear(5, 2 * n_stacks), nn.Linear(5 + 2 * n_stacks * after, 2)
        for value in self.parameters():
            value.data *= 2

    def update(self, x: Tensor, states: Any, top: Tensor) -> tuple[Any, Tensor, Tensor]:
        """Return hidden states, actions and pushed values, for a single stack without its axis."""
        states = [] if states is None else list(states)
        seen, made = torch.cat([x, top.flatten(1)], 1), []
        for cell, old in zip_longest(self.cells, states):
            made.append(cell(seen, old))
            seen = made[-1][0] if isinstance(made[-1], tuple) else made[-1]
        squash = {"strength": torch.sigmoid, "continuous": torch.tanh}.get(self.kind, lambda sums: sums.softmax(-1))
        actions = torch.stack([squash(one(seen)) for one in self.acts], 1)
        new = self.new(seen).tanh().view(len(x), -1, 2)
        return tuple(made), *((actions, new) if len(self.acts) > 1 else (actions[:, 0], new[:, 0]))

    def output(self, states: Any, top: Tensor) -> Tensor:
        """Return what is said; only with ``after`` of the tops."""
        seen = states[-1][0] if isinstance(states[-1], tuple) else states[-1]
        said: Tensor = self.head(torch.cat([seen, top.flatten(1)], 1) if self.after else seen).sigmoid()
        return said

    def step(self, x: Tensor, states: Any, top: Tensor) -> tuple[Any, ...]:
        made = self.update(x, states, top)
        return *made, self.output(made[0], top)

    @torch.no_grad()
    def says(self, word: str, initial: list[list[float]], whole: bool = False) -> np.ndarray:
        """Return the outputs by lists; of ``whole`` actions the largest share, or what is above a half, counts as 1."""
        shares = self.kind in ("superposition", "own")
        piled: Any = initial if shares else [(cell, 1.0) for cell in initial]
        stacks, states, said = [list(piled) for _ in self.acts], None, []
        for symbol in word:
            tops = torch.tensor([[top_of(self.kind, cells, 2) for cells in stacks]])
            states, actions, new = self.update(torch.eye(2)[["()".index(symbol)]], states, tops)
            done = actions.view(len(stacks), -1).tolist()
            if whole and shares:
                done = [[float(one == max(row)) for one in row] for row in done]
            elif whole:
                done = [[float(abs(one) >= 0.5) * (1 if one > 0 else -1) for one in row] for row in done]
            laid = new.view(len(stacks), 2).tolist()
            stacks = [after_step(self.kind, *one) for one in zip(stacks, done, laid, strict=True)]
            said.append(self.output(states, torch.tensor([[top_of(self.kind, cells, 2) for cells in stacks]]))[0])
        return torch.stack(said).numpy()


class Lists:
    """Stacks of somebody's own: lists of cells, the top last, and whole operations."""

    def __init__(self, rows: list[list[list[Tensor]]], like: Tensor) -> None:
        self.rows, self.like = rows, like

    @classmethod
    def empty(cls, batch: int, n_stacks: int, size: int, like: Tensor) -> "Lists":
        return cls([[[] for _ in range(n_stacks)] for _ in range(batch)], like.new_zeros(size))

    @classmethod
    def from_cells(cls, cells: Tensor) -> "Lists":
        rows = [[[cell for cell in one.flip(0) if not cell.isnan().any()] for one in row] for row in cells]
        return cls(rows, cells.new_zeros(cells.shape[-1]))

    def reading(self) -> Tensor:
        shown = [cells[-1] if cells else self.like for row in self.rows for cells in row]
        return torch.stack(shown).view(len(self.rows), -1, len(self.like))

    def next(self, actions: Tensor, pushed: Tensor) -> "Lists":
        made = []
        for row, done, new in zip(self.rows, actions.argmax(-1).tolist(), pushed, strict=True):
            made.append([([*c, v], c[:-1], c)[a] for c, a, v in zip(row, done, new, strict=True)])
        return Lists(made, self.like)

    def select(self, index: Tensor) -> "Lists":
        return Lists([self.rows[i] for i in index.tolist()], self.like)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


class Shown:
    """What a memory shows, whatever lies in it."""

    def __init__(self, top: Tensor) -> None:
        self.cells = top

    def top(self, _: int) -> Tensor:
        return self.cells


def plain_controller(
    net: NNPDA, state: Sequence[float], reading: Sequence[float], symbol: int
) -> tuple[list[float], float]:
    """Return S' and A' by eqs. 5, 6 and 7, or 23 and 24."""
    plain = Plain(net, None)
    plain.hidden = torch.tensor(state, dtype=torch.float64)
    plain.stacks = [Shown(torch.tensor(reading, dtype=torch.float64))]
    (action,), _, _ = plain._nnpda(symbol)
    return plain.hidden.tolist(), float(action)


def plain_verdict(net: NNPDA, word: Sequence[str]) -> bool:
    """Return the network's verdict on one word: sections 3.3 to 3.5 and, for trap nets, 4.3 (2) and (7)."""
    state = [1.0, *[0.0] * (net.shape.n_states - 1)]
    stack = PlainStack()
    for symbol in [*map(net.alphabet.index, word), *([len(net.alphabet)] if net.end else [])]:
        state, action = plain_controller(net, state, stack.reading(net.n_symbols), symbol)
        stack.act(action, symbol)
        if stack.underflow > 0.5 or (net.shape.trap and state[-1] <= 0.5):
            return False
    if net.shape.trap:
        return state[-1] > 0.5 and stack.length <= 0.5
    return state[-1] - stack.length > 0.5


def steps_of(net: Any, read: Sequence[str] | Tensor) -> Iterator[Step[Any]]:
    """Yield the steps of ``net`` on a word, or on symbols by their numbers (T, B), one after the other."""
    columns = read if isinstance(read, Tensor) else torch.tensor([[net.alphabet.index(symbol)] for symbol in read])
    state = net.initial_state(columns.shape[1])
    for column in columns:
        step = net.step(column, state)
        yield step
        state = step.state
