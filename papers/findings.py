"""All results at once, ours beside theirs: tables for the shell, a line each for the README, all for the findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import StacklensError
from ..core.files import read_whole
from .grid import Grid, results_of
from .results import Experiment, Results, read_results, result_path
from .tables import TextTable, folded_tables, markdown_table, summed_minutes

if TYPE_CHECKING:
    from rich.table import Table


BEGIN = "<!-- results: written by stacklens papers report -->"
END = "<!-- end of results -->"
_COLUMNS = ("section", "what", "paper", "ours")

Experiments = Mapping[str, Callable[[], Experiment | Grid]]
_README_COLUMNS = (
    "experiment",
    "what",
    "measured",
    "networks",
    "converged",
    "extracted",
    "proved",
    "certified",
    "equal to the language",
    "minutes",
)


def claims_table(results: Results) -> TextTable:
    """Return the claims as a table, the paper's figures beside ours."""
    rows = tuple((claim.section, claim.claim, claim.paper, claim.ours) for claim in results.claims)
    caption = f"stacklens papers run {results.experiment}; {results.seconds:,.0f} CPU s"
    return TextTable(f"{results.paper}: {results.title}", _COLUMNS, rows, caption)


def rich_table(table: TextTable) -> Table:
    """Return a table for the shell."""
    from rich.table import Table

    shown = Table(title=_without_markup(table.title), caption=_without_markup(table.caption) or None, show_lines=True)
    for column in table.columns:
        shown.add_column(_without_markup(column), overflow="fold")
    for row in table.rows:
        shown.add_row(*map(_without_markup, row))
    return shown


def _without_markup(text: str) -> str:
    return text.replace("[", r"\[")


def replace_section(text: str, section: str) -> str:
    """Return ``text`` with ``section`` between the two markers; a missing end marker is put in.

    Raises:
        StacklensError: the first marker is missing, or the end marker stands before it.

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
    """Return the text of ``file`` with ``section`` between its markers.

    Raises:
        StacklensError: the file is missing or no text, or has no markers.
    """
    try:
        text = read_whole(file, "a Markdown file").decode("utf-8")
    except UnicodeDecodeError:
        raise StacklensError(f"{file}: cannot be read: it is no text in UTF-8; expected a Markdown file") from None
    try:
        return replace_section(text, section)
    except StacklensError as error:
        raise StacklensError(f"{file}: {error}") from None


def readme_section(experiments: Experiments, folder: Path) -> str:
    """Return a table with a line for each experiment: how much was measured, what was extracted, how long it took.

    "extracted" counts automata that nothing contradicts; those that are equal to their language may be contradicted by
    their network alone. Minutes are those of processor time.
    """
    rows = []
    for experiment in (build() for build in experiments.values()):
        what = (f"`{experiment.name}`", f"{experiment.paper}: {experiment.title}")
        if not result_path(experiment.name, folder).is_file():
            cells: tuple[str, ...] = ("not run", *("–",) * 7)
        elif isinstance(experiment, Grid):
            cells = _grid_cells(experiment, folder)
        else:
            results = read_results(experiment.name, folder)
            cells = (f"{len(results.claims)} claims", *("–",) * 6, f"{results.seconds / 60:.1f}")
        rows.append((*what, *cells))
    return markdown_table(TextTable("What `stacklens papers run` measured", _README_COLUMNS, tuple(rows)))


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


def _grid_cells(grid: Grid, folder: Path) -> tuple[str, ...]:
    results = results_of(grid, folder)
    if not results.rows:
        return ("not run", *("–",) * 7)
    networks = [network for row in results.rows for network in row.networks]
    found = [network.extraction for network in networks if network.extraction is not None]
    good = [one for one in found if one["status"] == 0]
    return (
        f"{len({row.name for row in results.rows})} of {len(grid.rows)} rows",
        str(len(networks)),
        str(sum(network.converged for network in networks)) if grid.shares else "–",
        str(len(good)),
        str(sum(one["proof"]["verdict"] == "equal" for one in good)),
        str(sum(one["certificate"]["verdict"] == "certified" for one in good)),
        str(sum((one.get("proof") or {}).get("verdict") == "equal" for one in found)),
        f"{summed_minutes(results.rows):.1f}",
    )
