"""The application: what all pages share, how the shared parts act on each other, and the server.

Moving through a word happens in the browser, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas  # noqa: F401 (here: plotly looks for it from other threads while a first one is still importing it)
from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update
from flask import Flask

from stacklens.errors import StacklensError
from stacklens.viz.dashboard import automaton_page, papers_page, probe_page, trust_page
from stacklens.viz.dashboard.access import Access, add_policy, guard
from stacklens.viz.dashboard.automaton_views import asked_for
from stacklens.viz.dashboard.bodies import check_bodies
from stacklens.viz.dashboard.components import AGAIN, ask_again, extra
from stacklens.viz.dashboard.networks import (
    LARGEST_BODY,
    LARGEST_UPLOAD,
    PREFIX,
    decoded,
    is_known,
    keep_upload,
    load,
    offered,
    random_word,
)
from stacklens.viz.dashboard.steps import LONGEST_WORD, steps_of
from stacklens.viz.dashboard.turns import LONG, NotYetError, in_turn
from stacklens.viz.dashboard.view import View, view_of
from stacklens.viz.figures import FIGURES

__all__ = ["PAGES", "Page", "badges", "layout", "new_application", "register"]

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
    limit = f"{LARGEST_UPLOAD // 1_000_000}"
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
            html.Div(upload, className="networkly", id="upload-place", **extra(data_limit=str(LARGEST_UPLOAD))),
            html.Label(["word", _word()], className="wordly"),
            html.Button("another word", id="random", className="wordly"),
            dcc.RadioItems(kinds, id="kind", inline=True, className="wordly"),
        ],
        className="choices",
    )


def _word() -> html.Span:
    typed = dcc.Input(id="word", debounce=0.5, autoComplete="off", spellCheck=False)
    limit = f"at most {LONGEST_WORD:,} symbols; words of more than {LONG:,} are worked on one at a time, for all users"
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


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        title: what the button to it says.
        layout: makes its section, when it is visited for the first time.
        register: gives the application its callbacks; they answer nothing while another page is shown.
    """

    title: str
    layout: Callable[[], html.Section]
    register: Callable[[Dash], None]


PAGES = {
    "probe": Page("Probe", probe_page.layout, probe_page.register),
    "automaton": Page("Automaton", automaton_page.layout, automaton_page.register),
    "trust": Page("Trust", trust_page.layout, trust_page.register),
    "papers": Page("Papers", papers_page.layout, papers_page.register),
}


def register(app: Dash) -> None:
    """Give ``app`` the callbacks of what all pages share."""
    _register_choices(app)
    app.callback(
        *(Output("verdicts", "children"), Output("letters", "data"), Output("notes", "data")),
        *(Output("problem", "children"), Output("step", "max")),
        *(Input("network", "value"), Input("word", "value"), Input("kind", "value"), Input("page", "data")),
        *(Input("extracted", "data"), AGAIN),
    )(_tell)
    for name in PAGES:
        where = f"page-{name}"
        app.callback(Output(where, "children"), Input("page", "data"), State(where, "children"))(_make(name))
    _register_in_the_browser(app)


def _register_choices(app: Dash) -> None:
    app.callback(
        *(Output("network", "options"), Output("network", "value"), Output("word", "value"), Output("kind", "value")),
        *(Output("figure", "value"), Output("step", "value"), Output("page", "data")),
        Input("address", "search"),
        State("uploads", "data"),
    )(_open)
    app.callback(
        Output("word", "value", allow_duplicate=True),
        Output("step", "value", allow_duplicate=True),
        Input("random", "n_clicks"),
        Input("network", "value"),
        State("word", "value"),
        prevent_initial_call=True,
    )(_another)
    app.callback(
        Output("network", "options", allow_duplicate=True),
        Output("network", "value", allow_duplicate=True),
        Output("word", "value", allow_duplicate=True),
        Output("uploads", "data"),
        Output("problem", "children", allow_duplicate=True),
        Output("upload", "contents"),
        Input("upload", "contents"),
        State("upload", "filename"),
        State("uploads", "data"),
        prevent_initial_call=True,
    )(_receive)


def _register_in_the_browser(app: Dash) -> None:
    register_one: Any = app.clientside_callback  # dash leaves it without types
    register_one(
        ClientsideFunction("probe", "move"),
        Output("step", "value", allow_duplicate=True),
        Output("clock", "disabled"),
        *(Input(name, "n_clicks") for name in ("first", "back", "play", "forward", "last")),
        Input("clock", "n_intervals"),
        *(State("step", "value"), State("step", "max"), State("clock", "disabled")),
        prevent_initial_call=True,
    )
    register_one(
        ClientsideFunction("probe", "mark"),
        Output("marked", "data"),
        *(Input("step", "value"), Input("letters", "data"), Input("notes", "data")),
    )
    register_one(
        ClientsideFunction("probe", "remember"),
        Output("shown", "data"),
        *(Input("network", "value"), Input("word", "value"), Input("kind", "value"), Input("figure", "value")),
        *(Input("step", "value"), Input("page", "data")),
    )
    register_one(
        ClientsideFunction("probe", "turn"),
        Output("page", "data", allow_duplicate=True),
        *(Input(f"go-{name}", "n_clicks") for name in PAGES),
        prevent_initial_call=True,
    )
    register_one(ClientsideFunction("probe", "later"), Input("later", "data"), prevent_initial_call=True)
    register_one(
        ClientsideFunction("probe", "shade"),
        Output("theme", "data"),
        Input("shade", "n_clicks"),
        State("theme", "data"),
    )


def _open(search: str | None, opened: list[str] | None) -> tuple[Any, ...]:
    """Return the choices of networks and the values of the controls for an address."""
    view = view_of(search)
    network = view.network if is_known(view.network) else View.network
    word = random_word(network, 0) if view.word is None else view.word
    figure = view.figure if view.figure in FIGURES else View.figure
    files = [*(opened or []), *([network] if network.startswith(PREFIX) else [])]
    return list(offered(files)), network, word, "rounded" if view.rounded else "soft", figure, view.step, view.page


def _another(clicks: int | None, network: str, word: str | None) -> tuple[Any, Any]:
    """Return another word where one is asked for, or where the network cannot read the one that is there."""
    try:
        if ctx.triggered_id != "random" and set(word or "") <= {*"".join(load(network).model.alphabet), " "}:
            return no_update, no_update
        return random_word(network, clicks or 0), 1
    except StacklensError:  # the page says that there is no such network any more
        return no_update, no_update


def _receive(contents: str | None, title: str | None, opened: list[str]) -> tuple[Any, ...]:
    """Return the choices of networks with the file that was opened, which is shown, or what is wrong with it.

    What the browser holds of the file is let go in any case, so that the same file can be opened again.
    """
    if contents is None:
        return (no_update,) * 6
    try:
        name = keep_upload(decoded(contents), title or "a file").name
    except StacklensError as error:
        return (no_update,) * 4 + (f"{error}.", None)
    opened = list(dict.fromkeys([name, *opened]))
    return list(offered(opened)), name, random_word(name, 0), opened, None, None


def _tell(
    network: str, word: str | None, kind: str, page: str, done: dict[str, Any] | None, again: Any
) -> tuple[Any, ...]:
    """Return who says what of the word, and what happens at every step, for the pages that show a word.

    The automaton is the one that the page shows: on the Automaton page what was extracted there, as ``done`` says.
    """
    del again
    if page not in ("probe", "automaton"):
        return (no_update,) * 5
    settings = asked_for(network, done) if page == "automaton" else None
    try:
        found = in_turn(network, word or "", steps_of, network, word or "", kind == "rounded", settings)
    except NotYetError as error:
        return [], [], [], ask_again(f"{error}."), 1
    except StacklensError as error:
        return [], [], [], f"{error}.", 1
    return badges(found.verdicts), list(found.letters), list(found.notes), found.problem, max(1, len(found.letters))


def _make(name: str) -> Any:
    """Return the callback that makes the page called ``name`` when it is first visited."""

    def make(page: str, there: Any) -> Any:
        return no_update if page != name or there else PAGES[name].layout()

    return make


def new_application(access: Access | None = None) -> Dash:
    """Return the page as a Dash application; its ``server`` is what waitress or gunicorn runs.

    Everything comes from this server, nothing from another host, and no user's state is kept in it.

    Args:
        access: who may use it; None for what STACKLENS_TOKEN and STACKLENS_HOSTS say, without them this machine alone.
    """
    assets = str(Path(__file__).parent / "assets")
    server: Any = Flask("stacklens", static_folder=None)  # dash says that it takes none
    server.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    guard(server, access or Access.from_environment())
    # pages are made when they are first visited, so that callbacks speak of parts that are not there yet
    app = Dash(
        "stacklens",
        server=server,
        title="stacklens",
        assets_folder=assets,
        update_title="stacklens",
        serve_locally=True,
        suppress_callback_exceptions=True,
    )
    app.layout = layout
    register(app)
    for page in PAGES.values():
        page.register(app)
    check_bodies(app)
    add_policy(app)
    return app
