"""What all commands share: one clear line for an error, exit statuses, progress that is silent off a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from stacklens.errors import StacklensError

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["BAD_INPUT", "count", "new_app", "progress_bar", "run_app"]

BAD_INPUT = 2
_INTERRUPTED, _NO_READER = 130, 141  # 128 and the number of the signal, as everywhere


def new_app(help: str) -> typer.Typer:  # noqa: A002 (typer's own word)
    """Return an app with `-h`, plain help and no tracebacks of its own making."""
    settings = {"help_option_names": ["-h", "--help"]}
    return typer.Typer(
        help=help,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=settings,
    )


def run_app(app: typer.Typer) -> NoReturn:
    """Run ``app`` on the command line and exit with its status; bad input gives one line on stderr and status 2."""
    try:
        status = app(standalone_mode=False)
    except StacklensError as error:
        status = _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        status = _fail("interrupted", _INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # the reader of our output went away, as `| head` does; typer exits then
        status = _NO_READER
    except Exception as error:
        if not hasattr(error, "format_message"):  # anything but a usage error is ours to mend
            raise
        status = _fail(f"{error.format_message().rstrip('.')}; see {app_name()} -h")
    sys.exit(status if isinstance(status, int) else 0)


def count(number: int, one: str, many: str | None = None) -> str:
    """Return ``number`` with a noun in the singular or plural, which ends with s where ``many`` is not given.

    >>> count(1, "error"), count(2_000, "error"), count(2, "box", "boxes")
    ('1 error', '2,000 errors', '2 boxes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def app_name() -> str:
    """Return the command as the user typed it, without its folder."""
    name = sys.argv[0].rsplit("/", 1)[-1]
    return "stacklens" if name == "__main__.py" else name


def _fail(message: str, status: int = BAD_INPUT) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return status


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
