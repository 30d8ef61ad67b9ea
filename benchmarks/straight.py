"""The models' equations as straight-line torch functions over a batch, the yardstick for what the interface costs.

Each takes a network's parameters and symbols (T, B), and returns the outputs of all steps, (T, B, O). Memories are
written as one would where the number of steps is known: the stacks of the NNPDA and the Neural Stack grow by a slot a
step as their equations ask, those of cells are fixed arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["STRAIGHT"]

Forward = Callable[[Any, Tensor], Tensor]


def nnpda(net: Any, symbols: Tensor) -> Tensor:
    """Third order with the reading neuron for "empty" (Sun et al. 1993, eq. 5)."""
    n, batch = net.shape.n_states, symbols.shape[1]
    hidden = torch.zeros(batch, n, dtype=torch.float64)
    hidden[:, 0] = 1
    bottoms = tops = torch.zeros(batch, 0, dtype=torch.float64)
    values = torch.zeros(batch, 0, net.n_symbols, dtype=torch.float64)
    length = underflow = torch.zeros(batch, dtype=torch.float64)
    rejected = torch.zeros(batch, dtype=torch.bool)
    outputs = []
    for x in functional.one_hot(symbols, net.n_symbols).double():
        visible = torch.relu(tops - torch.maximum(bottoms, torch.relu(length - 1)[:, None]))
        reading = (visible[:, :, None] * values).sum(1)
        seen = torch.cat([reading, 1 - reading.sum(1, keepdim=True)], 1)
        products = (hidden[:, :, None] * (seen[:, :, None] * x[:, None]).flatten(1)[:, None]).flatten(1)
        hidden = torch.sigmoid(products @ net.state_weights.T + net.state_bias)
        action = 2 * torch.sigmoid(products @ net.action_weights.T + net.action_bias)[:, 0] - 1
        raw = length + action
        after = torch.relu(raw)
        bottoms = torch.cat([torch.minimum(bottoms, after[:, None]), torch.minimum(length, after)[:, None]], 1)
        tops = torch.cat([torch.minimum(tops, after[:, None]), after[:, None]], 1)
        values = torch.cat([values, x[:, None]], 1)
        length, underflow = after, torch.maximum(underflow, torch.relu(-raw))
        rejected = rejected | (underflow > 0.5) | (hidden[:, -1] <= 0.5)
        outputs.append(hidden)
    return torch.stack(outputs)


def stack_rnn(net: Any, symbols: Tensor) -> Tensor:
    """Joulin & Mikolov 2015, eqs. 2-6, no recurrence, no no-op."""
    steps, batch = symbols.shape
    n, depth = net.n_stacks, net.depth
    cells = torch.full((batch, n, min(net.stack_limit or steps, steps) + depth), -1.0, dtype=torch.float64)
    bottom = torch.full((batch, n, 1), -1.0, dtype=torch.float64)
    outputs = []
    for x in symbols:
        top = cells[:, :, :depth].flatten(1)
        hidden = torch.sigmoid(net.input_weights[x] + top @ net.memory_weights.T)
        actions = torch.softmax((hidden @ net.action_weights.T).view(batch, n, 2), -1)
        pushed = torch.sigmoid(hidden @ net.pushed_weights.T)[:, :, None]
        up, down = torch.cat([pushed, cells[:, :, :-1]], 2), torch.cat([cells[:, :, 1:], bottom], 2)
        cells = actions[:, :, :1] * up + actions[:, :, 1:] * down
        outputs.append(torch.softmax(hidden @ net.output_weights.T, -1))
    return torch.stack(outputs)


def marnn_stack(net: Any, symbols: Tensor) -> Tensor:
    """Suzgun et al. 2019, sections 3.1 and 3.2."""
    steps, batch = symbols.shape
    size = net.shape.hidden
    hidden = cell = torch.zeros(batch, size, dtype=torch.float64)
    cells = torch.zeros(batch, min(net.stack_limit or steps, steps) + 1, net.cell_size, dtype=torch.float64)
    nothing = torch.zeros(batch, 1, net.cell_size, dtype=torch.float64)
    allowed = torch.tensor([net.first is None or symbol in net.first for symbol in net.alphabet])
    rejected, outputs = torch.zeros(batch, dtype=torch.bool), list[Tensor]()
    for x in symbols:
        hidden, cell, action, pushed, output = _marnn(net, x, hidden, cell, cells[:, 0])
        up, down = torch.cat([pushed[:, None], cells[:, :-1]], 1), torch.cat([cells[:, 1:], nothing], 1)
        cells = action[:, :1, None] * up + action[:, 1:, None] * down
        rejected = rejected | (outputs[-1].gather(1, x[:, None])[:, 0] <= 0.5 if outputs else ~allowed[x])
        outputs.append(output)
    return torch.stack(outputs)


def baby_ntm(net: Any, symbols: Tensor) -> Tensor:
    """Suzgun et al. 2019, section 3.3: a ring of all its cells."""
    batch = symbols.shape[1]
    hidden = cell = torch.zeros(batch, net.shape.hidden, dtype=torch.float64)
    cells = torch.zeros(batch, net.stack_limit, net.cell_size, dtype=torch.float64)
    nothing = torch.zeros(batch, 1, net.cell_size, dtype=torch.float64)
    allowed = torch.tensor([net.first is None or symbol in net.first for symbol in net.alphabet])
    rejected, outputs = torch.zeros(batch, dtype=torch.bool), list[Tensor]()
    for x in symbols:
        hidden, cell, action, pushed, output = _marnn(net, x, hidden, cell, cells[:, 0])
        right, left, stay, pop_right, pop_left = action[:, :, None, None].unbind(1)
        cells = (
            right * torch.cat([cells[:, -1:], cells[:, :-1]], 1)
            + left * torch.cat([cells[:, 1:], cells[:, :1]], 1)
            + stay * cells
            + pop_right * torch.cat([nothing, cells[:, :-1]], 1)
            + pop_left * torch.cat([cells[:, 1:], nothing], 1)
        )
        cells[:, 0] += pushed
        rejected = rejected | (outputs[-1].gather(1, x[:, None])[:, 0] <= 0.5 if outputs else ~allowed[x])
        outputs.append(output)
    return torch.stack(outputs)


def neural_stack(net: Any, symbols: Tensor) -> Tensor:
    """Hao et al. 2018, section 2, an LSTM as the controller."""
    inner, size, cell_size, batch = net.net, net.shape.hidden, net.cell_size, symbols.shape[1]
    hidden = cell = torch.zeros(batch, size, dtype=torch.float64)
    bottoms = tops = torch.zeros(batch, 0, dtype=torch.float64)
    values = torch.zeros(batch, 0, cell_size, dtype=torch.float64)
    length = torch.zeros(batch, dtype=torch.float64)
    outputs = []
    for x in functional.one_hot(symbols, net.n_symbols).double():
        visible = torch.relu(tops - torch.maximum(bottoms, torch.relu(length - 1)[:, None]))
        reading = (visible[:, :, None] * values).sum(1)
        drive = functional.linear(torch.cat([x, reading], 1), inner.weight_ih, inner.bias_ih)
        drive = drive + functional.linear(hidden, inner.weight_hh, inner.bias_hh)
        enter, keep, new, leave = drive.chunk(4, 1)
        cell = torch.sigmoid(keep) * cell + torch.sigmoid(enter) * torch.tanh(new)
        hidden = torch.sigmoid(leave) * torch.tanh(cell)
        answer = functional.linear(hidden, inner.weight, inner.bias)
        instructions = torch.sigmoid(answer[:, : 2 + cell_size])
        left = torch.relu(length - instructions[:, 0])
        length = left + instructions[:, 1]
        bottoms = torch.cat([torch.minimum(bottoms, left[:, None]), left[:, None]], 1)
        tops = torch.cat([torch.minimum(tops, left[:, None]), length[:, None]], 1)
        values = torch.cat([values, instructions[:, None, 2:]], 1)
        outputs.append(torch.softmax(answer[:, 2 + cell_size :], 1))
    return torch.stack(outputs)


def _marnn(net: Any, x: Tensor, hidden: Tensor, cell: Tensor, top: Tensor) -> tuple[Tensor, ...]:
    before = hidden + functional.linear(top, net.memory_weights, net.memory_bias)
    drive = net.input_weights.T[x] + net.input_bias
    drive = drive + functional.linear(before, net.hidden_weights, net.hidden_bias)
    if net.lstm:
        enter, keep, new, show = drive.chunk(4, 1)
        cell = torch.sigmoid(keep) * cell + torch.sigmoid(enter) * torch.tanh(new)
        hidden = torch.sigmoid(show) * torch.tanh(cell)
    else:
        hidden = torch.tanh(drive)
    action = torch.softmax(functional.linear(hidden, net.action_weights, net.action_bias), 1)
    pushed = torch.sigmoid(functional.linear(hidden, net.pushed_weights, net.pushed_bias))
    return hidden, cell, action, pushed, torch.sigmoid(functional.linear(hidden, net.output_weights, net.output_bias))


STRAIGHT: dict[str, Forward] = {
    "nnpda": nnpda,
    "stack-rnn": stack_rnn,
    "marnn-stack-rnn": marnn_stack,
    "marnn-stack-lstm": marnn_stack,
    "baby-ntm": baby_ntm,
    "neural-stack": neural_stack,
}
