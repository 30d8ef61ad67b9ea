"""What a task is: words, what a network that reads them should say after every symbol, and where that counts.

What should be said is stated twice: by ``expected``, a plain function, and by the ``reference`` automaton, a Mealy
machine, where a deterministic pushdown automaton can do it. Each checks the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from stacklens.automata.pda import Output, PushdownAutomaton, Symbol, Word
from stacklens.automata.tables import BoolArray, IntArray, encode_words
from stacklens.errors import StacklensError
from stacklens.languages.tasks.examples import Examples

__all__ = ["Kind", "Split", "Task"]

Kind = Literal["recognition", "next set", "next symbol", "transduction"]
Split = Literal["train", "test"]


class Task(ABC):
    """A task, immutable.

    >>> from stacklens.languages.tasks.registry import get_task
    >>> task = get_task("dyck-2")
    >>> task.kind, task.expected("([")
    ('next set', [('(', ')', '['), ('(', '[', ']')])
    >>> examples = task.sample(3, split="train", seed=1)
    >>> len(examples), examples.targets.shape[2]
    (3, 4)
    """

    by_depth: ClassVar[bool] = False  # whether sizes are depths of derivations, which no lengths can be asked for

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name that ``get_task`` knows it by."""

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """Return what an output is: a set of symbols, the next symbol, or the symbol of a transduction."""

    @property
    @abstractmethod
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols read, in the order of the network's inputs."""

    @property
    @abstractmethod
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols said, in the order of the network's outputs."""

    @property
    @abstractmethod
    def reference(self) -> PushdownAutomaton | None:
        """Return the automaton whose ``transduce`` is ``expected``; None where no one-stack automaton can do it."""

    @abstractmethod
    def expected(self, word: Word) -> list[Output]:
        """Return what should be said after each symbol of ``word``; None where nothing in particular.

        For "next set" a tuple of symbols in the order of ``output_alphabet``, else one symbol. It depends on no later
        symbol of the word.

        Raises:
            StacklensError: no word of this task begins with ``word``.
        """

    def scored(self, word: Word) -> list[bool]:
        """Return at which positions what is said counts; by default wherever something is expected."""
        return [output is not None for output in self.expected(word)]

    @property
    def silent(self) -> frozenset[Output] | None:
        """Return the outputs that never count; None where an output counts here and not there.

        A task that says with `scored` what counts says it here too, if it can.
        """
        return frozenset({None}) if type(self).scored is Task.scored else None

    def sample(self, n: int, lengths: tuple[int, int] | None = None, split: Split = "train", seed: int = 0) -> Examples:
        """Return ``n`` random words with their targets, distributed as in the paper.

        Args:
            n: number of words.
            lengths: the smallest and the largest size, instead of the paper's; what a size is, each task says.
            split: the paper's sizes for training or for testing.
            seed: the same seed gives the same words.

        Raises:
            StacklensError: there are no ``n`` such words, or the arguments make no sense.
        """
        if n < 0 or (lengths is not None and not 0 <= lengths[0] <= lengths[1]):
            raise StacklensError(f"cannot sample {n} words of sizes {lengths}: expected 0 <= n, 0 <= low <= high")
        if split not in ("train", "test"):
            raise StacklensError(f"unknown split {split!r}: expected train or test")
        return self.examples(self._words(n, lengths, split, np.random.default_rng(seed)))

    @abstractmethod
    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        """Return ``n`` words as `sample` describes."""

    def examples(self, words: Sequence[Word]) -> Examples:
        """Return ``words`` with their targets.

        Raises:
            StacklensError: a word that is none of this task's, or a symbol that is not in the alphabet.
        """
        symbols, _ = encode_words(words, self.alphabet)
        outputs = [self.expected(word) for word in words]
        shape = symbols.shape
        mask = np.zeros(shape, np.bool_)
        for row, word in enumerate(words):
            mask[row, : len(word)] = self.scored(word)
        targets = self._sets(outputs, shape) if self.kind == "next set" else self._numbers(outputs, shape)
        return Examples(tuple(words), self.alphabet, self.output_alphabet, symbols, targets, mask)

    def _numbers(self, outputs: list[list[Output]], shape: tuple[int, ...]) -> IntArray:
        number: dict[Output, int] = {symbol: i for i, symbol in enumerate(self.output_alphabet)}
        targets = np.full(shape, -1, np.int32)
        for row, outs in enumerate(outputs):
            targets[row, : len(outs)] = [number.get(output, -1) for output in outs]
        return targets

    def _sets(self, outputs: list[list[Output]], shape: tuple[int, ...]) -> BoolArray:
        rows: dict[Output, list[bool]] = {}
        targets = np.zeros((*shape, len(self.output_alphabet)), np.bool_)
        for row, outs in enumerate(outputs):
            for t, output in enumerate(outs):
                if output not in rows:
                    rows[output] = [symbol in (output or ()) for symbol in self.output_alphabet]
                targets[row, t] = rows[output]
        return targets
