"""Where network, rounded network, automaton and language part first among the words of the search."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..automata.compare import Comparison
from ..automata.pda import PushdownAutomaton, Word
from ..languages.words import format_word
from ..models.base import StackModel
from .answers import answer_name, automaton_answers, differences, network_answers
from .evaluation.judge import WordRuns, automaton_runs, first_parting, network_runs
from .samples import Samples, rounding_fidelity
from .specification import Specification


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
        return {**asdict(self), "rate": self.rate, "word": None if self.word is None else format_word(self.word)}


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
class WhatIsSaid:
    """What all parties say on a word that tells both automata apart."""

    word: Word
    shortest: bool  # whether there is no shorter one
    step: int | None  # after which symbol, from 1; None for the verdict on the whole word
    # white, black: what the automaton and the one that was learned from answers say there
    white: str
    black: str
    # network, rounded: what the network itself and the rounded one say there
    network: str
    rounded: str
    meant: bool = True  # whether the task asks about this word


@dataclass(frozen=True)
class BlackBoxView:
    """What was learned from a network's answers alone, beside its automaton."""

    comparison: Comparison  # whether both automata do the same on all words
    proof: Comparison  # whether the learned one equals the language or task
    # words, wrong: the checking words, and on how many of them it differs from the network itself
    words: int
    wrong: int
    reason: str | None  # why it does not stand for the network, None where it does
    agree_to: int | None  # where nothing is proved: up to which length both do the same on all words; else None
    said: WhatIsSaid | None  # what all answer to a word that tells them apart, None where none is known

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report, without the comparisons, which are entries of their own."""
        apart = None if self.said is None else {**asdict(self.said), "word": format_word(self.said.word)}
        names = ("words", "wrong", "reason", "agree_to")
        return {**{name: getattr(self, name) for name in names}, "said": apart}


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
            says, other_says = (answer_name(int(answer[0]), self.model) for answer in answers)
            return Parting(one, other, word, self._step(one, other, word), says, other_says)
        # of predictors and transducers the first symbol after which outputs that count differ
        scored = None if self.samples.scored is None else self.samples.scored[row][None]
        step = int(np.flatnonzero(differences(answers[0][None], answers[1][None], scored)[0])[0])
        says, other_says = (answer_name(int(answer[step]), self.model) for answer in answers)
        return Parting(one, other, word, step + 1, says, other_says)

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
    # short words, then drawn ones; what the network itself answers to the short ones is known
    short, drawn = samples.words[: samples.n_short], samples.words[samples.n_short :]
    shape = samples.rounded.shape
    same = model.action_kind == "none"  # then nothing is rounded
    soft = network_answers(model, drawn) if drawn and not same else samples.rounded[samples.n_short :]
    answers = {"network": _one_array(samples.analog, soft, shape), "rounded network": samples.rounded}
    if pda is not None:
        parts = [automaton_answers(pda, model, part) for part in (short, drawn)]
        answers["automaton"] = _one_array(parts[0], parts[1], shape)
    if language is not None:
        parts = [language.answers(model, part) for part in (short, drawn)]
        answers["language"] = _one_array(parts[0], parts[1], shape)
    return Said(model, pda, stacks, samples, answers)


def _one_array(short: np.ndarray, drawn: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return answers to short and drawn words as one array of this ``shape``; -1 beyond the words."""
    whole = np.full(shape, -1, np.result_type(np.int64, short, drawn))  # sets of many symbols are objects
    whole[: len(short), : short.shape[1]] = short
    if len(drawn):  # no words have no answers, of whatever shape
        whole[len(short) :, : drawn.shape[1]] = drawn
    return whole
