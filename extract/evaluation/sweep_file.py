"""A sweep as a file: its rows as plain data, with their automata and scores, to be read back."""

from __future__ import annotations

import json
from pathlib import Path

from stacklens.automata.formats.by_suffix import read_text
from stacklens.errors import FileFormatError, StacklensError
from stacklens.extract.evaluation.sweep import Sweep
from stacklens.extract.evaluation.sweep_row import SweepRow
from stacklens.plain_fields import parse_json

__all__ = ["is_sweep", "load_sweep", "sweep_text"]

_BEGINNING, _SCHEMA = '{"format": "stacklens sweep"', 1
_EXPECTED = "a sweep that stacklens saved"


def sweep_text(sweep: Sweep) -> str:
    """Return ``sweep`` as JSON, a row a line."""
    rows = ",\n".join(json.dumps(row.to_dict(), ensure_ascii=False) for row in sweep.rows)
    return f'{_BEGINNING}, "schema": {_SCHEMA}, "rows": [\n{rows}\n]}}\n'


def is_sweep(path: str | Path) -> bool:
    """Return whether the file at ``path`` says that it is a sweep; nothing is said about whether it can be read."""
    return read_text(path, _EXPECTED).startswith(_BEGINNING)


def load_sweep(path: str | Path) -> Sweep:
    """Return the sweep in the file at ``path``.

    Raises:
        FileFormatError: it cannot be read, or is damaged.
    """
    try:
        content = parse_json(read_text(path, _EXPECTED), _EXPECTED)
    except FileFormatError:
        raise
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
    if content.get("schema") != _SCHEMA:
        raise FileFormatError(f"{path}: no sweep of this version of stacklens; sweep again")
    rows = content.get("rows")
    if not isinstance(rows, list):
        raise FileFormatError(f"{path}: has no rows; sweep again")
    try:
        return Sweep(tuple(map(SweepRow.from_dict, rows)))
    except StacklensError as error:
        raise FileFormatError(f"{path}: holds a row that cannot be read: {error}; sweep again") from None
