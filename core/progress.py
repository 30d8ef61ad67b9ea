"""How far a long piece of work has come, and how many of something there are, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .imports import is_installed

if TYPE_CHECKING:
    from rich.progress import Progress


# Called with how far some work has come: the name of its stage, how much of that is done, and of how much, if that is
# known; first as the stage begins.
Told = Callable[[str, int, int | None], None]


def count(number: int, one: str, many: str | None = None) -> str:
    """Return ``number`` with a noun in the singular or plural, which ends with s where ``many`` is not given.

    >>> count(1, "error"), count(2_000, "error"), count(2, "box", "boxes")
    ('1 error', '2,000 errors', '2 boxes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Yield a progress display on stderr or in a notebook, silent where there is neither a terminal, or ``quiet``.

    In a notebook it needs ipywidgets: without these it is silent too, rather than warn in every cell.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    in_notebook = console.is_jupyter and is_installed("ipywidgets")
    seen = not quiet and (in_notebook or (console.is_terminal and not console.is_jupyter))
    bar = Progress(*columns, TimeElapsedColumn(), console=console, disable=not seen)
    with bar:
        yield bar


def stages_on(bar: Progress) -> Told:
    """Return what shows the stages of one piece of work on a line of ``bar``, each from its beginning to its end."""
    task = bar.add_task("", total=None)

    def show(stage: str, done: int, total: int | None) -> None:
        bar.update(task, description=stage, completed=done, total=total)

    return show
