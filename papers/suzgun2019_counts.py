"""What Suzgun et al. 2019 count in their text, counted in our results of the same tables; nothing is trained."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from stacklens.errors import StacklensError
from stacklens.papers.claims import Experiment, Finding, PaperClaim
from stacklens.papers.grid_results import RowResult, read_grid
from stacklens.papers.results import FOLDER

__all__ = ["counts_experiment"]

PAPER = "Suzgun et al. 2019"
_FULL, _OVER_99 = 1.0, 0.99
_J_AND_M = "Stack-RNN by J&M"
_VANILLA = ("Vanilla RNN", "Vanilla LSTM")
Chosen = Callable[[str], bool]  # of the names of rows


def counts_experiment(folder: Path = FOLDER) -> Experiment:
    """Return what the text counts, from the results in ``folder``."""
    memory: Chosen = lambda row: row not in _VANILLA  # noqa: E731
    theirs: Chosen = lambda row: memory(row) and row != _J_AND_M  # noqa: E731
    counted = (
        ("5.1", "D2: Stack-RNN+Softmax with full accuracy on the test", "8 of 10", 2, "Stack-RNN+Softmax", _FULL),
        ("5.1", "D2: Stack-RNN+Softmax-Temp, the same", "8 of 10", 2, "Stack-RNN+Softmax-Temp", _FULL),
        ("5.1", "D2: Stack-LSTM+Softmax-Temp, the same", "3 of 10", 2, "Stack-LSTM+Softmax-Temp", _FULL),
        ("5.2", "D3: Stack-RNN+Softmax with full accuracy", "8 of 10", 3, "Stack-RNN+Softmax", _FULL),
        ("5.2", "D3: all with a memory, 99 % or more on the test", "32 of 100", 3, memory, _OVER_99),
        ("5.2", "D6: all with a memory, 99 % or more on the test", "70 of 100", 4, memory, _OVER_99),
        ("5.2", "D6: the same without the Stack-RNN by J&M", "60 of 90", 4, theirs, _OVER_99),
        ("7", "string reversal: theirs with full accuracy on the test", "32 of 90", 6, theirs, _FULL),
    )
    claims = [
        PaperClaim(section, what, paper, partial(_count, folder, f"suzgun2019-table{table}", _named(rows), least))
        for section, what, paper, table, rows, least in counted
    ]
    palindromes = (("1", "learned in 3 of 90, others typically 0 %"), ("5", "immediately, with almost full accuracy"))
    claims[-1:-1] = [
        PaperClaim(
            "6.2",
            f"simple palindromes, {size} a cell: 99 % or more on the test",
            paper,
            partial(_count, folder, "suzgun2019-simple-palindrome", _ending(f", {size} a cell"), _OVER_99),
        )
        for size, paper in palindromes
    ]
    claims.insert(
        5,
        PaperClaim(
            "5.2",
            "D6, 1 number a cell: the highest score in training or test, without the Stack-RNN by J&M",
            "60.38 %, none with full accuracy",
            partial(_highest, folder, "suzgun2019-d6-one-number", theirs),
        ),
    )
    return Experiment("suzgun2019-counts", PAPER, "counts in the text, of our tables", tuple(claims), ())


def _named(rows: str | Chosen) -> Chosen:
    return rows if callable(rows) else (lambda row: row == rows)


def _ending(with_this: str) -> Chosen:
    return lambda row: row.endswith(with_this)


def _beside_theirs(runs: tuple[RowResult, ...]) -> list[RowResult]:
    """Return the runs on the authors' words by one protocol, "fast" where there is one."""
    known = [run for run in runs if run.data_seed == 0]
    return [run for run in known if run.protocol == "fast"] or known


def _found(folder: Path, table: str, rows: Chosen) -> list[RowResult]:
    results = read_grid(table, folder)
    found = [] if results is None else [row for row in _beside_theirs(results.rows) if rows(row.name)]
    if not found:
        raise StacklensError(f"{table} has none of these rows; run `stacklens papers run {table}` first")
    return found


def _highest(folder: Path, table: str, rows: Chosen) -> Finding:
    """Return the highest score of any network of the ``rows`` of a table, in training or test, and that of each row.

    Raises:
        StacklensError: none of these rows was run.
    """
    found = _found(folder, table, rows)
    highest = {row.name: max(max(one.scores["train"], one.scores["test"]) for one in row.networks) for row in found}
    networks, best = sum(len(row.networks) for row in found), max(highest, key=highest.__getitem__)
    full = sum(one.scores["test"] == _FULL for row in found for one in row.networks)
    protocols = ", ".join(dict.fromkeys(row.protocol for row in found))
    told = f"{100 * highest[best]:.2f} % ({best}); {full} of {networks} with full accuracy on the test"
    return Finding(told, {"table": table, "protocol": protocols, "networks": networks, "full": full, "rows": highest})


def _count(folder: Path, table: str, rows: Chosen, least: float) -> Finding:
    """Return how many networks of the ``rows`` of a table have ``least`` or more on the test.

    Raises:
        StacklensError: none of these rows was run.
    """
    found = _found(folder, table, rows)
    counts = {row.name: sum(one.scores["test"] >= least for one in row.networks) for row in found}
    networks, right = sum(len(row.networks) for row in found), sum(counts.values())
    protocols = ", ".join(dict.fromkeys(row.protocol for row in found))
    each = "" if len(found) == 1 else f" ({100 * right / networks:.0f} %)"
    figures = {"table": table, "protocol": protocols, "networks": networks, "right": right, "rows": counts}
    return Finding(f"{right} of {networks}{each}", figures)
