"""Training a Stack-RNN on D2 until it predicts every symbol of its longer test words: ours, and the authors' way.

Theirs (github.com/suzgunmirac/marnns) is one word at a time, one symbol at a time, Adam 0.01 and the mean squared error
of the word, for 3 epochs of 5,000 words; it is timed on a few words of the same training set and extrapolated. Ours is
`models/training/supervised.py` by its own recipe, networks side by side, until the best is right on all checking words
of lengths 52 to 100 as well as on those of the training lengths. Both on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import Report, show_ratio

_SEED, _NETS, _WORDS, _EPOCHS, _TOTAL, _RUNS = 1, 8, 40, 3, 5_000, 3


def reports() -> Iterator[Report]:
    from stacklens.models.base import one_thread

    with one_thread():
        yield _report()


def _report() -> Report:
    from stacklens.languages.catalogue import get_task
    from stacklens.models.training.recipes import fit_recipe
    from stacklens.models.training.supervised import Fitting

    task = get_task("dyck-2")
    recipe = fit_recipe("marnn-stack-rnn", task)
    fitting = Fitting("marnn-stack-rnn", recipe, task, seed=_SEED, nets=_NETS)
    plain = min(_plain_seconds(fitting) for _ in range(_RUNS)) * _EPOCHS * _TOTAL  # the best of a few: in its favour
    begun = time.perf_counter()
    fitting = Fitting("marnn-stack-rnn", recipe, task, seed=_SEED, nets=_NETS)
    while not fitting.done and min(score.analog_errors for score in fitting.best) > 0:
        fitting.epoch()
    seconds = time.perf_counter() - begun
    errors = min(score.analog_errors for score in fitting.best)
    reached = "right on all" if not errors else f"{errors} errors on"
    return Report(
        "training: marnn-stack-rnn on dyck-2",
        ("", "networks", "words seen by each", "seconds", "stacklens is", "goal", "result"),
        (
            (
                "stacklens",
                str(_NETS),
                f"{fitting.words_seen:,}",
                f"{seconds:.1f} s",
                "",
                "",
                f"{reached} {fitting.checked}, {fitting.epochs_done} epochs",
            ),
            (
                "plain loop",
                "1",
                f"{_EPOCHS * _TOTAL:,}",
                f"{plain:,.0f} s (extrapolated)",
                show_ratio(plain / seconds),
                ">= 10 x",
                f"timed on {_WORDS} words",
            ),
        ),
        "checks are part of our time; theirs is the training alone, whatever comes out",
    )


def _plain_seconds(fitting: Any) -> float:
    """Return the seconds a word that the plain loop takes, on words of the training set from an untrained network."""
    import torch
    from benchmarks.tracing import PlainLoop
    from torch.nn import functional

    from stacklens.models.networks import build_model

    examples = fitting.train_words
    loop = PlainLoop(build_model("marnn-stack-rnn", fitting.net.config(), seed=_SEED))
    optimizer = torch.optim.Adam(loop.parameters(), lr=0.01)
    step = max(1, len(examples) // _WORDS)
    rows = range(0, step * _WORDS, step)
    begun = time.perf_counter()
    for row in rows:
        length = int(examples.lengths[row])
        targets = torch.from_numpy(examples.targets[row, :length]).double()
        hidden, stack = loop.start()
        outputs = []
        for symbol in examples.symbols[row, :length].tolist():
            hidden, stack, _, _, output = loop.step(symbol, hidden, stack)
            outputs.append(output)
        optimizer.zero_grad()
        functional.mse_loss(torch.cat(outputs), targets).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return (time.perf_counter() - begun) / len(rows)
