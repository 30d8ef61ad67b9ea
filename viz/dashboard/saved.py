"""Results that were opened: kept under a name of their own, so that what a file says is never said of a network.

Whoever opens a result of a network of the zoo sees it under the result's name; for all others the network is as it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from stacklens.errors import StacklensError
from stacklens.viz.dashboard.store import DAY, store

__all__ = ["RESULT", "Saved", "forget", "is_saved", "keep_saved", "saved", "short_title"]

RESULT = "result-"
_SHOWN = 120  # characters of a file's name


@dataclass(frozen=True)
class Saved:
    """A result as it is kept.

    Attributes:
        name: the name it is kept under.
        title: what its owner calls it.
        content: automaton, machine before minimisation, report and summary, as JSON (see `extractions.Known`).
        network: what the result calls its network.
        sha256: of the network's file; None where it was never in one.
        call: the Python expression that gives the result again.
    """

    name: str
    title: str
    content: str
    network: str
    sha256: str | None
    call: str


def short_title(title: str) -> str:
    """Return the name of a file as it is shown: without folders, and no longer than a line."""
    return PureWindowsPath(PurePosixPath(title).name).name[-_SHOWN:] or "a file"


def is_saved(name: str) -> bool:
    """Return whether ``name`` is that of a result that was opened."""
    return name.startswith(RESULT)


def keep_saved(title: str, content: Mapping[str, Any], call: str) -> str:
    """Return the name under which a result is kept for a day.

    Args:
        title: what its owner calls it.
        content: what `extractions.Known` is made of, as plain data; the report says what network it is of.
        call: the Python expression that gives the result again.
    """
    text, card = json.dumps(content), content["report"]["network"]
    name = RESULT + hashlib.sha256(f"{title}\0{call}\0{text}".encode(errors="replace")).hexdigest()[:24]
    store().set(name, asdict(Saved(name, title, text, card["path"] or card["name"], card["sha256"], call)), expire=DAY)
    return name


def saved(name: str) -> Saved:
    """Return the result that is kept as ``name``.

    Raises:
        StacklensError: there is none, or its day is over.
    """
    kept = store().get(name) if is_saved(name) else None
    if kept is None:
        raise StacklensError(f"no result {name} here; results are kept for a day: open it again")
    return Saved(**kept)


def forget(name: str) -> None:
    """Keep the result, or the file, called ``name`` no longer."""
    store().delete(name)
