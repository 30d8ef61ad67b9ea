"""Many words judged at once: what network, rounded network, automaton and language say, and where runs first part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklens.automata.pda import Output, PushdownAutomaton, Symbol, Word
from stacklens.errors import StacklensError
from stacklens.extract.answers import output_number
from stacklens.extract.evaluation.word_runs import (
    WordRuns,
    agreeing,
    automaton_runs,
    first_parting,
    language_runs,
    network_runs,
)
from stacklens.extract.specification import Specification
from stacklens.languages.words import EMPTY_WORD, format_word, parse_typed_word
from stacklens.models.base import StackModel
from stacklens.models.device import one_thread

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EMPTY_WORD", "PARTIES", "JudgedWord", "judge_words", "parse_words", "word_table"]

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
