"""Whole words through a controller with a strength stack, with gradients derived by hand.

As `scan` does for superposition stacks: step by step, autograd spends nearly all its time on keeping books, and
torch spends much on beginning operations on tiny arrays. Here both a step and its derivative are some twenty
operations of numpy. It is the same function as `NeuralStack.step`; tests hold both together.

    s_t = drive_t + R [h_t-1 ; r_t-1]        where there is no h, s_t is z_t
    z_t = W h_t + b                          h_t is what the units make of s_t
    u_t, d_t, v_t = logistic(the first of z_t); the rest are logits
    l_t = relu(L_t-1 - u_t)                  what is left after the pop
    L_t = l_t + d_t
    tops, bottoms = min(tops, l_t), min(bottoms, l_t), and for the new slot L_t and l_t
    visible = relu(tops - max(bottoms, relu(L_t - 1)));  r_t = the sum of visible times values

Arrays are turned so that words stand last, and slots, where there are any, before networks: (slots, N, ..., B).
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .scan import Activation, Array, Units, array_of, logistic, make_units


class StrengthScan(NamedTuple):
    """All steps of a run."""

    logits: Tensor  # the outputs before the softmax, (T, N, O, B)
    instructions: Tensor  # u, d and v of every step, (T, N, 2 + D, B)
    hidden: Tensor  # h after the last step, of an LSTM h and c, (N, H or 2H, B); no gradient flows into it
    bottoms: Tensor  # of the slots after the last step, (T, N, B); no gradient flows into them
    tops: Tensor  # likewise
    units: Tensor  # h after every step, (T, N, H, B), with H 0 where there is none


def strength_scan(
    drive: Tensor, recurrent: Tensor, last: tuple[Tensor, Tensor] | None, kind: Activation | None, cell_size: int
) -> StrengthScan:
    """Return a run of T steps of N networks on B words each, from empty stacks and hidden vectors of zeros.

    ``drive``: what the symbols add to s_t, biases included, (T, N, S, B). ``recurrent``: R, (N, S, H + D). ``last``: W
    (N, Z, H) and b (N, Z); None where s_t is z_t, which has no h. ``kind``: of the units, if any. ``cell_size``: D.
    """
    weight, bias = (None, None) if last is None else last
    return StrengthScan(*_Scan.apply(drive, recurrent, weight, bias, kind, cell_size))  # type: ignore[no-untyped-call]


class _Scan(torch.autograd.Function):
    """The recurrence and its derivative."""

    @staticmethod
    def forward(
        ctx: Any,
        drive: Tensor,
        recurrent: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        kind: Activation | None,
        cell_size: int,
    ) -> tuple[Tensor, ...]:
        heads = None if weight is None or bias is None else (array_of(weight), array_of(bias)[..., None])
        course = _StrengthCourse(array_of(drive), array_of(recurrent), heads, kind, cell_size)
        course.run()
        ctx.course, ctx.like = course, drive
        last = (course.state(), course.bottoms[-1], course.tops[-1])
        parts = (course.logits, course.instructions, *last, course.before[1:, :, : course.size].copy())
        made = [torch.from_numpy(part).to(drive.device) for part in parts]
        ctx.mark_non_differentiable(*made[2:5])
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, of_logits: Tensor, of_instructions: Tensor, *of: Tensor) -> tuple[Tensor | None, ...]:
        gradients = ctx.course.gradients(array_of(of_logits), array_of(of_instructions), array_of(of[-1]))
        back = [None if part is None else torch.from_numpy(part).to(ctx.like.device) for part in gradients]
        return (*back, None, None)


class _StrengthCourse:
    """All arrays of a run."""

    def __init__(
        self, drive: Array, recurrent: Array, heads: tuple[Array, Array] | None, kind: Activation | None, cell_size: int
    ) -> None:
        steps, nets, rows, batch = drive.shape
        self.drive, self.recurrent, self.heads, self.width = drive, recurrent, heads, 2 + cell_size
        self.size = recurrent.shape[-1] - cell_size
        self.units: Units | None = None
        if kind is not None:
            start = np.zeros((nets, self.size * (2 if kind == "lstm" else 1), batch))
            self.units = make_units(kind, steps, start)
        written = (rows if heads is None else heads[0].shape[1]) - self.width
        self.before = np.zeros(
            (steps + 1, nets, recurrent.shape[-1], batch)
        )  # [h ; r] before each step, and at the end
        self.instructions = np.empty((steps, nets, self.width, batch))
        self.logits = np.empty((steps, nets, written, batch))
        self.length, self.left = np.zeros((steps + 1, nets, batch)), np.empty((steps, nets, batch))
        slots = (steps, steps, nets, batch)  # after each step; a slot that is not there yet has no length
        self.bottoms, self.tops, self.visible = np.zeros(slots), np.zeros(slots), np.zeros(slots)
        self.floor = np.empty((steps, nets, batch))

    def run(self) -> None:
        """Fill all arrays, step by step."""
        for t in range(len(self.drive)):
            rows = self.recurrent @ self.before[t]
            rows += self.drive[t]
            if self.units is not None and self.heads is not None:
                hidden = self.before[t + 1, :, : self.size]
                self.units.forward(t, rows, hidden)
                rows = self.heads[0] @ hidden
                rows += self.heads[1]
            logistic(rows[:, : self.width], self.instructions[t])
            self.logits[t] = rows[:, self.width :]
            # pop, push and read at step t
            pop, push = self.instructions[t, :, 0], self.instructions[t, :, 1]
            left = np.subtract(self.length[t], pop, out=self.left[t])
            np.maximum(left, 0, out=left)
            length = np.add(left, push, out=self.length[t + 1])
            bottoms, tops, visible = (part[t, : t + 1] for part in (self.bottoms, self.tops, self.visible))
            if t:
                np.minimum(self.bottoms[t - 1, :t], left, out=bottoms[:t])
                np.minimum(self.tops[t - 1, :t], left, out=tops[:t])
            bottoms[t], tops[t] = left, length
            floor = np.subtract(length, 1, out=self.floor[t])
            np.maximum(floor, 0, out=floor)
            np.subtract(tops, np.maximum(bottoms, floor), out=visible)
            np.maximum(visible, 0, out=visible)
            seen = visible[:, :, None] * self.instructions[: t + 1, :, 2:]
            seen.sum(0, out=self.before[t + 1, :, self.size :])

    def state(self) -> Array:
        """Return the hidden vectors after the last step, of size 0 where there are none."""
        last = self.before[-1, :, : self.size]
        return last if self.units is None else self.units.state(last)

    def gradients(self, of_logits: Array, of_instructions: Array, of_units: Array) -> tuple[Array | None, ...]:
        """Return the gradients of drive, R, W and b, given those of what came out."""
        steps, nets, rows, batch = self.drive.shape
        of_rows = np.concatenate([of_instructions, of_logits], 2)  # of z
        of_sums = of_rows if self.units is None else np.empty((steps, nets, rows, batch))
        stack = _StackBack(self)
        turned = self.recurrent.swapaxes(-1, -2)
        if self.units is not None:
            self.units.begin_back(self.before[1:, :, : self.size])
        of_before = np.zeros_like(self.before[0])
        for t in reversed(range(steps)):
            stack.back(t, of_before[:, self.size :], of_rows[t, :, : self.width])
            if self.units is not None and self.heads is not None:
                of_hidden = self.heads[0].swapaxes(-1, -2) @ of_rows[t]
                of_hidden += of_before[:, : self.size]
                of_hidden += of_units[t]
                self.units.backward(t, of_hidden, of_sums[t])
            of_before = turned @ of_sums[t]
        of_recurrent = _outer_products(of_sums, self.before[:-1])
        if self.heads is None:
            return of_sums, of_recurrent, None, None
        return of_sums, of_recurrent, _outer_products(of_rows, self.before[1:, :, : self.size]), of_rows.sum((0, 3))


class _StackBack:
    """The stack's derivative, from the last step to the first. What decides which way a minimum or a relu goes is
    looked up beforehand, for all steps at once.
    """

    def __init__(self, course: _StrengthCourse) -> None:
        self.course = course
        steps = len(course.drive)
        seen = course.visible > 0
        self.seen = seen.astype(float)
        self.seen_whole = (seen & (course.bottoms > course.floor[:, None])).astype(float)  # down to its bottom
        before_tops, before_bottoms = course.tops[:-1], course.bottoms[:-1]
        self.cut_tops = (before_tops > course.left[1:, None]).astype(float)
        self.cut_bottoms = (before_bottoms > course.left[1:, None]).astype(float)
        self.some_left, self.full = (course.left > 0).astype(float), (course.length[1:] > 1).astype(float)
        self.slopes = course.instructions * (1 - course.instructions)
        self.of_readings = np.zeros((steps, *course.before[0, :, course.size :].shape))
        self.of_tops, self.of_bottoms = np.zeros_like(course.tops[0]), np.zeros_like(course.bottoms[0])
        self.of_length = np.zeros_like(course.length[0])

    def back(self, t: int, of_reading: Array, of_instructions: Array) -> None:
        """Add to the gradient of step ``t``'s instructions, through the logistic; ``of_reading`` (N, D, B) is that of
        r_t.
        """
        course = self.course
        self.of_readings[t] = of_reading
        of_visible = (course.instructions[: t + 1, :, 2:] * of_reading).sum(2)
        of_tops = of_visible * self.seen[t, : t + 1]
        of_bottoms = np.multiply(of_visible, self.seen_whole[t, : t + 1], out=of_visible)
        self.of_tops[: t + 1] += of_tops
        self.of_bottoms[: t + 1] -= of_bottoms
        of_bottoms -= of_tops
        of_length = of_bottoms.sum(0)  # of the floor
        of_length *= self.full[t]
        of_length += self.of_length
        of_length += self.of_tops[t]
        of_left = self.of_bottoms[t] + of_length
        if t:
            for of_ends, cut in ((self.of_tops[:t], self.cut_tops), (self.of_bottoms[:t], self.cut_bottoms)):
                gone = of_ends * cut[t - 1, :t]
                of_left += gone.sum(0)
                of_ends -= gone
        of_left *= self.some_left[t]
        self.of_length = of_left
        of_instructions[:, 0] -= of_left
        of_instructions[:, 1] += of_length
        of_instructions[:, 2:] += (course.visible[t:, t][:, :, None] * self.of_readings[t:]).sum(0)
        of_instructions *= self.slopes[t]


def _outer_products(rows: Array, columns: Array) -> Array:
    return (rows @ columns.swapaxes(-1, -2)).sum(0)  # type: ignore[no-any-return]
