"""What network, automaton and language say after every symbol of one word, as numbers that can be compared.

A recogniser's answer after a symbol is whether it would accept if the word ended there, so that all parties answer one
question at every step. Predictors and transducers say an output, or -1 where the word has been rejected.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import Output, PushdownAutomaton, Word
from stacklens.automata.simulation import accepts_many
from stacklens.errors import StacklensError
from stacklens.extract.answers import automaton_answers, network_answers, output_number
from stacklens.extract.evaluation.automaton_runs import at_rest
from stacklens.extract.specification import Specification
from stacklens.models.base import StackModel
from stacklens.viz.bench.run import BenchRun

__all__ = [
    "MOST_PREFIXES",
    "UNSAID",
    "Expected",
    "answer_name",
    "answers_of",
    "automaton_says",
    "expected_of",
    "set_name",
]

UNSAID = -2  # nothing is asked or known here
MOST_PREFIXES = 500  # of a word; beyond, only an automaton can tell of each whether it is a member


@dataclass(frozen=True)
class Expected:
    """What should be said.

    Attributes:
        name: of the language or task; None where it is not known.
        answers: what to expect after each symbol, (T,) int; `UNSAID` where nothing is.
        problem: why nothing at all is expected, as the end of a sentence, or None.
    """

    name: str | None
    answers: np.ndarray
    problem: str | None = None


def answers_of(run: BenchRun) -> np.ndarray:
    """Return what a network says after each symbol of its word, (len(word),) int."""
    model, size = run.model, len(run.word)
    if run.accepts is not None:
        return run.accepts[1:].astype(np.int64)
    if not model.real_time:
        return np.asarray(network_answers(model, [run.word])[0, :size], dtype=object)
    if not size:
        return np.zeros(0, dtype=np.int64)
    numbers = np.asarray(model.output_numbers(torch.from_numpy(run.seen.output[0, :size])))
    return np.where(run.seen.rejected[0, :size], -1, numbers)


def answer_name(model: StackModel[Any], number: int, cell: bool = False) -> str:
    """Return how an answer is written in a sentence, or in a ``cell`` of the table, where a set has no braces."""
    if number == UNSAID:
        return "·"
    if model.task_kind == "recognition":
        return "yes" if number else "no"
    if number < 0:
        return "rejects"
    name = model.output_name(int(number))
    if isinstance(name, str):
        return name
    return set_name(name) if not cell else ("" if max(map(len, name), default=1) == 1 else " ").join(name) or "∅"


def set_name(symbols: Iterable[str]) -> str:
    """Return how a set is written, its symbols as they come.

    >>> set_name("(["), set_name(())
    ('{( [}', '∅')
    """
    inside = " ".join(symbols)
    return f"{{{inside}}}" if inside else "∅"


def expected_of(specification: Specification | None, model: StackModel[Any], word: Word) -> Expected:
    """Return what should be said after each symbol of ``word`` by a network that does what it was trained for."""
    nothing = np.full(len(word), UNSAID)
    if specification is None:
        return Expected(None, nothing, "what it was trained on is not known")
    if model.task_kind == "recognition":
        return Expected(specification.name, _memberships(specification, model, word))
    try:
        counts = specification.scored([word])
    except StacklensError:
        return Expected(specification.name, nothing, f"this is no word of the task {specification.name}")
    answers = np.asarray(specification.answers(model, [word])[0][: len(word)])
    if counts is not None:
        answers = np.where(counts[0][: len(word)], answers, UNSAID)
    none = "" if len(word) == 0 or (answers != UNSAID).any() else f"{specification.name} asks for nothing on this word"
    return Expected(specification.name, answers, none or None)


def _memberships(specification: Specification, model: StackModel[Any], word: Word) -> np.ndarray:
    """Return of every prefix but the empty one whether it is a member, `UNSAID` where that would take too long."""
    truth = specification.automaton()
    if truth is not None and truth.end_marker is None:
        return _accepted_prefixes(truth, word)
    if len(word) <= MOST_PREFIXES:
        return specification.answers(model, [word[: end + 1] for end in range(len(word))])[:, 0].astype(np.int64)
    found = np.full(len(word), UNSAID)
    found[-1] = specification.answers(model, [word])[0, 0]
    return found


def automaton_says(pda: PushdownAutomaton, model: StackModel[Any], word: Word) -> np.ndarray:
    """Return what ``pda`` says after each symbol of ``word`` in the numbers of ``model``, (len(word),)."""
    if not len(word):
        return np.zeros(0, dtype=np.int64)
    if model.task_kind != "recognition":
        if pda.real_time and model.real_time:
            return _said_in_real_time(pda, model, word)
        answers = np.asarray(automaton_answers(pda, model, [word])[0][: len(word)])
        alive = np.arange(len(word)) < sum(1 for _ in at_rest(pda, word))
        return np.where((answers == -1) & alive, UNSAID, answers)  # it goes on, and says nothing here
    if pda.end_marker is None:
        return _accepted_prefixes(pda, word)
    if len(word) <= MOST_PREFIXES:
        return accepts_many(pda, [word[: end + 1] for end in range(len(word))]).astype(np.int64)
    found = np.full(len(word), UNSAID)
    found[-1] = bool(accepts_many(pda, [word])[0])
    return found


def _said_in_real_time(pda: PushdownAutomaton, model: StackModel[Any], word: Word) -> np.ndarray:
    """Return what `automaton_says` says, for one walk over the word: a table of one row takes three times as long."""
    found = np.full(len(word), -1)
    numbers: dict[Output, int] = {None: UNSAID}  # it goes on, and says nothing here
    for place, configuration in zip(range(len(word)), at_rest(pda, word), strict=False):
        output = configuration.output
        if output not in numbers:
            numbers[output] = output_number(output, model)
        found[place] = numbers[output]
    return found


def _accepted_prefixes(pda: PushdownAutomaton, word: Word) -> np.ndarray:
    found = np.zeros(len(word), dtype=np.int64)
    for place, configuration in enumerate(at_rest(pda, word)):
        found[place] = pda.accepts_configuration(configuration)
    return found
