"""Running `stacklens verify` in a process of its own, to be killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

import stacklens
from stacklens.automata.formats.json import to_json
from stacklens.languages.catalogue import get_language

ROOT = Path(__file__).parents[3]
ZOO = Path(stacklens.__file__).parent / "models" / "zoo"
_PATIENCE = 120  # seconds; a machine that is busy takes long to start Python


class Run:
    """One job in a folder: the palindrome network, its language's automaton, all words of length <= 16."""

    def __init__(self, folder: Path, max_length: int = 16) -> None:
        self.journal, self.report = folder / "journal.jsonl", folder / "report.json"
        automaton = folder / "palindrome.json"
        automaton.write_text(to_json(get_language("palindrome").automaton), encoding="utf-8")
        self.command = [sys.executable, "-m", "stacklens", "verify", str(ZOO / "nnpda-palindrome.pt")]
        self.command += ["--automaton", str(automaton), "--max-length", str(max_length)]
        self.command += ["--journal", str(self.journal), "--report", str(self.report)]
        self.folder = folder

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Return the running command, started outside the repository: its `automata` is not automata-lib."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
        out = subprocess.PIPE
        return subprocess.Popen(
            [*self.command, *options], cwd=self.folder, env=environment, stdout=out, stderr=out, text=True
        )

    def finish(self, *options: str) -> dict[str, Any]:
        """Return the report of a run that is left alone; its journal is gone then."""
        process = self.start(*options)
        out, error = process.communicate(timeout=_PATIENCE)
        assert process.returncode == 0, f"{out}{error}"
        assert not self.journal.exists()
        content: dict[str, Any] = json.loads(self.report.read_text(encoding="utf-8"))
        self.report.unlink()
        return content

    def chunks(self) -> list[int]:
        """Return the chunks that the journal has whole lines for."""
        lines = self.journal.read_bytes().splitlines(keepends=True) if self.journal.exists() else []
        content = [json.loads(line) for line in lines if line.endswith(b"\n")]
        return [line["chunk"] for line in content if "chunk" in line]


def kill_when(ready: Callable[[], bool], victims: Callable[[], list[int]]) -> None:
    """Wait until something is ``ready``, then kill -9 the ``victims``."""
    end = time.monotonic() + _PATIENCE
    while not ready():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.002)
    for victim in victims():
        os.kill(victim, signal.SIGKILL)


def children(parent: int, of: str) -> list[int]:
    """Return the processes that ``parent`` has started, or these have, with ``of`` in their command line."""
    family = psutil.Process(parent).children(recursive=True)
    return [process.pid for process in family if of in " ".join(process.cmdline())]
