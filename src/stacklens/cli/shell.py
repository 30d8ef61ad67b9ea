"""What all commands share: one clear line for an error, exit statuses, odd places to run in."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any, NoReturn

import typer

from stacklens.errors import StacklensError

__all__ = ["BAD_INPUT", "MOST_JOBS", "new_app", "run_app"]

BAD_INPUT = 2
_DEFECT = 70  # ours, as sysexits.h has it: 1 would mean that something differs
_INTERRUPTED, _NO_READER = 130, 141  # 128 and the number of the signal, as everywhere

MOST_JOBS = max(16, 4 * (os.cpu_count() or 1))  # each takes 300 MB, and more than there are cores only wait
_LONGEST_LINE = 1_000  # characters of an error
_WIDTHS = range(20, 10_000)  # in which a terminal's width makes sense


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
    """Run ``app`` on the command line and exit with its status; bad input gives one line on stderr and status 2.

    So do a full disk, a name that is too long, numbers that are too large, and too little memory. What is left is a
    defect of ours, and is shown as one, with a status that no command has.
    """
    _prepare()
    try:
        status = app(standalone_mode=False)
        _flush()
    except StacklensError as error:
        status = _fail(str(error))
    except (KeyboardInterrupt, typer.Abort):
        status = _fail("interrupted", _INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # the reader of our output went away, as `| head` does; typer exits then
        status = _NO_READER
    except Exception as error:
        status = _refused(error)
    for stream in (sys.stdout, sys.stderr):
        _close(stream)
    sys.exit(status if isinstance(status, int) else 0)


def _refused(error: Exception) -> int:
    """Return the status after ``error``, which is told in one line where it is not our own."""
    if hasattr(error, "format_message"):  # a usage error
        return _fail(f"{error.format_message().rstrip('.')}{_given(error)}; see {_command_of(error)} -h")
    if (reason := _outside(error)) is not None:
        return _fail(reason)
    with suppress(OSError):
        traceback.print_exc()
    return _fail("a defect of stacklens, not of what it was given; please report it with the lines above", _DEFECT)


def _given(error: Exception) -> str:
    """Return the value that a usage error is about, where its message does not say it: what checked it still has it."""
    found = getattr(error.__cause__, "errors", None)
    values = [one["input"] for one in found() if "input" in one] if callable(found) else []
    return f", not {values[0]!r}" if values else ""


def _command_of(error: Exception) -> str:
    """Return the command that a usage error is about, as the user typed it, with the names below it."""
    names = list[str]()
    context: Any = getattr(error, "ctx", None)
    while getattr(context, "parent", None) is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return " ".join([app_name(), *names])


def _outside(error: Exception) -> str | None:
    """Return what the machine or the arguments made impossible, None if ``error`` is our own."""
    if isinstance(error, OSError):
        return f"{error.filename or 'cannot write the output'}: {error.strerror or error}"
    if isinstance(error, UnicodeEncodeError):
        return f"cannot write {error.object[error.start : error.end]!a} in {error.encoding}; choose UTF-8"
    if isinstance(error, OverflowError):
        return f"a number is too large: {error}; choose a smaller one"
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return "there is not enough memory for that; ask for less, or give it more"
    return None


def app_name() -> str:
    """Return the command as the user typed it, without its folder."""
    name = sys.argv[0].rsplit("/", 1)[-1]
    return "stacklens" if name == "__main__.py" else name


def _fail(message: str, status: int = BAD_INPUT) -> int:
    """Return ``status``; print the message as one line, without what a terminal would obey, and none too long."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(message.split()))
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE * 3 // 4]} … {line[-_LONGEST_LINE // 4 :]}"
    if sys.stderr is not None:
        with suppress(OSError):  # then there is nobody to tell
            print(f"error: {line}", file=sys.stderr, flush=True)
    return status


def _prepare() -> None:
    """Make the best of an odd place to run in: no output, an ASCII terminal, a terminal without a width, Ctrl-C twice.

    What a terminal cannot show is written as ``\\u22a5``.
    """
    for number in range(3):  # or the next file that is opened takes the number, and what is meant for stdout
        with suppress(OSError):
            os.fstat(number)
            continue
        with suppress(OSError):
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    for variable, sensible in (("COLUMNS", _WIDTHS), ("LINES", range(1, _WIDTHS.stop))):
        given = os.environ.get(variable, "")
        if not (given.isdecimal() and len(given) < 9 and int(given) in sensible):
            os.environ.pop(variable, None)
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, _first_interrupt)


def _first_interrupt(*_: object) -> None:
    signal.signal(signal.SIGINT, _second_interrupt)
    raise KeyboardInterrupt


def _second_interrupt(*_: object) -> None:
    """End at once: whoever cleans up or waits for workers is not to be interrupted halfway, with a traceback."""
    with suppress(OSError):
        os.write(2, b"error: interrupted\n")
    os._exit(_INTERRUPTED)


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _close(stream: Any) -> None:
    """Drop what cannot be written any more, about which Python would complain on its way out."""
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
