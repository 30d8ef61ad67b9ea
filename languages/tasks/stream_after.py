"""Streams that begin with one symbol more: the authors' program of Joulin & Mikolov 2015 feeds the last letter first.

Its ``train_toy.cpp`` sets ``cur = nchar - 1`` where a stream begins, so the network reads the last letter, says how the
first sequence begins, and goes on; what it lays on its stacks for that letter lies under all that follows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stacklens.automata.pda import NONE, Key, Output, PushdownAutomaton, Symbol, Transition, Word
from stacklens.errors import StacklensError
from stacklens.languages.tasks.base import Kind, Split, Task
from stacklens.languages.tasks.streams import StreamTask

__all__ = ["StreamAfter"]

_BEFORE = "before"


@dataclass(frozen=True)
class StreamAfter(Task):
    """The streams of ``task`` with the symbol ``before`` in front of each, after which nothing counts.

    >>> from stacklens.languages.tasks.counting_streams import CountingStream
    >>> task = StreamAfter(CountingStream("anbn"), "b")
    >>> task.name, task.expected("baabbab")
    ('anbn-after-b', [None, None, None, 'b', 'a', None, 'a'])
    >>> task.reference.transduce("baabb")
    [None, None, None, 'b', 'a']
    """

    task: StreamTask
    before: Symbol

    def __post_init__(self) -> None:
        if self.before not in self.task.alphabet:
            raise StacklensError(
                f"streams of {self.task.name} cannot begin after {self.before!r}: expected one of "
                f"{' '.join(self.task.alphabet)}"
            )

    @property
    def name(self) -> str:
        """Return the task's name and what comes before."""
        return f"{self.task.name}-after-{self.before}"

    @property
    def kind(self) -> Kind:
        """Return that an output is the next symbol."""
        return self.task.kind

    @property
    def alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols of the stream."""
        return self.task.alphabet

    @property
    def output_alphabet(self) -> tuple[Symbol, ...]:
        """Return the symbols of the stream."""
        return self.task.output_alphabet

    @cached_property
    def reference(self) -> PushdownAutomaton | None:
        """Return the task's automaton behind a state that reads the symbol before; None where the task has none."""
        pda = self.task.reference
        if pda is None:
            return None
        start = next(name for name in (_BEFORE, f"{_BEFORE} the stream") if name not in pda.states)
        first: dict[Key, Transition] = {(start, self.before, (pda.bottom,)): Transition(pda.initial, (NONE,))}
        return replace(
            pda,
            states=(start, *pda.states),
            initial=start,
            accepting=pda.accepting | {start},
            transitions={**first, **pda.transitions},
            initial_output=None,
        )

    def expected(self, word: Word) -> list[Output]:
        """Return None for the symbol before, then what the task expects."""
        if not word:
            return []
        if word[0] != self.before:
            raise StacklensError(f"no stream of {self.name}: {word[0]!r} at position 1, expected {self.before!r}")
        return [None, *self.task.expected(word[1:])]

    def _words(self, n: int, lengths: tuple[int, int] | None, split: Split, rng: np.random.Generator) -> list[Word]:
        return [f"{self.before}{''.join(word)}" for word in self.task._words(n, lengths, split, rng)]
