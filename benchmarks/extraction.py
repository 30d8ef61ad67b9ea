"""How long `extract-pda` takes on each network of the zoo: the whole command, and by stage from its own report."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Report, environment, show_seconds

_RUNS = 3
_SCRIPT = str(Path(sys.executable).with_name("extract-pda"))


def reports() -> Iterator[Report]:
    rows, stages = [], list[str]()
    for net in sorted((ROOT / "models" / "zoo").glob("nnpda-*.pt")):
        runs = [_extract(net) for _ in range(_RUNS)]
        stages = list(runs[0]["seconds"])
        by_stage = [statistics.median(run["seconds"][stage] for run in runs) for stage in stages]
        wall = statistics.median(run["wall"] for run in runs)
        words = sum(check["words"] for check in runs[0]["checks"])
        sizes = runs[0]["automaton"]
        rows.append(
            (
                net.stem.removeprefix("nnpda-"),
                show_seconds(wall),
                *map(show_seconds, by_stage),
                f"{words:,}",
                f"{sizes['before_minimization']['states']} to {sizes['states']}",
            )
        )
    columns = ("", "whole command", *stages, "words checked", "states")
    notes = f"medians of {_RUNS} runs; the rest of the command is startup, most of it torch; a word counts once a check"
    yield Report("extraction: extract-pda on the zoo", columns, tuple(rows), notes)


def _extract(net: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        begun = time.perf_counter()
        command = [sys.executable, _SCRIPT, str(net), "--quiet", "--report", str(report)]
        subprocess.run(command, cwd=folder, env=environment(), check=True)
        return {"wall": time.perf_counter() - begun, **json.loads(report.read_text())}
