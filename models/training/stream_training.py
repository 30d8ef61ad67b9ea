"""Training predictors of streams a window of steps at a time, by Adam: Joulin & Mikolov 2015, section 5.

Every network reads the same streams side by side, a window of steps at a time. Its memories are carried on from window
to window; gradients are not. What a network is worth is the paper's score: pieces of sizes far beyond those trained on,
of which everything that can be known has to be predicted, with rounded actions first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.languages.tasks.streams import StreamTask, curriculum
from stacklens.languages.tasks.task import Examples
from stacklens.models.base import StackModel
from stacklens.models.networks.baselines import Baseline
from stacklens.models.registry import build_model
from stacklens.models.rounding import Rounded
from stacklens.models.training.loop import cosine, detached, log_loss
from stacklens.models.training.noise import blur, draw_noise
from stacklens.models.training.scores import PieceTest, decode_outputs
from stacklens.models.training.stream_recipes import MEMORIES, StreamRecipe
from stacklens.models.training.trainer import Score, Trainer

__all__ = ["StreamTraining"]

_CHECK_SEED = 2_015  # of the pieces in a check, which training never draws
_TRAIN_SEED = 1
_DISTURBED = 1_000_000  # plus the epoch, the seed of disturbances
_CHECKED = 20  # streams of a check whose loss is taken, with a piece of each size
_SHORT_SIZES, _SHORT_PIECES = 4, 8  # of the streams with small pieces in a check


class StreamTraining(Trainer):
    """Networks ``seed``, ``seed + 1``, … trained side by side on the streams of one task.

    The streams do not depend on the seed: network n of many becomes what ``seed + n`` becomes alone, up to
    floating-point sums.

    Args:
        recipe: how to train.
        task: the streams.
        seed: of the first network's weights.
        nets: how many networks.
        model: "stack-rnn" or "list-rnn", or "rnn", "lstm" or "scrn", which have no memory to round.
        shape: changes to the recipe's shape, such as ``{"n_stacks": 1}``.
        device: where to train, in torch's words.

    >>> from stacklens.languages.catalogue import get_task
    >>> from stacklens.models.training.stream_recipes import stream_recipe
    >>> training = StreamTraining(stream_recipe("anbn"), get_task("anbn"), nets=2)
    >>> training.epoch()
    >>> training.epochs_done, len(training.best), training.network(1).n_stacks
    (1, 2, 1)
    """

    def __init__(
        self,
        recipe: StreamRecipe,
        task: StreamTask,
        *,
        seed: int = 0,
        nets: int = 1,
        model: str = "stack-rnn",
        shape: dict[str, Any] | None = None,
        device: str = "cpu",
    ) -> None:
        self.device, self.clip, self.check_every = device, recipe.clip, recipe.check_every
        self.recipe, self.task, self.seed, self.n_nets, self.model = recipe, task, seed, nets, model
        self.shape = {"alphabet": task.alphabet, **recipe.shape, **(shape or {})}
        memory = {"stack_limit": recipe.cells} if model in MEMORIES else {}
        self.net = build_model(model, {**self.shape, **memory}, seed=seed, nets=nets).to(device)
        if recipe.single:
            self.net.float()
        if recipe.forget_bias:
            _forget_less(self.net, recipe.forget_bias)
        weights, rate, decay = list(self.net.parameters()), recipe.rate, recipe.decay
        self.optimizer = (
            torch.optim.AdamW(weights, lr=rate, weight_decay=decay) if decay else torch.optim.Adam(weights, lr=rate)
        )
        self.clean_checks = [0] * nets
        self.losses = torch.full((nets,), math.inf, dtype=torch.float64)
        self._pieces, self._checks = _check_streams(task, recipe)
        sizes = " to ".join(map(str, recipe.check_sizes))
        self.checked = f"{self.checked_pieces} pieces of sizes {sizes}"
        self.kind, self.subject, self.source = task.kind, task.name, recipe.source
        self.begin()

    @property
    def total_epochs(self) -> int:
        """Return the recipe's number of epochs."""
        return self.recipe.epochs

    @property
    def settled(self) -> bool:
        """Return whether a rounded network has been without an error often enough."""
        return max(self.clean_checks) >= self.recipe.patience

    @property
    def symbols_read(self) -> int:
        """Return how many symbols each network has read in training."""
        return self.updates * self.recipe.window * self.recipe.streams

    @property
    def updates(self) -> int:
        """Return how often weights were moved."""
        return self.epochs_done * self.recipe.beginnings * self._windows

    @property
    def checked_pieces(self) -> int:
        """Return how many pieces a check has: errors in `best` are of so many."""
        if self.recipe.by_loss:
            return _CHECKED * (self.recipe.check_sizes[1] - self.recipe.check_sizes[0] + 1)
        return sum(map(len, self._pieces))

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the windows of fresh streams, symbols and which count, (B, W + 1) each; memories begin empty."""
        total = torch.zeros(self.n_nets, dtype=torch.float64, device=self.device)
        self._disturbances = torch.Generator().manual_seed(_DISTURBED + self.epochs_done)
        for part in range(self.recipe.beginnings):
            symbols, counts = (tensor.to(self.device) for tensor in self._streams(part))
            self._state, self._lost = self.net.initial_state(self.recipe.streams), torch.zeros_like(total)
            for begin in range(0, self._windows * self.recipe.window, self.recipe.window):
                there = slice(begin, begin + self.recipe.window + 1)
                yield symbols[:, there], counts[:, there]
            total += self._lost / self._windows
        self.losses = total / self.recipe.beginnings

    def costs(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """Return what each network loses on a window, and what its graded actions cost; memories are carried on."""
        symbols, counts = batch
        share, noise = self._rising if self.recipe.noise else 0.0, None
        if share:
            steps, amount = symbols.shape[1] - 1, share * self.recipe.noise
            noise = draw_noise(self.net, steps, len(symbols), amount, 1.0, self._disturbances)
        made = self.net.run(symbols[:, :-1].T, detached(self._state), noise)
        self._state = made.state
        lost = log_loss(made.output, symbols[:, 1:].T.unsqueeze(1))  # (W, nets, B)
        counted = counts[:, 1:].T.unsqueeze(1).to(lost)  # (W, 1, B)
        losses = (lost * counted).sum((0, 2)) / counted.sum().clamp(min=1)
        self._lost += losses.detach()
        if not self.net.n_stacks:
            return losses
        graded = 1 - made.actions.square().sum(-1)  # (W, nets, B, n_stacks), 0 for whole operations
        losses = losses + self._rising * self.recipe.sharpness * graded.mean((0, 2, 3))
        return losses if noise is None else losses + share * self.recipe.blur_cost * blur(self.net, made).mean((0, 2))

    def learning_rate(self) -> float:
        """Return a rate that is full while sizes grow, then falling as a cosine."""
        share, last = max(0.0, self._share_since_grown), self.recipe.last_rate
        return self.recipe.rate * (last + (1 - last) * cosine(share))

    def check(self) -> None:
        """Count every network's errors as the paper does, and keep what is best."""
        whole = self.whole(self.net.state_dict())
        if self.recipe.by_loss:
            test = PieceTest(self.task, self.recipe.check_sizes, _CHECKED, _CHECKED, _CHECK_SEED)
            right, losses = test.right_and_entropy(whole, self.device)
            for number, errors in enumerate((~right).sum((-2, -1)).tolist()):
                self.keep_if_better(number, Score(errors, errors, float(losses[number])))
            return
        rounded, analog = (self._errors(net) for net in (Rounded(whole), whole))
        for number in range(self.n_nets):
            score = Score(int(rounded[number]), int(analog[number]), float(self.losses[number]))
            self.keep_if_better(number, score)
            clean = score.rounded_errors == 0 and self.epochs_done >= self.recipe.n_max - 3
            self.clean_checks[number] = self.clean_checks[number] + 1 if clean else 0

    def identity(self) -> dict[str, Any]:
        """Return what a continued training has to share with its beginning, as plain data."""
        settings = {**asdict(self.recipe), **self.shape}
        del settings["shape"], settings["source"]
        summary = " ".join(f"{key}={value}" for key, value in sorted(settings.items()))
        identity = {"model": self.model, "language": self.subject, "seed": self.seed, "nets": self.n_nets}
        return {**identity, "recipe": summary}

    def progress_state(self) -> dict[str, Any]:
        """Return the losses, and how often each network has been without an error."""
        return {
            "clean_checks": self.clean_checks,
            "losses": self.losses,
        }

    def apply_state(self, state: dict[str, Any]) -> None:
        """Put back what `progress_state` gave."""
        self.clean_checks, self.losses = list(state["clean_checks"]), state["losses"]

    @property
    def _windows(self) -> int:
        """Return how many windows there are from one beginning to the next."""
        return max(1, self.recipe.windows // self.recipe.beginnings)

    @property
    def _share_since_grown(self) -> float:
        """Return which share of the epochs after sizes have grown is over; negative while they grow."""
        grown = self.recipe.n_max - 3
        return (self.epochs_done - grown) / max(1, self.recipe.epochs - grown)

    @property
    def _rising(self) -> float:
        """Return the share of what comes in the end that has been reached: 0 while sizes grow, then rising to 1."""
        return min(1.0, max(0.0, 2 * self._share_since_grown))

    @property
    def check_due(self) -> bool:
        """Return whether networks are checked now: not before they are disturbed as much as they will be."""
        return super().check_due and (not self.recipe.noise or self._rising == 1)

    def _streams(self, part: int = 0) -> tuple[Tensor, Tensor]:
        """Return the symbols of a part of an epoch, (B, T + 1) int64, and which count where they are predicted."""
        recipe = self.recipe
        sizes = curriculum(self.epochs_done, recipe.n_max, recipe.smallest)
        length = self._windows * recipe.window + 1
        rng = np.random.default_rng((_TRAIN_SEED, self.epochs_done, *([part] if part else [])))
        words = [_stream(self.task, length, sizes, rng) for _ in range(recipe.streams)]
        number = {symbol: i for i, symbol in enumerate(self.task.alphabet)}
        symbols = torch.tensor([[number[symbol] for symbol in word] for word in words])
        if recipe.counted == "all":
            return symbols, torch.ones_like(symbols, dtype=torch.bool)
        known = [[False, *self.task.scored(word)[:-1]] for word in words]  # whether the symbol before tells
        return symbols, torch.tensor(known)

    def _errors(self, net: StackModel[Any]) -> np.ndarray:
        """Return how many pieces of the check every network gets wrong, (nets,) int64."""
        hits = self._checks.hits(decode_outputs(net, self._checks.symbols, self.device))
        wrong = np.zeros(self.n_nets, dtype=np.int64)
        for row, pieces in enumerate(self._pieces):
            length = sum(map(len, pieces))
            wrong += (~self.task.pieces_correct(pieces, hits[:, row, :length])).sum(-1)
        return wrong


def _forget_less(net: StackModel[Any], bias: float) -> None:
    """Add ``bias`` to the forget gates of every layer of LSTMs.

    Raises:
        StacklensError: these are no LSTMs.
    """
    if not isinstance(net, Baseline) or net.shape.controller != "lstm":
        raise StacklensError(f"{net.name}: expected an LSTM for a forget bias of {bias:g}")
    size = net.shape.hidden
    with torch.no_grad():
        for layer in range(net.layers):
            net.get_parameter(f"hidden_{layer}_bias")[..., size : 2 * size] += bias


def _stream(task: StreamTask, length: int, sizes: tuple[int, int], rng: np.random.Generator) -> str:
    """Return the first ``length`` symbols of a random stream."""
    pieces, found = [], 0
    while found < length:
        pieces.append(task.piece(int(rng.integers(sizes[0], sizes[1] + 1)), rng))
        found += len(pieces[-1])
    return "".join(pieces)[:length]


def _check_streams(task: StreamTask, recipe: StreamRecipe) -> tuple[list[list[str]], Examples]:
    """Return the streams of a check as their pieces and as examples.

    Every stream has a few pieces of different sizes, and every size comes equally often as the first of a stream,
    where memories are empty, as the second, and so on. Further ones have small pieces only.
    """
    low, high = recipe.check_sizes
    by_size = task.words_by_n(low, high, recipe.check_pieces, _CHECK_SEED)
    rng, sizes = np.random.default_rng(_CHECK_SEED), np.arange(low, high + 1)
    orders = [rng.permutation(sizes) for _ in range(recipe.check_pieces)]
    streams = [
        [by_size[n][place] for place, n in enumerate(row)] for row in zip(*map(np.ndarray.tolist, orders), strict=True)
    ]
    small = rng.integers(recipe.smallest, recipe.smallest + _SHORT_SIZES, (recipe.check_short, _SHORT_PIECES))
    streams += [[task.piece(n, rng) for n in row] for row in small.tolist()]
    return streams, task.examples(["".join(pieces) for pieces in streams])
