"""Odd places to run in: no output, a full disk, an ASCII terminal, a terminal without a width, Ctrl-C twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
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


def test_an_ascii_terminal_is_shown_what_it_can_show_and_the_rest_by_number(tmp_path: Path) -> None:
    found = started(tmp_path, *JUDGE, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (found.returncode, found.stderr) == (0, "")
    assert r"| \u03b5 " in found.stdout
    assert r"\u2713 accepts" in found.stdout


@pytest.mark.parametrize("columns", ["0", "1", "-5", "many", "99999999999"])
def test_a_terminal_without_a_sensible_width_is_taken_for_one_of_80_columns(columns: str, tmp_path: Path) -> None:
    assert started(tmp_path, *TRACE, COLUMNS=columns).stdout == started(tmp_path, *TRACE).stdout != ""


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


@pytest.mark.slow
def test_ctrl_c_twice_while_words_are_verified_ends_it_in_silence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stacklens", "verify", NET, "--max-length", "30", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT.parents[0]), "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        end = time.monotonic() + 100
        while not any(b'"kept"' in path.read_bytes() for path in tmp_path.glob("*.jsonl")):
            assert time.monotonic() < end, "it never came to that"
            time.sleep(0.05)
        for _ in range(2):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.2)
        out, error = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)  # Python's own end obeys the second one
    assert "Traceback" not in error
    assert out == ""
