"""The table of a grid as text, ours beside theirs, with what was extracted: for the shell and for Markdown alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from stacklens.papers.grid import Grid, GridRow, statistic, text_options
from stacklens.papers.grid_results import GridResults, Network, RowResult

__all__ = ["NOT_RUN", "TextTable", "folded_tables", "grid_tables", "run_command", "summed_minutes"]

NOT_RUN = "not run"
NOTHING = "–"
_EXTRACTION = (
    "converged",
    "extracted",
    "states",
    "stack symbols",
    "proved",
    "certified",
    "equal to the language",
    "rounded network differs at",
)


@dataclass(frozen=True)
class TextTable:
    """A table of text with a line above it and one below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


def grid_tables(grid: Grid, results: GridResults) -> list[TextTable]:
    """Return the tables of ``grid``: scores, and what was extracted, in one table or, for ``across``, in two.

    A row that was not run says so in every column that would be measured.
    """
    title, caption = f"{grid.paper}: {grid.title}", _caption(grid, results)
    if grid.across is None:
        return [_long_table(grid, results, title, caption)]
    return [_wide_table(grid, results, title, caption), _extraction_table(grid, results)]


def folded_tables(grid: Grid, results: GridResults) -> list[TextTable]:
    """Return the tables of ``grid`` for reading: all statistics of a score in one column, what was extracted apart."""
    if grid.across is not None:
        return grid_tables(grid, results)
    scores = [(score, _theirs(grid, score)) for score in grid.scores]
    names = " / ".join(grid.statistics)
    header = [name for score, theirs in scores for name in (f"{score}: {names}", *(["the paper"] if theirs else []))]
    lines = []
    for row in grid.rows:
        cells = []
        for score, theirs in scores:
            cells.append(_folded(grid, results.row(row.name), score))
            if theirs:
                cells.append(" / ".join(row.reported.get(f"{score} {name}", NOTHING) for name in grid.statistics))
        lines.append((*row.cells.values(), *cells))
    title = f"{grid.paper}: {grid.title}"
    shown = TextTable(title, (*grid.rows[0].cells, *header), tuple(lines), _caption(grid, results))
    return [shown, _extraction_table(grid, results)] if any(row.stacks for row in grid.rows) else [shown]


def _theirs(grid: Grid, score: str) -> bool:
    """Return whether the paper reports anything of a score."""
    return any(f"{score} {name}" in row.reported for row in grid.rows for name in grid.statistics)


def _folded(grid: Grid, done: RowResult | None, score: str) -> str:
    if done is None:
        return NOT_RUN
    values = [_statistic(done, name, score) for name in grid.statistics]
    return NOTHING if all(value is None for value in values) else " / ".join(_number(grid, value) for value in values)


def summed_minutes(rows: Iterable[RowResult], kind: str = "CPU") -> float:
    """Return how many minutes these rows took, by the clock ("wall") or of processor time ("CPU")."""
    return sum(seconds for row in rows for name, seconds in row.seconds.items() if name.endswith(kind)) / 60


def run_command(grid: Grid, results: GridResults) -> str:
    """Return the command that runs the grid as it was run; where rows differ in a setting, without that setting."""
    protocols, numbers = {row.protocol for row in results.rows}, {len(row.seeds) for row in results.rows}
    protocol = " --protocol paper" if protocols == {"paper"} else ""
    seeds = f" --seeds {numbers.pop()}" if len(numbers) == 1 and numbers != {grid.seeds} else ""
    texts = {row.texts for row in results.rows}
    files = text_options(texts.pop()) if len(texts) == 1 else ""
    return f"stacklens papers run {grid.name}{protocol}{seeds}{files}"


def _caption(grid: Grid, results: GridResults) -> str:
    if not results.rows:
        return f"not run: {run_command(grid, results)}"
    protocols = ", ".join(dict.fromkeys(row.protocol for row in results.rows))
    seeds = "/".join(map(str, dict.fromkeys(len(row.seeds) for row in results.rows)))
    parts = [
        run_command(grid, results),
        f"protocol {protocols}",
        f"{seeds} networks a row",
        f"{summed_minutes(results.rows, 'wall'):.1f} minutes ({summed_minutes(results.rows):.1f} of processor time)",
    ]
    if texts := ", ".join(dict.fromkeys(row.texts for row in results.rows if row.texts)):
        parts.append(f"text {texts}")
    orders = _orders(grid, results) if grid.ranked else ""
    return "; ".join(parts) + "".join(f". {said}" for said in (orders, grid.note) if said)


def _orders(grid: Grid, results: GridResults) -> str:
    """Return the rows from the smallest figure in the ranked column to the largest, ours and the paper's."""
    score, name = grid.ranked.rsplit(" ", 1)
    ours, theirs = dict[str, float](), dict[str, float]()
    for row in grid.rows:
        done = results.row(row.name)
        value = None if done is None else _statistic(done, name, score)
        if value is not None and grid.ranked in row.reported:
            ours[row.name], theirs[row.name] = value, float(row.reported[grid.ranked])
    pairs = [(a, b) for a, b in combinations(ours, 2) if theirs[a] != theirs[b]]
    alike = sum((ours[a] < ours[b]) == (theirs[a] < theirs[b]) for a, b in pairs)
    lists = (
        ", ".join(f"{row} {figures[row]:.{grid.digits}f}" for row in sorted(figures, key=figures.__getitem__))
        for figures in (ours, theirs)
    )
    return "By {}: {}; the paper: {}; {} of {} pairs stand in the same order".format(score, *lists, alike, len(pairs))


def _long_table(grid: Grid, results: GridResults, title: str, caption: str) -> TextTable:
    columns = [(score, name) for score in grid.scores for name in grid.statistics]
    beside = {column for row in grid.rows for column in row.reported}
    protocols = {row.protocol for row in results.rows}

    def line(row: GridRow) -> tuple[str, ...]:
        done = results.row(row.name)
        scores = [_beside(grid, row, done, score, name, f"{score} {name}" in beside) for score, name in columns]
        protocol = [] if len(protocols) < 2 else [NOT_RUN if done is None else done.protocol]
        return (*row.cells.values(), *scores, *_extraction_cells(done), *protocol)

    header = [f"{score} {name}" for score, name in columns]
    header = [f"{name}, ours / paper" if name in beside else name for name in header]
    protocol = () if len(protocols) < 2 else ("protocol",)
    names = (*grid.rows[0].cells, *header, *_EXTRACTION, *protocol)
    return TextTable(title, names, tuple(map(line, grid.rows)), caption)


def _beside(grid: Grid, row: GridRow, done: RowResult | None, score: str, name: str, reported: bool) -> str:
    """Return ours beside theirs; ours alone where no row of the table has anything to stand beside it."""
    ours = NOT_RUN if done is None else _number(grid, _statistic(done, name, score))
    return f"{ours} / {row.reported.get(f'{score} {name}', NOTHING)}" if reported else ours


def _statistic(done: RowResult, name: str, score: str) -> float | None:
    return statistic(name, [network.scores for network in done.networks], score)


def _number(grid: Grid, value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{100 * value if grid.shares else value:.{grid.digits}f}"


def _wide_table(grid: Grid, results: GridResults, title: str, caption: str) -> TextTable:
    assert grid.across is not None
    groups: dict[tuple[str, ...], dict[str, GridRow]] = {}
    for row in grid.rows:
        own = tuple(value for key, value in row.cells.items() if key != grid.across)
        groups.setdefault(own, {})[row.cells[grid.across]] = row
    across = list(dict.fromkeys(row.cells[grid.across] for row in grid.rows))
    lines = []
    for own, rows in groups.items():
        for score in grid.scores:
            for name in grid.statistics:
                if _is_there(rows.values(), results, score, name):
                    cells = [_wide_cell(grid, rows.get(column), results, score, name) for column in across]
                    label = " ".join(part for part in (*own, grid.score_names.get(score, score)) if part)
                    lines.append((label, name, *cells))
    return TextTable(title, ("networks", "of the seeds", *across), tuple(lines), caption)


def _is_there(rows: Iterable[GridRow], results: GridResults, score: str, name: str) -> bool:
    """Return whether any row reports the score or has it, or may yet have it."""
    return any(
        f"{score} {name}" in row.reported
        or ((done := results.row(row.name)) is not None and _statistic(done, name, score) is not None)
        for row in rows
    )


def _wide_cell(grid: Grid, row: GridRow | None, results: GridResults, score: str, name: str) -> str:
    if row is None:
        return NOTHING
    return _beside(grid, row, results.row(row.name), score, name, f"{score} {name}" in row.reported)


def _extraction_table(grid: Grid, results: GridResults) -> TextTable:
    rows = [(*row.cells.values(), *_extraction_cells(results.row(row.name))) for row in grid.rows]
    return TextTable("What was extracted", (*grid.rows[0].cells, *_EXTRACTION), tuple(rows))


def _extraction_cells(done: RowResult | None) -> tuple[str, ...]:
    """Return the columns `_EXTRACTION` of a row; counts are of all its networks, sizes after (before) minimisation.

    An automaton may equal the language where a word contradicts it, on which the rounded network leaves both.
    """
    if done is None:
        return (NOT_RUN,) * len(_EXTRACTION)
    networks = done.networks
    converged = _count(networks, lambda network: network.converged)
    found = [network.extraction for network in networks if network.extraction is not None]
    if not found:
        return (converged, *(NOTHING,) * (len(_EXTRACTION) - 1))
    sizes = [one["automaton"] for one in found if one["status"] == 0]
    return (
        converged,
        _count(networks, lambda network: _status(network) == 0),
        _sizes(sizes, "states"),
        _sizes(sizes, "stack_symbols"),
        _count(networks, lambda network: _verdict(network, "proof") == "equal"),
        _count(networks, lambda network: _verdict(network, "certificate") == "certified"),
        _count(networks, lambda network: _equals_language(network.extraction)),
        _differs_at(found),
    )


def _count(networks: Sequence[Network], holds: Callable[[Network], bool]) -> str:
    return f"{sum(map(holds, networks))} of {len(networks)}"


def _status(network: Network) -> int | None:
    return None if network.extraction is None else int(network.extraction["status"])


def _verdict(network: Network, kind: str) -> str | None:
    """Return the verdict of a proof or certificate of an automaton that nothing contradicts."""
    if network.extraction is None or _status(network) != 0:
        return None
    return str(network.extraction[kind]["verdict"])


def _equals_language(extraction: dict[str, Any] | None) -> bool:
    """Return whether an automaton is proved equal to the language, whatever its network does."""
    proof = None if extraction is None else extraction.get("proof")
    return proof is not None and proof["verdict"] == "equal"


def _differs_at(found: Sequence[dict[str, Any]]) -> str:
    """Return the lengths of the shortest words known on which rounded networks differ, and of how many, among which."""
    horizons = [one["horizon"]["rounded network"] for one in found if one.get("horizon")]
    lengths = [one["shortest_difference"]["length"] for one in horizons if one["shortest_difference"] is not None]
    if not horizons:
        return NOTHING
    return f"{f'{_range(lengths)}: ' if lengths else ''}{len(lengths)} of {len(horizons)}"


def _sizes(automata: Sequence[dict[str, Any]], key: str) -> str:
    if not automata:
        return NOTHING
    after = _range([automaton[key] for automaton in automata])
    return f"{after} ({_range([automaton['before_minimization'][key] for automaton in automata])})"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"
