"""A network as it would be without a mistake that adapters often make: one variant a mistake, to be tried in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, permutations
from typing import Any

import numpy as np
from torch import Tensor

from stacklens.automata.pda import Word
from stacklens.models.base import ControllerOutput, NetworkState, StackModel
from stacklens.models.rounding import Wrapper
from stacklens.models.stacks.superposition import SuperpositionStack

__all__ = ["Variant", "variants"]

_MOST_ORDERS = 200  # of an alphabet
_LIMITS = (None, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 100)
_EMPTY_VALUES = (0.0, -1.0, 1.0, 0.5)
_Outputs = Callable[[StackModel[Any], Sequence[Word]], list[np.ndarray]]


@dataclass(frozen=True)
class Variant:
    """A network with one thing changed.

    Attributes:
        cause: the mistake, in a word or two.
        change: what was changed, to go on after "with".
        model: the network so changed.
        order: for another order of the alphabet, the place of each symbol in it; None where that is not changed.
        shift: by how many steps outputs come later.
    """

    cause: str
    change: str
    model: StackModel[Any]
    order: tuple[int, ...] | None = None
    shift: int = 0

    def outputs(self, words: Sequence[Word], of: _Outputs) -> list[np.ndarray]:
        """Return its outputs on ``words``, given how they are found ``of`` a network."""
        found = of(self.model, [self.spelled(word) for word in words])
        if self.shift:
            found = [np.roll(output, self.shift, 0) for output in found]
        return found

    def spelled(self, word: Word) -> Word:
        """Return ``word`` in the symbols by which the network of this variant reads it."""
        if self.order is None:
            return word
        alphabet = self.model.alphabet
        spelled = [alphabet[self.order[alphabet.index(symbol)]] for symbol in word]
        return "".join(spelled) if isinstance(word, str) else spelled


class _Reordered(Wrapper[Any]):
    """A network whose actions are taken in another order."""

    name = "reordered"

    def __init__(self, model: StackModel[Any], order: Sequence[int]) -> None:
        super().__init__(model)
        self.order = list(order)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.model.controller(symbols, hidden, reading)
        changed = replace(answer, actions=answer.actions[..., self.order])
        return self.model.finish(changed, reading)


class _WithStack(Wrapper[Any]):
    """A network on other superposition stacks."""

    name = "on other stacks"

    def __init__(self, model: StackModel[Any], changed: dict[str, Any]) -> None:
        super().__init__(model)
        self.changed = changed

    def initial_state(self, batch: int) -> NetworkState[Any]:
        state = self.model.initial_state(batch)
        return replace(state, stack=replace(state.stack, **self.changed))


class _Negated(Wrapper[Any]):
    """A network whose signed action is turned round."""

    name = "turned round"

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        answer = self.model.controller(symbols, hidden, reading)
        return replace(answer, actions=-answer.actions)


def variants(model: StackModel[Any]) -> Iterator[Variant]:
    """Yield variants of ``model``, those of the commonest mistakes first."""
    yield from _operations(model)
    yield from _alphabets(model)
    yield from _stacks(model)
    for shift in (1, -1):
        when = "later" if shift > 0 else "earlier"
        yield Variant("outputs a step off", f"outputs one step {when} but for the ends of words", model, shift=shift)


def _operations(model: StackModel[Any]) -> Iterator[Variant]:
    if model.action_kind == "signed":
        yield Variant("swapped operations", "push below 0 and pop above", _Negated(model))
    names = ("pop", "push") if model.action_kind == "strengths" else model.operations
    if model.action_kind not in ("softmax", "strengths"):
        return
    identity = tuple(range(len(names)))
    own = getattr(getattr(model, "choice", None), "order", identity)
    for order in permutations(identity):
        if order != identity:
            said = [""] * len(names)
            for place, taken in zip(identity, order, strict=True):
                said[own[taken]] = names[place]
            yield Variant("swapped operations", f"actions=({', '.join(said)})", _Reordered(model, order))


def _alphabets(model: StackModel[Any]) -> Iterator[Variant]:
    """Yield other orders of the alphabet: all of a small one, two symbols exchanged of a large one."""
    size = len(model.alphabet)
    identity = tuple(range(size))
    swapped = (_swapped(identity, *pair) for pair in combinations(identity, 2))
    orders = permutations(identity) if size <= 5 else swapped
    for order in islice(orders, _MOST_ORDERS):
        if order != identity:
            named = [""] * size
            for place, taken in enumerate(order):
                named[taken] = model.alphabet[place]
            yield Variant("alphabet order", f"the alphabet {' '.join(named)}", model, order)


def _swapped(order: tuple[int, ...], one: int, other: int) -> tuple[int, ...]:
    changed = list(order)
    changed[one], changed[other] = changed[other], changed[one]
    return tuple(changed)


def _stacks(model: StackModel[Any]) -> Iterator[Variant]:
    stack = model.initial_state(1).stack
    if not isinstance(stack, SuperpositionStack):
        return
    for value in _EMPTY_VALUES:
        if value != stack.empty_value:
            changed = _WithStack(model, {"empty_value": value})
            yield Variant("what an empty cell holds", f"empty_value={value:g}", changed)
    for limit in _LIMITS:
        if limit != stack.limit and (limit is None or limit >= stack.depth):
            changed = _WithStack(model, {"limit": limit})
            yield Variant("how many cells there are", f"limit={limit}", changed)
