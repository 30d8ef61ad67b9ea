"""How the cost of an extraction grows with letters, units, stacks and the depth of the words that are checked.

The network is set by hand, right on well-nested brackets of so many kinds, so that what is measured is the search and
the checks and not how well something was trained. Spare units hold running means of the letters, spare stacks push and
pop with the real one: nothing is read from them, which `extract` does not know. Times are of the processor.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from benchmarks.measure import Report, show_seconds
from torch import Tensor
from torch.nn.functional import one_hot

from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.languages.next_sets import DyckNextSet
from stacklens.models.base import ControllerOutput, NetworkState, StackModel
from stacklens.models.stacks import SuperpositionStack

_KINDS = 2  # of brackets, where something else grows
_LETTERS, _UNITS = (2, 4, 8, 16, 32, 64), (4, 16, 64, 256)
_STACKS, _DEPTHS = (1, 2, 4, 10), (50, 100, 200, 400)


class _Brackets(StackModel[SuperpositionStack]):
    """Keeps the innermost open bracket in its hidden vector, and lays what was there before on the stack."""

    name, action_kind, task_kind, operations = "brackets", "softmax", "next set", ("push", "pop")

    def __init__(self, kinds: int, units: int = 0, stacks: int = 1) -> None:
        super().__init__()
        task = DyckNextSet(kinds)
        self.alphabet, self.n_stacks, self.none = task.alphabet, stacks, kinds
        self.first = self.alphabet[::2]
        self.cell_size = kinds + 1  # the last number stands for "none is open"
        self.spare = max(0, units - self.cell_size)
        self.weights = torch.randn(len(self.alphabet), self.spare, generator=torch.Generator().manual_seed(0)).double()
        self.sets = torch.zeros(kinds + 1, 2 * kinds, dtype=torch.float64)
        self.sets[:, ::2] = 1
        self.sets[torch.arange(kinds), 2 * torch.arange(kinds) + 1] = 1

    def config(self) -> dict[str, Any]:
        return {}

    def initial_state(self, batch: int) -> NetworkState[SuperpositionStack]:
        open_one = one_hot(torch.full((batch,), self.none), self.cell_size).double()
        stack = SuperpositionStack.empty((batch,), self.n_stacks, self.cell_size, open_one)
        hidden = torch.cat([open_one, open_one.new_zeros(batch, self.spare)], -1)
        return NetworkState(hidden, stack, torch.zeros(batch, dtype=torch.bool))

    def stack_of(self, cells: Tensor) -> SuperpositionStack:
        return SuperpositionStack.from_cells(cells)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        opens = (symbols % 2 == 0).unsqueeze(-1)
        now, means = hidden[:, : self.cell_size], hidden[:, self.cell_size :]
        after = torch.where(opens, one_hot(symbols // 2, self.cell_size).double(), reading[:, 0])
        means = 0.5 * means + self.weights[symbols]
        actions = torch.cat([opens, ~opens], -1).double().unsqueeze(-2).expand(-1, self.n_stacks, -1)
        pushed = now.unsqueeze(-2).expand(-1, self.n_stacks, -1)
        return ControllerOutput(torch.cat([after, means], -1), actions, pushed, after @ self.sets)


def reports() -> Iterator[Report]:
    config = ExtractionConfig()
    growths = [
        ("letters", [(2 * n, _Brackets(n), config) for n in (letters // 2 for letters in _LETTERS)]),
        ("units", [(n, _Brackets(_KINDS, units=n), config) for n in _UNITS]),
        ("stacks", [(n, _Brackets(_KINDS, stacks=n), config) for n in _STACKS]),
        ("depth checked", [(n, _Brackets(_KINDS), replace(config, depth=n)) for n in _DEPTHS]),
    ]
    rows = [row for name, sizes in growths for row in _rows(name, sizes)]
    columns = ("", "size", "processor time", "search", "checks and proof", "growth of the whole", "proved equal")
    notes = "one run each; growth: the exponent e of size^e between the line above and this one"
    yield Report("growth: extract on brackets set by hand", columns, tuple(rows), notes)


def _rows(name: str, sizes: list[tuple[int, _Brackets, ExtractionConfig]]) -> Iterator[tuple[str, ...]]:
    before: tuple[int, float] | None = None
    for size, network, config in sizes:
        task = DyckNextSet(network.none)
        begun = time.process_time()
        found = extract(network, task, config)
        spent = time.process_time() - begun
        growth = "" if before is None else f"{math.log(spent / before[1]) / math.log(size / before[0]):.2f}"
        yield (name, str(size), show_seconds(spent), *_stages(found), growth, found.report()["proof"]["verdict"])
        before = (size, spent)


def _stages(found: Extraction) -> tuple[str, str]:
    search = found.seconds["look for states"]
    return show_seconds(search), show_seconds(sum(found.seconds.values()) - search)
