"""A task as a reference: what predictors and transducers should say after every symbol, and where that counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from typing import Any

import numpy as np

from stacklens.automata.compare import Comparison, Undecided, compare
from stacklens.automata.enumeration import enumerate_words, outputs_all
from stacklens.automata.pda import Output, PushdownAutomaton, Word
from stacklens.automata.simulation import transduce_many
from stacklens.automata.tables import compile_tables
from stacklens.errors import StacklensError
from stacklens.extract.answers import output_number
from stacklens.extract.reference import LanguageReference, Reference, default_max_length
from stacklens.languages.base import Language
from stacklens.languages.tasks.base import Task
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel
from stacklens.models.word_sets import all_words

__all__ = ["TaskReference"]


_LONGEST = 40  # symbols of a beginning; there are mostly enough of them long before
_LONGER = 20  # where sizes are not lengths, words are many times longer than their sizes, and fewer will do


class TaskReference(Reference):
    """A task, for predictors and transducers.

    Words that are none of the task's are not compared (`restricted`), but for predictors of next sets, which should
    reject them.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.name, self.alphabet = task.name, tuple(task.alphabet)
        self.restricted = task.kind != "next set"
        self.complete = _complete(task.reference) if task.kind == "next set" else frozenset()
        language = getattr(task, "language", None)
        self.language = language if isinstance(language, Language) and not self.restricted else None

    def short_words(self, number: int) -> list[Word]:
        """Return all words over the alphabet for next sets, else all beginnings of the task's words, up to a length."""
        if not self.restricted:
            return all_words(self.alphabet, default_max_length(len(self.alphabet), number))
        if self.task.reference is None:
            return list(islice(_beginnings(self.task), number))
        everywhere = replace(
            self.task.reference, acceptance="final state", accepting=frozenset(self.task.reference.states)
        )
        words = enumerate_words(everywhere, _LONGEST)
        numbered = takewhile(lambda pair: pair[0] < number, enumerate(words))
        return [make_word(word, self.alphabet) for _, word in numbered]

    def long_words(self, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
        """Return words of the task in the sizes given; for next sets half of them members, half near-misses.

        Where a task's sizes are depths, the words are as deep as the paper's longest.
        """
        if self.language is None:
            sizes = None if self.task.by_depth else lengths
            return list(self.task.sample(n // _LONGER, sizes, "test", seed).words)
        halves = ((n - n // 2, True), (n // 2, False))
        return [word for count, member in halves for word in self.language.sample(count, lengths, member, seed)]

    def deep_words(self, n: int, depth: int, seed: int) -> list[Word]:
        """Return members of the task's language nested so deep, and a near-miss of each, where there is a language."""
        return [] if self.language is None else LanguageReference(self.language).deep_words(n, depth, seed)

    def answers(self, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
        """Return the outputs to expect, (N, T); -1 from the first symbol with which no word of the task goes on.

        They come from the task's automaton, which tests hold equal to its plain function, or else from that.
        """
        if self.task.reference is not None:
            answers: np.ndarray = self._numbers(model)[transduce_many(self.task.reference, words)]
            return answers
        answers = np.full((len(words), max(map(len, words), default=0)), -1, dtype=np.int32)
        for row, word in enumerate(words):
            answers[row, : len(word)] = [output_number(output, model) for output in self.task.expected(word)]
        return answers

    def scored(self, words: Sequence[Word]) -> np.ndarray | None:
        """Return which outputs count, (N, T); None, for all, where sets are predicted."""
        if not self.restricted:
            return None
        width = max(map(len, words), default=0)
        mask = np.zeros((len(words), width), dtype=bool)
        for row, word in enumerate(words):
            mask[row, : len(word)] = self.task.scored(word)
        return mask

    def answers_on_all(self, model: StackModel[Any], max_length: int) -> list[np.ndarray] | None:
        """Return the reference automaton's outputs for all words where sets are predicted, else None."""
        if self.restricted or self.task.reference is None:
            return None
        answers = [self._numbers(model)[places] for places in outputs_all(self.task.reference, max_length)]
        answers[0][:] = -1  # nothing is said before the first symbol
        return answers

    def automaton(self) -> PushdownAutomaton | None:
        """Return the task's reference automaton, None where it has none."""
        return self.task.reference

    def compare(self, pda: PushdownAutomaton) -> Comparison:
        """Return whether ``pda`` says what the task asks for after every symbol, decided against its automaton.

        Where sets are predicted and tell which words are complete, it has to accept the same words too. What never
        counts is not compared.
        """
        reference, silent = self.task.reference, self.task.silent
        if reference is None or silent is None:
            missing = "reference automaton" if reference is None else "rule for what counts that outputs alone decide"
            return Undecided(f"the task {self.name} has no {missing}")
        if self.complete:
            return compare(pda, reference, outputs="all")
        steps = {
            key: replace(step, output=None if step.output in silent else step.output)
            for key, step in reference.transitions.items()
        }
        return compare(pda, replace(reference, transitions=steps), outputs="where b")

    def _numbers(self, model: StackModel[Any]) -> np.ndarray:
        """Return the model's numbers of the reference automaton's outputs, and -1 as the last, where index -1 leads."""
        assert self.task.reference is not None
        outputs = compile_tables(self.task.reference).outputs
        return np.array([*(output_number(output, model) for output in outputs), -1], dtype=np.int32)


def _beginnings(task: Task) -> Iterator[Word]:
    """Yield all beginnings of the task's words up to `_LONGEST`, shortest first, from its plain function."""
    level: list[tuple[str, ...]] = [()]
    for _ in range(_LONGEST + 1):
        yield from (make_word(word, task.alphabet) for word in level)
        longer = []
        for word in level:
            known = task.expected(make_word(word, task.alphabet))[-1] if word and task.kind == "next symbol" else None
            for symbol in task.alphabet if known is None else [known]:
                try:
                    task.expected(make_word((*word, str(symbol)), task.alphabet))
                except StacklensError:
                    continue
                longer.append((*word, str(symbol)))
        level = longer


def _complete(reference: PushdownAutomaton | None) -> frozenset[Output]:
    """Return the outputs that are said exactly where a word is complete; none where the outputs do not tell."""
    if reference is None or not reference.accepting:
        return frozenset()
    steps = reference.transitions.values()
    at_end = {step.output for step in steps if step.target in reference.accepting}
    elsewhere = {step.output for step in steps if step.target not in reference.accepting}
    if at_end & elsewhere or None in at_end:
        return frozenset()
    return frozenset(at_end)
