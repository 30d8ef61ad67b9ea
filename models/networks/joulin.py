"""The networks of Joulin & Mikolov 2015: the Stack RNN and the List RNN, which predict the next symbol of a stream."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ...core.errors import StacklensError
from ...languages.language import TaskKind
from ..base import ActionKind, ControllerOutput, NetworkState, Run, S
from ..stacks import EMPTY_READING, CellMemory, SuperpositionStack, filled_up
from .layers import PaperNetwork, add_parameters, check_fields, check_shape, uniform
from .scan import ScanShape, driven, scan

_INIT = 0.1  # each weight is the sum of three draws from U(-0.1, 0.1)


@dataclass(frozen=True)
class StackRNNConfig:
    """The shape of a Stack RNN. Raises StacklensError: a size or the alphabet makes no sense."""

    alphabet: tuple[str, ...]  # the symbols of the stream
    hidden: int = 40  # number of hidden units m, at least 1
    n_stacks: int = 1  # number of stacks, at least 1
    depth: int = 2  # how many cells of each stack the hidden layer sees, k in eq. 6.
    no_op: bool = False  # whether there is a third operation, which leaves the stack as it is
    recurrent: bool = False  # whether the hidden layer sees the one before, R in eq. 6.
    stack_limit: int | None = 200  # how many cells a stack has; None for no limit

    def __post_init__(self) -> None:
        check_fields(self)
        check_shape(self.alphabet, self.stack_limit, hidden=self.hidden, n_stacks=self.n_stacks, depth=self.depth)
        check_shape(self.alphabet, self.stack_limit, **{"n_stacks * depth": self.n_stacks * self.depth})


class MemoryRNN(PaperNetwork[S]):
    """The controller that the paper's two kinds of memory share; subclasses choose the memory and its operations."""

    action_kind: ActionKind = "softmax"
    task_kind: TaskKind = "next symbol"
    unit_range = (0.0, 1.0)
    cell_size = 1
    shape: StackRNNConfig
    OPERATIONS: ClassVar[tuple[str, ...]]
    input_weights: nn.Parameter  # U, (..., symbols, H)
    memory_weights: nn.Parameter  # P of all stacks side by side, (..., H, n_stacks * depth)
    recurrent_weights: nn.Parameter  # R, (..., H, H), only where the configuration asks for it
    action_weights: nn.Parameter  # A of all stacks one below the other, (..., n_stacks * A, H)
    pushed_weights: nn.Parameter  # D, (..., n_stacks, H)
    output_weights: nn.Parameter  # V, (..., symbols, H)

    def __init__(self, shape: StackRNNConfig, *, seed: int = 0, nets: int | None = None) -> None:
        super().__init__(shape, nets)
        self.operations, self.n_hidden = (*self.OPERATIONS, "none") if shape.no_op else self.OPERATIONS, shape.hidden
        sizes = self.parameter_shapes(shape).items()
        add_parameters(
            self, lambda rng: {name: uniform((3, *size), _INIT, rng).sum(0) for name, size in sizes}, seed, nets
        )

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return h', the shares of the operations, what an insertion lays down, and the next symbol's probabilities."""
        drive = self.input_weights[..., symbols, :] + reading.flatten(-2) @ self.memory_weights.mT
        if self.recurrent:
            drive = drive + hidden @ self.recurrent_weights.mT
        after = torch.sigmoid(drive)  # (..., B, H)
        rows = after @ self.action_weights.mT
        rows = rows.reshape(*rows.shape[:-1], self.n_stacks, len(self.operations))  # before the softmax: one a stack
        pushed = torch.sigmoid(after @ self.pushed_weights.mT).unsqueeze(-1)  # (..., B, n_stacks, 1)
        output = torch.softmax(after @ self.output_weights.mT, -1)
        return ControllerOutput(after, torch.softmax(rows, -1), pushed, output)

    @classmethod
    def parameter_shapes(cls, shape: StackRNNConfig) -> dict[str, tuple[int, ...]]:
        size, n_stacks, n_symbols = shape.hidden, shape.n_stacks, len(shape.alphabet)
        return {
            "input_weights": (n_symbols, size),
            "memory_weights": (size, n_stacks * shape.depth),
            **({"recurrent_weights": (size, size)} if shape.recurrent else {}),
            "action_weights": (n_stacks * (len(cls.OPERATIONS) + shape.no_op), size),
            "pushed_weights": (n_stacks, size),
            "output_weights": (n_symbols, size),
        }


class StackRNN(MemoryRNN[SuperpositionStack]):
    """A Stack RNN, or ``nets`` of them on a leading axis; outputs are probabilities of the next symbol. The weights
    come from ``seed``; net n of many equals the single one of ``seed + n``.

    >>> net = StackRNN(StackRNNConfig(("a", "b"), n_stacks=2, no_op=True), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> step.hidden.shape, step.actions.shape, step.reading.tolist()
    (torch.Size([1, 40]), torch.Size([1, 2, 3]), [[[-1.0, -1.0], [-1.0, -1.0]]])
    >>> net.operations, round(step.output.sum().item(), 6)
    (('push', 'pop', 'none'), 1.0)
    """

    name: ClassVar[str] = "stack-rnn"
    OPERATIONS: ClassVar[tuple[str, ...]] = ("push", "pop")

    def run(self, symbols: Tensor, state: NetworkState[SuperpositionStack], noise: Tensor | None = None) -> Run:
        if not torch.is_grad_enabled() or (self.stack_limit is not None and self.stack_limit < self.depth):
            return super().run(symbols, state, noise)
        size = self.shape.hidden
        nothing = self.memory_weights.new_zeros(*self.leading, size, size)
        recurrent = torch.cat([self.recurrent_weights if self.recurrent else nothing, self.memory_weights], -1)
        heads = torch.cat([self.action_weights, self.pushed_weights], -2)
        weights = recurrent, heads, heads.new_zeros(heads.shape[:-1])
        shape = ScanShape("sigmoid", len(self.operations), self.depth, EMPTY_READING, self.stack_limit)
        drive = driven(self.input_weights, symbols, recurrent, noise)
        made = scan(drive, weights, state.hidden, state.stack.stored, shape)
        output = torch.softmax(made.hidden @ self.output_weights.mT, -1)
        after = NetworkState(made.hidden[-1], replace(state.stack, stored=made.cells), state.rejected, output[-1])
        return Run(output, made.shares, after, made.hidden)

    def stack_of(self, cells: Tensor) -> SuperpositionStack:
        return SuperpositionStack.from_cells(cells, empty_value=EMPTY_READING, depth=self.depth, limit=self.stack_limit)

    @torch.no_grad()
    def with_stacks(self, kept: Sequence[int]) -> StackRNN:
        """Return a network with the stacks ``kept``, in this order, which does as this one if all others are empty."""
        few, places = StackRNN(replace(self.shape, n_stacks=len(kept))).to(self.input_weights), self._places(kept)
        for name, values in few.named_parameters():
            values.copy_(self.get_parameter(name)[places.get(name, ...)])
        # what empty stacks show, of which a bias is made: of the letters exactly one is read
        few.input_weights.add_(EMPTY_READING * (self.memory_weights.sum(1) - few.memory_weights.sum(1)))
        return few

    @torch.no_grad()
    def idle_but(self, kept: Sequence[int], few: nn.Module) -> StackRNN:
        """Return this network doing as ``few`` does on the stacks ``kept``, with all others popped at every step."""
        whole, places = copy.deepcopy(self), self._places(kept)
        pops = [1.0 if name == "pop" else -1.0 for name in self.operations] * self.n_stacks
        whole.action_weights.copy_(torch.tensor(pops).to(whole.action_weights)[:, None].expand_as(whole.action_weights))
        whole.memory_weights.zero_()
        for name, values in few.named_parameters():
            whole.get_parameter(name)[places.get(name, ...)] = values
        return whole

    def _places(self, kept: Sequence[int]) -> dict[str, Any]:
        rows, columns = (
            [stack * size + i for stack in kept for i in range(size)] for size in (len(self.operations), self.depth)
        )
        return {"action_weights": rows, "memory_weights": (slice(None), columns), "pushed_weights": list(kept)}


@dataclass(frozen=True)
class ListMemory(CellMemory):
    """A batch of lists whose cells are mixtures; immutable. Only cells that something may have reached are stored.

    >>> fresh = ListMemory.empty((1,), 1, torch.zeros(()), depth=2)
    >>> insert, left = torch.eye(3)[:2].reshape(2, 1, 1, 3)
    >>> one = fresh.next(insert, torch.tensor([[[0.5]]])).next(insert, torch.tensor([[[0.75]]]))
    >>> one.reading(), one.next(left, torch.zeros(1, 1, 1)).reading()
    (tensor([[[0.7500, 0.5000]]]), tensor([[[ 0.5000, -1.0000]]]))
    """

    SLOTS: ClassVar[str] = "left"
    empty_value = EMPTY_READING
    left: Tensor  # the head and the cells to its left, (..., B, n_lists, C, 1), the head first
    right: Tensor  # the cells to the right of the head, (..., B, n_lists, C', 1), the nearest first
    depth: int = 1  # how many cells `reading` shows
    limit: int | None = None  # how many cells there are on each side; what moves further is lost. None for no limit.

    @classmethod
    def empty(
        cls, leading: tuple[int, ...], n_lists: int, like: Tensor, *, depth: int = 1, limit: int | None = None
    ) -> ListMemory:
        """Return empty lists; ``leading`` ends with the batch, ``like`` gives dtype and device."""
        nothing = like.new_zeros(*leading, n_lists, 0, 1)
        return cls(nothing, nothing, depth, limit)

    def next(self, actions: Tensor, pushed: Tensor) -> ListMemory:
        """Return the lists after ``actions`` with ``pushed`` (..., B, n_lists, 1). ``actions`` (..., B, n_lists, 3 or
        4) are the shares of insert, left, right and, if there is a fourth, no-op; each list's sum to 1.
        """
        if actions.shape[-1] not in (3, 4):
            raise StacklensError(f"a list has insert, left, right and no-op: not {actions.shape[-1]} operations")
        insert, left, right, *none = actions[..., None, None].unbind(-3)
        most = self.limit or 1 + max(self.left.shape[-2], self.right.shape[-2])
        sides = (self.left, self.right)
        # as they are, with one cell more than there will be
        before, after = (filled_up(side, 1 + min(side.shape[-2] + 1, most), EMPTY_READING) for side in sides)
        new = pushed.unsqueeze(-2).expand(*self.left.shape[:-2], 1, 1)
        inserted, moved_right = (torch.cat([top, before[..., :-2, :]], -2) for top in (new, after[..., :1, :]))
        moved_left = torch.cat([before[..., :1, :], after[..., :-2, :]], -2)
        stay_before, stay_after = before[..., :-1, :], after[..., :-1, :]
        still = none[0] if none else torch.zeros_like(insert)
        return replace(
            self,
            left=insert * inserted + left * before[..., 1:, :] + right * moved_right + still * stay_before,
            right=insert * stay_after + left * moved_left + right * after[..., 1:, :] + still * stay_after,
        )


class ListRNN(MemoryRNN[ListMemory]):
    """A List RNN, or ``nets`` of them on a leading axis, net n with the weights of ``seed + n``. Of its shape
    ``n_stacks`` is the number of lists (the paper has 5), ``depth`` how many cells the hidden layer sees, from the head
    leftwards, and ``stack_limit`` how many cells there are from the head leftwards, and as many to its right.

    >>> net = ListRNN(StackRNNConfig(("a", "b"), n_stacks=5), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> net.operations, step.actions.shape, step.reading.shape
    (('insert', 'left', 'right'), torch.Size([1, 5, 3]), torch.Size([1, 5, 2]))
    """

    name: ClassVar[str] = "list-rnn"
    OPERATIONS: ClassVar[tuple[str, ...]] = ("insert", "left", "right")
    no_automaton = "list-rnn works on lists, which are no stacks: it has no pushdown automaton"

    def initial_memory(self, leading: tuple[int, ...]) -> ListMemory:
        like, limit = self.output_weights, self.stack_limit
        return ListMemory.empty(leading, self.n_stacks, like, depth=self.depth, limit=limit)
