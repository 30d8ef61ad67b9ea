"""What the Probe page's parts do to each other. Moving through a word happens in the browser, without the server."""

from __future__ import annotations

import json
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, no_update

from stacklens.errors import StacklensError
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace
from stacklens.viz.dashboard.networks import load, network_names, random_word
from stacklens.viz.dashboard.probe_page import badges
from stacklens.viz.dashboard.probing import probed, python_line, read_word
from stacklens.viz.dashboard.view import View, view_of
from stacklens.viz.figures import FIGURES
from stacklens.viz.tables import trace_data

__all__ = ["register", "show"]


def register(app: Dash) -> None:
    """Return nothing; give ``app`` the callbacks of the Probe page."""
    choices = Output("network", "value"), Output("word", "value"), Output("kind", "value"), Output("figure", "value")
    app.callback(*choices, Output("step", "value"), Input("address", "search"))(_open)
    app.callback(
        Output("word", "value", allow_duplicate=True),
        Output("step", "value", allow_duplicate=True),
        Input("random", "n_clicks"),
        Input("network", "value"),
        State("word", "value"),
        prevent_initial_call=True,
    )(_another)
    app.callback(
        *(Output("picture", "figure"), Output("verdicts", "children"), Output("letters", "data")),
        *(Output("notes", "data"), Output("problem", "children"), Output("line", "children"), Output("step", "max")),
        *(Input("network", "value"), Input("word", "value"), Input("kind", "value"), Input("figure", "value")),
        Input("theme", "data"),
        State("step", "value"),
    )(show)
    app.callback(
        Output("file", "data"),
        *(Input("csv", "n_clicks"), Input("json", "n_clicks")),
        *(State("network", "value"), State("word", "value"), State("kind", "value")),
        prevent_initial_call=True,
    )(_download)
    _register_in_the_browser(app)


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
        ClientsideFunction("probe", "jump"),
        Output("step", "value", allow_duplicate=True),
        Input("picture", "clickData"),
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
        Input("step", "value"),
    )
    register_one(
        ClientsideFunction("probe", "shade"),
        Output("theme", "data"),
        Input("shade", "n_clicks"),
        State("theme", "data"),
    )


def _open(search: str | None) -> tuple[str, str, str, str, int]:
    """Return the values of the controls for an address."""
    view = view_of(search)
    network = view.network if view.network in network_names() else View.network
    word = random_word(network, 0) if view.word is None else view.word
    figure = view.figure if view.figure in FIGURES else View.figure
    return network, word, "rounded" if view.rounded else "soft", figure, view.step


def _another(clicks: int | None, network: str, word: str | None) -> tuple[Any, Any]:
    """Return another word where one is asked for, or where the network cannot read the one that is there."""
    if ctx.triggered_id != "random" and set(word or "") <= {*"".join(load(network).model.alphabet), " "}:
        return no_update, no_update
    return random_word(network, clicks or 0), 1


def show(
    network: str, word: str | None, kind: str, figure: str, theme: str | None, step: int | None
) -> tuple[Any, ...]:
    """Return the figure and everything that is said beside it."""
    view = View(network, word or "", kind == "rounded", figure, step or 1)
    found = probed(view, theme or "light")
    said = badges(found.verdicts), list(found.letters), list(found.notes), found.problem, python_line(view)
    return found.figure, *said, max(1, len(found.letters))


def _download(csv: int | None, json_: int | None, network: str, word: str | None, kind: str) -> Any:
    """Return the trace as a file; none of a word that the network cannot read, which the page has said already."""
    del csv, json_
    model = load(network).model
    try:
        read = read_word(word or "", model)
    except StacklensError:
        return no_update
    runner = Rounded(model) if kind == "rounded" else model
    seen = trace(runner, [read])
    if ctx.triggered_id == "csv":
        content, name = seen.to_pandas().to_csv(index=False), f"{network}.csv"
    else:
        content, name = json.dumps(trace_data(runner, seen), indent=1, ensure_ascii=False), f"{network}.json"
    return {"content": content, "filename": name}
