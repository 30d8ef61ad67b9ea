"""A language model as a predictor of sets: a symbol may come next where its probability is above a threshold.

A language model gives every symbol some probability; which of them it means is for a threshold to say. How near to it
probabilities come is its margin, which a result reports: where that is small another threshold gives another automaton.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.languages.words import parse_word
from stacklens.models.own.outputs import Outputs
from stacklens.models.own.word_network import WordNetwork

__all__ = ["LanguageModel", "default_threshold"]

AFFORDABLE = 100_000  # words that a check may ask


class LanguageModel(WordNetwork):
    """What a language model says may come next.

    Args:
        module: from symbols' numbers (B, T) to logits (B, T + 1, O): before the first symbol, and after each. Outputs
            are of the alphabet, and then of others, the end of a word among them.
        alphabet: what words are made of.
        eos: the number of the output that ends a word.
        name: what reports call it.
        threshold: what a probability has to exceed; None for `default_threshold`.
        sizes: for reports.

    Raises:
        StacklensError: the threshold is no probability, or no symbol's probability ever exceeds it.
    """

    def __init__(
        self,
        module: nn.Module,
        alphabet: tuple[str, ...],
        eos: int,
        name: str,
        threshold: float | None = None,
        sizes: dict[str, Any] | None = None,
    ) -> None:
        chosen = default_threshold(len(alphabet)) if threshold is None else threshold
        if not isinstance(chosen, int | float) or isinstance(chosen, bool) or not 0 < chosen < 1:
            raise StacklensError(f"threshold is {chosen!r:.50}; expected a probability between 0 and 1")
        super().__init__(name, alphabet, Outputs("next set", alphabet, None, chosen), affordable=AFFORDABLE)
        self.module, self.eos, self.sizes = module.eval(), eos, sizes or {}
        begins = self._probabilities(torch.zeros(1, 0, dtype=torch.int64))[0, 0, : len(alphabet)]
        self.first = tuple(symbol for symbol, p in zip(alphabet, begins.tolist(), strict=True) if p > chosen)
        if not self.first:
            raise StacklensError(
                f"no symbol may begin a word where its probability has to be above {chosen:.3g}: the likeliest has "
                f"{begins.max():.3g}; give a lower threshold"
            )

    @property
    def threshold(self) -> float:
        """Return what a probability has to exceed."""
        return self.outputs.threshold

    @property
    def like(self) -> Tensor:
        """Return a tensor of the type of the weights."""
        return next(self.module.parameters()).detach().new_zeros(())

    def config(self) -> dict[str, Any]:
        """Return the sizes and the threshold, for reports."""
        return {**self.sizes, "stack": None, "outputs": self.task_kind, "threshold": self.threshold}

    def save(self, path: object) -> NoReturn:
        """Say that its files are elsewhere.

        Raises:
            StacklensError: always.
        """
        raise StacklensError(
            f"cannot write {path}: {self.name} is of another program, in whose own files it stays; sl.load reads these"
        )

    def probabilities(self, word: Word) -> np.ndarray:
        """Return the probability of each symbol, and of the end, before and after every symbol, (T + 1, K + 1).

        Raises:
            UnknownSymbolError: the word has a symbol that the alphabet lacks.
        """
        symbols = parse_word(word, self.alphabet) if isinstance(word, str) else word
        codes = torch.tensor([[self.alphabet.index(symbol) for symbol in symbols]], dtype=torch.int64).reshape(1, -1)
        kept = [*range(len(self.alphabet)), self.eos]
        found: np.ndarray = self._probabilities(codes)[0][:, kept].numpy()
        return found

    def said_of(self, codes: Tensor) -> Tensor:
        """Return what may come after words ``codes`` (B, T), (B, K): above 0.5 where it may."""
        said = self._probabilities(codes)[:, -1, : len(self.alphabet)]
        return self.outputs.read(said, len(codes))

    def said_along(self, codes: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return what may come after every symbol, (B, T, K)."""
        del lengths
        said = self._probabilities(codes)[:, 1:, : len(self.alphabet)]
        return self.outputs.read(said.flatten(0, 1), said.shape[0] * said.shape[1]).reshape(said.shape)

    @torch.no_grad()
    def _probabilities(self, codes: Tensor) -> Tensor:
        logits: Tensor = self.module(codes)
        return logits.softmax(-1)


def default_threshold(symbols: int) -> float:
    """Return a third of the probability that each of so many ``symbols`` and the end have if all have as much.

    >>> round(default_threshold(4), 3)
    0.067
    """
    return 1 / (3 * (symbols + 1))
