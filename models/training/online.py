"""Training predictors of streams one symbol at a time, by plain descent at a rate of each network's own.

Joulin & Mikolov 2015, section 5, and the authors' program: after every symbol, the error of this symbol's prediction
alone goes back through the last 50 steps, errors are clipped element by element, and every weight moves. After an epoch
without a better validation, once the curriculum has got somewhere, the rate is halved and the best weights come back.

One thing differs: the steps that an error goes back through are computed anew with the weights of the moment, where the
authors' program keeps what they were when they were made.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.languages.tasks.streams import StreamTask, curriculum
from stacklens.models.base import NetworkState
from stacklens.models.registry import build_model
from stacklens.models.rounding import Rounded
from stacklens.models.training.loop import SideBySide, detached, log_loss
from stacklens.models.training.scores import known_entropy

__all__ = ["OnlineRecipe", "OnlineTraining", "Symbol"]

_TRAIN_SEED, _VALIDATION_SEED = 1, 2


@dataclass(frozen=True)
class OnlineRecipe:
    """The authors' settings.

    Attributes:
        shape: arguments of the model's configuration besides the alphabet.
        smallest: the smallest size of a piece.
        n_max: sizes grow with the epochs up to one below it, see `streams.curriculum`.
        epochs: at most so many.
        pieces: in an epoch.
        emptied: memories are emptied after so many of them.
        steps: how far errors go back.
        rate, least_rate: of descent at first, and where training ends.
        clip: errors are kept between minus this and this.
        validation: pieces of each size from 2 to n_max - 1.
        known_only: whether only symbols that can be known count (binary addition).
    """

    shape: dict[str, Any]
    smallest: int = 2
    n_max: int = 15
    epochs: int = 100
    pieces: int = 2_000
    emptied: int = 1_000
    steps: int = 50
    rate: float = 0.1
    least_rate: float = 1e-5
    clip: float = 15.0
    validation: int = 10
    known_only: bool = False


@dataclass(frozen=True)
class Symbol:
    """A symbol to predict: the state ``symbols`` (W,) ago, and what follows them; None where it does not count."""

    state: NetworkState[Any]
    symbols: Tensor
    following: Tensor | None


class OnlineTraining(SideBySide):
    """Networks ``seed``, ``seed + 1``, … on the same symbols, each with its own rate and its own best weights.

    Call `epoch` until `done`; every network is kept as it was best on validation, with rounded actions where there are
    any.

    >>> from stacklens.languages.catalogue import get_task
    >>> recipe = OnlineRecipe({"hidden": 4, "n_stacks": 1}, pieces=3, n_max=4, validation=1)
    >>> training = OnlineTraining("stack-rnn", recipe, get_task("anbn"), seed=0, nets=2)
    >>> training.epoch()
    >>> training.epochs_done, training.best.shape
    (1, (2,))
    """

    def __init__(
        self, model: str, recipe: OnlineRecipe, task: StreamTask, *, seed: int, nets: int, device: str = "cpu"
    ) -> None:
        self.model, self.recipe, self.task, self.n_nets, self.device = model, recipe, task, nets, device
        self.shape = {"alphabet": task.alphabet, **recipe.shape}
        self.net = build_model(model, self.shape, seed=seed, nets=nets).to(device)
        self.rates = np.full(nets, recipe.rate)
        self.best = np.full(nets, math.inf)  # entropies on validation
        sizes = task.words_by_n(2, max(2, recipe.n_max - 1), recipe.validation, _VALIDATION_SEED)
        self.validation = ["".join(piece for some in sizes.values() for piece in some)]
        self._states: deque[NetworkState[Any]] = deque(maxlen=recipe.steps)
        self.begin()

    @property
    def total_epochs(self) -> int:
        """Return the recipe's number of epochs."""
        return self.recipe.epochs

    @property
    def settled(self) -> bool:
        """Return whether no network moves any more."""
        return bool((self.rates < self.recipe.least_rate).all())

    def learning_rate(self) -> Tensor:
        """Return the rate of each network, (nets,)."""
        return torch.from_numpy(self.rates).to(self.device)

    def batches(self) -> Iterator[Symbol]:
        """Yield the symbols of an epoch one by one."""
        number = {symbol: i for i, symbol in enumerate(self.task.alphabet)}
        for word in self._streams():
            symbols = torch.tensor([number[symbol] for symbol in word], device=self.device)
            counts = self.task.scored(word) if self.recipe.known_only else [True] * len(word)
            self._states.clear()
            self._states.append(self.net.initial_state(1))
            for t in range(len(word) - 1):
                there = symbols[t + 1 - len(self._states) : t + 1]
                yield Symbol(self._states[0], there, symbols[t + 1] if counts[t] else None)

    def costs(self, batch: Symbol) -> Tensor | None:
        """Return how surprising the symbol is to each network, (nets,); the state before it is kept."""
        state, output = batch.state, None
        with torch.set_grad_enabled(batch.following is not None):
            for symbol in batch.symbols:
                answer = self.net.controller(symbol.unsqueeze(0), state.hidden, state.stack.reading())
                if answer.hidden.requires_grad:
                    answer.hidden.register_hook(self._clipped)  # type: ignore[no-untyped-call]
                state = NetworkState(answer.hidden, state.stack.next(answer.actions, answer.pushed), state.rejected)
                output = answer.output
            self._states.append(detached(state))
            return None if batch.following is None or output is None else log_loss(output[..., 0, :], batch.following)

    @torch.no_grad()
    def update(self) -> None:
        """Move the weights of each network at its own rate, without an optimiser: there are many small updates."""
        rates = self.learning_rate()
        for weights in self.net.parameters():
            if weights.grad is not None:
                weights.sub_(rates.view(-1, *[1] * (weights.dim() - 1)) * weights.grad)

    @torch.no_grad()
    def check(self) -> None:
        """Keep the networks that are better than ever, and slow down those that are not: their best comes back."""
        entropies = known_entropy(Rounded(self.net), self.task, self.validation, self.device)
        better = entropies < self.best
        self.best = np.where(better, entropies, self.best)
        slower = ~better & (self.epochs_done - 1 > self.recipe.n_max / 2)
        self.rates = np.where(slower, self.rates / 2, self.rates)
        self.keep(better)
        self.bring_back(slower)

    def _streams(self) -> list[str]:
        """Return the streams of an epoch, each of which begins with empty memories."""
        recipe, rng = self.recipe, np.random.default_rng((_TRAIN_SEED, self.epochs_done))
        low, high = curriculum(self.epochs_done, recipe.n_max, recipe.smallest)
        pieces = [self.task.piece(int(n), rng) for n in rng.integers(low, high + 1, recipe.pieces)]
        return ["".join(pieces[at : at + recipe.emptied]) for at in range(0, len(pieces), recipe.emptied)]

    def _clipped(self, error: Tensor) -> Tensor:
        return error.clamp(-self.recipe.clip, self.recipe.clip)
