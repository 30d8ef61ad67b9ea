"""Networks as their authors write them, with random weights and a forward pass of their own; nothing of stacklens."""

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
