"""The table of a grid as text, ours beside theirs, with what was extracted: for the shell and for Markdown alike."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import StacklensError, in_file
from ..core.files import read_text
from .grid import Grid, GridResults, GridRow, Network, RowResult, results_of, statistic, text_options
from .results import Experiment, Results, read_results, result_path

if TYPE_CHECKING:
    from rich.table import Table


# ---- What was extracted from the networks of a row, and how they do on long words, as cells of a table ----

NOT_RUN = "not run"
NOTHING = "–"
EXTRACTION = (
    *("converged", "extracted", "states", "stack symbols", "proved", "certified", "equal to the language"),
    "rounded network differs at",
)
LONG_WORDS = (
    *("measured", "symbols", "pumped words", "random words", "rounded, pumped words", "rounded, random words"),
    *("first wrong after, pumped", "first wrong after, random"),
)
_LONG_NOTE = (
    "networks that learned their task, in percent by symbols: words that repeat a block, beside random words of the "
    "same task, length and depth; first wrong after: the median number of symbols over the networks that ever were"
)


def extraction_cells(networks: Sequence[Network] | None) -> tuple[str, ...]:
    """Return the columns `EXTRACTION` of networks, None where none were trained. Counts are of all these networks,
    sizes those after (before) minimisation. An automaton may equal the language that the rounded network leaves on a
    word.
    """
    if networks is None:
        return (NOT_RUN,) * len(EXTRACTION)
    converged = f"{sum(network.converged for network in networks)} of {len(networks)}"
    found = [network.extraction for network in networks if network.extraction is not None]
    if not found:
        return (converged, *(NOTHING,) * (len(EXTRACTION) - 1))
    extracted, proved, certified, equal = (f"{number} of {len(networks)}" for number in _extraction_counts(found))
    automata = [one["automaton"] for one in found if one["status"] == 0]
    sizes = []
    for key in ("states", "stack_symbols"):
        before = [one["before_minimization"][key] for one in automata]
        sizes.append(f"{low_to_high([one[key] for one in automata])} ({low_to_high(before)})" if automata else NOTHING)
    # the lengths of the shortest words known on which rounded networks differ, and of how many, among which
    horizons = [one["horizon"]["rounded network"] for one in found if one.get("horizon")]
    lengths = [one["shortest_difference"]["length"] for one in horizons if one["shortest_difference"] is not None]
    differs = f"{f'{low_to_high(lengths)}: ' if lengths else ''}{len(lengths)} of {len(horizons)}"
    return (converged, extracted, *sizes, proved, certified, equal, differs if horizons else NOTHING)


def _extraction_counts(found: Sequence[dict[str, Any]]) -> tuple[int, int, int, int]:
    good = [one for one in found if one["status"] == 0]
    return (
        len(good),
        sum(one["proof"]["verdict"] == "equal" for one in good),
        sum(one["certificate"]["verdict"] == "certified" for one in good),
        sum((one.get("proof") or {}).get("verdict") == "equal" for one in found),
    )


def low_to_high(numbers: Sequence[int]) -> str:
    """Return the smallest and the largest of ``numbers``, as one where they are the same."""
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def long_word_cells(networks: Sequence[Network] | None) -> tuple[str, ...]:
    """Return the columns `LONG_WORDS` of networks: mean accuracies by length of those on which it was measured. Those
    are the networks that learned their task. The first wrong symbol is the median over those that were, and how many.
    """
    if networks is None:
        return (NOT_RUN,) * len(LONG_WORDS)
    found = [long for network in networks if (long := (network.measures or {}).get("long words")) is not None]
    if not found:
        return (NOTHING,) * len(LONG_WORDS)
    shares = [
        " / ".join(f"{100 * statistics.fmean(column):.0f}" for column in zip(*rows, strict=True))
        for net in ("network", "rounded network")
        for kind in ("pumped", "control")
        if (rows := [one[net][kind]["accuracy"] for one in found])
    ]
    lengths = " / ".join(map(str, found[0]["lengths"]))
    horizons = []
    for kind in ("pumped", "control"):
        wrong = [first for one in found if (first := one["network"][kind]["horizon"]) is not None]
        horizons.append(f"{f'{statistics.median(wrong):g}: ' if wrong else ''}{len(wrong)} of {len(found)}")
    return (f"{len(found)} of {len(networks)}", lengths, *shares, *horizons)


# ---- The table of a grid as text, ours beside theirs, with what was extracted ----

# of each of the settings that were tried for a row, among the scores of its networks: "tried SETTINGS: loss"
TRIED_FIGURES = ("symbols", "updates", "seconds", "loss", "test")  # "seconds" of processor time for all seeds together
_TRIED = re.compile(r"tried ([^:]+): (.+)")
_TRIED_COLUMNS = (
    *("tried", "symbols a network", "updates", "minutes of processor time", "best loss on validation"),
    *("test of that network", "test: median / max"),
)


@dataclass(frozen=True)
class TextTable:
    """A table of text with a line above it and one below."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


def markdown_table(table: TextTable) -> str:
    """Return a table in Markdown under a line that says what it is, and above one that says what was run."""
    lines = [f"**{_markdown_cell(table.title)}**", ""]
    rows = [table.columns, ("---",) * len(table.columns), *table.rows]
    lines += ["| " + " | ".join(map(_markdown_cell, row)) + " |" for row in rows]
    return "\n".join([*lines, "", f"({_markdown_cell(table.caption)})"] if table.caption else lines)


def _markdown_cell(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;").replace("^", r"\^").replace("\n", " ")


@dataclass(frozen=True)
class _Line:
    """A line of a table: the runs of one row by one protocol, on all data seeds together; none where it was not run."""

    row: GridRow
    runs: tuple[RowResult, ...] = ()
    protocol: str = NOT_RUN

    @property
    def networks(self) -> tuple[Network, ...] | None:
        return tuple(network for run in self.runs for network in run.networks) if self.runs else None

    def statistic(self, name: str, score: str) -> float | None:
        return statistic(name, [network.scores for network in self.networks or ()], score)


@dataclass(frozen=True)
class _Sheet:
    """What the tables of a grid have in common."""

    grid: Grid
    results: GridResults

    @cached_property
    def protocols(self) -> list[str]:
        return list(dict.fromkeys(run.protocol for run in self.results.rows))

    @cached_property
    def lines(self) -> list[_Line]:
        lines = []
        for row in self.grid.rows:
            runs = self.results.runs(row.name)
            own = dict.fromkeys(run.protocol for run in runs)
            lines += [_Line(row, tuple(run for run in runs if run.protocol == name), name) for name in own]
            lines += [] if own else [_Line(row)]
        return lines

    def table(
        self, title: str, columns: Sequence[str], lines: Iterable[tuple[_Line, Sequence[str]]], caption: str = ""
    ) -> TextTable:
        """Return a table of some lines, whose cells stand behind those of their row and, of several, the protocol."""
        several = len(self.protocols) > 1
        leading = (*self.grid.rows[0].cells, *(("protocol",) if several else ()))
        rows = ((*line.row.cells.values(), *((line.protocol,) if several else ()), *cells) for line, cells in lines)
        return TextTable(title, (*leading, *columns), tuple(rows), caption)

    def figure(self, value: float | None) -> str:
        return NOTHING if value is None else f"{100 * value if self.grid.shares else value:.{self.grid.digits}f}"

    def beside(self, line: _Line, score: str, name: str, reported: bool) -> str:
        """Return ours beside theirs; ours alone where no row of the table has anything to stand beside it."""
        ours = self.figure(line.statistic(name, score)) if line.runs else NOT_RUN
        return f"{ours} / {line.row.reported.get(f'{score} {name}', NOTHING)}" if reported else ours

    def extraction(self) -> TextTable:
        return self.table(
            "What was extracted", EXTRACTION, ((line, extraction_cells(line.networks)) for line in self.lines)
        )

    def further(self) -> list[TextTable]:
        """Return the tables that only some grids have: long words, the spread of data seeds, what was tried."""
        tables = []
        measured = [(line, long_word_cells(line.networks)) for line in self.lines if line.runs]
        if long := [(line, cells) for line, cells in measured if cells[0] != NOTHING]:
            tables.append(self.table("Long words", LONG_WORDS, long, _LONG_NOTE))
        if several := [line for line in self.lines if len({run.data_seed for run in line.runs}) > 1]:
            score = next((name for name in self.grid.scores if name == "test"), self.grid.scores[0])
            columns = ("data seeds", f"{score}: mean of each", "converged of each", "spread of the means")
            lines = []
            for line in several:
                means = [statistics.fmean(network.scores[score] for network in run.networks) for run in line.runs]
                converged = (
                    f"{sum(one.converged for one in run.networks)} of {len(run.networks)}" for run in line.runs
                )
                each = (map(str, (run.data_seed for run in line.runs)), map(self.figure, means), converged)
                lines.append((line, (*map(" / ".join, each), self.figure(max(means) - min(means)))))
            tables.append(self.table("By data seed", columns, lines, "a data seed draws the training words anew"))
        # a line for all settings that were tried for a row, see `_TRIED_COLUMNS`
        tried = list[tuple[_Line, tuple[str, ...]]]()
        for line in self.lines:
            found: dict[str, dict[str, list[float]]] = {}
            for name, value in (score for network in line.networks or () for score in network.scores.items()):
                match = _TRIED.fullmatch(name)
                if match and match[2] in TRIED_FIGURES:
                    found.setdefault(match[1], {figure: [] for figure in TRIED_FIGURES})[match[2]].append(value)
            for settings, figures in found.items():
                symbols, updates, seconds, losses, tests = figures.values()
                spent = f"{max(symbols):,.0f}", f"{max(updates):,.0f}", f"{max(seconds) / 60:.1f}"
                best = f"{min(losses):.2g}", f"{100 * tests[losses.index(min(losses))]:.1f}"
                over_all = f"{100 * statistics.median(tests):.1f} / {100 * max(tests):.1f}"
                tried.append((line, (settings, *spent, *best, over_all)))
        if tried:
            tables.append(self.table("What was tried", _TRIED_COLUMNS, tried, self.grid.tried_note))
        return tables

    @property
    def caption(self) -> str:
        command, rows = run_command(self.grid, self.results), self.results.rows
        if not rows:
            return f"not run: {command}"
        parts = [
            command,
            f"protocol {', '.join(self.protocols)}",
            f"{'/'.join(map(str, dict.fromkeys(len(row.seeds) for row in rows)))} networks a row",
            f"{summed_minutes(rows, 'wall'):.1f} minutes ({summed_minutes(rows):.1f} of processor time)",
        ]
        if texts := ", ".join(dict.fromkeys(row.texts for row in rows if row.texts)):
            parts.append(f"text {texts}")
        notes = [self.grid.note] if self.grid.note else []
        if self.grid.ranked:
            # the rows from the smallest figure in the ranked column to the largest, ours and the paper's
            score, name = self.grid.ranked.rsplit(" ", 1)
            ours, theirs = dict[str, float](), dict[str, float]()
            for line in self.lines:
                value, row = line.statistic(name, score), line.row
                if value is not None and self.grid.ranked in row.reported:
                    ours[row.name], theirs[row.name] = value, float(row.reported[self.grid.ranked])
            # pairs that the paper tells apart, and how many stand the same way round with us
            pairs = [(a, b) for a, b in combinations(ours, 2) if theirs[a] != theirs[b]]
            alike = sum((ours[a] < ours[b]) == (theirs[a] < theirs[b]) for a, b in pairs)
            lists = (
                ", ".join(f"{row} {of[row]:.{self.grid.digits}f}" for row in sorted(of, key=of.__getitem__))
                for of in (ours, theirs)
            )
            shown = "By {}: {}; the paper: {}; {} of {} pairs stand in the same order"
            notes.insert(0, shown.format(score, *lists, alike, len(pairs)))
        return ". ".join(["; ".join(parts), *notes])


def grid_tables(grid: Grid, results: GridResults) -> list[TextTable]:
    """Return the tables of ``grid``: scores, and what was extracted, in one table or, for ``across``, in two. A row
    that was not run says so in every column that would be measured. One that was run by several protocols has a line
    for each; all data seeds of a protocol are together in a line.
    """
    sheet, title = _Sheet(grid, results), f"{grid.paper}: {grid.title}"
    if grid.across is None:
        columns = [(score, name) for score in grid.scores for name in grid.statistics]
        theirs = {column for row in grid.rows for column in row.reported}
        header = [f"{score} {name}" for score, name in columns]
        header = [f"{name}, ours / paper" if name in theirs else name for name in header]
        shown = []
        for line in sheet.lines:
            scores = [sheet.beside(line, score, name, f"{score} {name}" in theirs) for score, name in columns]
            shown.append((line, (*scores, *extraction_cells(line.networks))))
        return [sheet.table(title, (*header, *EXTRACTION), shown, sheet.caption), *sheet.further()]
    # a line for each group of rows that differ in the cell across alone, and in it one for each score and statistic
    groups: dict[tuple[str, ...], dict[str, _Line]] = {}
    for line in sheet.lines:
        own = tuple(value for key, value in line.row.cells.items() if key != grid.across)
        own = (*own, *((f"({line.protocol})",) if len(sheet.protocols) > 1 else ()))
        groups.setdefault(own, {})[line.row.cells[grid.across]] = line
    across = list(dict.fromkeys(row.cells[grid.across] for row in grid.rows))
    rows = []
    for own, lines in groups.items():
        for score, name in product(grid.scores, grid.statistics):
            column = f"{score} {name}"
            if any(column in one.row.reported or one.statistic(name, score) is not None for one in lines.values()):
                cells = [
                    NOTHING if line is None else sheet.beside(line, score, name, column in line.row.reported)
                    for line in map(lines.get, across)
                ]
                label = " ".join(part for part in (*own, grid.score_names.get(score, score)) if part)
                rows.append((label, name, *cells))
    wide_table = TextTable(title, ("networks", "of the seeds", *across), tuple(rows), sheet.caption)
    return [wide_table, sheet.extraction(), *sheet.further()]


def folded_tables(grid: Grid, results: GridResults) -> list[TextTable]:
    """Return the tables of ``grid`` for reading: all statistics of a score in one column, what was extracted apart."""
    if grid.across is not None:
        return grid_tables(grid, results)
    sheet, reported = _Sheet(grid, results), {name for row in grid.rows for name in row.reported}
    scores = [(score, any(f"{score} {name}" in reported for name in grid.statistics)) for score in grid.scores]
    names = " / ".join(grid.statistics)
    header = [name for score, theirs in scores for name in (f"{score}: {names}", *(["the paper"] if theirs else []))]
    lines = []
    for line in sheet.lines:
        cells = []
        for score, theirs in scores:
            values = [line.statistic(name, score) for name in grid.statistics]
            own = NOTHING if all(value is None for value in values) else " / ".join(map(sheet.figure, values))
            cells.append(own if line.runs else NOT_RUN)
            if theirs:
                cells.append(" / ".join(line.row.reported.get(f"{score} {name}", NOTHING) for name in grid.statistics))
        lines.append((line, cells))
    shown = sheet.table(f"{grid.paper}: {grid.title}", header, lines, sheet.caption)
    return [shown, *([sheet.extraction(), *sheet.further()] if any(row.stacks for row in grid.rows) else [])]


def summed_minutes(rows: Iterable[RowResult], kind: str = "CPU") -> float:
    """Return how many minutes these rows took, by the clock ("wall") or of processor time ("CPU"; "training, CPU")."""
    return sum(seconds for row in rows for name, seconds in row.seconds.items() if name.endswith(kind)) / 60


def run_command(grid: Grid, results: GridResults) -> str:
    """Return the command that runs the grid as it was run; where rows differ in a setting, without that setting."""
    protocols, numbers = {row.protocol for row in results.rows}, {len(row.seeds) for row in results.rows}
    data = {row.data_seed for row in results.rows}
    protocol = " --protocol paper" if protocols == {"paper"} else ""
    seeds = f" --seeds {numbers.pop()}" if len(numbers) == 1 and numbers != {grid.seeds} else ""
    words = f" --data-seed {data.pop()}" if len(data) == 1 and data != {0} else ""
    texts = {row.texts for row in results.rows}
    files = text_options(texts.pop()) if len(texts) == 1 else ""
    return f"stacklens papers run {grid.name}{protocol}{seeds}{words}{files}"


# ---- All results at once: tables for the shell, a line each for the README, all for the findings ----

BEGIN = "<!-- results: written by stacklens papers report -->"
END = "<!-- end of results -->"

Experiments = Mapping[str, Callable[[], Experiment | Grid]]
_README_COLUMNS = (
    *("experiment", "what", "measured", "networks", "converged", "extracted", "proved", "certified"),
    *("equal to the language", "minutes"),
)
_README_NOTE = (
    "extracted: automata with no word known against them; proved, certified: of these; equal to the language: of all "
    "that were read, those of networks that miss 99 % of the test among them"
)


def claims_table(results: Results) -> TextTable:
    """Return the claims as a table, the paper's figures beside ours."""
    rows = tuple((claim.section, claim.claim, claim.paper, claim.ours) for claim in results.claims)
    caption = f"stacklens papers run {results.experiment}; {results.seconds:,.0f} CPU s"
    return TextTable(f"{results.paper}: {results.title}", ("section", "what", "paper", "ours"), rows, caption)


def rich_table(table: TextTable) -> Table:
    """Return a table for a console without markup."""
    from rich.table import Table

    shown = Table(title=table.title, caption=table.caption or None, show_lines=True)
    for column in table.columns:
        shown.add_column(column, overflow="fold")
    for row in table.rows:
        shown.add_row(*row)
    return shown


def replace_section(text: str, section: str) -> str:
    """Return ``text`` with ``section`` between the two markers; a missing end marker is put in. Raises StacklensError:
    the first marker is missing, or the end marker stands before it.

    >>> replace_section(f"Title\\n{BEGIN}\\nold\\n{END}\\nMore", "new").split("\\n")
    ['Title', '<!-- results: written by stacklens papers report -->', '', 'new', '', '<!-- end of results -->', 'More']
    """
    if text.count(BEGIN) != 1:
        raise StacklensError(f"expected the line {BEGIN} once, found it {text.count(BEGIN)} times; put it in")
    before, after = text.split(BEGIN)
    if END in before:
        raise StacklensError(f"the line {END} stands before {BEGIN}; put it behind")
    rest = after.split(END, 1)[1] if END in after else after
    return f"{before}{BEGIN}\n\n{section}\n\n{END}\n" + rest.removeprefix("\n")


def with_section(file: Path, section: str) -> str:
    """Return the text of ``file`` with ``section`` between its markers. Raises StacklensError: it has no such text."""
    with in_file(file):
        return replace_section(read_text(file, "a Markdown file"), section)


def readme_section(experiments: Experiments, folder: Path) -> str:
    """Return a table with a line for each experiment: how much was measured, what was extracted, how long it took.
    "extracted" counts automata that nothing contradicts; those that are equal to their language may be contradicted by
    their network alone. Minutes are those of processor time.
    """
    rows = []
    for experiment in (build() for build in experiments.values()):
        what = (f"`{experiment.name}`", f"{experiment.paper}: {experiment.title}")
        if isinstance(experiment, Grid) and (done := results_of(experiment, folder).rows):
            networks = [network for row in done for network in row.networks]
            found = [network.extraction for network in networks if network.extraction is not None]
            measured = f"{len({row.name for row in done})} of {len(experiment.rows)} rows"
            converged = str(sum(network.converged for network in networks)) if experiment.shares else "–"
            counts = map(str, _extraction_counts(found))
            cells: tuple[str, ...]
            cells = (measured, str(len(networks)), converged, *counts, f"{summed_minutes(done):.1f}")
        elif isinstance(experiment, Experiment) and result_path(experiment.name, folder).is_file():
            results = read_results(experiment.name, folder)
            cells = (f"{len(results.claims)} claims", *("–",) * 6, f"{results.seconds / 60:.1f}")
        else:
            cells = ("not run", *("–",) * 7)
        rows.append((*what, *cells))
    return markdown_table(TextTable("What `stacklens papers run` measured", _README_COLUMNS, tuple(rows), _README_NOTE))


def findings_section(experiments: Experiments, folder: Path) -> str:
    """Return every table."""
    shown = list[str]()
    for experiment in (build() for build in experiments.values()):
        if isinstance(experiment, Grid):
            shown += map(markdown_table, folded_tables(experiment, results_of(experiment, folder)))
        elif result_path(experiment.name, folder).is_file():
            shown.append(markdown_table(claims_table(read_results(experiment.name, folder))))
        else:
            title = f"{experiment.paper}: {experiment.title}"
            shown.append(f"**{title}**\n\n(not run: stacklens papers run {experiment.name})")
    return "\n\n".join(shown)
