"""Files that one process at a time has for itself, on every system; the lock goes with the process, however it ends."""

from __future__ import annotations

from contextlib import suppress
from typing import IO, Any

__all__ = ["lock_file"]

_BEYOND = 0x7FFF_0000  # Windows keeps others from reading what is locked: a byte that no journal has


def lock_file(file: IO[Any]) -> bool:
    """Return whether the open ``file`` is now locked for us alone; where files cannot be locked nobody is kept out."""
    try:
        import fcntl
    except ImportError:
        return _lock_byte(file)
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _lock_byte(file: IO[Any]) -> bool:
    """Return whether ``file`` is locked as Windows does it."""
    try:
        import msvcrt
    except ImportError:
        return True
    windows: Any = msvcrt
    before = file.tell()
    try:
        file.seek(_BEYOND)
        windows.locking(file.fileno(), windows.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        file.seek(before)
    return True
