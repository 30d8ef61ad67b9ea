"""What a network of one's own says after a symbol, whatever form it has, as the numbers that stacklens compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import TaskKind
from stacklens.models.own.guarded import shapes_of

__all__ = ["Activation", "Outputs"]

Activation = Literal["sigmoid", "softmax"]


@dataclass(frozen=True)
class Outputs:
    """How outputs are read.

    Attributes:
        kind: what they say.
        alphabet: what they are made of.
        activation: what makes probabilities of them; None where they are probabilities.
        threshold: what a probability has to exceed, for "recognition" and "next set".

    Raises:
        StacklensError: there is no such kind or activation, or the threshold is not between 0 and 1.
    """

    kind: TaskKind
    alphabet: tuple[str, ...]
    activation: Activation | None = None
    threshold: float = 0.5

    def __post_init__(self) -> None:
        kinds = ("recognition", *(kind for kind in get_args(TaskKind) if kind != "recognition"))
        if self.kind not in kinds:
            raise StacklensError(f"outputs is {self.kind!r:.50}; expected one of {', '.join(kinds)}")
        if self.activation is not None and self.activation not in get_args(Activation):
            raise StacklensError(
                f"activation is {self.activation!r:.50}; expected sigmoid or softmax, or None where outputs are "
                "probabilities"
            )
        if not isinstance(self.threshold, int | float) or not 0 <= self.threshold < 1:
            raise StacklensError(f"threshold is {self.threshold!r:.50}; expected a probability from 0 to below 1")

    @property
    def size(self) -> int:
        """Return how many numbers an output has."""
        return self.sizes[0]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many numbers a network may give: a recogniser two as well, of which the second one counts."""
        return (1, 2) if self.kind == "recognition" else (len(self.alphabet),)

    def read(self, output: Any, batch: int) -> Tensor:
        """Return ``output`` (B,) or (B, O) as (B, O), above 0.5 where a probability is above the threshold.

        Of a recogniser with two numbers the second one is the probability to accept.

        Raises:
            StacklensError: it is of another shape.
        """
        if not isinstance(output, Tensor):
            raise StacklensError(f"the output is {shapes_of(output)} and no tensor")
        values = output.unsqueeze(-1) if output.dim() == 1 else output
        if values.dim() != 2 or len(values) != batch or values.shape[-1] not in self.sizes:
            raise StacklensError(
                f"the output is of shape {tuple(output.shape)}; expected (words {batch}, {self._named()})"
            )
        made = self.probabilities(values.to(torch.get_default_dtype()) if not values.is_floating_point() else values)
        made = made[:, -self.size :]
        if self.kind in ("recognition", "next set") and self.threshold != 0.5:
            made = made - self.threshold + 0.5
        return made

    def probabilities(self, values: Tensor) -> Tensor:
        """Return ``values`` (..., O) after the activation."""
        if self.activation == "sigmoid":
            return torch.sigmoid(values)
        return torch.softmax(values, -1) if self.activation == "softmax" else values

    def _named(self) -> str:
        return "1 or 2 numbers" if self.kind == "recognition" else f"{self.size}, one for each of the output symbols"
