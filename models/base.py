"""What every network is: a controller and a stack. Tracing is part of this interface, so there are no hooks.

All tensors may carry leading axes before the batch, written `...`: several networks of one shape that are trained at
once stand on such an axis, and the same code runs them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

__all__ = ["ActionKind", "Controlled", "Stack", "StackModel", "State", "Step"]

# How a row of actions is to be read, which is all that rounding needs to know of a model:
# "signed": one value in [-1, 1], push above and pop below (Sun et al. 1993, section 3.2.1).
ActionKind = Literal["signed"]


class Stack(Protocol):
    """A batch of stacks, immutable: `next` returns another."""

    def reading(self) -> Tensor:
        """Return what the controller sees of the stacks, (..., B, n_stacks, R)."""

    def next(self, actions: Tensor, pushed: Tensor) -> Self:
        """Return the stacks after ``actions`` (..., B, n_stacks, A) with ``pushed`` (..., B, n_stacks, D)."""

    def select(self, index: Tensor) -> Self:
        """Return the stacks of the batch entries ``index`` (M,), which may repeat."""


S = TypeVar("S", bound=Stack)


@dataclass(frozen=True)
class State(Generic[S]):
    """A network between two symbols: hidden vectors (..., B, H), stacks, and whether the word is already rejected."""

    hidden: Tensor
    stack: S
    rejected: Tensor  # (..., B) bool; once true it stays true

    def select(self, index: Tensor) -> State[S]:
        """Return the batch entries ``index`` (M,), which may repeat: children share their prefix's run."""
        return State(self.hidden[..., index, :], self.stack.select(index), self.rejected[..., index])


@dataclass(frozen=True)
class Controlled:
    """What a controller answers: the next hidden vector, the actions, the pushed values, and the output."""

    hidden: Tensor  # (..., B, H)
    actions: Tensor  # (..., B, n_stacks, A)
    pushed: Tensor  # (..., B, n_stacks, D)
    output: Tensor  # (..., B, O)


@dataclass(frozen=True)
class Step(Generic[S]):
    """One step of a network, with everything that a probe may want to see, and the state after it."""

    hidden: Tensor
    actions: Tensor
    pushed: Tensor
    reading: Tensor  # what the controller saw, (..., B, n_stacks, R)
    output: Tensor
    state: State[S]


class StackModel(nn.Module, ABC, Generic[S]):
    """A network that reads a word symbol by symbol and works on a stack.

    Subclasses choose a controller and a stack. `alphabet` is what words are made of; `end`, if any, is one more symbol
    (index `len(alphabet)`) that the network reads after a word, before its verdict is taken.
    """

    name: ClassVar[str]
    action_kind: ClassVar[ActionKind]
    alphabet: tuple[str, ...]
    end: str | None = None

    @property
    def n_symbols(self) -> int:
        """Return the number of symbols that the controller can read, the end symbol included."""
        return len(self.alphabet) + (self.end is not None)

    @abstractmethod
    def initial_state(self, batch: int) -> State[S]:
        """Return the state before the first symbol, for ``batch`` words."""

    @abstractmethod
    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Controlled:
        """Return the controller's answer to ``symbols`` (B,) int, ``hidden`` (..., B, H), ``reading``."""

    @abstractmethod
    def decide(self, state: State[S]) -> Tensor:
        """Return whether the network takes what it has read for a member, (..., B) bool, no end symbol read."""

    def rejects(self, hidden: Tensor, stack: S) -> Tensor:
        """Return where the network rejects for good after a step, (..., B) bool; nowhere by default."""
        del stack
        return torch.zeros(hidden.shape[:-1], dtype=torch.bool, device=hidden.device)

    def step(self, symbols: Tensor, state: State[S]) -> Step[S]:
        """Return the step on ``symbols`` (B,) int from ``state``."""
        reading = state.stack.reading()
        answer = self.controller(symbols, state.hidden, reading)
        stack = state.stack.next(answer.actions, answer.pushed)
        after = State(answer.hidden, stack, state.rejected | self.rejects(answer.hidden, stack))
        return Step(answer.hidden, answer.actions, answer.pushed, reading, answer.output, after)

    def verdict(self, state: State[S]) -> Tensor:
        """Return whether the word read so far is accepted, (..., B) bool; the end symbol is read if there is one."""
        if self.end is not None:
            batch = state.hidden.shape[-2]
            end = torch.full((batch,), len(self.alphabet), device=state.hidden.device)
            state = self.step(end, state).state
        return self.decide(state) & ~state.rejected

    @abstractmethod
    def config(self) -> dict[str, Any]:
        """Return the plain data from which the same class builds a network of this shape."""
