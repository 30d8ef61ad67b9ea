"""The papers' tables with our numbers beside theirs, as data frames; what was not measured says so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from stacklens.errors import FileFormatError, UnknownNameError
from stacklens.extract.equals import NETWORKS
from stacklens.extract.headline import horizon_cell
from stacklens.papers.claims import Experiment
from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.findings import claims_table
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, read_grid
from stacklens.papers.grid_tables import TextTable, grid_tables, run_command
from stacklens.papers.results import FOLDER, Results, read_results, result_path
from stacklens.papers.sun1993_steps import figure_tables
from stacklens.viz.curves import claim_figures
from stacklens.viz.paper_figures import grid_figures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VERIFY", "PaperTables", "frame_of", "paper_tables", "step_tables", "table_names"]

_COLUMNS = ("section", "word", "step", "input", "state", "action", "stack")

VERIFY = "verify"  # the table of `stacklens verify --all`
_OTHERS = ("language", "rounded network", "network")


def step_tables(results: Results) -> list[TextTable]:
    """Return a table of the steps on every word that a claim was traced on; none where there are no such words."""
    rows = [
        (claim.section, word, str(number), *_cells(step))
        for claim in results.claims
        for word, found in claim.figures.items()
        if isinstance(found, dict) and isinstance(found.get("steps"), list)
        for number, step in enumerate(found["steps"], 1)
    ]
    commands = dict.fromkeys(
        str(found["command"])
        for claim in results.claims
        for found in claim.figures.values()
        if isinstance(found, dict) and "steps" in found and "command" in found
    )
    return [TextTable("Steps on single words", _COLUMNS, tuple(rows), "; ".join(commands))] if rows else []


def _cells(step: Mapping[str, Any]) -> tuple[str, ...]:
    state = " ".join(f"{value:.4f}" for value in step["state"])
    stack = " ".join(f"{symbol} {length:.4f}" for symbol, length in step["segments"])
    return step["input"], state, f"{step['action']:.4f}", stack or "empty"


_VERIFIED = (
    *("network", "language", "automaton", "states x stack symbols", "proof", "certificate", "all words checked"),
    *(f"differs from the {other}" for other in _OTHERS),
    *(f"agrees with the {other} on all words" for other in NETWORKS),
    "why not",
)


@dataclass(frozen=True)
class PaperTables:
    """One experiment: what the paper is, what was measured, the command that measures it, tables and figures."""

    paper: str
    title: str
    command: str
    measured: bool
    tables: tuple[TextTable, ...]
    figures: tuple[go.Figure, ...] = ()


def table_names() -> dict[str, str]:
    """Return the names of all experiments, and of `VERIFY`, each with a line that says what it is."""
    return {**_titles(), VERIFY: "stacklens: proof, exhaustive checks and certificate of every network of the zoo"}


@lru_cache(maxsize=1)
def _titles() -> Mapping[str, str]:
    built = {name: build() for name, build in EXPERIMENTS.items()}
    return {name: f"{one.paper}: {one.title}" for name, one in built.items()}


def paper_tables(name: str, folder: Path = FOLDER) -> PaperTables:
    """Return what is called ``name``, one of `table_names`, with the results in ``folder``.

    Raises:
        UnknownNameError: there is no such experiment.
        FileFormatError: a file in the folder does not hold results.
    """
    if name == VERIFY:
        return _verified(folder)
    if name not in EXPERIMENTS:
        raise UnknownNameError("table", name, list(table_names()))
    experiment = EXPERIMENTS[name]()
    command = f"stacklens papers run {name}"
    if isinstance(experiment, Grid):
        found = read_grid(name, folder)
        results = found or GridResults(experiment.paper, name, experiment.title)
        command = run_command(experiment, results)
        tables, figures = tuple(grid_tables(experiment, results)), tuple(grid_figures(experiment, results))
        return PaperTables(experiment.paper, experiment.title, command, found is not None, tables, figures)
    if not result_path(name, folder).is_file():
        return PaperTables(experiment.paper, experiment.title, command, False, (_unmeasured(experiment),))
    claims = read_results(name, folder)
    tables = (claims_table(claims), *figure_tables(claims), *step_tables(claims))
    return PaperTables(experiment.paper, experiment.title, command, True, tables, tuple(claim_figures(claims)))


def _unmeasured(experiment: Experiment) -> TextTable:
    rows = tuple((claim.section, claim.claim, claim.paper, "not measured") for claim in experiment.claims)
    return TextTable(
        f"{experiment.paper}: {experiment.title}", ("section", "what", "paper", "ours"), rows, "not measured"
    )


def _verified(folder: Path) -> PaperTables:
    """Return the table of all networks; it has no rows where it was not measured."""
    command, path = "stacklens verify --all", result_path(VERIFY, folder)
    title = "proof, exhaustive checks and certificate of every network of the zoo"
    rows: tuple[tuple[str, ...], ...] = ()
    if path.is_file():
        try:
            rows = tuple(map(_network_row, json.loads(path.read_text(encoding="utf-8"))["networks"]))
        except (ValueError, KeyError, TypeError):
            raise FileFormatError(f"{path}: no table of networks; write it anew: `{command} --report {path}`") from None
    caption = "" if path.is_file() else "not measured"
    return PaperTables("stacklens", title, command, path.is_file(), (TextTable(title, _VERIFIED, rows, caption),))


def _network_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    name, language = row["network"].removesuffix(".pt"), row["language"] or "not known"
    if row["automaton"] is None:
        return (name, language, "none", *("",) * (len(_VERIFIED) - 4), row["reason"])
    sizes = f"{row['automaton']['states']} x {row['automaton']['stack_symbols']}"
    by_other = {check["between"][1]: check for check in row["checks"]}
    words = next((f"{check['words']:,} of length <= {check['max_length']}" for check in row["checks"]), "")
    differ = [f"{by_other[other]['disagreements']:,}" if other in by_other else "not compared" for other in _OTHERS]
    why = "; ".join(row[kind]["reason"] for kind in ("proof", "certificate") if row[kind]["reason"])
    found = "contradicted" if row["status"] else "yes"
    horizons = [horizon_cell(row.get("horizon", {}).get(other)) for other in NETWORKS]
    verdicts = row["proof"]["verdict"], row["certificate"]["verdict"]
    return (name, language, found, sizes, *verdicts, words, *differ, *horizons, why)


def frame_of(table: TextTable) -> pd.DataFrame:
    """Return a table as a data frame; a column's name that comes twice gets a number."""
    import pandas as pd

    return pd.DataFrame(list(table.rows), columns=_distinct(table.columns))


def _distinct(names: Sequence[str]) -> list[str]:
    found = list[str]()
    for place, name in enumerate(names):
        earlier = names[:place].count(name)
        found.append(f"{name} ({earlier + 1})" if earlier else name)
    return found
