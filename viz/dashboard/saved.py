"""Results that were opened: kept under a name of their own, so that what a file says is never shown of a network.

Who opens a result of a network of the zoo sees it under the result's name; for all others the network is as it was.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sqlite3
import stat
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from diskcache import Cache, JSONDisk

from ...core.errors import StacklensError

# ---- What outlives a request: a folder on disk that all server processes and jobs share, for its owner alone ----
#
# What is put there is plain data, and is written as JSON: nothing that is read back can run code, as a pickle could.

DAY = 24 * 60 * 60  # seconds; for what may go once nobody has use for it
_LARGEST = 1 << 30  # bytes in all; what was put there first goes first
_VARIABLE = "STACKLENS_CACHE"
_BYTES = "bytes in base 64"


class _PlainDisk(JSONDisk):  # type: ignore[misc]  # diskcache has no types
    """JSON, compressed, where bytes may stand too."""

    def store(self, value: Any, read: bool, key: Any = None) -> Any:
        """Return what is written for ``value``."""
        text = json.dumps(value, default=_coded)
        return super(JSONDisk, self).store(zlib.compress(text.encode(), self.compress_level), read, key=key)

    def fetch(self, mode: int, filename: str, value: Any, read: bool) -> Any:
        """Return the value that was written."""
        written = super(JSONDisk, self).fetch(mode, filename, value, read)
        return json.loads(zlib.decompress(written), object_hook=_bytes_decoded)


def _coded(value: object) -> dict[str, str]:
    if not isinstance(value, bytes):
        raise TypeError(f"only plain data can be kept, not {type(value).__name__}")
    return {_BYTES: base64.b64encode(value).decode()}


def _bytes_decoded(value: dict[str, Any]) -> Any:
    return base64.b64decode(value[_BYTES]) if value.keys() == {_BYTES} else value


def store_folder() -> Path:
    """Return the folder, made if it is not there: as STACKLENS_CACHE says, or one of this user's for passing files."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(os.environ.get(_VARIABLE) or Path(tempfile.gettempdir()) / f"stacklens-{user}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        reason = error.strerror or error
        raise StacklensError(f"cannot keep anything in {folder}: {reason}; name a folder in {_VARIABLE}") from None
    private = os.name == "nt" or (found.st_uid == user and not found.st_mode & 0o077)
    if not stat.S_ISDIR(found.st_mode) or not private:  # somebody may have been there first
        raise StacklensError(f"{folder} is no folder of yours alone; chmod 700 it, or name another in {_VARIABLE}")
    return folder


def store() -> Cache:
    """Return the store, a `diskcache.Cache`: ``store().set(key, value, expire=DAY)`` keeps plain data, lists, bytes.

    What is read back has lists where tuples were put.
    """
    return _opened_cache(str(store_folder()))


@lru_cache(maxsize=4)
def _opened_cache(folder: str) -> Cache:
    try:
        return Cache(folder, disk=_PlainDisk, size_limit=_LARGEST)
    except (OSError, sqlite3.Error) as error:
        raise StacklensError(f"cannot keep anything in {folder}: {error}; name a folder in {_VARIABLE}") from None


# ---- Results that were opened ----

RESULT = "result-"
_SHOWN = 120  # characters of a file's name


@dataclass(frozen=True)
class Saved:
    """A result as it is kept."""

    name: str  # the name it is kept under
    title: str  # what its owner calls it
    content: str  # automaton, machine before minimisation, report and summary, as JSON (see `extractions.Known`)
    network: str  # what the result calls its network
    sha256: str | None  # of the network's file; None where it was never in one
    call: str  # the Python expression that gives the result again


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
    """Return the result that is kept as ``name``."""
    kept = store().get(name) if is_saved(name) else None
    if kept is None:
        raise StacklensError(f"no result {name} here; results are kept for a day: open it again")
    return Saved(**kept)


def forget(name: str) -> None:
    """Keep the result, or the file, called ``name`` no longer."""
    store().delete(name)
