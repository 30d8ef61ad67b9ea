"""Trials of a network of one's own: how large its hidden states are, and whether it answers twice in the same way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from stacklens.errors import StacklensError
from stacklens.models.own.guarded import guarded, shapes_of
from stacklens.models.own.packing import Packing, packing_of
from stacklens.models.own.stack_choice import StackChoice
from stacklens.models.own.step_network import StepNetwork, StepShape, named_parts
from stacklens.models.own.word_network import ForwardNetwork

__all__ = ["first_success", "like_weights", "tried", "tried_forward"]

T = TypeVar("T")
_BATCHES = 2, 3  # words of the trials, by which the axis of the words is found


def like_weights(module: nn.Module | None) -> Tensor:
    """Return a tensor of the type and on the device of a module's weights."""
    weights = None if module is None else next(module.parameters(), None)
    return torch.zeros(()) if weights is None else weights.detach().new_zeros(())


@torch.no_grad()
def tried(
    step: Callable[..., Any],
    module: nn.Module | None,
    shape: StepShape,
    choice: StackChoice,
    start: Callable[[int], Any] | None,
    output: Callable[..., Any] | None,
) -> StepNetwork:
    """Return the network if a trial with this ``shape`` succeeds, and succeeds again in the same way."""
    if start is None:
        start = _zeros_like_first(module, step, shape, choice)
        try:
            return tried(step, module, shape, choice, start, output)
        except StacklensError as error:
            order = ", ".join(shape.returns)
            raise StacklensError(
                f"{error}; does step return {order}, in this order? else name it: returns=…"
            ) from error
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
            answer = guarded(step, name, given)
        except StacklensError as error:
            raise StacklensError(f"{error}; with hidden=… step is not given None for the hidden state") from error
        found.append(named_parts(answer, shape.returns, name).hidden)
    packing = packing_of(found[0], found[1], _BATCHES)
    return lambda batch: packing.unpack(like.new_zeros(batch, packing.size))


@torch.no_grad()
def tried_forward(
    forward: Callable[[Tensor], Any], module: nn.Module | None, form: str, settings: dict[str, Any]
) -> ForwardNetwork:
    """Return the network if it answers short words, alone as beside others and by what it has read only."""
    last = len(settings["alphabet"]) - 1
    codes = torch.tensor([[0, 0, 0], [0, last, 0], [last, 0, last], [0, 0, last]])[:, : settings["longest"]]
    network = ForwardNetwork(module, forward, form, True, **settings)
    outputs = network.forwarded(codes)
    alone = outputs.dim() == 1 and network.task_kind == "recognition"
    if outputs.dim() not in (2, 3) and not alone:
        raise StacklensError(
            f"forward(symbols) returned {shapes_of(outputs)}; expected outputs (words, symbols, O), or (words, O)"
        )
    network.along = outputs.dim() == 3
    network.said_of(codes)
    if not torch.equal(outputs, network.forwarded(codes)):
        raise StacklensError(f"{network.name} answers differently to the same word: is there dropout left?")
    if not _alike(outputs[1:2], network.forwarded(codes[1:2])):
        raise StacklensError(
            f"{network.name} answers a word differently beside others: are words the first axis (batch_first=True)?"
        )
    if network.along and not _alike(outputs[0, 0], outputs[1, 0]):
        raise StacklensError(
            f"{network.name} answers a symbol differently by what comes after it: does it lack a causal mask, or read "
            "backwards too?"
        )
    return network


def _alike(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-3, atol=1e-4)


class _Counted:
    """A function that counts how often it has answered."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call, self.answers = call, 0

    def __call__(self, *given: Any) -> Any:
        answer = self.call(*given)
        self.answers += 1
        return answer


def first_success(call: Callable[..., Any], trials: Iterable[tuple[str, Callable[[Callable[..., Any]], T]]]) -> T:
    """Return what the first of the named ``trials`` returns that succeeds; each is given the function ``call``.

    Raises:
        StacklensError: none does. The line has the problem of the trial in which ``call`` answered most often, since
            its form of symbols suits the network best. Of several such trials those count of which fewest fail in the
            same way: all wrong sizes fail alike, and the right one by the mistake that is looked for.
    """
    problems: list[tuple[str, int, str]] = []
    for name, trial in trials:
        counted = _Counted(call)
        try:
            trial(counted)
        except StacklensError as error:
            problems.append((name, counted.answers, str(error)))
        else:
            return trial(call)
    most = max(answers for _, answers, _ in problems)
    furthest = [(name, problem) for name, answers, problem in problems if answers == most]
    alike = Counter(_without_numbers(problem) for _, problem in furthest)
    rarest, said = min(alike.values()), dict[str, str]()
    for name, problem in furthest:
        if alike[_without_numbers(problem)] == rarest:
            said.setdefault(_without_numbers(problem), f"with {name}: {problem}")
    if len(problems) == 1:
        raise StacklensError(problems[0][2])
    raise StacklensError(f"none of {len(problems)} trials succeeded; {'; '.join(list(said.values())[:2])}")


def _without_numbers(problem: str) -> str:
    return re.sub(r"\d+", "", re.sub(r"\([\d, ]*\)", "", problem))
