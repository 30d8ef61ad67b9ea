"""Training predictors of streams as Joulin & Mikolov 2015 do: stochastic gradient descent, an update a symbol.

Section 5 and the authors' program: after every symbol, the error of this symbol's prediction alone goes back through
the last 50 steps, errors are clipped element by element, and every weight moves. After an epoch without a better
validation, once the curriculum has got somewhere, the rate is halved and the best weights come back.

One thing differs: the steps that an error goes back through are computed anew with the weights of the moment, where the
authors' program keeps what they were when they were made.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.languages.tasks.streams import StreamTask, curriculum
from stacklens.models.base import NetworkState
from stacklens.models.device import one_thread
from stacklens.models.registry import build_model
from stacklens.models.rounding import Rounded
from stacklens.models.training.parts import detached
from stacklens.models.training.scores import known_entropy

__all__ = ["OnlineRecipe", "OnlineTraining"]

_TRAIN_SEED, _VALIDATION_SEED = 1, 2
_TINY = 1e-12  # probabilities are kept above it in logarithms


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


class OnlineTraining:
    """Networks ``seed``, ``seed + 1``, … on the same symbols, each with its own rate and its own best weights.

    Call `epoch` until `done`; `best_net` has every network as it was best on validation, with rounded actions where
    there are any.

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
        self.best_net = build_model(model, self.shape, seed=seed, nets=nets).to(device)
        self.rates = np.full(nets, recipe.rate)
        self.best = np.full(nets, math.inf)  # entropies on validation
        self.epochs_done = 0
        sizes = task.words_by_n(2, max(2, recipe.n_max - 1), recipe.validation, _VALIDATION_SEED)
        self.validation = ["".join(piece for some in sizes.values() for piece in some)]

    @property
    def done(self) -> bool:
        """Return whether the epochs are over or no network moves any more."""
        return self.epochs_done >= self.recipe.epochs or bool((self.rates < self.recipe.least_rate).all())

    def epoch(self) -> None:
        """Return nothing; read the pieces of an epoch, an update a symbol, and validate."""
        if self.done:
            return
        with one_thread():
            for words in self._streams():
                self._read(words)
            self._validate()
        self.epochs_done += 1

    def _streams(self) -> list[str]:
        """Return the streams of an epoch, each of which begins with empty memories."""
        recipe, rng = self.recipe, np.random.default_rng((_TRAIN_SEED, self.epochs_done))
        low, high = curriculum(self.epochs_done, recipe.n_max, recipe.smallest)
        pieces = [self.task.piece(int(n), rng) for n in rng.integers(low, high + 1, recipe.pieces)]
        return ["".join(pieces[at : at + recipe.emptied]) for at in range(0, len(pieces), recipe.emptied)]

    def _read(self, word: str) -> None:
        """Return nothing; predict every next symbol of a stream and learn from it."""
        number = {symbol: i for i, symbol in enumerate(self.task.alphabet)}
        symbols = torch.tensor([number[symbol] for symbol in word], device=self.device)
        counts = self.task.scored(word) if self.recipe.known_only else [True] * len(word)
        states: deque[NetworkState[Any]] = deque([self.net.initial_state(1)], maxlen=self.recipe.steps)
        for t in range(len(word) - 1):
            there = symbols[t + 1 - len(states) : t + 1]
            after = self._update(states[0], there, symbols[t + 1] if counts[t] else None)
            states.append(after)

    def _update(self, state: NetworkState[Any], symbols: Tensor, following: Tensor | None) -> NetworkState[Any]:
        """Return the state after ``symbols``; where the symbol ``following`` counts, learn from its prediction."""
        with torch.set_grad_enabled(following is not None):
            output = None
            for symbol in symbols:
                answer = self.net.controller(symbol.unsqueeze(0), state.hidden, state.stack.reading())
                if answer.hidden.requires_grad:
                    answer.hidden.register_hook(self._clipped)  # type: ignore[no-untyped-call]
                state = NetworkState(answer.hidden, state.stack.next(answer.actions, answer.pushed), state.rejected)
                output = answer.output
            if following is not None and output is not None:
                self.net.zero_grad()
                (-output[..., 0, following].clamp(min=_TINY).log()).sum().backward()  # type: ignore[no-untyped-call]
                self._descend()
        return detached(state)

    def _clipped(self, error: Tensor) -> Tensor:
        return error.clamp(-self.recipe.clip, self.recipe.clip)

    @torch.no_grad()
    def _descend(self) -> None:
        rates = torch.from_numpy(self.rates).to(self.device)
        for weights in self.net.parameters():
            if weights.grad is not None:
                weights.sub_(rates.view(-1, *[1] * (weights.dim() - 1)) * weights.grad)

    @torch.no_grad()
    def _validate(self) -> None:
        """Return nothing; keep the networks that are better than ever, and slow down those that are not."""
        entropies = known_entropy(Rounded(self.net), self.task, self.validation, self.device)
        better = entropies < self.best
        self.best = np.where(better, entropies, self.best)
        slower = ~better & (self.epochs_done > self.recipe.n_max / 2)
        self.rates = np.where(slower, self.rates / 2, self.rates)
        for weights, best in zip(self.net.parameters(), self.best_net.parameters(), strict=True):
            best[better] = weights[better]
            weights[slower] = best[slower]
