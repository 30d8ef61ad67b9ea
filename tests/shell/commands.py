"""Running the commands: in this process, where it is quick, or in another, where signals are wanted."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import stacklens
from stacklens import __main__ as stacklens_command
from stacklens.extract import cli as extract_command

__all__ = ["DATA", "ROOT", "ZOO", "Outcome", "begin", "run"]

ROOT = Path(stacklens.__file__).parent
ZOO = ROOT / "models" / "zoo"
DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit status and what it wrote."""

    status: int
    out: str
    error: str


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, *arguments: str | Path
) -> Outcome:
    """Return the outcome of ``stacklens`` or ``extract-pda`` with ``arguments``, run in this process."""
    monkeypatch.setattr(sys, "argv", [f"/usr/bin/{command}", *map(str, arguments)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        (extract_command if command == "extract-pda" else stacklens_command).main()
    status = ended.value.code
    assert isinstance(status, int)
    return Outcome(status, *capsys.readouterr())


def begin(*arguments: str | Path, folder: Path) -> subprocess.Popen[str]:
    """Return ``stacklens`` with ``arguments``, begun in a process of its own in ``folder``."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT.parent), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "stacklens", *map(str, arguments)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
