"""Timing side by side, and reports as tables."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
LIBRARIES = ("numpy", "torch", "automata-lib", "aalpy")


@dataclass(frozen=True)
class Report:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: str = ""

    def show(self, console: Console) -> None:
        table = Table(title=self.title, title_justify="left", caption=self.notes or None, caption_justify="left")
        for i, column in enumerate(self.columns):
            table.add_column(column, justify="left" if i == 0 else "right")
        for row in self.rows:
            table.add_row(*row)
        console.print(table)


def timed(task: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    task()
    return time.perf_counter() - begun


def medians(tasks: dict[str, Callable[[], Any]], runs: int) -> dict[str, float]:
    """Return the median seconds of each task; the tasks take turns, so that they meet the same noise."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(runs):
        for name, task in tasks.items():
            seconds[name].append(timed(task))
    return {name: statistics.median(values) for name, values in seconds.items()}


def peak_memory() -> float:
    """Return the largest memory that this process has held so far, in MB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)


def environment() -> dict[str, str]:
    """Return the environment in which a child process finds this tree, and one thread only."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))), "OMP_NUM_THREADS": "1"}


def machine() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"Python {platform.python_version()} on {sys.platform}, {os.cpu_count()} cores; {libraries}"


def show_seconds(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.3g} {unit}" if seconds < 1_000 else f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 1e-9:,.3g} ns"


def show_ratio(ratio: float) -> str:
    return f"{ratio:,.0f} x" if ratio >= 10 else f"{ratio:.2g} x"
