"""Five networks as one finds them in somebody's repository: plain torch, and not a line of stacklens."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

PAIRS = {"(": ")", "[": "]"}


class GRU(nn.Module):
    """A GRU that says after every symbol which ones may come next."""

    def __init__(self, symbols: int = 4, hidden: int = 24) -> None:
        super().__init__()
        self.symbols, self.rnn, self.head = (
            symbols,
            nn.GRU(symbols, hidden, batch_first=True),
            nn.Linear(hidden, symbols),
        )

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, symbols)."""
        logits: Tensor = self.head(self.rnn(nn.functional.one_hot(words, self.symbols).float())[0])
        return logits

    def step(self, x: Tensor, h: Tensor | None) -> tuple[Tensor, Tensor]:
        """One-hot symbols (B, symbols) and the state before them to the state after them and logits."""
        seen, h = self.rnn(x[:, None], h)
        return h, self.head(seen[:, 0])


class LSTM(nn.Module):
    """An LSTM that says after every symbol whether what it has read is balanced."""

    def __init__(self, hidden: int = 8) -> None:
        super().__init__()
        self.rnn, self.head = nn.LSTM(2, hidden, batch_first=True), nn.Linear(hidden, 1)

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, 1)."""
        logits: Tensor = self.head(self.rnn(nn.functional.one_hot(words, 2).float())[0])
        return logits

    def step(self, x: Tensor, state: Any) -> tuple[Any, Tensor]:
        """One-hot symbols (B, 2) and (h, c) before them to (h, c) after them and logits."""
        seen, state = self.rnn(x[:, None], state)
        return state, self.head(seen[:, 0])


class StackRNN(nn.Module):
    """A tanh RNN on a superposition stack with cells of 4 numbers; a temperature sharpens its shares."""

    def __init__(self, hidden: int = 8, cell: int = 4, temperature: float = 0.5) -> None:
        super().__init__()
        self.cell, self.temperature = cell, temperature
        self.rnn = nn.RNNCell(4 + cell, hidden)
        self.shares, self.new, self.head = nn.Linear(hidden, 3), nn.Linear(hidden, cell), nn.Linear(hidden, 4)

    def step(self, x: Tensor, h: Tensor | None, top: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The state after a symbol, the shares of pop, none and push, the value to push, and logits."""
        h = self.rnn(torch.cat([x, top], 1), h)
        return h, (self.shares(h) / self.temperature).softmax(1), self.new(h).sigmoid(), self.head(h)

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, 4)."""
        stack, h, said = torch.zeros(len(words), words.shape[1] + 1, self.cell), None, []
        for x in nn.functional.one_hot(words, 4).float().unbind(1):
            h, shares, new, logits = self.step(x, h, stack[:, 0])
            pop, none, push = shares[:, :, None, None].unbind(1)
            stack = mixed(stack, new, pop, none, push)
            said.append(logits)
        return torch.stack(said, 1)


class VectorStack(nn.Module):
    """A tanh RNN whose output, and next step, see the top of a vector stack as it is after the update."""

    def __init__(self, hidden: int = 8, cell: int = 3) -> None:
        super().__init__()
        self.cell = cell
        self.rnn = nn.RNNCell(4 + cell, hidden)
        self.shares, self.new, self.head = nn.Linear(hidden, 3), nn.Linear(hidden, cell), nn.Linear(hidden + cell, 4)

    def update(self, x: Tensor, h: Tensor | None, top: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The state after a symbol, the shares of push, pop and none, and the value to push."""
        h = self.rnn(torch.cat([x, top], 1), h)
        return h, (2 * self.shares(h)).softmax(1), self.new(h).tanh()

    def output(self, h: Tensor, top: Tensor) -> Tensor:
        """State and top after the update to logits."""
        logits: Tensor = self.head(torch.cat([h, top], 1))
        return logits

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, 4)."""
        stack, h, said = torch.zeros(len(words), words.shape[1] + 1, self.cell), None, []
        for x in nn.functional.one_hot(words, 4).float().unbind(1):
            h, shares, new = self.update(x, h, stack[:, 0])
            push, pop, none = shares[:, :, None, None].unbind(1)
            stack = mixed(stack, new, pop, none, push)
            said.append(self.output(h, stack[:, 0]))
        return torch.stack(said, 1)


def mixed(stack: Tensor, new: Tensor, pop: Tensor, none: Tensor, push: Tensor) -> Tensor:
    """The superposition of a stack (B, C, D) after a pop, as it is, and after a push of ``new`` (B, D)."""
    pushed = torch.cat([new[:, None], stack[:, :-1]], 1)
    popped = torch.cat([stack[:, 1:], torch.zeros_like(stack[:, :1])], 1)
    return push * pushed + pop * popped + none * stack


class Causal(nn.Module):
    """A causal transformer of two layers with learned positions."""

    def __init__(self, width: int = 32, longest: int = 160) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(4, width), nn.Embedding(longest, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.layers, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(width, 4)

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, 4)."""
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        seen = self.embed(words) + self.place(torch.arange(words.shape[1]))
        logits: Tensor = self.head(self.layers(seen, mask=mask))
        return logits


def encode(word: str) -> Tensor:
    """A word as numbers, (1, T)."""
    return torch.tensor([["()[]".index(symbol) for symbol in word]])


def member(length: int, kinds: str, depth: int, rng: random.Random) -> tuple[str, list[set[str]]]:
    """A random balanced word of at most this depth, and what may come next after each of its symbols."""
    word, opened, following = "", "", []
    while len(word) < length:
        room = len(opened) < min(depth, length - len(word))
        if room and (not opened or rng.random() < 0.5):
            opened += rng.choice(kinds)
            word += opened[-1]
        else:
            word, opened = word + PAIRS[opened[-1]], opened[:-1]
        may = set(kinds) if len(opened) < depth else set()
        following.append(may | ({PAIRS[opened[-1]]} if opened else set()))
    return word, following


def predictions(lengths: tuple[int, int], depth: int) -> Callable[[random.Random, int], tuple[Tensor, Tensor]]:
    """Batches of members of Dyck-2 of one length each, with the sets of next symbols."""

    def batch(rng: random.Random, size: int) -> tuple[Tensor, Tensor]:
        length = 2 * rng.randint(lengths[0] // 2, lengths[1] // 2)
        made = [member(length, "([", depth, rng) for _ in range(size)]
        sets = [[[float(symbol in may) for symbol in "()[]"] for may in following] for _, following in made]
        return torch.cat([encode(word) for word, _ in made]), torch.tensor(sets)

    return batch


def verdicts(rng: random.Random, size: int) -> tuple[Tensor, Tensor]:
    """Words over ( and ), half of them balanced, with whether each beginning is balanced."""
    length = rng.randint(1, 40)
    words = [member(length + length % 2, "(", 20, rng)[0][:length] for _ in range(size // 2)]
    words += ["".join(rng.choice("()") for _ in range(length)) for _ in range(size - len(words))]
    labels = []
    for word in words:
        height, good, row = 0, True, []
        for symbol in word:
            height += 1 if symbol == "(" else -1
            good = good and height >= 0
            row.append([float(good and height == 0)])
        labels.append(row)
    return torch.cat([encode(word) for word in words]), torch.tensor(labels)


def fit(net: nn.Module, batch: Any, steps: int, rate: float, seed: int) -> nn.Module:
    """The network after so many steps of Adam on the cross-entropy of every output."""
    rng, optimizer = random.Random(seed), torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps, pct_start=0.1)
    for _ in range(steps):
        words, wanted = batch(rng, 48)
        loss = nn.functional.binary_cross_entropy_with_logits(net(words), wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return net.eval()


# name: (network, batches, steps, learning rate, seed)
KINDS: dict[str, tuple[Callable[[], nn.Module], Any, int, float, int]] = {
    "gru": (GRU, predictions((2, 40), 3), 800, 0.02, 1),
    "lstm": (LSTM, verdicts, 2_000, 0.02, 1),
    "stack-rnn": (StackRNN, predictions((2, 14), 8), 2_500, 0.02, 1),
    "causal": (Causal, predictions((2, 24), 3), 1_200, 0.003, 1),
    "vector-stack": (VectorStack, predictions((2, 14), 8), 2_500, 0.02, 1),
}


def trained(name: str, seed: int | None = None) -> nn.Module:
    """The network of that name, trained from its seed."""
    made, batch, steps, rate, own = KINDS[name]
    torch.manual_seed(own if seed is None else seed)
    return fit(made(), batch, steps, rate, own if seed is None else seed)
