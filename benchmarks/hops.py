"""How far one has to go: through how many files and functions of ours everyday calls pass.

Each call runs twice in a process of its own; the second is counted, under `sys.setprofile`, so that what happens while
a module is imported or a file is first read does not count. A function counts where it is entered, a file where one of
its functions is. `extract` prints its result too, by the settings that it has; `train` is the command, for an epoch;
the page's call is the one behind the scrubber, for another word of the same network.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, NamedTuple

from benchmarks.house import FLOORS
from benchmarks.measure import ROOT, Report, environment


class Hops(NamedTuple):
    """What one call passed through, in total or in one room of the house."""

    files: int
    functions: int


class Call(NamedTuple):
    """An everyday call."""

    made: Callable[[], Callable[[], Any]]  # gives the function to call
    files: int  # through so many files it may pass today: to be lowered only, a test holds it
    goal: int | None = None  # and one day, by the issue that asked for a house half as heavy


def reports() -> Iterator[Report]:
    rows = []
    for name, call in CALLS.items():
        goal = "" if call.goal is None else f"<= {call.goal}"
        for number, (room, hops) in enumerate(passed(name).items()):
            cells = ("", room) if number else (name, room)
            rows.append((*cells, f"{hops.files:,}", f"{hops.functions:,}", "" if number else goal))
    yield Report(
        "hops: what one call passes through",
        ("", "room", "files", "functions", "goal for files"),
        tuple(rows),
        "second calls, by the rooms of `benchmarks house`; src is the public face and what starts the program",
    )


def passed(name: str) -> dict[str, Hops]:
    """Return what the call of this ``name`` passes through in a process of its own; see `measure`."""
    command = [sys.executable, "-m", "benchmarks.hops", name]
    done = subprocess.run(command, cwd=ROOT, env=environment(), check=True, capture_output=True, text=True)
    return {room: Hops(*numbers) for room, numbers in json.loads(done.stdout.splitlines()[-1]).items()}


def _extract(network: str) -> Callable[[], Any]:
    import stacklens as sl

    model = sl.load(network)
    return lambda: str(sl.extract(model))


def _trace() -> Callable[[], Any]:
    import stacklens as sl

    model = sl.load("nnpda-palindrome")
    return lambda: sl.trace(model, ["abcba", "c"])


def _train() -> Callable[[], Any]:
    from stacklens.__main__ import main

    chosen = ["--language", "dyck-2", "--epochs", "1", "--seeds", "1", "--quiet"]

    def train() -> None:
        with TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            sys.argv = ["stacklens", "train", "marnn-stack-rnn", *chosen, "--out", f"{folder}/one.pt"]
            try:
                main()
            except SystemExit as ended:
                if ended.code:
                    raise

    return train


def _page() -> Callable[[], Any]:
    from stacklens.viz.dashboard.app import word_answer

    words = iter(["abcba", "abcca"])
    return lambda: word_answer("nnpda-palindrome", next(words), False)


CALLS = {
    "extract (palindrome)": Call(partial(_extract, "nnpda-palindrome"), 49, 45),
    "extract (D2)": Call(partial(_extract, "marnn-stack-rnn-dyck-2"), 48, 50),
    "trace": Call(_trace, 10),
    "train (D2)": Call(_train, 25, 17),
    "word (page)": Call(_page, 21, 22),
}


def measure(call: Callable[[], Any]) -> dict[str, Hops]:
    """Return what the second ``call`` passes through, "all" first, then each room, the one of most functions first."""
    call()
    entered = set[CodeType]()

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            entered.add(frame.f_code)

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    in_rooms: dict[str, list[str]] = {}  # of each function the file that it stands in
    for code in entered:
        path = Path(code.co_filename).resolve()  # files are reached over links
        if not code.co_name.startswith("<") and path.is_relative_to(ROOT) and path.is_file():
            room = path.relative_to(ROOT).parts[0]
            if room in (*FLOORS, "src"):
                in_rooms.setdefault(room, []).append(str(path))
    found = {room: Hops(len(set(files)), len(files)) for room, files in in_rooms.items()}
    whole = Hops(*(sum(numbers) for numbers in zip(*found.values(), strict=True)))
    return {"all": whole, **dict(sorted(found.items(), key=lambda one: -one[1].functions))}


if __name__ == "__main__":
    print(json.dumps(measure(CALLS[sys.argv[1]].made())))
