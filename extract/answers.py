"""Answers that can be compared: what a network and an automaton say of a word, as numbers.

A recogniser gives one answer a word, 1 or 0. Predictors and transducers give one after every symbol, the number of
their output, and -1 from where the word is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stacklens.automata.enumeration import accepts_all, outputs_all
from stacklens.automata.pda import Output, PushdownAutomaton, Word
from stacklens.automata.simulation import accepts_many, transduce_many
from stacklens.automata.tables import compile_tables
from stacklens.models.base import StackModel
from stacklens.models.verdicts import outputs_on, verdicts_on

__all__ = ["accepted_answers", "automaton_answers", "automaton_answers_on_all", "network_answers", "output_number"]


def network_answers(model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the network's answers, (N, 1) for recognisers, else (N, T), int."""
    if model.task_kind == "recognition":
        return verdicts_on(model, words)[:, None].astype(np.int32)
    return outputs_on(model, words)


def automaton_answers(pda: PushdownAutomaton, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the automaton's answers in the numbers of ``model``, of the same shape as the network's."""
    if model.task_kind == "recognition":
        return accepts_many(pda, words)[:, None].astype(np.int32)
    table = _number_table(pda, model)
    answers: np.ndarray = table[transduce_many(pda, words)]
    return answers


def automaton_answers_on_all(
    pda: PushdownAutomaton, model: StackModel[Any], max_length: int, prefix: Word = ()
) -> Iterator[np.ndarray]:
    """Yield the automaton's answers to all words of each length, as `models.verdicts.answers_on_all` gives them.

    With a ``prefix`` they are the words after it.
    """
    if model.task_kind == "recognition":
        yield from (accepted.astype(np.int32) for accepted in accepts_all(pda, max_length, prefix))
        return
    table = _number_table(pda, model)
    for length, outputs in enumerate(outputs_all(pda, max_length, prefix)):
        said = length + len(prefix) > 0  # nothing is said before the first symbol
        yield table[outputs] if said else np.full(1, -1, np.int32)


def output_number(output: Output, model: StackModel[Any]) -> int:
    """Return the number that ``model`` gives to an output; -1 for None."""
    if output is None:
        return -1
    if isinstance(output, tuple):
        return sum(1 << model.output_alphabet.index(symbol) for symbol in output)
    return model.output_alphabet.index(output)


def _number_table(pda: PushdownAutomaton, model: StackModel[Any]) -> np.ndarray:
    """Return the model's numbers of the automaton's outputs, and -1 as the last, where index -1 leads."""
    outputs = compile_tables(pda).outputs
    return np.array([*(output_number(output, model) for output in outputs), -1], dtype=np.int32)


def accepted_answers(answers: np.ndarray, model: StackModel[Any]) -> np.ndarray:
    """Return which answers accept, or, where ``model`` is no recogniser, do not cut the word short; bool."""
    accepted: np.ndarray = answers > 0 if model.task_kind == "recognition" else answers >= 0
    return accepted
