"""Networks on rings and lists whose controllers are rules written by hand, for tests of how their memory is seen."""

from typing import Any, ClassVar, Generic

import torch
from torch import Tensor

from stacklens.languages.words import TaskKind
from stacklens.models.base import ActionKind, ControllerOutput, NetworkState, S, StackModel
from stacklens.models.networks.joulin import ListMemory
from stacklens.models.stacks.cells import RING_OPERATIONS, RingMemory


class _Ruled(StackModel[S], Generic[S]):
    """A controller without a state: letter and reading decide the operation, the new element, and what is said."""

    action_kind: ActionKind = "softmax"
    task_kind: TaskKind = "next symbol"
    recurrent = False
    cell_size = 1

    def memory(self, batch: int) -> S:
        raise NotImplementedError

    def rules(self, symbols: Tensor, top: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return operations' numbers, new elements and outputs' numbers, (B,) each, at tops (B,)."""
        raise NotImplementedError

    def config(self) -> dict[str, Any]:
        return {}

    def initial_state(self, batch: int) -> NetworkState[S]:
        nothing = torch.zeros(batch, 1, dtype=torch.float64)
        return NetworkState(nothing, self.memory(batch), torch.zeros(batch, dtype=torch.bool))

    def stack_of(self, cells: Tensor) -> S:
        raise NotImplementedError

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        operations, new, said = self.rules(symbols, reading[:, 0, 0])
        wanted = torch.nn.functional.one_hot(operations, len(self.operations)).double()
        actions = torch.softmax(20 * wanted, -1).unsqueeze(1)
        output = torch.nn.functional.one_hot(said, len(self.alphabet)).double()
        return ControllerOutput(torch.zeros_like(hidden), actions, new[:, None, None], output)


class _OnRing(_Ruled[RingMemory]):
    operations = RING_OPERATIONS

    def memory(self, batch: int) -> RingMemory:
        return RingMemory.empty((batch,), self.stack_limit or 1, 1, torch.zeros((), dtype=torch.float64))


class RingCounter(_OnRing):
    """It counts up on `a` and down on `b`, and says a before each step where it had counted up before, else b.

    Args:
        up, down: the ring's operations for both.
        cells: how many cells the ring has.
    """

    name: ClassVar[str] = "ring counter"
    alphabet = ("a", "b")

    def __init__(self, up: str, down: str, cells: int = 60) -> None:
        super().__init__()
        self.moves = torch.tensor([RING_OPERATIONS.index(up), RING_OPERATIONS.index(down)])
        self.stack_limit = cells

    def rules(self, symbols: Tensor, top: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.moves[symbols], (symbols == 0).double(), (top < 0.5).long()


class RingTape(_OnRing):
    """It writes a 1 on `w`, goes right on `r` and left on `l`, and says w before each step on a 1, else r."""

    name: ClassVar[str] = "ring tape"
    alphabet = ("w", "r", "l")

    def __init__(self, cells: int) -> None:
        super().__init__()
        self.moves = torch.tensor([RING_OPERATIONS.index(name) for name in ("no-op", "rotate left", "rotate right")])
        self.stack_limit = cells

    def rules(self, symbols: Tensor, top: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        new = ((symbols == 0) & (top < 0.5)).double()
        return self.moves[symbols], new, (top < 0.5).long()


class ListCounter(_Ruled[ListMemory]):
    """A list that inserts a 1 on `a` and goes left on `b`, and says a before each step where there was a 1, else b."""

    name: ClassVar[str] = "list counter"
    alphabet = ("a", "b")
    operations = ("insert", "left", "right", "none")

    def memory(self, batch: int) -> ListMemory:
        return ListMemory.empty((batch,), 1, torch.zeros((), dtype=torch.float64))

    def rules(self, symbols: Tensor, top: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return symbols, torch.ones_like(top), (top < 0.5).long()
