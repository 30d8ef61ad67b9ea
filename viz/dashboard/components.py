"""Parts that every page is made of: a figure with its files and its Python lines, a table with its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, cast

import dash_ag_grid as dag
import pandas as pd
from dash import Input, dcc, html, set_props

from stacklens.extract.evaluation.trust import SIGNS, Claim
from stacklens.viz.report import CONFIG

__all__ = [
    "AGAIN",
    "ask_again",
    "claim_items",
    "claim_list",
    "columns_of",
    "extra",
    "figure_part",
    "fitted_columns",
    "height_of",
    "in_python",
    "rows_of",
    "save_buttons",
    "table_part",
    "verdict_columns",
    "wrapped_columns",
]

_CHARACTER, _EDGES = 7, 36  # pixels of a character, and of a cell's two edges
_NARROW, _WIDE = 5, 34  # characters of a column, at least and at most
_LINK = 190  # pixels that a link needs: beside it there is something to see on a narrow screen, too
_ROW, _HEAD, _HIGHEST = 42, 54, 560  # pixels
_NUMBER = {"function": "params.value == null ? '' : d3.format(',')(params.value)"}
_RULES = {
    "said-yes": "params.value && params.value[0] == '✓'",
    "said-no": "params.value && params.value[0] == '✗'",
}

AGAIN = Input("again", "data")  # changes some time after `ask_again`
_LEAST_WIDTH = 90  # pixels of a column at least; columns share the width of their table
_GRID = {"animateRows": False, "enableCellTextSelection": True, "suppressFieldDotNotation": True}


def fitted_columns(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the columns of a table that share its width by what they hold; numbers stand on the right.

    Long words are cut short; the tooltip has more of them, and the file all.
    """
    columns = columns_of(frame)
    for column, name in zip(columns, frame.columns, strict=True):
        width = _characters(frame[name], str(name))
        column |= {"flex": width, "minWidth": _CHARACTER * width + _EDGES, "tooltipField": str(name)}
        if pd.api.types.is_integer_dtype(frame[name]):
            column |= {"type": "rightAligned", "valueFormatter": _NUMBER}
    return columns


def _characters(values: pd.Series[Any], name: str) -> int:
    written = "{:,}" if pd.api.types.is_integer_dtype(values) else "{}"
    longest = max([len(name), *(len(written.format(value)) for value in values)])
    return min(max(longest, _NARROW), _WIDE)


def verdict_columns(frame: pd.DataFrame, link: str) -> list[dict[str, Any]]:
    """Return `fitted_columns` whose cells are green or red by their marks, ✓ or ✗; of column ``link`` all are links.

    Each row has in its column "open", which is not shown, the address that its link leads to.
    """
    columns = [column for column in fitted_columns(frame) if column["field"] != "open"]
    for column in columns:
        if column["field"] == link:
            column |= {"cellRenderer": "WordLink", "minWidth": min(column["minWidth"], _LINK)}
        else:
            column |= {"cellClassRules": _RULES}
    return columns


def wrapped_columns(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return `fitted_columns` whose sentences are broken into lines, all of them shown."""
    return [{**column, "wrapText": True, "autoHeight": True} for column in fitted_columns(frame)]


def height_of(rows: int) -> dict[str, str]:
    """Return the style of a table of so many rows: as high as it needs to be, up to a limit.

    >>> height_of(2), height_of(1_000)
    ({'height': '138px'}, {'height': '560px'})
    """
    return {"height": f"{min(_HEAD + _ROW * max(rows, 1), _HIGHEST)}px"}


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
        defaultColDef={"resizable": True, "sortable": True, "flex": 1, "minWidth": _LEAST_WIDTH},
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


def claim_list(claims: Sequence[Claim]) -> html.Ul:
    """Return claims as a list, each with a mark that says whether it is good."""
    return html.Ul(claim_items(claims), className="claims")


def claim_items(claims: Sequence[Claim]) -> list[html.Li]:
    """Return claims as the items of a list."""
    return [
        html.Li([html.B(f"{SIGNS[claim.verdict]} {claim.what}"), f": {claim.says}"], className=claim.verdict)
        for claim in claims
    ]
