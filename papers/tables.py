"""Ours beside theirs: a table for the shell, and the results section of the README."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stacklens.errors import StacklensError
from stacklens.files import write_whole
from stacklens.papers.results import Results

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["BEGIN", "END", "markdown_table", "replace_section", "rich_table", "write_report"]

BEGIN = "<!-- results: written by stacklens papers report -->"
END = "<!-- end of results -->"
_COLUMNS = ("section", "what", "paper", "ours")


def rich_table(results: Results) -> Table:
    """Return the claims as a table, the paper's figures beside ours."""
    from rich.table import Table

    caption = f"{results.claims[0].command}, {results.seconds:,.0f} CPU s" if results.claims else None
    table = Table(title=f"{results.paper}: {results.title}", caption=caption, show_lines=True)
    for column in _COLUMNS:
        table.add_column(column, overflow="fold")
    for claim in results.claims:
        table.add_row(*(cell.replace("[", r"\[") for cell in (claim.section, claim.claim, claim.paper, claim.ours)))
    return table


def markdown_table(results: Results) -> str:
    """Return the claims as a table in Markdown under a line that says what was run."""
    command = f"`stacklens papers run {results.experiment}`"
    lines = [f"**{results.paper}: {results.title}** ({command}, {results.seconds:,.0f} CPU s)", ""]
    rows = [_COLUMNS, ("---",) * len(_COLUMNS)]
    rows += [(claim.section, claim.claim, claim.paper, claim.ours) for claim in results.claims]
    return "\n".join([*lines, *("| " + " | ".join(map(_cell, row)) + " |" for row in rows)])


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


def write_report(readme: Path, results: list[Results]) -> None:
    """Return nothing; put the tables of ``results`` between the markers of ``readme``.

    Raises:
        StacklensError: the file is missing, or has no markers; nothing was written.
    """
    try:
        text = readme.read_text(encoding="utf-8")
    except OSError as error:
        raise StacklensError(f"{readme}: cannot be read: {error.strerror}; expected a Markdown file") from None
    try:
        content = replace_section(text, "\n\n".join(map(markdown_table, results)))
    except StacklensError as error:
        raise StacklensError(f"{readme}: {error}") from None
    write_whole(readme, content)
