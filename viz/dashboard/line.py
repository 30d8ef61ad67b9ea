"""Where jobs wait for their turn, one behind another, whichever server with this store has been asked for them.

Places are files in the store's folder, and who has locked one is there. Whoever ends, however, leaves: the system
unlocks the files of a process that is gone. Where files cannot be locked (Windows) nobody waits for anybody.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from stacklens.viz.dashboard.store import store_folder

__all__ = ["Waiting", "join"]

_POLL = 0.3  # seconds between two looks for a free place
_TRIES, _PAUSE = 12, 0.05  # more than a look's time: those who stand in a line with gaps in it move up


class Waiting:
    """A place in the line. Use it in a ``with`` block, at whose end it is left."""

    def __init__(self, number: int, file: IO[str]) -> None:
        self.number, self._file = number, file

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def move_up(self) -> None:
        """Return nothing; go as far forward as there is nobody."""
        while self.number and (file := _locked(f"waiting-{self.number - 1}")) is not None:
            self._file.close()
            self.number, self._file = self.number - 1, file

    def turn(self, places: int, tell: Callable[[int], None], wanted: Callable[[], bool]) -> IO[str] | None:
        """Return the place to work at, one of ``places``, once it is our turn: whoever holds the file open has it.

        Args:
            places: how many may work at once.
            tell: called with how many there are before us, when there is no place at once and when that changes.
            wanted: asked again and again; where it says no the result is None.
        """
        told = None
        while wanted():
            self.move_up()
            place = None if self.number else _first_free("working", places)
            if place is not None:
                return place
            if told != self.number:
                told = self.number
                tell(told)
            time.sleep(_POLL)
        return None


def join(most: int) -> Waiting | None:
    """Return the last place of a line of ``most``, or None where all are taken. Nobody is overtaken."""
    for _ in range(_TRIES):
        file = _locked(f"waiting-{most - 1}")
        if file is not None:
            waiting = Waiting(most - 1, file)
            waiting.move_up()
            return waiting
        time.sleep(_PAUSE)
    return None


def _first_free(name: str, places: int) -> IO[str] | None:
    return next((file for number in range(places) if (file := _locked(f"{name}-{number}")) is not None), None)


def _locked(name: str) -> IO[str] | None:
    """Return the file called ``name``, now locked for us alone, or None where somebody else has locked it."""
    file = (store_folder() / name).open("w")
    try:
        import fcntl
    except ImportError:
        return file
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    file.close()
    return None
