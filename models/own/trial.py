"""Trials of a network of one's own: how large its hidden states are, and whether it answers twice in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from stacklens.errors import StacklensError
from stacklens.models.own.guarded import guarded, shapes_of
from stacklens.models.own.packing import Packing, packing_of
from stacklens.models.own.stack_choice import StackChoice
from stacklens.models.own.step_network import StepNetwork, StepShape, named_parts
from stacklens.models.own.word_network import ForwardNetwork

__all__ = ["like_weights", "nearest", "tried", "tried_forward"]

_BATCHES = 2, 3  # words of the trials, by which the axis of the words is found


def like_weights(module: nn.Module | None) -> Tensor:
    """Return a tensor of the type and on the device of a module's weights."""
    weights = None if module is None else next(module.parameters(), None)
    return torch.zeros(()) if weights is None else weights.detach().new_zeros(())


@torch.no_grad()
def tried(
    module: nn.Module | None,
    step: Callable[..., Any],
    shape: StepShape,
    choice: StackChoice,
    start: Callable[[int], Any] | None,
    output: Callable[..., Any] | None,
) -> StepNetwork:
    """Return the network if a trial with this ``shape`` succeeds, and succeeds again in the same way."""
    start = _zeros_like_first(module, step, shape, choice) if start is None else start
    packing = packing_of(start(_BATCHES[0]), start(_BATCHES[1]), _BATCHES)
    network = StepNetwork(module, step, shape, choice, packing, start, output)
    codes = torch.arange(network.n_symbols)
    taken = [network.step(codes, network.initial_state(len(codes))) for _ in range(2)]
    network.step(codes, taken[0].state)
    for part in ("hidden", "actions", "output"):
        one, other = (getattr(found, part) for found in taken)
        if not torch.equal(one, other) and not (one.isnan() & other.isnan()).all():
            raise StacklensError(f"{shape.name} gives another {part} to the same word: is there dropout or noise left?")
    return network


def _zeros_like_first(
    module: nn.Module | None, step: Callable[..., Any], shape: StepShape, choice: StackChoice
) -> Callable[[int], Any]:
    """Return zeros of the form of the hidden state that ``step`` returns where it is given None for one."""
    like, found = like_weights(module), []
    for batch in _BATCHES:
        blank = StepNetwork(module, step, shape, choice, Packing(None, ()), lambda _: None)
        x = blank.read(torch.zeros(batch, dtype=torch.int64), like)
        reading = choice.empty(batch, shape.n_stacks, shape.cell, like.new_zeros(batch, 0)).reading()
        given = {"symbols": x, "hidden": None, **({} if choice.kind == "none" else {"top": blank.top(reading)})}
        name = f"step({', '.join(given)})"
        try:
            found.append(named_parts(guarded(step, name, given), shape.returns, name).hidden)
        except StacklensError as error:
            raise StacklensError(f"{error}; with hidden=… step is not given None for the hidden state") from error
    packing = packing_of(found[0], found[1], _BATCHES)
    return lambda batch: packing.unpack(like.new_zeros(batch, packing.size))


@torch.no_grad()
def tried_forward(
    module: nn.Module | None, forward: Callable[[Tensor], Any], forms: Sequence[str], settings: dict[str, Any]
) -> ForwardNetwork:
    """Return the network if a trial on words of two symbols succeeds."""
    problems: list[StacklensError] = []
    codes = torch.tensor([[0, 0], [0, len(settings["alphabet"]) - 1], [len(settings["alphabet"]) - 1, 0]])
    for form in forms:
        try:
            network = ForwardNetwork(module, forward, form, True, **settings)
            said, again = network.forwarded(codes), network.forwarded(codes)
            if not torch.equal(said, again):
                raise StacklensError(f"{network.name} answers differently to the same word: is there dropout left?")
            if said.dim() not in (2, 3):
                raise StacklensError(
                    f"forward(symbols) returned {shapes_of(said)}; expected outputs (words, symbols, O), or (words, O)"
                )
            network.along = said.dim() == 3
            network.said_of(codes)
            return network
        except StacklensError as error:
            problems.append(error)
    raise problems[0]


def nearest(problems: Sequence[StacklensError], sizes: Sequence[int], forms: Sequence[str]) -> StacklensError:
    """Return the error that says most: that of the last step that a trial came to."""
    told = next((one for one in problems if "failed" not in str(one)), problems[0])
    if len(sizes) == 1 and len(forms) == 1:
        return told
    tried = "" if len(sizes) == 1 else f" and cells of {sizes[0]} to {sizes[-1]} numbers"
    return StacklensError(f"no trial of symbols as {' and '.join(forms)}{tried} succeeded; the first: {told}")
