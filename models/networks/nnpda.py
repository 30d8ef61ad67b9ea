"""The neural network pushdown automaton of Sun, Giles, Chen & Lee 1993.

A high-order recurrent controller (eqs. 5-9, 23-24) and an external continuous stack (section 3.2). The orders differ
only in the products that the weights see, so each is a feature map:

    second   S (x) (R + I)       eqs. 6, 7: state times the concatenated reading and input
    third    S (x) R (x) I       eq. 5
    full     P (x) R (x) I       eqs. 8, 9, 23, 24: P_J is the product over neurons of S_m or 1 - S_m, J in {0,1}^N_S

and  S' = g(W_s . features + theta_s),  A' = f(W_a . features + theta_a),  f(x) = 2 g(x) - 1.
A "full" network has third-order state dynamics and a linear full-order action without bias (eq. 23).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from ...core.errors import StacklensError, in_short
from ..base import ActionKind, ControllerOutput, NetworkState
from ..stacks import ContinuousStack
from .layers import PaperNetwork, check_fields, check_symbols

Order = Literal["second", "third", "full"]

_MOST_STATES, _MOST_WEIGHTS = 1_000, 50_000_000  # against typing errors and damaged files, not against ambition


@dataclass(frozen=True)
class NNPDAConfig:
    """The shape of an NNPDA."""

    alphabet: tuple[str, ...]
    order: Order = "third"  # which products the weights see
    n_states: int = 4  # number of state neurons N_S, at least 1
    end: str | None = None  # the end symbol, or None where the verdict is taken as soon as the word ends
    trap: bool = True  # whether the last state neuron is 0 for good in the trap (section 4.3)
    # whether one more reading neuron says how empty the stack is, 1 - sum(R) (section 4.3). Without it an empty stack
    # zeroes every product of the third and full orders.
    empty_reading: bool = True

    def __post_init__(self) -> None:
        check_fields(self)
        if self.n_states < 1 or not self.alphabet:
            raise StacklensError(f"an NNPDA needs symbols and states, not {self.alphabet} and {self.n_states!r}")
        letters = self.alphabet if self.end is None else (*self.alphabet, self.end)
        check_symbols("the alphabet with the end symbol", letters)
        # the number of states first: 2**n_states of a claimed 10**12 would fill the memory by itself
        few = self.n_states <= _MOST_STATES
        products = few and (2**self.n_states if self.order == "full" else self.n_states**2)
        if not few or products * (len(self.alphabet) + 2) ** 2 > _MOST_WEIGHTS:
            raise StacklensError(
                f"an NNPDA of order {self.order} with {in_short(self.n_states)} state neurons is too large; at most "
                f"{_MOST_STATES:,} and {_MOST_WEIGHTS:,} weights"
            )


class NNPDA(PaperNetwork[ContinuousStack]):
    """An NNPDA, or ``nets`` of them on a leading axis. The weights start uniform in [-init, init] from ``seed``; net n
    of many equals the single one of ``seed + n``.

    >>> net = NNPDA(NNPDAConfig(("a", "b", "c")), seed=1)
    >>> step = net.step(torch.tensor([0]), net.initial_state(1))
    >>> step.hidden.shape, step.actions.shape, step.reading.shape
    (torch.Size([1, 4]), torch.Size([1, 1, 1]), torch.Size([1, 1, 3]))
    """

    shape: NNPDAConfig
    name: ClassVar[str] = "nnpda"
    action_kind: ActionKind = "signed"
    pushes_input = True
    state_weights: nn.Parameter
    state_bias: nn.Parameter
    action_weights: nn.Parameter
    action_bias: nn.Parameter

    def __init__(self, shape: NNPDAConfig, *, seed: int = 0, init: float = 0.1, nets: int | None = None) -> None:
        super().__init__(shape, nets)
        self.cell_size, self.n_hidden = self.n_symbols, shape.n_states
        self.state_order: Order = "third" if shape.order == "full" else shape.order
        self.draw_weights(init, seed, nets)

    @classmethod
    def parameter_shapes(cls, shape: NNPDAConfig) -> dict[str, tuple[int, ...]]:
        n_symbols, n_states = len(shape.alphabet) + (shape.end is not None), shape.n_states
        n_reading = n_symbols + shape.empty_reading
        third = n_states * n_reading * n_symbols
        of_state = n_states * (n_reading + n_symbols) if shape.order == "second" else third
        of_action = 2**n_states * n_reading * n_symbols if shape.order == "full" else of_state
        shapes = {"state_weights": (n_states, of_state), "action_weights": (1, of_action), "state_bias": (n_states,)}
        return shapes if shape.order == "full" else {**shapes, "action_bias": (1,)}  # eq. 23 has none

    def initial_state(self, batch: int) -> NetworkState[ContinuousStack]:
        """Return state neurons (1, 0, ..., 0) and an empty stack (section 4.1)."""
        state = super().initial_state(batch)
        state.hidden[..., 0] = 1
        return state

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return S', A', and the input symbol as what a push lays down; the output is S' itself."""
        symbol = nn.functional.one_hot(symbols, self.n_symbols).to(hidden.dtype)
        seen = reading[..., 0, :]
        if self.shape.empty_reading:
            seen = torch.cat([seen, 1 - seen.sum(-1, keepdim=True)], -1)
        products = features(self.state_order, hidden, seen, symbol)
        after = torch.sigmoid(products @ self.state_weights.mT + self.state_bias.unsqueeze(-2))
        if self.shape.order == "full":
            action = features("full", hidden, seen, symbol) @ self.action_weights.mT
        else:
            drive = products @ self.action_weights.mT + self.action_bias.unsqueeze(-2)
            action = 2 * torch.sigmoid(drive) - 1
        return ControllerOutput(after, action.unsqueeze(-2), symbol.unsqueeze(-2), after)

    def course(self, symbols: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return S_last, L and U, what a step popped from an empty stack, after each of ``symbols``: (..., B, T)."""
        state = self.initial_state(len(symbols))
        columns: list[tuple[Tensor, Tensor, Tensor]] = []
        for column in symbols.unbind(1):
            before = state.stack.length
            step = self.step(column, state)
            state = step.state
            underflow = torch.relu(-(before + step.actions[..., 0, 0]))
            columns.append((step.hidden[..., -1], state.stack.length, underflow))
        last, length, underflow = (torch.stack(series, -1) for series in zip(*columns, strict=True))
        return last, length, underflow

    def stack_of(self, cells: Tensor) -> ContinuousStack:
        return ContinuousStack.of_cells(cells)

    def rejects(self, hidden: Tensor, stack: ContinuousStack) -> Tensor:
        """Return where the word is illegal whatever follows. More than half a symbol was popped from an empty stack
        (sections 3.5 and 4.1), or the last state neuron says "trap": the paper's monitor, which section 4.3 (7)
        recommends in recognition as well as in training.
        """
        popped_empty = stack.underflow > 0.5
        return popped_empty | (hidden[..., -1] <= 0.5) if self.shape.trap else popped_empty

    def decide(self, state: NetworkState[ContinuousStack]) -> Tensor:
        """Return S_last > 0.5 and L <= 0.5 with a trap state (section 4.3), else S_last - L > 0.5 (section 3.4)."""
        last, length = state.hidden[..., -1], state.stack.length
        if self.shape.trap:
            return (last > 0.5) & (length <= 0.5)
        return last - length > 0.5

    @torch.no_grad()
    def project(self) -> None:
        """Truncate the weights of a linear action to [-1, 1], which keeps |A| <= 1 (below eq. 25)."""
        if self.shape.order == "full":
            self.action_weights.clamp_(-1, 1)


def features(order: Order, hidden: Tensor, reading: Tensor, symbol: Tensor) -> Tensor:
    """Return the products that the weights of ``order`` see, (..., B, F). ``hidden`` (..., B, N_S), ``reading`` (...,
    B, N_R) and ``symbol`` (B, N_I), one-hot.
    """
    symbol = symbol.expand(*reading.shape[:-1], symbol.shape[-1])
    if order == "second":
        return _outer(hidden, torch.cat([reading, symbol], -1))
    states = _binary_products(hidden) if order == "full" else hidden
    return _outer(states, _outer(reading, symbol))


def _outer(left: Tensor, right: Tensor) -> Tensor:
    return (left.unsqueeze(-1) * right.unsqueeze(-2)).flatten(-2)


def _binary_products(hidden: Tensor) -> Tensor:
    """Return P_J for all J, (..., B, 2^N_S), neuron 1 as the most significant bit of J - 1 (eq. 24)."""
    products = torch.ones_like(hidden[..., :1])
    for neuron in hidden.unbind(-1):
        products = _outer(products, torch.stack([1 - neuron, neuron], -1))
    return products


# ---- Real-time recurrent learning, as Sun et al. 1993 train the network: derivatives go forward with the run.
# The stack's derivative is approximated as in the paper: the reading answers to the last action only.


@dataclass(frozen=True)
class LocalStack(ContinuousStack):
    """A continuous stack whose reading has the derivative of eq. 20; its length has its own (eq. 18)."""

    action: Tensor  # the last action, (..., B); 0 before the first

    def reading(self) -> Tensor:
        seen = super().reading().detach()
        if not torch.is_grad_enabled():
            return seen
        change = (self.action - self.action.detach()).unsqueeze(-1) * window_slopes(self)
        return seen + change.unsqueeze(-2)

    def next(self, actions: Tensor, pushed: Tensor) -> LocalStack:
        return replace(super().next(actions, pushed), action=actions[..., 0, 0])


class LocalNNPDA(NNPDA):
    """An NNPDA on such a stack: it runs as the network does, and back-propagation gives the paper's gradient."""

    def initial_state(self, batch: int) -> NetworkState[Any]:
        state = super().initial_state(batch)
        return NetworkState(state.hidden, LocalStack(**vars(state.stack), action=state.stack.length), state.rejected)


@torch.no_grad()
def window_slopes(stack: ContinuousStack) -> Tensor:
    """Return delta_r1 - delta_r2 of the top and the bottom symbol of each reading, (..., B, D), by eq. 20. Where less
    than 1 is on the stack there is no r2, and nothing at all where it is empty.
    """
    slots = stack.tops.shape[-1]
    if not slots:
        return torch.zeros(*stack.length.shape, stack.values.shape[-1], dtype=stack.values.dtype)
    floor = torch.relu(stack.length - 1).unsqueeze(-1)
    visible = (stack.tops > torch.maximum(stack.bottoms, floor)).to(torch.uint8)
    ends = slots - 1 - visible.flip(-1).argmax(-1), visible.argmax(-1)  # the highest and the lowest
    first, last = (stack.values.take_along_dim(slot[..., None, None], -2).squeeze(-2) for slot in ends)
    some, full = visible.amax(-1, keepdim=True) > 0, (stack.length >= 1).unsqueeze(-1)
    return first * some - last * (some & full)


class RtrlNNPDA(NNPDA):
    """An NNPDA whose course has the paper's derivatives, carried forward."""

    def course(self, symbols: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return _RtrlCourse.apply(self, symbols, *self.parameters())  # type: ignore[no-untyped-call, no-any-return]


class _RtrlCourse(torch.autograd.Function):
    """A run, and its derivative by running once more: nothing is stored in between."""

    @staticmethod
    def forward(ctx: Any, net: NNPDA, symbols: Tensor, *parameters: Tensor) -> tuple[Tensor, ...]:
        del parameters  # named, so that their gradients are asked for
        ctx.net, ctx.symbols = net, symbols
        return NNPDA.course(net, symbols)

    @staticmethod
    def backward(ctx: Any, *of_columns: Tensor) -> tuple[Tensor | None, ...]:
        net: NNPDA = ctx.net
        total: Any = 0.0
        for t, (of_hidden, of_length, of_underflow) in enumerate(_sensitivities(net, ctx.symbols)):
            for of_column, part in zip(of_columns, (of_hidden[..., -1, :], of_length, of_underflow), strict=True):
                total = total + (of_column[..., t].unsqueeze(-1) * part).sum(-2)
        sizes = [value.numel() // max(1, total.shape[:-1].numel()) for value in net.parameters()]
        shares = torch.split(total, sizes, -1)
        gradients = [part.view_as(value) for part, value in zip(shares, net.parameters(), strict=True)]
        return None, None, *gradients


@torch.no_grad()
def _sensitivities(net: NNPDA, symbols: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield the derivatives after every step by all P weights, in the order of `named_parameters`: of S, (..., B, N_S,
    P), of L and of U, what the step popped from an empty stack, (..., B, P) each.
    """
    state = net.initial_state(len(symbols))
    n_weights = sum(value.numel() for value in net.parameters()) // max(1, state.hidden.shape[:-2].numel())
    of_action = of_length = state.hidden.new_zeros(*state.hidden.shape[:-1], n_weights)
    of_hidden = of_action.unsqueeze(-2).expand(*state.hidden.shape, n_weights)
    for column in symbols.unbind(1):
        step = net.step(column, state)
        reading, slopes = step.reading[..., 0, :], window_slopes(state.stack)
        symbol = torch.nn.functional.one_hot(column, net.n_symbols).to(reading.dtype).expand_as(reading)
        if net.shape.empty_reading:
            slopes = torch.cat([slopes, -slopes.sum(-1, keepdim=True)], -1)
            reading = torch.cat([reading, 1 - reading.sum(-1, keepdim=True)], -1)
        of_reading = slopes.unsqueeze(-1) * of_action.unsqueeze(-2)  # (..., B, N_R, P)
        of_drives = []
        for head, order in (("state", net.state_order), ("action", net.shape.order)):
            by_state, by_reading = _jacobians(net, head, order, state.hidden, reading, symbol)
            of_drive = by_state @ of_hidden + by_reading @ of_reading
            of_drives.append(_with_direct(net, head, features(order, state.hidden, reading, symbol), of_drive))
        of_hidden = of_drives[0] * (step.hidden * (1 - step.hidden)).unsqueeze(-1)
        of_action = of_drives[1][..., 0, :]
        if net.shape.order != "full":  # f' = (1 - f^2) / 2
            of_action = of_action * ((1 - step.actions[..., 0, :].square()) / 2)
        raw, of_raw = state.stack.length + step.actions[..., 0, 0], of_length + of_action  # of L + A
        of_length = of_raw * (raw > 0).unsqueeze(-1)
        yield of_hidden, of_length, -of_raw * (raw < 0).unsqueeze(-1)
        state = step.state


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
    states = hidden if order == "third" else _binary_products(hidden)
    by_states = torch.einsum("...brjk,...bk->...brj", known, reading)
    by_reading = torch.einsum("...brjk,...bj->...brk", known, states)
    if order == "third":
        return by_states, by_reading
    # dP_J / dS_m (B-5), (..., B, 2^N_S, N_S): P is linear in each neuron
    slopes = []
    for neuron in range(hidden.shape[-1]):
        ones, zeros = (hidden.clone() for _ in range(2))
        ones[..., neuron], zeros[..., neuron] = 1, 0
        slopes.append(_binary_products(ones) - _binary_products(zeros))
    return by_states @ torch.stack(slopes, -1), by_reading


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
