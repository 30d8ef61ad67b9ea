"""What all pages share: the way from one to another, the network, the word, its verdicts and the scrubber."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from stacklens.viz.dashboard.networks import offered
from stacklens.viz.dashboard.pages import PAGES
from stacklens.viz.dashboard.parts import extra
from stacklens.viz.dashboard.steps import LONGEST
from stacklens.viz.dashboard.turns import LONG
from stacklens.viz.dashboard.uploads import LARGEST

__all__ = ["badges", "layout"]

_PLAY = 600  # milliseconds a step
_BUTTONS = (("first", "|◀", "first step (Home)"), ("back", "◀", "back (←)"), ("play", "play", "play or stop (space)"))
_MORE = (("forward", "▶", "forward (→)"), ("last", "▶|", "last step (End)"))


def layout() -> html.Main:
    """Return the page, empty: its callbacks fill it, and every page but the first is made when it is first visited."""
    sections = [
        html.Div(page.layout() if name == "probe" else None, id=f"page-{name}", className="page")
        for name, page in PAGES.items()
    ]
    return html.Main([*_hidden(), _header(), _choices(), _problem(), _said(), *sections])


def _hidden() -> list[Any]:
    """Return the parts that nobody sees."""
    return [
        dcc.Location(id="address", refresh=False),
        *(dcc.Store(id=name) for name in ("page", "letters", "notes", "shown", "marked", "later", "again")),
        dcc.Store(id="extracted"),  # how the Automaton page says that there may be an automaton now
        dcc.Store(id="theme", storage_type="local"),
        dcc.Store(id="uploads", storage_type="session", data=[]),
        dcc.Interval(id="clock", interval=_PLAY, disabled=True),
        dcc.Download(id="file"),
    ]


def _header() -> html.Header:
    links = [html.Button(page.title, id=f"go-{name}") for name, page in PAGES.items()]
    shade = html.Button("◐", id="shade", title="light or dark", **extra(aria_label="light or dark"))
    return html.Header([html.H1("stacklens"), html.Nav(links, **extra(aria_label="pages")), shade])


def _choices() -> html.Div:
    kinds = [{"label": "network", "value": "soft"}, {"label": "rounded network", "value": "rounded"}]
    limit = f"{LARGEST // 1_000_000}"
    upload = dcc.Upload(
        html.Button("open a file", title=f"a trained network, at most {limit} MB; it can be dropped on the page, too"),
        id="upload",
        multiple=False,
    )
    return html.Div(
        [
            html.Label(
                ["network", dcc.Dropdown(list(offered(())), id="network", clearable=False)], className="wide networkly"
            ),
            html.Div(upload, className="networkly", id="upload-place", **extra(data_limit=str(LARGEST))),
            html.Label(["word", _word()], className="wordly"),
            html.Button("another word", id="random", className="wordly"),
            dcc.RadioItems(kinds, id="kind", inline=True, className="wordly"),
        ],
        className="choices",
    )


def _word() -> html.Span:
    typed = dcc.Input(id="word", debounce=0.5, autoComplete="off", spellCheck=False)
    limit = f"at most {LONGEST:,} symbols; words of more than {LONG:,} are worked on one at a time, for all users"
    return html.Span(typed, title=limit)


def _problem() -> html.P:
    return html.P(id="problem", role="alert")


def _said() -> html.Div:
    buttons = [
        html.Button(sign, id=name, title=title, **extra(aria_label=title)) for name, sign, title in (*_BUTTONS, *_MORE)
    ]
    slider = dcc.Slider(1, 2, 1, value=1, id="step", updatemode="drag", marks=None, allow_direct_input=False)
    return html.Div(
        [
            html.Div(id="verdicts", className="badges"),
            html.Div(buttons, className="buttons"),
            slider,
            html.Div(id="tape"),
            html.Div(id="now", role="status"),
        ],
        className="scrubber wordly",
    )


def badges(verdicts: Sequence[tuple[str, str, bool]]) -> list[html.Span]:
    """Return a label for every verdict, with a mark as well as a colour."""
    return [
        html.Span(f"{'✓' if yes else '✗'} {who}: {said}", className="yes" if yes else "no")
        for who, said, yes in verdicts
    ]
