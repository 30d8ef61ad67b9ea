"""The examples run as they stand, and come out as docs/adapter.md says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_adapter_extracts_the_one_state_automaton_of_balanced_parentheses() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "adapter.py")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    apart = re.search(r"the adapter's outputs and the network's own differ by at most (\S+)", done.stdout)
    assert apart is not None
    assert float(apart[1]) < 1e-9
    assert re.search(r"^automaton +1 state, 2 stack symbols, 5 transitions$", done.stdout, re.MULTILINE)
    found = re.findall(r"of length <= [\d,]+ +(\w+) +(\w+) +\d+$", done.stdout, re.MULTILINE)
    assert len(found) == 6  # all, long, deep, covering, driven, repeated cycles
    assert {one for pair in found for one in pair} <= {"0", "proved"}


def test_the_network_knows_nothing_of_us() -> None:
    text = (ROOT / "examples" / "plain_network.py").read_text(encoding="utf-8")
    imported = re.findall(r"^\s*(?:from|import)\s+(\w+)", text, re.MULTILINE)
    assert set(imported) == {"__future__", "random", "pathlib", "torch"}
