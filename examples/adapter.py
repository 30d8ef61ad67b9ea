"""How to put your own network under the lens: `python examples/adapter.py` traces one and extracts its automaton.

The network in `plain_network.py` knows nothing of stacklens. The class below says what is what in it, and that is all
there is to write; docs/adapter.md explains it line by line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from plain_network import DEPTH, StackGRU, encode
from rich.console import Console
from torch import Tensor

from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.summary import show_summary
from stacklens.languages.catalogue import get_task
from stacklens.models.base import ControllerOutput, NetworkState, StackModel
from stacklens.models.stacks import SuperpositionStack
from stacklens.probe.trace import trace

WEIGHTS = Path(__file__).with_name("plain_network.pt")


class Adapter(StackModel[SuperpositionStack]):
    """A `StackGRU` as stacklens sees it."""

    name = "stack-gru"
    action_kind = "softmax"
    operations = ("push", "pop")  # the order in which `SuperpositionStack` takes shares
    task_kind = "next set"
    alphabet = ("(", ")")
    first = ("(",)
    stack_limit = DEPTH

    def __init__(self, network: StackGRU) -> None:
        super().__init__()
        self.network, self.cell_size = network, network.cell_size

    def initial_state(self, batch: int) -> NetworkState[SuperpositionStack]:
        """Return a hidden vector of zeros and an empty stack."""
        hidden = self.network.to_next.weight.new_zeros(batch, self.network.hidden)
        stack = SuperpositionStack.empty((batch,), 1, self.cell_size, hidden, limit=DEPTH)
        return NetworkState(hidden, stack, torch.zeros(batch, dtype=torch.bool))

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return what the network's own cell answers; it says pop first, and its one stack gets an axis of its own."""
        x = torch.nn.functional.one_hot(symbols, 2).to(hidden)
        after, action, new, output = self.network.cell(x, hidden, reading[:, 0])
        return ControllerOutput(after, action.flip(1).unsqueeze(1), new.unsqueeze(1), output)

    def stack_of(self, cells: Tensor) -> SuperpositionStack:
        """Return stacks that show ``cells``."""
        return SuperpositionStack.from_cells(cells, limit=DEPTH)

    def config(self) -> dict[str, Any]:
        """Return the network's sizes, for reports."""
        return {"hidden": self.network.hidden, "cell": self.network.cell_size}


def main() -> None:
    """Trace the network on a word and print what is extracted from it."""
    network = StackGRU().double()
    network.load_state_dict(torch.load(WEIGHTS, weights_only=True))
    model = Adapter(network)
    word = "(()(()))"
    seen = trace(model, word)
    console = Console(highlight=False, width=110)
    with torch.no_grad():
        own = network(encode([word])[0])[0]
    apart = abs(seen.output[0] - own.numpy()).max()
    console.print(f"the adapter's outputs and the network's own differ by at most {apart:.0e}\n")
    console.print("symbol  push  pop   top seen  may come next")
    for t, symbol in enumerate(word):
        push, pop = seen.actions[0, t, 0]
        following = model.output_name(int(model.output_numbers(torch.from_numpy(seen.output[:1, t]))[0]))
        top = seen.reading[0, t, 0, 0]
        console.print(f"{symbol}       {push:.2f}  {pop:.2f}  {top:.2f}      {' '.join(following)}")
    console.print()
    config = ExtractionConfig(max_length=14, long_words=1_000)
    show_summary(extract(model, get_task("dyck-1"), config), console, transitions=True)


if __name__ == "__main__":
    main()
