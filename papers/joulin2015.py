"""Joulin & Mikolov 2015, "Inferring algorithmic patterns with stack-augmented recurrent nets".

Table 2 (five counting patterns) and figure 2 (memorisation, binary addition): which networks, on which streams, and
what was reported. "Percent of n" counts a size n from 2 to 59 where all strings of that size are predicted.

Table 3 and figure 3 show one network's steps on one word, as `stacklens trace NETWORK WORD --rounded` does;
docs/addition.py draws figure 3. Table 4 needs a text of the user's; docs/papers/joulin2015.md says how to get one.
"""

from collections.abc import Iterable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from .grid import Grid, GridRow, Outcome
from .results import declared

_DECLARED = declared("joulin2015")
PAPER_MODELS = {"RNN": "rnn", "LSTM": "lstm", "List RNN 40+5": "list-rnn", "Stack RNN 40+10": "stack-rnn"}
_WITHOUT_MEMORY = ("rnn", "lstm")
FEW = "Stack RNN, 1 to 3 stacks"  # not in the paper: networks small enough to be read
PAPER_PATTERNS: dict[str, str] = _DECLARED["joulin2015-table2"]["patterns"]
_SHOWN = (5, 10, 15, 20, 30, 40, 50, 59)


def _train_by(function: str, *what_and_settings: Any) -> list[Outcome]:  # torch is loaded when it is called
    from . import joulin2015_training

    found: list[Outcome] = getattr(joulin2015_training, function)(*what_and_settings)
    return found


def _joulin_grid(name: str, rows: Iterable[GridRow], scores: Iterable[str], **more: Any) -> Grid:
    own = _DECLARED[name]
    notes = {what: own[what] for what in ("note", "tried_note") if what in own}
    return Grid(name, _DECLARED["paper"], own["title"], tuple(rows), tuple(scores), **notes, **more)


def table2() -> Grid:
    """Return table 2, with a line of ours for networks with few stacks."""
    names = {"test": "", "test rounded": "+ rounding"}
    rows, lines = [], _DECLARED["joulin2015-table2"]["reported"]
    for name, (column, (pattern, shown)) in product((*PAPER_MODELS, FEW), enumerate(PAPER_PATTERNS.items())):
        figures = {score: lines[line] for score in names if (line := f"{name} | {score}") in lines}
        reported = {f"{score} chosen": of_patterns[column] for score, of_patterns in figures.items()}
        model, cells = PAPER_MODELS.get(name, "stack-rnn"), {"network": name, "pattern": shown}
        train, stacks = partial(_train_by, "train_streams", model, pattern, name == FEW), model not in _WITHOUT_MEMORY
        rows.append(GridRow(f"{name}, {pattern}", cells, train, reported, _DECLARED["source"], stacks=stacks))
    statistics = ("chosen", "chosen unrounded", "median", "max")
    return _joulin_grid("joulin2015-table2", rows, names, statistics=statistics, across="pattern", score_names=names)


def figure2() -> Grid:
    """Return figure 2, whose numbers the paper does not print, at some sizes; results have all of them."""
    rows = []
    for name, (model, task) in _DECLARED["joulin2015-fig2"]["curves"].items():
        train, stacks = partial(_train_by, "train_streams", model, task, False), model not in _WITHOUT_MEMORY
        rows.append(GridRow(name, {"network": name}, train, {}, _DECLARED["source"], stacks=stacks))
    scores = (f"n = {n}{rounded}" for rounded in ("", " rounded") for n in _SHOWN)
    return _joulin_grid("joulin2015-fig2", rows, scores, statistics=("chosen",), across="network")


def table4(*files: Path) -> Grid:
    """Return table 4 for a text in one file, which is split, or in three; without any it can be shown, not trained."""
    rows, parts = [], ("validation perplexity", "test perplexity")
    for name, own in _DECLARED["joulin2015-table4"]["networks"].items():
        train = partial(_train_by, "train_words", own["model"], own["shape"], files)
        reported = {f"{part} min": figure for part, figure in zip(parts, own["reported"], strict=True) if figure}
        # nothing is extracted from a language model
        rows.append(GridRow(name, {"network": name}, train, reported, "section 5.2 and table 4", stacks=False))
    return _joulin_grid(
        "joulin2015-table4",
        rows,
        parts,
        statistics=("min",),
        seeds=1,
        shares=False,
        ranked="test perplexity min",
        with_texts=table4,
    )
