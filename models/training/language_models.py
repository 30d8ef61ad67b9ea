"""Training language models on a text, a window of words at a time, the rate halved where validation gets no better.

Joulin & Mikolov 2015, section 5.2 and table 4: the symbols of the network are the words of the training text, the rows
of its input weights their embeddings. Many places of the text are read side by side, memories being carried on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stacklens.errors import FileFormatError, StacklensError
from stacklens.files import LARGEST_CORPUS, read_whole
from stacklens.models.base import NetworkState
from stacklens.models.device import one_thread
from stacklens.models.registry import build_model
from stacklens.models.training.loop import TrainingLoop, detached, log_loss

__all__ = ["END_OF_SENTENCE", "UNKNOWN", "Texts", "WordRecipe", "WordTraining", "read_texts"]

END_OF_SENTENCE, UNKNOWN = "<eos>", "<unk>"
_CLIP = 5.0


@dataclass(frozen=True)
class Texts:
    """A text in three parts, as numbers of words.

    Attributes:
        vocabulary: the words of the training part, in the order in which they come.
        train, valid, test: the parts, (words,) each.
    """

    vocabulary: tuple[str, ...]
    train: npt.NDArray[np.int64]
    valid: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


def read_texts(train: Path, valid: Path, test: Path) -> Texts:
    """Return the text in three files: a sentence a line, words with blanks between them, UTF-8.

    The end of every line is a word of its own, ``<eos>``. Words that the training part lacks are read as ``<unk>``,
    which should stand there in place of rare words, as in the usual form of the Penn Treebank.

    Raises:
        FileFormatError: a file cannot be read, or has no words, or has words that the training part lacks while that
            has no ``<unk>``.
    """
    words = [_words(path) for path in (train, valid, test)]
    vocabulary = tuple(dict.fromkeys(words[0]))
    number = {word: i for i, word in enumerate(vocabulary)}
    if UNKNOWN not in number:
        for path, part in zip((valid, test), words[1:], strict=True):
            if strange := next((word for word in part if word not in number), None):
                raise FileFormatError(
                    f"{path}: the word {strange!r} is not in {train}; put {UNKNOWN} there in place of rare words"
                )
    parts = [np.array([number.get(word, number.get(UNKNOWN, 0)) for word in part], np.int64) for part in words]
    return Texts(vocabulary, *parts)


def _words(path: Path) -> list[str]:
    expected = "a text, a sentence a line"
    try:
        lines = read_whole(path, expected, LARGEST_CORPUS).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: cannot be read: it is no UTF-8 text; expected {expected}") from None
    words = [word for line in lines if line.split() for word in (*line.split(), END_OF_SENTENCE)]
    if len(words) < 2:
        raise FileFormatError(f"{path}: no words there; expected a text, a sentence a line")
    return words


@dataclass(frozen=True)
class WordRecipe:
    """How a language model is trained.

    Attributes:
        shape: arguments of the model's configuration besides the alphabet.
        epochs: at most so many.
        streams: places of the text that are read side by side.
        window: words between two updates, and how far errors go back (section 5: 50).
        rate: Adam's learning rate, halved after an epoch without a better validation.
        least_rate: training ends below it.
    """

    shape: dict[str, Any]
    epochs: int = 20
    streams: int = 20
    window: int = 50
    rate: float = 0.003
    least_rate: float = 1e-4


class WordTraining(TrainingLoop):
    """One network of ``seed``, trained on a text; call `epoch` until `done`.

    Attributes:
        best: the smallest perplexity on the validation part; the network is kept as it was then.
        rate: the learning rate of now.

    Raises:
        StacklensError: the training part is too short for the recipe's streams.
    """

    def __init__(self, model: str, recipe: WordRecipe, texts: Texts, *, seed: int = 0, device: str = "cpu") -> None:
        if len(texts.train) < 2 * recipe.streams:
            raise StacklensError(
                f"{len(texts.train)} words of training are too few to read in {recipe.streams} places at once"
            )
        self.recipe, self.texts, self.device = recipe, texts, device
        self.net = build_model(model, {"alphabet": texts.vocabulary, **recipe.shape}, seed=seed).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=recipe.rate)
        self.best, self.rate = math.inf, recipe.rate
        self.begin()

    @property
    def total_epochs(self) -> int:
        """Return the recipe's number of epochs."""
        return self.recipe.epochs

    @property
    def settled(self) -> bool:
        """Return whether the rate is below the least one."""
        return self.rate < self.recipe.least_rate

    def learning_rate(self) -> float:
        """Return the rate, which `check` halves."""
        return self.rate

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

    def check(self) -> None:
        """Keep the network if it is better than ever on the validation part; else halve the rate and go back."""
        found = self.perplexity(self.texts.valid)
        if found < self.best:
            self.best = found
            self.keep()
        else:
            self.rate /= 2
            self.bring_back()

    @torch.no_grad()
    def perplexity(self, part: npt.NDArray[np.int64]) -> float:
        """Return the perplexity on ``part`` (words,), read from its beginning to its end, with the weights of now."""
        words, state, total = torch.from_numpy(part).unsqueeze(1).to(self.device), self.net.initial_state(1), 0.0
        for begin in range(0, len(words) - 1, self.recipe.window):
            there = words[begin : begin + self.recipe.window + 1]
            made = self.net.run(there[:-1], state)
            state = made.state
            total += float(log_loss(made.output, there[1:]).sum())
        return math.exp(total / (len(words) - 1))

    def tested(self) -> float:
        """Return the perplexity on the test part with the weights that were best on validation."""
        self.bring_back()
        with one_thread():
            return self.perplexity(self.texts.test)
