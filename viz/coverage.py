"""Which transitions of an automaton words take: a claim that was checked on none of them says little of the others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from stacklens.automata.coverage import covering_words
from stacklens.automata.pda import Key, PushdownAutomaton, Word
from stacklens.languages.words import format_word, make_word
from stacklens.viz.tables import transition_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["coverage_table", "covered", "covering"]


def covering(pda: PushdownAutomaton) -> list[Word]:
    """Return words that together take every transition that can be taken, and every two that can follow each other."""
    return [make_word(word, pda.input_alphabet) for word in covering_words(pda)]


def coverage_table(pda: PushdownAutomaton, words: Sequence[Word] | None = None) -> pd.DataFrame:
    """Return one row a transition: how many of ``words``, by default the covering ones, take it, and a shortest.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> step = Transition("q", (NONE,))
    >>> pda = PushdownAutomaton(("q",), ("a", "b"), (), {("q", x, ("⊥",)): step for x in "ab"}, "q", frozenset({"q"}))
    >>> coverage_table(pda, ["aa", "a"])[["input", "taken by", "shortest word"]].values.tolist()
    [['a', 2, 'a'], ['b', 0, '']]
    """
    taking = _words_taking(pda, covering(pda) if words is None else words).values()
    table = transition_table(pda)
    table["taken by"] = [len(takers) for takers in taking]
    table["shortest word"] = [format_word(min(takers, key=len, default="")) for takers in taking]
    return table


def covered(pda: PushdownAutomaton, words: Sequence[Word] | None = None) -> tuple[int, int]:
    """Return how many transitions, and how many pairs of two in a row, ``words`` take; by default the covering ones."""
    runs = [list(pda.taken(word)) for word in (covering(pda) if words is None else words)]
    singles = {key for run in runs for key in run}
    return len(singles), len({pair for run in runs for pair in pairwise(run)})


def _words_taking(pda: PushdownAutomaton, words: Sequence[Word]) -> dict[Key, list[Word]]:
    taking: dict[Key, list[Word]] = {key: [] for key in pda.transitions}
    for word in words:
        for key in set(pda.taken(word)):
            taking[key].append(word)
    return taking
