"""Training language models on a text, a window of words at a time, at a rate that falls to nothing.

Joulin & Mikolov 2015, section 5.2 and table 4: the symbols of the network are the words of the training text, the rows
of its input weights their embeddings. Many places of the text are read side by side, memories being carried on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.base import NetworkState
from stacklens.models.device import one_thread
from stacklens.models.registry import build_model
from stacklens.models.training.loop import TrainingLoop, cosine, detached, log_loss
from stacklens.models.training.word_texts import Texts

__all__ = ["WordRecipe", "WordTraining"]

_CLIP = 5.0
_READ = 500  # words at once where nothing is learned


@dataclass(frozen=True)
class WordRecipe:
    """How a language model is trained.

    Attributes:
        shape: arguments of the model's configuration besides the alphabet.
        epochs: how often the training part is read.
        streams: places of the text that are read side by side.
        window: words between two updates, and how far errors go back (section 5: 50).
        rate: Adam's learning rate in the beginning; it falls to 0 as half a cosine.
    """

    shape: dict[str, Any]
    epochs: int = 20
    streams: int = 20
    window: int = 50
    rate: float = 0.003


class WordTraining(TrainingLoop):
    """One network of ``seed``, trained on a text; call `epoch` until `done`.

    Attributes:
        best: the smallest perplexity on the validation part; the network is kept as it was then.

    Raises:
        StacklensError: the training part is too short for the recipe's streams.
    """

    def __init__(self, model: str, recipe: WordRecipe, texts: Texts, *, seed: int = 0, device: str = "cpu") -> None:
        if len(texts.train) < 2 * recipe.streams:
            raise StacklensError(
                f"{len(texts.train)} words of training are too few to read in {recipe.streams} places at once"
            )
        self.recipe, self.texts, self.device = recipe, texts, device
        net = build_model(model, {"alphabet": texts.vocabulary, **recipe.shape}, seed=seed)
        self.net = net.float().to(device)  # nearly all time goes into the outputs, thousands of words each
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=recipe.rate, fused=True)
        self.best, self._updates = math.inf, 0
        self.begin()

    @property
    def total_epochs(self) -> int:
        """Return the recipe's number of epochs."""
        return self.recipe.epochs

    @property
    def settled(self) -> bool:
        """Return False: the rate falls to the end."""
        return False

    def learning_rate(self) -> float:
        """Return the rate of the next update."""
        windows = math.ceil((len(self._streams) - 1) / self.recipe.window)
        return self.recipe.rate * cosine(self._updates, self.recipe.epochs * windows)

    @cached_property
    def _streams(self) -> Tensor:
        """Return the training part in pieces of the same length side by side, (T, B)."""
        each = len(self.texts.train) // self.recipe.streams
        return torch.from_numpy(self.texts.train[: each * self.recipe.streams]).view(self.recipe.streams, each).T

    def batches(self) -> Iterator[Tensor]:
        """Yield the windows of the training part, (W + 1, B) words; memories begin empty."""
        self._state: NetworkState[Any] = self.net.initial_state(self.recipe.streams)
        for begin in range(0, len(self._streams) - 1, self.recipe.window):
            yield self._streams[begin : begin + self.recipe.window + 1].to(self.device)

    def costs(self, batch: Tensor) -> Tensor:
        """Return how surprising a word of a window is in the mean, (); memories are carried on."""
        made = self.net.run(batch[:-1], detached(self._state))
        self._state = made.state
        return log_loss(made.output, batch[1:]).mean()

    def update(self) -> None:
        """Move all weights, by gradients that are not too long."""
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), _CLIP)
        super().update()
        self._updates += 1

    def check(self) -> None:
        """Keep the network if it is better than ever on the validation part."""
        found = self.perplexity(self.texts.valid)
        if found < self.best:
            self.best = found
            self.keep()

    @torch.enable_grad()  # nothing is learned here; but many steps are taken at once, and fast, only where it could be
    def perplexity(self, part: npt.NDArray[np.int64]) -> float:
        """Return the perplexity on ``part`` (words,), read from its beginning to its end, with the weights of now."""
        words, state, total = torch.from_numpy(part).unsqueeze(1).to(self.device), self.net.initial_state(1), 0.0
        for begin in range(0, len(words) - 1, _READ):
            there = words[begin : begin + _READ + 1]
            made = self.net.run(there[:-1], detached(state))
            state = made.state
            total += float(log_loss(made.output.detach(), there[1:]).sum())
        return math.exp(total / (len(words) - 1))

    def tested(self) -> float:
        """Return the perplexity on the test part with the weights that were best on validation."""
        self.bring_back()
        with one_thread():
            return self.perplexity(self.texts.test)
