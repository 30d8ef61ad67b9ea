"""The Probe page: what a network does on a word, step by step, as figures and as tables."""

from __future__ import annotations

import json
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update, set_props

from stacklens.errors import StacklensError
from stacklens.probe.trace import trace
from stacklens.viz.dashboard.parts import AGAIN, ask_again, columns_of, figure_part, rows_of, table_part
from stacklens.viz.dashboard.probing import TABLES, drawn, python_lines, table_lines, tabled
from stacklens.viz.dashboard.steps import read_word, runner_of
from stacklens.viz.dashboard.turns import NotYetError, in_turn
from stacklens.viz.dashboard.view import View
from stacklens.viz.figures import FIGURES
from stacklens.viz.style import sentence, themed
from stacklens.viz.tables import trace_data

__all__ = ["layout", "register"]

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
_NO_TABLE = "none"
_PATIENCE = 20  # seconds that a download waits for its turn


def layout() -> html.Section:
    """Return the page, empty: its callbacks fill it. A table is made once one is asked for."""
    figures = [{"label": _NAMES[name], "value": name} for name in FIGURES]
    tables = [{"label": f"table of {name}", "value": name} for name in TABLES]
    return html.Section(
        [
            html.Label(
                ["figure", dcc.Dropdown(figures, id="figure", clearable=False, searchable=False)], className="choice"
            ),
            figure_part("picture"),
            dcc.RadioItems([{"label": "no table", "value": _NO_TABLE}, *tables], _NO_TABLE, id="table", inline=True),
            html.Div(id="table-place"),
            html.Div([html.Button("steps as CSV", id="csv"), html.Button("trace as JSON", id="json")]),
        ]
    )


def register(app: Dash) -> None:
    """Return nothing; give ``app`` the callbacks of this page."""
    word = Input("network", "value"), Input("word", "value"), Input("kind", "value"), Input("page", "data")
    app.callback(
        *(Output("picture", "figure"), Output("picture-line", "children")),
        *(*word, Input("figure", "value"), Input("theme", "data"), Input("extracted", "data"), AGAIN),
    )(show)
    app.callback(Output("table-place", "children"), Input("table", "value"), State("table-place", "children"))(_place)
    app.callback(
        *(Output("steps", "rowData"), Output("steps", "columnDefs"), Output("steps-line", "children")),
        *(*word, Input("table", "value"), AGAIN),
    )(_fill)
    app.callback(
        Output("file", "data"),
        *(Input("csv", "n_clicks"), Input("json", "n_clicks")),
        *(State("network", "value"), State("word", "value"), State("kind", "value")),
        prevent_initial_call=True,
    )(_download)
    register_one: Any = app.clientside_callback  # dash leaves it without types
    register_one(
        ClientsideFunction("probe", "jump"),
        Output("step", "value", allow_duplicate=True),
        Input("picture", "clickData"),
        prevent_initial_call=True,
    )


def show(
    network: str, word: str | None, kind: str, page: str, figure: str, theme: str | None, *others: Any
) -> tuple[Any, Any]:
    """Return the figure and its Python lines."""
    del others  # they say only that there may be another automaton now, or that it is time to look again
    if page != "probe":
        return no_update, no_update
    view = View("probe", network, word or "", kind == "rounded", figure)
    try:
        picture = in_turn(network, word or "", drawn, view, theme or "light")
    except NotYetError as error:
        return ask_again(themed(sentence(f"{error}."), theme or "light")), ""
    except StacklensError as error:
        return themed(sentence(f"Nothing to draw: {error}."), theme or "light"), ""
    try:
        return picture, python_lines(view)
    except StacklensError:  # the figure says why
        return picture, ""


def _place(name: str, there: Any) -> Any:
    """Return the table, empty, when one is asked for: what shows it is large, and most visits do without."""
    if name == _NO_TABLE:
        return None
    return no_update if there else table_part("steps")


def _fill(network: str, word: str | None, kind: str, page: str, name: str, again: Any) -> tuple[Any, Any, Any]:
    """Return the rows and columns of the table and its Python lines; what is wrong with a view is all there is then."""
    del again
    if page != "probe" or name == _NO_TABLE:
        return no_update, no_update, no_update
    view = View("probe", network, word or "", kind == "rounded")
    try:
        frame = in_turn(network, word or "", tabled, view, name)
        return rows_of(frame), columns_of(frame), table_lines(view, name)
    except NotYetError as error:
        return [], [], ask_again(f"{error}.")
    except StacklensError as error:
        return [], [], f"{error}."


def _download(csv: int | None, json_: int | None, network: str, word: str | None, kind: str) -> Any:
    """Return the trace as a file; none where network or word cannot be read, which the page has said already."""
    del csv, json_
    suffix = "csv" if ctx.triggered_id == "csv" else "json"
    try:
        content = in_turn(
            network, word or "", _content, suffix, network, word or "", kind == "rounded", patience=_PATIENCE
        )
    except NotYetError as error:
        set_props("problem", {"children": f"{str(error).partition(':')[0]}: ask for the file again in a minute."})
        return no_update
    except StacklensError:
        return no_update
    return {"content": content, "filename": f"{network}.{suffix}"}


def _content(suffix: str, network: str, word: str, rounded: bool) -> str:
    runner = runner_of(network, rounded)
    seen = trace(runner, [read_word(word, runner)])
    if suffix == "csv":
        return str(seen.to_pandas().to_csv(index=False))
    return json.dumps(trace_data(runner, seen), indent=1, ensure_ascii=False)
