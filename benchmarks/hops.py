"""How far one has to go: through how many files, functions and lines of ours four everyday calls pass.

Each call runs once, under `sys.settrace`, in a process of its own that has imported what it needs. A function counts
where it is entered, a line where it is executed, a file where one of its lines is; what happens while a module is
imported does not count. `extract` reads a network of the zoo with small settings; `trace` records it on two words;
`fit` is one epoch of training of the same kind as the zoo's; the page's call is the one behind the scrubber.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from benchmarks.measure import ROOT, Report, environment

_ROOMS = ("core", "automata", "languages", "models", "probe", "extract", "papers", "viz", "cli", "src")
_GOALS = {"extract": "<= 45", "trace": "< 5", "fit": "<= 17", "word_answer (page)": "<= 22"}  # files


class Hops(NamedTuple):
    """What one call passed through, in total or in one room of the house."""

    files: int
    functions: int
    lines: int


def reports() -> Iterator[Report]:
    rows = []
    for name in CALLS:
        command = [sys.executable, "-m", "benchmarks.hops", name]
        done = subprocess.run(command, cwd=ROOT, env=environment(), check=True, capture_output=True, text=True)
        found = {room: Hops(*numbers) for room, numbers in json.loads(done.stdout.splitlines()[-1]).items()}
        for number, (room, hops) in enumerate(found.items()):
            goal = "" if number else _GOALS.get(name, "")
            rows.append(("" if number else name, room, *(f"{figure:,}" for figure in hops), goal))
    notes = "a file counts where one of its lines is executed, imports left out"
    yield Report(
        "hops: what one call passes through",
        ("", "room", "files", "functions", "lines executed", "goal for files"),
        tuple(rows),
        notes,
    )


def _extract() -> Callable[[], Any]:
    from stacklens.extract.config import ExtractionConfig
    from stacklens.extract.extraction import extract
    from stacklens.languages.catalogue import get_language

    model = _palindrome()
    language = get_language("palindrome")
    small = ExtractionConfig(max_length=6, long_words=400, deep_words=5, depth=60, height=20, walks=20)
    return lambda: extract(model, language, small)


def _trace() -> Callable[[], Any]:
    from stacklens.probe.trace import trace

    model = _palindrome()
    return lambda: trace(model, ["abcba", "c"])


def _fit() -> Callable[[], Any]:
    from stacklens.languages.catalogue import get_task
    from stacklens.models.training.recipes import fit_recipe
    from stacklens.models.training.supervised import Fitting

    task = get_task("dyck-2")
    recipe = fit_recipe("marnn-stack-rnn", task)

    def fit() -> None:
        Fitting("marnn-stack-rnn", recipe, task, seed=1, nets=1).epoch()

    return fit


def _page() -> Callable[[], Any]:
    from stacklens.viz.dashboard.app import word_answer

    return lambda: word_answer("nnpda-palindrome", "abcba", False)


CALLS: dict[str, Callable[[], Callable[[], Any]]] = {
    "extract": _extract,
    "trace": _trace,
    "fit": _fit,
    "word_answer (page)": _page,
}


def _palindrome() -> Any:
    import stacklens
    from stacklens.models.checkpoint import load_model

    return load_model(f"{stacklens.__path__[0]}/models/zoo/nnpda-palindrome.pt")


def measure(call: Callable[[], Any]) -> dict[str, Hops]:
    """Return what ``call`` passes through, "all" first, then each room that it enters, the one of most lines first."""
    watch = _Watch()
    sys.settrace(watch.entered)
    try:
        call()
    finally:
        sys.settrace(None)
    return watch.found()


class _Watch:
    """Notes the functions that are entered and the lines that are executed, of our own files."""

    def __init__(self) -> None:
        self.rooms: dict[str, tuple[str, str] | None] = {}  # of each file name that code has: its room and its path
        self.functions: set[CodeType] = set()
        self.lines: dict[CodeType, set[int]] = {}

    def entered(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        code = frame.f_code
        if self._place(code.co_filename) is None or code.co_name == "<module>":
            return None
        self.functions.add(code)
        seen = self.lines.setdefault(code, set())

        def stepped(frame: FrameType, event: str, argument: object) -> Any:
            del argument
            if event == "line":
                seen.add(frame.f_lineno)
            return stepped

        return stepped

    def _place(self, name: str) -> tuple[str, str] | None:
        """Return the room and the path of a file of ours, None of any other; files are reached over links."""
        if name not in self.rooms:
            path = Path(name).resolve()
            ours = path.is_relative_to(ROOT) and path.is_file()
            room = path.relative_to(ROOT).parts[0] if ours else ""
            self.rooms[name] = (room, str(path)) if room in _ROOMS else None
        return self.rooms[name]

    def found(self) -> dict[str, Hops]:
        files, functions, lines = set[tuple[str, str]](), Counter[str](), set[tuple[str, str, int]]()
        for code in self.functions:
            place = self._place(code.co_filename)
            assert place is not None
            functions[place[0]] += not code.co_name.startswith("<")  # a comprehension is part of its function
            if self.lines[code]:
                files.add(place)
                lines |= {(*place, line) for line in self.lines[code]}
        in_room = {
            room: Hops(sum(a == room for a, _ in files), functions[room], sum(a == room for a, *_ in lines))
            for room in {room for room, _ in files}
        }
        whole = Hops(len(files), functions.total(), len(lines))
        return {"all": whole, **dict(sorted(in_room.items(), key=lambda one: -one[1].lines))}


if __name__ == "__main__":
    print(json.dumps(measure(CALLS[sys.argv[1]]())))
