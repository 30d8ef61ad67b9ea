"""Calls of functions that somebody else wrote: whatever they raise comes out as one line that says what was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from stacklens.errors import StacklensError

__all__ = ["guarded", "shapes_of"]

_LONGEST = 300  # characters of somebody else's message


def guarded(call: Callable[..., Any], name: str, given: Mapping[str, Any]) -> Any:
    """Return what ``call`` returns for the values of ``given``, which are passed in this order.

    Raises:
        StacklensError: it failed; one line with its ``name``, what it was given, by shape, and what it said.
    """
    try:
        return call(*given.values())
    except StacklensError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:_LONGEST] or type(error).__name__
        shapes = ", ".join(f"{key} {shapes_of(value)}" for key, value in given.items())
        raise StacklensError(f"{name} failed{f', given {shapes}' if given else ''}: {said}") from error


def shapes_of(value: Any) -> str:
    """Return the shape of a tensor, or those of the tensors in a tuple, list or dictionary, for a line.

    >>> import torch
    >>> shapes_of((torch.zeros(1, 3, 8), torch.zeros(3))), shapes_of(None)
    ('((1, 3, 8), (3,))', 'None')
    """
    if isinstance(value, Tensor):
        return str(tuple(value.shape))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {shapes_of(one)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shapes_of, value))})"
    return "None" if value is None else f"of type {type(value).__name__}"
