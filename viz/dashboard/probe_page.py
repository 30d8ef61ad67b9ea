"""The Probe page: choose a network, type a word, and move through its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from dash import dcc, html

from stacklens.viz.dashboard.networks import network_names
from stacklens.viz.figures import FIGURES
from stacklens.viz.page import CONFIG

__all__ = ["badges", "layout"]

_NAMES = {
    "paper": "what its paper draws",
    "actions": "actions, pushed values, readings",
    "stack": "stack cells",
    "segments": "stack segments",
    "operations": "table of operations",
    "hidden": "hidden vectors",
    "map": "map of hidden vectors",
    "rounding": "soft and rounded stack",
}
_PLAY = 600  # milliseconds a step
_BUTTONS = (("first", "|◀", "first step (Home)"), ("back", "◀", "back (←)"), ("play", "play", "play or stop (space)"))
_MORE = (("forward", "▶", "forward (→)"), ("last", "▶|", "last step (End)"))


def layout() -> html.Main:
    """Return the page, empty: its callbacks fill it."""
    return html.Main(
        [
            dcc.Location(id="address", refresh=False),
            dcc.Store(id="letters"),
            dcc.Store(id="notes"),
            dcc.Store(id="shown"),
            dcc.Store(id="marked"),
            dcc.Store(id="theme", storage_type="local"),
            dcc.Interval(id="clock", interval=_PLAY, disabled=True),
            dcc.Download(id="file"),
            html.Header([html.H1("stacklens"), html.Button("◐", id="shade", title="light or dark")]),
            _choices(),
            html.P(id="problem", role="alert"),
            html.Div(id="verdicts", className="badges"),
            _scrubber(),
            dcc.Graph(id="picture", config=cast(Any, CONFIG)),
            html.Div([html.Button("steps as CSV", id="csv"), html.Button("trace as JSON", id="json")]),
            html.Details([html.Summary("in Python"), html.Pre(id="line")]),
        ]
    )


def _choices() -> html.Div:
    networks = [{"label": name, "value": name} for name in network_names()]
    figures = [{"label": _NAMES[name], "value": name} for name in FIGURES]
    kinds = [{"label": "network", "value": "soft"}, {"label": "rounded network", "value": "rounded"}]
    return html.Div(
        [
            html.Label(["network", dcc.Dropdown(networks, id="network", clearable=False)], className="wide"),
            html.Label(["word", dcc.Input(id="word", debounce=0.5, autoComplete="off", spellCheck=False)]),
            html.Button("another word", id="random"),
            html.Label(["figure", dcc.Dropdown(figures, id="figure", clearable=False, searchable=False)]),
            dcc.RadioItems(kinds, id="kind", inline=True),
        ],
        className="choices",
    )


def _scrubber() -> html.Div:
    buttons = [html.Button(sign, id=name, title=title) for name, sign, title in (*_BUTTONS, *_MORE)]
    slider = dcc.Slider(1, 2, 1, value=1, id="step", updatemode="drag", marks=None, allow_direct_input=False)
    return html.Div(
        [
            html.Div(buttons, className="buttons"),
            slider,
            html.Div(id="tape"),
            html.Div(id="now", role="status"),
        ],
        className="scrubber",
    )


def badges(verdicts: Sequence[tuple[str, str, bool]]) -> list[html.Span]:
    """Return a label for every verdict, with a mark as well as a colour."""
    return [
        html.Span(f"{'✓' if yes else '✗'} {who}: {said}", className="yes" if yes else "no")
        for who, said, yes in verdicts
    ]
