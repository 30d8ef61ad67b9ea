"""The equivalence oracle: whether a hypothesis does what the network does, found out by our own words.

These are the checking words, random ones among them, walks over the hypothesis, words that cover its transitions, and
words that drive it to every height of its stack (see `Scorer`): where the network answers something else, a short one
is the counterexample. Long words would teach a network's drift: they only judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from stacklens.automata.compare import Equal
from stacklens.automata.pda import PushdownAutomaton, Symbol, Word
from stacklens.automata.reachability import trim
from stacklens.automata.simulation import accepts_many
from stacklens.extract.answers import automaton_answers
from stacklens.extract.search.asking.answers_kept import AnswersKept, EnoughError
from stacklens.extract.search.asking.complete_words import CompleteWords, predictor
from stacklens.extract.search.asking.hypotheses import automaton_of
from stacklens.extract.search.candidates import Candidate, Scorer, minimised
from stacklens.languages.words import make_word

__all__ = ["Oracle"]

_LONGEST_TAUGHT = 40  # symbols of a counterexample, where the hypothesis errs on few words
_NEAR, _DRIFT = 0.01, 0.1  # as in the search: shares of the accepted words that may be wrong
_TOO_LONG = 60  # symbols of a counterexample that KV would take minutes for where there is a stack: then without one
_MOST_STATES = 300
_LEFT, _LONGER = 100, 4  # short words on which a hypothesis was wrong, that are tried on the next ones first
_FEW_STATES, _PATIENCE, _BETTER = 40, 12, 0.75  # larger ones have to lose a quarter of their errors in so many rounds


class Oracle:
    """What AALpy asks whether a hypothesis is right.

    Args:
        scorer: who knows the network's answers to the checking words.
        answers: the network's answers.
        blank: the candidate that a hypothesis becomes.
        over: says when to stop.

    Attributes:
        tried: the hypotheses so far, scored.
    """

    def __init__(self, scorer: Scorer, answers: AnswersKept, blank: Candidate, over: Callable[[], bool]) -> None:
        self.scorer, self.answers, self.blank, self.over = scorer, answers, blank, over
        self.tried: list[Candidate] = []
        self.nested = set(scorer.nested.words)
        self.left: list[Word] = []  # words on which the hypothesis before was wrong
        self.sul = answers  # AALpy sets and counts these
        self.num_queries = self.num_steps = 0

    def find_cex(self, hypothesis: Any) -> tuple[Symbol, ...] | None:
        """Return a word on which ``hypothesis`` is wrong, None where it is right, or near enough.

        Raises:
            EnoughError: the time is over, or it has too many states.
        """
        scorer = self.scorer
        network = self.answers.network  # a predictor may be asked which words are complete, and no more
        pda = said = automaton_of(hypothesis, network, scorer.complete)
        again = None if self.over() or len(pda.states) > _MOST_STATES else self._first_wrong(pda, pda, self.left)
        if again is not None:  # as the hypothesis before: all words need not be judged again
            return again
        if network.task_kind != scorer.model.task_kind:
            said = predictor(trim(pda), scorer.model, scorer.complete)
        found = minimised(replace(self.blank, states=len(pda.states)), said)
        small = found.automaton
        assert small is not None
        words = scorer.broken_by(small)
        found = replace(found, quantiser=self._told(), disagreements=len(words))
        self.tried.append(found)
        deep = all(word in self.nested for word in words)  # then all else is right
        drifts = not deep or scorer.specification is not None
        if not words or (drifts and self._is_enough(found, words)):
            return None
        if self.over() or len(pda.states) > _MOST_STATES or self._idles(found):
            raise EnoughError
        stacked = self.blank.way == "learn-vpa"
        if deep and (len(words[0]) > _TOO_LONG if stacked else scorer.nested.endless is not None):
            raise EnoughError
        longest = 0 if deep or stacked else len(words[0]) + _LONGER  # longer ones would teach a network's drift
        self.left = [word for word in words[:_LEFT] if len(word) <= longest]
        # The deepest word teaches a finite automaton all depths before it, at once.
        return self._first_wrong(small, pda, words[::-1] if deep and not stacked else words)

    def _idles(self, found: Candidate) -> bool:
        """Return whether states are added, and hardly any error goes: no finite number will do."""
        if found.states <= _FEW_STATES or len(self.tried) <= _PATIENCE:
            return False
        before = self.tried[-1 - _PATIENCE].disagreements or 0
        return (found.disagreements or 0) > _BETTER * before

    def _told(self) -> str:
        return f"{self.blank.quantiser}, {self.answers.asked:,} words asked, hypothesis {len(self.tried) + 1}"

    def _is_enough(self, found: Candidate, words: list[Word]) -> bool:
        """Return whether only long words are wrong, and few, or the network drifts from what it was trained to do.

        It drifts where the hypothesis is that, and is wrong on few words, or on none of the short ones.
        """
        if self.scorer.errs_at_most(found, _NEAR) and len(words[0]) > _LONGEST_TAUGHT:
            return True
        few = self.scorer.errs_at_most(found, _DRIFT) or self.scorer.only_long(words)
        if self.scorer.specification is None or not few:
            return False
        assert found.automaton is not None
        return isinstance(self.scorer.specification.compare(found.automaton), Equal)

    def _first_wrong(
        self, small: PushdownAutomaton, pda: PushdownAutomaton, words: list[Word]
    ) -> tuple[Symbol, ...] | None:
        """Return the shortest beginning of the shortest of ``words`` on which ``pda`` itself is wrong.

        What is minimised may say more than the hypothesis where outputs do not count.
        """
        if self.answers.recogniser:
            return self._misjudged(pda, words)
        for word in words:
            said = automaton_answers(pda, self.scorer.model, [make_word(word, small.input_alphabet)])[0].tolist()
            for length, answer in self.answers.beginnings(word):
                if said[length - 1] != answer:
                    return tuple(word[:length])
        return None

    def _misjudged(self, pda: PushdownAutomaton, words: list[Word]) -> tuple[Symbol, ...] | None:
        """Return the shortest word, of ``words`` or of all that are known, that ``pda`` accepts or rejects wrongly."""
        if isinstance(self.answers.network, CompleteWords):
            samples = self.scorer.samples
            words = sorted([*words, *samples.words[samples.n_short :], *self.answers.known()], key=len)
        answers = self.answers.to_all(words)
        wrong = np.flatnonzero(accepts_many(pda, words) != np.array(answers, bool))
        return tuple(words[wrong[0]]) if len(wrong) else None
