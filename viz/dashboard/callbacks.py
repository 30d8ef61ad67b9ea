"""What the parts that all pages share do to each other. Moving through a word happens in the browser, not here."""

from __future__ import annotations

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, no_update

from stacklens.errors import StacklensError
from stacklens.viz.dashboard.automaton_views import asked_for
from stacklens.viz.dashboard.networks import is_known, load, offered, random_word
from stacklens.viz.dashboard.pages import PAGES
from stacklens.viz.dashboard.parts import AGAIN, ask_again
from stacklens.viz.dashboard.shell import badges
from stacklens.viz.dashboard.steps import steps_of
from stacklens.viz.dashboard.turns import NotYetError, in_turn
from stacklens.viz.dashboard.uploads import PREFIX, decoded, keep
from stacklens.viz.dashboard.view import View, view_of
from stacklens.viz.figures import FIGURES

__all__ = ["register"]


def register(app: Dash) -> None:
    """Return nothing; give ``app`` the callbacks of what all pages share."""
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
        name = keep(decoded(contents), title or "a file").name
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
