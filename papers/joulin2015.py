"""Joulin & Mikolov 2015, "Inferring algorithmic patterns with stack-augmented recurrent nets".

Table 2 (five counting patterns) and figure 2 (memorisation, binary addition): which networks, on which streams, and
what was reported. "Percent of n" counts a size n from 2 to 59 where all strings of that size are predicted.

Table 3 and figure 3 show one network's steps on one word, as `stacklens trace NETWORK WORD --rounded` does: `EXAMPLES`
has networks and words. Figure 3 is of binary addition: docs/addition.py draws it from a network of the paper's
protocol; memorisation, of which the zoo has a network, stands in here.
Table 4 needs a text of the user's; the results here are of the King James Bible (docs/papers/joulin2015.md says how to
get it).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import StacklensError
from .grid import Grid, GridRow, Outcome, RunSettings

PAPER = "Joulin & Mikolov 2015"
PAPER_MODELS = {"RNN": "rnn", "LSTM": "lstm", "List RNN 40+5": "list-rnn", "Stack RNN 40+10": "stack-rnn"}
_WITHOUT_MEMORY = ("rnn", "lstm")
FEW = "Stack RNN, 1 to 3 stacks"  # not in the paper: networks small enough to be read
PAPER_PATTERNS = {
    "anbn": "a^n b^n",
    "anbncn": "a^n b^n c^n",
    "anbncndn": "a^n b^n c^n d^n",
    "anb2n": "a^n b^2n",
    "anbmcnm": "a^n b^m c^n+m",
}
# table 2, in the order of PATTERNS; the networks "+ rounding" are those of the line above
_REPORTED = {
    ("RNN", "test"): ("25", "23.3", "13.3", "23.3", "33.3"),
    ("LSTM", "test"): ("100", "100", "68.3", "75", "100"),
    ("List RNN 40+5", "test"): ("100", "33.3", "100", "100", "100"),
    ("Stack RNN 40+10", "test"): ("100", "100", "100", "100", "43.3"),
    ("Stack RNN 40+10", "test rounded"): ("100", "100", "100", "100", "100"),
}
# figure 2: a curve for each network, over the size of the strings
_CURVES = {
    "RNN": ("rnn", "memorization"),
    "LSTM": ("lstm", "memorization"),
    "List RNN": ("list-rnn", "memorization"),
    "Stack RNN": ("stack-rnn", "memorization"),
    "Stack RNN, addition": ("stack-rnn", "addition"),
}
_SHOWN = (5, 10, 15, 20, 30, 40, 50, 59)
# networks that come with stacklens, and words
EXAMPLES = {
    "table 3": ("models/zoo/stack-rnn-anb2n.pt", "b" + "a" * 6 + "b" * 12),
    "figure 3": ("models/zoo/stack-rnn-memorization.pt", "2122=22121"),
}
_SOURCE = "section 5; the paper protocol is that of the authors' program, the fast one Adam on many streams at once"


def _train_by(function: str, *what_and_settings: Any) -> list[Outcome]:
    """Return what a ``function`` of `joulin2015_training` trains; torch is loaded only then."""
    from . import joulin2015_training

    found: list[Outcome] = getattr(joulin2015_training, function)(*what_and_settings)
    return found


def _table2_row(name: str, pattern: str) -> GridRow:
    column = list(PAPER_PATTERNS).index(pattern)
    reported = {f"{score} chosen": figures[column] for (line, score), figures in _REPORTED.items() if line == name}
    model = PAPER_MODELS.get(name, "stack-rnn")
    train = partial(_train_by, "train_pattern", model, pattern, name == FEW)
    return GridRow(
        f"{name}, {pattern}",
        {"network": name, "pattern": PAPER_PATTERNS[pattern]},
        train,
        reported,
        _SOURCE,
        stacks=model not in _WITHOUT_MEMORY,
    )


def table2() -> Grid:
    """Return table 2, with a line of ours for networks with few stacks."""
    return Grid(
        "joulin2015-table2",
        PAPER,
        "table 2: percent of n that are predicted, counting patterns",
        tuple(_table2_row(name, pattern) for name in (*PAPER_MODELS, FEW) for pattern in PAPER_PATTERNS),
        scores=("test", "test rounded"),
        statistics=("chosen", "chosen unrounded", "median", "max"),
        across="pattern",
        score_names={"test": "", "test rounded": "+ rounding"},
        note="Sizes n from 2 to 59; chosen is the restart that is best on validation, sizes 2 to 19, rounded in the "
        "lines with rounding, as the authors' runs with -hard are; chosen unrounded is the very network whose score "
        "stands in the line without. The first two strings of a stream, which begins with empty memories, are not "
        "scored. LSTMs of the protocol fast are chosen on sizes 20 to 30 instead; their settings stand below.",
        tried_note="layers x units; where there are several settings, every seed is trained with all of them, and "
        "keeps what is best on validation; the loss is in nats a symbol, by the protocol fast of what can be known in "
        "sizes 20 to 30, by the protocol paper of all symbols in sizes 2 to 19.",
    )


def figure2() -> Grid:
    """Return figure 2, whose numbers the paper does not print, at some sizes; results have all of them."""
    rows = tuple(
        GridRow(
            name,
            {"network": name},
            partial(_train_by, "train_recall", *what),
            {},
            _SOURCE,
            stacks=what[0] not in _WITHOUT_MEMORY,
        )
        for name, what in _CURVES.items()
    )
    return Grid(
        "joulin2015-fig2",
        PAPER,
        "figure 2: percent of the strings of size n that are predicted, memorisation and binary addition",
        rows,
        scores=tuple(f"n = {n}{rounded}" for rounded in ("", " rounded") for n in _SHOWN),
        statistics=("chosen",),
        across="network",
        note="Chosen is the restart that is best on validation, sizes 2 to 19. The paper prints a curve, no numbers: "
        "its lists and stacks memorise at all sizes, its RNN and LSTM at none beyond training; its Stack RNN adds.",
    )


# table 4: validation and test perplexity on the Penn Treebank, and the shape: 100 hidden units, 60 stacks, R not 0; the
# n-grams and the SRCN are of Mikolov et al. 2014, table 2, whose SRCN of these perplexities has 40 context units
_WORDS: dict[str, tuple[str, tuple[str, str], dict[str, Any]]] = {
    "N-gram": ("ngram", ("", "141"), {"order": 5}),
    "N-gram + cache": ("ngram", ("", "125"), {"order": 5, "cache": True}),
    "RNN": ("rnn", ("137", "129"), {"hidden": 100, "controller": "rnn", "task_kind": "next symbol"}),
    "LSTM": ("lstm", ("120", "115"), {"hidden": 100, "controller": "lstm", "task_kind": "next symbol"}),
    "SRCN": ("scrn", ("120", "115"), {"hidden": 100, "context": 40, "decay": 0.95}),
    "Stack RNN": ("stack-rnn", ("124", "118"), {"hidden": 100, "n_stacks": 60, "recurrent": True, "stack_limit": 50}),
}
_NEEDED = (
    "joulin2015-table4 needs a text: --text FILE, a verse or sentence a line, which is split; or --train FILE "
    "--valid FILE --test FILE, each with a sentence a line and words with blanks between them; the paper's is the Penn "
    "Treebank, which is licensed and does not come with stacklens"
)


def _train_words(model: str, shape: dict[str, Any], files: tuple[Path, ...], settings: RunSettings) -> list[Outcome]:
    if not files:
        raise StacklensError(_NEEDED)
    return _train_by("train_words", model, shape, files, settings)


def table4(*files: Path) -> Grid:
    """Return table 4 for a text in one file, which is split, or in three; without any it can be shown, not trained."""
    rows = tuple(
        GridRow(
            name,
            {"network": name},
            partial(_train_words, model, shape, files),
            {
                f"{part} perplexity min": figure
                for part, figure in zip(("validation", "test"), reported, strict=True)
                if figure
            },
            "section 5.2 and table 4",
            stacks=False,  # nothing is extracted from a language model
        )
        for name, (model, reported, shape) in _WORDS.items()
    )
    return Grid(
        "joulin2015-table4",
        PAPER,
        "table 4: perplexity of language models over words",
        rows,
        scores=("validation perplexity", "test perplexity"),
        statistics=("min",),
        seeds=1,
        shares=False,
        ranked="test perplexity min",
        note="The paper's figures are those of the Penn Treebank; ours are of the text that is named: what can be held "
        "against the paper is the order. Networks of 100 units, 60 stacks of 50 cells, 40 context units; 3 epochs by "
        "Adam, 20 places at once, 50 steps back, the rate falling from .003 to 0, the epoch that is best on "
        "validation; n-grams with modified Kneser-Ney smoothing, the cache's size and weight those that are best on "
        "validation.",
        with_texts=table4,
    )


def grids() -> dict[str, Callable[[], Grid]]:
    """Return the grids of this paper by name."""
    return {"joulin2015-table2": table2, "joulin2015-fig2": figure2, "joulin2015-table4": table4}
