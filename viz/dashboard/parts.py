"""Parts that every page is made of: a figure with its files and its Python lines, a table with its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import dash_ag_grid as dag
from dash import Input, dcc, html, set_props

from stacklens.viz.page import CONFIG

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AGAIN",
    "ask_again",
    "columns_of",
    "extra",
    "figure_part",
    "in_python",
    "rows_of",
    "save_buttons",
    "table_part",
]

AGAIN = Input("again", "data")  # changes some time after `ask_again`
_NARROW = 90  # pixels of a column at least; columns share the width of their table
_GRID = {"animateRows": False, "enableCellTextSelection": True, "suppressFieldDotNotation": True}


def figure_part(name: str, file: str = "stacklens") -> html.Div:
    """Return a figure, ``name`` its id, with buttons that save it as SVG and PNG, and a place for its Python lines.

    The lines go into what is called ``name``-line. Saving is the browser's work (`assets/parts.js`).
    """
    return html.Div(
        [dcc.Graph(id=name, config=cast(Any, CONFIG)), save_buttons(name, file), in_python(name)], className="part"
    )


def extra(**attributes: str) -> Any:
    """Return ``attributes`` of an HTML element as Dash wants them: aria_label is aria-label, data_kind is data-kind.

    >>> extra(data_kind="svg")
    {'data-kind': 'svg'}
    """
    return {name.replace("_", "-"): value for name, value in attributes.items()}


def save_buttons(name: str, file: str = "stacklens") -> html.Div:
    """Return the buttons that save the figure whose id is ``name`` as ``file``.svg and ``file``.png."""
    return html.Div(
        [
            html.Button(
                kind.upper(),
                className="save",
                title=f"save this figure as {kind.upper()}",
                **extra(data_figure=name, data_kind=kind, data_file=file),
            )
            for kind in ("svg", "png")
        ],
        className="buttons",
    )


def ask_again(shown: Any) -> Any:
    """Return ``shown``, and have the browser ask again soon: callbacks with `AGAIN` among their inputs are called."""
    set_props("later", {"data": time.time_ns() % 2**31})
    return shown


def in_python(name: str) -> html.Details:
    """Return the place for the Python lines that make what is called ``name``; the lines go into ``name``-line."""
    return html.Details([html.Summary("in Python"), html.Pre(id=f"{name}-line")])


def table_part(name: str, file: str = "stacklens") -> html.Div:
    """Return a table, ``name`` its id, with a button that saves it as ``file``.csv and a place for its Python lines.

    It is empty: `rows_of` and `columns_of` a frame go into ``rowData`` and ``columnDefs``.
    """
    grid = dag.AgGrid(
        id=name,
        rowData=[],
        columnDefs=[],
        defaultColDef={"resizable": True, "sortable": True, "flex": 1, "minWidth": _NARROW},
        dashGridOptions={**_GRID, "defaultCsvExportParams": {"fileName": f"{file}.csv"}},
        className="grid",
    )
    save = html.Button("CSV", className="save-table", title="save this table as CSV", **extra(data_table=name))
    return html.Div([grid, html.Div(save, className="buttons"), in_python(name)], className="part")


def columns_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the columns of ``frame`` as a table wants them."""
    return [{"field": str(name), "headerName": str(name)} for name in frame.columns]


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of ``frame`` as a table wants them; what is no number is left empty."""
    return [
        {str(name): None if value != value else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
