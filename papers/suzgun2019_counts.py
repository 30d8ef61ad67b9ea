"""What Suzgun et al. 2019 count in their text, counted in our results of the same tables; nothing is trained."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from stacklens.errors import StacklensError
from stacklens.papers.claims import Experiment, Finding, PaperClaim
from stacklens.papers.grid import CONVERGED
from stacklens.papers.grid_results import Network, read_grid
from stacklens.papers.results import FOLDER

__all__ = ["counts_experiment"]

PAPER = "Suzgun et al. 2019"
_MEMORY = "all with a memory"
_THEIRS = "without the Stack-RNN by J&M"
# section, what is counted, the paper's count, our table, which rows of it, and the least score that counts; None for
# the highest score instead of a count
_COUNTED = (
    ("5.1", "D2: Stack-RNN+Softmax with full accuracy on the test", "8 of 10", "table2", "Stack-RNN+Softmax", 1.0),
    ("5.1", "D2: Stack-RNN+Softmax-Temp, the same", "8 of 10", "table2", "Stack-RNN+Softmax-Temp", 1.0),
    ("5.1", "D2: Stack-LSTM+Softmax-Temp, the same", "3 of 10", "table2", "Stack-LSTM+Softmax-Temp", 1.0),
    ("5.2", "D3: Stack-RNN+Softmax with full accuracy", "8 of 10", "table3", "Stack-RNN+Softmax", 1.0),
    ("5.2", f"D3: {_MEMORY}, 99 % or more on the test", "32 of 100", "table3", _MEMORY, CONVERGED),
    (
        "5.2",
        f"D6, 1 number a cell: the highest score in training or test, {_THEIRS}",
        "60.38 %, none with full accuracy",
        "d6-one-number",
        _THEIRS,
        None,
    ),
    ("5.2", f"D6: {_MEMORY}, 99 % or more on the test", "70 of 100", "table4", _MEMORY, CONVERGED),
    ("5.2", f"D6: the same {_THEIRS}", "60 of 90", "table4", _THEIRS, CONVERGED),
    *(
        ("6.2", f"simple palindromes{cell}: 99 % or more on the test", theirs, "simple-palindrome", cell, CONVERGED)
        for cell, theirs in (
            (", 1 a cell", "learned in 3 of 90, others typically 0 %"),
            (", 5 a cell", "immediately, with almost full accuracy"),
        )
    ),
    ("7", "string reversal: theirs with full accuracy on the test", "32 of 90", "table6", _THEIRS, 1.0),
)


def counts_experiment(folder: Path = FOLDER) -> Experiment:
    """Return what the text counts, from the results in ``folder``."""
    claims = tuple(
        PaperClaim(section, what, theirs, partial(_count, folder, f"suzgun2019-{table}", rows, least))
        for section, what, theirs, table, rows, least in _COUNTED
    )
    return Experiment("suzgun2019-counts", PAPER, "counts in the text, of our tables", claims, ())


def _is_of(row: str, rows: str) -> bool:
    """Return whether a row is among ``rows``: a group of networks, a row's name, or how it ends."""
    if rows in (_MEMORY, _THEIRS):
        return row not in ("Vanilla RNN", "Vanilla LSTM") and not (rows == _THEIRS and row == "Stack-RNN by J&M")
    return row.endswith(rows) if rows.startswith(",") else row == rows


def _count(folder: Path, table: str, rows: str, least: float | None) -> Finding:
    """Return how many networks of ``rows`` have ``least`` or more on the test, or their highest score.

    These are the runs on the authors' words by one protocol, "fast" where there is one.

    Raises:
        StacklensError: none of these rows was run.
    """
    results = read_grid(table, folder)
    runs = [] if results is None else [run for run in results.rows if run.data_seed == 0]
    runs = [run for run in runs if run.protocol == "fast"] or runs
    found = [run for run in runs if _is_of(run.name, rows)]
    if not found:
        raise StacklensError(f"{table} has none of these rows; run `stacklens papers run {table}` first")
    networks = sum(len(run.networks) for run in found)
    protocols = ", ".join(dict.fromkeys(run.protocol for run in found))
    figures = {"table": table, "protocol": protocols, "networks": networks}
    if least is None:
        highest = {run.name: max(max(one.scores["train"], one.scores["test"]) for one in run.networks) for run in found}
        best, full = max(highest, key=highest.__getitem__), sum(_right(run.networks, 1.0) for run in found)
        ours = f"{100 * highest[best]:.2f} % ({best}); {full} of {networks} with full accuracy on the test"
        return Finding(ours, {**figures, "full": full, "rows": highest})
    counts = {run.name: _right(run.networks, least) for run in found}
    right = sum(counts.values())
    share = "" if len(found) == 1 else f" ({100 * right / networks:.0f} %)"
    return Finding(f"{right} of {networks}{share}", {**figures, "right": right, "rows": counts})


def _right(networks: tuple[Network, ...], least: float) -> int:
    return sum(one.scores["test"] >= least for one in networks)
