"""Interchange accuracy of the zoo's and of tables' networks: a table of the findings' text."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stacklens.errors import FileFormatError
from stacklens.papers.grid_tables import TextTable, markdown_table

__all__ = ["interchange_figures"]

_UNTOLD = "–"
_WAYS = {"learn": "its behaviour", "kmeans": "clusters of hidden vectors"}
_ASKED = ("several states", "one state", "stack symbols")


def interchange_figures(file: Path | None) -> dict[str, str]:
    """Return what `docs/interchanges.py` kept in ``file``: "not measured" where there is none.

    Raises:
        FileFormatError: the file holds something else.
    """
    if file is None or not file.is_file():
        return {"interchange table": "(Not measured.)", "interchange networks": "0"}
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for one in kept:
            for which in ("minimised", "raw"):
                if (one.get(which) or {}).get("states"):
                    groups.setdefault((_WAYS.get(one["way"], one["way"]), which), []).append(
                        {**one, "told": one[which]}
                    )
        rows = [(*group, *_interchanged(own)) for group, own in sorted(groups.items())]
        names = {one["name"] for own in groups.values() for one in own}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{file}: no interchanges: {error!r}; write it with docs/interchanges.py") from None
    columns = ("read from", "automaton", "networks", "proved equal", *_ASKED)
    note = (
        "accuracy in the median and the least one, the median with labels permuted, and of how many networks. An "
        "automaton with one state calls all hidden vectors alike: its figure says how often two words agree in what "
        "their vectors hold, and nothing of how near the automaton is to the network; nor has it labels to permute"
    )
    table = TextTable("Is the automaton what the network computes with?", columns, tuple(rows), note)
    return {"interchange table": markdown_table(table), "interchange networks": str(len(names))}


def _interchanged(own: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    proved = sum(one.get("proof") == "equal" for one in own)
    states, symbols = ([one["told"][part] for one in own] for part in ("states", "symbols"))
    several = [one for one in states if one["baseline"] is not None]
    single = [one for one in states if one["baseline"] is None]
    return str(len(own)), str(proved), *map(_spread, (several, single, symbols))


def _spread(told: Sequence[dict[str, Any]]) -> str:
    """Return the accuracy in the median, the least one, and that of permuted labels, where there are any."""
    known = [float(one["accuracy"]) for one in told if one["accuracy"] is not None]
    if not known:
        return _UNTOLD
    random = [float(one["baseline"]) for one in told if one["baseline"] is not None]
    permuted = f"; permuted {statistics.median(random):.2f}" if random else ""
    return f"{statistics.median(known):.2f} ({min(known):.2f}){permuted}; {len(known)}"
