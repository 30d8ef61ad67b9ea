"""An automaton against a language alone, on all words up to a length, where there is no network to ask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stacklens.automata.enumeration import accepts_all, word_at
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError, listed
from stacklens.extract.verification.agreement import Agreement, count_again
from stacklens.extract.verification.checks import exhaustive_length
from stacklens.extract.verification.exhaustive import Verification
from stacklens.languages.language import Language
from stacklens.languages.words import make_word

__all__ = ["verify_by_language"]


def verify_by_language(pda: PushdownAutomaton, language: Language, max_length: int | None = None) -> Verification:
    """Return how ``pda`` compares with the reference automaton of ``language`` on all words up to ``max_length``.

    By default these are about 2.5 million words.

    Raises:
        StacklensError: the alphabets differ, there are too many words, or the automaton has outputs, whose meaning only
            a network says.
    """
    if any(step.output is not None for step in pda.transitions.values()):
        raise StacklensError("an automaton with outputs is no recogniser of a language: name its network too")
    if set(pda.input_alphabet) != set(language.alphabet):
        read, expected = listed(pda.input_alphabet), listed(language.alphabet)
        raise StacklensError(f"the automaton reads {read}; expected the alphabet of {language.name}, {expected}")
    longest = exhaustive_length(len(pda.input_alphabet), max_length)
    target = replace(language.automaton, input_alphabet=pda.input_alphabet)  # in whose order words are numbered
    words, disagreements, first, accepted = 0, 0, None, list[int]()
    for length, (mine, theirs) in enumerate(zip(accepts_all(pda, longest), accepts_all(target, longest), strict=True)):
        different = np.flatnonzero(mine != theirs)
        if first is None and len(different):
            first = _word(pda, int(different[0]), length)
        words, disagreements = words + len(mine), disagreements + len(different)
        accepted.append(int(mine.sum()))
    check = Agreement("exhaustive", "language", longest, words, sum(accepted), disagreements, first, tuple(accepted))
    return Verification((check,), count_again(pda, [check], recogniser=True))


def _word(pda: PushdownAutomaton, number: int, length: int) -> Word:
    return make_word(word_at(number, length, pda.input_alphabet), pda.input_alphabet)
