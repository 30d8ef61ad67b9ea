"""Work that takes longer than a request: Dash's background callbacks, each job a fresh process.

Not a fork of the server's: torch's threads do not survive one, and the child could hang for ever. And not what
`multiprocessing` calls spawning, which imports the server's main module once more, whatever that does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dash import DiskcacheManager
from psutil import NoSuchProcess

from stacklens.viz.dashboard.store import store

__all__ = ["Jobs"]

_COMMAND = [sys.executable, "-P", "-m", "stacklens.viz.dashboard.job_process"]  # -P: nothing from where we happen to be


class Jobs(DiskcacheManager):
    """What runs background callbacks. Their functions stand at the top of a module and take plain data by position.

    They are called with a function that takes the values of the callback's ``progress`` outputs, and the inputs.

    Args:
        stopped: what a callback returns whose job ended without a result: because it was cancelled, or killed.
    """

    def __init__(self, stopped: Any) -> None:
        super().__init__(store())  # type: ignore[no-untyped-call]  # dash leaves it without types
        self._stopped = stopped

    def make_job_fn(self, fn: Callable[..., Any], progress: bool, key: str | None = None) -> Callable[..., Any]:
        """Return the function itself: the new process finds it by its name."""
        del progress, key
        return fn

    def call_job_fn(self, key: str, job_fn: Callable[..., Any], args: Any, context: Any) -> int:
        """Return the number of a new process that works on a job."""
        del context
        asked = {
            "module": job_fn.__module__,
            "function": job_fn.__name__,
            "arguments": list(args),
            "key": key,
            "progress_key": self._make_progress_key(key),  # type: ignore[no-untyped-call]
        }
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, env=environment, text=True)
        assert process.stdin is not None
        process.stdin.write(f"{json.dumps(asked)}\n")
        process.stdin.flush()
        threading.Thread(target=_see_to_the_end, args=(process,), daemon=True).start()
        return process.pid

    def get_result(self, key: str, job: Any) -> Any:
        """Return what came of a job, `UNDEFINED` while it works on."""
        running = job is not None and self.job_running(job)  # looked at first: results are kept before the end
        found = super().get_result(key, job)  # type: ignore[no-untyped-call]
        return self._stopped if found is self.UNDEFINED and not running else found

    def job_running(self, job: Any) -> bool:
        """Return whether a job works on."""
        with suppress(NoSuchProcess):  # it may end while it is looked at
            return bool(super().job_running(job))  # type: ignore[no-untyped-call]
        return False


def _see_to_the_end(process: subprocess.Popen[str]) -> None:
    """Wait for a job, so that nothing is left of it in the system's table of processes."""
    process.wait()
    if process.stdin is not None:
        process.stdin.close()
