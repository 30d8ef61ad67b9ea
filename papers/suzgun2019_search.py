"""Simple palindromes of Suzgun et al. 2019 with five numbers a cell: a search among settings.

The paper says that with five numbers a cell "our MARNNs immediately learned the task with almost full accuracy"
(section 6.2), and by its settings stacks of ours do not. So before that is put down as a difference, settings are
varied one at a time from two centres: the paper's, a word at a time at one rate, and the one by which Dyck languages
are learned here, batches at a rate that falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from stacklens.papers.grid import Grid, GridRow, Outcome, RunSettings
from stacklens.papers.suzgun2019 import PAPER
from stacklens.papers.suzgun2019_training import TrainedNetwork, train

__all__ = ["NAME", "SETTINGS", "Setting", "simple_palindrome_search"]

NAME = "suzgun2019-simple-palindrome-search"
_TASK, _HIDDEN = "simple-palindrome-nonempty", 8
_MODELS = {"Stack-RNN+Softmax": "marnn-stack-rnn", "Stack-LSTM+Softmax": "marnn-stack-lstm"}


@dataclass(frozen=True)
class Setting:
    """One way to train; in words of `FitRecipe`, ``numbers`` those of a cell."""

    rate: float = 0.01
    batch: int = 1
    order: Literal["as drawn", "by length", "short first"] = "as drawn"
    numbers: int = 5
    words: int = 5_000
    epochs: int = 3
    falling: float = 0.0

    def cells(self) -> dict[str, str]:
        """Return it as columns of a table, by name.

        >>> Setting(words=15_000).cells()["words"]
        '15,000'
        """
        return {
            "rate": f"{self.rate:g}{', falling to 0 over the last half' if self.falling else ''}",
            "batch": str(self.batch),
            "order": self.order,
            "numbers a cell": str(self.numbers),
            "words": f"{self.words:,}",
            "epochs": str(self.epochs),
        }


_THEIRS = Setting()
_BATCHES = Setting(batch=16, order="by length", epochs=24, falling=0.5)
# what a line is called: what differs from its centre
SETTINGS = {
    "the paper's": _THEIRS,
    "the paper's, a third of the rate": replace(_THEIRS, rate=0.003),
    "the paper's, a tenth of the rate": replace(_THEIRS, rate=0.001),
    "the paper's, rate falling": replace(_THEIRS, falling=0.5),
    "the paper's, short words first": replace(_THEIRS, order="short first"),
    "the paper's, 10 numbers": replace(_THEIRS, numbers=10),
    "the paper's, three times the words": replace(_THEIRS, words=15_000),
    "batches": _BATCHES,
    "batches, three times the rate": replace(_BATCHES, rate=0.03),
    "batches, a third of the rate": replace(_BATCHES, rate=0.003),
    "batches of 4": replace(_BATCHES, batch=4, epochs=12),
    "batches, as drawn": replace(_BATCHES, order="as drawn"),
    "batches, short words first": replace(_BATCHES, order="short first"),
    "batches, 1 number": replace(_BATCHES, numbers=1),
    "batches, 10 numbers": replace(_BATCHES, numbers=10),
    "batches, three times the words": replace(_BATCHES, words=15_000, epochs=8),
}


def simple_palindrome_search() -> Grid:
    """Return the search as a table: a line for each setting and model."""
    rows = tuple(
        GridRow(
            f"{model}, {name}",
            {"model": model, "settings": name, **setting.cells()},
            partial(_train, registered, setting),
            source="section 6.2; settings of ours but for the paper's",
        )
        for model, registered in _MODELS.items()
        for name, setting in SETTINGS.items()
    )
    note = (
        "Every row has settings of its own, whatever protocol it stands under. "
        "The paper: with 5 numbers a cell all models learned it with almost full accuracy."
    )
    title = "section 6.2, simple palindromes: a search among settings"
    statistics = ("min", "max", "median", "mean")
    return Grid(
        NAME,
        PAPER,
        title,
        rows,
        ("train", "test"),
        statistics,
        seeds=5,
        digits=2,
        note=note,
        data_seeds=True,
        protocols=("fast",),
    )


def _train(model: str, setting: Setting, settings: RunSettings) -> list[Outcome]:
    """Return a network from each seed of ``settings``, trained by ``setting``."""
    changed = {
        "rate": setting.rate,
        "batch": setting.batch,
        "order": setting.order,
        "epochs": setting.epochs,
        "falling": setting.falling,
    }
    trial = TrainedNetwork(model, "softmax", _TASK, _HIDDEN, setting.numbers, setting.words, changed)
    return train(trial, settings)
