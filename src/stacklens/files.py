"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from stacklens.errors import StacklensError

__all__ = ["check_folder", "write_whole"]


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Return nothing; write ``content`` so that ``path`` holds all of it or what it held before.

    The content goes to a temporary file in the same folder, is flushed to the disk and then renamed over ``path``, so a
    full disk, a kill or a power cut leaves no half-written file. A link stays a link: what it points to is replaced.
    What is no regular file, such as ``/dev/null``, is written to as it is.

    Raises:
        StacklensError: the folder does not exist, is not writable, or the disk is full; nothing was written.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    check_folder(path)
    temporary = None
    try:
        if path.exists() and not path.is_file():  # renaming over a device would put a file in its place
            path.write_bytes(data)
            return
        target = path.resolve()
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".partial", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        raise StacklensError(f"cannot write {path}: {error.strerror or error}; nothing was written") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def check_folder(path: Path) -> None:
    """Return nothing if the folder that ``path`` lies in exists.

    Raises:
        StacklensError: it does not; nothing was written.
    """
    if os.path.isdir(path):  # unlike Path.is_dir it says no to an impossible name
        raise StacklensError(f"cannot write {path}: it is a folder; expected the name of a file")
    if not os.path.isdir(path.parent):
        raise StacklensError(f"cannot write {path}: the folder {path.parent} does not exist; make it first")


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
