"""The test of binary addition in Joulin & Mikolov 2015: pieces of every size, memories emptied now and then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.compiled import BoolArray
from stacklens.errors import StacklensError
from stacklens.languages.tasks.streams import StreamTask
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread
from stacklens.models.training.scores import decode_outputs

__all__ = ["EmptiedTest"]


@dataclass(frozen=True)
class EmptiedTest:
    """``strings`` pieces of each size; memories are empty before every tenth of them, as in training.

    The last symbol of the piece before is read again first. So beginnings are tested with every size, and streams are
    short, however many pieces there are.

    Attributes:
        task: the pieces.
        sizes: the smallest and the largest.
        strings: how many pieces of each.
        emptied: memories are emptied after so many.
        seed: of the pieces.

    Raises:
        StacklensError: they cannot be dealt out evenly.

    >>> from stacklens.languages.catalogue import get_task
    >>> from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
    >>> task = get_task("addition")
    >>> EmptiedTest(task, (2, 4), strings=6, emptied=3).right(StackRNN(StackRNNConfig(task.alphabet))).shape
    (3, 6)
    """

    task: StreamTask
    sizes: tuple[int, int] = (2, 59)
    strings: int = 200
    emptied: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.strings % self.emptied:
            raise StacklensError(f"{self.strings} strings a size cannot be dealt out in streams of {self.emptied}")

    @one_thread()
    @torch.no_grad()
    def right(self, net: StackModel[Any], device: str = "cpu") -> BoolArray:
        """Return which pieces ``net`` predicts, (..., sizes, strings): all in them that can be known."""
        by_size = self.task.words_by_n(*self.sizes, self.strings, self.seed)
        return np.stack([self._right(net, pieces, device) for pieces in by_size.values()], -2)

    def _right(self, net: StackModel[Any], pieces: list[str], device: str) -> BoolArray:
        """Return which of the ``pieces`` of one size are predicted, (..., strings), all streams side by side."""
        parts = [pieces[at : at + self.emptied] for at in range(0, self.strings, self.emptied)]
        words = [pieces[at * self.emptied - 1][-1] + "".join(part) for at, part in enumerate(parts)]
        number = {symbol: place for place, symbol in enumerate(self.task.alphabet)}
        symbols = np.full((len(words), max(map(len, words))), -1)
        for row, word in enumerate(words):
            symbols[row, : len(word)] = [number[symbol] for symbol in word]
        outputs = decode_outputs(net, symbols, device)
        found = []
        for row, (part, word) in enumerate(zip(parts, words, strict=True)):
            hits = np.zeros((*outputs.shape[:-2], len(word) - 1), np.bool_)
            hits[..., :-1] = outputs[..., row, 1 : len(word) - 1] == symbols[row, 2 : len(word)]
            found.append(self.task.pieces_correct(part, hits))
        return np.concatenate(found, -1)
