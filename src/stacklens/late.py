"""Fields of a frozen dataclass whose value may be made when it is first asked for, such as a network in a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Later", "late"]

C = TypeVar("C", bound=type)


class Later:
    """What to do to get a value; given to a `late` field in place of the value."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


class _LateField:
    """A field that holds its value, or a `Later` until it is first read; an error leaves it as it was."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if self.name not in instance.__dict__:
            raise AttributeError(self.name)
        value = instance.__dict__[self.name]
        if isinstance(value, Later):
            value = instance.__dict__[self.name] = value.make()
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value


def late(*names: str) -> Callable[[C], C]:
    """Return a decorator, to stand above `dataclass`, that lets the fields ``names`` be given as `Later`.

    >>> from dataclasses import dataclass
    >>> @late("number")
    ... @dataclass(frozen=True)
    ... class One:
    ...     number: int
    >>> One(Later(lambda: 1)).number
    1
    """

    def decorate(kind: C) -> C:
        for name in names:
            setattr(kind, name, _LateField(name))
        return kind

    return decorate
