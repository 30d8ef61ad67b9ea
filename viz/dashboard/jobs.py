"""Work that takes longer than a request: Dash's background callbacks, each job a process once its turn has come.

Jobs wait in line, one behind another, whichever server with this store has been asked for them.
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
from uuid import uuid4

import psutil
from dash import DiskcacheManager

from stacklens.viz.dashboard.store import DAY, store, store_folder

__all__ = ["JobQueue", "Jobs", "Waiting", "join"]

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
    """How many jobs there are at once, over all servers with one store, and what their users are told.

    Attributes:
        working: how many work.
        waiting: how many wait; a callback whose job would be one more returns ``full`` at once.
        told: gives the values of the ``progress`` outputs for a number of jobs that are waiting before one.
        full: see ``waiting``.
        stopped: what a callback returns whose job ended without a result: because it was cancelled, or killed.
    """

    working: int
    waiting: int
    told: Callable[[int], Sequence[Any]]
    full: Any
    stopped: Any


class Jobs(DiskcacheManager):
    """What runs background callbacks. Their functions stand at the top of a module and take plain data by position.

    They are called with a function that takes the values of the callback's ``progress`` outputs, and the inputs.
    """

    def __init__(self, turns: JobQueue) -> None:
        super().__init__(store())  # type: ignore[no-untyped-call]  # dash leaves it without types
        self._turns, self._said = turns, threading.local()

    def make_job_fn(self, fn: Callable[..., Any], progress: bool, key: str | None = None) -> Callable[..., Any]:
        """Return the function itself: the new process finds it by its name."""
        del progress, key
        return fn

    def call_job_fn(self, key: str, job_fn: Callable[..., Any], args: Any, context: Any) -> str:
        """Return the ticket of a job that is worked on in its turn; where the line is full its result is there now."""
        del context
        ticket = uuid4().hex
        asked = {
            "module": job_fn.__module__,
            "function": job_fn.__name__,
            "arguments": list(args),
            "key": key,
            "progress_key": self._make_progress_key(key),  # type: ignore[no-untyped-call]
        }
        waiting = join(self._turns.waiting)
        if waiting is None:
            self.handle.set(key, self._turns.full, expire=DAY)
        else:
            self.handle.set(_key(ticket), _who(os.getpid(), works=False), expire=DAY)
            threading.Thread(target=self._wait, args=(ticket, asked, waiting), daemon=True).start()
        return ticket

    def _wait(self, ticket: str, asked: dict[str, Any], waiting: Waiting) -> None:
        """Start a job when its turn has come, and see to its end, so that nothing is left of it in the system."""
        with waiting:
            place = waiting.turn(
                self._turns.working,
                lambda before: self.handle.set(asked["progress_key"], list(self._turns.told(before)), expire=DAY),
                lambda: _key(ticket) in self.handle,
            )
            process = None if place is None else self._started(ticket, asked, place)
        if process is not None:
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
        self.handle.close()  # this thread's connection, no more

    def _started(self, ticket: str, asked: dict[str, Any], place: IO[str]) -> subprocess.Popen[str] | None:
        """Return the process that works on a job, if it can be made; it holds its ``place`` until it ends."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        held = () if os.name == "nt" else (place.fileno(),)
        with place:
            try:
                process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, env=environment, text=True, pass_fds=held)
            except OSError:  # the system has no room for another
                self.handle.set(asked["key"], self._turns.stopped, expire=DAY)
                return None
        with self.handle.transact():
            wanted = _key(ticket) in self.handle
            if wanted:
                self.handle.set(_key(ticket), _who(process.pid, works=True), expire=DAY)
        assert process.stdin is not None
        if wanted:
            process.stdin.write(f"{json.dumps(asked)}\n")
            process.stdin.flush()
        else:
            process.kill()
        return process

    def get_result(self, key: str, job: Any) -> Any:
        """Return what came of a job, `UNDEFINED` while it waits or works on."""
        running = job is not None and self._runs(job)  # looked at first: results are kept before the end
        found = super().get_result(key, job)  # type: ignore[no-untyped-call]
        if found is self.UNDEFINED and not running:
            return self._turns.stopped
        self._said.job = job if found is self.UNDEFINED else None
        return found

    def job_running(self, job: Any) -> bool:
        """Return whether a job waits or works on.

        Just after `get_result` has said so it does: dash looks again, and if the job is cancelled between the two it
        would take it for ended without a result and never ask for ``stopped``.
        """
        said, self._said.job = getattr(self._said, "job", None), None
        return (job is not None and said == job) or self._runs(job)

    def _runs(self, job: Any) -> bool:
        return _process_of(self.handle.get(_key(job))) is not None

    def terminate_job(self, job: Any) -> None:
        """End a job, or keep it from being begun."""
        with self.handle.transact():
            found = self.handle.pop(_key(job))
        process = _process_of(found)
        if process is not None and found[_WORKS]:  # else it is the server that looks after a job that waits
            super().terminate_job(process.pid)  # type: ignore[no-untyped-call]


def _key(ticket: Any) -> str:
    return f"job-{ticket}"


def _who(number: int, works: bool) -> list[Any]:
    """Return what tells a process from all others, also from a later one of its number, and whether it is the job."""
    return [number, psutil.Process(number).create_time(), works]


def _process_of(who: Any) -> psutil.Process | None:
    """Return the process that ``who`` tells of; None where it has ended."""
    try:
        process = psutil.Process(who[0]) if who is not None else None
        there = process is not None and process.create_time() == who[1] and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it may end while it is looked at
        return None
    return process if there else None
