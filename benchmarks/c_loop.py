"""All palindromes up to length 15 through the automaton's table: ours beside a tight loop in C, compiled here.

`c_loop.c` reads the same table and walks all words depth first, prefixes shared, a byte a verdict. It runs in two ways:
as one would write it, visiting every word, and dropping what lies behind a missing transition, as ours does. Each side
keeps the verdicts of all words, and the numbers of accepted words of each length are compared. Ours is measured in a
process of its own, whose peak memory is read.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Report, environment, peak_memory, show_ratio, show_seconds

from stacklens.automata.counting import count_words
from stacklens.automata.enumeration import accepts_all, compile_tables, count_all
from stacklens.automata.pda import PushdownAutomaton
from stacklens.languages.catalogue import get_language

_LONGEST, _RUNS, _GOAL = 15, 15, 3
_CHILD = "from benchmarks.c_loop import child; child()"


def reports() -> Iterator[Report]:
    title = f"a loop in C: verdicts on all {count_all(3, _LONGEST):,} words of length <= {_LONGEST}, palindromes"
    compiler = shutil.which("cc")
    if compiler is None:
        yield Report(title, ("",), (("skipped: there is no C compiler (cc) here",),))
        return
    pda = get_language("palindrome").automaton
    command = [sys.executable, "-c", _CHILD]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "c_loop"
        source = ROOT / "benchmarks" / "c_loop.c"
        subprocess.run([compiler, "-O3", "-o", str(program), str(source)], check=True)
        every = _run_c(program, pda, drop=False)
        dropping = _run_c(program, pda, drop=True)
        done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)
    ours = json.loads(done.stdout)
    rows = [("stacklens (numpy)", show_seconds(ours["seconds"]), "", "", _same(ours["accepted"], pda))]
    for name, (seconds, accepted) in (("C, every word visited", every), ("C, dead prefixes dropped", dropping)):
        ratio = ours["seconds"] / seconds
        goal = f"<= {_GOAL} x: {'met' if ratio <= _GOAL else 'missed'}" if "every" in name else ""
        rows.append((name, show_seconds(seconds), show_ratio(ratio), goal, _same(accepted, pda)))
    notes = f"medians of {_RUNS} runs; cc -O3; peak memory of ours {ours['peak']:.0f} MB, {ours['before']:.0f} before"
    columns = ("", "seconds", "ours takes", "goal", "counts are those of the automaton")
    yield Report(title, columns, tuple(rows), notes)


def child() -> None:
    """Print what the process that runs ours measures."""
    pda = get_language("palindrome").automaton
    before, seconds = peak_memory(), []
    for _ in range(_RUNS):
        begun = time.perf_counter()
        verdicts = list(accepts_all(pda, _LONGEST))
        seconds.append(time.perf_counter() - begun)
    accepted = [int(level.sum()) for level in verdicts]
    found: dict[str, Any] = {"seconds": statistics.median(seconds), "accepted": accepted}
    print(json.dumps({**found, "before": before, "peak": peak_memory()}))


def _run_c(program: Path, pda: PushdownAutomaton, drop: bool) -> tuple[float, list[int]]:
    """Return the median seconds of the compiled loop, and how many words of each length it accepts."""
    done = subprocess.run([str(program)], input=_table(pda, drop), capture_output=True, text=True, check=True)
    seconds, accepted = done.stdout.splitlines()
    return statistics.median(map(float, seconds.split())), [int(count) for count in accepted.split()]


def _table(pda: PushdownAutomaton, drop: bool) -> str:
    """Return what the compiled loop reads: the same arrays that ours runs on."""
    assert (pda.n_stacks, pda.acceptance, pda.end_marker) == (1, "both", None)
    tables = compile_tables(pda)
    numbers = [*tables.target.shape, tables.initial, _LONGEST, int(drop), _RUNS]
    for target, pop, push in zip(tables.target.flat, tables.pop.flat, tables.push.flat, strict=True):
        numbers += [int(target), int(pop), int(push)]
    return " ".join(map(str, [*numbers, *tables.accepting.astype(int).tolist()]))


def _same(accepted: list[int], pda: PushdownAutomaton) -> str:
    return "yes" if accepted == count_words(pda, _LONGEST) else "NO"
