"""Training as Hao et al. 2018 do: trials, each on words of its own until it gets no better; the last network counts.

Section 5, and what the authors' program adds to it: 800 words, drawn anew for every trial, in batches of 10 that are
shuffled anew in every epoch; Adam at 0.01 with weight decay 0.01; after every epoch the accuracy on 100 further words,
and an end after five epochs that do not exceed the highest so far.

All trials run side by side on the leading axis, each on its own words, and none knows of the others: a trial comes to
what it comes to alone. One that has stopped is trained on with the rest and not looked at any more.

What a batch costs is summed over the steps of its words, and not averaged, as in that program. It matters: next to the
mean over all positions the weight decay is ten times as strong, and with it no gate of these networks ever closes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..core.errors import StacklensError, UnknownNameError
from ..languages.task import Examples, Task
from ..models.base import StackModel, one_thread
from ..models.networks import build_model
from ..models.training.loop import SideBySide, by_length, log_loss

LossKind = Literal["step means", "step shares", "sum"]
# "step means"   at every step the mean over the words where it counts, summed over steps (reversal, exclusive or)
# "step shares"  at every step the sum over those words, as a share of the whole batch (formulas)
# "sum"          over words and steps (next-symbol tasks)

_TEST_SEED = 10**6  # the words that all trials are tested on
_AT_ONCE = 250  # words of a test


@dataclass(frozen=True)
class TrialSettings:
    """How trials are trained; the defaults are the paper's."""

    words: int = 800  # how many are drawn to train on
    dev_words: int = 100  # to stop by
    test_words: int = 1_000  # to test on
    batch: int = 10  # words a step of the optimiser
    rate: float = 0.01  # of Adam
    weight_decay: float = 0.01  # of Adam
    epochs: int = 100  # at most so many
    patience: int = 5  # so many epochs, one after the other, that do not exceed the highest accuracy end a trial
    loss: LossKind = "step means"  # how what a batch costs is put together
    # words are read on to this length as null symbols while training, twice as far while testing; None where they end
    # when they end. A network that reads ahead or lags behind can tell
    padded: int | None = None

    def __post_init__(self) -> None:
        if self.loss not in get_args(LossKind):
            raise UnknownNameError("loss", self.loss, list(get_args(LossKind)))
        sizes = (self.words, self.dev_words, self.test_words, self.batch, self.epochs, self.patience)
        if min(sizes) < 1 or self.words % self.batch:
            raise StacklensError(f"a trial needs words in whole batches, and epochs, at least 1 of each; not {sizes}")


@dataclass(frozen=True)
class Trial:
    """What a trial came to; accuracies are shares of the symbols that count."""

    seed: int  # what weights and words were drawn from
    network: StackModel[Any]  # as it was when the trial ended: the paper's are the last ones, and not the best
    best: float  # the highest accuracy on the words to stop by
    last: float  # the network's, which is that of the last epoch
    test: float  # its accuracy on the test words
    epochs: int  # how many there were


@one_thread()
def run_trials(
    model: str,  # a name of the registry
    config: dict[str, Any],  # its shape besides the alphabet
    task: Task,  # what to learn; its outputs are symbols
    seeds: Sequence[int],  # of the trials
    settings: TrialSettings | None = None,  # how they are trained; None for the paper's
    device: str = "cpu",  # where
) -> list[Trial]:
    """Return a trial of each of ``seeds``, in this order, trained side by side. Raises StacklensError: the task asks
    for sets of symbols, or it has no null symbol to pad with.
    """
    if task.kind == "next set":
        raise StacklensError(f"trials learn to say symbols, and {task.name} asks for sets; take a Fitting for it")
    loop = _Trials(model, {"alphabet": task.alphabet, **config}, task, seeds, settings or TrialSettings(), device)
    loop.run()
    return loop.trials()


class _Words(NamedTuple):
    """Words as tensors: ``symbols`` and ``targets`` (..., W, T) int, ``counts`` (..., W, T) bool."""

    symbols: Tensor
    targets: Tensor
    counts: Tensor

    @classmethod
    def of(cls, examples: Examples, null: int | None, padded: int | None, device: str) -> _Words:
        """Return ``examples``, read on to ``padded`` symbols as ``null``."""
        arrays = (examples.symbols, examples.targets, examples.mask)
        symbols, targets, counts = (torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays)
        if padded is not None:
            room = (0, padded - symbols.shape[1])
            symbols, targets = (torch.nn.functional.pad(part, room, value=-1) for part in (symbols, targets))
            symbols, counts = symbols.masked_fill(symbols < 0, null or 0), torch.nn.functional.pad(counts, room)
        return cls(symbols.long(), targets.clamp(min=0).long(), counts)

    @classmethod
    def stacked(cls, several: Sequence[_Words]) -> _Words:
        """Return as many words for every network, (N, W, T), padded with -1 to the longest."""
        parts = (
            pad_sequence([part.T for part in same], batch_first=True, padding_value=beyond).mT
            for same, beyond in zip(zip(*several, strict=True), (-1, 0, 0), strict=True)
        )
        return cls(*parts)

    def chosen(self, rows: Tensor) -> _Words:
        """Return the words ``rows`` (N, B), those of each network, cut to the longest of them."""
        nets = torch.arange(len(rows), device=rows.device).unsqueeze(1)
        parts = [part[nets, rows] for part in self]
        steps = int((parts[0] >= 0).sum(-1).max())
        return _Words(*(part[..., :steps] for part in parts))

    def pieces(self, size: int) -> list[_Words]:
        """Return the words in pieces of ``size``, shortest words first, each piece cut to its longest."""
        lengths = (self.symbols >= 0).sum(-1)
        if lengths.dim() > 1:
            return [self]
        groups = by_length(lengths.cpu().numpy(), size)
        return [_Words(*(part[rows, : int(lengths[rows].max())] for part in self)) for rows in groups]


class _Trials(SideBySide):
    """All trials of one model on one task; what is kept of a network is how it was when its trial ended."""

    recipe: TrialSettings

    def __init__(
        self, model: str, config: dict[str, Any], task: Task, seeds: Sequence[int], settings: TrialSettings, device: str
    ) -> None:
        self.model, self.shape, self.task, self.seeds = model, config, task, tuple(seeds)
        self.recipe, self.device, self.n_nets = settings, device, len(self.seeds)
        # as the authors' program begins: networks with a stack do so by themselves, others get weights that are normal
        # with deviation 1 / sqrt(rows), and biases of 0 too
        singles = []
        for seed in self.seeds:
            single, generator = build_model(model, config, seed=seed), torch.Generator().manual_seed(seed)
            for value in single.parameters() if single.n_stacks == 0 else ():
                if value.ndim == 2:
                    value.data.normal_(0, len(value) ** -0.5, generator=generator)
                else:
                    value.data.zero_()
            singles.append(single.state_dict())
        nets = build_model(model, config, nets=len(self.seeds))
        nets.load_state_dict({name: torch.stack([single[name] for single in singles]) for name in singles[0]})
        self.net = nets.to(device)
        self.optimizer = torch.optim.Adam(
            self.net.parameters(), lr=settings.rate, weight_decay=settings.weight_decay, foreach=True
        )
        self.train_words = self._drawn(settings.words, 0)
        self.dev_words = self._drawn(settings.dev_words, 1)
        self.best, self.last = np.full(self.n_nets, -1.0), np.zeros(self.n_nets)
        self.stale, self.epochs = np.zeros(self.n_nets, np.int64), np.zeros(self.n_nets, np.int64)
        self.begin()

    @property
    def settled(self) -> bool:
        return bool((self.stale >= self.recipe.patience).all())

    def learning_rate(self) -> float:
        return self.recipe.rate

    def batches(self) -> Iterator[_Words]:
        size, batch = self.recipe.words, self.recipe.batch
        orders = [np.random.default_rng([seed, self.epochs_done]).permutation(size) for seed in self.seeds]
        rows = torch.from_numpy(np.stack(orders)).to(self.device).view(len(orders), -1, batch)
        yield from map(self.train_words.chosen, rows.unbind(1))

    def costs(self, batch: _Words) -> Tensor:
        return _losses(_distributions(self.net, batch.symbols), batch, self.recipe.loss)

    def check(self) -> None:
        # the last network counts, and five epochs without a better one end a trial
        accuracies = np.array(_accuracies_of_networks(self.net, self.dev_words))
        going = self.stale < self.recipe.patience
        better = going & (accuracies > self.best)
        self.last = np.where(going, accuracies, self.last)
        self.best = np.where(better, accuracies, self.best)
        self.stale = np.where(better, 0, self.stale + going)
        self.epochs += going
        self.keep(going)

    def trials(self) -> list[Trial]:
        examples = self.task.sample(self.recipe.test_words, split="test", seed=_TEST_SEED)
        test = _accuracies_of_networks(self.whole(self.best_weights), self._words(examples, 2))
        return [
            Trial(seed, self.network(n), float(self.best[n]), float(self.last[n]), test[n], int(self.epochs[n]))
            for n, seed in enumerate(self.seeds)
        ]

    def _drawn(self, n: int, part: int) -> _Words:
        drawn = [self.task.sample(n, seed=2 * seed + part) for seed in self.seeds]
        return _Words.stacked([self._words(examples, 1) for examples in drawn])

    def _words(self, examples: Examples, times: int) -> _Words:
        padded, null = self.recipe.padded, self.shape.get("null")
        if padded is not None and null is None:
            raise StacklensError(f"{self.task.name} has no null symbol to pad words with; leave `padded` out")
        number = None if null is None else self.task.alphabet.index(null)
        return _Words.of(examples, number, None if padded is None else times * padded, self.device)


def _distributions(net: StackModel[Any], symbols: Tensor) -> Tensor:  # (T, ..., W, O)
    by_step = symbols.movedim(-1, 0)
    return net.run(by_step, net.initial_state(by_step.shape[-1])).output


def _losses(answers: Tensor, words: _Words, kind: LossKind) -> Tensor:
    """Return what each network has to pay, (N,)."""
    targets, counts = words.targets.movedim(-1, 0), words.counts.movedim(-1, 0).to(answers)
    if kind == "step means":
        counts = counts / counts.sum(-1, keepdim=True).clamp(min=1)
    elif kind == "step shares":
        counts = counts / counts.shape[-1]
    return (log_loss(answers, targets, least=None) * counts).sum((0, -1))


@torch.no_grad()
def _accuracies_of_networks(net: StackModel[Any], words: _Words) -> list[float]:
    """Return the share of the symbols that count which each network says right."""
    right, total = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for part in words.pieces(_AT_ONCE):
        found = _distributions(net, part.symbols).argmax(-1).movedim(0, -1)  # (N, W, T)
        right = right + ((found == part.targets) & part.counts).sum((-2, -1)).cpu()
        total = total + part.counts.sum((-2, -1)).cpu()
    return [float(share) for share in right / total]
