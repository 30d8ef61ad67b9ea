"""Calls of functions that somebody else wrote: whatever they raise comes out as one line that says what was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ..core.errors import StacklensError
from .base import ActionKind
from .networks.baselines import NoStack
from .stacks.continuous import ContinuousStack, StrengthStack
from .stacks.superposition import SuperpositionStack

_LONGEST = 300  # characters of somebody else's message


def guarded(call: Callable[..., Any], name: str, given: Mapping[str, Any]) -> Any:
    """Return what ``call`` returns for the values of ``given``, which are passed in this order.

    Raises:
        StacklensError: it failed; one line with its ``name``, what it was given, by shape, and its own message.
    """
    try:
        return call(*given.values())
    except StacklensError:
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:_LONGEST] or type(error).__name__
        shapes = ", ".join(f"{key} {shapes_of(value)}" for key, value in given.items())
        raise StacklensError(f"{name} failed{f', given {shapes}' if given else ''}: {why}") from error


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


def like_weights(module: nn.Module | None) -> Tensor:
    """Return a tensor of the type and on the device of a module's weights."""
    weights = None if module is None else next(module.parameters(), None)
    return torch.zeros(()) if weights is None else weights.detach().new_zeros(())


# ---- Which stack a network of one's own works on: one of ours by name, or one that its author brings along ----

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
        return StackChoice("none", (), (), _no_stacks, lambda cells: NoStack(cells[:, :, 0]))
    if stack == "superposition":
        return _superposition(actions, limit, depth, empty_value, after)
    if after:
        raise StacklensError(
            'reads="after" is known of stack="superposition" only: of others, let step take the reading of the step '
            "before, which is the same number one step later"
        )
    if stack == "strength":
        order = _places_of(actions, ("pop", "push"), ("pop", "push"))
        return StackChoice("strengths", (), order, _one_stack(StrengthStack, "strength"), StrengthStack.of_cells)
    if stack == "continuous":
        if actions is not None and len(actions) != 1:
            raise StacklensError(
                'a continuous stack takes one action in [-1, 1], push above 0 and pop below: actions=("push",), '
                f'not {tuple(actions)}; a pair of strengths fits stack="strength"'
            )
        return StackChoice("signed", (), (0,), _one_stack(ContinuousStack, "continuous"), ContinuousStack.of_cells)
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

    order = _places_of(named, operations, operations)
    return StackChoice("softmax", operations, order, empty, from_cells, limit, depth, shown, empty_value)


def _places_of(actions: Sequence[str] | None, operations: tuple[str, ...], default: tuple[str, ...]) -> tuple[int, ...]:
    """Return the places of a stack's ``operations`` in the network's own ``actions``."""
    named = tuple(default if actions is None else actions)
    if sorted(named) != sorted(operations):
        raise StacklensError(f"actions is {named}; expected {', '.join(operations)}, each once, in the network's order")
    return tuple(named.index(operation) for operation in operations)


def _no_stacks(batch: int, n_stacks: int, cell: int, like: Tensor) -> NoStack:
    del n_stacks, cell
    return NoStack(like.new_zeros(batch, 0, 1))


def _one_stack(
    kind: type[StrengthStack] | type[ContinuousStack], name: str
) -> Callable[[int, int, int, Tensor], StrengthStack | ContinuousStack]:
    """Return the function that makes empty stacks of which a network has one."""

    def empty(batch: int, n_stacks: int, cell: int, like: Tensor) -> StrengthStack | ContinuousStack:
        if n_stacks != 1:
            raise StacklensError(f"a network has one {name} stack, not {n_stacks}")
        return kind.empty((batch,), cell, like)

    return empty
