"""The repository's root goes to the end of the path: `tests.automata.strategies` is found there, and a bare `automata`
is automata-lib, not our folder of that name, which `python -m pytest` would put first. One thread a process: tests run
side by side, and torch's threads would only wait for each other.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported, which is later
ROOT = str(Path(__file__).parents[1])
sys.path[:] = [*(path for path in sys.path if path not in ("", ROOT)), ROOT]

# the same examples in every CI run, so that a failure is the change's; elsewhere new ones, which is how bugs are found
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
