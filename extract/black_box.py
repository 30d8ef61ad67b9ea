"""White box against black box: what was read out of a network beside what its answers alone teach.

An automaton that was extracted from a network on a stack saw the stack. Learned once more from answers (see
`search.asking`), nothing of the stack is seen and nothing is rounded. Whether the two are equal is proved, or a
word shows that they are not, with what the network itself says on it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..automata.compare import Comparison, Different, Undecided, compare, compared_outputs
from ..automata.pda import PushdownAutomaton
from ..core.errors import StacklensError
from ..languages.language import make_word
from ..models.base import StackModel, one_thread
from ..models.inference import answer_name, automaton_answers, automaton_answers_on_all, network_answers
from ..models.rounding import Rounded
from .agreement import agreement_by_length
from .config import Budget, ExtractionConfig, asked_method
from .result import BlackBoxView, Extraction, WhatIsSaid
from .samples import draw_samples, reason_not_learned
from .search.asking import ASKED
from .search.candidates import Candidate
from .search.search import SearchPlan
from .specification import Specification, default_max_length

_WORDS = 200_000  # on which both automata are run where no proof is found, or to find a shorter word


def compare_with_black_box(result: Extraction, kind: str, settings: dict[str, Any]) -> tuple[Candidate, BlackBoxView]:
    """Return what is learned from the answers of a result's network, and how it compares with its automaton."""
    method = asked_method(kind)
    if result.minimised is None:
        raise StacklensError(
            f"there is no automaton to compare with: {result.reason}; sl.learn(model) learns one from answers alone"
        )
    if result.found is not None and result.found.method in ASKED:
        raise StacklensError("the automaton was learned from answers alone: there is no other way to compare it with")
    if not result.model.real_time:
        raise StacklensError(
            "a network that chooses when to read and write has no answer after every symbol to ask for"
        )
    try:
        config = replace(result.config or ExtractionConfig(), **settings, method=method)
    except TypeError:
        raise StacklensError(f"black_box has no setting {', '.join(settings)}; it takes those of extract") from None
    with one_thread():
        from .extraction import look_as_box

        model, language = result.model, result.language
        # the same words as those of the search, answered by the network itself
        samples = draw_samples(model, language, config.seed)
        looked = look_as_box(model, samples, SearchPlan(config, language, budget=Budget(config.budget)))
        best = looked.best
        if best is None or best.automaton is None:
            raise StacklensError("nothing was learned from the network's answers in the time that there was")
        wrong = best.disagreements or 0
        counted = 0 if looked.scorer.is_near(best) else wrong
        reason = looked.reason or reason_not_learned(best.method, best.states, counted, len(samples.words))
        proof: Comparison = (
            Undecided("there is nothing to compare with") if language is None else language.compare(best.automaton)
        )
        comparison, agree_to, apart = _compare_answers(result.automaton, best.automaton, model, language)
        return best, BlackBoxView(comparison, proof, len(samples.words), wrong, reason, agree_to, apart)


def _compare_answers(
    white: PushdownAutomaton, black: PushdownAutomaton, model: StackModel[Any], language: Specification | None
) -> tuple[Comparison, int | None, WhatIsSaid | None]:
    """Return whether both are equal, or else up to which length, and what all answer to the shortest word known."""
    comparison = compare(white, black, outputs=compared_outputs(white))
    agree_to, word, exact = None, None, False
    if isinstance(comparison, Different):
        word, exact = make_word(comparison.word, model.alphabet), comparison.shortest
    # nothing proved, or a word that may not be the shortest: all words up to a length are run
    if isinstance(comparison, Undecided) or (word is not None and not exact):
        most = default_max_length(len(model.alphabet), _WORDS)
        most = most if word is None else min(most, len(word))
        ours, theirs = (list(automaton_answers_on_all(pda, model, most)) for pda in (white, black))
        if compared_outputs(white) == "where both":
            theirs = [np.where((a >= 0) & (b >= 0), b, a) for a, b in zip(ours, theirs, strict=True)]
        agreement = agreement_by_length("", ours, theirs, white.input_alphabet, lambda answers, _: answers[:0])
        found = agreement.counterexample
        if found is None and word is None:
            agree_to = most
        elif found is not None:
            word, exact = found, True
    if word is None:
        return comparison, agree_to, None

    # what all answer to the word
    answers = [automaton_answers(pda, model, [word])[0] for pda in (white, black)]
    answers += [network_answers(runner, [word])[0] for runner in (model, Rounded(model))]
    meant = language is None or bool(language.meant([word])[0])
    recogniser = model.task_kind == "recognition"
    differ = [0] if recogniser else np.flatnonzero(answers[0] != answers[1]).tolist()
    if differ:
        white_says, black_says, network, rounded = (answer_name(int(answer[differ[0]]), model) for answer in answers)
    else:  # the outputs are the same: what accepts is not
        white_says, black_says = ("accepts" if pda.accepts(word) else "rejects" for pda in (white, black))
        network = rounded = "says as both do"
    step = None if recogniser or not differ else differ[0] + 1
    apart = WhatIsSaid(word, exact, step, white_says, black_says, network, rounded, meant)
    return comparison, agree_to, apart
