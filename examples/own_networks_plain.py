"""Networks as one finds them in somebody's repository: plain torch, and not a line of stacklens."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

PAIRS = {"(": ")", "[": "]"}
TOKENS = ("<pad>", "<s>", "</s>", "(", ")", "[", "]")  # of language models


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


class Sampled(GRU):
    """A GRU that does not say how likely a symbol is: it draws which ones come next, and now and then errs."""

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, symbols) in training, then to 0 and 1, drawn."""
        logits = super().forward(words)
        return logits if self.training else logits.sigmoid().bernoulli()


class GRULanguageModel(nn.Module):
    """A GRU language model of `TOKENS`."""

    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.embed, self.rnn = nn.Embedding(len(TOKENS), 16), nn.GRU(16, hidden, batch_first=True)
        self.head = nn.Linear(hidden, len(TOKENS))

    def forward(self, tokens: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        """Tokens (B, T) to logits (B, T, tokens) and the state after them."""
        seen, state = self.rnn(self.embed(tokens), state)
        return self.head(seen), state


class GPT(nn.Module):
    """A GPT of two blocks: normed causal attention and a layer of GELU units, each added; the head is the embedding."""

    def __init__(self, width: int = 32, heads: int = 4, blocks: int = 2, longest: int = 160) -> None:
        super().__init__()
        self.heads, self.embed, self.place = heads, nn.Embedding(len(TOKENS), width), nn.Embedding(longest, width)
        self.attend = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(blocks))
        self.join = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.think = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            for _ in range(blocks)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(blocks + 1))

    def forward(self, tokens: Tensor) -> Any:
        """Tokens (B, T) to an object with logits (B, T, tokens)."""
        seen = self.embed(tokens) + self.place(torch.arange(tokens.shape[1]))
        for norm, attend, join, think in zip(self.norms, self.attend, self.join, self.think, strict=False):
            parts = [part.unflatten(2, (self.heads, -1)).transpose(1, 2) for part in attend(norm(seen)).chunk(3, 2)]
            looked = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
            seen = seen + join(looked.transpose(1, 2).flatten(2))
            seen = seen + think(seen)
        return SimpleNamespace(logits=self.norms[-1](seen) @ self.embed.weight.T)


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


class StackLSTM(nn.Module):
    """An LSTM whose output sees the top of its stack after the push: a stack of strengths, or a superposition."""

    def __init__(self, strengths: bool, hidden: int = 6, cell: int = 3) -> None:
        super().__init__()
        self.strengths, self.cell = strengths, cell
        self.rnn, self.shares = nn.LSTMCell(4 + cell, hidden), nn.Linear(hidden, 2 if strengths else 3)
        self.new, self.head = nn.Linear(hidden, cell), nn.Linear(hidden + cell, 4)

    def update(self, x: Tensor, state: Any, top: Tensor) -> tuple[Any, Tensor, Tensor]:
        """The pair (h, c) after a symbol, how much to pop and push (and neither), and the value to push."""
        state = self.rnn(torch.cat([x, top], 1), state)
        raw = 2 * self.shares(state[0])
        if self.training:  # what is noisy is not counted on: actions become whole, and the stack is made use of
            state = tuple(part + 0.1 * torch.randn_like(part) for part in state)
            raw = raw + torch.randn_like(raw)
        return state, raw.sigmoid() if self.strengths else raw.softmax(1), self.new(state[0]).sigmoid()

    def output(self, state: Any, top: Tensor) -> Tensor:
        """State and top after the push to logits."""
        logits: Tensor = self.head(torch.cat([state[0], top], 1))
        return logits

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, 4)."""
        cells, strengths = torch.zeros(len(words), words.shape[1] + 1, self.cell), torch.zeros(len(words), 1)
        state, top, said = None, cells[:, 0], []
        for x in nn.functional.one_hot(words, 4).float().unbind(1):
            state, actions, new = self.update(x, state, top)
            if self.strengths:
                cells = torch.cat([new[:, None], cells], 1)  # the newest first
                strengths = piled(strengths, *actions.unbind(1))
                above = strengths.cumsum(1) - strengths
                top = (torch.minimum(strengths, (1 - above).relu())[:, :, None] * cells[:, : strengths.shape[1]]).sum(1)
            else:
                cells = mixed(cells, new, *actions[:, :, None, None].unbind(1))
                top = cells[:, 0]
            said.append(self.output(state, top))
        return torch.stack(said, 1)


def piled(strengths: Tensor, pop: Tensor, push: Tensor) -> Tensor:
    """Strengths (B, C), the newest first, after so much was popped, and pushed on top."""
    above = strengths.cumsum(1) - strengths
    return torch.cat([push[:, None], (strengths - (pop[:, None] - above).relu()).relu()], 1)


class TenStacks(nn.Module):
    """A tanh RNN on ten superposition stacks with cells of 2 numbers: what a state dict of others is saved from."""

    def __init__(self, hidden: int = 8, stacks: int = 10) -> None:
        super().__init__()
        self.rnn = nn.RNNCell(2 + 2 * stacks, hidden)
        self.acts = nn.ModuleList(nn.Linear(hidden, 3) for _ in range(stacks))
        self.new, self.head = nn.Linear(hidden, 2 * stacks), nn.Linear(hidden, 2)

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, 2)."""
        size, n = len(words), len(self.acts)
        stacks, h, said = torch.zeros(size * n, words.shape[1] + 1, 2), None, []
        for x in nn.functional.one_hot(words, 2).float().unbind(1):
            h = self.rnn(torch.cat([x, stacks[:, 0].reshape(size, -1)], 1), h)
            shares = torch.stack([(4 * act(h)).softmax(1) for act in self.acts], 1).flatten(0, 1)
            push, pop, none = shares[:, :, None, None].unbind(1)
            stacks = mixed(stacks, self.new(h).sigmoid().view(-1, 2), pop, none, push)
            said.append(self.head(h))
        return torch.stack(said, 1)


class Nondeterministic(nn.Module):
    """A tanh RNN that sees a distribution over the runs of a pushdown automaton (DuSell & Chiang 2020, section 4).

    Its automaton has 2 states and the stack symbols 0 (the bottom), 1 and 2. inner[j][:, i] (B, q, x, r, y) is the
    weight of all runs that come from state q with x on top at i to state r at j, with y in the cell above x's.
    """

    def __init__(self, hidden: int = 10) -> None:
        super().__init__()
        self.rnn, self.moves = nn.RNNCell(4 + 6, hidden), nn.Linear(hidden, 6 * 2 * 7)
        self.head = nn.Linear(hidden + 6, 4)

    def forward(self, words: Tensor) -> Tensor:
        """Words (B, T) to logits (B, T, 4)."""
        size = len(words)
        start = torch.zeros(size, 2, 3)
        start[:, 0, 0] = 1
        inner, ways, h, said = [torch.zeros(size, 0, 2, 3, 2, 3)], [start], None, []
        inner.append((start[:, :, :, None, None] * start[:, None, None])[:, None])
        ways.append(start)
        for x in nn.functional.one_hot(words, 4).float().unbind(1):
            h = self.rnn(torch.cat([x, ways[-1].flatten(1)], 1), h)
            moves = self.moves(h).view(size, 2, 3, 14).softmax(-1).view(size, 2, 3, 2, 7)
            push, put, pop = moves.split([3, 3, 1], -1)
            last, j = inner[-1], len(inner)
            # what is on top is replaced, or popped: then what lay below it at some k is on top
            after = torch.einsum("biqxsz,bszry->biqxry", last, put)
            gone = torch.einsum("bkuysz,bszr->bkuyr", last, pop[..., 0])
            past = torch.stack(
                [nn.functional.pad(one, (0,) * 9 + (j - 1 - one.shape[1],)) for one in inner[: j - 1]], 1
            )
            after = after + torch.einsum("bkiqxuy,bkuyr->biqxry", past, gone)
            inner.append(torch.cat([after, push[:, None]], 1))
            total = torch.einsum("biqx,biqxry->bry", torch.stack(ways, 1), inner[-1])
            ways.append(total / total.sum((1, 2), keepdim=True).clamp(min=1e-20))
            inner[-1] = inner[-1] / total.sum((1, 2))[:, None, None, None, None, None].clamp(min=1e-20)
            said.append(self.head(torch.cat([h, ways[-1].flatten(1)], 1)))
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


def predictions(
    lengths: tuple[int, int], depth: int, kinds: str = "(["
) -> Callable[[random.Random, int], tuple[Tensor, Tensor]]:
    """Batches of members of Dyck-2, or Dyck-1, of one length each, with the sets of next symbols."""

    def batch(rng: random.Random, size: int) -> tuple[Tensor, Tensor]:
        length = 2 * rng.randint(lengths[0] // 2, lengths[1] // 2)
        made = [member(length, kinds, depth, rng) for _ in range(size)]
        sets = [
            [[float(symbol in may) for symbol in "()[]"[: 2 * len(kinds)]] for may in following]
            for _, following in made
        ]
        return torch.cat([encode(word) for word, _ in made]), torch.tensor(sets)

    return batch


def sentences(rng: random.Random, size: int) -> tuple[Tensor, Tensor]:
    """Words of Dyck-2 to depth 3 between begin and end, padded, and the token after each token."""
    words = [member(2 * rng.randint(0, 12), "([", 3, rng)[0] for _ in range(size)]
    rows = [["<s>", *word, "</s>"] + ["<pad>"] * (max(map(len, words)) - len(word)) for word in words]
    tokens = torch.tensor([[TOKENS.index(token) for token in row] for row in rows])
    return tokens[:, :-1], tokens[:, 1:]


def loss_of(made: Any, wanted: Tensor) -> Tensor:
    """The cross-entropy of every output, or, of a language model, of every next token that is no padding."""
    if wanted.is_floating_point():
        return nn.functional.binary_cross_entropy_with_logits(made, wanted)
    logits = made[0] if isinstance(made, tuple) else made.logits
    return nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=0)


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
    """The network after so many steps of Adam."""
    rng, optimizer = random.Random(seed), torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps, pct_start=0.1)
    for _ in range(steps):
        words, wanted = batch(rng, 48)
        loss = loss_of(net(words), wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return net.eval()


# name: (network, batches, steps, learning rate, seed)
KINDS: dict[str, tuple[Callable[[], nn.Module], Any, int, float, int]] = {
    "gru-language-model": (GRULanguageModel, sentences, 800, 0.02, 1),
    "gpt": (GPT, sentences, 1_000, 0.005, 1),
    "sampled": (lambda: Sampled(2), predictions((2, 40), 3, "("), 800, 0.02, 1),
    "gru": (GRU, predictions((2, 40), 3), 800, 0.02, 1),
    "lstm": (LSTM, verdicts, 2_000, 0.02, 1),
    "stack-rnn": (StackRNN, predictions((2, 14), 8), 2_500, 0.02, 1),
    "causal": (Causal, predictions((2, 24), 3), 1_200, 0.003, 1),
    "lstm-strengths": (lambda: StackLSTM(True), predictions((2, 30), 3), 1_500, 0.02, 2),
    "lstm-superposition": (lambda: StackLSTM(False), predictions((2, 30), 3), 1_500, 0.02, 2),
    "ten-stacks": (TenStacks, predictions((2, 30), 20, "("), 2_000, 0.01, 1),
    "nondeterministic": (Nondeterministic, predictions((2, 10), 3), 600, 0.02, 1),
    "vector-stack": (VectorStack, predictions((2, 14), 8), 2_500, 0.02, 1),
}


def trained(name: str, seed: int | None = None) -> nn.Module:
    """The network of that name, trained from its seed."""
    made, batch, steps, rate, own = KINDS[name]
    torch.manual_seed(own if seed is None else seed)
    return fit(made(), batch, steps, rate, own if seed is None else seed)
