"""What trained networks are worth: words of which everything is said right, and pieces of streams.

Suzgun et al. 2019 score by whole words, Joulin & Mikolov 2015 by pieces of every size, predicted one after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from stacklens.automata.compiled import BoolArray
from stacklens.errors import StacklensError
from stacklens.languages.tasks.streams import StreamTask
from stacklens.languages.tasks.task import Examples
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.models.training.loop import in_order, log_loss
from stacklens.models.training.online_streams import Reading
from stacklens.models.training.supervised import Batch

__all__ = ["PieceTest", "decode_outputs", "stream_entropy", "word_accuracy"]

_AT_ONCE = 256  # words

_WINDOW = 100  # steps whose outputs are kept at once


@one_thread()
@torch.no_grad()
def word_accuracy(model: StackModel[Any], examples: Examples, noisy: bool = False) -> npt.NDArray[np.float64]:
    """Return the share of words that each network gets right, (nets,), from 0 to 1; a single network is one.

    A word is right if, after every symbol, the outputs above 0.5 are those asked for (section 4.1); of a transduction
    that is one of them.

    Args:
        model: a network whose outputs are in [0, 1] each, or many on a leading axis.
        examples: the words, of which every position counts.
        noisy: whether gates that draw noise in training draw it here too, as the authors' program does.
    """
    model.train(noisy)
    like = next(model.parameters()).detach()
    right = torch.zeros(model.initial_state(1).rejected.shape[:-1], dtype=torch.int64, device=like.device)
    for rows in in_order(examples.lengths, _AT_ONCE):
        batch = Batch.of(examples, rows, like)
        outputs = model.run(batch.symbols, model.initial_state(batch.symbols.shape[1])).output  # (T, ..., B, O)
        targets = batch.targets if batch.targets.dim() == 3 else one_hot(batch.targets, outputs.shape[-1])
        steps, words = batch.symbols.shape
        leading = (1,) * (outputs.dim() - 3)
        hits = ((outputs > 0.5) == (targets > 0.5).view(steps, *leading, words, -1)).all(-1)
        counts = (batch.weights > 0).view(steps, *leading, words)
        right = right + (hits | ~counts).all(0).sum(-1)
    model.eval()
    return np.atleast_1d(right.cpu().numpy()) / max(1, len(examples))


@torch.no_grad()
def decode_outputs(net: StackModel[Any], symbols: npt.NDArray[Any], device: str = "cpu") -> npt.NDArray[np.int64]:
    """Return what ``net`` predicts after each of ``symbols`` (B, T), -1 beyond the end of a stream, (..., B, T)."""
    return np.concatenate([numbers for numbers, _ in _windows(net, symbols, device)], -1)


def _windows(net: StackModel[Any], symbols: npt.NDArray[Any], device: str) -> Any:
    """Yield the numbers of the outputs, (..., B, W), and the outputs themselves, (W, ..., B, O), window by window."""
    read = torch.from_numpy(np.maximum(symbols, 0).astype(np.int64)).to(device)
    state = net.initial_state(len(read))
    for begin in range(0, read.shape[1], _WINDOW):
        made = net.run(read[:, begin : begin + _WINDOW].T, state)
        state = made.state
        yield np.moveaxis(net.output_numbers(made.output), 0, -1), made.output


@dataclass(frozen=True)
class PieceTest:
    """``strings`` pieces of each size, read in the order of their sizes by each of ``streams`` side by side.

    The authors' program reads one stream, whose stacks are emptied at its beginning only; more of them take less time.

    Attributes:
        task: the pieces.
        sizes: the smallest and the largest.
        strings: how many pieces of each.
        streams: how many streams they are dealt out to.
        seed: of the pieces.
        ahead: so many pieces of the smallest size stand at the beginning of each stream and are not scored: memories
            are never empty again, so that one stream has one beginning however long it is.

    Raises:
        StacklensError: they cannot be dealt out evenly.

    >>> from stacklens.languages.catalogue import get_task
    >>> from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
    >>> test = PieceTest(get_task("anbn"), (2, 4), strings=6, streams=2)
    >>> net = StackRNN(StackRNNConfig(("a", "b")))
    >>> test.right(net).shape, len(test.words()[0])
    ((3, 6), 62)
    """

    task: StreamTask
    sizes: tuple[int, int] = (2, 59)
    strings: int = 200
    streams: int = 10
    seed: int = 0
    ahead: int = 2

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

    @torch.no_grad()
    def right_and_entropy(self, net: StackModel[Any], device: str = "cpu") -> tuple[BoolArray, npt.NDArray[np.float64]]:
        """Return the same, and how surprising what can be known is to ``net``, in nats a symbol, (...)."""
        examples = self.task.examples(self.words())
        numbers, entropy = _read(net, examples.symbols, np.maximum(examples.targets, 0), examples.mask, device)
        return self._right(examples.hits(numbers)), entropy

    def _right(self, hits: npt.NDArray[Any]) -> BoolArray:
        """Return which pieces are right, (..., sizes, strings), given which outputs are, (..., streams, T)."""
        found = [
            self.task.pieces_correct(pieces, hits[..., row, : sum(map(len, pieces))])[..., self.ahead :]
            for row, pieces in enumerate(self.pieces())
        ]
        each = self.sizes[1] - self.sizes[0] + 1
        parts = [row.reshape(*row.shape[:-1], each, self.strings // self.streams) for row in found]
        return np.concatenate(parts, -1)


@torch.no_grad()
def stream_entropy(net: StackModel[Any], reading: Reading, device: str = "cpu") -> npt.NDArray[np.float64]:
    """Return how surprising what counts in one stream is to ``net``, in nats a symbol, (...)."""
    symbols, following, counts = reading.symbols[None], reading.following[None], reading.counts[None]
    return _read(net, symbols, following, counts, device)[1]


def _read(
    net: StackModel[Any], symbols: npt.NDArray[Any], following: npt.NDArray[Any], counts: BoolArray, device: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return what ``net`` predicts on streams (B, T), (..., B, T), and its loss a symbol where symbols count, (...)."""
    mask, targets = torch.from_numpy(counts), torch.from_numpy(following).long()
    predicted: list[npt.NDArray[np.int64]] = []
    sums: list[Tensor] = []
    done = 0
    with one_thread():
        for numbers, output in _windows(net, symbols, device):
            predicted.append(numbers)
            there = slice(done, done + len(output))
            done += len(output)
            expected = targets[:, there].T.to(device)  # (W, B)
            lost = log_loss(output, expected.view(len(output), *[1] * (output.dim() - 3), -1))
            counted = mask[:, there].T.to(lost).view(len(output), *[1] * (output.dim() - 3), -1)
            sums.append((lost * counted).sum((0, -1)).cpu())
    entropy = np.asarray(sum(sums) / max(1, int(counts.sum())), np.float64)
    return np.concatenate(predicted, -1), entropy
