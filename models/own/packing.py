"""Hidden states of any form as rows of numbers: an LSTM's pair (h, c), several layers, a dictionary of tensors.

Which axis of a tensor is the batch is found by making two batches of different sizes and seeing what changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.own.guarded import shapes_of

__all__ = ["Packing", "packing_of"]


@dataclass(frozen=True)
class _Part:
    """One tensor of a hidden state: its batch axis, and its shape without that."""

    axis: int
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Packing:
    """How hidden states become rows of numbers, and rows hidden states.

    Attributes:
        like: a hidden state of the same form.
        parts: its tensors, in order.
    """

    like: Any
    parts: tuple[_Part, ...]

    @property
    def size(self) -> int:
        """Return how many numbers a row has, H."""
        return sum(part.size for part in self.parts)

    def pack(self, hidden: Any, like: Tensor) -> Tensor:
        """Return ``hidden``, a state of this form, as rows (B, H) of the type and on the device of ``like``.

        Raises:
            StacklensError: it has another form.
        """
        tensors, rows = list(_tensors(hidden)), []
        if len(tensors) != len(self.parts):
            raise StacklensError(f"the hidden state changed its form: {shapes_of(hidden)} after {shapes_of(self.like)}")
        for tensor, part in zip(tensors, self.parts, strict=True):
            moved = tensor.movedim(part.axis, 0) if tensor.dim() > part.axis else tensor
            if moved.shape[1:] != part.shape:
                raise StacklensError(
                    f"the hidden state changed its shape: {shapes_of(hidden)} after {shapes_of(self.like)}"
                )
            rows.append(moved.reshape(len(moved), -1).to(like))
        return torch.cat(rows, -1) if rows else like.new_zeros(len(like), 0)

    def unpack(self, rows: Tensor) -> Any:
        """Return the hidden state that ``rows`` (B, H) stand for."""
        sizes = [part.size for part in self.parts]
        tensors = [
            piece.reshape(len(rows), *part.shape).to(part.dtype).movedim(0, part.axis).contiguous()
            for piece, part in zip(torch.split(rows, sizes, -1), self.parts, strict=True)
        ]
        return _rebuilt(self.like, iter(tensors))


def packing_of(small: Any, large: Any, sizes: tuple[int, int]) -> Packing:
    """Return how states are packed, given one for each of two batch ``sizes``.

    Raises:
        StacklensError: a tensor has no axis, or several, that changes with the batch.

    >>> packing = packing_of(torch.zeros(1, 2, 8), torch.zeros(1, 3, 8), (2, 3))
    >>> packing.size, packing.unpack(torch.ones(5, 8)).shape
    (8, torch.Size([1, 5, 8]))
    """
    parts = []
    for one, other in zip(_tensors(small), _tensors(large), strict=True):
        pairs = zip(one.shape, other.shape, strict=True) if one.dim() == other.dim() else ()
        axes = [axis for axis, pair in enumerate(pairs) if pair == sizes]
        if len(axes) != 1:
            raise StacklensError(
                f"a hidden state of shape {tuple(one.shape)} for {sizes[0]} words and {tuple(other.shape)} for "
                f"{sizes[1]}: expected one axis for the words"
            )
        parts.append(_Part(axes[0], (*one.shape[: axes[0]], *one.shape[axes[0] + 1 :]), one.dtype))
    return Packing(small, tuple(parts))


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _tensors(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from _tensors(one)
    elif value is not None:
        raise StacklensError(f"a hidden state holds tensors, in tuples, lists or dictionaries, not {shapes_of(value)}")


def _rebuilt(like: Any, tensors: Iterator[Tensor]) -> Any:
    if isinstance(like, Tensor):
        return next(tensors)
    if isinstance(like, Mapping):
        return {key: _rebuilt(one, tensors) for key, one in like.items()}
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*[_rebuilt(one, tensors) for one in like])
    return None if like is None else type(like)(_rebuilt(one, tensors) for one in like)
