"""Odd places to run in: no output, a full disk, Ctrl-C twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.shell.commands import ROOT, ZOO

NET = str(ZOO / "nnpda-1n0n.pt")
JUDGE = ("judge", NET, "words.txt")
TRACE = ("trace", NET, "10")
LATE = """
import atexit, os, signal
from stacklens.cli.shell import new_app, run_app
app = new_app("late")
def later():
    os.kill(os.getpid(), signal.SIGINT)
    print("not reached")
@app.command()
def wait() -> None:
    atexit.register(later)
    try:
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        if MOMENT == "cleanup":
            os.kill(os.getpid(), signal.SIGINT)
            print("not reached")
run_app(app)
"""


def started(
    folder: Path, *arguments: str, shell: str = "", program: tuple[str, ...] = ("-m", "stacklens"), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Return how ``stacklens`` ended, started in ``folder`` by a shell that redirects as ``shell`` says."""
    (folder / "words.txt").write_text("10\n\nε\n110\n", encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    paths = {"PYTHONPATH": str(ROOT.parents[0]), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, *program, *arguments],
        env={**inherited, **paths, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("arguments", [JUDGE, TRACE, ("-h",)])
def test_a_full_disk_behind_the_output_is_one_line_and_status_2(arguments: tuple[str, ...], tmp_path: Path) -> None:
    found = started(tmp_path, *arguments, shell=">/dev/full")
    assert found.returncode == 2
    assert found.stderr == "error: cannot write the output: No space left on device\n"


@pytest.mark.parametrize(("shell", "status"), [(">&-", 0), ("<&- >&- 2>&-", 0), ("2>/dev/full", 0)])
def test_whoever_closes_the_output_gets_the_status_alone(shell: str, status: int, tmp_path: Path) -> None:
    assert started(tmp_path, *JUDGE, shell=shell).returncode == status
    assert started(tmp_path, "judge", NET, "none.txt", shell=shell).returncode == 2
    assert started(tmp_path, "judge", NET, "-", shell="<&-").returncode == 0


@pytest.mark.parametrize("moment", ["cleanup", "exit"])
def test_ctrl_c_twice_prints_no_traceback(moment: str, tmp_path: Path) -> None:
    found = started(tmp_path, program=("-c", f"MOMENT = {moment!r}\n{LATE}"))
    assert found.returncode == 130
    assert found.stdout == ""
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr
