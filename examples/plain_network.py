"""A network as one finds it in somebody's repository: plain torch, and not a line of stacklens.

A GRU cell with a soft stack that reads balanced parentheses and predicts after every symbol which ones may come next.
`python examples/plain_network.py` trains it again, in under a minute, and writes its weights to plain_network.pt.
"""

from __future__ import annotations

import random
from pathlib import Path

import torch
from torch import Tensor, nn

DEPTH = 60  # cells of the stack


class StackGRU(nn.Module):
    """A GRU cell beside one soft stack."""

    def __init__(self, hidden: int = 6, cell: int = 1) -> None:
        super().__init__()
        self.hidden, self.cell_size = hidden, cell
        self.gru = nn.GRUCell(2 + cell, hidden)
        self.to_action = nn.Linear(hidden, 2)  # pop, push
        self.to_cell = nn.Linear(hidden, cell)
        self.to_next = nn.Linear(hidden, 2)  # may "(" come next, may ")"

    def cell(self, x: Tensor, h: Tensor, top: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """One-hot symbols (B, 2), hidden (B, H) and tops (B, cell) to hidden, actions, new cells and predictions."""
        h = self.gru(torch.cat([x, top], 1), h)
        return h, self.to_action(h).softmax(1), self.to_cell(h).sigmoid(), self.to_next(h).sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        """One-hot words (B, T, 2) to predictions (B, T, 2)."""
        h = x.new_zeros(len(x), self.hidden)
        stack = x.new_zeros(len(x), DEPTH, self.cell_size)
        predictions = []
        for t in range(x.shape[1]):
            h, action, new, y = self.cell(x[:, t], h, stack[:, 0])
            pop, push = action[:, 0, None, None], action[:, 1, None, None]
            pushed = torch.cat([new[:, None], stack[:, :-1]], 1)
            popped = torch.cat([stack[:, 1:], torch.zeros_like(stack[:, :1])], 1)
            stack = push * pushed + pop * popped
            predictions.append(y)
        return torch.stack(predictions, 1)


def balanced(length: int, rng: random.Random) -> str:
    """A random balanced word."""
    word, depth = "", 0
    while len(word) < length:
        up = depth == 0 or (depth < length - len(word) and rng.random() < 0.5)
        word, depth = word + "()"[not up], depth + (1 if up else -1)
    return word


def encode(words: list[str]) -> tuple[Tensor, Tensor]:
    """Words of one length as one-hot symbols, (B, T, 2), and what may come next, (B, T, 2)."""
    symbols = torch.tensor([["()".index(s) for s in word] for word in words])
    depth = (1 - 2 * symbols).cumsum(1)
    return nn.functional.one_hot(symbols, 2).double(), torch.stack([torch.ones_like(depth), depth > 0], 2).double()


def train(seed: int = 3, steps: int = 1_500) -> StackGRU:
    """A network trained on words of at most 24 symbols."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    net = StackGRU().double()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(steps):
        length = 2 * rng.randint(1, 12)
        x, y = encode([balanced(length, rng) for _ in range(32)])
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net


if __name__ == "__main__":
    torch.save(train().state_dict(), Path(__file__).with_suffix(".pt"))
