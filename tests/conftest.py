"""The repository's root goes to the end of the path: `tests.automata.strategies` is found there, and a bare `automata`
is automata-lib, not our folder of that name, which `python -m pytest` would put first. One thread a process: tests run
side by side, and torch's threads would only wait for each other.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported, which is later
ROOT = str(Path(__file__).parents[1])
sys.path[:] = [*(path for path in sys.path if path not in ("", ROOT)), ROOT]
