"""The Papers page: the papers' tables and figures with our numbers beside theirs, and the command that makes each."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from dash import ClientsideFunction, Dash, Input, Output, Patch, State, dcc, html, no_update

from stacklens.errors import StacklensError
from stacklens.viz.dashboard.components import figure_part, rows_of, table_part, wrapped_columns
from stacklens.viz.paper_tables import PaperTables, frame_of, paper_tables, table_names
from stacklens.viz.style import themed

__all__ = ["layout", "register"]

_PLACES = ("papers-first", "papers-second")  # the most tables that an experiment has


def layout() -> html.Section:
    """Return the page, empty: its callbacks fill it."""
    names = [{"label": what, "value": name} for name, what in table_names().items()]
    choice = dcc.Dropdown(names, id="papers-name", clearable=False)
    return html.Section(
        [
            html.Label(["table or figure", choice]),
            html.P(id="papers-problem", role="alert", className="problem"),
            html.P(["measured by ", html.Code(id="papers-command", className="command"), html.Span(id="papers-state")]),
            *(_table_place(name) for name in _PLACES),
            html.Div(
                [
                    html.H2("As a figure"),
                    dcc.RadioItems([], id="papers-score", inline=True),
                    figure_part("papers-figure", "paper"),
                ],
                id="papers-drawn",
                hidden=True,
            ),
        ]
    )


def _table_place(name: str) -> html.Div:
    table: Any = table_part(name, "paper")
    grid = table.children[0]
    grid.dashGridOptions = {**grid.dashGridOptions, "domLayout": "autoHeight"}  # they have tens of rows, never hundreds
    return html.Div(
        [html.H2(id=f"{name}-title"), table, html.P(id=f"{name}-caption", className="caption")],
        id=f"{name}-place",
        hidden=True,
    )


def register(app: Dash) -> None:
    """Give ``app`` the callbacks of this page."""
    chosen = Input("papers-name", "value"), Input("page", "data")
    register_one: Any = app.clientside_callback  # dash leaves it without types
    register_one(
        ClientsideFunction("papers", "choose"),
        Output("papers-name", "value"),
        *(*chosen, Input("address", "search"), State("papers-name", "options")),
    )
    for number, place in enumerate(_PLACES):
        app.callback(
            *(Output(f"{place}-place", "hidden"), Output(f"{place}-title", "children")),
            *(Output(place, "rowData"), Output(place, "columnDefs"), Output(place, "dashGridOptions")),
            *(Output(f"{place}-line", "children"), Output(f"{place}-caption", "children")),
            *chosen,
        )(_filler(number))
    app.callback(
        *(Output("papers-command", "children"), Output("papers-state", "children")),
        *(Output("papers-problem", "children"), Output("papers-drawn", "hidden")),
        *(Output("papers-score", "options"), Output("papers-score", "value")),
        *chosen,
    )(_say)
    app.callback(
        *(Output("papers-figure", "figure"), Output("papers-figure-line", "children")),
        *(*chosen, Input("papers-score", "value"), Input("theme", "data")),
    )(_draw)


def _filler(number: int) -> Any:
    """Return the callback that fills table ``number`` of the page, or hides it where there is no such table."""

    def fill(name: str | None, page: str) -> tuple[Any, ...]:
        if page != "papers" or name is None:
            return (no_update,) * 7
        found = _found(name)
        if found is None or number >= len(found.tables):
            return (True, *(no_update,) * 6)
        table = found.tables[number]
        frame = frame_of(table)
        options: Any = Patch()
        options["defaultCsvExportParams"] = {"fileName": f"{name}.csv" if number == 0 else f"{name}-{number + 1}.csv"}
        shown = rows_of(frame), wrapped_columns(frame), options
        return (False, table.title, *shown, _lines(name, number), table.caption)

    return fill


def _found(name: str) -> PaperTables | None:
    """Return what is called so, None where something is wrong with it, which the page says once."""
    try:
        return paper_tables(name)
    except StacklensError:
        return None


def _say(name: str | None, page: str) -> tuple[Any, ...]:
    """Return the command, whether it has been run, what is wrong, and which figures there are."""
    if page != "papers" or name is None:
        return (no_update,) * 6
    try:
        found = paper_tables(name)
    except StacklensError as error:
        return "", "", f"{error}.", True, [], None
    state = "" if found.measured else " (not measured yet)"
    figures = [{"label": _title(figure), "value": number} for number, figure in enumerate(found.figures)]
    return found.command, state, None, not figures, figures, 0 if figures else None


def _title(figure: go.Figure) -> str:
    return str(figure.layout.title.text).rpartition(": ")[2]


def _draw(name: str, page: str, number: int | None, theme: str | None) -> tuple[Any, Any]:
    """Return the figure chosen, and its Python lines."""
    found = _found(name) if page == "papers" and number is not None else None
    if found is None or number is None or number >= len(found.figures):
        return no_update, no_update
    return themed(found.figures[number], theme or "light"), _figure_lines(name, number)


def _lines(name: str, number: int) -> str:
    line = f"frame_of(paper_tables({name!r}).tables[{number}])"
    return f"from stacklens.viz.paper_tables import frame_of, paper_tables\n\n{line}"


def _figure_lines(name: str, number: int) -> str:
    return f"from stacklens.viz.paper_tables import paper_tables\n\npaper_tables({name!r}).figures[{number}].show()"
