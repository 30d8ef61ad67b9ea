"""Networks of one's own with one flaw each, planted by hand: what it says right or wrong, and why, is known."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import stacklens as sl

_SET: dict[str, Any] = {"outputs": "recognition", "empty_word": True}


def counter_in_hidden(shares: tuple[float, ...] = (0.02, 0.0, 0.98)) -> sl.StackModel[Any]:
    """It recognises balanced parentheses by counting in a hidden number, and never looks at what it pushes."""

    def step(x: Tensor, h: Tensor, _: Tensor) -> tuple[Tensor, ...]:
        height = h[:, 1:] + x[:, :1] - x[:, 1:]
        dead = ((h[:, :1] > 0.5) | (height < -0.5)).float()
        said = ((dead < 0.5) & (height.abs() < 0.5)).float()
        return torch.cat([dead, height], 1), torch.tensor([shares]).expand(len(x), 3), x[:, :1], said

    return sl.wrap(None, "()", step=step, hidden=2, stack="superposition", name="counter", **_SET)


def swapped() -> sl.StackModel[Any]:
    """A right recogniser of balanced parentheses on its stack, whose adapter says pop for push."""

    def step(x: Tensor, h: Tensor, top: Tensor) -> tuple[Tensor, ...]:
        opening, empty = x[:, :1], (top < 0.25).float()
        dead = torch.maximum(h, x[:, 1:] * empty)
        shares = torch.cat([1 - opening, torch.zeros_like(opening), opening], 1)  # pop, none, push
        last = ((top - 0.5).abs() < 0.25).float() * x[:, 1:]  # the lowest cell holds 0.5, all others 1
        return dead, shares, 1 - 0.5 * empty, (1 - dead) * last

    return sl.wrap(
        None, "()", step=step, hidden=1, stack="superposition", actions=("push", "none", "pop"), name="swapped", **_SET
    )


def balanced_sets(forward: Callable[[Tensor], Tensor] = lambda p: p, **options: Any) -> sl.StackModel[Any]:
    """A right predictor of dyck-1 that counts; ``forward`` changes its probabilities, 0 and 1."""

    def says(symbols: Tensor) -> Tensor:
        height = (1 - 2 * symbols).cumsum(1)
        alive = (height >= 0).cummin(1).values
        return forward(torch.stack([alive, alive & (height > 0)], -1).double())

    return sl.wrap(None, "()", forward=says, symbols="index", outputs="next set", first="(", name="counts", **options)


def guessing() -> sl.StackModel[Any]:
    """One that accepts by a hidden state that mixes all that it read: it learned nothing."""

    def step(x: Tensor, h: Tensor, top: Tensor) -> tuple[Tensor, ...]:
        h = torch.frac(3.7 * h + 0.31 * x[:, :1] + 0.17 * x[:, 1:] + 0.11 * top)
        shares = torch.cat([h, 1 - h, torch.zeros_like(h)], 1)
        return h, shares, h, (h > 0.5).float()

    return sl.wrap(None, "()", step=step, hidden=1, stack="superposition", name="guessing", **_SET)


def many_stacks(n: int = 5) -> sl.StackModel[Any]:
    """One on ``n`` stacks that all hold the height, of which it believes the most: none can be left out."""

    def step(x: Tensor, h: Tensor, tops: Tensor) -> tuple[Tensor, ...]:
        opening, total = x[:, :1], tops.flatten(1).mean(1, keepdim=True)
        turn = torch.remainder(h[:, 1:] + 1, n)
        mine = torch.nn.functional.one_hot(turn[:, 0].long(), n).float().unsqueeze(-1)
        shares = torch.stack([1 - opening, torch.zeros_like(opening), opening], -1) * mine
        still = torch.cat([torch.zeros_like(mine), 1 - mine, torch.zeros_like(mine)], -1)
        said = ((total * n - h[:, :1]).abs() < 0.5).float()
        return torch.cat([total * n, turn], 1), shares + still, torch.ones_like(tops), said

    return sl.wrap(None, "()", step=step, hidden=2, stack="superposition", n_stacks=n, name="many stacks", **_SET)
