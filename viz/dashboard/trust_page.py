"""The Trust page: what the claims on a network's automaton rest on, and a box to try many words in."""

from __future__ import annotations

from typing import Any

import pandas as pd
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from stacklens.errors import StacklensError
from stacklens.viz.coverage import coverage_table
from stacklens.viz.dashboard.extractions import Known, known
from stacklens.viz.dashboard.networks import title_of
from stacklens.viz.dashboard.parts import AGAIN, ask_again, figure_part, in_python, rows_of, table_part
from stacklens.viz.dashboard.table_looks import fitted_columns, height_of, verdict_columns
from stacklens.viz.dashboard.trust_lines import lines_for
from stacklens.viz.dashboard.trusting import (
    accuracy,
    coverage_sentence,
    judged_words,
    readable,
    some_words,
)
from stacklens.viz.dashboard.turns import NotYetError, in_turn
from stacklens.viz.dashboard.view import View, address_of
from stacklens.viz.style import sentence, themed
from stacklens.viz.trust import SIGNS, check_table, claims_of

__all__ = ["layout", "register"]

_ONLY = "different"
_TABLE = ("rowData", "columnDefs", "style")
_PLACEHOLDER = "one word a line; ε is the empty word"


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
    """Return nothing; give ``app`` the callbacks of this page."""
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
    lines = [lines_for(panel, network) for panel in ("claims", "checks", "coverage")]
    covered, coverage = _coverage(found)
    checks = check_table(found.report)
    return (None, False, _claims(found), lines[0], covered, *_table(checks), *coverage, *lines[1:])


_CLAIMED = 13  # what the callback says


def _missing(network: str) -> list[Any]:
    to = address_of(View("automaton", network))
    return [f"{title_of(network)} has not been extracted yet: ", dcc.Link("extract it on the Automaton page", to), "."]


def _claims(found: Known) -> list[html.Li]:
    return [
        html.Li([html.B(f"{SIGNS[claim.verdict]} {claim.what}"), f": {claim.says}"], className=claim.verdict)
        for claim in claims_of(found.report)
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
        return accuracy(network, theme or "light"), lines_for("accuracy", network)
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
        return some_words(network, clicks or 0), [network, clicks or 0]
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
    return (*table, lines_for("judged", network), found.said, None)
