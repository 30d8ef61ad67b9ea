"""How long until the first line: `import stacklens` and `extract-pda -h`, beside a Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import ROOT, Report, environment, medians, show_ratio, show_seconds

_RUNS, _GOAL = 11, 0.5
_SCRIPT = str(Path(sys.executable).with_name("extract-pda"))
_COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import stacklens": ["-c", "import stacklens"],
    "extract-pda -h": [_SCRIPT, "-h"],
    "stacklens -h": ["-m", "stacklens", "-h"],
    "python -c 'import torch'": ["-c", "import torch"],
}


def reports() -> Iterator[Report]:
    seconds = medians({name: lambda given=given: _run(given) for name, given in _COMMANDS.items()}, _RUNS)
    base = seconds["python -c pass"]
    rows = tuple(
        (name, show_seconds(taken), show_ratio(taken / base), _goal(name, taken), _imports_torch(_COMMANDS[name]))
        for name, taken in seconds.items()
    )
    columns = ("", "seconds", "times an empty Python", f"goal < {_GOAL} s", "torch imported")
    yield Report("startup", columns, rows, f"medians of {_RUNS} runs, each a new process")


def _run(given: list[str], *options: str) -> str:
    command = [sys.executable, *options, *given]
    done = subprocess.run(command, cwd=ROOT / "tests", env=environment(), capture_output=True, text=True, check=True)
    return done.stderr


def _goal(name: str, seconds: float) -> str:
    if "torch" in name or "pass" in name:
        return ""
    return "met" if seconds < _GOAL else "missed"


def _imports_torch(given: list[str]) -> str:
    lines = _run(given, "-X", "importtime").splitlines()
    return "yes" if any(line.rsplit("|", 1)[-1].strip() == "torch" for line in lines) else "no"
