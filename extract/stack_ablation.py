"""Stacks that are none: those that never matter, found by ablation, and those that are only ever pushed to.

They are left out, so that an automaton has no more stacks than it needs. All that is ever seen of a stack that is only
pushed to are the last values pushed: they are state and no stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.models.base import ControllerOutput, NetworkState, S, StackModel
from stacklens.models.rounding import Operation, Rounded, Wrapper, operation_numbers

__all__ = ["DroppedStack", "PushOnlyAsState", "StackUse", "WithoutStacks", "relevant_stacks"]


class PushOnlyAsState(Wrapper[S]):
    """A network some of whose stacks are taken for memories of the last values pushed.

    It does as the network does for as long as these stacks push, whatever their actions are: what is extracted from it
    is to be checked against the network itself.

    Args:
        model: a single network; its weights are shared, not copied.
        memories: the numbers of these stacks; the others are left.
    """

    name = "push-only stacks as state"

    def __init__(self, model: StackModel[S], memories: Sequence[int]) -> None:
        super().__init__(model)
        self.memories = list(memories)
        self.left = [stack for stack in range(model.n_stacks) if stack not in self.memories]
        self.n_stacks, self.recurrent = len(self.left), True
        if not self.left:
            self.action_kind = "none"
        # a controller that never looks at its own hidden vector has no need of it between steps
        self.own = model.initial_state(1).hidden.shape[-1] if model.recurrent else 0

    def initial_state(self, batch: int) -> NetworkState[S]:
        """Return the wrapped network's own state, readings of its memories after the hidden vector."""
        state = self.model.initial_state(batch)
        seen = state.stack.reading()[:, self.memories].flatten(1)
        nothing = seen.new_full((batch, self.n_stacks, self.depth, self.cell_size), torch.nan)
        hidden = torch.cat([state.hidden[:, : self.own], seen], -1)
        return NetworkState(hidden, self.model.stack_of(nothing), state.rejected, state.output)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the wrapped controller's answer, with the memories after their push behind its hidden vector."""
        size = self.depth * self.cell_size
        seen = hidden[:, self.own :].unflatten(-1, (len(self.memories), size))  # type: ignore[no-untyped-call]
        whole = reading.new_empty(len(hidden), self.model.n_stacks, size)
        whole[:, self.left], whole[:, self.memories] = reading, seen
        answer = self.model.controller(symbols, hidden[:, : self.own], whole)
        written = answer.pushed[:, self.memories]
        after = torch.cat([written, seen[..., : size - self.cell_size]], -1).flatten(1)
        left = self.left
        return ControllerOutput(
            torch.cat([answer.hidden[:, : self.own], after], -1),
            answer.actions[:, left],
            answer.pushed[:, left],
            answer.output,
        )


@dataclass(frozen=True)
class DroppedStack:
    """A stack that does not matter.

    Attributes:
        stack: its number, from 0.
        reason: "never filled" (it shows an empty stack at every step), "constant" (it shows one and the same reading at
            every step but the first ones), or "ignored" (it changes, and nothing else changes with it).
        shown: the reading that the controller may be shown in its place, (R,).
    """

    stack: int
    reason: str
    shown: tuple[float, ...]


@dataclass(frozen=True)
class StackUse:
    """Which stacks matter.

    Attributes:
        kept: the numbers of those that do.
        dropped: the others, and why.
        words, steps: on how much this was found out.
        push_only: those of the kept ones that push at every step: what is seen of them is state, and no stack.
        unseen: stacks that the network uses and the automaton does without: it tells what the network does, and not
            how. They are none of the kept ones.
    """

    kept: tuple[int, ...]
    dropped: tuple[DroppedStack, ...]
    words: int
    steps: int
    push_only: tuple[int, ...] = ()
    unseen: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return asdict(self)

    def without(self, model: StackModel[S]) -> StackModel[S]:
        """Return ``model`` without the dropped stacks and with its push-only stacks as state, or ``model`` itself."""
        left = WithoutStacks(model, self.kept, self.shown) if self.dropped else model
        return PushOnlyAsState(left, [self.kept.index(stack) for stack in self.push_only]) if self.push_only else left

    def seeing(self, seen: tuple[int, ...] | None) -> StackUse:
        """Return this for an automaton that sees only the stacks numbered ``seen``; None for all of `stacks`."""
        if seen is None or set(seen) == set(self.stacks):
            return self
        dropped = tuple(one for one in self.dropped if one.stack not in seen)
        unseen = tuple(stack for stack in self.stacks if stack not in seen)
        return replace(self, kept=tuple(sorted(seen)), dropped=dropped, push_only=(), unseen=unseen)

    @property
    def stacks(self) -> tuple[int, ...]:
        """Return the numbers of the stacks that are an automaton's stacks: those kept, but for the push-only ones."""
        return tuple(stack for stack in self.kept if stack not in self.push_only)

    @property
    def shown(self) -> dict[int, tuple[float, ...]]:
        """Return what the controller is shown in place of each dropped stack."""
        return {dropped.stack: dropped.shown for dropped in self.dropped}


class WithoutStacks(Wrapper[S]):
    """A network of which only some stacks are left; its controller is shown fixed readings of the others.

    Args:
        model: a single network; its weights are shared, not copied.
        kept: the numbers of the stacks that are left, ascending; none makes it a network without a stack.
        shown: the reading (R,) of each other stack; an empty stack's where it is missing.

    Raises:
        StacklensError: ``model`` has no such stacks.
    """

    name = "without stacks"

    def __init__(
        self, model: StackModel[S], kept: Sequence[int], shown: dict[int, tuple[float, ...]] | None = None
    ) -> None:
        super().__init__(model)
        if not set(kept) <= set(range(model.n_stacks)) or list(kept) != sorted(set(kept)):
            raise StacklensError(f"cannot keep stacks {list(kept)}: there are {model.n_stacks}, counted from 0")
        self.kept = tuple(kept)
        self.n_stacks = len(self.kept)
        if not self.kept:
            self.action_kind = "none"
        reading = model.initial_state(1).stack.reading()[0].clone()  # (n_stacks, R), of empty stacks
        for stack, values in (shown or {}).items():
            reading[stack] = torch.tensor(values, dtype=reading.dtype)
        self.register_buffer("shown", reading, persistent=False)
        self.shown: Tensor

    def initial_state(self, batch: int) -> NetworkState[S]:
        """Return the wrapped network's own initial state, with the stacks that are left."""
        state = self.model.initial_state(batch)
        nothing = self.shown.new_full((batch, self.n_stacks, self.depth, self.cell_size), torch.nan)
        return NetworkState(state.hidden, self.model.stack_of(nothing), state.rejected, state.output)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the wrapped controller's answer, the stacks that are left only."""
        whole = self.shown.expand(len(symbols), *self.shown.shape).clone()
        whole[:, list(self.kept)] = reading
        answer = self.model.controller(symbols, hidden, whole)
        kept = list(self.kept)
        return ControllerOutput(answer.hidden, answer.actions[:, kept], answer.pushed[:, kept], answer.output)


def relevant_stacks(
    model: StackModel[Any], words: Sequence[Word], scored: np.ndarray | None = None, *, outputs_only: bool = False
) -> StackUse:
    """Return which stacks of a single network matter on ``words``.

    Stacks are tried in the order in which they change least when they are left out alone; one that was dropped stays
    dropped while the next ones are tried.

    Args:
        model: the network; not rounded, which is done here.
        words: the words to run; some hundred drawn ones will do.
        scored: which outputs count, (N, T) bool; None for all.
        outputs_only: let other stacks do something else where outputs stay the same: redundant stacks go too. What is
            left then does as the whole network does, but not in the same way.

    Raises:
        UnknownSymbolError: a word has a symbol outside the network's alphabet.
    """
    everything = tuple(range(model.n_stacks))
    if model.n_stacks < 2:  # then the stack is the network's only memory
        return StackUse(everything, (), len(words), sum(map(len, words)))
    runs = _Runs(model, words, scored, outputs_only)
    dropped: dict[int, DroppedStack] = {}
    for stack in sorted(everything, key=lambda stack: (-runs.first_change({}, stack), stack)):
        found = runs.dropped({number: one.shown for number, one in dropped.items()}, stack)
        if found is not None:
            dropped[stack] = found
    kept = tuple(stack for stack in everything if stack not in dropped)
    left_out = tuple(dropped[stack] for stack in sorted(dropped))
    push_only = tuple(stack for stack in kept if runs.only_pushes(stack))
    return StackUse(kept, left_out, len(words), int(runs.real.sum()), push_only)


class _Runs:
    """What the whole rounded network does on the words, with which smaller networks are compared."""

    @torch.no_grad()
    def __init__(
        self, model: StackModel[Any], words: Sequence[Word], scored: np.ndarray | None, outputs_only: bool
    ) -> None:
        self.model, self.outputs_only = model, outputs_only
        codes, lengths = encode_words(words, model.alphabet)
        self.symbols = torch.from_numpy(np.maximum(codes, 0).astype(np.int64))
        self.real = torch.arange(codes.shape[1]) < torch.from_numpy(lengths.astype(np.int64)).unsqueeze(1)
        self.scored = self.real if scored is None else self.real & torch.from_numpy(scored)
        readings, operations, answers = [], [], []
        network: StackModel[Any] = Rounded(model)
        state = network.initial_state(len(words))
        for t in range(self.symbols.shape[1]):
            step = network.step(self.symbols[:, t], state)
            state = step.state
            readings.append(step.reading.clone())  # a view would keep its whole stack in memory
            operations.append(operation_numbers(model.action_kind, model.operations, step.actions))
            answers.append(network.answer(state))
        self.operations, self.answers = operations, answers
        self.empty = model.initial_state(1).stack.reading()[0]
        self.readings = torch.stack(readings, 1)[self.real] if readings else self.empty[None]  # (M, n_stacks, R)

    def dropped(self, shown: dict[int, tuple[float, ...]], stack: int) -> DroppedStack | None:
        """Return why ``stack`` does not matter where others are ``shown`` as they are; None if it does."""
        seen = self.readings[:, stack]
        distinct, counts = seen.round(decimals=6).unique(dim=0, return_counts=True)
        common = distinct[counts.argmax()]
        for reading in (self.empty[stack], common):
            values = tuple(reading.tolist())
            if self._first_difference({**shown, stack: values}) is None:
                filled = bool((seen != self.empty[stack]).any())
                steady = bool(counts.max() * 20 > counts.sum() * 19)
                reason = ("constant" if steady else "ignored") if filled else "never filled"
                return DroppedStack(stack, reason, values)
        return None

    def only_pushes(self, stack: int) -> bool:
        """Return whether ``stack`` pushes at every step; a recogniser's verdict may depend on what lies there."""
        if self.model.task_kind == "recognition":
            return False
        pushes = [
            bool((now[:, stack] == Operation.PUSH)[self.real[:, t]].all()) for t, now in enumerate(self.operations)
        ]
        return bool(pushes) and all(pushes)

    def first_change(self, shown: dict[int, tuple[float, ...]], stack: int) -> int:
        """Return the first step at which leaving out ``stack`` changes something, the number of steps if none does."""
        first = self._first_difference({**shown, stack: tuple(self.empty[stack].tolist())})
        return len(self.answers) if first is None else first

    @torch.no_grad()
    def _first_difference(self, shown: dict[int, tuple[float, ...]]) -> int | None:
        """Return the first step at which an output that counts, or another stack's operation, is not the same."""
        kept = [stack for stack in range(self.model.n_stacks) if stack not in shown]
        network = Rounded(WithoutStacks(self.model, kept, shown))
        state = network.initial_state(len(self.symbols))
        for t, (operations, answers) in enumerate(zip(self.operations, self.answers, strict=True)):
            step = network.step(self.symbols[:, t], state)
            state = step.state
            here = operation_numbers(self.model.action_kind, self.model.operations, step.actions)
            moved = (here != operations[:, kept]).any(-1) & self.real[:, t]
            changed = torch.from_numpy(np.asarray(network.answer(state) != answers))
            if ((moved & (not self.outputs_only)) | (changed & self.scored[:, t])).any():
                return t
        return None
