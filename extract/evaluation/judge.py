"""Many words judged at once by network, rounded network, automaton and language, and where their runs first part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from ...automata.pda import PushdownAutomaton, Symbol, Word
from ...core.errors import StacklensError
from ...core.imports import pd
from ...languages.language import EMPTY_WORD, format_word, parse_typed_word
from ...models.base import StackModel, one_thread
from ...models.inference import answer_name, automaton_answers, differences, network_answers, output_number
from ...models.rounding import Operation, Rounded, operation_numbers, round_actions, without_empty_pops
from ...probe.trace import trace
from ..samples import Samples, rounding_fidelity
from ..specification import Specification

# ---- Runs of several machines on the same words as arrays of one shape, and the first steps at which two part ----


@dataclass(frozen=True)
class WordRuns:
    """What one machine does on N words of up to T steps."""

    verdicts: np.ndarray  # whether it accepts each word; of other tasks, whether it does not cut it short, (N,) bool
    answers: np.ndarray  # the number of its output after each step (see `models.inference`), (N, T) int; -1 for none
    dead: np.ndarray  # whether it has rejected the word by the end of the step, (N, T) bool
    valid: np.ndarray  # which steps it takes, (N, T) bool
    # what it does to each stack, (N, T, S) int, numbers of `Operation`; None if unknown
    operations: np.ndarray | None = None


def network_runs(model: StackModel[Any], words: Sequence[Word], stacks: Sequence[int], rounded: bool) -> WordRuns:
    """Return the runs of ``model``, or of the rounded one, with the operations, as rounded, on ``stacks``.

    Answers of a buffered network to whole words stand beside letters, and it has no operations.
    """
    if not model.real_time:
        return _runs_of_whole_words(network_answers(Rounded(model) if rounded else model, words), words)
    seen = trace(Rounded(model) if rounded else model, words, stacks=False)
    if model.task_kind == "recognition" or seen.output.size == 0:
        answers = np.full(seen.valid.shape, -1)
    else:
        answers = model.output_numbers(torch.from_numpy(seen.output))
        answers = np.where(seen.valid & ~seen.rejected, answers, -1)
    runs = WordRuns(seen.verdicts, answers, seen.rejected, seen.valid)
    if not seen.actions.size or not len(stacks):
        return runs

    # the operations that actions round to, a pop of an empty stack being none
    actions = round_actions(model.action_kind, torch.from_numpy(np.nan_to_num(seen.actions)))
    numbers: np.ndarray = operation_numbers(model.action_kind, model.operations, actions).numpy()
    if (numbers < 0).any():  # operations of its own
        return runs
    heights, operations = np.zeros((len(numbers), numbers.shape[2]), dtype=np.int64), np.zeros_like(numbers)
    for t in range(numbers.shape[1]):
        operations[:, t], heights = without_empty_pops(numbers[:, t], heights)
    operations[~seen.valid] = 0
    return replace(runs, operations=operations[:, :, list(stacks)])


def _runs_of_whole_words(answers: np.ndarray, words: Sequence[Word], cut: bool = False) -> WordRuns:
    """Return runs that take a step a letter; with ``cut`` they are over where there is no answer."""
    valid = np.arange(answers.shape[1]) < np.array([len(word) for word in words])[:, None]
    dead = valid & (answers < 0) & cut
    return WordRuns(np.logical_not(dead.any(1)), answers, dead, valid)


def automaton_runs(pda: PushdownAutomaton, model: StackModel[Any], words: Sequence[Word]) -> WordRuns:
    """Return the runs of ``pda``, outputs in the numbers of ``model``; beside a buffered one without operations."""
    answers = automaton_answers(pda, model, words)
    if not model.real_time:
        return _runs_of_whole_words(answers, words)
    lengths = np.array([len(word) for word in words], dtype=np.int64) + (pda.end_marker is not None)
    shape = len(words), int(lengths.max(initial=0))
    operations = np.zeros((*shape, pda.n_stacks), dtype=np.int64)
    valid = np.arange(shape[1]) < lengths[:, None]
    dead = valid.copy()
    for row, word in enumerate(words):
        for t, key in enumerate(pda.taken(word)):  # up to where the run is cut
            operations[row, t] = [Operation.of(operation) for operation in pda.transitions[key].operations]
            dead[row, t] = False
    if model.task_kind == "recognition":
        return WordRuns(answers[:, 0] > 0, np.full(shape, -1), dead, valid, operations)
    return WordRuns(np.logical_not(dead.any(1)), answers, dead, valid, operations)


def language_runs(specification: Specification, model: StackModel[Any], words: Sequence[Word]) -> WordRuns:
    """Return the runs to be expected, without operations; for recognisers there is a verdict at the end only."""
    answers = specification.answers(model, words)
    if model.task_kind == "recognition":
        nothing = np.zeros((len(words), 0), dtype=bool)
        return WordRuns(answers[:, 0] > 0, np.full(nothing.shape, -1), nothing, nothing)
    return _runs_of_whole_words(answers, words, cut=model.task_kind == "next set")


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
    event = either.copy()
    if one.operations is not None and other.operations is not None:
        event |= (one.operations[:, :steps] != other.operations[:, :steps]).any(-1)
    if not recogniser:
        event |= _answers_differ(one, other, counts, steps)
    event &= one.valid[:, :steps] & other.valid[:, :steps]
    first = event.argmax(1)
    rows = np.arange(len(first))
    harmless = (dead_one & dead_other)[rows, first]
    if recogniser:
        harmless |= one.verdicts == other.verdicts
    parted = event.any(1) & ~(either[rows, first] & harmless)
    return np.where(parted, first, -1)


def _answers_differ(one: WordRuns, other: WordRuns, counts: np.ndarray | None, steps: int) -> np.ndarray:
    differ: np.ndarray = one.answers[:, :steps] != other.answers[:, :steps]
    differ = differ & one.valid[:, :steps] & other.valid[:, :steps]
    if counts is not None:  # steps beyond the word, at an end symbol or after it, are not among them
        asked = counts[:, :steps]
        differ[:, : asked.shape[1]] &= asked
        differ[:, asked.shape[1] :] = False
    return differ


def agreeing(one: WordRuns, other: WordRuns, counts: np.ndarray | None, recogniser: bool) -> np.ndarray:
    """Return on which words the two give the same verdict or, of other tasks, the same answers, (N,) bool."""
    if recogniser:
        return np.asarray(one.verdicts == other.verdicts)
    steps = min(one.valid.shape[1], other.valid.shape[1])
    return np.logical_not(_answers_differ(one, other, counts, steps).any(1))


# ---- Many words judged at once ----

PARTIES = ("network", "rounded network", "automaton", "language")
_HUB = "rounded network"  # what the automaton stands for: the others are compared with it
_CELLS = 20_000  # steps of a batch, beyond the ends of shorter words included

WordVerdict = tuple[bool, str]


@dataclass(frozen=True)
class JudgedWord:
    """The verdicts on a word."""

    word: Word
    verdicts: dict[str, WordVerdict]  # for each party that has one, whether it is a yes, and in words
    agree: bool  # whether all parties give the same verdict, or the same answer after every symbol, where that counts
    # the first step, from 1, at which one of them parts from the rounded network; None if none does before the verdict.
    # Runs may part in what they do to the stack, and still agree
    step: int | None
    parted: tuple[str, ...]  # who parts from it at that step


def parse_words(text: str, alphabet: Sequence[Symbol]) -> list[Word]:
    """Return the words of ``text``, one a line; empty lines are left out, and ε is the empty word. Raises
    StacklensError: a symbol that is not in the alphabet; the message names the line.

    >>> parse_words("(())\\n\\n ε \\n)(", "()")
    ['(())', '', ')(']
    """
    words = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                words.append(parse_typed_word(line.strip(), alphabet))
            except StacklensError as error:
                raise StacklensError(f"line {number}: {error}") from None
    return words


def judge_words(
    model: StackModel[Any],  # the network, not rounded
    words: Sequence[Word],
    automaton: PushdownAutomaton | None = None,  # what was extracted from it, if anything was
    specification: Specification | None = None,  # what it should do, if that is known
    # which of the network's stacks are the automaton's, all by default (see `Extraction.stacks`)
    stacks: Sequence[int] | None = None,
) -> list[JudgedWord]:
    """Return the verdicts of network, rounded network, automaton, language on ``words``. Raises UnknownSymbolError."""
    kept = tuple(range(model.n_stacks)) if stacks is None else tuple(stacks)
    judged: dict[int, JudgedWord] = {}
    with one_thread():
        # words of similar lengths run together, long ones first
        left = sorted(range(len(words)), key=lambda row: -len(words[row]))
        while left:
            rows = left[: max(1, _CELLS // (len(words[left[0]]) + 1))]
            left = left[len(rows) :]
            some = [words[row] for row in rows]
            judged |= zip(rows, _judged_together(model, some, automaton, specification, kept), strict=True)
    return [judged[row] for row in range(len(words))]


def _judged_together(
    model: StackModel[Any],
    words: Sequence[Word],
    automaton: PushdownAutomaton | None,
    specification: Specification | None,
    stacks: tuple[int, ...],
) -> Iterator[JudgedWord]:
    recogniser = model.task_kind == "recognition"
    counts, meant = _counting_answers(words, specification)
    runs = {
        "network": network_runs(model, words, stacks, rounded=False),
        _HUB: network_runs(model, words, stacks, rounded=True),
    }
    if automaton is not None:
        runs["automaton"] = automaton_runs(automaton, model, words)
    if specification is not None and meant.any():  # of words that are not the task's nothing is expected
        stand_in = words[int(meant.argmax())]
        expected = [word if good else stand_in[: len(word)] for word, good in zip(words, meant, strict=True)]
        runs["language"] = language_runs(specification, model, expected)

    hub = runs[_HUB]
    others = {party: run for party, run in runs.items() if party != _HUB}
    steps = {party: first_parting(run, hub, counts, recogniser) for party, run in others.items()}
    agree = np.all([agreeing(run, hub, counts, recogniser) for run in others.values()], axis=0)
    complete = () if specification is None or model.task_kind != "next set" else specification.complete
    ends = frozenset(output_number(output, model) for output in complete)

    def verdict(party: str, row: int) -> WordVerdict | None:
        if party == "language" and counts is not None:
            return bool(meant[row]), "a word of the task" if meant[row] else "no word of the task"
        run, size = runs.get(party), len(words[row])
        if run is None:
            return None
        if recogniser:
            texts = ("not a member", "a member") if party == "language" else ("rejects", "accepts")
            return bool(run.verdicts[row]), texts[int(run.verdicts[row])]
        if model.task_kind == "next set":  # whether every symbol was predicted, and whether the word is complete
            dead = run.dead[row, :size]
            if dead.any():
                return False, f"rejects symbol {int(dead.argmax()) + 1}"
            whole = size > 0 and run.answers[row, size - 1] in ends
            return True, "complete" if whole else "a beginning" if ends else "reads it all"
        if counts is None or not meant[row]:
            return None
        wrong = (run.answers[row, :size] != runs["language"].answers[row, :size]) & counts[row, :size]
        return (False, f"wrong at symbol {int(wrong.argmax()) + 1}") if wrong.any() else (True, "all right")

    for row, word in enumerate(words):
        parting = {party: int(found[row]) for party, found in steps.items() if found[row] >= 0}
        first = min(parting.values(), default=None)
        verdicts = {party: found for party in PARTIES if (found := verdict(party, row)) is not None}
        parted = tuple(party for party, step in parting.items() if step == first)
        yield JudgedWord(word, verdicts, bool(agree[row]), None if first is None else first + 1, parted)


def _counting_answers(
    words: Sequence[Word], specification: Specification | None
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return which answers count, (N, T), None for all, and which words are meant at all, (N,) bool."""
    meant = np.ones(len(words), dtype=bool)
    if specification is None or not specification.partial_domain:
        return None, meant
    counts = np.zeros((len(words), max(map(len, words), default=0)), dtype=bool)
    for row, word in enumerate(words):
        try:
            scored = specification.scored([word])
        except StacklensError:  # no word of the task
            meant[row] = False
            continue
        assert scored is not None, "where only some words are meant, only some answers count"
        counts[row, : len(word)] = scored[0]
    return counts, meant


def word_table(judged: Sequence[JudgedWord]) -> pd.DataFrame:
    """Return one row a word: the word (ε if empty), ✓ where all agree, every verdict, where runs part, its length."""
    parties = [party for party in PARTIES if any(party in one.verdicts for one in judged)]
    rows = []
    for one in judged:
        cells = {party: f"{'✓' if yes else '✗'} {text}" for party, (yes, text) in one.verdicts.items()}
        rows.append(
            {
                "word": format_word(one.word) or EMPTY_WORD,
                "agree": "✓" if one.agree else "✗",
                **{party: cells.get(party, "") for party in parties},
                "parts at": one.step,
                "who": " and ".join(one.parted),
                "length": len(one.word),
            }
        )
    columns = ["word", "agree", *parties, "parts at", "who", "length"]
    return pd.DataFrame(rows, columns=columns).astype({"parts at": "Int64"})


# ---- Where they part first among the words of the search ----


@dataclass(frozen=True)
class Errors:
    """How often an automaton that is not faithful is wrong."""

    other: str  # compared with what: "language", "rounded network" or "network"
    words: int  # how many words were compared: all short ones, and drawn ones
    # how many of these at least one of the two accepts, or does not cut short: most words are rejected by anything
    counted: int
    wrong: int  # on how many the two differ
    word: Word | None  # the shortest of these, None where there is none

    @property
    def rate(self) -> float:
        """Return the share of the counted words on which the two differ, in [0, 1]."""
        return min(1.0, self.wrong / max(1, self.counted))

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        word, length = (None, 0) if self.word is None else (format_word(self.word), len(self.word))
        return {**asdict(self), "rate": self.rate, "word": word, "length": length}


@dataclass(frozen=True)
class Parting:
    """The shortest word of the search on which two say something else."""

    # one, other: the two: "network", "rounded network", "language", or "automaton", which is the best where there is no
    # faithful one
    one: str
    other: str
    word: Word
    # the first step, from 1, at which they do or say something else; None where only the verdict differs
    step: int | None
    # says, other_says: what the two say there
    says: str
    other_says: str

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {**asdict(self), "word": format_word(self.word)}


@dataclass(frozen=True)
class Said:
    """What everybody says of the words of the search."""

    model: StackModel[Any]
    pda: PushdownAutomaton | None  # the automaton, or the best one; None where there is none
    # which of the network's stacks the automaton's are; none where its steps are not those of the network
    stacks: Sequence[int]
    samples: Samples
    # the answers by name: "network", "rounded network", "automaton", "language"; (N, 1) or (N, T) each
    answers: dict[str, np.ndarray]

    def errors(self, other: str) -> Errors:
        """Return how often the automaton is wrong of another."""
        found = rounding_fidelity(self.answers["automaton"], self.answers[other], self.samples.scored)
        row = self._first_row("automaton", other)
        word = None if row is None else self.samples.words[row]
        return Errors(other, found.words, found.accepted_by_either, found.disagreements, word)

    def parting(self, one: str, other: str) -> Parting | None:
        """Return where two part first, None where they do not, or one is not there."""
        row = self._first_row(one, other) if one in self.answers and other in self.answers else None
        if row is None:
            return None
        word, answers = self.samples.words[row], [self.answers[who][row] for who in (one, other)]
        if self.model.task_kind == "recognition":
            place, step = 0, self._step(one, other, word)
        else:  # the first symbol after which outputs that count differ
            scored = None if self.samples.scored is None else self.samples.scored[row][None]
            place = int(differences(answers[0][None], answers[1][None], scored)[0].argmax())
            step = place + 1
        says, other_says = (answer_name(int(answer[place]), self.model) for answer in answers)
        return Parting(one, other, word, step, says, other_says)

    def _first_row(self, one: str, other: str) -> int | None:
        wrong = differences(self.answers[one], self.answers[other], self.samples.scored).any(1)
        rows = np.flatnonzero(wrong).tolist()
        return min(rows, key=lambda row: len(self.samples.words[row]), default=None)

    def _step(self, one: str, other: str, word: Word) -> int | None:
        """Return the first step, from 1, at which two do something else on a word that they judge differently."""
        unseen = not self.stacks or not self.model.real_time or self.model.answers_to(()) is not None
        if "language" in (one, other) or unseen:
            return None
        if "automaton" in (one, other) and (self.pda is None or self.pda.n_stacks != len(self.stacks)):
            return None  # it does without some of the stacks
        step = int(first_parting(self._runs(one, word), self._runs(other, word), None, recogniser=True)[0])
        return None if step < 0 else step + 1

    def _runs(self, who: str, word: Word) -> WordRuns:
        if who == "automaton":
            assert self.pda is not None
            return automaton_runs(self.pda, self.model, [word])
        return network_runs(self.model, [word], self.stacks, rounded=who == "rounded network")


def said_by_all(
    model: StackModel[Any],
    language: Specification | None,
    pda: PushdownAutomaton | None,
    stacks: Sequence[int],
    samples: Samples,
) -> Said:
    """Return what network, rounded network, ``pda`` and ``language`` say of the words of the search."""
    size, width = samples.n_short, samples.rounded.shape[1]

    def padded(answers: np.ndarray) -> np.ndarray:
        return np.pad(answers, ((0, 0), (0, width - answers.shape[1])), constant_values=-1)

    # what the network itself answers to short words is known, and to drawn ones where nothing is rounded
    known = model.action_kind == "none" or size == len(samples.words)
    soft = samples.rounded[size:] if known else network_answers(model, samples.words[size:])
    answers = {"network": np.concatenate([padded(samples.analog), padded(soft)]), "rounded network": samples.rounded}
    if pda is not None:
        answers["automaton"] = padded(automaton_answers(pda, model, samples.words))
    if language is not None:
        answers["language"] = padded(language.answers(model, samples.words))
    return Said(model, pda, stacks, samples, answers)
