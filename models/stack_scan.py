"""Whole words through a controller with superposition stacks, with gradients derived by hand.

Step by step, autograd spends nearly all its time on keeping books: arrays are tiny, and a step has thirty operations.
Here a step has ten, and its derivative fifteen, which makes training several times as fast. It is the same function as
`StackModel.step` of the models that use it, whose sums it only orders otherwise; tests hold both together.

    z_t = [h_t-1, the depth topmost cells of every stack]
    h_t = f(drive_t + R z_t)          f is tanh (Suzgun et al. 2019) or the logistic function (Joulin & Mikolov 2015)
    shares_t = softmax(A h_t + a)     of push, pop and, where there is a third, no-op; one softmax a stack
    pushed_t = logistic(N h_t + n)
    cells_t = push [pushed_t, cells_t-1] + pop [cells_t-1 without the top] + none cells_t-1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

__all__ = ["Scan", "ScanShape", "ScanWeights", "looked_up", "scan"]


@dataclass(frozen=True)
class ScanShape:
    """What is the same at every step.

    Attributes:
        activation: f.
        operations: shares a stack, 2 or 3.
        depth: how many cells of each stack are read.
        empty: what a cell holds that was never written.
        limit: how many cells a stack has; None for no limit.
    """

    activation: Literal["tanh", "sigmoid"]
    operations: int
    depth: int
    empty: float
    limit: int | None


class Scan(NamedTuple):
    """All steps of a run.

    Attributes:
        hidden: h_1 to h_T, (T, N, B, H).
        shares: of the operations, (T, N, B, stacks, operations).
        cells: of the stacks after the last step, (N, B, stacks, C, D); no gradient flows into it.
    """

    hidden: Tensor
    shares: Tensor
    cells: Tensor


class ScanWeights(NamedTuple):
    """The weights of N networks; the axis of networks may be missing everywhere."""

    recurrent: Tensor  # R, (N, H, H + stacks * depth * D)
    heads: Tensor  # A of all stacks one below the other, and N likewise, (N, stacks * (operations + D), H)
    bias: Tensor  # a and n, (N, stacks * (operations + D))


def scan(drive: Tensor, weights: ScanWeights, hidden: Tensor, cells: Tensor, shape: ScanShape) -> Scan:
    """Return a run of T steps of N networks on B words each; the axis of networks may be missing everywhere.

    Gradients flow into ``drive`` and ``weights`` only.

    Args:
        drive: what the symbols add, (T, N, B, H).
        weights: those of every step.
        hidden: h_0, (N, B, H).
        cells: the stacks before the first step, (N, B, stacks, C, D).
        shape: what is the same at every step.
    """
    if drive.dim() == 3:
        recurrent, heads, bias = (part.unsqueeze(0) for part in weights)
        lone = ScanWeights(recurrent, heads, bias)
        made = scan(drive.unsqueeze(1), lone, hidden.unsqueeze(0), cells.unsqueeze(0), shape)
        return Scan(made.hidden.squeeze(1), made.shares.squeeze(1), made.cells.squeeze(0))
    bias = weights.bias.unsqueeze(-2)
    return Scan(*_Scan.apply(drive, weights.recurrent, weights.heads, bias, hidden, cells, shape))  # type: ignore[no-untyped-call]


def looked_up(weights: Tensor, symbols: Tensor) -> Tensor:
    """Return the rows of ``weights`` (..., K, H) that ``symbols`` (T, B) choose, (T, ..., B, H).

    As a product with ones and zeros, whose derivative is a product again: that of indexing adds row by row.
    """
    chosen = torch.nn.functional.one_hot(symbols.flatten(), weights.shape[-2]).to(weights)
    rows = chosen @ weights
    return rows.view(*rows.shape[:-2], *symbols.shape, -1).movedim(-3, 0)


class _Scan(torch.autograd.Function):
    """The recurrence and its derivative.

    A column holds what a step's operations choose from: the pushed value, the cells before the step, an empty cell.
    New cell i is push * column[i] + none * column[i + 1] + pop * column[i + 2].

    Views are made once for all steps: making them at every step would take longer than the arithmetic.
    """

    @staticmethod
    def forward(
        ctx: Any,
        drive: Tensor,
        recurrent: Tensor,
        heads: Tensor,
        bias: Tensor,
        hidden: Tensor,
        cells: Tensor,
        shape: ScanShape,
    ) -> tuple[Tensor, Tensor, Tensor]:
        steps, nets, batch, size = drive.shape
        n_stacks, width = cells.shape[2], cells.shape[4]
        before = drive.new_empty(steps + 1, nets, batch, recurrent.shape[-1])  # z
        columns = drive.new_full((steps + 1, nets, batch, n_stacks, _room(cells, steps, shape) + 2, width), shape.empty)
        shares = drive.new_empty(steps, nets, batch, n_stacks, shape.operations)
        before[0, ..., :size], columns[0, ..., 1 : cells.shape[3] + 1, :] = hidden, cells
        activate = torch.tanh if shape.activation == "tanh" else torch.sigmoid
        n_shares = n_stacks * shape.operations
        turned, turned_heads = recurrent.mT, heads.mT
        afters = before[1:, ..., :size].unbind()
        seen = before[..., size:].view(steps + 1, nets, batch, n_stacks, shape.depth, width).unbind()
        tops, pushed = columns[..., 1 : shape.depth + 1, :].unbind(), columns[..., :1, :].unbind()
        new, parts, zs = columns[..., 1:-1, :].unbind(), shares.unbind(), before.unbind()
        choices = [part.unbind() for part in _choices(columns, shape)]
        weights = [part.unbind() for part in shares[..., None, None].unbind(4)]
        for t, now in enumerate(drive.unbind()):
            seen[t].copy_(tops[t])
            after = torch.baddbmm(now, zs[t], turned)
            activate(after, out=after)
            afters[t].copy_(after)
            rows = torch.baddbmm(bias, after, turned_heads)
            torch.softmax(rows[..., :n_shares].view(parts[t].shape), -1, out=parts[t])
            torch.sigmoid(rows[..., n_shares:].view(pushed[t].shape), out=pushed[t])
            torch.mul(choices[0][t], weights[0][t], out=new[t + 1])
            for choice, weight in zip(choices[1:], weights[1:], strict=True):
                new[t + 1].addcmul_(choice[t], weight[t])
        ctx.save_for_backward(recurrent, heads, before, columns, shares)
        ctx.shape = shape
        height = min(cells.shape[3] + steps, new[0].shape[-2])
        last = new[steps][..., :height, :].clone()
        ctx.mark_non_differentiable(last)
        return before[1:, ..., :size].clone(), shares.clone(), last

    @staticmethod
    def backward(ctx: Any, of_hidden: Tensor, of_shares: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        recurrent, heads, before, columns, shares = ctx.saved_tensors
        shape: ScanShape = ctx.shape
        steps, nets, batch, size = of_hidden.shape
        n_stacks, width = columns.shape[3], columns.shape[5]
        hidden, pushed = before[1:, ..., :size], columns[:steps, ..., :1, :]
        slopes = (1 - hidden.square() if shape.activation == "tanh" else hidden * (1 - hidden)).unbind()
        pushed_slopes = (pushed * (1 - pushed)).unbind()
        of_drive = torch.empty_like(of_hidden)
        of_rows = of_hidden.new_empty(steps, nets, batch, heads.shape[1])
        row_shares = of_rows[..., : n_stacks * shape.operations].view(shares.shape).unbind()
        row_pushed = of_rows[..., n_stacks * shape.operations :].view(pushed.shape).unbind()
        of_drives, rows, of_afters, of_parts = (
            of_drive.unbind(),
            of_rows.unbind(),
            of_hidden.unbind(),
            of_shares.unbind(),
        )
        choices = [part.unbind() for part in _choices(columns, shape)]
        parts, weights = shares.unbind(), [part.unbind() for part in shares[..., None, None].unbind(4)]
        of_column, of_before = torch.zeros_like(columns[0]), torch.zeros_like(before[0])  # after the last step: nothing
        for t in reversed(range(steps)):
            of_new = of_column[..., 1:-1, :]
            products = [(of_new * choice[t]).sum((-2, -1)) for choice in choices]
            weighted = (torch.stack(products, -1) + of_parts[t]).mul_(parts[t])
            torch.addcmul(weighted, parts[t], weighted.sum(-1, keepdim=True), value=-1, out=row_shares[t])
            of_column = torch.zeros_like(of_column)
            for there, weight in zip(_choices(of_column, shape), weights, strict=True):
                there.addcmul_(of_new, weight[t])
            torch.mul(of_column[..., :1, :], pushed_slopes[t], out=row_pushed[t])
            of_after = torch.baddbmm(of_afters[t], rows[t], heads)
            of_after += of_before[..., :size]
            torch.mul(of_after, slopes[t], out=of_drives[t])
            of_before = of_drives[t] @ recurrent
            of_column[..., 1 : shape.depth + 1, :] += of_before[..., size:].view(*weights[0][t].shape[:3], -1, width)
        of_recurrent = _summed(of_drive, before[:steps])
        return of_drive, of_recurrent, _summed(of_rows, hidden), of_rows.sum((0, 2)).unsqueeze(1), None, None, None


def _room(cells: Tensor, steps: int, shape: ScanShape) -> int:
    """Return how many cells a column has room for: all that may be written or read."""
    height = cells.shape[3] + steps
    return max(shape.depth, height if shape.limit is None else min(height, shape.limit))


def _choices(columns: Tensor, shape: ScanShape) -> list[Tensor]:
    """Return what push, pop and no-op choose for every new cell from ``columns`` (..., C + 2, D), (..., C, D) each."""
    room = columns.shape[-2] - 2
    return [columns.narrow(-2, place, room) for place in (0, 2, 1)[: shape.operations]]


def _summed(rows: Tensor, columns: Tensor) -> Tensor:
    """Return the sum over steps and words of outer products, (N, R, C), of (T, N, B, R) and (T, N, B, C)."""
    left, right = (part.transpose(0, 1).flatten(1, 2) for part in (rows, columns))
    return left.mT @ right
