"""Answers that can be compared: what a network and an automaton say of a word, as numbers.

A recogniser gives one answer a word, 1 or 0. Predictors and transducers give one after every symbol, the number of
their output, and -1 from where the word is rejected. A buffered network writes when it likes: of what it has written in
the end as many symbols count as the word has, the first for its first symbol, and -1 stands for those that are missing.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..automata.compiled import compile_tables
from ..automata.enumeration import accepts_all, outputs_all
from ..automata.formats.dot import output_text
from ..automata.pda import Output, PushdownAutomaton, Word
from ..automata.runs import accepts_many, transduce_many, written_many
from ..core.errors import StacklensError
from ..core.progress import OutOfTimeError, current_limit, cut_short
from ..models.base import StackModel
from ..models.inference import outputs_on, verdicts_on, written_on

_FIRST, _MORE = 16, 64  # words that are asked together first, where time may end, and then so many times as many


def network_answers(model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the network's answers, (N, 1) for recognisers, else (N, T), int; buffered ones: see this module."""
    if model.task_kind == "recognition":
        return verdicts_on(model, words)[:, None].astype(np.int32)
    return outputs_on(model, words) if model.real_time else written_on(model, words)


def answers_in_time(model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the network's answers to as many of ``words``, from the first, as there is time for (see `check_time`)."""
    limit = current_limit()
    if limit is None:
        return network_answers(model, words)
    parts, begin, size = list[np.ndarray](), 0, _FIRST
    try:
        while begin < max(1, len(words)):
            begun = limit.clock()
            parts.append(network_answers(model, words[begin : begin + size]))
            # what is begun and not ended is lost: no more than fits into half of the time that is left
            left = (limit.end - limit.clock()) / max(limit.clock() - begun, 1e-9)
            begin, size = begin + size, max(1, int(min(_MORE, left / 2) * size))
    except OutOfTimeError:
        cut_short()
    parts = parts or [np.zeros((0, 1), np.int32)]
    width = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=-1) for part in parts])


def automaton_answers(pda: PushdownAutomaton, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the automaton's answers in the numbers of ``model``, of the same shape as the network's."""
    if model.task_kind == "recognition":
        return accepts_many(pda, words)[:, None].astype(np.int32)
    table = number_table(pda, model)
    if model.real_time:
        return np.asarray(table[transduce_many(pda, words)])
    # of what is written (N, W) on each word as many symbols as it has, (N, T); -1 for those missing
    written, lengths = table[written_many(pda, words)], np.array([len(word) for word in words], np.int64)
    longest = int(lengths.max(initial=0))
    there = np.pad(written, ((0, 0), (0, max(0, longest - written.shape[1]))), constant_values=-1)[:, :longest]
    return np.asarray(np.where(np.arange(longest) < lengths[:, None], there, -1))


def automaton_answers_on_all(
    pda: PushdownAutomaton, model: StackModel[Any], max_length: int, prefix: Word = ()
) -> Iterator[np.ndarray]:
    """Yield the automaton's answers to all words of each length behind ``prefix``, see `models.inference`."""
    if model.task_kind == "recognition":
        yield from (accepted.astype(np.int32) for accepted in accepts_all(pda, max_length, prefix))
        return
    table = number_table(pda, model)
    for length, outputs in enumerate(outputs_all(pda, max_length, prefix)):
        # there is no answer before the first symbol
        yield table[outputs] if length + len(prefix) > 0 else np.full(1, -1, np.int32)


def output_number(output: Output, model: StackModel[Any]) -> int:
    """Return the number that ``model`` gives to an output; -1 for None. Raises StacklensError: it has none such."""
    if output is None:
        return -1
    symbols = set(output) if isinstance(output, tuple) else {output}
    if isinstance(output, tuple) is not (model.task_kind == "next set") or not symbols <= set(model.output_alphabet):
        raise StacklensError(
            f"the output {output!r} is none of this {model.task_kind} network's, over {' '.join(model.output_alphabet)}"
        )
    numbers = [model.output_alphabet.index(symbol) for symbol in symbols]
    return sum(1 << number for number in numbers) if isinstance(output, tuple) else numbers[0]


def number_table(pda: PushdownAutomaton, model: StackModel[Any]) -> np.ndarray:
    """Return the model's numbers of the automaton's outputs, and -1 as the last, where index -1 leads."""
    outputs = compile_tables(pda).outputs
    return np.array([*(output_number(output, model) for output in outputs), -1], dtype=model.number_type)


def differences(one: np.ndarray, other: np.ndarray, scored: np.ndarray | None = None) -> np.ndarray:
    """Return where answers to the same words differ, of their shape, bool; nowhere but where they are ``scored``.
    Raises StacklensError: the shapes are not the same: a recogniser's answers cannot be held against a predictor's.
    """
    for shape in (other.shape, one.shape if scored is None else scored.shape):
        if shape != one.shape:
            raise StacklensError(f"answers of shape {one.shape} and {shape} are not to the same question")
    different: np.ndarray = one != other
    return different if scored is None else different & scored


def accepted_answers(answers: np.ndarray, model: StackModel[Any], lengths: np.ndarray | int) -> np.ndarray:
    """Return which answers to words of these ``lengths`` accept, or do not cut the word short; never the empty one."""
    return np.asarray(answers > 0 if model.task_kind == "recognition" else (answers >= 0) | (lengths == 0))


def answer_name(number: int, model: StackModel[Any]) -> str:
    """Return what the answer with this ``number`` is called in a sentence: of a recogniser, a verdict."""
    if model.task_kind == "recognition":
        return "accepts" if number > 0 else "rejects"
    if number < 0:
        return "a rejection"
    return output_text(model.output_name(number))
