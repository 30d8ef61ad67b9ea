"""What the Automaton page consists of, empty: its callbacks fill it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from dash import dcc, html

from stacklens.viz.dashboard.extraction_job import STAGES
from stacklens.viz.dashboard.parts import figure_part, in_python, table_part

__all__ = ["PANELS", "TITLES", "layout"]

_FORMS = [{"label": "minimised", "value": "minimised"}, {"label": "before minimisation", "value": "raw"}]
TITLES = {"dot": "DOT", "json": "JSON", "jff": "JFLAP", "svg": "SVG"}
_FIELDS = (
    ("states", "clusters to begin with", "found"),
    ("symbols", "stack symbols", "found"),
    ("length", "check all words up to length", "as many as 2.5 million words"),
    ("seed", "seed", "0"),
)
PANELS = ("drawing", "stacks", "steps", "transitions", "definition", "map", "visits")


def layout() -> html.Section:
    """Return the page, empty: its callbacks fill it."""
    return html.Section([*_hidden(), _form(), _status(), html.Div(_found(), id="automaton-found", hidden=True)])


def _hidden() -> list[Any]:
    return [
        *(dcc.Store(id=f"automaton-{name}") for name in ("ended", "done", "svg", "drawn", "run", "lit", "state")),
        dcc.Store(id="automaton-visit", data=uuid4().hex),
        dcc.Download(id="automaton-file"),
    ]


def _form() -> html.Details:
    fields = [
        html.Label([title, dcc.Input(id=f"automaton-{name}", type="number", placeholder=otherwise, debounce=True)])
        for name, title, otherwise in _FIELDS
    ]
    language = dcc.Input(id="automaton-language", placeholder="as the file says", autoComplete="off", spellCheck=False)
    return html.Details(
        [html.Summary("settings"), html.Div([*fields, html.Label(["language", language])], className="automaton-form")]
    )


def _status() -> html.Div:
    return html.Div(
        [
            html.Button("extract", id="automaton-extract", className="automaton-main"),
            html.Button("cancel", id="automaton-cancel", disabled=True),
            html.Progress(id="automaton-bar", max=str(len(STAGES)), value="0"),
            html.Span(id="automaton-stage", role="status"),
            html.P(id="automaton-problem", role="alert"),
            html.P(id="automaton-says"),
        ],
        className="automaton-status",
    )


def _found() -> list[Any]:
    files = [html.Button(title, id=f"automaton-save-{suffix}") for suffix, title in TITLES.items()]
    return [
        dcc.RadioItems(_FORMS, "minimised", id="automaton-form", inline=True),
        html.Div(
            [
                html.Div(id="automaton-drawing", role="group"),
                html.Div(id="automaton-now"),
            ],
            className="automaton-work",
        ),
        html.P("A click on a state shows the words that visit it.", className="automaton-hint"),
        html.Div(files, className="buttons"),
        in_python("automaton-drawing"),
        html.H2("The network's stack and the automaton's"),
        figure_part("automaton-stacks", "stacks"),
        html.H2("The automaton's run"),
        table_part("automaton-steps", "run"),
        html.H2("Transitions"),
        table_part("automaton-transitions", "transitions"),
        html.H2("Formal definition"),
        html.Pre(id="automaton-definition"),
        in_python("automaton-definition"),
        html.H2("Hidden vectors by state"),
        figure_part("automaton-map", "hidden-vectors"),
        html.H2("Words that visit a state", id="automaton-visited"),
        html.P("A click on a row goes to that word and step.", className="automaton-hint"),
        table_part("automaton-visits", "visits"),
        html.Details([html.Summary("what it rests on"), html.Pre(id="automaton-summary")]),
    ]
