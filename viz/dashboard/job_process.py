"""A job as a process of its own: ``python -m stacklens.viz.dashboard.job_process``, which `jobs` starts.

What to do comes as a line of JSON on standard input: a function's module and name, its arguments, and where in the
store its progress and its result are looked for. When standard input ends, the server has, and so does the job.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from stacklens.viz.dashboard.store import DAY, store, store_folder

__all__ = ["Tell", "a_place", "main"]

Tell = Callable[[Sequence[Any]], None]
_POLL = 0.5  # seconds between two looks for a free place
_PATIENCE = 10  # steps of niceness: users who look at something come first


def main() -> None:
    """Do the job that standard input names."""
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    if hasattr(os, "nice"):
        os.nice(_PATIENCE)
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    function = getattr(importlib.import_module(asked["module"]), asked["function"])
    work(function, asked["arguments"], asked["key"], asked["progress_key"])


def _end_with_the_server() -> None:
    while os.read(sys.stdin.fileno(), 1):  # not sys.stdin.read, whose lock Python wants for itself when it ends
        pass
    os._exit(1)


def work(function: Callable[..., Any], arguments: Sequence[Any], key: str, progress_key: str) -> None:
    """Call ``function`` with what tells of progress and ``arguments``; keep what comes of it, or what went wrong."""
    results = store()

    def tell(values: Sequence[Any]) -> None:
        results.set(progress_key, list(values), expire=DAY)

    try:
        found = function(tell, *arguments)
    except Exception as error:  # the server is told
        found = {"background_callback_error": {"msg": str(error), "tb": traceback.format_exc()}}
    results.set(key, found, expire=DAY)


@contextmanager
def a_place(places: int, waiting: Callable[[], None]) -> Iterator[None]:
    """Wait until fewer than ``places`` jobs of all servers with this store are inside, and run a block.

    ``waiting`` is called if it comes to that. A job that is killed leaves its place: locks on files end with it.
    """
    told = False
    while (file := _free_place(places)) is None:
        if not told:
            waiting()
            told = True
        time.sleep(_POLL)
    with file:
        yield


def _free_place(places: int) -> IO[str] | None:
    """Return the locked file that stands for a place, or None where all are taken."""
    for number in range(places):
        file = (store_folder() / f"place-{number}").open("w")
        if _locked(file):
            return file
        file.close()
    return None


def _locked(file: IO[str]) -> bool:
    """Return whether ``file`` is now locked for us alone; where files cannot be locked nobody waits for anybody."""
    try:
        import fcntl
    except ImportError:
        return True
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


if __name__ == "__main__":
    main()
