"""The figures of the findings' text: each by a name that stands in the text, all computed from the results files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from stacklens.errors import StacklensError
from stacklens.papers.claims import Experiment
from stacklens.papers.comparisons import apart_by_count, comparisons, comparisons_table, far_apart, holm
from stacklens.papers.family_tables import family_figures
from stacklens.papers.foreseen_text import foreseen_figures
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, Network, read_grid
from stacklens.papers.grid_tables import markdown_table, summed_minutes
from stacklens.papers.interchange_text import interchange_figures
from stacklens.papers.intervals import counted_in_rows
from stacklens.papers.limits_text import limit_figures
from stacklens.papers.long_words_text import long_word_figures
from stacklens.papers.results import read_results, result_path
from stacklens.papers.sun1993_palindromes import palindrome_statements
from stacklens.papers.suzgun2019_search import search_statements
from stacklens.papers.suzgun2019_traces import trace_statements

__all__ = ["figures_of", "filled"]

Experiments = Mapping[str, Callable[[], Experiment | Grid]]
_Measured = Sequence[tuple[Grid, GridResults]]
_PLACEHOLDER = re.compile(r"\{\{ *([a-z0-9 ,&:+-]+?) *\}\}", re.IGNORECASE)
_BLOCKS = "suzgun2019-repeated-blocks"
_ADDITION = "Stack RNN, addition"
_SURE = 0.05


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


def figures_of(experiments: Experiments, folder: Path, interchanges: Path | None = None) -> dict[str, str]:
    """Return all figures by name, from the results in ``folder`` and the file of ``interchanges``, if there is one.

    Raises:
        FileFormatError: a file holds something else.
    """
    built = [build() for build in experiments.values()]
    grids = [one for one in built if isinstance(one, Grid)]
    measured = [(grid, found) for grid in grids if (found := read_grid(grid.name, folder)) is not None]
    return {
        **_extent(measured),
        **family_figures(measured),
        **long_word_figures(measured),
        **_protocols(measured),
        **_differences(measured),
        **_addition(measured),
        **_blocks(folder),
        **foreseen_figures(measured),
        **limit_figures(measured),
        **interchange_figures(interchanges),
        **trace_statements(folder),
        **search_statements(folder),
        **palindrome_statements(folder),
    }


def _extent(measured: _Measured) -> dict[str, str]:
    runs = [run for _, results in measured for run in results.rows]
    with_memory = [_networks(results, [row.name]) for grid, results in measured for row in grid.rows if row.stacks]
    seeds = sorted({run.data_seed for run in runs})
    return {
        "networks": str(sum(len(run.networks) for run in runs)),
        "networks with a memory": str(sum(map(len, with_memory))),
        "converged": _converged(with_memory),
        "tables": str(len(measured)),
        "runs": str(len(runs)),
        **{
            f"hours of {part}": f"{summed_minutes(runs, f'{part}, CPU') / 60:.1f}"
            for part in ("training", "extraction")
        },
        "data seeds": ", ".join(map(str, seeds)),
        "runs on other data seeds": str(sum(run.data_seed != 0 for run in runs)),
        "networks on other data seeds": str(sum(len(run.networks) for run in runs if run.data_seed)),
        "runs without processor": str(sum(not run.processor for run in runs)),
        "processors": ", ".join(sorted({run.processor for run in runs if run.processor})) or "none",
    }


def _networks(results: GridResults, rows: Iterable[str], protocol: str | None = None) -> list[Network]:
    return [
        one for name in rows for run in results.runs(name) if protocol in (None, run.protocol) for one in run.networks
    ]


def _converged(rows: Iterable[Sequence[Network]]) -> str:
    return counted_in_rows((sum(one.converged for one in networks), len(networks)) for networks in rows)


def _protocols(measured: _Measured) -> dict[str, str]:
    """Return how many networks learned their task: of each row, and of all rows that were run by both protocols."""
    found = {}
    for grid, results in measured:
        both = [row for row in grid.rows if row.stacks and len({run.protocol for run in results.runs(row.name)}) > 1]
        for protocol in ("fast", "paper"):
            found[f"{grid.name} {protocol}"] = _converged(_networks(results, [row.name], protocol) for row in both)
            for row in grid.rows:
                own = _networks(results, [row.name], protocol)
                name = re.sub(r"[^a-z0-9+&-]+", " ", f"{grid.name} {row.name} {protocol}".lower())
                found[name] = f"{sum(one.converged for one in own)} of {len(own)}"
        for cell in ("1", "5"):
            rows = [row.name for row in grid.rows if row.cells.get("numbers a cell") == cell]
            found[f"{grid.name} learned {cell}"] = _converged(_networks(results, [name]) for name in rows)
    return found


def _differences(measured: _Measured) -> dict[str, str]:
    every = comparisons(measured)
    differing = [one for one in every if one.differs]
    surviving = sum(p < _SURE for p in holm([one.p for one in every]))
    return {
        "compared rows": str(len(every)),
        "compared tables": ", ".join(f"`{name}`" for name in dict.fromkeys(one.table for one in every)) or "none",
        "differing rows": str(len(differing)),
        "surviving rows": str(surviving) if surviving else "none",
        "rows below": str(sum(one.ours < one.theirs for one in differing)),
        "differences": markdown_table(comparisons_table(every)),
        **apart_by_count(every),
        **far_apart(measured),
    }


def _addition(measured: _Measured) -> dict[str, str]:
    """Return how far the paper's protocol came on binary addition, and what the best network gets right."""
    runs = [run for grid, results in measured if grid.name == "joulin2015-fig2" for run in results.runs(_ADDITION)]
    networks = [one for run in runs if run.protocol == "paper" for one in run.networks]
    if not networks:
        return {}
    best = max(networks, key=lambda one: one.scores["test"])
    return {
        "addition networks": str(len(networks)),
        "addition epochs": f"{best.scores['epochs']:.0f}",
        "addition updates": f"{best.scores['updates'] / 1e6:.1f} million",
        **{f"addition n {n}": f"{100 * best.scores[f'n = {n}']:.0f} %" for n in (10, 20, 30, 59)},
    }


def _blocks(folder: Path) -> dict[str, str]:
    """Return what the zoo's networks do on repeated blocks, by the name of the file."""
    if not result_path(_BLOCKS, folder).is_file():
        return {}
    found = {}
    for claim in read_results(_BLOCKS, folder).claims:
        long, name = claim.figures["long words"], claim.figures["network"]
        for net, short in (("network", "soft"), ("rounded network", "rounded")):
            for kind in ("pumped", "control"):
                own = long[net][kind]
                found[f"{name} {short} {kind}"] = f"{100 * own['accuracy'][-1]:.0f} %"
                found[f"{name} {short} {kind} first"] = "never" if own["horizon"] is None else str(own["horizon"])
        found["longest"] = str(long["lengths"][-1])
    return found
