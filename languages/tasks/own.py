"""A task of one's own, from two functions: what is expected, and how words are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args

import numpy as np

from stacklens.automata.pda import Output, PushdownAutomaton, Symbol, Word
from stacklens.errors import NoWordError, StacklensError
from stacklens.languages.tasks.task import Split, Task, TaskKind
from stacklens.languages.words import format_word, make_word

__all__ = ["OwnTask"]

_SIZES: dict[Split, tuple[int, int]] = {"train": (1, 20), "test": (21, 60)}
_ROUNDS = 100  # of drawing words in the place of empty ones


class OwnTask(Task):
    """A task whose parts are given.

    Args:
        name: what it is called.
        alphabet: the symbols read.
        expected: from a word to one output a symbol, None where nothing in particular is expected. It raises ValueError
            where no word of the task begins so.
        draw: from a size and a random generator to a word of the task; after an empty one it is asked again.
        outputs: the symbols of the outputs; by default those read.
        kind: "transduction", "next symbol" or "next set", of which each output is a tuple or set of symbols.
        sizes: the smallest and the largest size to train on, and to test on.
        reference: the automaton with the same outputs, with which results can be proved equal; None for no proof.

    Raises:
        StacklensError: there is no such kind.

    >>> last_but_one = lambda word: [None, *word[:-1]]
    >>> draw = lambda size, rng: "".join(rng.choice(list("ab"), size + 1))
    >>> task = OwnTask("echo", "ab", last_but_one, draw)
    >>> task.expected("abb"), task.sample(2, seed=1).words
    ([None, 'a', 'b'], ('bbaabbaabaa', 'baabbaabbbbb'))
    """

    name: str = ""  # these stand in for the properties of a task
    kind: TaskKind = "transduction"
    alphabet: tuple[Symbol, ...] = ()
    output_alphabet: tuple[Symbol, ...] = ()
    reference: PushdownAutomaton | None = None

    def __init__(
        self,
        name: str,
        alphabet: Sequence[Symbol],
        expected: Callable[[Word], Iterable[Any]],
        draw: Callable[[int, np.random.Generator], Iterable[Symbol]],
        *,
        outputs: Sequence[Symbol] | None = None,
        kind: TaskKind = "transduction",
        sizes: dict[Split, tuple[int, int]] | None = None,
        reference: PushdownAutomaton | None = None,
    ) -> None:
        if kind not in get_args(TaskKind) or kind == "recognition":
            raise StacklensError(f"kind is {kind!r:.40}; expected transduction, next symbol or next set")
        self.name, self.kind, self.alphabet = name, kind, tuple(alphabet)
        self.output_alphabet = self.alphabet if outputs is None else tuple(outputs)
        self._expected, self._draw, self.reference = expected, draw, reference
        self._sizes = {**_SIZES, **(sizes or {})}

    def expected(self, word: Word) -> list[Output]:
        """Return what the function expects, one output a symbol."""
        try:
            outputs = list(self._expected(word))
        except (ValueError, NoWordError) as error:
            raise NoWordError(f"no word of {self.name} begins with {format_word(word)}: {error}") from None
        except Exception as error:
            raise self._broken("expected", format_word(word), error, "ValueError where no word begins so") from error
        if len(outputs) != len(word):
            found = f"{len(outputs)} outputs for {len(word)} symbols"
            raise StacklensError(f"the task {self.name} gives {found}; expected one a symbol, None for nothing")
        return [self._output(output, word) for output in outputs]

    def _output(self, output: Any, word: Word) -> Output:
        """Return an output as it is compared: a symbol, or a tuple of symbols in the order of the alphabet."""
        if output is None:
            return None
        sets = self.kind == "next set"
        symbols = list(output) if sets and isinstance(output, Iterable) else [output]
        if strange := [symbol for symbol in symbols if symbol not in self.output_alphabet]:
            known = f"{'sets of ' if sets else ''}{', '.join(map(repr, self.output_alphabet))}"
            raise StacklensError(
                f"the task {self.name} gives the output {strange[0]!r:.40} on {format_word(word)}; expected {known} or "
                "None, or other symbols named by outputs=…"
            )
        return tuple(symbol for symbol in self.output_alphabet if symbol in symbols) if sets else str(output)

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        low, high = lengths or self._sizes[split]
        found: list[Word] = []
        for _ in range(_ROUNDS):  # no output comes after an empty word, so another is drawn in its place
            sizes = rng.integers(low, high + 1, size=n - len(found)).tolist()
            found += [word for size in sizes if (word := self._drawn(size, rng))]
            if len(found) == n:
                return found
        raise StacklensError(
            f"draw gives empty words of sizes {low} to {high} of the task {self.name}; expected words of one symbol or "
            "more: make draw give longer ones, or name larger sizes"
        )

    def _drawn(self, size: int, rng: np.random.Generator) -> Word:
        try:
            return make_word(self._draw(size, rng), self.alphabet)
        except Exception as error:
            raise self._broken("draw", f"size {size}", error, "a word, as text or a list of symbols") from error

    def _broken(self, function: str, given: str, error: Exception, expected: str) -> StacklensError:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return StacklensError(
            f"{function} of the task {self.name} fails on {given:.80}: {reason:.200}; expected {expected}"
        )
