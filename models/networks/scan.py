"""Whole words through a controller with superposition stacks or a ring, with gradients derived by hand.

Step by step, autograd spends nearly all its time on keeping books: arrays are tiny, and a step has thirty operations.
Here a step has ten, and its derivative fifteen, and they are numpy's, which begins a small one in a third of the time
that torch takes; so training is many times as fast. It is the same function as `StackModel.step` of the models that use
it, whose sums it only orders otherwise; tests hold both together. Arrays come from another device and go back.

    z_t = [h_t-1, the depth topmost cells of every stack]
    h_t = f(drive_t + R z_t)                 f is tanh (Suzgun et al. 2019), the logistic function (Joulin & Mikolov
                                             2015), or what an LSTM makes of it, which carries c_t besides
    shares_t = softmax(A h_t + a + noise_t)  of the operations; one softmax a stack
    pushed_t = logistic(N h_t + n)
    cells_t = push [pushed_t, cells_t-1] + pop [cells_t-1 without the top] + none cells_t-1

or, on a ring, what `RingMemory` says.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

# ---- The hidden units of a scan: what they make of the sums that drive them, and how gradients go back through them.
# A unit is made for one run: `forward` at every step in turn, `begin_back`, then `backward` from the last step to the
# first. Arrays are (…, N, H, B): networks, units, words.

Activation = Literal["tanh", "sigmoid", "lstm"]
Array = npt.NDArray[Any]


def logistic(values: Array, out: Array) -> Array:
    """Return the logistic function of ``values``, in ``out``, which may be ``values``; nothing can overflow."""
    np.multiply(values, 0.5, out=out)
    np.tanh(out, out=out)
    out *= 0.5
    out += 0.5
    return out


def softmax(rows: Array, out: Array) -> None:
    """Put the softmax over the few rows of ``rows`` into ``out``."""
    largest = np.maximum(rows[0], rows[1])
    for row in rows[2:]:
        np.maximum(largest, row, out=largest)
    np.subtract(rows, largest, out=out)
    np.exp(out, out=out)
    out /= total(out)


def total(rows: Array) -> Array:
    """Return the sum of the few rows of ``rows``, at least two: one by one, which for so few is faster than a sum."""
    summed: Array = rows[0] + rows[1]
    for row in rows[2:]:
        summed += row
    return summed


class _SquashedUnits:
    """Units h = f(sums), where f is tanh or the logistic function; `size` is how many there are, H."""

    def __init__(self, activation: Activation, hidden: Array) -> None:
        self.size, self.activation = hidden.shape[-2], activation

    def forward(self, t: int, sums: Array, out: Array) -> None:
        """Put h after step ``t`` into ``out`` (N, H, B), from the units' sums (N, H or 4H, B)."""
        if self.activation == "tanh":
            np.tanh(sums, out=out)
        else:
            logistic(sums, out)

    def state(self, last: Array) -> Array:
        """Return the hidden vectors after the last step, whose h is ``last``: (N, H, B), or h and c, (N, 2H, B)."""
        return last

    def begin_back(self, hidden: Array) -> None:
        """Prepare the derivatives of all steps, whose h are ``hidden`` (T, N, H, B)."""
        self.slopes = 1 - hidden * hidden if self.activation == "tanh" else hidden * (1 - hidden)

    def backward(self, t: int, of_hidden: Array, out: Array) -> None:
        """Put the gradient of the sums of step ``t`` into ``out``, given that of h after it."""
        np.multiply(of_hidden, self.slopes[t], out=out)


class _LSTMUnits:
    """The units of an LSTM with forget gates; the sums are those of input, forget, cell and output, one after another.
    ``steps``: how many there are. ``hidden``: h and c before the first step, (N, 2H, B).
    """

    def __init__(self, steps: int, hidden: Array) -> None:
        nets, double, batch = hidden.shape
        self.size = size = double // 2
        self.gates = np.empty((steps, 4, nets, size, batch), hidden.dtype)
        self.cells = np.empty((steps + 1, nets, size, batch), hidden.dtype)
        self.shown = np.empty((steps, nets, size, batch), hidden.dtype)  # tanh of c
        self.cells[0] = hidden[:, size:]
        # logistic(x) is tanh(x / 2) / 2 + 1 / 2, so that one tanh serves all four
        self.inner = np.array([0.5, 0.5, 1.0, 0.5], hidden.dtype).reshape(4, 1, 1, 1)
        self.shift = 1 - self.inner

    def forward(self, t: int, sums: Array, out: Array) -> None:
        gates, cell = self.gates[t], self.cells[t + 1]
        nets, _, batch = sums.shape
        np.multiply(sums.reshape(nets, 4, self.size, batch).swapaxes(0, 1), self.inner, out=gates)
        np.tanh(gates, out=gates)
        gates *= self.inner
        gates += self.shift
        np.multiply(gates[1], self.cells[t], out=cell)
        cell += gates[0] * gates[2]
        np.multiply(gates[3], np.tanh(cell, out=self.shown[t]), out=out)

    def state(self, last: Array) -> Array:
        return np.concatenate([last, self.cells[-1]], -2)

    def begin_back(self, hidden: Array) -> None:
        enter, keep, new, show = self.gates.swapaxes(0, 1)
        by_sums = [new * enter * (1 - enter), self.cells[:-1] * keep * (1 - keep), enter * (1 - new * new)]
        self.of_three = np.stack(by_sums, 1)
        self.keep = keep
        self.of_show = hidden * (1 - show)
        self.to_cell = show * (1 - self.shown * self.shown)
        self.of_cell = np.zeros_like(self.cells[0])

    def backward(self, t: int, of_hidden: Array, out: Array) -> None:
        of_cell = of_hidden * self.to_cell[t]
        of_cell += self.of_cell
        nets, _, batch = out.shape
        parts = out.reshape(nets, 4, self.size, batch).swapaxes(0, 1)
        np.multiply(of_cell, self.of_three[t], out=parts[:3])
        np.multiply(of_hidden, self.of_show[t], out=parts[3])
        self.of_cell = np.multiply(of_cell, self.keep[t], out=of_cell)


Units = _SquashedUnits | _LSTMUnits


def make_units(activation: Activation, steps: int, hidden: Array) -> Units:
    """Return the units for a run of ``steps`` from ``hidden`` (N, H, B), of an LSTM h and c, (N, 2H, B)."""
    return _LSTMUnits(steps, hidden) if activation == "lstm" else _SquashedUnits(activation, hidden)


# ---- The memories of a scan: all their cells at every step, and how gradients go back through them ----
# A memory is made for one run: `read` and `write` at every step in turn, `begin_back`, then `shares_back`, `step_back`
# and `read_back` at every step from the last to the first.
#
# Networks, stacks and words stand last in every array, (…, N, stacks, B), so that a share multiplies whole rows.


_PLACES = 0, 2, 1  # of a column: where that which comes to its place 1 stood, by a push, a pop and a no-op


class _ScanMemory(ABC):
    """What stacks and rings share: columns of cells with one more at either end. ``cells``: before the first step, (C,
    D, N, stacks, B). ``shares``: of the operations, (T, operations, N, stacks, B), filled before `write`. ``room``: how
    many cells there are at most. ``depth``: how many are read. ``empty``: what a cell holds that was never written.
    """

    def __init__(self, cells: Array, shares: Array, room: int, depth: int, empty: float) -> None:
        height, steps = len(cells), len(shares)
        self.depth, self.shares = depth, shares
        self.columns = np.full((steps + 1, room + 2, *cells.shape[1:]), empty, cells.dtype)
        self.columns[0, 1 : height + 1] = cells
        self.pushed = self.columns[:steps, 0]  # where pushed values go, (T, D, N, stacks, B)
        self.heights = [min(height + t, room) for t in range(steps + 1)]  # cells below are empty before step t

    def read(self, t: int) -> Array:
        """Return the topmost cells before step ``t``, (depth, D, N, stacks, B)."""
        return self.columns[t, 1 : self.depth + 1]

    @abstractmethod
    def moves(self, t: int) -> list[tuple[int, Array]]:
        """Return what every cell is mixed of in step ``t``: from which of the `_PLACES`, 0 first, and by what share."""

    def write(self, t: int) -> None:
        """Make the cells after step ``t`` from its shares and pushed values."""
        column, height = self.columns[t], self.heights[t + 1]
        (_, share), *others = self.moves(t)
        new = np.multiply(column[:height], share, out=self.columns[t + 1, 1 : height + 1])
        for place, share in others:
            new += column[place : place + height] * share

    def begin_back(self) -> None:
        """After the last step no gradient comes from the cells."""
        self.of_column = np.zeros_like(self.columns[0])
        self._other = np.zeros_like(self.columns[0])  # of the step before, in turn
        self._of_shares: Array = np.empty_like(self.shares[0])
        self._ones = np.ones(self.of_column.shape[0] * self.of_column.shape[1], self.columns.dtype)

    def _product(self, one: Array, other: Array, out: Array) -> None:  # into (N, stacks, B)
        products = (one * other).reshape(-1, out.size)
        np.dot(self._ones[: len(products)], products, out=out.reshape(-1))

    def shares_back(self, t: int) -> Array:
        """Return the gradient of the shares of step ``t``, (operations, N, stacks, B)."""
        height, column = self.heights[t + 1], self.columns[t]
        of_new = self.of_column[1 : height + 1]
        for place, out in zip(_PLACES, self._of_shares, strict=False):
            self._product(of_new, column[place : place + height], out)
        return self._of_shares

    def step_back(self, t: int) -> Array:
        """Return the gradient of the pushed values of step ``t``, and go back to the cells before that step."""
        height, of_column = self.heights[t + 1], self._other
        of_new, ((_, share), *others) = self.of_column[1 : height + 1], self.moves(t)  # from above first
        np.multiply(of_new, share, out=of_column[:height])
        of_column[height : height + 2] = 0  # what lies below is never looked at again: earlier stacks are no higher
        for place, share in others:
            of_column[place : place + height] += of_new * share
        self.of_column, self._other = of_column, self.of_column
        of_pushed: Array = of_column[0]
        return of_pushed

    def read_back(self, of_reading: Array) -> None:
        """Add the gradient of what was read of the cells, (depth, D, N, stacks, B)."""
        self.of_column[1 : self.depth + 1] += of_reading


class _ScanStack(_ScanMemory):
    """Superposition stacks (see `SuperpositionStack`); a column holds what a step's operations choose from. Above the
    cells stands the pushed value, below them an empty cell; a push chooses from one above, a pop from one below. Cells
    that no push has reached stay as they are, so no step works on them.
    """

    def moves(self, t: int) -> list[tuple[int, Array]]:
        # what push, pop and no-op leave (Joulin & Mikolov 2015, eqs. 4 and 5)
        return list(zip(_PLACES, self.shares[t], strict=False))


class _ScanRing(_ScanMemory):
    """Rings (see `RingMemory`), whose five operations are three moves that go round, with two cells put to 0. Above the
    first cell stands the last once more, below the last the first.
    """

    def __init__(self, cells: Array, shares: Array, room: int, depth: int, empty: float) -> None:
        super().__init__(cells, shares, room, depth, empty)
        self.pushed = np.empty_like(self.pushed)  # what is new is added to the first cell
        self._wrap(0)

    def _wrap(self, t: int) -> None:
        column = self.columns[t]
        column[0], column[-1] = column[-2], column[1]

    def moves(self, t: int) -> list[tuple[int, Array]]:
        rotate_right, rotate_left, stay, pop_right, pop_left = self.shares[t]
        return [(0, rotate_right + pop_right), (1, stay), (2, rotate_left + pop_left)]

    def write(self, t: int) -> None:
        # what the five operations leave, and the new element (Suzgun et al. 2019, section 3.3)
        super().write(t)
        column, new, (_, _, _, pop_right, pop_left) = self.columns[t], self.columns[t + 1, 1:-1], self.shares[t]
        new[-1] -= column[1] * pop_left
        new[0] -= column[-2] * pop_right
        new[0] += self.pushed[t]
        self._wrap(t + 1)

    def shares_back(self, t: int) -> Array:
        of_new, column, out = self.of_column[1:-1], self.columns[t], super().shares_back(t)
        self._product(of_new[0], column[-2], out[3])
        self._product(of_new[-1], column[1], out[4])
        np.subtract(out[:2], out[3:], out=out[3:])
        return out

    def step_back(self, t: int) -> Array:
        of_new, (_, _, _, pop_right, pop_left) = self.of_column[1:-1], self.shares[t]
        super().step_back(t)
        self.of_column[-2] += self.of_column[0] - of_new[0] * pop_right
        self.of_column[1] += self.of_column[-1] - of_new[-1] * pop_left
        of_pushed: Array = of_new[0]
        return of_pushed


# ---- Whole words through a controller with superposition stacks or a ring, with gradients derived by hand ----

_MANY_SYMBOLS = 256


@dataclass(frozen=True)
class ScanShape:
    """What is the same at every step."""

    activation: Activation  # f
    operations: int  # shares a stack, 2 or 3; of a ring 5
    depth: int  # how many cells of each stack are read
    empty: float  # what a cell holds that was never written
    limit: int | None  # how many cells a stack has; None for no limit. A ring has as many as it is given
    ring: bool = False  # whether the memory is a ring


class Scan(NamedTuple):
    """All steps of a run."""

    hidden: Tensor  # h_1 to h_T, (T, N, B, H)
    shares: Tensor  # of the operations, (T, N, B, stacks, operations)
    cells: Tensor  # of the stacks after the last step, (N, B, stacks, C, D); no gradient flows into it
    state: Tensor  # the hidden vectors after the last step, (N, B, H), of an LSTM h and c, (N, B, 2H); nor into it


def scan(
    drive: Tensor,  # what the symbols add, (T, N, B, H), of an LSTM (T, N, B, 4H)
    # R, (N, H, H + stacks * depth * D), of an LSTM (N, 4H, …): input, forget, cell, output; the heads A of all stacks
    # one below the other, and N likewise, (N, stacks * (operations + D), H); a and n, (N, stacks * (operations + D))
    weights: tuple[Tensor, Tensor, Tensor],
    hidden: Tensor,  # h_0, (N, B, H), of an LSTM h_0 and c_0, (N, B, 2H)
    cells: Tensor,  # of the stacks before the first step, (N, B, stacks, C, D)
    shape: ScanShape,
    noise: Tensor | None = None,  # what is added before the softmax, (T, N, B, stacks * operations)
) -> Scan:
    """Return a run of T steps of N networks on B words each; the axis of networks may be missing everywhere. Gradients
    flow into ``drive`` and ``weights`` only.
    """
    if drive.dim() > 3:
        return Scan(*_StackScan.apply(drive, *weights, hidden, cells, noise, shape))  # type: ignore[no-untyped-call]
    noise = None if noise is None else noise.unsqueeze(1)
    lone = (part.unsqueeze(0) for part in (*weights, hidden, cells))
    made = _StackScan.apply(drive.unsqueeze(1), *lone, noise, shape)  # type: ignore[no-untyped-call]
    return Scan(*(part.squeeze(axis) for part, axis in zip(made, (1, 1, 0, 0), strict=True)))


def driven(weights: Tensor, symbols: Tensor, recurrent: Tensor, noise: Tensor | None) -> Tensor:
    """Return what drives every step, (T, ..., B, H): rows of ``weights`` for ``symbols`` (T, B), and R times ``noise``.
    What is added to z_t before a step comes to the same: ``noise`` (T, B, H + stacks * depth * D), or for each network
    its own (T, ..., B, H + stacks * depth * D); None for nothing.
    """
    drive = looked_up(weights, symbols.clamp(min=0))
    if noise is None:
        return drive
    leading = (1,) * (drive.dim() - noise.dim())
    return drive + noise.view(len(noise), *leading, *noise.shape[1:]) @ recurrent.mT


def looked_up(weights: Tensor, symbols: Tensor) -> Tensor:
    """Return the rows of ``weights`` (..., K, H) that ``symbols`` (T, B) choose, (T, ..., B, H). As a product with ones
    and zeros, whose derivative is a product again: that of indexing adds row by row. With the words of a language for
    symbols such a product is far larger than all else.
    """
    if symbols.dim() > 2:  # every network has words of its own, (T, ..., B)
        return torch.nn.functional.one_hot(symbols, weights.shape[-2]).to(weights) @ weights
    if weights.dim() == 2 and len(weights) > _MANY_SYMBOLS:
        return torch.nn.functional.embedding(symbols, weights)
    chosen = torch.nn.functional.one_hot(symbols.flatten(), weights.shape[-2]).to(weights)
    rows = chosen @ weights
    return rows.view(*rows.shape[:-2], *symbols.shape, -1).movedim(-3, 0)


class _StackScan(torch.autograd.Function):
    """The recurrence and its derivative, with arrays turned so that words stand last."""

    @staticmethod
    def forward(
        ctx: Any,
        drive: Tensor,
        recurrent: Tensor,
        heads: Tensor,
        bias: Tensor,
        hidden: Tensor,
        cells: Tensor,
        noise: Tensor | None,
        shape: ScanShape,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        biases = array_of(bias)[..., None]  # (N, rows, 1), or with noise (T, N, rows, B)
        if noise is not None:
            biases = np.pad(_turned(noise), ((0, 0), (0, 0), (0, bias.shape[-1] - noise.shape[-1]), (0, 0))) + biases
        course = _StackCourse(array_of(recurrent), array_of(heads), _turned(hidden), array_of(cells), len(drive), shape)
        course.run(_turned(drive), biases)
        ctx.course, ctx.device = course, drive.device
        states = [course.hidden.swapaxes(-1, -2), course.shares.transpose(0, 2, 4, 3, 1)]
        cells_after = course.memory.columns[-1, 1 : course.memory.heights[-1] + 1].transpose(2, 4, 3, 0, 1)
        ends = [cells_after, course.units.state(course.hidden[-1]).swapaxes(-1, -2)]
        results = [_tensor(part, drive.device) for part in states + ends]
        ctx.mark_non_differentiable(*results[2:])
        return results[0], results[1], results[2], results[3]

    @staticmethod
    def backward(ctx: Any, of_hidden: Tensor, of_shares: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        course: _StackCourse = ctx.course
        of_drive, of_rows = course.run_back(_turned(of_hidden), array_of(of_shares).transpose(0, 4, 1, 3, 2))
        of_weights = (_summed(of_drive, course.before[:-1]), _summed(of_rows, course.hidden), of_rows.sum((0, 3)))
        return *(_tensor(part, ctx.device) for part in (of_drive.swapaxes(-1, -2), *of_weights)), None, None, None, None


class _StackCourse:
    """One run: all arrays of all steps."""

    def __init__(
        self, recurrent: Array, heads: Array, hidden: Array, cells: Array, steps: int, shape: ScanShape
    ) -> None:
        self.recurrent, self.heads, self.shape = recurrent, heads, shape
        nets, batch, n_stacks, _, width = cells.shape
        self.units = make_units(shape.activation, steps, hidden)
        # of the operations, (T, operations, N, stacks, B)
        self.shares = np.empty((steps, shape.operations, nets, n_stacks, batch), hidden.dtype)
        # room for all that may be written or read
        room = cells.shape[3]
        if not shape.ring:
            height = room + steps
            room = max(shape.depth, height if shape.limit is None else min(height, shape.limit))
        kind = _ScanRing if shape.ring else _ScanStack
        self.memory = kind(cells.transpose(3, 4, 0, 2, 1), self.shares, room, shape.depth, shape.empty)
        # z of every step, and behind the last, (T + 1, N, H + stacks * depth * D, B)
        self.before = np.empty((steps + 1, nets, recurrent.shape[-1], batch), hidden.dtype)
        self.before[0, :, : self.units.size] = hidden[:, : self.units.size]
        self.n_shares = n_stacks * shape.operations
        # a row of stacks and what belongs to each, as it stands in sums, turned to what memories work with
        self.of_shares = (nets, n_stacks, shape.operations, batch), (2, 0, 1, 3)
        self.of_pushed = (nets, n_stacks, width, batch), (2, 0, 1, 3)
        self.of_seen = (nets, n_stacks, shape.depth, width, batch), (2, 3, 0, 1, 4)

    @property
    def hidden(self) -> Array:
        """Return h after every step, (T, N, H, B)."""
        return self.before[1:, :, : self.units.size]

    def run(self, drive: Array, biases: Array) -> None:
        """Take all steps, driven by ``drive`` (T, N, H or 4H, B)."""
        size, before = self.units.size, self.before
        for t, now in enumerate(drive):
            if self.n_shares:
                _split(before[t, :, size:], self.of_seen)[...] = self.memory.read(t)
            sums = self.recurrent @ before[t]
            sums += now
            self.units.forward(t, sums, before[t + 1, :, :size])
            if not self.n_shares:
                continue
            # what the heads make of h: shares of the operations, and pushed values
            rows = self.heads @ before[t + 1, :, :size]
            rows += biases if biases.ndim == 3 else biases[t]
            softmax(_split(rows[:, : self.n_shares], self.of_shares), self.shares[t])
            logistic(_split(rows[:, self.n_shares :], self.of_pushed), self.memory.pushed[t])
            self.memory.write(t)

    def run_back(self, of_hidden: Array, of_shares: Array) -> tuple[Array, Array]:
        """Return the gradients of what drives every step and of the heads' rows, given those of `hidden`, `shares`."""
        steps, nets, size, batch = of_hidden.shape
        self.units.begin_back(self.hidden)
        self.memory.begin_back()
        self.pushed_slopes = self.memory.pushed * (1 - self.memory.pushed)
        of_drive = np.empty((steps, nets, self.recurrent.shape[1], batch), of_hidden.dtype)
        of_rows = np.empty((steps, nets, self.heads.shape[1], batch), of_hidden.dtype)
        turned, turned_heads = self.recurrent.swapaxes(1, 2), self.heads.swapaxes(1, 2)
        of_before = np.zeros_like(self.before[0])  # after the last step: nothing
        for t in reversed(range(steps)):
            of_after = of_hidden[t] + of_before[:, :size]
            if self.n_shares:
                # through the pushed values, and through the softmax of the shares
                shares, weighted = self.shares[t], self.memory.shares_back(t)
                weighted += of_shares[t]
                weighted *= shares
                of_logits = _split(of_rows[t, :, : self.n_shares], self.of_shares)
                of_logits[...] = weighted - shares * total(weighted)
                of_pushed = _split(of_rows[t, :, self.n_shares :], self.of_pushed)
                np.multiply(self.memory.step_back(t), self.pushed_slopes[t], out=of_pushed)
                of_after += turned_heads @ of_rows[t]
            self.units.backward(t, of_after, of_drive[t])
            of_before = turned @ of_drive[t]
            if self.n_shares:
                self.memory.read_back(_split(of_before[:, size:], self.of_seen))
        return of_drive, of_rows


def _split(rows: Array, of: tuple[tuple[int, ...], tuple[int, ...]]) -> Array:
    return rows.reshape(of[0]).transpose(of[1])


def _summed(rows: Array, columns: Array) -> Array:  # (N, R, C)
    words = rows.shape[0] * rows.shape[3]
    left, right = (part.transpose(1, 2, 0, 3).reshape(*part.shape[1:3], words) for part in (rows, columns))
    return left @ right.swapaxes(1, 2)


def array_of(part: Tensor) -> Array:
    """Return the numbers of a tensor, without its gradient."""
    return part.detach().cpu().numpy()


def _turned(part: Tensor) -> Array:
    return np.ascontiguousarray(array_of(part).swapaxes(-1, -2))


def _tensor(part: Array, device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(part)).to(device)
