"""RNNs and LSTMs learned symbol by symbol, as by the protocol paper of Joulin & Mikolov 2015: ours, and by autograd.

Ours is `models/kernels/unit_scan.py`, an update after every symbol or after ten; theirs is the same training with what
autograd makes of the steps that an error goes back through. Both from untrained networks, by processor time, on one
thread, and an epoch without its check; autograd reads fewer symbols.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.measure import Report, show_ratio

_NETS, _PIECES, _FEW, _RUNS = 10, 20, 6, 2
_SHAPES = (("rnn", 40, 1), ("lstm", 50, 1))


def reports() -> Iterator[Report]:
    rows = []
    for model, hidden, layers in _SHAPES:
        plain = _speed(model, hidden, layers, 0)
        for together in (1, 10):
            ours = _speed(model, hidden, layers, together)
            cells = (f"{ours:,.0f}", f"{plain:,.0f}", show_ratio(ours / plain))
            rows.append((f"{model}, {layers} x {hidden}", str(together), *cells))
    yield Report(
        "learning symbol by symbol: a^n b^n, errors that go back 50 steps",
        ("", "symbols an update", "symbols a second and network", "by autograd, 1 an update", "ratio"),
        tuple(rows),
        f"{_NETS} networks side by side; the best of {_RUNS} runs",
    )


def _speed(model: str, hidden: int, layers: int, together: int) -> float:
    """Return how many symbols a second of processor time each network learns from; by autograd where ``together`` is 0.

    All pieces are of size 10.
    """
    from stacklens.languages.catalogue import get_task
    from stacklens.models.training.loop import SideBySide
    from stacklens.papers.joulin2015_online import OnlineRecipe, OnlineTraining

    class Unchecked(OnlineTraining):
        def check(self) -> None:
            """Leave out the check."""

    shape = {"hidden": hidden, "layers": layers, "controller": model, "task_kind": "next symbol"}
    recipe = OnlineRecipe(shape, smallest=10, n_max=11, pieces=_PIECES, together=max(1, together), validation=1)
    if not together:
        recipe = replace(recipe, pieces=_FEW)
    speeds = []
    for _ in range(_RUNS):
        training = Unchecked(model, recipe, get_task("anbn"), seed=0, nets=_NETS)  # type: ignore[arg-type]
        training.epochs_done = 10  # all sizes are there
        begun = time.process_time()
        (OnlineTraining if together else SideBySide).epoch(training)
        speeds.append(training.symbols / (time.process_time() - begun))
    return max(speeds)
