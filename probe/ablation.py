"""Ablations: what is lost without a hidden unit, a stack or an operation, by length of the words.

A unit is ablated in one of the roles that it has: what it hands to the next step ("state"), to the actions, to what is
pushed, or to the output, by setting its outgoing weights of that role to 0. Where a network's roles are not known by
its weights, a unit is only ablated in what it hands to the next step.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from stacklens.automata.pda import Word
from stacklens.errors import StacklensError
from stacklens.models.base import ControllerOutput, S, StackModel
from stacklens.models.inference import outputs_on, verdicts_on
from stacklens.models.rounding import Rounded, Wrapper

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ROLES", "Ablated", "Ablation", "Ablations", "ablations", "answers_of"]

ROLES = {  # the weights through which a unit speaks, its column in each
    "state": ("hidden_weights", "hidden_0_weights", "recurrent_weights"),
    "actions": ("action_weights",),
    "pushed": ("pushed_weights",),
    "output": ("output_weights",),
}
_BINS = 4  # groups of lengths


class Ablated(Wrapper[S]):
    """A network without something: hidden units are 0 between steps, a stack shows nothing, an operation never happens.

    Args:
        model: a single network, soft or rounded.
        units: the units that are 0 between steps.
        stack: the stack that shows what an empty one shows.
        operation: the number of the share, strength or sign (0 push, 1 pop) that is 0; of shares the others grow.
    """

    name = "ablated"

    def __init__(
        self, model: StackModel[S], units: Sequence[int] = (), stack: int | None = None, operation: int | None = None
    ) -> None:
        super().__init__(model)
        self.units, self.stack, self.operation = list(units), stack, operation
        empty = model.initial_state(1).stack.reading()[0]
        self.register_buffer("empty", empty, persistent=False)
        self.empty: Tensor

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the network's answer without what is ablated."""
        if self.stack is not None:
            reading = reading.clone()
            reading[:, self.stack] = self.empty[self.stack]
        answer = self.model.controller(symbols, hidden, reading)
        after = answer.hidden.clone()
        after[:, self.units] = 0
        actions = answer.actions if self.operation is None else self._without(answer.actions)
        return self.model.finish(ControllerOutput(after, actions, answer.pushed, answer.output), reading)

    def _without(self, actions: Tensor) -> Tensor:
        if self.action_kind == "signed":
            return actions.clamp(max=0) if self.operation == 0 else actions.clamp(min=0)
        left = actions.clone()
        left[..., self.operation] = 0
        if self.action_kind == "strengths":
            return left
        total = left.sum(-1, keepdim=True)
        others = torch.ones_like(left)
        others[..., self.operation] = 0
        return torch.where(total > 0, left / total.clamp(min=1e-12), others / others.sum(-1, keepdim=True))


@dataclass(frozen=True)
class Ablation:
    """What is left without one thing.

    Attributes:
        kind: "unit", "stack" or "operation".
        name: which one.
        role: of a unit, in which role; else "".
        accuracy: share of words that are answered as they should be, in [0, 1].
        by_length: the same for words of each group of lengths.
    """

    kind: str
    name: str
    role: str
    accuracy: float
    by_length: tuple[float, ...]


@dataclass(frozen=True)
class Ablations:
    """What is left without each thing, beside the whole network.

    Attributes:
        whole: the network as it is.
        rows: the ablations, the most important first.
        lengths: the greatest length of each group of words.
    """

    whole: Ablation
    rows: tuple[Ablation, ...]
    lengths: tuple[int, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row an ablation, the most important first: what, role, accuracy, what it costs, and by length."""
        import pandas as pd

        table = [
            (one.kind, one.name, one.role, one.accuracy, self.whole.accuracy - one.accuracy, *one.by_length)
            for one in self.rows
        ]
        lengths = [f"length <= {length}" for length in self.lengths]
        return pd.DataFrame(table, columns=["kind", "name", "role", "accuracy", "importance", *lengths])

    def __str__(self) -> str:
        shown: str = self.to_frame().head(20).to_string(index=False, float_format="{:.3f}".format)
        return f"whole network: accuracy {self.whole.accuracy:.3f}\n{shown}"


def answers_of(model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the answers of ``model`` to ``words``, (N, 1) of a recogniser, else (N, T)."""
    if model.task_kind == "recognition":
        return verdicts_on(model, words)[:, None].astype(np.int32)
    return outputs_on(model, words)


@torch.no_grad()
def ablations(
    model: StackModel[Any],
    words: Sequence[Word],
    expected: np.ndarray | None = None,
    scored: np.ndarray | None = None,
    *,
    rounded: bool = False,
) -> Ablations:
    """Return what is left of ``model`` without each of its units, stacks and operations.

    Args:
        model: a single network.
        words: the words that it is asked.
        expected: the right answers, (N, 1) or (N, T); by default what the whole network says.
        scored: which of them count; None for all.
        rounded: take the rounded network.

    Raises:
        StacklensError: there are no words, or the network only answers whole words.
    """
    if not words:
        raise StacklensError("nothing to ablate on: give some words")
    if model.answers_to(()) is not None or not model.real_time:
        raise StacklensError(f"a {model.name} has no parts that can be left out step by step")
    right = answers_of(Rounded(model) if rounded else model, words) if expected is None else expected
    lengths = np.array([len(word) for word in words])
    ends = np.unique(np.quantile(lengths, np.linspace(0, 1, _BINS + 1)[1:], method="higher"))
    groups = np.searchsorted(ends, lengths)

    def judged(network: StackModel[Any], kind: str, name: str, role: str) -> Ablation:
        same = answers_of(network, words) == right
        fine = (same if scored is None else same | ~scored).all(1)
        parts = tuple(float(fine[groups == group].mean()) for group in range(len(ends)))
        return Ablation(kind, name, role, float(fine.mean()), parts)

    whole = judged(Rounded(model) if rounded else model, "whole", model.name, "")
    rows = [judged(Rounded(one) if rounded else one, *named) for one, *named in _without_units(model)]
    rows += [judged(one, *named) for one, *named in _without_parts(Rounded(model) if rounded else model)]
    ordered = sorted(rows, key=lambda one: (one.accuracy, one.kind, one.name, one.role))
    return Ablations(whole, tuple(ordered), tuple(int(end) for end in ends))


def _without_units(model: StackModel[Any]) -> Iterator[tuple[StackModel[Any], str, str, str]]:
    weights = dict(model.named_parameters())
    known = {role: [name for name in names if name in weights] for role, names in ROLES.items()}
    size = model.initial_state(1).hidden.shape[-1]
    speaks = any(known.values()) and not {"state_weights", "hidden_1_weights"} & set(weights)  # nor of two layers
    if not speaks:
        for unit in range(size):
            yield Ablated(model, [unit]), "unit", f"h{unit + 1}", "state"
        return
    for role, names in known.items():
        for unit in range(model.n_units if names else 0):
            without = copy.deepcopy(model)
            for name in names:
                without.get_parameter(name).data[..., unit] = 0
            yield without, "unit", f"h{unit + 1}", role


def _without_parts(model: StackModel[Any]) -> Iterator[tuple[StackModel[Any], str, str, str]]:
    if model.action_kind == "none":
        return
    for stack in range(model.n_stacks):
        yield Ablated(model, stack=stack), "stack", f"stack {stack + 1}", ""
    names = model.operations or {"signed": ("push", "pop"), "strengths": ("pop", "push")}[model.action_kind]
    for number, name in enumerate(names):
        yield Ablated(model, operation=number), "operation", name, ""
