"""How far a long piece of work has come, and how many of something there are, in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["count", "progress_bar"]


def count(number: int, one: str, many: str | None = None) -> str:
    """Return ``number`` with a noun in the singular or plural, which ends with s where ``many`` is not given.

    >>> count(1, "error"), count(2_000, "error"), count(2, "box", "boxes")
    ('1 error', '2,000 errors', '2 boxes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Yield a progress display on stderr, silent where stderr is no terminal or ``quiet``."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    bar = Progress(*columns, TimeElapsedColumn(), console=console, disable=quiet or not console.is_terminal)
    with bar:
        yield bar
