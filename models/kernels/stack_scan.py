"""Whole words through a controller with superposition stacks or a ring, with gradients derived by hand.

Step by step, autograd spends nearly all its time on keeping books: arrays are tiny, and a step has thirty operations.
Here a step has ten, and its derivative fifteen, and they are numpy's, which begins a small one in a third of the time
that torch takes; so training is many times as fast. It is the same function as `StackModel.step` of the models that
use it, whose sums it only orders otherwise; tests hold both together. On another device arrays come to the processor
and go back.

    z_t = [h_t-1, the depth topmost cells of every stack]
    h_t = f(drive_t + R z_t)                 f is tanh (Suzgun et al. 2019), the logistic function (Joulin & Mikolov
                                             2015), or what an LSTM makes of it, which carries c_t besides
    shares_t = softmax(A h_t + a + noise_t)  of the operations; one softmax a stack
    pushed_t = logistic(N h_t + n)
    cells_t = push [pushed_t, cells_t-1] + pop [cells_t-1 without the top] + none cells_t-1

or, on a ring, what `stacks.ring` says. Units and memories are in `scan_units` and `scan_memory`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from stacklens.models.kernels.scan_memory import ScanMemory, ScanRing, ScanStack
from stacklens.models.kernels.scan_units import Activation, Array, logistic, make_units, softmax, total

__all__ = ["Scan", "ScanShape", "ScanWeights", "driven", "looked_up", "scan"]

_MANY_SYMBOLS = 256


@dataclass(frozen=True)
class ScanShape:
    """What is the same at every step.

    Attributes:
        activation: f.
        operations: shares a stack, 2 or 3; of a ring 5.
        depth: how many cells of each stack are read.
        empty: what a cell holds that was never written.
        limit: how many cells a stack has; None for no limit. A ring has as many as it is given.
        ring: whether the memory is a ring.
    """

    activation: Activation
    operations: int
    depth: int
    empty: float
    limit: int | None
    ring: bool = False


class Scan(NamedTuple):
    """All steps of a run.

    Attributes:
        hidden: h_1 to h_T, (T, N, B, H).
        shares: of the operations, (T, N, B, stacks, operations).
        cells: of the stacks after the last step, (N, B, stacks, C, D); no gradient flows into it.
        state: the hidden vectors after the last step, (N, B, H), of an LSTM h and c, (N, B, 2H); nor into it.
    """

    hidden: Tensor
    shares: Tensor
    cells: Tensor
    state: Tensor


class ScanWeights(NamedTuple):
    """The weights of N networks; the axis of networks may be missing everywhere."""

    recurrent: Tensor  # R, (N, H, H + stacks * depth * D), of an LSTM (N, 4H, …): input, forget, cell, output
    heads: Tensor  # A of all stacks one below the other, and N likewise, (N, stacks * (operations + D), H)
    bias: Tensor  # a and n, (N, stacks * (operations + D))


def scan(
    drive: Tensor, weights: ScanWeights, hidden: Tensor, cells: Tensor, shape: ScanShape, noise: Tensor | None = None
) -> Scan:
    """Return a run of T steps of N networks on B words each; the axis of networks may be missing everywhere.

    Gradients flow into ``drive`` and ``weights`` only.

    Args:
        drive: what the symbols add, (T, N, B, H), of an LSTM (T, N, B, 4H).
        weights: those of every step.
        hidden: h_0, (N, B, H), of an LSTM h_0 and c_0, (N, B, 2H).
        cells: the stacks before the first step, (N, B, stacks, C, D).
        shape: what is the same at every step.
        noise: what is added before the softmax, (T, N, B, stacks * operations); None for nothing.
    """
    if drive.dim() == 3:
        recurrent, heads, bias = (part.unsqueeze(0) for part in weights)
        lone = ScanWeights(recurrent, heads, bias)
        noise = None if noise is None else noise.unsqueeze(1)
        made = scan(drive.unsqueeze(1), lone, hidden.unsqueeze(0), cells.unsqueeze(0), shape, noise)
        return Scan(made.hidden.squeeze(1), made.shares.squeeze(1), made.cells.squeeze(0), made.state.squeeze(0))
    return Scan(*_Scan.apply(drive, *weights, hidden, cells, noise, shape))  # type: ignore[no-untyped-call]


def driven(weights: Tensor, symbols: Tensor, recurrent: Tensor, noise: Tensor | None) -> Tensor:
    """Return what drives every step, (T, ..., B, H): rows of ``weights`` for ``symbols`` (T, B), and R times ``noise``.

    What is added to z_t before a step comes to the same: ``noise`` (T, B, H + stacks * depth * D), None for nothing.
    """
    drive = looked_up(weights, symbols.clamp(min=0))
    if noise is None:
        return drive
    leading = (1,) * (drive.dim() - 3)
    return drive + noise.view(len(noise), *leading, *noise.shape[1:]) @ recurrent.mT


def looked_up(weights: Tensor, symbols: Tensor) -> Tensor:
    """Return the rows of ``weights`` (..., K, H) that ``symbols`` (T, B) choose, (T, ..., B, H).

    As a product with ones and zeros, whose derivative is a product again: that of indexing adds row by row. With the
    words of a language for symbols such a product is far larger than all else.
    """
    if weights.dim() == 2 and len(weights) > _MANY_SYMBOLS:
        return torch.nn.functional.embedding(symbols, weights)
    chosen = torch.nn.functional.one_hot(symbols.flatten(), weights.shape[-2]).to(weights)
    rows = chosen @ weights
    return rows.view(*rows.shape[:-2], *symbols.shape, -1).movedim(-3, 0)


class _Scan(torch.autograd.Function):
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
        biases = _array(bias)[..., None]  # (N, rows, 1), or with noise (T, N, rows, B)
        if noise is not None:
            biases = np.pad(_turned(noise), ((0, 0), (0, 0), (0, bias.shape[-1] - noise.shape[-1]), (0, 0))) + biases
        course = _Course(_array(recurrent), _array(heads), _turned(hidden), _array(cells), len(drive), shape)
        course.run(_turned(drive), biases)
        ctx.course, ctx.device = course, drive.device
        states = [course.hidden.swapaxes(-1, -2), course.shares.transpose(0, 2, 4, 3, 1)]
        ends = [course.last_cells, course.units.state(course.hidden[-1]).swapaxes(-1, -2)]
        results = [_tensor(part, drive.device) for part in states + ends]
        ctx.mark_non_differentiable(*results[2:])
        return results[0], results[1], results[2], results[3]

    @staticmethod
    def backward(ctx: Any, of_hidden: Tensor, of_shares: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        course: _Course = ctx.course
        of_drive, of_rows = course.run_back(_turned(of_hidden), _array(of_shares).transpose(0, 4, 1, 3, 2))
        of_weights = (_summed(of_drive, course.before[:-1]), _summed(of_rows, course.hidden), of_rows.sum((0, 3)))
        return *(_tensor(part, ctx.device) for part in (of_drive.swapaxes(-1, -2), *of_weights)), None, None, None, None


class _Course:
    """One run: all arrays of all steps.

    Attributes:
        before: z of every step, and behind the last, (T + 1, N, H + stacks * depth * D, B).
        shares: of the operations, (T, operations, N, stacks, B).
    """

    def __init__(
        self, recurrent: Array, heads: Array, hidden: Array, cells: Array, steps: int, shape: ScanShape
    ) -> None:
        self.recurrent, self.heads, self.shape = recurrent, heads, shape
        nets, batch, n_stacks, _, width = cells.shape
        self.units = make_units(shape.activation, steps, hidden)
        self.shares = np.empty((steps, shape.operations, nets, n_stacks, batch), hidden.dtype)
        self.memory = _memory(cells.transpose(3, 4, 0, 2, 1), self.shares, shape)
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

    @property
    def last_cells(self) -> Array:
        """Return the cells after the last step, (N, B, stacks, C, D)."""
        cells: Array = self.memory.columns[-1, 1 : self.memory.heights[-1] + 1].transpose(2, 4, 3, 0, 1)
        return cells

    def run(self, drive: Array, biases: Array) -> None:
        """Take all steps, driven by ``drive`` (T, N, H or 4H, B)."""
        size, before = self.units.size, self.before
        for t, now in enumerate(drive):
            if self.n_shares:
                _split(before[t, :, size:], self.of_seen)[...] = self.memory.read(t)
            sums = self.recurrent @ before[t]
            sums += now
            self.units.forward(t, sums, before[t + 1, :, :size])
            if self.n_shares:
                self._act(t, biases if biases.ndim == 3 else biases[t])

    def _act(self, t: int, bias: Array) -> None:
        """Let the heads say what to do and push in step ``t``, and the memory do it."""
        rows = self.heads @ self.before[t + 1, :, : self.units.size]
        rows += bias
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
                self._act_back(t, of_shares[t], of_rows[t])
                of_after += turned_heads @ of_rows[t]
            self.units.backward(t, of_after, of_drive[t])
            of_before = turned @ of_drive[t]
            if self.n_shares:
                self.memory.read_back(_split(of_before[:, size:], self.of_seen))
        return of_drive, of_rows

    def _act_back(self, t: int, of_shares: Array, of_rows: Array) -> None:
        """Put the gradient of the heads' rows of step ``t`` into ``of_rows``, and undo what it did."""
        shares, memory = self.shares[t], self.memory
        weighted = memory.shares_back(t)
        weighted += of_shares
        weighted *= shares
        _split(of_rows[:, : self.n_shares], self.of_shares)[...] = weighted - shares * total(weighted)
        of_pushed = _split(of_rows[:, self.n_shares :], self.of_pushed)
        np.multiply(memory.step_back(t), self.pushed_slopes[t], out=of_pushed)


def _memory(cells: Array, shares: Array, shape: ScanShape) -> ScanMemory:
    """Return the memory with ``cells`` before the first step, with room for all that may be written or read."""
    room = len(cells)
    if not shape.ring:
        height = room + len(shares)
        room = max(shape.depth, height if shape.limit is None else min(height, shape.limit))
    return (ScanRing if shape.ring else ScanStack)(cells, shares, room, shape.depth, shape.empty)


def _split(rows: Array, of: tuple[tuple[int, ...], tuple[int, ...]]) -> Array:
    """Return rows (N, stacks * what belongs to each, B) as memories have them: a view, which can be written to."""
    return rows.reshape(of[0]).transpose(of[1])


def _summed(rows: Array, columns: Array) -> Array:
    """Return the sum over steps and words of outer products, (N, R, C), of (T, N, R, B) and (T, N, C, B)."""
    words = rows.shape[0] * rows.shape[3]
    left, right = (part.transpose(1, 2, 0, 3).reshape(*part.shape[1:3], words) for part in (rows, columns))
    product: Array = left @ right.swapaxes(1, 2)
    return product


def _array(part: Tensor) -> Array:
    array: Array = part.detach().cpu().numpy()
    return array


def _turned(part: Tensor) -> Array:
    """Return an array with its last two axes changed, in one piece."""
    return np.ascontiguousarray(_array(part).swapaxes(-1, -2))


def _tensor(part: Array, device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(part)).to(device)
