"""What the NNPDA is trained to do: the objective at the end of a word, and hints at every prefix.

Both take the course of a run (S_last, L and U at every step) and give one loss for every network, so that networks on
the leading axis learn apart. U is what a step popped from an empty stack, which a well-behaved automaton never does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from stacklens.models.nnpda import NNPDA
from stacklens.models.rtrl import RtrlNNPDA
from stacklens.models.word_sets import WordSet

__all__ = ["OBJECTIVES", "Course", "Objective", "end_objective", "prefix_objective", "run_course"]

_DRIVEN_FROM = 0.9  # a length of the stack, section 4.3 (2)
_UNDERFLOW = 1e-6  # a pop of an empty stack by more than this ends a word's run in training


@dataclass(frozen=True)
class Course:
    """How S_last, the stack's length L and the underflow U go along words, each (..., N, T) after t + 1 symbols."""

    last: Tensor
    length: Tensor
    underflow: Tensor


def run_course(net: NNPDA, words: WordSet, read_end: bool) -> Course:
    """Return the course of ``net`` on ``words``, with one more step for the end symbol if ``read_end``.

    Beyond the end of a shorter word the end symbol is read over and over (otherwise the first symbol), which no
    objective looks at.
    """
    symbols = words.symbols
    if read_end:
        symbols = torch.cat([symbols, symbols.new_zeros(len(symbols), 1)], 1)
        beyond = torch.arange(symbols.shape[1]) >= words.lengths.unsqueeze(1)
        symbols = symbols.masked_fill(beyond, len(net.alphabet))
    if isinstance(net, RtrlNNPDA):
        return Course(*net.course(symbols))
    state = net.initial_state(len(symbols))
    columns: list[tuple[Tensor, Tensor, Tensor]] = []
    for column in symbols.unbind(1):
        before = state.stack.length
        step = net.step(column, state)
        state = step.state
        underflow = torch.relu(-(before + step.actions[..., 0, 0]))
        columns.append((step.hidden[..., -1], state.stack.length, underflow))
    return Course(*(torch.stack(series, -1) for series in zip(*columns, strict=True)))


Objective = Callable[[NNPDA, WordSet, Tensor], Tensor]


def end_objective(net: NNPDA, words: WordSet, weights: Tensor, pop_hint: bool = True) -> Tensor:
    """Return the error at the end of the words, (...,) one a network: eq. 16 with the pop-empty hint of section 4.1.

    With H = S_last - L a legal word costs (1 - H)^2, an illegal one max(H, 0)^2. At the first pop of an empty stack the
    run ends there, with U for a legal word (pop less) and 1 - U for an illegal one (pop more: it was right to); without
    the hint U for both, as in section 4.2. Legal and illegal words weigh the same in sum. ``weights`` (..., N) tells
    how often each network sees each word; without an end symbol the empty word cannot be seen.
    """
    course = run_course(net, words, read_end=net.end is not None)
    last_step = words.lengths if net.end is not None else words.lengths - 1
    weights = weights * (last_step >= 0)
    within = torch.arange(course.last.shape[-1]) <= last_step.unsqueeze(-1)
    popped = (course.underflow.detach() > _UNDERFLOW) & within
    first = popped.to(torch.uint8).argmax(-1)
    underflow = course.underflow.gather(-1, first.unsqueeze(-1)).squeeze(-1)
    end = last_step.clamp(min=0).expand(first.shape).unsqueeze(-1)
    height = (course.last.gather(-1, end) - course.length.gather(-1, end)).squeeze(-1)
    members = words.members
    at_end = torch.where(members, (1 - height) ** 2, torch.relu(height) ** 2)
    at_pop = torch.where(members | (not pop_hint), underflow, 1 - underflow)
    losses = torch.where(popped.any(-1), at_pop, at_end)
    return _mean(losses, weights * members) + _mean(losses, weights * ~members)


def _mean(losses: Tensor, weights: Tensor) -> Tensor:
    return (weights * losses).sum(-1) / weights.sum(-1).clamp(min=1)


def prefix_objective(net: NNPDA, words: WordSet, weights: Tensor, drive: bool = False) -> Tensor:
    """Return the error at every prefix up to the first dead one, (...,) one a network (section 4.3, "trap state").

    A prefix is dead if no continuation is legal: there S_last should be 0, and the run ends. While it lives, S_last
    should be 1 and nothing be popped from an empty stack; where it is legal the stack should be empty, where it is
    live but not legal it should hold one symbol at least. Each of the four demands has the same weight in sum.

    With ``drive`` the last demand has no end: beyond 0.9 its error falls on with the slope that it has there, which is
    the small driving force of section 4.3 (2), L* - L = 0.1. It lets no push remain a half.
    """
    course = run_course(net, words, read_end=False)
    steps = course.last.shape[-1]
    live, legal = words.live[:, 1 : steps + 1], words.legal[:, 1 : steps + 1]
    inside = torch.arange(steps) < words.lengths.unsqueeze(1)
    dead = inside & ~live & words.live[:, :steps]  # the first dead prefix only
    demands = (
        (live, (1 - course.last) ** 2 + course.underflow**2),
        (dead, course.last**2),
        (legal, course.length**2),
        (live & ~legal, _driven(course.length) if drive else torch.relu(1 - course.length) ** 2),
    )
    total = torch.zeros(course.last.shape[:-2], dtype=course.last.dtype)
    for mask, error in demands:
        share = weights.unsqueeze(-1) * mask
        total = total + (share * error).sum((-1, -2)) / share.sum((-1, -2)).clamp(min=1)
    return total


def _driven(length: Tensor) -> Tensor:
    slack = 1 - _DRIVEN_FROM
    return torch.where(length < _DRIVEN_FROM, (1 - length) ** 2, slack**2 - 2 * slack * (length - _DRIVEN_FROM))


OBJECTIVES: dict[str, Objective] = {
    "end": end_objective,
    "end without hint": partial(end_objective, pop_hint=False),
    "prefix": prefix_objective,
    "prefix with drive": partial(prefix_objective, drive=True),
}
