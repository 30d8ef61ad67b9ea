"""Sweeps that the app was started with: a table whose rows open their networks, each with its own result."""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from stacklens.errors import StacklensError
from stacklens.extract.evaluation.sweep import Sweep
from stacklens.extract.evaluation.sweep_file import load_sweep
from stacklens.extract.evaluation.sweep_row import SweepRow
from stacklens.files import LARGEST_NETWORK, read_whole
from stacklens.models.io import ZOO, digest_of, find_network
from stacklens.viz.dashboard.networks import keep_upload
from stacklens.viz.dashboard.saved import keep_saved
from stacklens.viz.dashboard.store import DAY, store

__all__ = ["KeptSweep", "keep_sweep", "kept_sweep", "told_apart"]

_PREFIX = "sweep-"
_LEFT_OUT = ("differs_rounded", "differs_network", "epochs")
_FIRST = (
    "network",
    "not opened",
    "status",
    "automaton",
    "states",
    "stack_symbols",
    "transitions",
    "proof",
    "certificate",
)
_HEADINGS = {
    "stack_symbols": "stack symbols",
    "agrees_rounded": "follows rounded network",
    "agrees_network": "follows network",
    "accuracy_rounded": "accuracy, rounded",
    "accuracy_automaton": "accuracy, automaton",
}
_WHAT_IT_SAYS = (
    "Status 0: nothing contradicts the automaton; 1: something does; 2: bad input; 3: no automaton. Automata of one "
    "number are proved to do the same. An automaton follows a network on all words up to the length that is named."
)


@dataclass(frozen=True)
class KeptSweep:
    """A sweep as the page shows it.

    Attributes:
        title: of its file, without the suffix.
        frame: a row a network.
        opens: under which name the page opens each row's result, or its network; None where neither is here.
        said: sentences over the table.
        python: the lines that make the table.
    """

    title: str
    frame: pd.DataFrame
    opens: tuple[str | None, ...]
    said: tuple[str, ...]
    python: str


def keep_sweep(path: Path) -> str:
    """Return the name under which the sweep in the file at ``path`` is kept for a day, with its networks and results.

    Only who starts the app names files: those in the sweep are looked for as it names them, and beside it.

    Raises:
        StacklensError: it cannot be read, or has no rows.
    """
    sweep = load_sweep(path)
    if not sweep.rows:
        raise StacklensError(f"{path}: a sweep over no networks")
    opens, reasons = zip(*(_opened(row, path) for row in sweep.rows), strict=True)
    settling = [] if sweep.settling is None else [f"Settled: {sweep.settling}."]
    content = {
        "title": path.stem,
        "frame": _rows(sweep, reasons),
        "opens": list(opens),
        "said": [*settling, _WHAT_IT_SAYS],
        "python": f"import stacklens as sl\n\nsl.load({path.name!r}).to_frame()",
    }
    name = _PREFIX + hashlib.sha256(json.dumps(content).encode()).hexdigest()[:24]
    store().set(name, content, expire=DAY)
    return name


def kept_sweep(name: str) -> KeptSweep:
    """Return the sweep that is kept as ``name``.

    Raises:
        StacklensError: there is none, or its day is over.
    """
    kept = store().get(name) if name.startswith(_PREFIX) else None
    if kept is None:
        raise StacklensError("this sweep is not here; sweeps are kept for a day: start the page with it again")
    rows = {**kept, "frame": pd.DataFrame(kept["frame"]), "opens": tuple(kept["opens"]), "said": tuple(kept["said"])}
    return KeptSweep(**rows)


def _rows(sweep: Sweep, reasons: tuple[str | None, ...]) -> list[dict[str, Any]]:
    """Return the table's rows as plain data; a column that is empty all over is left out."""
    frame = sweep.to_frame().drop(columns=list(_LEFT_OUT), errors="ignore")
    for name in ("agrees_rounded", "agrees_network"):
        if name in frame:
            frame[name] = [_length(value) for value in frame[name]]
    frame["not opened"] = list(reasons)
    frame["network"] = told_apart([row.network for row in sweep.rows])
    frame = frame[[*_FIRST, *(name for name in frame.columns if name not in _FIRST)]]
    frame = frame.astype(object).where(frame.notna(), None).dropna(axis="columns", how="all").rename(columns=_HEADINGS)
    rows: list[dict[str, Any]] = json.loads(frame.to_json(orient="records", double_precision=15))
    return rows


def told_apart(names: list[str]) -> list[str]:
    """Return what files are called within the folder that they share, as a narrow column shows the beginning only."""
    folders = {str(Path(name).parent) for name in names}
    shared = os.path.commonpath(folders) if len({os.path.isabs(name) for name in names}) == 1 else ""
    return [os.path.relpath(name, shared) if shared else name for name in names]


def _length(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return "every length" if math.isinf(value) else str(int(value))


def _opened(row: SweepRow, sweep: Path) -> tuple[str | None, str | None]:
    """Return under which name the page opens a row, and why nothing opens its network, if nothing does."""
    expected = None if row.report is None else row.report["network"]["sha256"]
    network, problem = _network(row.network, sweep, expected)
    if row.report is None:
        return network, problem if network is None else None
    title = f"{Path(row.network).name} of {sweep.name}"
    content = {"automaton": row.automaton, "raw": None, "report": row.report, "summary": row.headline or ""}
    call = f"sl.extract({row.network!r}{'' if row.language is None else f', {row.language!r}'})"
    return keep_saved(title, content, call), problem


def _network(named: str, sweep: Path, expected: str | None) -> tuple[str | None, str | None]:
    """Return the page's name of the network that a row names, or what is wrong with it."""
    here = find_network(named)
    places = [here, sweep.parent / named, sweep.parent / Path(named).name]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        return None, "its file is not here"
    try:
        if expected is not None and digest_of(path) != expected:
            return None, "its file has been changed since"
        if path.parent == ZOO:
            return path.stem, None
        return keep_upload(read_whole(path, "a trained network", LARGEST_NETWORK), path.name).name, None
    except StacklensError as error:
        return None, str(error)
