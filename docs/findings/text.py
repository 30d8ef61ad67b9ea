"""The figures of the findings' text, by the names that stand in the text; none of its numbers is written by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
from docs.findings import load
from docs.findings.comparisons import comparison_figures
from docs.findings.experiments import experiment_figures
from docs.findings.stats import share
from docs.findings.tables import protocol_figures
from docs.papers.explained import same_again

from stacklens.core.errors import StacklensError
from stacklens.papers.grid import CONVERGED
from stacklens.papers.results import FOLDER, read_results, result_path
from stacklens.papers.suzgun2019 import since_learned

_PLACEHOLDER = re.compile(r"\{\{ *([a-z0-9 ,&:+-]+?) *\}\}", re.IGNORECASE)
PAPERS = Path(__file__).parents[1] / "papers"
_ADDITION = "Stack RNN, addition"
_SEARCH = "suzgun2019-simple-palindrome-search"
# claims of sun1993-palindromes, in the order of their results
_PALINDROMES = ("palindrome word by word", "palindrome as printed", "palindrome", "palindrome with its trap")


def filled(template: str, figures: Mapping[str, str]) -> str:
    """Return ``template`` with every ``{{ name }}`` replaced by its figure.

    Raises:
        StacklensError: there is no figure of a name.

    >>> filled("of {{ all }} one", {"all": "12"})
    'of 12 one'
    """

    def figure(match: re.Match[str]) -> str:
        if match[1] not in figures:
            raise StacklensError(f"the text asks for {match[1]!r}, of which nothing is measured")
        return figures[match[1]]

    return _PLACEHOLDER.sub(figure, template)


def figures_of(folder: Path = FOLDER) -> dict[str, str]:
    """Return all figures by name, from the results in ``folder`` and those of the fresh networks' experiments.

    Raises:
        FileFormatError: a file holds something else.
        StacklensError: there are no results of any table.
    """
    measured = load.measured_grids(folder)
    if not measured:
        raise StacklensError(f"{folder}: no results of any table; expected a folder of `stacklens papers run`")
    networks = load.networks(measured)
    return {
        **_extent(load.runs(measured)),
        **protocol_figures(networks),
        **_rows(networks),
        **comparison_figures(measured, networks),
        **_addition(networks),
        **trace_figures(folder),
        **search_figures(networks),
        **_palindromes(folder),
        **experiment_figures(),
        **_unrun(measured),
        "again": same_again(),
    }


def _extent(runs: pd.DataFrame) -> dict[str, str]:
    return {
        "networks": str(runs.networks.sum()),
        "runs": str(len(runs)),
        **{f"hours of {part}": f"{runs[part].sum():.1f}" for part in ("training", "extraction")},
        "runs without processor": str((runs.processor == "").sum()),
        "processors": ", ".join(sorted(set(runs.processor) - {""})) or "none",
    }


def _unrun(measured: load.Measured) -> dict[str, str]:
    """Return how many rows of each table with a memory were not run, by the paper's own protocol where it has one."""
    found = {}
    for grid, results in measured:
        protocol = "paper" if "paper" in grid.protocols else "fast"
        run = {row.name for row in results.rows if row.protocol == protocol}
        rows = [row.name for row in grid.rows if row.stacks]
        found[f"unrun {grid.name}"] = f"{sum(name not in run for name in rows)} of {len(rows)}"
    return found


def _rows(networks: pd.DataFrame) -> dict[str, str]:
    """Return how many networks learned their task: of each row by each protocol, and by the numbers a cell."""
    found = {}
    for (table, name, protocol), own in networks.groupby(["table", "name", "protocol"]):
        short = re.sub(r"[^a-z0-9+&-]+", " ", f"{table} {name} {protocol}".lower())
        found[short] = f"{own.learned.sum()} of {len(own)}"
    for (table, numbers), own in networks.groupby(["table", "numbers"]):
        found[f"{table} learned {numbers}"] = share(own, "learned")
        rings = own[own.learned].name.str.startswith("Baby-NTM")
        found[f"{table} rings {numbers}"] = f"{rings.sum()} of {len(rings)}"
    return found


def _addition(networks: pd.DataFrame) -> dict[str, str]:
    """Return how far the paper's protocol came on binary addition, and what the best network gets right."""
    own = networks[(networks.row == f"joulin2015-fig2: {_ADDITION}") & (networks.protocol == "paper")]
    if own.empty:
        return {}
    best = own.scores[own.test.idxmax()]
    page = " ".join((PAPERS / "joulin2015.md").read_text(encoding="utf-8").split())
    first = re.search(r"seed 1: (\d+) % at n = 20\), the others are: .*? (\d+) % at 20,", page)
    assert first is not None, "docs/papers/joulin2015.md has what docs/addition.py printed"
    return {
        "addition networks": str(len(own)),
        "addition first": f"{first[1]} %",
        "addition others": f"{first[2]} %",
        "addition epochs": f"{best['epochs']:.0f}",
        "addition updates": f"{best['updates'] / 1e6:.1f} million",
        **{f"addition n {n}": f"{100 * best[f'n = {n}']:.0f} %" for n in (10, 20, 30, 59)},
    }


def _claims(name: str, folder: Path) -> list[dict[str, Any]]:
    """Return the figures of every claim of an experiment, none where it was not run."""
    there = result_path(name, folder).is_file()
    return [claim.figures for claim in read_results(name, folder).claims] if there else []


def trace_figures(folder: Path) -> dict[str, str]:
    """Return what came of the networks that were watched along their training, by the name of each row."""
    found = {}
    for figures in _claims("suzgun2019-traces", folder):
        name, counts = f"traces {figures['row'].lower()}", figures["counts"]
        for what, count in counts.items():
            of = counts["learned"] if what in ("dropped", "lost") else len(figures["networks"])
            found[f"{name} {what}"] = f"{count} of {of}"
        records = [right for one in figures["networks"] for right in since_learned(one)]
        right = sum(one >= CONVERGED for one in records)
        found[f"{name} records"] = f"{100 * right / len(records):.0f} %" if records else load.UNTOLD
    return found


def search_figures(networks: pd.DataFrame) -> dict[str, str]:
    """Return how many networks of the search for simple palindromes learned them, and the best row."""
    searched = networks[networks.table == _SEARCH]
    if searched.empty:
        return {}
    rows = searched.groupby("name", sort=False).agg(
        learned=("learned", "sum"), test=("test", "mean"), of=("test", "size")
    )
    best = max(rows.itertuples(), key=lambda row: (row.learned, row.test))
    return {
        "palindrome search learned": share(searched, "learned"),
        "palindrome search rows": str(len(rows)),
        "palindrome search settings": str(searched.name.str.partition(", ")[2].nunique()),
        "palindrome search best": str(best.Index),
        "palindrome search lstm": _of_row(rows, str(best.Index).replace("Stack-RNN", "Stack-LSTM")),
        "palindrome search best count": f"{best.learned} of {best.of}",
    }


def _of_row(rows: pd.DataFrame, name: str) -> str:
    """Return how many networks of a row learned their task."""
    return f"{rows.learned[name]} of {rows.of[name]}" if name in rows.index else "not run"


def _palindromes(folder: Path) -> dict[str, str]:
    """Return the median of wrong words of networks for palindromes by recipe, with the monitor and without."""
    claims = _claims("sun1993-palindromes", folder)
    words = {f"{sum(3**length for length in range(figures['length'] + 1)):,}" for figures in claims}  # of a, b, c
    return {"palindrome words": ", ".join(words)} | {
        f"{recipe} {kind.replace('_', ' ')}": f"{median(figures[kind]):g}"
        for recipe, figures in zip(_PALINDROMES, claims, strict=False)
        for kind in ("with_monitor", "without_monitor")
    }
