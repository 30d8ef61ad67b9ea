"""Predictors over many symbols whose weights are set by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from stacklens.languages.next_sets import DyckNextSet
from stacklens.models.base import ControllerOutput, NetworkState, StackModel
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN
from stacklens.models.stacks.cells import SuperpositionStack

__all__ = ["alphabet_of", "bracket_net", "constant_net"]


def alphabet_of(n_symbols: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(n_symbols))


def constant_net(letters: tuple[str, ...], predicted: tuple[str, ...]) -> MarnnStackRNN:
    """Return a network that says ``predicted`` after every symbol, and only pops."""
    net = MarnnStackRNN(MarnnConfig(letters, hidden=1))
    with torch.no_grad():
        for weights in net.parameters():
            weights.zero_()
        net.output_bias.copy_(torch.tensor([4.0 if letter in predicted else -4.0 for letter in letters]))
        net.action_bias.copy_(torch.tensor([-4.0, 4.0]))
    return net.eval()


class _Brackets(StackModel[SuperpositionStack]):
    """Keeps the innermost open bracket in its hidden vector, and lays what was there before on the stack."""

    name, action_kind, task_kind, operations = "brackets", "softmax", "next set", ("push", "pop")

    def __init__(self, task: DyckNextSet) -> None:
        super().__init__()
        self.alphabet, self.n_kinds = task.alphabet, task.n
        self.first = self.alphabet[::2]
        self.cell_size = task.n + 1  # the last stands for "none is open"
        kinds = torch.arange(2 * task.n) // 2
        self.sets = torch.zeros(task.n + 1, 2 * task.n, dtype=torch.float64)
        self.sets[:, ::2] = 1
        self.sets[kinds[1::2], torch.arange(1, 2 * task.n, 2)] = 1

    def config(self) -> dict[str, Any]:
        return {}

    def initial_state(self, batch: int) -> NetworkState[SuperpositionStack]:
        hidden = one_hot(torch.full((batch,), self.n_kinds), self.cell_size).double()
        stack = SuperpositionStack.empty((batch,), 1, self.cell_size, hidden)
        return NetworkState(hidden, stack, torch.zeros(batch, dtype=torch.bool))

    def stack_of(self, cells: Tensor) -> SuperpositionStack:
        return SuperpositionStack.from_cells(cells)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        opens = (symbols % 2 == 0).unsqueeze(-1)
        after = torch.where(opens, one_hot(symbols // 2, self.cell_size).double(), reading[:, 0])
        actions = torch.cat([opens, ~opens], -1).double().unsqueeze(-2)
        return ControllerOutput(after, actions, hidden.unsqueeze(-2), after @ self.sets)


def bracket_net(task: DyckNextSet) -> StackModel[SuperpositionStack]:
    """Return a network that says what may come next in the brackets of ``task``."""
    return _Brackets(task)
