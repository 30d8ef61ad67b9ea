"""Real-time recurrent learning for the NNPDA, as Sun et al. 1993 train it: derivatives go forward with the run.

The stack's derivative is approximated as in the paper: the reading answers to the last action only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..base import NetworkState, Step
from ..networks.nnpda import NNPDA, Order, features
from ..stacks.continuous import ContinuousStack


@dataclass(frozen=True)
class LocalStack(ContinuousStack):
    """A continuous stack whose reading has the derivative of eq. 20; its length has its own (eq. 18).

    Attributes:
        action: the last action, (..., B); 0 before the first.
    """

    action: Tensor

    @classmethod
    def around(cls, stack: ContinuousStack, action: Tensor) -> LocalStack:
        """Return ``stack`` after ``action`` (..., B)."""
        return cls(stack.bottoms, stack.tops, stack.values, stack.length, stack.underflow, action)

    def reading(self) -> Tensor:
        """Return the same values as the exact stack's, (..., B, 1, D)."""
        seen = super().reading().detach()
        if not torch.is_grad_enabled():
            return seen
        change = (self.action - self.action.detach()).unsqueeze(-1) * window_slopes(self)
        return seen + change.unsqueeze(-2)

    def next(self, actions: Tensor, pushed: Tensor) -> LocalStack:
        """Return the stacks after ``actions`` (..., B, 1, 1); see `ContinuousStack.next`."""
        return self.around(super().next(actions, pushed), actions[..., 0, 0])


class LocalNNPDA(NNPDA):
    """An NNPDA on such a stack: it runs as the network does, and back-propagation gives the paper's gradient."""

    def initial_state(self, batch: int) -> NetworkState[Any]:
        """Return state neurons (1, 0, ..., 0) and an empty stack."""
        state = super().initial_state(batch)
        return NetworkState(state.hidden, LocalStack.around(state.stack, state.stack.length), state.rejected)


@torch.no_grad()
def window_slopes(stack: ContinuousStack) -> Tensor:
    """Return delta_r1 - delta_r2 of the top and the bottom symbol of each reading, (..., B, D), by eq. 20.

    Where less than 1 is on the stack there is no r2, and nothing at all where it is empty.
    """
    slots = stack.tops.shape[-1]
    if not slots:
        return torch.zeros(*stack.length.shape, stack.values.shape[-1], dtype=stack.values.dtype)
    floor = torch.relu(stack.length - 1).unsqueeze(-1)
    visible = stack.tops > torch.maximum(stack.bottoms, floor)
    place = torch.arange(slots, device=visible.device)
    top = torch.where(visible, place, -1).amax(-1)
    bottom = torch.where(visible, place, slots).amin(-1)
    some, full = (top >= 0).unsqueeze(-1), (stack.length >= 1).unsqueeze(-1)
    return _values_at(stack, top.clamp(min=0)) * some - _values_at(stack, bottom.clamp(max=slots - 1)) * (some & full)


def _values_at(stack: ContinuousStack, slot: Tensor) -> Tensor:
    index = slot[..., None, None].expand(*slot.shape, 1, stack.values.shape[-1])
    return stack.values.gather(-2, index).squeeze(-2)


@dataclass(frozen=True)
class Sensitivities:
    """The derivatives after a step by all P weights, in the order of `NNPDA.named_parameters`.

    Attributes:
        hidden: of S, (..., B, N_S, P).
        action: of A, (..., B, P).
        length: of L, (..., B, P).
        underflow: of U, what the step popped from an empty stack, (..., B, P).
    """

    hidden: Tensor
    action: Tensor
    length: Tensor
    underflow: Tensor


class RtrlNNPDA(NNPDA):
    """An NNPDA of which `objectives.roll_out` gives a course with the paper's derivatives, carried forward."""

    def course(self, symbols: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return S_last, L and U after each of ``symbols`` (B, T), (..., B, T) each."""
        return _Course.apply(self, symbols, *self.parameters())  # type: ignore[no-untyped-call, no-any-return]


class _Course(torch.autograd.Function):
    """A run, and its derivative by running once more: nothing is stored in between."""

    @staticmethod
    def forward(ctx: Any, net: NNPDA, symbols: Tensor, *parameters: Tensor) -> tuple[Tensor, ...]:
        del parameters  # named, so that their gradients are asked for
        ctx.net, ctx.symbols = net, symbols
        columns = [course for course, _ in _steps_with_derivatives(net, symbols, carry=False)]
        return tuple(torch.stack(series, -1) for series in zip(*columns, strict=True))

    @staticmethod
    def backward(ctx: Any, *of_columns: Tensor) -> tuple[Tensor | None, ...]:
        net: NNPDA = ctx.net
        total = None
        for t, (_, carried) in enumerate(_steps_with_derivatives(net, ctx.symbols, carry=True)):
            assert carried is not None
            parts = (carried.hidden[..., -1, :], carried.length, carried.underflow)
            for of_column, part in zip(of_columns, parts, strict=True):
                added = (of_column[..., t].unsqueeze(-1) * part).sum(-2)
                total = added if total is None else total + added
        assert total is not None
        sizes = [value.numel() // max(1, total.shape[:-1].numel()) for value in net.parameters()]
        shares = torch.split(total, sizes, -1)
        gradients = [part.view_as(value) for part, value in zip(shares, net.parameters(), strict=True)]
        return None, None, *gradients


@torch.no_grad()
def _steps_with_derivatives(
    net: NNPDA, symbols: Tensor, carry: bool
) -> Iterator[tuple[tuple[Tensor, ...], Sensitivities | None]]:
    """Yield (S_last, L, U) after every step, and the derivatives if they are to be carried."""
    state = net.initial_state(len(symbols))
    carried = None
    if carry:
        n_weights = sum(value.numel() for value in net.parameters()) // max(1, state.hidden.shape[:-2].numel())
        none = state.hidden.new_zeros(*state.hidden.shape[:-1], n_weights)
        carried = Sensitivities(none.unsqueeze(-2).expand(*state.hidden.shape, n_weights), none, none, none)
    for column in symbols.unbind(1):
        step = net.step(column, state)
        raw = state.stack.length + step.actions[..., 0, 0]
        if carried is not None:
            carried = _carried(net, column, state, step, raw, carried)
        state = step.state
        yield (step.hidden[..., -1], state.stack.length, torch.relu(-raw)), carried


def _carried(
    net: NNPDA, symbols: Tensor, before: NetworkState[Any], step: Step[Any], raw: Tensor, past: Sensitivities
) -> Sensitivities:
    """Return the derivatives after a ``step`` on ``symbols`` from ``before``.

    ``raw`` (..., B) is L + A, below 0 where the step pops more than there is.
    """
    hidden, reading, slopes = before.hidden, step.reading[..., 0, :], window_slopes(before.stack)
    symbol = torch.nn.functional.one_hot(symbols, net.n_symbols).to(hidden.dtype).expand_as(reading)
    if net.shape.empty_reading:
        slopes = torch.cat([slopes, -slopes.sum(-1, keepdim=True)], -1)
        reading = torch.cat([reading, 1 - reading.sum(-1, keepdim=True)], -1)
    of_reading = slopes.unsqueeze(-1) * past.action.unsqueeze(-2)  # (..., B, N_R, P)
    of_drives = []
    for head, order in (("state", net.state_order), ("action", net.shape.order)):
        by_state, by_reading = _jacobians(net, head, order, hidden, reading, symbol)
        of_drive = by_state @ past.hidden + by_reading @ of_reading
        of_drives.append(_with_direct(net, head, features(order, hidden, reading, symbol), of_drive))
    of_hidden = of_drives[0] * (step.hidden * (1 - step.hidden)).unsqueeze(-1)
    of_action = of_drives[1][..., 0, :]
    if net.shape.order != "full":  # f' = (1 - f^2) / 2
        of_action = of_action * ((1 - step.actions[..., 0, :].square()) / 2)
    of_raw = past.length + of_action
    above, below = ((raw > 0).unsqueeze(-1), (raw < 0).unsqueeze(-1))
    return Sensitivities(of_hidden, of_action, of_raw * above, -of_raw * below)


def _jacobians(
    net: NNPDA, head: str, order: Order, hidden: Tensor, reading: Tensor, symbol: Tensor
) -> tuple[Tensor, Tensor]:
    """Return dz/dS (..., B, rows, N_S) and dz/dR (..., B, rows, N_R) of what goes into S' or A'."""
    weights = net.get_parameter(f"{head}_weights")
    n_reading, n_symbols = reading.shape[-1], symbol.shape[-1]
    if order == "second":
        table = weights.view(*weights.shape[:-1], -1, n_reading + n_symbols)
        seen = torch.cat([reading, symbol], -1)
        by_state = torch.einsum("...rjk,...bk->...brj", table, seen)
        return by_state, torch.einsum("...rjk,...bj->...brk", table, hidden)[..., :n_reading]
    table = weights.view(*weights.shape[:-1], -1, n_reading, n_symbols)
    known = torch.einsum("...rjkl,...bl->...brjk", table, symbol)
    states = hidden if order == "third" else _products(hidden)
    by_states = torch.einsum("...brjk,...bk->...brj", known, reading)
    by_reading = torch.einsum("...brjk,...bj->...brk", known, states)
    return (by_states if order == "third" else by_states @ _product_slopes(hidden)), by_reading


def _products(hidden: Tensor) -> Tensor:
    one = torch.ones_like(hidden[..., :1])
    return features("full", hidden, one, one)


def _product_slopes(hidden: Tensor) -> Tensor:
    """Return dP_J / dS_m, (..., B, 2^N_S, N_S): the other neurons' product with the sign of this one (B-5)."""
    slopes = []
    for neuron in range(hidden.shape[-1]):
        ones, zeros = (hidden.clone() for _ in range(2))
        ones[..., neuron], zeros[..., neuron] = 1, 0
        slopes.append(_products(ones) - _products(zeros))  # P is linear in each neuron
    return torch.stack(slopes, -1)


def _with_direct(net: NNPDA, head: str, products: Tensor, drive: Tensor) -> Tensor:
    """Return ``drive`` (..., B, rows, P) with dz/dW by the head's own weights added: its products, and 1 by a bias."""
    rows, place = drive.shape[-2], 0
    for name, value in net.named_parameters():
        size = value.numel() // max(1, drive.shape[:-3].numel())
        if name.startswith(head):
            width = size // rows
            own = products if name.endswith("weights") else torch.ones_like(products[..., :1])
            for row in range(rows):
                drive[..., row, place + row * width : place + (row + 1) * width] += own
        place += size
    return drive
