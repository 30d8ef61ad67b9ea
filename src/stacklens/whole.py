"""Whole numbers that somebody gives: how many, how long, how large."""

from __future__ import annotations

from numbers import Integral

from stacklens.errors import StacklensError

__all__ = ["check_whole"]


def check_whole(name: str, value: object, least: int) -> None:
    """Check that ``value``, which the caller knows as ``name``, is a whole number of at least ``least``.

    Raises:
        StacklensError: it is not.

    >>> check_whole("states", 1.5, 1)
    Traceback (most recent call last):
    stacklens.errors.StacklensError: states must be a whole number of at least 1, not 1.5
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise StacklensError(f"{name} must be a whole number of at least {least}, not {value!r:.50}")
