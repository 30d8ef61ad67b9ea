"""Runs of several machines on the same words as arrays of one shape, and the first steps at which two of them part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.extract.answers import automaton_answers, network_answers
from stacklens.extract.specification import Specification
from stacklens.models.base import StackModel
from stacklens.models.rounding import Operation, Rounded, operation_numbers, round_actions, without_empty_pops
from stacklens.probe.trace import trace

__all__ = ["WordRuns", "agreeing", "automaton_runs", "first_parting", "language_runs", "network_runs"]


@dataclass(frozen=True)
class WordRuns:
    """What one machine does on N words of up to T steps.

    Attributes:
        verdicts: whether it accepts each word, or, who is no recogniser, does not cut it short, (N,) bool.
        answers: the number of its output after each step (see `extract.answers`), (N, T) int; -1 for none.
        dead: whether it has rejected the word by the end of the step, (N, T) bool.
        valid: which steps it takes, (N, T) bool.
        operations: what it does to each stack, (N, T, S) int, numbers of `Operation`; None if unknown.
    """

    verdicts: np.ndarray
    answers: np.ndarray
    dead: np.ndarray
    valid: np.ndarray
    operations: np.ndarray | None = None


def network_runs(model: StackModel[Any], words: Sequence[Word], stacks: Sequence[int], rounded: bool) -> WordRuns:
    """Return the runs of ``model``, or of the rounded one; ``stacks`` are those whose operations are kept.

    The operations of soft actions are those that rounding would make of them. A buffered network answers to whole
    words: its answers stand beside letters, not beside its steps, and there are no operations.
    """
    if not model.real_time:
        answers = network_answers(Rounded(model) if rounded else model, words)
        valid = np.arange(answers.shape[1]) < np.array([len(word) for word in words])[:, None]
        return WordRuns(np.ones(len(words), bool), answers, np.zeros_like(valid), valid)
    seen = trace(Rounded(model) if rounded else model, words, stacks=False)
    if model.task_kind == "recognition" or seen.output.size == 0:
        answers = np.full(seen.valid.shape, -1)
    else:
        answers = model.output_numbers(torch.from_numpy(seen.output))
        answers = np.where(seen.valid & ~seen.rejected, answers, -1)
    operations = _operations(model, seen.actions, seen.valid) if seen.actions.size and len(stacks) else None
    kept = None if operations is None else operations[:, :, list(stacks)]
    return WordRuns(seen.verdicts, answers, seen.rejected, seen.valid, kept)


def _operations(model: StackModel[Any], actions: np.ndarray, valid: np.ndarray) -> np.ndarray | None:
    """Return the operations that actions round to, a pop of an empty stack being none."""
    rounded = round_actions(model.action_kind, torch.from_numpy(np.nan_to_num(actions)))
    numbers: np.ndarray = operation_numbers(model.action_kind, model.operations, rounded).numpy()
    if (numbers < 0).any():  # operations of its own
        return None
    heights = np.zeros((len(numbers), numbers.shape[2]), dtype=np.int64)
    made = np.zeros_like(numbers)
    for t in range(numbers.shape[1]):
        made[:, t], heights = without_empty_pops(numbers[:, t], heights)
    made[~valid] = 0
    return made


def automaton_runs(pda: PushdownAutomaton, model: StackModel[Any], words: Sequence[Word]) -> WordRuns:
    """Return the runs of ``pda``, outputs in the numbers of ``model``; beside a buffered one without operations."""
    if not model.real_time:
        answers = automaton_answers(pda, model, words)
        valid = np.arange(answers.shape[1]) < np.array([len(word) for word in words])[:, None]
        return WordRuns(np.ones(len(words), bool), answers, np.zeros_like(valid), valid)
    lengths = np.array([len(word) for word in words], dtype=np.int64) + (pda.end_marker is not None)
    shape = len(words), int(lengths.max(initial=0))
    operations = np.zeros((*shape, pda.n_stacks), dtype=np.int64)
    valid = np.arange(shape[1]) < lengths[:, None]
    dead = valid.copy()
    for row, word in enumerate(words):
        for t, made in enumerate(_made(pda, word)):
            operations[row, t], dead[row, t] = made, False
    if model.task_kind == "recognition":
        accepted = automaton_answers(pda, model, words)[:, 0] > 0
        return WordRuns(accepted, np.full(shape, -1), dead, valid, operations)
    answers = automaton_answers(pda, model, words)
    return WordRuns(_whole(dead), answers, dead, valid, operations)


def _made(pda: PushdownAutomaton, word: Word) -> list[list[int]]:
    """Return the operations of the run on ``word``, up to where it is cut."""
    steps = (pda.transitions[key] for key in pda.taken(word))
    return [[Operation.of(operation) for operation in step.operations] for step in steps]


def language_runs(specification: Specification, model: StackModel[Any], words: Sequence[Word]) -> WordRuns:
    """Return what is to be expected, without operations; a language for recognisers says something at the end only."""
    answers = specification.answers(model, words)
    if model.task_kind == "recognition":
        nothing = np.zeros((len(words), 0), dtype=bool)
        return WordRuns(answers[:, 0] > 0, np.full(nothing.shape, -1), nothing, nothing)
    valid = np.arange(answers.shape[1]) < np.array([len(word) for word in words])[:, None]
    dead = valid & (answers < 0) if model.task_kind == "next set" else np.zeros_like(valid)
    return WordRuns(_whole(dead), answers, dead, valid)


def _whole(dead: np.ndarray) -> np.ndarray:
    """Return which words are not cut short, (N,) bool."""
    whole: np.ndarray = np.logical_not(dead.any(1))
    return whole


def first_parting(one: WordRuns, other: WordRuns, counts: np.ndarray | None, recogniser: bool) -> np.ndarray:
    """Return the first step, from 0, at which the runs on each word part, -1 for none, (N,) int.

    The rules are those of `extract.divergence`: another operation, another output that ``counts`` (N, T), by default
    all of them, or one of them rejects; of recognisers that matters only if the other accepts in the end.
    """
    steps = min(one.valid.shape[1], other.valid.shape[1])
    if not steps:
        return np.full(len(one.verdicts), -1)
    dead_one, dead_other = one.dead[:, :steps], other.dead[:, :steps]
    either = dead_one | dead_other
    event = either | _different(one, other, counts, steps, recogniser)
    event &= one.valid[:, :steps] & other.valid[:, :steps]
    first = event.argmax(1)
    rows = np.arange(len(first))
    harmless = (dead_one & dead_other)[rows, first]
    if recogniser:
        harmless |= one.verdicts == other.verdicts
    parted = event.any(1) & ~(either[rows, first] & harmless)
    return np.where(parted, first, -1)


def _different(one: WordRuns, other: WordRuns, counts: np.ndarray | None, steps: int, recogniser: bool) -> np.ndarray:
    """Return at which steps the two do something else, or say something else that counts."""
    different = np.zeros((len(one.verdicts), steps), dtype=bool)
    if one.operations is not None and other.operations is not None:
        different |= (one.operations[:, :steps] != other.operations[:, :steps]).any(-1)
    if not recogniser:
        different |= _answers_differ(one, other, counts, steps)
    return different


def _answers_differ(one: WordRuns, other: WordRuns, counts: np.ndarray | None, steps: int) -> np.ndarray:
    differ: np.ndarray = one.answers[:, :steps] != other.answers[:, :steps]
    differ = differ & one.valid[:, :steps] & other.valid[:, :steps]
    if counts is not None:  # steps beyond the word, at an end symbol or after it, are not among them
        told = counts[:, :steps]
        differ[:, : told.shape[1]] &= told
        differ[:, told.shape[1] :] = False
    return differ


def agreeing(one: WordRuns, other: WordRuns, counts: np.ndarray | None, recogniser: bool) -> np.ndarray:
    """Return on which words the two give the same verdict and, who is no recogniser, say the same, (N,) bool."""
    if recogniser:
        same: np.ndarray = one.verdicts == other.verdicts
        return same
    steps = min(one.valid.shape[1], other.valid.shape[1])
    return _whole(_answers_differ(one, other, counts, steps))
