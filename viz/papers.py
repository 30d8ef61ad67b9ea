"""The papers' tables as pictures: a dot for every network that was trained."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from ..core.errors import FileFormatError, UnknownNameError
from ..extract.wording import NETWORKS, horizon_cell
from ..papers.grid import Grid, GridResults, GridRow, read_grid
from ..papers.results import FOLDER, Results, read_results, result_path
from ..papers.runner import EXPERIMENTS
from ..papers.sun1993_steps import figure_tables
from ..papers.tables import TextTable, claims_table, grid_tables, run_command
from .curves import claim_figures, curve_figure, is_curve
from .style import CATEGORIES, themed

if TYPE_CHECKING:
    import pandas as pd


_LINE = 26  # pixels of a row
_WIDEST = 34  # characters of a row's name


def grid_figures(grid: Grid, results: GridResults) -> list[go.Figure]:
    """Return a figure for each score that is shown and that some network has, or one curve; none without results."""
    if is_curve(grid):
        return [curve_figure(grid, results)] if results.rows else []
    scores = [
        score for score in grid.scores if any(score in one.scores for row in results.rows for one in row.networks)
    ]
    return [score_figure(grid, results, score) for score in scores]


def score_figure(grid: Grid, results: GridResults, score: str) -> go.Figure:
    """Return every network's ``score`` as a dot, a line a row, our median as a bar, the paper's figures as diamonds.

    Rows that were not run have the paper's figures alone.
    """
    rows = [row for row in grid.rows if _ours(results, row, score) or _paper_figures(row, score)]
    cut = _WIDEST - 1
    names = {row.name: row.name if len(row.name) <= _WIDEST else f"{row.name[:cut]}…" for row in rows}
    factor, unit = (100, "%") if grid.shares else (1, "")
    ours = [(names[row.name], factor * value) for row in rows for value in _ours(results, row, score)]
    medians = [
        (names[row.name], factor * statistics.median(values)) for row in rows if (values := _ours(results, row, score))
    ]
    theirs = [(names[row.name], value) for row in rows for value in _paper_figures(row, score)]
    figure = go.Figure(
        [
            _dots("ours, one network each", ours, unit, symbol="circle-open", size=8, color=CATEGORIES[0]),
            _dots("our median", medians, unit, symbol="line-ns-open", size=16, color=CATEGORIES[0]),
            _dots("the paper", theirs, unit, symbol="diamond", size=9, color=CATEGORIES[3]),
        ]
    )
    order = list(names.values())
    figure.update_yaxes(categoryorder="array", categoryarray=order[::-1], range=[-0.7, len(order) - 0.3])
    figure.update_xaxes(title={"text": f"{score}{', ' + unit if unit else ''}"})
    figure.update_layout(
        title={"text": f"{grid.paper}: {score}", "x": 0, "xref": "paper", "font": {"size": 15}},
        height=_LINE * len(order) + 150,
        margin={"l": 40, "r": 20, "t": 80, "b": 50},
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
    )
    return themed(figure)


def _ours(results: GridResults, row: GridRow, score: str) -> list[float]:
    networks = [network for run in results.runs(row.name) for network in run.networks]
    return [network.scores[score] for network in networks if score in network.scores]


def _paper_figures(row: GridRow, score: str) -> list[float]:
    """Return the figures that the paper prints for a score, whichever statistics they are."""
    found = list[float]()
    for column, text in row.reported.items():
        if column.rpartition(" ")[0] == score:
            try:
                found.append(float(text.strip(" %")))
            except ValueError:  # a remark
                continue
    return found


def _dots(name: str, points: Sequence[tuple[str, float]], unit: str, **marker: Any) -> Any:
    if str(marker["symbol"]).endswith("-open"):
        marker["line"] = {"width": 2}
    return go.Scatter(
        x=[value for _, value in points],
        y=[row for row, _ in points],
        mode="markers",
        name=name,
        marker=marker,
        hovertemplate="%{y}<br>%{x:.4g}" + unit + "<extra>" + name + "</extra>",
    )


# ---- The papers' tables with our numbers beside theirs, as data frames; what was not measured says so ----

_COLUMNS = ("section", "word", "step", "input", "state", "action", "stack")

VERIFY = "verify"  # the table of `stacklens verify --all`
_OTHERS = ("language", "rounded network", "network")


def step_tables(results: Results) -> list[TextTable]:
    """Return a table of the steps on every word that a claim was traced on; none where there are no such words."""
    rows = [
        (claim.section, word, str(number), *_step_cells(step))
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


def _step_cells(step: Mapping[str, Any]) -> tuple[str, ...]:
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


@lru_cache(maxsize=1)
def table_names() -> dict[str, str]:
    """Return the names of all experiments, and of `VERIFY`, each with a line that says what it is."""
    built = {name: build() for name, build in EXPERIMENTS.items()}
    titles = {name: f"{one.paper}: {one.title}" for name, one in built.items()}
    return {**titles, VERIFY: "stacklens: proof, exhaustive checks and certificate of every network of the zoo"}


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
        missing = tuple((claim.section, claim.claim, claim.paper, "not measured") for claim in experiment.claims)
        title, columns = f"{experiment.paper}: {experiment.title}", ("section", "what", "paper", "ours")
        unmeasured = (TextTable(title, columns, missing, "not measured"),)
        return PaperTables(experiment.paper, experiment.title, command, False, unmeasured)
    claims = read_results(name, folder)
    tables = (claims_table(claims), *figure_tables(claims), *step_tables(claims))
    return PaperTables(experiment.paper, experiment.title, command, True, tables, tuple(claim_figures(claims)))


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

    earlier = [table.columns[:place].count(name) for place, name in enumerate(table.columns)]
    names = [f"{name} ({number + 1})" if number else name for name, number in zip(table.columns, earlier, strict=True)]
    return pd.DataFrame(list(table.rows), columns=names)
