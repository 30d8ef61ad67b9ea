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
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from .saved import DAY, store

Tell = Callable[[Sequence[Any]], None]
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
        print(traceback.format_exc(), file=sys.stderr)
        found = {"error": repr(error)}
    results.set(key, found, expire=DAY)


if __name__ == "__main__":
    main()
