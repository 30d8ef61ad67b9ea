"""The optional parts of an installation: what each brings, and one clear line where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from stacklens.errors import StacklensError

__all__ = ["check_extra", "is_installed", "needing"]


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Turn a failed import of a library that only ``extra`` brings into one line with the command that installs it.

    Args:
        what: which part of stacklens, or which library, is being asked for, as the line names it.
        extra: the extra's name in ``pip install 'stacklens[extra]'``.

    Raises:
        StacklensError: an import within failed.

    >>> with needing("the moon", "space"):
    ...     import no_such_library
    Traceback (most recent call last):
    stacklens.errors.StacklensError: the moon is not installed: pip install 'stacklens[space]'
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").split(".")[0] == "stacklens":
            raise  # a defect of ours, which no command installs
        raise _missing(what, extra) from None


def check_extra(what: str, extra: str, *libraries: str) -> None:
    """Check that ``libraries``, which only ``extra`` brings, are installed, without importing any of them.

    Args:
        what, extra: as in `needing`.
        libraries: the names that they are imported by.

    Raises:
        StacklensError: one is missing.
    """
    if not all(map(is_installed, libraries)):
        raise _missing(what, extra)


def is_installed(library: str) -> bool:
    """Return whether there is a ``library`` of this name, without importing it."""
    try:
        return find_spec(library) is not None
    except ValueError:  # somebody has barred it with None in `sys.modules`
        return False


def _missing(what: str, extra: str) -> StacklensError:
    return StacklensError(f"{what} is not installed: pip install 'stacklens[{extra}]'")
