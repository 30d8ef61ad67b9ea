"""Which views a network has, the simplest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklens.models.base import StackModel
from stacklens.models.rounding import named_operations
from stacklens.models.stacks.ring import RING_OPERATIONS
from stacklens.models.views.lists_as_stacks import LIST_OPERATIONS, ListsAsStacks
from stacklens.models.views.ring_as_stacks import RingAsStack, RingAsTwoStacks
from stacklens.models.views.stack_view import StackView

__all__ = ["is_stack", "views_of"]


def is_stack(model: StackModel[Any]) -> bool:
    """Return whether the operations of the network's memory are a stack's."""
    return all(number >= 0 for number in named_operations(model.operations))


def views_of(model: StackModel[Any]) -> Sequence[StackView]:
    """Return ``model`` as networks on stacks, the simplest first; none where it is one itself, or no view is known.

    >>> from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig
    >>> [view.title for view in views_of(BabyNTM(MarnnConfig(("(", ")"))))]
    ['its ring as one stack', 'its ring as one stack, mirrored', 'its ring as two stacks']
    """
    if model.operations == RING_OPERATIONS and model.stack_limit is not None:
        return RingAsStack(model), RingAsStack(model, mirrored=True), RingAsTwoStacks(model)
    if model.operations in (LIST_OPERATIONS, LIST_OPERATIONS[:-1]):
        return (ListsAsStacks(model),)
    return ()
