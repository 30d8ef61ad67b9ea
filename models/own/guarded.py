"""Calls of functions that somebody else wrote: whatever they raise comes out as one line that says what was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from stacklens.errors import StacklensError

__all__ = ["guarded", "shapes_of", "take_out"]

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


def take_out(call: str, returned: Any, sizes: Sequence[int]) -> StacklensError:
    """Return the error for a ``call``, such as "forward(word)", that returned no tensor, and how to take one out of it.

    Args:
        call: what was called.
        returned: what it returned.
        sizes: how many numbers an output may have, the last axis of the tensor that is wanted.

    >>> import torch
    >>> str(take_out("forward(x)", (torch.zeros(3), torch.zeros(1, 3, 2)), (2,)))
    'forward(x) returned ((3,), (1, 3, 2)); expected a tensor of outputs, so take it out: lambda x: network(x)[1]'
    """
    if isinstance(returned, Mapping):
        parts = {f"[{key!r}]": one for key, one in returned.items()}
    elif isinstance(returned, tuple | list):
        parts = {f"[{place}]": one for place, one in enumerate(returned)}
    else:
        parts = {f".{name}": one for name, one in getattr(returned, "__dict__", {}).items()}
    fitting = (
        place for place, one in parts.items() if isinstance(one, Tensor) and one.shape[-1:] in {(n,) for n in sizes}
    )
    given, what = call.partition("(")[2].rstrip(")"), shapes_of(returned)
    hint = next((f", so take it out: lambda {given}: network({given}){place}" for place in fitting), "")
    what = f"a value {what}" if what.startswith("of type") else what
    return StacklensError(f"{call} returned {what}; expected a tensor of outputs{hint}")
