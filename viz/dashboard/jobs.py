"""Work that takes longer than a request: jobs, each a process of its own once its turn has come, and shorter pieces.

A job belongs to what is asked, its key, and not to who asks: everybody who asks for the same finds it, sees how far it
is, and can cancel it. The line of jobs is in the store: first come first served, over all servers with this store.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

from ...core.errors import StacklensError
from ...core.progress import count
from .networks import DAY, store

Tell = Callable[[Sequence[Any]], None]

_LINE = "jobs"  # in the store: of each job its key, the process that has it, when that began, whether it works
_KEY, _WORKS = 0, 3
_PROGRESS, _RESULT = "job-progress-", "job-result-"  # in the store, before a job's key
_POLL = 0.3  # seconds between two looks for a free place
_PATIENCE = 10  # steps of niceness: users who look at something come first
# -P: nothing from the folder where the server happens to be
_COMMAND = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]


@dataclass(frozen=True)
class JobState:
    """How far a job is."""

    running: bool  # whether it waits or works
    progress: list[Any] | None = None  # its progress as it described it last, or None
    result: Any = None  # what came of it once it is over, else None


@dataclass(frozen=True)
class Jobs:
    """Jobs by their keys. Their functions stand at the top of a module and take plain data by position.

    They are called with a function that takes what they tell of their progress, and the arguments.
    """

    working: int  # how many work at once, over all servers with one store
    waiting: int  # how many wait; one that would be one more has the result ``full`` at once
    in_line: Callable[[int], Sequence[Any]]  # gives the progress of a job while so many wait before it
    full: Any
    stopped: Any  # the result of a job that ended without one: because it was cancelled, or killed

    def start(self, key: str, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        """See to it that there is a job called ``key``: one that waits or works already is the one."""
        kept, asked = store(), [function.__module__, function.__name__, list(arguments), key]
        with kept.transact():
            line = _living(kept)
            if any(one[_KEY] == key for one in line) and _RESULT + key not in kept:
                return
            line = [one for one in line if one[_KEY] != key]  # one that has its result ends by itself
            kept.delete(_RESULT + key)
            kept.set(_PROGRESS + key, None, expire=DAY)  # the mark of a job that was once begun
            working = sum(one[_WORKS] for one in line)
            if len(line) - working >= self.waiting + max(0, self.working - working):
                kept.set(_RESULT + key, self.full, expire=DAY)
                return
            kept.set(_LINE, [*line, [key, *_process_named(os.getpid()), False]])
        threading.Thread(target=self._wait, args=(kept, key, asked), daemon=True).start()

    def _wait(self, kept: Any, key: str, asked: list[Any]) -> None:
        """Start a job when its turn has come, and see to its end, so that nothing is left of it in the system."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process: subprocess.Popen[str] | None = None
        while process is None:
            with kept.transact():
                line = _living(kept)
                waiting = [one[_KEY] for one in line if not one[_WORKS]]
                if key not in waiting:  # it was cancelled
                    break
                if waiting[0] == key and len(line) - len(waiting) < self.working:
                    others = [one for one in line if one[_KEY] != key]
                    try:
                        process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, env=environment, text=True)
                    except OSError:  # the system has no room for another
                        kept.set(_LINE, others)
                        kept.set(_RESULT + key, self.stopped, expire=DAY)
                        break
                    assert process.stdin is not None
                    process.stdin.write(f"{json.dumps(asked)}\n")
                    process.stdin.flush()
                    kept.set(_LINE, [*others, [key, *_process_named(process.pid), True]])
            if process is None:
                time.sleep(_POLL)
        if process is not None:
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
        kept.close()  # this thread's connection, no more

    def state(self, key: str) -> JobState | None:
        """Return how far the job called ``key`` is, or what came of it; None where there has been none for a day."""
        kept = store()
        line = _living(kept)  # looked at first: results are kept before the end
        found = kept.get(_RESULT + key)
        if found is not None:
            return JobState(False, kept.get(_PROGRESS + key), found)
        waiting = [one[_KEY] for one in line if not one[_WORKS]]
        if key in waiting:
            free = max(0, self.working - (len(line) - len(waiting)))
            before = waiting.index(key)
            return JobState(True, None if before < free else list(self.in_line(before - free)))
        if any(one[_KEY] == key for one in line):
            return JobState(True, kept.get(_PROGRESS + key))
        return JobState(False, kept.get(_PROGRESS + key), self.stopped) if _PROGRESS + key in kept else None

    def cancel(self, key: str) -> None:
        """End a job, or keep it from being begun; what came of it is that it was stopped."""
        kept = store()
        with kept.transact():
            line = _living(kept)
            found = next((one for one in line if one[_KEY] == key), None)
            kept.set(_LINE, [one for one in line if one is not found])
            if found is not None and _RESULT + key not in kept:
                kept.set(_RESULT + key, self.stopped, expire=DAY)
        if found is not None and found[_WORKS]:  # else it is the server that looks after a job that waits
            with suppress(psutil.NoSuchProcess):
                psutil.Process(found[1]).kill()


def _process_named(process: int) -> list[Any]:
    return [process, psutil.Process(process).create_time()]


def _living(kept: Any) -> list[list[Any]]:
    """Return the line without jobs whose process, or whose server while they wait, has ended."""

    def lives(number: int, begun: float) -> bool:
        try:
            process = psutil.Process(number)
            return bool(process.create_time() == begun and process.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:  # it may end while it is looked at
            return False

    return [one for one in kept.get(_LINE, []) if lives(*one[1:_WORKS])]


# ---- The job's own process. What to do comes as a line of JSON; when standard input ends, the server has, and so does
# the job.


def main() -> None:
    """Do the job that standard input names: a function's module and name, its arguments, and the job's key."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    if hasattr(os, "nice"):
        os.nice(_PATIENCE)
    module, name, arguments, key = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    kept = store()
    try:
        found = getattr(importlib.import_module(module), name)(
            lambda values: kept.set(_PROGRESS + key, list(values), expire=DAY), *arguments
        )
    except Exception as error:  # the server shows it
        print(traceback.format_exc(), file=sys.stderr)
        found = {"error": repr(error)}
    kept.set(_RESULT + key, found, expire=DAY)


def _end_with_the_server() -> None:
    while os.read(sys.stdin.fileno(), 1):  # not sys.stdin.read, whose lock Python wants for itself when it ends
        pass
    os._exit(1)


# ---- Work on long words: one piece after another for all users, so that everybody else is answered meanwhile.
#
# Python runs one thread at a time: eight words of 10,000 symbols at once would keep all users waiting for all of them.
# So long words are worked on one at a time, first come first served, and a page that asks for one learns at once how
# many come first, and asks again. A process of its own does it, begun with the first: in a thread it would hardly run.

LONG = 500  # symbols of a word; a shorter one takes a fraction of a second
_MOST_WAITING = 24  # pieces of work; a word has two or three
_KEPT_RESULTS = 8  # results that are at hand; a page asks for them again when another panel changes
_SOON = 1.0  # seconds that a request waits for what is being worked on
_FORGOTTEN = 15.0  # seconds without a question after which a browser counts as gone


class NotYetError(StacklensError):
    """Raised in place of a result that is not there yet: ask again."""


@dataclass
class _Piece:
    """One piece of work: what does it, what comes of it, and when it was last asked for."""

    work: Callable[[], Any]
    found: Future[Any]
    asked: float = 0.0


class Turns:
    """Pieces of work that are done one after another by a thread that is there as long as there are any.

    So many may be ``waiting``, and a request waits ``soon`` seconds for what is being worked on. The thread is no
    executor's, which Python would wait for when the server ends.
    """

    def __init__(self, waiting: int = _MOST_WAITING, soon: float = _SOON) -> None:
        self._most, self._soon = waiting, soon
        self._lock = threading.Lock()
        self._pieces: dict[Any, _Piece] = {}  # those that are ended first, then in order of turns
        self._works = False

    def result(self, key: Any, work: Callable[[], Any], patience: float | None = None) -> Any:
        """Return what comes of ``work``, done in its turn; pieces with one ``key`` are one.

        It waits ``patience`` seconds, whatever comes first; by default only for what is being worked on. Raises
        NotYetError: it is not there yet, or too much waits; Exception: as ``work`` raised it.
        """
        with self._lock:
            to_do = [name for name, piece in self._pieces.items() if not piece.found.done()]
            before = to_do.index(key) if key in to_do else len(to_do)
            if key not in self._pieces and before >= self._most:
                raise NotYetError(f"{_RULE}; {before} wait, which is the most: try again in a minute")
            piece = self._pieces.setdefault(key, _Piece(work, Future()))
            piece.asked = time.monotonic()
            if not self._works:
                self._works = True
                threading.Thread(target=self._do_all, daemon=True).start()
        # a piece that is ended already has its result at once, whatever is waited for it
        ended = wait([piece.found], patience if patience is not None else self._soon if before == 0 else 0).done
        if not ended:
            others = f"; {count(before, 'piece')} of work {'comes' if before == 1 else 'come'} first" if before else ""
            raise NotYetError(f"{_RULE}{others}: the result appears here by itself")
        return piece.found.result()

    def _do_all(self) -> None:
        while True:
            with self._lock:
                # pieces that nobody asks for any more go, and the oldest results
                gone = time.monotonic() - _FORGOTTEN
                ended = [key for key, piece in self._pieces.items() if piece.found.done()]
                left = [key for key, piece in self._pieces.items() if not piece.found.done() and piece.asked < gone]
                for key in [*ended[: max(0, len(ended) - _KEPT_RESULTS)], *left]:
                    del self._pieces[key]
                piece = next((piece for piece in self._pieces.values() if not piece.found.done()), None)
                if piece is None:
                    self._works = False
                    return
            try:
                piece.found.set_result(piece.work())
            except BaseException as error:  # raised where the result is asked for
                piece.found.set_exception(error)


_RULE = f"proofs, and words of more than {LONG:,} symbols, are worked on one at a time"
TURNS = Turns()
