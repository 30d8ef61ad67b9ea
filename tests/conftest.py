"""The repository's root goes to the end of the path: `tests.automata.strategies` is found there, and a bare `automata`
is automata-lib, not our folder of that name, which `python -m pytest` would put first.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[1])
sys.path[:] = [*(path for path in sys.path if path not in ("", ROOT)), ROOT]
