"""Fields of a frozen dataclass whose value may be made when it is first asked for, such as a network in a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["late", "put_off"]

C = TypeVar("C", bound=type)
T = TypeVar("T")

_MAKER = "_make_"  # before a field's name: where the instance keeps how its value is made


class _LateField:
    """A field that is made when it is first read, where `put_off` took its value away; an error leaves it as it was.

    There is no ``__set__``, so a value that is there is set and read like that of any other field.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        make = instance.__dict__.get(_MAKER + self.name)
        if make is None:
            raise AttributeError(self.name)
        value = instance.__dict__[self.name] = make()
        del instance.__dict__[_MAKER + self.name]
        return value


def late(*names: str) -> Callable[[C], C]:
    """Return a decorator, to stand above `dataclass`, that lets `put_off` take the fields ``names``.

    >>> from dataclasses import dataclass
    >>> @late("number")
    ... @dataclass(frozen=True)
    ... class One:
    ...     number: int
    >>> put_off(One(0), number=lambda: 1).number
    1
    """

    def decorate(kind: C) -> C:
        for name in names:
            setattr(kind, name, _LateField(name))
        return kind

    return decorate


def put_off(instance: T, **makers: Callable[[], Any]) -> T:
    """Return ``instance``, which makes its `late` fields called so when they are first read, whatever they were."""
    for name, make in makers.items():
        del instance.__dict__[name]
        instance.__dict__[_MAKER + name] = make
    return instance
