"""Stack RNNs that read and learn symbol by symbol, as the program of Joulin & Mikolov 2015 does, gradients by hand.

After a symbol that counts, the error of its prediction alone goes back through the last steps, and all weights move.
Only stacks carry anything from step to step (R = 0 in eq. 6), so what a hidden layer has to answer for comes from its
heads, and these have it from the cells: a dozen small operations a step, for all networks at once. Sums over steps,
which make the gradients, are products of matrices behind the loop.

What is kept and what is made anew is as in the program: hidden layers, shares and cells are those of the moment when a
step was taken; the weights that an error goes back through, and what a step pushed, are those of the update. An error
goes back as many steps as symbols were learned since the stacks were emptied, at most ``steps``; it enters the heads
of the last of these, but not the weights of its reading when there are all ``steps``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..models.kernels.scan import Array, logistic, softmax

_SLOTS = 4  # kept steps, in numbers of those that an error goes back; then the last ones move to the front


@dataclass(frozen=True)
class SymbolShape:
    """What does not change.

    Attributes:
        operations: 2, push and pop, or 3, and no-op.
        depth: how many cells of each stack are read.
        limit: how many cells a stack has, at least ``depth``.
        steps: how far an error goes back.
        clip: errors are kept between minus this and this, wherever the program clips them.
        empty: what a cell holds that was never written.
    """

    operations: int
    depth: int
    limit: int
    steps: int
    clip: float
    empty: float = -1.0


@dataclass(frozen=True)
class _ScanSteps:
    """What is kept of the last steps, and the errors that go back through them; S steps, or without that axis one.

    Stacks of all networks stand on one axis, M = N * stacks. ``kept`` is what was pushed, then the cells before the
    step, the top first.
    """

    hidden: Array  # (S, N, H)
    slopes: Array  # of the hidden units, (S, N, 1, H)
    seen: Array  # the reading, (S, N, stacks * depth)
    shares: Array  # (S, operations, M)
    kept: Array  # (S, 1 + cells + 1, M)
    push_slopes: Array  # of the top cell after the step by the sum that makes the pushed value, (S, M)
    errors: Array  # of the hidden units' sums, (S, N, 1, H)
    of_rows: Array  # errors of the heads' sums, (S, N, 1, stacks * heads)
    of_seen: Array  # errors of the reading, (S, N, 1, stacks * depth)


@dataclass(frozen=True)
class _Turn:
    """Views of the errors of the cells, for the step that is so many steps back."""

    after: Array  # of the cells after the step, those of them that may not be 0, (cells, M)
    before: Array  # where those of the cells before the step go, (cells + 1, M)
    moved: Array  # from where, by operation, (operations, cells + 1, M)
    read: Array  # those that are read, (depth, M)
    top: Array  # the first of ``after``, (M,)
    parts: Array  # room for what each operation does with ``after``, (operations, cells, M)
    parts_before: Array  # and for what becomes of it, (operations, cells + 1, M)


class SymbolScan:
    """N networks on one stream of symbols.

    Operations stand in the order push, no-op, pop: where a cell comes from is one above, the same, or one below, so
    that what they make of a stack are views of one column, which begins with the pushed value.
    """

    def __init__(self, weights: Mapping[str, Array], shape: SymbolShape) -> None:
        self.shape = shape
        self.inputs = np.array(weights["input_weights"])  # U, (N, X, H)
        self.memory = np.array(weights["memory_weights"])  # P, (N, H, stacks * depth)
        self.outputs = np.array(weights["output_weights"])  # V, (N, O, H)
        pushed = weights["pushed_weights"][:, :, None]  # D
        self.nets, self.n_stacks, _, self.size = pushed.shape
        actions = weights["action_weights"].reshape(self.nets, self.n_stacks, shape.operations, self.size)  # A
        rows = np.concatenate([actions[:, :, self._order], pushed], 2)  # (N, stacks, operations + 1, H)
        self.heads = rows.reshape(self.nets, -1, self.size)
        self._make_room(_SLOTS * shape.steps, min(shape.depth + shape.steps, shape.limit))
        self.empty()

    @property
    def _order(self) -> list[int]:
        return [0, 2, 1] if self.shape.operations == 3 else [0, 1]

    def weights(self) -> dict[str, Array]:
        """Return the weights by the model's names, (N, ...)."""
        heads = self.heads.reshape(self.nets, self.n_stacks, -1, self.size)
        return {
            "input_weights": self.inputs.copy(),
            "memory_weights": self.memory.copy(),
            "action_weights": heads[:, :, self._order].reshape(self.nets, -1, self.size),
            "pushed_weights": heads[:, :, -1].copy(),
            "output_weights": self.outputs.copy(),
        }

    def empty(self) -> None:
        """Empty all stacks, and forget all steps."""
        for column in self._columns:
            column[...] = self.shape.empty
        self._height = self._learned = 0
        self._now = -1

    def read(self, symbol: int, rounded: bool = False) -> None:
        """Take a step; with ``rounded`` shares, of which the largest counts as 1, nothing should be learned."""
        depth, now = self.shape.depth, self._next_slot()
        step, (column, after) = self._steps[now], self._columns
        self._symbols[now] = symbol
        step.seen.reshape(-1, depth)[...] = column[1 : 1 + depth].T
        # h = logistic(U x + P s), section 3.2
        sums = np.matmul(step.seen[:, None], self.memory.swapaxes(1, 2))[:, 0]
        sums += self.inputs[:, symbol]
        logistic(sums, step.hidden)
        np.multiply(step.hidden, 1 - step.hidden, out=step.slopes[:, 0])
        # the shares of the operations and the value to push, for every stack
        rows = np.matmul(step.hidden[:, None], self.heads.swapaxes(1, 2)).reshape(column.shape[1], -1).T.copy()
        softmax(rows[:-1], step.shares)
        if rounded:
            step.shares[...] = step.shares.argmax(0) == np.arange(len(step.shares))[:, None]
        logistic(rows[-1], column[0])
        # what each operation makes of the cells, in its share
        height = self._height = min(self._height + 1, self.shape.limit)
        cells, part = after[1 : 1 + height], self._part[:height]
        laid = self._laid(column, height)
        np.multiply(laid[0], step.shares[0], out=cells)
        for of_operation, share in zip(laid[1:], step.shares[1:], strict=True):
            np.multiply(of_operation, share, out=part)
            cells += part
        step.kept[...] = column[: len(step.kept)]
        self._columns.reverse()

    def probabilities(self) -> Array:
        """Return those of the next symbol, (N, O)."""
        sums = np.matmul(self.outputs, self._steps[self._now].hidden[:, :, None])[..., 0]
        made: Array = np.empty_like(sums)
        softmax(sums.T, made.T)
        return made

    def learn(self, target: int, rates: Array) -> Array:
        """Move all weights towards ``target`` at each network's own rate, (N,); return its probability before, (N,)."""
        self._learned += 1
        outputs = self.probabilities()
        wrong = -outputs
        wrong[:, target] += 1
        first = self._now + 1 - min(self._learned, self.shape.steps)
        gradients = self._gradients(np.matmul(wrong[:, None], self.outputs), first)
        pace = rates[:, None, None]
        for weights, gradient in zip((self.heads, self.inputs, self.memory), gradients, strict=True):
            gradient *= pace
            weights += gradient
        self.outputs += (pace * wrong[:, :, None]) * self._steps[self._now].hidden[:, None]
        probability: Array = outputs[:, target]
        return probability

    def _make_room(self, slots: int, cells: int) -> None:
        """Make room for so many steps, in which an error goes so many cells deep at most."""
        shape, nets, n_stacks = self.shape, self.nets, self.n_stacks
        stacks, heads = nets * n_stacks, shape.operations + 1

        def room(*sizes: int) -> Array:
            return np.zeros(sizes, self.heads.dtype)

        self._columns = [room(shape.limit + 3, stacks) for _ in range(2)]
        self._part, self._parts = room(shape.limit, stacks), room(shape.operations, cells, stacks)
        self._symbols = np.zeros(slots, np.int64)
        self._all = _ScanSteps(
            hidden=room(slots, nets, self.size),
            slopes=room(slots, nets, 1, self.size),
            seen=room(slots, nets, n_stacks * shape.depth),
            shares=room(slots, shape.operations, stacks),
            kept=room(slots, 1 + cells + 1, stacks),
            push_slopes=room(slots, stacks),
            errors=room(slots, nets, 1, self.size),
            of_rows=room(slots, nets, 1, n_stacks * heads),
            of_seen=room(slots, nets, 1, n_stacks * shape.depth),
        )
        # views are made once: indexing takes as long as a small product
        self._steps = [_ScanSteps(*parts) for parts in zip(*vars(self._all).values(), strict=True)]
        rows = [step.of_rows.reshape(stacks, heads).T for step in self._steps]
        self._rows_of_shares, self._rows_of_pushed = [row[:-1] for row in rows], [row[-1] for row in rows]
        self._shares_by_cell = [step.shares[:, None] for step in self._steps]
        self._read = [step.of_seen.reshape(stacks, shape.depth).T for step in self._steps]
        self._cell_errors = [room(cells + 4, stacks) for _ in range(2)]
        self._turns = [self._turn(number, cells) for number in range(shape.steps)]
        counts = [len(turn.after) for turn in self._turns]
        self._laid_to = [[self._laid(step.kept, count) for count in counts] for step in self._steps]

    def _turn(self, number: int, cells: int) -> _Turn:
        """Return the views for the step that is ``number`` steps back; where that is 0, an error enters."""
        after, before = (self._cell_errors[(number + place) % 2] for place in (0, 1))
        count = min(self.shape.depth + number - 1, cells)
        wider = min(count + 1, cells)
        row, column = after.strides
        stride = 2 if self.shape.operations == 2 else 1
        size = (self.shape.operations, wider, after.shape[1])
        moved = as_strided(after[2:], size, (-stride * row, row, column))
        read, parts = before[1 : 1 + self.shape.depth], self._parts
        views = (after[1 : 1 + count], before[1 : 1 + wider], moved, read, after[1])
        return _Turn(*views, parts[:, :count], parts[:, :wider])

    def _laid(self, column: Array, count: int) -> Array:
        stride = 2 if self.shape.operations == 2 else 1
        size = (self.shape.operations, count, column.shape[1])
        return as_strided(column, size, (stride * column.strides[0], *column.strides))

    def _next_slot(self) -> int:
        self._now += 1
        if self._now == len(self._symbols):
            self._now = self.shape.steps
            for kept in (self._symbols, *vars(self._all).values()):
                kept[: self._now] = kept[-self._now :]
        return self._now

    def _gradients(self, error: Array, first: int) -> tuple[Array, Array, Array]:
        """Return the gradients of heads, inputs and memory's weights, (N, ...), from ``error`` (N, 1, H) of the last h.

        It goes back to step ``first``.
        """
        now = self._now
        self._push_anew(first, now)
        self._back(error, first)
        if self._clips(error, first):
            self._back(error, first, clips=True)
        # sums over steps, all networks at once: products of matrices
        errors, rows = self._all.errors[first : now + 1, :, 0], self._all.of_rows[first:now, :, 0]
        of_heads = np.matmul(rows.transpose(1, 2, 0), self._all.hidden[first:now].swapaxes(0, 1))
        chosen = np.arange(self.inputs.shape[1])[:, None] == self._symbols[first : now + 1]
        of_inputs = np.matmul(chosen.astype(errors.dtype), errors.swapaxes(0, 1))
        begun = int(now + 1 - first == self.shape.steps)
        seen = self._all.seen[first + begun : now + 1].swapaxes(0, 1)
        return of_heads, of_inputs, np.matmul(errors[begun:].transpose(1, 2, 0), seen)

    def _push_anew(self, first: int, now: int) -> None:
        """Let the steps ``first`` to ``now`` - 1 have pushed what they would push by the weights of the moment."""
        value = self.heads.reshape(self.nets, self.n_stacks, -1, self.size)[:, :, -1]
        hidden = self._all.hidden[first:now].swapaxes(0, 1)
        sums = np.matmul(hidden, np.ascontiguousarray(value).swapaxes(1, 2)).swapaxes(0, 1)
        pushed = logistic(sums, np.empty(sums.shape, sums.dtype)).reshape(now - first, self.nets * self.n_stacks)
        self._all.kept[first:now, 0] = pushed
        slopes = self._all.push_slopes[first:now]
        np.multiply(pushed, 1 - pushed, out=slopes)
        slopes *= self._all.shares[first:now, 0]

    def _back(self, error: Array, first: int, clips: bool = False) -> None:
        """Let the ``error`` of the last step go back to step ``first``; clip whatever the program does, if asked."""
        now, heads, memory, limit = self._now, self.heads, self.memory, self.shape.clip

        def clip(errors: Array) -> None:
            if clips:
                np.clip(errors, -limit, limit, out=errors)

        for cells in self._cell_errors:
            cells[...] = 0
        # the last step: from its hidden vector to what it saw of the stacks
        step, last = self._steps[now], self._turns[0]
        clip(error)
        np.multiply(error, step.slopes, out=step.errors)
        clip(step.errors)
        np.matmul(step.errors, memory, out=step.of_seen)
        last.read[...] = self._read[now]
        clip(last.read)
        for number in range(1, now - first + 1):
            turn, t = self._turns[number], now - number
            step, shares, errors, before = self._steps[t], self._steps[t].shares, self._steps[t].errors, turn.before
            # the errors of the shares, (operations, M), through their softmax
            np.multiply(self._laid_to[t][number], turn.after, out=turn.parts)
            of_shares = np.add.reduce(turn.parts, 1)
            clip(of_shares)
            of_shares *= shares
            weighted = shares * np.add.reduce(of_shares, 0)
            np.subtract(of_shares, weighted, out=self._rows_of_shares[t])
            # the error of the pushed value, then those of the hidden vector and of what was seen
            np.multiply(turn.top, step.push_slopes, out=self._rows_of_pushed[t])
            clip(step.of_rows)
            np.matmul(step.of_rows, heads, out=errors)
            errors *= step.slopes
            clip(errors)
            np.matmul(errors, memory, out=step.of_seen)
            # the errors of the cells before the step, and what was read of them
            np.multiply(turn.moved, self._shares_by_cell[t], out=turn.parts_before)
            np.add.reduce(turn.parts_before, 0, out=before)
            clip(before)
            read = turn.read
            read += self._read[t]
            clip(before)

    def _clips(self, error: Array, first: int) -> bool:
        """Return whether the program might have clipped anything on the way back that was just taken.

        Errors of cells are only moved and shared out, so none is larger than the sum of all that entered their stack,
        and neither is what they make of the heads, as no cell holds more than 1.
        """
        of_seen, errors = self._all.of_seen[first : self._now + 1], self._all.errors[first : self._now + 1]
        entered = np.abs(of_seen).sum(0).reshape(-1, self.shape.depth).sum(1)
        return bool(max(np.abs(error).max(), entered.max(), errors.max(), -errors.min()) > self.shape.clip)
