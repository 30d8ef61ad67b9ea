"""Networks as their authors write them, with random weights and a forward pass of their own; nothing of stacklens."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


class StackRNN(nn.Module):
    """A tanh RNN on a superposition stack of ``cell`` numbers a cell, with shares of pop, none and push."""

    def __init__(self, cell: int = 4, temperature: float = 0.5, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.cell_size, self.temperature = cell, temperature
        self.rnn = nn.RNNCell(2 + cell, 5)
        self.shares, self.new, self.next_ = nn.Linear(5, 3), nn.Linear(5, cell), nn.Linear(5, 2)
        self.after = nn.Linear(5 + cell, 2)

    def update(self, x: Tensor, h: Tensor | None, top: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The hidden vector, the shares, and the value to push."""
        h = self.rnn(torch.cat([x, top], 1), h)
        return h, (self.shares(h) / self.temperature).softmax(1), self.new(h).sigmoid()

    def step(self, x: Tensor, h: Tensor | None, top: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """One step with its output."""
        h, shares, new = self.update(x, h, top)
        return h, shares, new, self.next_(h).sigmoid()

    def output(self, h: Tensor, top: Tensor) -> Tensor:
        """What is said of hidden vector and top after the update."""
        return torch.sigmoid(self.after(torch.cat([h, top], 1)))

    def forward(self, symbols: Tensor, after: bool = False) -> Tensor:
        """Words (B, T) to outputs (B, T, 2)."""
        stack, h, said = torch.zeros(len(symbols), 60, self.cell_size), None, []
        for t in range(symbols.shape[1]):
            h, shares, new = self.update(nn.functional.one_hot(symbols[:, t], 2).float(), h, stack[:, 0])
            pop, none, push = shares[:, :, None, None].unbind(1)
            pushed = torch.cat([new[:, None], stack[:, :-1]], 1)
            popped = torch.cat([stack[:, 1:], torch.zeros_like(stack[:, :1])], 1)
            stack = push * pushed + pop * popped + none * stack
            said.append(self.output(h, stack[:, 0]) if after else self.next_(h).sigmoid())
        return torch.stack(said, 1)


# the names of its layers, as a mapping has them
KEYS = {
    f"{ours} {part}": f"{theirs}.{part}"
    for ours, theirs in (("actions", "shares"), ("push", "new"), ("output", "next_"))
    for part in ("weight", "bias")
}
KEYS |= {
    f"{ours} {part}": f"rnn.{part}_{theirs}"
    for ours, theirs in (("input", "ih"), ("hidden", "hh"))
    for part in ("weight", "bias")
}
WORDS = ["(())()((", "((((()))", "))((", "("]


@torch.no_grad()
def own_outputs(network: nn.Module, word: str, **options: Any) -> np.ndarray:
    """What a network's own forward pass says of a word, (T, 2)."""
    said: np.ndarray = network(torch.tensor([["()".index(symbol) for symbol in word]]), **options)[0].numpy()
    return said


class Causal(nn.Module):
    """A causal transformer of one layer."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embed = nn.Embedding(2, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, symbols: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, 2)."""
        mask = nn.Transformer.generate_square_subsequent_mask(symbols.shape[1])
        said: Tensor = self.head(self.layer(self.embed(symbols), src_mask=mask))
        return said


TOKENS = ("<pad>", "<s>", "</s>", "(", ")")


class GruModel(nn.Module):
    """A GRU language model of `TOKENS`, with its hidden state beside its logits."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.gru, self.head = nn.Embedding(5, 8), nn.GRU(8, 16, batch_first=True), nn.Linear(16, 5)

    def forward(self, tokens: Tensor, hidden: Any = None) -> tuple[Tensor, Tensor]:
        """Tokens (B, T) to a hidden state (1, B, 16) and logits (B, T, 5)."""
        seen, hidden = self.gru(self.embed(tokens), hidden)
        return hidden, self.head(seen)

    def step(self, token: Tensor, hidden: Any) -> tuple[Tensor, Tensor]:
        """One token (B,)."""
        hidden, logits = self(token[:, None], hidden)
        return hidden, logits[:, 0]


class GptModel(nn.Module):
    """A causal transformer language model of `TOKENS` that masks padding; it gives an object with logits."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.place, self.head = nn.Embedding(5, 16), nn.Embedding(40, 16), nn.Linear(16, 5)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True, norm_first=True)

    def forward(self, tokens: Tensor) -> Any:
        """Tokens (B, T) to logits (B, T, 5)."""
        length = tokens.shape[1]
        mask = torch.ones(length, length).triu(1).bool()
        seen = self.embed(tokens) + self.place(torch.arange(length))
        seen = self.layer(seen, src_mask=mask, src_key_padding_mask=tokens == 0)
        return SimpleNamespace(logits=self.head(seen))


def drawn(rng: random.Random) -> str:
    """A word of balanced parentheses, at most 2 deep, that may end wherever it is balanced."""
    word = "("
    while (height := word.count("(") - word.count(")")) or rng.random() < 0.7:
        word += ")" if height == 2 or (height and rng.random() < 0.5) else "("
    return word[:30]


def taught(net: nn.Module, steps: int) -> Any:
    """The network after so many steps of Adam on the cross-entropy of the next token of `drawn` words, padded."""
    rng, optimizer = random.Random(0), torch.optim.Adam(net.parameters(), 0.01)
    for _ in range(steps):
        rows = [["<s>", *drawn(rng), "</s>"] for _ in range(32)]
        long = max(map(len, rows))
        x = torch.tensor([[TOKENS.index(token) for token in row + ["<pad>"] * (long - len(row))] for row in rows])
        made = net(x[:, :-1])
        logits = made[1] if isinstance(made, tuple) else made.logits
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return net.eval()


class Marked(nn.Module):
    """A language model of `TOKENS` on a stack: <s> lays down a marker, "(" a cell, ")" takes one off."""

    def __init__(self) -> None:
        super().__init__()
        self.sure = nn.Parameter(torch.tensor(30.0))

    def update(self, token: Tensor, h: Tensor, _: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The hidden vector, which says nothing, the shares of pop, none and push, and the value to push."""
        push, pop = (token % 2 == 1).float(), (token == 4).float()
        shares = (self.sure * torch.stack([pop, 1 - push - pop, push], 1)).softmax(1)
        return 0 * h, shares, nn.functional.one_hot(token // 2 % 2, 2).float()

    def output(self, _: Tensor, top: Tensor) -> Tensor:
        """Logits by what is on top after the update: the end where it is the marker, ")" where it is not."""
        never = torch.full_like(top[:, :1], -9.0)
        return torch.cat([never, never, 9 * top[:, :1] - 9, 0 * never, 9 * top[:, 1:] - 9], 1)
