"""The Trust page: what the claims on a network's automaton rest on, and a box to try many words in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from stacklens.automata.formats.json import from_json, to_json_line
from stacklens.automata.pda import PushdownAutomaton, Symbol, Word
from stacklens.errors import StacklensError
from stacklens.extract.by_name import specification_for, subject_named
from stacklens.extract.evaluation.accuracy_by_size import SizeScores, scores_by_size
from stacklens.extract.evaluation.trust import check_table, claims_of, coverage_table, covered
from stacklens.extract.evaluation.word_list import EMPTY_WORD, JudgedWord, judge_words, parse_words, word_table
from stacklens.extract.specification import Specification
from stacklens.languages.words import format_word
from stacklens.viz.curves import accuracy_figure
from stacklens.viz.dashboard.components import (
    AGAIN,
    ask_again,
    claim_items,
    figure_part,
    fitted_columns,
    height_of,
    in_python,
    rows_of,
    table_part,
    verdict_columns,
)
from stacklens.viz.dashboard.extractions import Known, known, settings_known
from stacklens.viz.dashboard.networks import fitting_specification, load, network_title
from stacklens.viz.dashboard.python_lines import trust_lines
from stacklens.viz.dashboard.turns import NotYetError, in_turn
from stacklens.viz.dashboard.view import View, address_of
from stacklens.viz.style import sentence, themed

__all__ = [
    "JudgedWords",
    "accuracy",
    "coverage_sentence",
    "judged_words",
    "known_specification",
    "layout",
    "readable",
    "register",
    "words_to_try",
]

MOST_WORDS, MOST_SYMBOLS, LONGEST = 2_000, 10_000, 2_000  # of a list: words, symbols in all, symbols of one word
_DRAWN = 24  # words that the page draws, about
# how many of which lengths; where only some words are meant these are sizes of pieces, and numbers are taken as shares
_LENGTHS = {False: ((_DRAWN, (2, 40)),), True: ((10 * _DRAWN, (2, 6)), (3 * _DRAWN, (16, 32)))}

_ONLY = "different"
_TABLE = ("rowData", "columnDefs", "style")
_PLACEHOLDER = "one word a line; ε is the empty word"
_CLAIMED = 13  # what the callback says


def known_specification(name: str) -> Specification | None:
    """Return what to check the network called ``name`` against; None where that is nothing we know.

    It is what somebody named when it was extracted, or else what its file says.

    Raises:
        StacklensError: there is no such network.
    """
    settings = settings_known(name)
    return fitting_specification(load(name), None if settings is None else settings.language)


def coverage_sentence(pda: PushdownAutomaton) -> str:
    """Return how many of the transitions, and of two in a row, the covering words take."""
    singles, pairs = covered(pda)
    return (
        f"{singles:,} of {len(pda.transitions):,} transitions are taken by words that the checks are made on, "
        f"and {pairs:,} pairs of two in a row."
    )


def accuracy(name: str, theme: str = "light") -> go.Figure:
    """Return the accuracy by size of the network called ``name``, with its automaton's where that is known.

    Raises:
        StacklensError: there is no such network.
    """
    found = known(name)
    automaton = None if found is None or found.automaton is None else to_json_line(found.automaton)
    try:
        specification = known_specification(name)
        if specification is None:
            raise StacklensError("what this network was trained on is not known, so nothing is right or wrong")
        figure = accuracy_figure(_scores(name, specification.name, automaton), f"{network_title(name)}: right by size")
    except StacklensError as error:
        figure = sentence(f"Nothing to draw: {error}.")
    return themed(figure, theme)


@lru_cache(maxsize=64)
def _scores(name: str, subject: str, automaton: str | None) -> SizeScores:
    """Return the scores, which cost a second or two, and are the same for all users."""
    model = load(name).model
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
    """Return what is said of the words of ``text``, one a line, by the network called ``name`` and all beside it."""
    try:
        model = load(name).model
        words = _list_of(text, model.alphabet)
        found = known(name)
        automaton, stacks = (None, None) if found is None else (found.automaton, found.stacks)
        judged = judge_words(model, words, automaton, known_specification(name), stacks)
    except StacklensError as error:
        return JudgedWords(pd.DataFrame(), problem=f"{error}.")
    different = [one for one in judged if not one.agree]
    frame = word_table(shown := different if only_different else judged)
    frame["open"] = [_place(name, one) for one in shown]
    return JudgedWords(frame, _said(judged, different, found))


def _list_of(text: str, alphabet: Sequence[Symbol]) -> list[Word]:
    """Return the words of ``text``.

    Raises:
        StacklensError: a symbol that is not in the alphabet, or more than the page judges at once. A long word takes
            the time of many short ones, for its steps follow one another.
    """
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


def _place(name: str, one: JudgedWord) -> str:
    step = one.step or max(1, len(one.word))
    return address_of(View("probe", name, format_word(one.word), rounded=False, step=step))


def _said(judged: list[JudgedWord], different: list[JudgedWord], found: Known | None) -> str:
    if not judged:
        return ""
    count = f"{len(judged):,} {'word' if len(judged) == 1 else 'words'}"
    missing = "" if found is not None and found.automaton is not None else " There is no automaton to compare with yet."
    if not different:
        return f"✓ {count}: all agree.{missing}"
    return f"✗ {count}: not all agree on {len(different):,} of them.{missing}"


def readable(name: str, text: str) -> bool:
    """Return whether there are words in ``text`` and the network called ``name`` reads all of them."""
    try:
        return bool(_list_of(text, load(name).model.alphabet))
    except StacklensError:
        return False


def words_to_try(name: str, seed: int) -> str:
    """Return words that suit the network called ``name``, one a line: short ones, members and near-misses, longer ones.

    Of a task that means only some words there are these.
    """
    specification = known_specification(name)
    if specification is None:
        return "\n".join([EMPTY_WORD, *load(name).model.alphabet])
    drawn = specification.short_words(_DRAWN // 4)
    for number, lengths in _LENGTHS[specification.partial_domain]:
        drawn += specification.long_words(number, lengths, seed)
    return "\n".join(dict.fromkeys(format_word(word) or EMPTY_WORD for word in drawn))


def layout() -> html.Section:
    """Return the page, empty: its callbacks fill it."""
    return html.Section(
        [
            html.P(id="trust-note", role="status"),
            html.Div(
                [
                    html.H2("What the claims rest on"),
                    html.Ul(id="trust-claims", className="claims"),
                    in_python("trust-claims"),
                    html.H2("Checks"),
                    table_part("trust-checks", "checks"),
                    html.H2("Transitions"),
                    html.P(id="trust-covered"),
                    table_part("trust-coverage", "coverage"),
                ],
                id="trust-extracted",
                hidden=True,
            ),
            html.H2("Right and wrong by size"),
            figure_part("trust-accuracy", "accuracy"),
            html.H2("Many words"),
            *_box(),
        ]
    )


def _box() -> list[Any]:
    words = dcc.Textarea(id="trust-words", placeholder=_PLACEHOLDER, rows=8, spellCheck=False)
    return [
        html.Label(["words, one a line", words]),
        html.Div(
            [
                html.Button("judge", id="trust-judge"),
                html.Button("other words", id="trust-draw"),
                dcc.Checklist([{"label": "only where they differ", "value": _ONLY}], [], id="trust-only", inline=True),
            ],
            className="buttons",
        ),
        dcc.Store(id="trust-asked"),
        html.P(id="trust-problem", role="alert", className="problem"),
        html.P(id="trust-said", role="status"),
        table_part("trust-judged", "words"),
    ]


def register(app: Dash) -> None:
    """Give ``app`` the callbacks of this page."""
    network, page, extracted = Input("network", "value"), Input("page", "data"), Input("extracted", "data")
    app.callback(
        *(Output("trust-note", "children"), Output("trust-extracted", "hidden"), Output("trust-claims", "children")),
        *(Output("trust-claims-line", "children"), Output("trust-covered", "children")),
        *(Output(f"trust-{name}", what) for name in ("checks", "coverage") for what in _TABLE),
        *(Output(f"trust-{name}-line", "children") for name in ("checks", "coverage")),
        *(network, page, extracted),
    )(_claim)
    app.callback(
        *(Output("trust-accuracy", "figure"), Output("trust-accuracy-line", "children")),
        *(network, page, Input("theme", "data"), extracted),
    )(_draw)
    app.callback(
        *(Output("trust-words", "value"), Output("trust-asked", "data")),
        *(network, page, Input("trust-draw", "n_clicks"), State("trust-words", "value"), State("trust-asked", "data")),
    )(_offer)
    app.callback(
        *(Output("trust-judged", what) for what in _TABLE),
        *(Output("trust-judged-line", "children"), Output("trust-said", "children")),
        Output("trust-problem", "children"),
        *(network, page, Input("trust-judge", "n_clicks"), Input("trust-asked", "data"), Input("trust-only", "value")),
        *(extracted, AGAIN, State("trust-words", "value")),
    )(_judge)


def _claim(network: str, page: str, extracted: Any) -> tuple[Any, ...]:
    """Return all that is known of the network's automaton, or a sentence that says where to extract one."""
    del extracted  # it says only that there may be another automaton now
    if page != "trust":
        return (no_update,) * _CLAIMED
    try:
        found = known(network)
    except StacklensError as error:
        return (f"{error}.", True, *(no_update,) * (_CLAIMED - 2))
    if found is None:
        return (_missing(network), True, *(no_update,) * (_CLAIMED - 2))
    lines = [trust_lines(panel, network) for panel in ("claims", "checks", "coverage")]
    covered, coverage = _coverage(found)
    checks = check_table(found.report)
    return (
        None,
        False,
        claim_items(claims_of(found.report)),
        lines[0],
        covered,
        *_table(checks),
        *coverage,
        *lines[1:],
    )


def _missing(network: str) -> list[Any]:
    to = address_of(View("automaton", network))
    return [
        f"{network_title(network)} has not been extracted yet: ",
        dcc.Link("extract it on the Automaton page", to),
        ".",
    ]


def _coverage(found: Known) -> tuple[str, tuple[Any, ...]]:
    if found.automaton is None:
        return "There is no automaton, so there are no transitions.", ([], [], height_of(0))
    return coverage_sentence(found.automaton), _table(coverage_table(found.automaton))


def _table(frame: pd.DataFrame) -> tuple[Any, ...]:
    """Return rows, columns and style of a table."""
    return rows_of(frame), fitted_columns(frame), height_of(len(frame))


def _draw(network: str, page: str, theme: str | None, extracted: Any) -> tuple[Any, Any]:
    """Return the figure of accuracy by size and its Python lines."""
    del extracted
    if page != "trust":
        return no_update, no_update
    try:
        return accuracy(network, theme or "light"), trust_lines("accuracy", network)
    except StacklensError as error:
        return themed(sentence(f"Nothing to draw: {error}."), theme or "light"), ""


def _offer(network: str, page: str, clicks: int | None, words: str | None, asked: list[Any] | None) -> tuple[Any, Any]:
    """Return other words where they are asked for, where there are none, or where a new network cannot read them all.

    Beside them, which network they are for, and the number of clicks. What somebody has typed for this network stays,
    wrong symbols and all: the page says what is wrong with it.
    """
    if page != "trust":
        return no_update, no_update
    new = asked is None or asked[0] != network
    if ctx.triggered_id != "trust-draw" and (words or "").strip() and (not new or readable(network, words or "")):
        return no_update, [network, clicks or 0] if new else no_update
    try:
        return words_to_try(network, clicks or 0), [network, clicks or 0]
    except StacklensError:  # the table says why
        return no_update, no_update


def _judge(
    *given: Any,
) -> tuple[Any, ...]:
    """Return the words with all that is said of them; where that is not there yet, that it will be."""
    network, page, _, _, only, _, _, words = given
    if page != "trust":
        return (no_update,) * 6
    try:
        found = in_turn(network, words or "", judged_words, network, words or "", _ONLY in (only or []))
    except NotYetError as error:
        return [], [], height_of(0), "", ask_again(f"{error}."), None
    except StacklensError as error:
        return [], [], height_of(0), "", "", f"{error}."
    if found.problem is not None:
        return [], [], height_of(0), "", "", found.problem
    frame = found.frame
    table = rows_of(frame), verdict_columns(frame, link="word"), height_of(len(frame))
    return (*table, trust_lines("judged", network), found.said, None)
