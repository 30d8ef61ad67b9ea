"""A task of one's own, from two functions: what is expected, and how words are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np

from stacklens.automata.pda import Output, PushdownAutomaton, Symbol, Word
from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import Split, Task, TaskKind

__all__ = ["OwnTask"]

_SIZES: dict[Split, tuple[int, int]] = {"train": (1, 20), "test": (21, 60)}


class OwnTask(Task):
    """A task whose parts are given.

    Args:
        name: what it is called.
        alphabet: the symbols read.
        expected: from a word to what should be said after each of its symbols, None where nothing in particular. It
            raises ValueError where no word of the task begins so.
        draw: from a size and a random generator to a word of the task.
        outputs: the symbols said; by default those read.
        kind: "transduction", "next symbol" or "next set", of which each output is a tuple of symbols.
        sizes: the smallest and the largest size to train on, and to test on.
        reference: the automaton that says the same, with which results can be proved equal; None for no proof.

    Raises:
        StacklensError: there is no such kind.

    >>> last_but_one = lambda word: [None, *word[:-1]]
    >>> draw = lambda size, rng: "".join(rng.choice(list("ab"), size + 1))
    >>> task = OwnTask("echo", "ab", last_but_one, draw)
    >>> task.expected("abb"), task.sample(2, seed=1).words
    ([None, 'a', 'b'], ('bbaabbaabaa', 'baabbaabbbbb'))
    """

    def __init__(
        self,
        name: str,
        alphabet: Sequence[Symbol],
        expected: Callable[[Word], Sequence[Output]],
        draw: Callable[[int, np.random.Generator], Word],
        *,
        outputs: Sequence[Symbol] | None = None,
        kind: TaskKind = "transduction",
        sizes: dict[Split, tuple[int, int]] | None = None,
        reference: PushdownAutomaton | None = None,
    ) -> None:
        if kind not in get_args(TaskKind) or kind == "recognition":
            raise StacklensError(f"kind is {kind!r:.40}; expected transduction, next symbol or next set")
        self._name, self._kind, self._alphabet = name, kind, tuple(alphabet)
        self._outputs = self._alphabet if outputs is None else tuple(outputs)
        self._expected, self._draw, self._reference = expected, draw, reference
        self._sizes = {**_SIZES, **(sizes or {})}

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self._name

    @property
    def kind(self) -> TaskKind:
        """Return what an output is."""
        return self._kind

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols read."""
        return self._alphabet

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols said."""
        return self._outputs

    @property
    def reference(self) -> PushdownAutomaton | None:
        """Return the automaton that was given."""
        return self._reference

    def expected(self, word: Word) -> list[Output]:
        """Return what the function says, one output a symbol."""
        try:
            said = list(self._expected(word))
        except ValueError as error:
            raise StacklensError(f"no word of {self.name} begins with {''.join(word)}: {error}") from None
        if len(said) != len(word):
            told = f"{len(said)} outputs for {len(word)} symbols"
            raise StacklensError(f"the task {self.name} says {told}; expected one a symbol, None for nothing")
        return said

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or self._sizes[split]
        return [self._draw(size, rng) for size in rng.integers(low, high + 1, size=n).tolist()]
