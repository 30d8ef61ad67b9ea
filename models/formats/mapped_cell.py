"""The step of a superposition-stack RNN whose weights a mapping names, with all shapes checked against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from stacklens.errors import StacklensError

__all__ = ["GATES", "TOPS", "MappedCell", "MappedWeights"]

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
TOPS = ("input", "hidden", "added")
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "none": lambda values: values,
}


class MappedWeights:
    """Weights by entry, each asked for with the shape that it has to have.

    Args:
        found: by entry, such as "input weight".
    """

    def __init__(self, found: Mapping[str, Tensor]) -> None:
        self.found, self.asked = dict(found), set[str]()

    def __contains__(self, entry: str) -> bool:
        return entry in self.found

    def rows(self, entry: str) -> tuple[int, int]:
        """Return the two sizes of a weight that there has to be."""
        value = self.found.get(entry)
        if value is None or value.dim() != 2 or 0 in value.shape:
            shown = "is missing" if value is None else f"has shape {tuple(value.shape)}"
            raise StacklensError(f"{entry} {shown}; expected a matrix (outputs, inputs)")
        return value.shape[0], value.shape[1]

    def layer(self, name: str, outputs: int, inputs: int, why: str, bias: bool = True) -> tuple[Tensor, Tensor]:
        """Return weight (outputs, inputs) and bias (outputs,) of a layer; without a bias it is 0."""
        weight = self._of(f"{name} weight", (outputs, inputs), why)
        entry = f"{name} bias"
        if not bias or entry not in self.found:
            return weight, weight.new_zeros(outputs)
        return weight, self._of(entry, (outputs,), why)

    def check_all_used(self) -> None:
        """Check that every weight was asked for."""
        if left := sorted(set(self.found) - self.asked):
            raise StacklensError(f"keys names {', '.join(left)}, which a network of this kind does not have")

    def _of(self, entry: str, shape: tuple[int, ...], why: str) -> Tensor:
        self.asked.add(entry)
        value = self.found.get(entry)
        if value is None:
            raise StacklensError(f"keys names no {entry}; expected one of shape {shape}, {why}")
        if tuple(value.shape) != shape:
            hint = "; is it transposed?" if tuple(value.shape) == shape[::-1] and len(shape) == 2 else ""
            raise StacklensError(f"{entry} has shape {tuple(value.shape)}; expected {shape}, {why}{hint}")
        return value


class MappedCell(nn.Module):
    """A controller on a superposition stack.

    Args:
        weights: its weights.
        symbols: how many symbols it reads.
        choices: "cell", "top", "nonlinearity", "push_activation", "reads".
        temperature: of the shares.
        actions: what the shares are of.

    Attributes:
        hidden, cell_size: the sizes of the hidden vector and of a cell of the stack.
    """

    def __init__(
        self,
        weights: MappedWeights,
        symbols: int,
        choices: Mapping[str, str],
        temperature: float,
        actions: Sequence[str],
    ) -> None:
        super().__init__()
        self.choices, self.temperature = dict(choices), temperature
        self.cell_size, self.hidden = weights.rows("push weight")
        gates = GATES[choices["cell"]] * self.hidden
        size, beside = symbols, self.cell_size if choices["top"] == "input" else 0
        layers: dict[str, tuple[Tensor, Tensor]] = {}
        if "embedding weight" in weights:
            size = weights.rows("embedding weight")[1]
            layers["embedding"] = weights.layer("embedding", symbols, size, f"for {symbols} symbols", bias=False)
        layers["input"] = weights.layer("input", gates, size + beside, self._why(size, beside))
        if "hidden weight" in weights:
            layers["hidden"] = weights.layer("hidden", gates, self.hidden, f"for {self.hidden} hidden units")
        if choices["top"] != "input":
            rows = self.hidden if choices["top"] == "hidden" else gates
            layers["top"] = weights.layer("top", rows, self.cell_size, f"for cells of {self.cell_size}")
        layers["actions"] = weights.layer("actions", len(actions), self.hidden, f"for {len(actions)} actions")
        layers["push"] = weights.layer("push", self.cell_size, self.hidden, f"for cells of {self.cell_size}")
        said = self.hidden + (self.cell_size if choices["reads"] == "after" else 0)
        outputs = weights.rows("output weight")[0]
        layers["output"] = weights.layer("output", outputs, said, f"for {said} numbers that it sees")
        weights.check_all_used()
        self.layers = nn.ParameterDict()
        for name, (weight, bias) in layers.items():
            self.layers[f"{name}_weight"], self.layers[f"{name}_bias"] = nn.Parameter(weight), nn.Parameter(bias)

    def _why(self, size: int, beside: int) -> str:
        seen = f"{size} inputs and a top of {beside}" if beside else f"{size} inputs"
        return f"for {seen}, {self.hidden} hidden units, cell {self.choices['cell']}"

    def step(self, x: Tensor, state: Any, top: Tensor) -> tuple[Any, Tensor, Tensor, Tensor]:
        """Return the state after symbols ``x`` (B, n), the shares, the value to push, and the output, unread."""
        state, shares, pushed = self.update(x, state, top)
        return state, shares, pushed, self._linear("output", _h(state))

    def update(self, x: Tensor, state: Any, top: Tensor) -> tuple[Any, Tensor, Tensor]:
        """Return the state after symbols ``x`` (B, n), the shares, and the value to push."""
        state = self._next(x.to(top), state, top)
        shares = torch.softmax(self._linear("actions", _h(state)) / self.temperature, -1)
        pushed: Tensor = _ACTIVATIONS[self.choices["push_activation"]](self._linear("push", _h(state)))
        return state, shares, pushed

    def output(self, state: Any, top: Tensor) -> Tensor:
        """Return the output that sees the top after the update, unread."""
        return self._linear("output", torch.cat([_h(state), top], -1))

    def _next(self, x: Tensor, state: Any, top: Tensor) -> Any:
        if "embedding_weight" in self.layers:
            x = x @ self.layers["embedding_weight"]
        where, h = self.choices["top"], _h(state)
        seen = self._linear("input", torch.cat([x, top], -1) if where == "input" else x)
        before = h + self._linear("top", top) if where == "hidden" else h
        kept = self._linear("hidden", before) if "hidden_weight" in self.layers else torch.zeros_like(seen)
        if where == "added":
            seen = seen + self._linear("top", top)
        return self._gated(seen, kept, before, state)

    def _gated(self, seen: Tensor, kept: Tensor, h: Tensor, state: Any) -> Any:
        """Return the next state from what inputs and hidden vector give each gate, in torch's order of gates."""
        kind, f = self.choices["cell"], _ACTIVATIONS[self.choices["nonlinearity"]]
        if kind == "rnn":
            return f(seen + kept)
        if kind == "gru":
            (r, z, n), (hr, hz, hn) = seen.chunk(3, -1), kept.chunk(3, -1)
            update = torch.sigmoid(z + hz)
            return (1 - update) * torch.tanh(n + torch.sigmoid(r + hr) * hn) + update * h
        i, forget, g, o = (seen + kept).chunk(4, -1)
        c = torch.sigmoid(forget) * state[1] + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def _linear(self, name: str, values: Tensor) -> Tensor:
        return nn.functional.linear(values, self.layers[f"{name}_weight"], self.layers[f"{name}_bias"])


def _h(state: Any) -> Tensor:
    """Return the hidden vector of a state, of which an LSTM has c as well."""
    found: Tensor = state[0] if isinstance(state, tuple | list) else state
    return found
