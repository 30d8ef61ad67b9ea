"""Words of a task as arrays: what is read, what should be said, what counts, and whether outputs are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stacklens.automata.pda import Symbol, Word
from stacklens.automata.tables import BoolArray, IntArray
from stacklens.errors import StacklensError

__all__ = ["Examples"]


@dataclass(frozen=True, eq=False)
class Examples:
    """N words, the longest of T symbols, with targets. Arrays end in -1 or False after the end of a word.

    Args:
        words: the N words.
        alphabet: what ``symbols`` index.
        output_alphabet: what ``targets`` index.
        symbols: ``(N, T)`` int, the symbols read.
        targets: ``(N, T)`` int, the output after each symbol, -1 where there is none; for sets ``(N, T, k)`` bool,
            one column a symbol of ``output_alphabet``.
        mask: ``(N, T)`` bool, the positions that count.

    >>> from stacklens.languages.tasks.registry import get_task
    >>> examples = get_task("xor").examples(["110", "01"])
    >>> examples.symbols.tolist(), examples.targets.tolist()
    ([[1, 1, 0], [0, 1, -1]], [[1, 0, 0], [0, 1, -1]])
    >>> guess = np.array([[1, 0, 0], [0, 0, 0]])
    >>> examples.correct(guess).tolist(), examples.symbol_accuracy(guess).item()
    ([True, False], 0.8)
    """

    words: tuple[Word, ...]
    alphabet: tuple[Symbol, ...]
    output_alphabet: tuple[Symbol, ...]
    symbols: IntArray
    targets: IntArray | BoolArray
    mask: BoolArray

    def __len__(self) -> int:
        return len(self.words)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Return the number of symbols of each word, ``(N,)``."""
        return np.asarray((self.symbols >= 0).sum(axis=1), np.int64)

    def hits(self, outputs: npt.NDArray[Any]) -> BoolArray:
        """Return which outputs are right, whether they count or not, ``(..., N, T)``.

        Args:
            outputs: ``(..., N, T)`` numbers of symbols of ``output_alphabet``, or, for sets, ``(..., N, T, k)`` bool.
                Leading axes, such as one of networks, are kept.

        Raises:
            StacklensError: another shape.
        """
        outputs = np.asarray(outputs)
        if outputs.shape[-self.targets.ndim :] != self.targets.shape:
            raise StacklensError(f"outputs have the shape {outputs.shape}, expected (..., {_sizes(self.targets)})")
        hits = outputs == self.targets
        return np.asarray(hits.all(axis=-1) if self.targets.ndim == 3 else hits, np.bool_)

    def correct(self, outputs: npt.NDArray[Any]) -> BoolArray:
        """Return which words are right, ``(..., N)``: those with every output that counts right. Args as in `hits`."""
        return np.asarray((self.hits(outputs) | ~self.mask).all(axis=-1), np.bool_)

    def symbol_accuracy(self, outputs: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the share of outputs that are right among those that count, over all words, ``(...)``, from 0 to 1.

        It is the score of Hao et al. 2018, table 1. Args as in `hits`.

        Raises:
            StacklensError: nothing counts in any of the words, or a wrong shape.
        """
        if not self.mask.any():
            raise StacklensError("no position counts in these words: there is nothing to score")
        hits = (self.hits(outputs) & self.mask).sum(axis=(-2, -1))
        return np.asarray(hits / self.mask.sum(), np.float64)


def _sizes(array: npt.NDArray[Any]) -> str:
    return ", ".join(map(str, array.shape))
