"""How fast `stacklens verify` goes on one process and on two, and what 10^12 words take at that rate.

The language's automaton is compared with itself (as "language"), the rounded network and the network, on all words up
to a length. One process and two take turns; the two are started beforehand, as a long job has them. Two ratios are
given: by the clock, which on a machine that does other work at the same time says little; and by processor time, where
two processes are charged half of what they used together and half of the longest chunk, for which one of them may have
to wait in the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ROOT, Report, environment, peak_memory, show_seconds

if TYPE_CHECKING:
    from stacklens.extract.jobs import Tally
    from stacklens.extract.verification.exhaustive import Work

_NETWORKS = {
    "nnpda-palindrome": 17,
    "nnpda-1n0n": 27,
    "nnpda-parentheses": 22,
    "marnn-stack-rnn-dyck-2-drifting": 13,
    "marnn-stack-lstm-dyck-2-drifting": 12,
}
_RUNS, _GOAL, _MANY = 3, 1.7, 10**12
_CHILD = "import sys; from benchmarks.scale import child; child(sys.argv[1], int(sys.argv[2]))"


def reports() -> Iterator[Report]:
    rows, same = [], True
    for name, length in _NETWORKS.items():
        found = _in_child(name, length)
        one, two = found["one"], found["two"]
        same = same and found["same"]
        rate = found["words"] / one["used"]
        rows.append(
            (
                f"{name.removeprefix('marnn-')} <= {length}",
                f"{found['words'] / 1e6:,.0f}",
                show_seconds(one["wall"]),
                f"{one['wall'] / two['wall']:.2f} x",
                f"{one['used'] / two['share']:.2f} x",
                f"{rate / 1e6:,.1f}",
                f"{_MANY / rate / 3600:,.1f} h",
                f"{found['peak']:,.0f} MB",
            )
        )
    columns = ("", "M words", "one process", "two: by clock", "by processor", "M words/s", "10^12, a core", "peak")
    title = f"scale: stacklens verify on one process and on two (goal >= {_GOAL} x)"
    notes = f"best of {_RUNS} runs each, in turns; the same tallies from both: {'yes' if same else 'NO'}"
    yield Report(title, columns, tuple(rows), notes)


def _in_child(name: str, length: int) -> dict[str, Any]:
    command = [sys.executable, "-c", _CHILD, name, str(length)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@dataclass(frozen=True)
class _Timed:
    """A chunk's tally, with the processor time that it took and the peak memory of the process, in MB."""

    work: Work

    def __call__(self, chunk: int) -> tuple[float, float, tuple[int, Tally]]:
        begun = time.process_time()
        tally = self.work.tally(chunk)
        return time.process_time() - begun, peak_memory(), tally


def child(name: str, length: int) -> None:
    """Print what one process, which starts two more, measures."""
    from stacklens.extract.jobs import finished
    from stacklens.extract.verification.exhaustive import work_of_files

    work = work_of_files(ROOT / "models" / "zoo" / f"{name}.pt", None, None, length)
    task = _Timed(replace(work, pda=work.target))
    list(finished(task, list(task.work.chunks)[:4], jobs=2))
    best: dict[int, dict[str, float]] = {}
    tallies, peak = {}, 0.0
    for _ in range(_RUNS):
        for jobs in (1, 2):
            begun = time.perf_counter()
            results = list(finished(task, task.work.chunks, jobs))
            wall = time.perf_counter() - begun
            used = [seconds for seconds, *_ in results]
            peak = max(peak, *(memory for _, memory, _ in results))
            tallies[jobs] = dict(tally for *_, tally in results)
            now = {"wall": wall, "used": sum(used), "share": sum(used) / 2 + max(used) / 2}
            best[jobs] = {key: min(value, best.get(jobs, now)[key]) for key, value in now.items()}
    words = sum(map(task.work.words, task.work.chunks))
    same = tallies[1] == tallies[2]
    print(json.dumps({"one": best[1], "two": best[2], "words": words, "peak": peak, "same": same}))
