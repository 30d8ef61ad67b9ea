"""What the claims on a network's automaton rest on, accuracy by size, and many words judged at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from ...automata.formats.json import from_json, to_json_line
from ...automata.pda import PushdownAutomaton, Symbol, Word
from ...core.errors import StacklensError
from ...extract.accuracy import SizeScores, scores_by_size
from ...extract.by_name import specification_for, subject_named
from ...extract.evaluation.judge import JudgedWord, judge_words, parse_words, word_table
from ...extract.evaluation.trust import covered
from ...extract.specification import Specification
from ...languages.words import EMPTY_WORD, format_word
from ..curves import accuracy_figure
from ..style import sentence, themed
from .extractions import Known, known, settings_known
from .networks import checkpoint_of, fitting_specification, network_title
from .requests import View, address_of

MOST_WORDS, MOST_SYMBOLS, LONGEST = 2_000, 10_000, 2_000  # of a list: words, symbols in all, symbols of one word
_DRAWN = 24  # words that the page draws, about
_HORIZON = "#8C8C8C"  # seen on white and on black
# how many of which lengths; where only some words are meant these are sizes of pieces, and numbers are taken as shares
_LENGTHS = {False: ((_DRAWN, (2, 40)),), True: ((10 * _DRAWN, (2, 6)), (3 * _DRAWN, (16, 32)))}


def known_specification(name: str) -> Specification | None:
    """Return what to check the network called ``name`` against; None where that is nothing we know.

    It is what somebody named when it was extracted, or else what its file says.
    """
    settings = settings_known(name)
    return fitting_specification(checkpoint_of(name), None if settings is None else settings.language)


def coverage_sentence(pda: PushdownAutomaton) -> str:
    """Return how many of the transitions, and of two in a row, the covering words take."""
    singles, pairs = covered(pda)
    return (
        f"{singles:,} of {len(pda.transitions):,} transitions are taken by words that the checks are made on, "
        f"and {pairs:,} pairs of two in a row."
    )


def accuracy(name: str, theme: str = "light") -> go.Figure:
    """Return the accuracy by size of the network called ``name``, with its automaton's where that is known."""
    found = known(name)
    automaton = None if found is None or found.automaton is None else to_json_line(found.automaton)
    try:
        specification = known_specification(name)
        if specification is None:
            raise StacklensError("what this network was trained on is not known, so nothing is right or wrong")
        scores = _scores_cached(name, specification.name, automaton)
        figure = accuracy_figure(scores, f"{network_title(name)}: right by size")
        if scores.size == "length" and found is not None:
            _mark_horizons(figure, found.report)
    except StacklensError as error:
        figure = sentence(f"Nothing to draw: {error}.")
    return themed(figure, theme)


def _mark_horizons(figure: go.Figure, report: dict[str, Any]) -> None:
    """Draw a line at the length up to which network and rounded network are shown to agree with the automaton."""
    largest = max((max(line.x, default=0) for line in figure.data), default=0)
    for place, (who, entry) in enumerate(report.get("horizon", {}).items()):
        if entry["length"] is not None and not entry["every_length"]:
            figure.add_vline(x=entry["length"], line={"dash": "dot", "width": 1.5, "color": _HORIZON})
            label = f"horizon, {who}: {entry['length']}"
            side = "left" if 2 * entry["length"] < largest else "right"  # where there is room
            figure.add_annotation(x=entry["length"], y=0.12 + 0.2 * place, text=label, xanchor=side, showarrow=False)


@lru_cache(maxsize=64)
def _scores_cached(name: str, subject: str, automaton: str | None) -> SizeScores:
    """Return the scores, which cost a second or two, and are the same for all users."""
    model = checkpoint_of(name).model
    specification = specification_for(subject_named(subject, model.task_kind))
    assert specification is not None
    return scores_by_size(model, specification, None if automaton is None else from_json(automaton))


@dataclass(frozen=True)
class JudgedWords:
    """Words as they were judged.

    Attributes:
        frame: a row a word, with a column "open": the address that shows the word at the step where runs part.
        said: how many agree, in a sentence.
        problem: what is wrong with the list, one sentence, or None.
    """

    frame: pd.DataFrame
    said: str = ""
    problem: str | None = None


def judged_words(name: str, text: str, only_different: bool = False) -> JudgedWords:
    """Return the verdicts on the words of ``text``, one a line, by the network called ``name`` and all beside it."""
    try:
        model = checkpoint_of(name).model
        words = _list_of(text, model.alphabet)
        found = known(name)
        automaton, stacks = (None, None) if found is None else (found.automaton, found.stacks)
        judged = judge_words(model, words, automaton, known_specification(name), stacks)
    except StacklensError as error:
        return JudgedWords(pd.DataFrame(), problem=f"{error}.")
    different = [one for one in judged if not one.agree]
    frame = word_table(shown := different if only_different else judged)
    frame["open"] = [
        address_of(View(name, format_word(one.word), step=one.step or max(1, len(one.word)))) for one in shown
    ]
    return JudgedWords(frame, _judged_sentence(judged, different, found))


def _list_of(text: str, alphabet: Sequence[Symbol]) -> list[Word]:
    """Return the words of ``text``."""
    if (lines := text.count("\n")) >= 2 * MOST_WORDS:
        raise StacklensError(f"these are {lines:,} lines; expected at most {MOST_WORDS:,} words at once")
    words = parse_words(text, alphabet)
    symbols, longest = sum(map(len, words)), max(map(len, words), default=0)
    if len(words) > MOST_WORDS:
        raise StacklensError(f"these are {len(words):,} words; expected at most {MOST_WORDS:,} at once")
    if longest > LONGEST:
        raise StacklensError(f"the longest word has {longest:,} symbols; expected at most {LONGEST:,} here")
    if symbols > MOST_SYMBOLS:
        raise StacklensError(f"these words have {symbols:,} symbols in all; expected at most {MOST_SYMBOLS:,} at once")
    return words


def _judged_sentence(judged: list[JudgedWord], different: list[JudgedWord], found: Known | None) -> str:
    if not judged:
        return ""
    count = f"{len(judged):,} {'word' if len(judged) == 1 else 'words'}"
    missing = "" if found is not None and found.automaton is not None else " There is no automaton to compare with yet."
    if not different:
        return f"✓ {count}: all agree.{missing}"
    return f"✗ {count}: not all agree on {len(different):,} of them.{missing}"


def words_to_try(name: str, seed: int) -> str:
    """Return words that suit the network called ``name``, one a line: short ones, members and near-misses, longer ones.

    Of a task that means only some words there are these.
    """
    specification = known_specification(name)
    if specification is None:
        return "\n".join([EMPTY_WORD, *checkpoint_of(name).model.alphabet])
    drawn = specification.short_words(_DRAWN // 4)
    for number, lengths in _LENGTHS[specification.partial_domain]:
        drawn += specification.long_words(number, lengths, seed)
    return "\n".join(dict.fromkeys(format_word(word) or EMPTY_WORD for word in drawn))
