"""Draw when in training the automaton of a Stack-RNN and of an NNPDA appears and settles: docs/training-*.svg.

    python docs/training_dynamics.py [FOLDER]

Both are trained anew, with snapshots, then every snapshot is extracted from, in about 20 minutes; FOLDER keeps the
snapshots and the journals, so that a run that was stopped goes on. Beside each figure stands its table.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import stacklens as sl

HERE = Path(__file__).parent.resolve()
TRAININGS = {"marnn-stack-rnn": ("dyck-2", 3), "nnpda": ("palindrome", 10)}  # what they learn, and how many networks
SNAPSHOTS = 50
BUDGET = 5.0  # seconds by the clock for the extraction from a snapshot


def draw(model: str) -> None:
    """Train networks of one kind, sweep over the snapshots of the best, and write table and figure."""
    language, seeds = TRAININGS[model]
    place = Path(f"{model}-{language}")
    if not place.is_dir():
        sl.train(model, language, seeds=seeds, snapshots=SNAPSHOTS, folder=place)
    swept = sl.sweep(place, language, journal=f"{place}.jsonl", budget=BUDGET)
    for suffix in (".csv", ".svg"):
        swept.save(HERE / f"training-{place.name}{suffix}")
    print(f"{place.name}: {swept.settling}")


if __name__ == "__main__":
    kept = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
    kept.mkdir(parents=True, exist_ok=True)
    os.chdir(kept)  # the tables name the snapshots as they are called there
    for name in TRAININGS:
        draw(name)
