"""Networks learned symbol by symbol, as by the protocol paper of Joulin & Mikolov 2015, beside one update a symbol.

Of Stack RNNs and List RNNs the gradients are by hand, beside those of autograd; of an RNN and an LSTM the errors of ten
symbols are gathered for an update, beside an update after every symbol, both by autograd. All from untrained networks,
by processor time, on one thread, and an epoch without its check; what is slow reads fewer symbols.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from benchmarks.measure import Report, show_ratio

_NETS, _PIECES, _FEW, _RUNS = 10, 20, 6, 2
_SHAPES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("stack-rnn", {"hidden": 40, "n_stacks": 10}),
    ("list-rnn", {"hidden": 40, "n_stacks": 5}),
    ("rnn", {"hidden": 40, "controller": "rnn", "task_kind": "next symbol"}),
    ("lstm", {"hidden": 50, "controller": "lstm", "task_kind": "next symbol"}),
)


def reports() -> Iterator[Report]:
    rows = []
    for model, shape in _SHAPES:
        stack = model in ("stack-rnn", "list-rnn")
        plain, ours = _speed(model, shape, 1, by_hand=False), _speed(model, shape, 1 if stack else 10, by_hand=stack)
        how = "gradients by hand" if stack else "10 symbols an update"
        rows.append(
            (f"{model}, {shape['hidden']} units", how, f"{ours:,.0f}", f"{plain:,.0f}", show_ratio(ours / plain))
        )
    yield Report(
        "learning symbol by symbol: a^n b^n, errors that go back 50 steps",
        ("", "", "symbols a second and network", "by autograd, 1 an update", "ratio"),
        tuple(rows),
        f"{_NETS} networks side by side; the best of {_RUNS} runs",
    )


def _speed(model: str, shape: dict[str, Any], together: int, *, by_hand: bool) -> float:
    """Return how many symbols a second of processor time each network learns from, all pieces being of size 10."""
    from stacklens.languages.catalogue import get_task
    from stacklens.papers import joulin2015_online
    from stacklens.papers.joulin2015_online import OnlineRecipe, OnlineTraining

    class Unchecked(OnlineTraining):
        def check(self) -> None:
            """Leave out the check."""

    pieces = _PIECES if by_hand or together > 1 else _FEW
    recipe = OnlineRecipe(shape, smallest=10, n_max=11, pieces=pieces, together=together, validation=1)
    speeds = []
    for _ in range(_RUNS):
        training = Unchecked(model, recipe, get_task("anbn"), seed=0, nets=_NETS)  # type: ignore[arg-type]
        training.epochs_done = 10  # all sizes are there
        begun = time.process_time()
        with patch.object(joulin2015_online, "_by_hand", lambda *_: by_hand):
            training.epoch()
        speeds.append(training.symbols / (time.process_time() - begun))
    return max(speeds)
