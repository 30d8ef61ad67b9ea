"""How far a long piece of work has come, how long it may take, and how many of something there are, in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import is_installed

if TYPE_CHECKING:
    from rich.progress import Progress


T = TypeVar("T")

# Called with how far some work has come: the name of its stage, how much of that is done, and of how much, if that is
# known; first as the stage begins.
Told = Callable[[str, int, int | None], None]


def count(number: int, one: str, many: str | None = None) -> str:
    """Return ``number`` with a noun in the singular or plural, which ends with s where ``many`` is not given.

    >>> count(1, "error"), count(2_000, "error"), count(2, "box", "boxes")
    ('1 error', '2,000 errors', '2 boxes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


# ---- How long work may take: loops ask `check_time`, whatever they are a part of, and stages end where it raises ----


class OutOfTimeError(Exception):
    """The time of a piece of work is over; who began it goes on with what is known by then."""


@dataclass
class TimeLimit:
    """When the work around ends by ``clock``, and whether something in it was ``cut`` short and went on without."""

    end: float
    clock: Callable[[], float] = time.monotonic
    cut: bool = False


_LIMIT: ContextVar[TimeLimit | None] = ContextVar("limit", default=None)


@contextmanager
def time_limit(limit: TimeLimit | None) -> Iterator[None]:
    """Run a block that ends with ``limit``: then `check_time` raises in it. None: it ends with what is around it."""
    before = _LIMIT.set(limit or _LIMIT.get())
    try:
        yield
    finally:
        _LIMIT.reset(before)


@contextmanager
def part_of_time(share: float, least: float = 0.0) -> Iterator[None]:
    """Run a block in this ``share`` of the time that is left; what ends in it is known to be cut around it, too."""
    around = _LIMIT.get()
    inner = around and TimeLimit((now := around.clock()) + max(least, share * (around.end - now)), around.clock)
    with time_limit(inner):
        yield
    if around is not None and inner is not None:
        around.cut |= inner.cut


def check_time() -> None:
    """Raise OutOfTimeError where the time of the work around is over."""
    limit = _LIMIT.get()
    if limit is not None and limit.clock() >= limit.end:
        raise OutOfTimeError


def while_time(things: Iterable[T]) -> Iterator[T]:
    """Yield ``things``, with `check_time` before each."""
    for thing in things:
        check_time()
        yield thing


def in_time(limit: TimeLimit | None, task: Callable[..., T], *given: Any) -> T:
    """Return ``task(*given)``, in another process, too, as it is within ``limit``."""
    with time_limit(limit):
        return task(*given)


def current_limit() -> TimeLimit | None:
    """Return when the work around ends; None where it need not."""
    return _LIMIT.get()


def cut_short() -> None:
    """Record that the time ended some work, which goes on with what was known by then."""
    if (limit := _LIMIT.get()) is not None:
        limit.cut = True


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Yield a progress display on stderr or in a notebook with ipywidgets; silent elsewhere, or if ``quiet``."""
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
