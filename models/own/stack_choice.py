"""Which stack a network of one's own works on: one of ours by name, or one that its author brings along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.models.base import ActionKind
from stacklens.models.networks.baselines import NoStack
from stacklens.models.stacks.continuous import ContinuousStack
from stacklens.models.stacks.strength import StrengthStack
from stacklens.models.stacks.superposition import SuperpositionStack

__all__ = ["NAMES", "StackChoice", "stack_choice"]

NAMES = ("superposition", "strength", "continuous")
_OWN = ("empty", "from_cells")


@dataclass(frozen=True)
class StackChoice:
    """A kind of stack, and how a network's actions reach it.

    Attributes:
        kind: how a row of actions is to be read.
        operations: for shares, what each is of, in the stack's order.
        order: the places of these in the network's own actions.
        empty: from a batch size, a number of stacks, a cell size and a tensor of the right type to empty stacks.
        from_cells: from cells (M, n_stacks, depth, D), top first, NaN where there is none, to stacks.
        limit: how many cells a stack has at most; None for no limit.
        depth: how many cells the network sees.
        shown: how many cells the stack shows; one more than ``depth`` where outputs see the stack after the update.
        empty_value: what an empty cell holds.
    """

    kind: ActionKind
    operations: tuple[str, ...]
    order: tuple[int, ...]
    empty: Callable[[int, int, int, Tensor], Any]
    from_cells: Callable[[Tensor], Any]
    limit: int | None = None
    depth: int = 1
    shown: int = 1
    empty_value: float = 0.0


def stack_choice(
    stack: Any, actions: Sequence[str] | None, *, limit: int | None, depth: int, empty_value: float, after: bool
) -> StackChoice:
    """Return the choice that the arguments of `wrap` make.

    Raises:
        StacklensError: there is no such stack, it has no such actions, or it cannot be read after the update.
    """
    if stack is None:
        return StackChoice("none", (), (), _no_stack, lambda cells: NoStack(cells[:, :, 0]))
    if stack == "superposition":
        return _superposition(actions, limit, depth, empty_value, after)
    if after:
        raise StacklensError(
            'reads="after" is known of stack="superposition" only: of others, let step take the reading of the step '
            "before, which is the same number one step later"
        )
    if stack == "strength":
        order = _order(actions, ("pop", "push"), ("pop", "push"))
        return StackChoice("strengths", (), order, _strength, StrengthStack.of_cells)
    if stack == "continuous":
        if actions is not None and len(actions) != 1:
            raise StacklensError(
                'a continuous stack takes one action in [-1, 1], push above 0 and pop below: actions=("push",), '
                f'not {tuple(actions)}; a pair of strengths fits stack="strength"'
            )
        return StackChoice("signed", (), (0,), _continuous, _continuous_cells)
    if isinstance(stack, str) or not all(callable(getattr(stack, name, None)) for name in _OWN):
        raise StacklensError(
            f"stack is {stack!r:.60}; expected one of {', '.join(NAMES)}, None, or an object with "
            "empty(batch, n_stacks, cell_size, like) and from_cells(cells), whose stacks have reading, next, select"
        )
    named = tuple(actions or ("pop", "none", "push"))
    return StackChoice(
        "softmax", named, tuple(range(len(named))), stack.empty, stack.from_cells, limit, depth, depth, empty_value
    )


def _superposition(
    actions: Sequence[str] | None, limit: int | None, depth: int, empty_value: float, after: bool
) -> StackChoice:
    """Return the superposition stack, whose own order is push, pop and, if there is a third share, none."""
    named = tuple(actions or ("pop", "none", "push"))
    operations = ("push", "pop", "none") if "none" in named else ("push", "pop")
    shown = depth + after
    settings: dict[str, Any] = {"empty_value": empty_value, "depth": shown, "limit": limit}

    def empty(batch: int, n_stacks: int, cell: int, like: Tensor) -> SuperpositionStack:
        return SuperpositionStack.empty((batch,), n_stacks, cell, like, **settings)

    def from_cells(cells: Tensor) -> SuperpositionStack:
        return SuperpositionStack.from_cells(cells, **settings)

    order = _order(named, operations, operations)
    return StackChoice("softmax", operations, order, empty, from_cells, limit, depth, shown, empty_value)


def _order(actions: Sequence[str] | None, operations: tuple[str, ...], default: tuple[str, ...]) -> tuple[int, ...]:
    """Return the places of a stack's ``operations`` in the network's own ``actions``."""
    named = tuple(default if actions is None else actions)
    if sorted(named) != sorted(operations):
        raise StacklensError(f"actions is {named}; expected {', '.join(operations)}, each once, in the network's order")
    return tuple(named.index(operation) for operation in operations)


def _no_stack(batch: int, n_stacks: int, cell: int, like: Tensor) -> NoStack:
    del n_stacks, cell
    return NoStack(like.new_zeros(batch, 0, 1))


def _one(n_stacks: int, kind: str) -> None:
    if n_stacks != 1:
        raise StacklensError(f"a network has one {kind} stack, not {n_stacks}")


def _strength(batch: int, n_stacks: int, cell: int, like: Tensor) -> StrengthStack:
    _one(n_stacks, "strength")
    return StrengthStack.empty((batch,), cell, like)


def _continuous(batch: int, n_stacks: int, cell: int, like: Tensor) -> ContinuousStack:
    _one(n_stacks, "continuous")
    return ContinuousStack.empty((batch,), cell, like)


def _continuous_cells(cells: Tensor) -> ContinuousStack:
    there = (~cells[:, 0, 0, :1].isnan()).to(cells.dtype)
    empty = ContinuousStack.empty((len(cells),), cells.shape[-1], cells)
    return empty.next(there.unsqueeze(1), torch.nan_to_num(cells[:, 0]))
