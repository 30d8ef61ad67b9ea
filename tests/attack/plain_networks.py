"""Rounded networks written down anew, one word at a time: their papers' equations, plain lists as stacks, no helpers.

Products are summed as torch likes or, in other rounds, one after the other in an order drawn at random, as another
machine might. What must not be is a number that is none: then `Overflowed` is raised.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor


class Overflowed(Exception):  # noqa: N818 - it is what is looked for
    """The network computed NaN or an infinity."""


class Seen:
    """What one step showed: operations (the numbers of `Operation`), pushed values, an output, a rejection."""

    def __init__(self, operations: list[int], pushed: list[Tensor], output: Any, rejected: bool) -> None:
        self.operations, self.pushed, self.output, self.rejected = operations, pushed, output, rejected


class Cells:
    """A stack of whole cells, the bottom first; a push onto a full one loses the bottom."""

    def __init__(self, empty: Tensor, limit: int | None) -> None:
        self.cells: list[Tensor] = []
        self.empty, self.limit = empty, limit

    def top(self, depth: int) -> Tensor:
        seen = self.cells[::-1][:depth]
        return torch.cat([*seen, *[self.empty] * (depth - len(seen))])

    def do(self, operation: int, value: Tensor) -> None:
        if operation in (1, 3) and self.cells:
            self.cells.pop()
        if operation in (2, 3):
            self.cells = [*self.cells, value] if self.limit is None else [*self.cells, value][-self.limit :]


class Heights:
    """A stack of intervals of heights, which are added up in the network's own numbers."""

    def __init__(self, empty: Tensor) -> None:
        self.empty, self.length = empty, 0.0
        self.slots: list[tuple[float, float, Tensor]] = []

    def _round(self, value: float) -> float:
        return float(torch.tensor(value, dtype=torch.float64).to(self.empty.dtype))

    def top(self, depth: int) -> Tensor:
        assert depth == 1
        floor, total = max(0.0, self._round(self.length - 1)), self.empty
        for bottom, top, value in self.slots[::-1]:
            if top <= floor:
                break
            total = total + self._round(top - max(bottom, floor)) * value
        return total

    def do(self, operation: int, value: Tensor) -> None:
        if operation in (1, 3):
            self.length = max(0.0, self._round(self.length - 1))
            while self.slots and self.slots[-1][0] >= self.length:
                self.slots.pop()
            if self.slots and self.slots[-1][1] > self.length:
                bottom, _, held = self.slots.pop()
                self.slots.append((bottom, self.length, held))
        if operation in (2, 3):
            before, self.length = self.length, self._round(self.length + 1)
            if self.length > before:
                self.slots.append((before, self.length, value))


# what is done to a ring or a list, as what its view on stacks does to the one to the right, or left, and the other
ON_STACKS = {"rotate right": (2, 1), "rotate left": (1, 2), "no-op": (0, 0), "pop right": (2, 1), "pop left": (1, 2)}
ON_STACKS |= {"insert": (2, 0), "left": (1, 2), "right": (2, 1), "none": (0, 0)}


class Ring:
    """A ring of cells, the first of which is seen and added to."""

    def __init__(self, empty: Tensor, size: int) -> None:
        self.cells, self.empty = [empty] * size, empty

    def top(self, depth: int) -> Tensor:
        assert depth == 1
        return self.cells[0]

    def shown(self, name: str, value: Tensor) -> list[Tensor]:
        return [self.cells[0], self.empty if name == "pop left" else self.cells[0]]

    def do(self, name: str, value: Tensor) -> None:
        if name.endswith("right"):
            self.cells = [self.cells[-1], *self.cells[:-1]]
            self.cells[0] = self.empty if name == "pop right" else self.cells[0]
        if name.endswith("left"):
            self.cells = [*self.cells[1:], self.cells[0]]
            self.cells[-1] = self.empty if name == "pop left" else self.cells[-1]
        self.cells[0] = self.cells[0] + value


class Tape:
    """A list whose cells lie about a head, which is on cell ``head``; all others are empty."""

    def __init__(self, empty: Tensor) -> None:
        self.cells, self.head, self.empty = [empty], 0, empty

    def top(self, depth: int) -> Tensor:
        return torch.cat([self._at(self.head - i) for i in range(depth)])

    def shown(self, name: str, value: Tensor) -> list[Tensor]:
        return [self._at(self.head + 1) if name == "right" else value, self._at(self.head)]

    def do(self, name: str, value: Tensor) -> None:
        if name == "insert":
            self.cells = [*self.cells[: self.head + 1], value, *self.cells[self.head + 1 :]]
        self.head += {"insert": 1, "right": 1, "left": -1, "none": 0}[name]
        if self.head < 0:
            self.cells, self.head = [self.empty, *self.cells], 0
        if self.head == len(self.cells):
            self.cells = [*self.cells, self.empty]

    def _at(self, place: int) -> Tensor:
        return self.cells[place] if 0 <= place < len(self.cells) else self.empty


class Plain:
    """One network between two symbols of one word; of a view the network that it is of, on its own memory."""

    def __init__(self, model: Any, order: np.random.Generator | None) -> None:
        own = getattr(model, "model", model)
        self.model, self.own, self.name, self.order = model, own, own.name, order
        self.w = {key.removeprefix("net."): value.detach() for key, value in own.state_dict().items()}
        first = next(iter(self.w.values()))
        self.zero = first.new_zeros(())
        self.kind, self.size = model.task_kind, self._size()
        self.hidden = self.zero.new_zeros(self.size * (2 if self._lstm else 1))
        if self.name == "nnpda":
            self.hidden[0] = 1
        empty = self.zero.new_full((model.cell_size,), -1.0 if self.name in ("stack-rnn", "list-rnn") else 0.0)
        self.stacks: list[Any] = [self._memory(empty) for _ in range(own.n_stacks)]
        self.rejected, self.output = False, None

    def copy(self) -> Plain:
        other = copy.copy(self)
        other.stacks = [copy.copy(stack) for stack in self.stacks]
        for stack in other.stacks:
            for name in ("cells", "slots"):
                if hasattr(stack, name):
                    setattr(stack, name, list(getattr(stack, name)))
        return other

    def _memory(self, empty: Tensor) -> Any:
        if self.name == "baby-ntm":
            return Ring(empty, self.own.stack_limit)
        if self.name == "list-rnn":
            return Tape(empty)
        return Heights(empty) if self.name in ("nnpda", "neural-stack") else Cells(empty, self.own.stack_limit)

    @property
    def _lstm(self) -> bool:
        return self.name == "marnn-stack-lstm" or bool(self.name == "neural-stack" and self.model.net.kind == "lstm")

    def _size(self) -> int:
        if self.name == "nnpda":
            return int(self.model.shape.n_states)
        return 0 if self.name == "neural-stack" and self.model.net.kind == "linear" else int(self.own.shape.hidden)

    def _dot(self, weights: Tensor, values: Tensor) -> Tensor:
        if self.order is None or weights.shape[1] == 0:
            return weights @ values
        total = weights.new_zeros(len(weights))
        for column in self.order.permutation(weights.shape[1]):
            total = total + weights[:, column] * values[column]
        return total

    def step(self, letter: int) -> Seen:
        """Return what the step on a letter shows, and take it."""
        length = self.stacks[0].length if self.name == "nnpda" else 1.0
        if self.kind == "next set" and self._unexpected(letter):
            self.rejected = True
        actions, pushed, output = getattr(self, "_" + self.name.replace("-", "_"))(letter)
        for numbers in (self.hidden, *actions, *pushed, *([] if output is None else [output])):
            if not bool(torch.isfinite(numbers).all()):
                raise Overflowed
        operations = [self._operation(action) for action in actions]
        if self.name == "nnpda":
            self.rejected |= operations[0] == 1 and length < 0.5
            self.rejected |= self.model.shape.trap and float(self.hidden[-1]) <= 0.5
        done, laid = operations, pushed
        if self.own is not self.model:  # all stacks to the one side, then all to the other
            shown = [stack.shown(*one) for stack, *one in zip(self.stacks, operations, pushed, strict=True)]
            done = [number for side in zip(*(ON_STACKS[name] for name in operations), strict=True) for number in side]
            laid = [value for side in zip(*shown, strict=True) for value in side]
        for stack, operation, value in zip(self.stacks, operations, pushed, strict=True):
            stack.do(operation, value)
        self.output = self._said(output)
        return Seen(done, laid, self.output, self.rejected)

    def accepts(self) -> bool:
        """Return the verdict of a recogniser on what it has read, the end symbol included."""
        last, length = float(self.hidden[-1]), self.stacks[0].length
        inside = last > 0.5 and length <= 0.5 if self.model.shape.trap else last - length > 0.5
        return bool(inside) and not self.rejected

    def _unexpected(self, letter: int) -> bool:
        symbol = self.model.alphabet[letter]
        if self.output is None:
            return self.model.first is not None and symbol not in self.model.first
        return symbol not in self.output

    def _operation(self, action: Tensor) -> Any:
        if self.own is not self.model:
            return self.own.operations[int(action.argmax())]
        if self.name == "nnpda":
            return 2 if float(action[0]) > 0.5 else 1 if float(action[0]) < -0.5 else 0
        if self.name == "neural-stack":
            return (float(action[0]) >= 0.5) + 2 * (float(action[1]) >= 0.5)
        return {"push": 2, "pop": 1, "none": 0}[self.model.operations[int(action.argmax())]]

    def _said(self, output: Tensor | None) -> Any:
        if output is None:
            return None
        if self.kind == "next set":
            return frozenset(s for s, share in zip(self.model.output_alphabet, output, strict=True) if share > 0.5)
        return self.model.output_alphabet[int(output.argmax())]

    def _nnpda(self, letter: int) -> tuple[list[Tensor], list[Tensor], None]:
        seen, shape = self.stacks[0].top(1), self.model.shape
        if shape.empty_reading:
            seen = torch.cat([seen, (1 - seen.sum())[None]])
        symbol: Tensor = self.zero.new_zeros(self.model.n_symbols)
        symbol[letter] = 1
        other = torch.cat([seen, symbol]) if shape.order == "second" else torch.outer(seen, symbol).flatten()
        products = torch.outer(self.hidden, other).flatten()
        if shape.order == "full":
            corner = self.zero.new_ones(1)
            for neuron in self.hidden:
                corner = torch.outer(corner, torch.stack([1 - neuron, neuron])).flatten()
            action = self._dot(self.w["action_weights"], torch.outer(corner, other).flatten())
        else:
            action = 2 * torch.sigmoid(self._dot(self.w["action_weights"], products) + self.w["action_bias"]) - 1
        self.hidden = torch.sigmoid(self._dot(self.w["state_weights"], products) + self.w["state_bias"])
        return [action], [symbol], None

    def _stack_rnn(self, letter: int) -> tuple[list[Tensor], list[Tensor], Tensor]:
        seen = torch.cat([stack.top(self.model.depth) for stack in self.stacks])
        drive = self.w["input_weights"][letter] + self._dot(self.w["memory_weights"], seen)
        if self.model.recurrent:
            drive = drive + self._dot(self.w["recurrent_weights"], self.hidden)
        self.hidden = torch.sigmoid(drive)
        rows = self._dot(self.w["action_weights"], self.hidden).reshape(len(self.stacks), -1)
        pushed = torch.sigmoid(self._dot(self.w["pushed_weights"], self.hidden))
        output = torch.softmax(self._dot(self.w["output_weights"], self.hidden), -1)
        return list(torch.softmax(rows, -1)), list(pushed[:, None]), output

    _list_rnn = _stack_rnn

    def _marnn_answer(self) -> tuple[list[Tensor], list[Tensor], Tensor]:
        heads = [
            self._dot(self.w[f"{name}_weights"], self.hidden[: self.size]) + self.w[f"{name}_bias"]
            for name in ("action", "pushed", "output")
        ]
        warm = 1.0 if self.own.shape.gating == "softmax" else self.own.temperature
        shares = torch.softmax(heads[0] / warm if warm != 1.0 else heads[0], -1)
        return [shares], [torch.sigmoid(heads[1])], torch.sigmoid(heads[2])

    def _marnn_drive(self, letter: int) -> Tensor:
        seen = self._dot(self.w["memory_weights"], self.stacks[0].top(1)) + self.w["memory_bias"]
        mixed = self._dot(self.w["hidden_weights"], self.hidden[: self.size] + seen) + self.w["hidden_bias"]
        drive: Tensor = self.w["input_weights"][:, letter] + self.w["input_bias"] + mixed
        return drive

    def _marnn_stack_rnn(self, letter: int) -> tuple[list[Tensor], list[Tensor], Tensor]:
        self.hidden = torch.tanh(self._marnn_drive(letter))
        return self._marnn_answer()

    _baby_ntm = _marnn_stack_rnn

    def _marnn_stack_lstm(self, letter: int) -> tuple[list[Tensor], list[Tensor], Tensor]:
        self.hidden = self._gates(self._marnn_drive(letter))
        return self._marnn_answer()

    def _marnn_joulin(self, letter: int) -> tuple[list[Tensor], list[Tensor], Tensor]:
        drive = self.w["input_weights"][:, letter] + self._dot(self.w["hidden_weights"], self.hidden)
        self.hidden = torch.sigmoid(drive + self._dot(self.w["memory_weights"], self.stacks[0].top(1)))
        return self._marnn_answer()

    def _neural_stack(self, letter: int) -> tuple[list[Tensor], list[Tensor], Tensor]:
        symbol: Tensor = self.zero.new_zeros(self.model.n_symbols)
        symbol[letter] = 1
        seen = torch.cat([symbol, self.stacks[0].top(1)])
        kind, features = self.model.net.kind, seen
        if kind != "linear":
            drive = self._dot(self.w["weight_ih"], seen) + self.w["bias_ih"]
            drive = drive + (self._dot(self.w["weight_hh"], self.hidden[: self.size]) + self.w["bias_hh"])
            self.hidden = self._gates(drive) if kind == "lstm" else torch.tanh(drive)
            features = self.hidden[: self.size]
        found = self._dot(self.w["weight"], features) + self.w["bias"]
        split = 2 + self.model.cell_size
        instructions = torch.sigmoid(found[:split])
        return [instructions[:2]], [instructions[2:]], torch.softmax(found[split:], -1)

    def _gates(self, drive: Tensor) -> Tensor:
        enter, keep, new, show = drive.chunk(4)
        cell = torch.sigmoid(keep) * self.hidden[self.size :] + torch.sigmoid(enter) * torch.tanh(new)
        return torch.cat([torch.sigmoid(show) * torch.tanh(cell), cell])
