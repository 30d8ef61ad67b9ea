"""Ours beside theirs: tables for the shell, the short section of the README and the long one of the findings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stacklens.errors import StacklensError
from stacklens.files import read_whole, write_whole
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults
from stacklens.papers.grid_tables import TextTable, folded_tables
from stacklens.papers.results import Results

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["BEGIN", "END", "claims_table", "grid_markdown", "markdown_table", "replace_section", "rich_table"]
__all__ += ["write_report"]

BEGIN = "<!-- results: written by stacklens papers report -->"
END = "<!-- end of results -->"
_COLUMNS = ("section", "what", "paper", "ours")


def claims_table(results: Results) -> TextTable:
    """Return the claims as a table, the paper's figures beside ours."""
    rows = tuple((claim.section, claim.claim, claim.paper, claim.ours) for claim in results.claims)
    caption = f"stacklens papers run {results.experiment}; {results.seconds:,.0f} CPU s"
    return TextTable(f"{results.paper}: {results.title}", _COLUMNS, rows, caption)


def grid_markdown(grid: Grid, results: GridResults) -> str:
    """Return the tables of a grid in Markdown."""
    return "\n\n".join(map(markdown_table, folded_tables(grid, results)))


def rich_table(table: TextTable) -> Table:
    """Return a table for the shell."""
    from rich.table import Table

    shown = Table(title=_plain(table.title), caption=_plain(table.caption) or None, show_lines=True)
    for column in table.columns:
        shown.add_column(_plain(column), overflow="fold")
    for row in table.rows:
        shown.add_row(*map(_plain, row))
    return shown


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def markdown_table(table: TextTable) -> str:
    """Return a table in Markdown under a line that says what it is, and above one that says what was run."""
    lines = [f"**{_cell(table.title)}**", ""]
    rows = [table.columns, ("---",) * len(table.columns), *table.rows]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join([*lines, "", f"({_cell(table.caption)})"] if table.caption else lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;").replace("^", r"\^").replace("\n", " ")


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


def write_report(file: Path, section: str) -> None:
    """Return nothing; put ``section`` between the markers of ``file``.

    Raises:
        StacklensError: the file is missing, or has no markers; nothing was written.
    """
    try:
        text = read_whole(file, "a Markdown file").decode("utf-8")
    except UnicodeDecodeError:
        raise StacklensError(f"{file}: cannot be read: it is no text in UTF-8; expected a Markdown file") from None
    try:
        content = replace_section(text, section)
    except StacklensError as error:
        raise StacklensError(f"{file}: {error}") from None
    write_whole(file, content)
