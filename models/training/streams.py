"""Training predictors of streams a window of steps at a time, by Adam: Joulin & Mikolov 2015, section 5.

Every network reads the same streams side by side, a window of steps at a time. Its memories are carried on from window
to window; gradients are not. What a network is worth is the paper's score: pieces of sizes far beyond those trained on,
of which everything that can be known has to be predicted, with rounded actions first.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from ...automata.enumeration import BoolArray, encode_words
from ...core.errors import StacklensError
from ...languages.streams import StreamTask, curriculum
from ...languages.task import Examples
from ..base import StackModel, one_thread
from ..networks import build_model
from ..networks.baselines import Baseline
from ..rounding import Rounded
from .loop import Batch, Score, Trainer, blur, by_length, cosine, detached, draw_noise, log_loss
from .recipes import MEMORIES, StreamRecipe

# ---- The streams that are learned and checked symbol by symbol, as the authors of Joulin & Mikolov 2015 cut them.


@dataclass(frozen=True)
class Reading:
    """A stream from empty memories on: symbols read, what follows each, and which are to be predicted, (T,) each."""

    symbols: npt.NDArray[np.int64]
    following: npt.NDArray[np.int64]
    counts: BoolArray

    def steps(self) -> Iterator[tuple[int, int, bool]]:
        """Yield each symbol, what follows, and whether that is to be predicted."""
        return zip(self.symbols.tolist(), self.following.tolist(), self.counts.tolist(), strict=True)


def learned_streams(task: StreamTask, pieces: Sequence[str], emptied: int, known_only: bool) -> Iterator[Reading]:
    """Yield the streams of an epoch; memories are emptied after so many ``pieces``. The symbol before comes first in
    each of them, but not in the first: there is none whose prediction counts.
    """
    before = ""
    for at in range(0, len(pieces), emptied):
        text = "".join(pieces[at : at + emptied])
        yield reading_of(task, text, known_only, before)
        before = text[-1]


def reading_of(task: StreamTask, text: str, known_only: bool, before: str = "") -> Reading:
    """Return the stream ``text``, through which memories are never emptied, behind the symbol ``before``."""
    symbols = encode_words([before + text], task.alphabet)[0][0].astype(np.int64)
    counts = np.array([False] * len(before) + task.scored(text), np.bool_)
    if not known_only:
        counts[:] = True
    return Reading(symbols[:-1], symbols[1:], counts[:-1])


# ---- What trained networks are worth: words with every output right, and pieces of streams ----
# Suzgun et al. 2019 score by whole words, Joulin & Mikolov 2015 by pieces of every size, predicted one after another.

_AT_ONCE = 256  # words

_WINDOW = 100  # steps whose outputs are kept at once


@one_thread()
@torch.no_grad()
def word_accuracy(model: StackModel[Any], examples: Examples, noisy: bool = False) -> npt.NDArray[np.float64]:
    """Return the share of words that each network gets right, (nets,), from 0 to 1; a single network is one. A word is
    right if, after every symbol, the outputs above 0.5 are those asked for (section 4.1).

    ``model``: a network whose outputs are in [0, 1] each, or many on a leading axis. ``examples``: the words, of which
    every position counts. ``noisy``: whether gates draw noise as in training, which the authors' program does.
    """
    model.train(noisy)
    like = next(model.parameters()).detach()
    right = torch.zeros(model.initial_state(1).rejected.shape[:-1], dtype=torch.int64, device=like.device)
    for rows in by_length(examples.lengths, _AT_ONCE):
        batch = Batch.of(examples, rows, like)
        outputs = model.run(batch.symbols, model.initial_state(batch.symbols.shape[1])).output.movedim(0, -2)
        targets = batch.targets if batch.targets.dim() == 3 else one_hot(batch.targets, outputs.shape[-1])
        hits = ((outputs > 0.5) == (targets.movedim(0, 1) > 0.5)).all(-1)  # (..., B, T)
        right = right + (hits | (batch.weights.T == 0)).all(-1).sum(-1)
    model.eval()
    return np.atleast_1d(right.cpu().numpy()) / max(1, len(examples))


def decode_outputs(net: StackModel[Any], symbols: npt.NDArray[Any], device: str = "cpu") -> npt.NDArray[np.int64]:
    """Return what ``net`` predicts after each of ``symbols`` (B, T), -1 beyond the end of a stream, (..., B, T)."""
    return _read_streams(net, symbols, device)[0]


@torch.no_grad()
def _read_streams(
    net: StackModel[Any],
    symbols: npt.NDArray[Any],
    device: str,
    following: npt.NDArray[Any] | None = None,
    counts: BoolArray | None = None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return what ``net`` predicts on streams (B, T), (..., B, T), and how surprising what is ``following`` where it
    ``counts`` is to it, in nats a symbol, (...); 0 where that is not asked.
    """
    read = torch.from_numpy(np.maximum(symbols, 0).astype(np.int64)).to(device)
    state, numbers, sums = net.initial_state(len(read)), list[npt.NDArray[np.int64]](), list[Tensor]()
    for begin in range(0, read.shape[1], _WINDOW):
        there = slice(begin, begin + _WINDOW)
        made = net.run(read[:, there].T, state)
        state = made.state
        numbers.append(np.moveaxis(net.output_numbers(made.output), 0, -1))
        if following is not None and counts is not None:
            shape = (len(made.output), *[1] * (made.output.dim() - 3), -1)  # (W, ..., B)
            lost = log_loss(made.output, torch.from_numpy(following[:, there]).long().T.to(device).view(shape))
            counted = torch.from_numpy(counts[:, there]).T.to(lost).view(shape)
            sums.append((lost * counted).sum((0, -1)).cpu())
    total = 1 if counts is None else max(1, int(counts.sum()))
    return np.concatenate(numbers, -1), np.asarray(sum(sums) / total, np.float64)


def _right_pieces(
    task: StreamTask, streams: Sequence[Sequence[str]], hits: npt.NDArray[Any]
) -> list[npt.NDArray[np.bool_]]:  # (..., streams, T)
    return [task.pieces_correct(pieces, hits[..., row, : sum(map(len, pieces))]) for row, pieces in enumerate(streams)]


@dataclass(frozen=True)
class PieceTest:
    """``strings`` pieces of each size, read in the order of their sizes by each of ``streams`` side by side. The
    authors' program reads one stream, whose stacks are emptied at its beginning only; more of them take less time.
    Raises StacklensError: they cannot be dealt out evenly.

    >>> from stacklens.languages.catalogue import get_task
    >>> from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
    >>> test = PieceTest(get_task("anbn"), (2, 4), strings=6, streams=2)
    >>> net = StackRNN(StackRNNConfig(("a", "b")))
    >>> test.right(net).shape, len(test.words()[0])
    ((3, 6), 62)
    """

    task: StreamTask  # the pieces
    sizes: tuple[int, int] = (2, 59)  # the smallest and the largest
    strings: int = 200  # how many pieces of each
    streams: int = 10  # how many streams they are dealt out to
    seed: int = 0  # of the pieces
    ahead: int = 2  # pieces of the smallest size with which a stream begins, unscored: memories are never empty again

    def __post_init__(self) -> None:
        if self.strings % self.streams:
            raise StacklensError(f"{self.strings} strings a size cannot be dealt out evenly to {self.streams} streams")

    def pieces(self) -> list[list[str]]:
        """Return the pieces of every stream in their order."""
        by_size = self.task.words_by_n(*self.sizes, self.strings, self.seed).values()
        first = next(iter(by_size))[: self.ahead]
        return [
            [*first, *(piece for some in by_size for piece in some[number :: self.streams])]
            for number in range(self.streams)
        ]

    def words(self) -> list[str]:
        """Return the streams."""
        return ["".join(pieces) for pieces in self.pieces()]

    def right(self, net: StackModel[Any], device: str = "cpu") -> BoolArray:
        """Return which pieces ``net`` predicts, (..., sizes, strings): all in them that can be known."""
        examples = self.task.examples(self.words())
        with one_thread():
            return self._right(examples.hits(decode_outputs(net, examples.symbols, device)))

    @one_thread()
    def right_and_entropy(self, net: StackModel[Any], device: str = "cpu") -> tuple[BoolArray, npt.NDArray[np.float64]]:
        """Return the same, and how surprising what can be known is to ``net``, in nats a symbol, (...)."""
        examples = self.task.examples(self.words())
        numbers, entropy = _read_streams(net, examples.symbols, device, np.maximum(examples.targets, 0), examples.mask)
        return self._right(examples.hits(numbers)), entropy

    def _right(self, hits: npt.NDArray[Any]) -> BoolArray:  # (..., sizes, strings)
        found = [row[..., self.ahead :] for row in _right_pieces(self.task, self.pieces(), hits)]
        each = self.sizes[1] - self.sizes[0] + 1, self.strings // self.streams
        return np.concatenate([row.reshape(*row.shape[:-1], *each) for row in found], -1)


@one_thread()
def stream_entropy(net: StackModel[Any], reading: Reading, device: str = "cpu") -> npt.NDArray[np.float64]:
    """Return how surprising what counts in one stream is to ``net``, in nats a symbol, (...)."""
    return _read_streams(net, reading.symbols[None], device, reading.following[None], reading.counts[None])[1]


# ---- Training predictors of streams a window of steps at a time, by Adam ----

_CHECK_SEED = 2_015  # of the pieces in a check, which training never draws
_TRAIN_SEED = 1
_DISTURBED = 1_000_000  # plus the epoch, the seed of disturbances
_CHECKED = 20  # streams of a check whose loss is taken, with a piece of each size
_SHORT_SIZES, _SHORT_PIECES = 4, 8  # of the streams with small pieces in a check


class StreamTraining(Trainer):
    """Networks ``seed``, ``seed + 1``, … trained side by side on the streams of one task. The streams do not depend on
    the seed: network n of many becomes what ``seed + n`` becomes alone, up to floating-point sums.

    ``model``: "stack-rnn" or "list-rnn", or "rnn", "lstm" or "scrn", which have no memory to round.

    >>> from stacklens.languages.catalogue import get_task
    >>> from stacklens.models.training.recipes import stream_recipe
    >>> training = StreamTraining(stream_recipe("anbn"), get_task("anbn"), nets=2)
    >>> training.epoch()
    >>> training.epochs_done, len(training.best), training.network(1).n_stacks
    (1, 2, 1)
    """

    PROGRESS = ("clean_checks", "losses")
    recipe: StreamRecipe  # how to train

    def __init__(
        self,
        recipe: StreamRecipe,
        task: StreamTask,
        *,
        seed: int = 0,  # of the first network's weights
        nets: int = 1,  # how many networks
        model: str = "stack-rnn",
        device: str = "cpu",  # where to train, in torch's words
    ) -> None:
        self.device, self.clip, self.check_every = device, recipe.clip, recipe.check_every
        self.recipe, self.task, self.seed, self.n_nets, self.model = recipe, task, seed, nets, model
        self.shape = {"alphabet": task.alphabet, **recipe.shape}
        memory = {"stack_limit": recipe.cells} if model in MEMORIES else {}
        self.net = build_model(model, {**self.shape, **memory}, seed=seed, nets=nets).to(device)
        if recipe.single:
            self.net.float()
        if recipe.forget_bias:
            if not isinstance(self.net, Baseline) or self.net.shape.controller != "lstm":
                raise StacklensError(f"{self.net.name}: expected an LSTM for a forget bias of {recipe.forget_bias:g}")
            size = self.net.shape.hidden
            with torch.no_grad():
                for layer in range(self.net.layers):
                    self.net.get_parameter(f"hidden_{layer}_bias")[..., size : 2 * size] += recipe.forget_bias
        weights, rate, decay = list(self.net.parameters()), recipe.rate, recipe.decay
        self.optimizer = (
            torch.optim.AdamW(weights, lr=rate, weight_decay=decay) if decay else torch.optim.Adam(weights, lr=rate)
        )
        self.clean_checks = [0] * nets
        self.losses = torch.full((nets,), math.inf, dtype=torch.float64)
        # the streams of a check as their pieces and as examples: every size comes equally often as the first of a
        # stream, where memories are empty, as the second, and so on; further ones have small pieces only
        low, high = recipe.check_sizes
        by_size = task.words_by_n(low, high, recipe.check_pieces, _CHECK_SEED)
        rng, every = np.random.default_rng(_CHECK_SEED), np.arange(low, high + 1)
        orders = np.stack([rng.permutation(every) for _ in range(recipe.check_pieces)], 1)
        streams = [[by_size[n][place] for place, n in enumerate(row)] for row in orders.tolist()]
        small = rng.integers(recipe.smallest, recipe.smallest + _SHORT_SIZES, (recipe.check_short, _SHORT_PIECES))
        streams += [[task.piece(n, rng) for n in row] for row in small.tolist()]
        self._pieces, self._checks = streams, task.examples(["".join(pieces) for pieces in streams])
        self.checked = f"{self.checked_pieces} pieces of sizes {low} to {high}"
        self.kind, self.subject, self.source = task.kind, task.name, recipe.source
        self.begin()

    @property
    def settled(self) -> bool:
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
        share, last = max(0.0, self._share_since_grown), self.recipe.last_rate
        return self.recipe.rate * (last + (1 - last) * cosine(share))

    def check(self) -> None:
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

    def settings(self) -> str:
        settings = {**asdict(self.recipe), **self.shape}
        del settings["shape"], settings["source"]
        return " ".join(f"{key}={value}" for key, value in sorted(settings.items()))

    @property
    def _windows(self) -> int:
        return max(1, self.recipe.windows // self.recipe.beginnings)

    @property
    def _share_since_grown(self) -> float:  # negative while sizes grow
        grown = self.recipe.n_max - 3
        return (self.epochs_done - grown) / max(1, self.recipe.epochs - grown)

    @property
    def _rising(self) -> float:
        return min(1.0, max(0.0, 2 * self._share_since_grown))

    @property
    def check_due(self) -> bool:
        return super().check_due and (not self.recipe.noise or self._rising == 1)

    def _streams(self, part: int = 0) -> tuple[Tensor, Tensor]:
        """Return the symbols of a part of an epoch, (B, T + 1) int64, and which count where they are predicted."""
        recipe = self.recipe
        sizes = curriculum(self.epochs_done, recipe.n_max, recipe.smallest)
        length = self._windows * recipe.window + 1
        rng = np.random.default_rng((_TRAIN_SEED, self.epochs_done, *([part] if part else [])))
        words = []
        for _ in range(recipe.streams):
            text = ""
            while len(text) < length:
                text += self.task.piece(int(rng.integers(sizes[0], sizes[1] + 1)), rng)
            words.append(text[:length])
        symbols = torch.from_numpy(encode_words(words, self.task.alphabet)[0].astype(np.int64))
        if recipe.counted == "all":
            return symbols, torch.ones_like(symbols, dtype=torch.bool)
        known = [[False, *self.task.scored(word)[:-1]] for word in words]  # whether the symbol before tells
        return symbols, torch.tensor(known)

    def _errors(self, net: StackModel[Any]) -> np.ndarray:
        hits = self._checks.hits(decode_outputs(net, self._checks.symbols, self.device))
        wrong = [(~row).sum(-1) for row in _right_pieces(self.task, self._pieces, hits)]
        return np.asarray(np.sum(wrong, 0))
