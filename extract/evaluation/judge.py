"""Many words judged at once: what network, rounded network, automaton and language say, and where runs first part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...automata.pda import Output, PushdownAutomaton, Symbol, Word
from ...core.errors import StacklensError
from ...languages.words import EMPTY_WORD, format_word, parse_typed_word
from ...models.base import StackModel
from ...models.numbers import one_thread
from ...models.rounding import Operation, Rounded, operation_numbers, round_actions, without_empty_pops
from ...probe.trace import trace
from ..answers import automaton_answers, network_answers, output_number
from ..specification import Specification

if TYPE_CHECKING:
    import pandas as pd


# ---- Runs of several machines on the same words as arrays of one shape, and the first steps at which two of them
# part.


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


# ---- Many words judged at once ----

PARTIES = ("network", "rounded network", "automaton", "language")
_HUB = "rounded network"  # what the automaton stands for: the others are compared with it
_CELLS = 20_000  # steps of a batch, beyond the ends of shorter words included

WordVerdict = tuple[bool, str]


@dataclass(frozen=True)
class JudgedWord:
    """What is said of a word.

    Attributes:
        word: the word.
        verdicts: for each party that has one, whether it is a yes, and what it says.
        agree: whether all parties say the same: the same verdict, or the same after every symbol, where that counts.
        step: the first step, from 1, at which one of them parts from the rounded network; None if none does before
            the verdict. Runs may part in what they do to the stack, and still agree.
        parted: who parts from it at that step.
    """

    word: Word
    verdicts: dict[str, WordVerdict]
    agree: bool
    step: int | None
    parted: tuple[str, ...]


def parse_words(text: str, alphabet: Sequence[Symbol]) -> list[Word]:
    """Return the words of ``text``, one a line; empty lines are left out, and ε is the empty word.

    Raises:
        StacklensError: a symbol that is not in the alphabet; the message names the line.

    >>> parse_words("(())\\n\\n ε \\n)(", "()")
    ['(())', '', ')(']
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return [_parsed(line, alphabet, number) for number, line in lines]


def _parsed(line: str, alphabet: Sequence[Symbol], number: int) -> Word:
    try:
        return parse_typed_word(line, alphabet)
    except StacklensError as error:
        raise StacklensError(f"line {number}: {error}") from None


def judge_words(
    model: StackModel[Any],
    words: Sequence[Word],
    automaton: PushdownAutomaton | None = None,
    specification: Specification | None = None,
    stacks: Sequence[int] | None = None,
) -> list[JudgedWord]:
    """Return what network, rounded network, automaton and language say of each of ``words``, in their order.

    Args:
        model: the network, not rounded.
        words: the words.
        automaton: what was extracted from it, if anything was.
        specification: what it should do, if that is known.
        stacks: which of the network's stacks are the automaton's, all by default (see `Extraction.stacks`).

    Raises:
        UnknownSymbolError: a word has a symbol outside the network's alphabet.
    """
    kept = tuple(range(model.n_stacks)) if stacks is None else tuple(stacks)
    judged: dict[int, JudgedWord] = {}
    with one_thread():
        for rows in _batches(words):
            some = [words[row] for row in rows]
            judged |= zip(rows, _Batch(model, some, automaton, specification, kept).judged(), strict=True)
    return [judged[row] for row in range(len(words))]


def _batches(words: Sequence[Word]) -> Iterator[list[int]]:
    """Yield the words' numbers in batches of words of similar lengths, long ones first."""
    batch = list[int]()
    for row in sorted(range(len(words)), key=lambda row: -len(words[row])):
        if batch and (len(batch) + 1) * (len(words[batch[0]]) + 1) > _CELLS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


class _Batch:
    """Words that run together."""

    def __init__(
        self,
        model: StackModel[Any],
        words: Sequence[Word],
        automaton: PushdownAutomaton | None,
        specification: Specification | None,
        stacks: tuple[int, ...],
    ) -> None:
        self.model, self.words, self.reference = model, words, specification
        self.recogniser = model.task_kind == "recognition"
        self.partial_domain = specification is not None and specification.partial_domain
        self.runs: dict[str, WordRuns] = {
            "network": network_runs(model, words, stacks, rounded=False),
            _HUB: network_runs(model, words, stacks, rounded=True),
        }
        if automaton is not None:
            self.runs["automaton"] = automaton_runs(automaton, model, words)
        self.counts, self.meant = self._scored()
        if specification is not None:
            self._expect(specification)

    def _scored(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return which answers count, (N, T), None for all, and which words are meant at all, (N,) bool."""
        meant = np.ones(len(self.words), dtype=bool)
        if self.reference is None or not self.partial_domain:
            return None, meant
        counts = np.zeros((len(self.words), max(map(len, self.words), default=0)), dtype=bool)
        for row, word in enumerate(self.words):
            try:
                scored = self.reference.scored([word])
            except StacklensError:  # no word of the task
                meant[row] = False
                continue
            assert scored is not None, "where only some words are meant, only some answers count"
            counts[row, : len(word)] = scored[0]
        return counts, meant

    def _expect(self, specification: Specification) -> None:
        """Add the language's runs; on words that are none of the task's nothing is expected."""
        stand_in = next((word for word, meant in zip(self.words, self.meant, strict=True) if meant), None)
        if stand_in is None:
            return
        words = [word if meant else stand_in[: len(word)] for word, meant in zip(self.words, self.meant, strict=True)]
        self.runs["language"] = language_runs(specification, self.model, words)

    def judged(self) -> Iterator[JudgedWord]:
        """Yield what is said of every word."""
        hub = self.runs[_HUB]
        others = {who: runs for who, runs in self.runs.items() if who != _HUB}
        steps = {who: first_parting(runs, hub, self.counts, self.recogniser) for who, runs in others.items()}
        agree = np.all([agreeing(runs, hub, self.counts, self.recogniser) for runs in others.values()], axis=0)
        verdicts = {who: self._verdicts(who) for who in PARTIES}
        for row, word in enumerate(self.words):
            parting = {who: int(found[row]) for who, found in steps.items() if found[row] >= 0}
            first = min(parting.values(), default=None)
            said = {who: verdict for who, found in verdicts.items() if (verdict := found[row]) is not None}
            parted = tuple(who for who, step in parting.items() if step == first)
            yield JudgedWord(word, said, bool(agree[row]), None if first is None else first + 1, parted)

    def _verdicts(self, who: str) -> list[WordVerdict | None]:
        """Return what one party says of every word, None where it says nothing."""
        if who == "language" and self.partial_domain:
            return [(bool(meant), "a word of the task" if meant else "no word of the task") for meant in self.meant]
        runs = self.runs.get(who)
        if runs is None:
            return [None] * len(self.words)
        if self.recogniser:
            texts = ("not a member", "a member") if who == "language" else ("rejects", "accepts")
            return [(bool(yes), texts[int(yes)]) for yes in runs.verdicts]
        if self.model.task_kind == "next set":
            return [self._predicted(runs, row) for row in range(len(self.words))]
        return [self._right(runs, row) for row in range(len(self.words))]

    def _predicted(self, runs: WordRuns, row: int) -> WordVerdict:
        """Return whether every symbol was in the set predicted before it, and whether the word is complete."""
        size = len(self.words[row])
        dead = runs.dead[row, :size]
        if dead.any():
            return False, f"rejects symbol {int(dead.argmax()) + 1}"
        complete = size > 0 and runs.answers[row, size - 1] in self._complete
        return True, "complete" if complete else "a beginning" if self._complete else "reads it all"

    @property
    def _complete(self) -> frozenset[int]:
        outputs: frozenset[Output] = frozenset() if self.reference is None else self.reference.complete
        return frozenset(output_number(output, self.model) for output in outputs)

    def _right(self, runs: WordRuns, row: int) -> WordVerdict | None:
        """Return whether all that counts was said as it should be; None where nothing is expected."""
        if self.counts is None or not self.meant[row]:
            return None
        size = len(self.words[row])
        wrong = (runs.answers[row, :size] != self.runs["language"].answers[row, :size]) & self.counts[row, :size]
        return (False, f"wrong at symbol {int(wrong.argmax()) + 1}") if wrong.any() else (True, "all right")


def word_table(judged: Sequence[JudgedWord]) -> pd.DataFrame:
    """Return one row a word: the word (ε if empty), ✓ where all agree, every verdict, where runs part, its length.

    Columns of parties that say nothing of any word are left out.
    """
    import pandas as pd

    parties = [who for who in PARTIES if any(who in one.verdicts for one in judged)]
    rows = [
        {
            "word": format_word(one.word) or EMPTY_WORD,
            "agree": "✓" if one.agree else "✗",
            **{who: _cell(one.verdicts, who) for who in parties},
            "parts at": one.step,
            "who": " and ".join(one.parted),
            "length": len(one.word),
        }
        for one in judged
    ]
    columns = ["word", "agree", *parties, "parts at", "who", "length"]
    return pd.DataFrame(rows, columns=columns).astype({"parts at": "Int64"})


def _cell(verdicts: Mapping[str, WordVerdict], who: str) -> str:
    if who not in verdicts:
        return ""
    yes, text = verdicts[who]
    return f"{'✓' if yes else '✗'} {text}"
