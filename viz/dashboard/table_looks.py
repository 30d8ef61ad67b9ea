"""How wide and how high tables are, and how their cells look: by what they hold."""

from __future__ import annotations

from typing import Any

import pandas as pd

from stacklens.viz.dashboard.parts import columns_of

__all__ = ["fitted_columns", "height_of", "verdict_columns", "wrapped_columns"]

_CHARACTER, _EDGES = 7, 36  # pixels of a character, and of a cell's two edges
_NARROW, _WIDE = 5, 34  # characters of a column, at least and at most
_LINK = 190  # pixels that a link needs: beside it there is something to see on a narrow screen, too
_ROW, _HEAD, _HIGHEST = 42, 54, 560  # pixels
_NUMBER = {"function": "params.value == null ? '' : d3.format(',')(params.value)"}
_RULES = {
    "said-yes": "params.value && params.value[0] == '✓'",
    "said-no": "params.value && params.value[0] == '✗'",
}


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
