"""Networks that tests of the page share."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stacklens
from stacklens.models.base import StackModel
from stacklens.models.networks import build_model

# ---- One small network of every kind, with drawn weights, and what a figure says. ----
NETWORKS: dict[str, dict[str, Any]] = {
    "nnpda": {"alphabet": "ab", "order": "third", "n_states": 3, "end": "e", "trap": False},
    "stack-rnn": {"alphabet": "ab", "hidden": 5, "n_stacks": 2, "no_op": True},
    "list-rnn": {"alphabet": "ab", "hidden": 5, "n_stacks": 4},
    "marnn-stack-rnn": {"alphabet": "ab", "cell_size": 2},
    "marnn-stack-lstm": {"alphabet": "ab"},
    "baby-ntm": {"alphabet": "ab", "stack_limit": 7},
    "neural-stack": {"alphabet": "ab", "controller": "lstm"},
    "buffered-neural-stack": {"alphabet": "ab", "extra_steps": 1},
    "rnn": {"alphabet": "ab"},
    "linear": {"alphabet": "ab", "controller": "linear"},
}


def network(name: str, seed: int = 1) -> StackModel[Any]:
    """Return the network of `NETWORKS` called ``name``."""
    return build_model(name, NETWORKS[name], seed=seed)


def heat_map(figure: Any, number: int = 0) -> np.ndarray:
    """Return the values of a figure's heat map number ``number``, (rows, T)."""
    return np.array([trace for trace in figure.data if trace.type == "heatmap"][number].z, dtype=float)


def said(figure: Any) -> str:
    """Return the sentence that a figure without data says."""
    assert not figure.data
    (note,) = figure.layout.annotations
    return str(note.text)


# ---- One network of the zoo for each memory, and both kinds of tasks, where a test is about these, not one file.
#
# `EVERY` is the whole zoo for tests in which each network may differ: `make test` takes the representatives only.
REPRESENTATIVES = (
    "nnpda-palindrome",  # recognises, at an end symbol
    "stack-rnn-anbncn",  # says one symbol, has several stacks
    "marnn-stack-rnn-dyck-2",  # says a set of symbols
    "baby-ntm-dyck-2",  # has a ring
    "neural-stack-reversal",  # has a continuous stack
    "buffered-neural-stack-reversal",  # reads from a queue
)
_ZOO = sorted(path.stem for path in (Path(stacklens.__file__).parent / "models" / "zoo").glob("*.pt"))
EVERY = [pytest.param(name, marks=() if name in REPRESENTATIVES else pytest.mark.slow) for name in _ZOO]
