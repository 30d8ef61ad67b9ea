"""Work that takes longer than a request: each job is a process of its own once its turn has come.

A job belongs to what is asked, its key, and not to who asks: whoever asks for the same finds it, sees how far it is,
and can cancel it. Jobs wait in line, one behind another, whichever server with this store has been asked for them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

import psutil

from .saved import DAY, store, store_folder

_POLL = 0.3  # seconds between two looks for a free place
_TRIES, _PAUSE = 12, 0.05  # more than a look's time: those who stand in a line with gaps in it move up

_WORKS = 2  # of what a ticket says
_COMMAND = [sys.executable, "-P", "-m", "stacklens.viz.dashboard.job_process"]  # -P: nothing from where we happen to be


class Waiting:
    """A place in the line. Use it in a ``with`` block, at whose end it is left."""

    def __init__(self, number: int, file: IO[str]) -> None:
        self.number, self._file = number, file

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def move_up(self) -> None:
        """Go as far forward as there is nobody."""
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


@dataclass(frozen=True)
class JobQueue:
    """How many jobs there are at once, over all servers with one store, and what is told of them.

    Attributes:
        working: how many work.
        waiting: how many wait; one that would be one more has the result ``full`` at once.
        told: gives what a job tells of its progress while so many wait before it.
        full: see ``waiting``.
        stopped: the result of a job that ended without one: because it was cancelled, or killed.
    """

    working: int
    waiting: int
    told: Callable[[int], Sequence[Any]]
    full: Any
    stopped: Any


@dataclass(frozen=True)
class JobState:
    """How far a job is.

    Attributes:
        running: whether it waits or works.
        progress: what it told last, or None.
        result: what came of it once it is over, else None.
    """

    running: bool
    progress: list[Any] | None = None
    result: Any = None


class Jobs:
    """Jobs by their keys. Their functions stand at the top of a module and take plain data by position.

    They are called with a function that takes what they tell of their progress, and the arguments.
    """

    def __init__(self, turns: JobQueue) -> None:
        self._turns = turns

    def start(self, key: str, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        """See to it that there is a job called ``key``: one that waits or works already is the one."""
        kept = store()
        asked = {
            "module": function.__module__,
            "function": function.__name__,
            "arguments": list(arguments),
            "key": _result(key),
            "progress_key": _progress(key),
        }
        with kept.transact():
            if _result(key) not in kept and _process_of(kept.get(_key(key))) is not None:
                return
            for old in (_result(key), _progress(key)):
                kept.delete(old)
            kept.set(_key(key), _who(os.getpid(), works=False), expire=DAY)
        waiting = join(self._turns.waiting)
        if waiting is None:
            kept.set(_result(key), self._turns.full, expire=DAY)
            kept.delete(_key(key))
        else:
            threading.Thread(target=self._wait, args=(key, asked, waiting), daemon=True).start()

    def _wait(self, key: str, asked: dict[str, Any], waiting: Waiting) -> None:
        """Start a job when its turn has come, and see to its end, so that nothing is left of it in the system."""
        kept = store()
        with waiting:
            place = waiting.turn(
                self._turns.working,
                lambda before: kept.set(asked["progress_key"], list(self._turns.told(before)), expire=DAY),
                lambda: _key(key) in kept,
            )
            process = None if place is None else self._started(key, asked, place)
        if process is not None:
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
        kept.close()  # this thread's connection, no more

    def _started(self, key: str, asked: dict[str, Any], place: IO[str]) -> subprocess.Popen[str] | None:
        """Return the process that works on a job, if it can be made; it holds its ``place`` until it ends."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        held = () if os.name == "nt" else (place.fileno(),)
        kept = store()
        with place:
            try:
                process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, env=environment, text=True, pass_fds=held)
            except OSError:  # the system has no room for another
                kept.set(asked["key"], self._turns.stopped, expire=DAY)
                return None
        with kept.transact():
            wanted = _key(key) in kept
            if wanted:
                kept.set(_key(key), _who(process.pid, works=True), expire=DAY)
        assert process.stdin is not None
        if wanted:
            process.stdin.write(f"{json.dumps(asked)}\n")
            process.stdin.flush()
        else:
            process.kill()
        return process

    def state(self, key: str) -> JobState | None:
        """Return how far the job called ``key`` is, or what came of it; None where there has been none for a day."""
        kept = store()
        running = _process_of(kept.get(_key(key))) is not None  # looked at first: results are kept before the end
        found = kept.get(_result(key))
        if found is not None:
            return JobState(False, result=found)
        if running:
            return JobState(True, kept.get(_progress(key)))
        return JobState(False, result=self._turns.stopped) if _key(key) in kept or _progress(key) in kept else None

    def cancel(self, key: str) -> None:
        """End a job, or keep it from being begun; what came of it is that it was stopped."""
        kept = store()
        with kept.transact():
            found = kept.pop(_key(key))
            if found is not None and _result(key) not in kept:
                kept.set(_result(key), self._turns.stopped, expire=DAY)
        process = _process_of(found)
        if process is not None and found[_WORKS]:  # else it is the server that looks after a job that waits
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _key(job: str) -> str:
    return f"job-{job}"


def _progress(job: str) -> str:
    return f"job-progress-{job}"


def _result(job: str) -> str:
    return f"job-result-{job}"


def _who(number: int, works: bool) -> list[Any]:
    return [number, psutil.Process(number).create_time(), works]


def _process_of(who: Any) -> psutil.Process | None:
    """Return the process that ``who`` tells of; None where it has ended."""
    try:
        process = psutil.Process(who[0]) if who is not None else None
        there = process is not None and process.create_time() == who[1] and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it may end while it is looked at
        return None
    return process if there else None
