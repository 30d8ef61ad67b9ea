"""An automaton's run and the rounded network's on one word, side by side, and the first step at which they part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...automata.enumeration import encode_words
from ...automata.pda import Configuration, Output, PushdownAutomaton, StackOp, State, Symbol, Tops, Word
from ...core.progress import check_time
from ...languages.language import format_word, make_word, repeated_parts
from ...models.base import StackModel
from ...models.rounding import Operation, Rounded, RoundedSteps, named_operations, without_empty_pops
from ...models.views import StackView
from ..samples import margins
from ..wording import drift_claim


@dataclass(frozen=True)
class StepPair:
    """One step of both runs."""

    symbol: Symbol  # what is read, the end symbol included
    # state, tops: the automaton's head before the step; None and () where its run has been cut
    state: State | None
    tops: Tops
    # operations, target, output: its transition; () and None where it has none
    operations: tuple[StackOp, ...]
    target: State | None
    output: Output
    network_operations: tuple[str, ...]  # what the rounded network does to each of its stacks, pops of nothing left out
    margin: float  # how far the least certain of its actions is from being rounded otherwise, in [0, 0.5]
    network_output: Output  # its output after the step; None from a recogniser
    rejected: bool  # whether it rejects for good by the end of the step

    @property
    def cut(self) -> bool:
        """Return whether the automaton's run is over before or at this step."""
        return self.target is None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {
            "symbol": self.symbol,
            "automaton": {
                "state": self.state,
                "tops": list(self.tops),
                "operations": [str(operation) for operation in self.operations],
                "next": self.target,
                "output": self.output,
            },
            "rounded network": {
                "operations": list(self.network_operations),
                "margin": self.margin,
                "output": self.network_output,
                "rejected": self.rejected,
            },
        }


@dataclass(frozen=True)
class Divergence:
    """Both runs on a word."""

    word: Word
    moments: tuple[StepPair, ...]  # a step each
    # the number of the first step, from 0, at which they part; None if they never do, or only in the verdict
    first: int | None
    accepted: bool  # whether the automaton accepts the word
    network_accepts: bool  # whether the rounded network does; with outputs, whether it does not cut it short

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {
            "word": format_word(self.word),
            "first_step": self.first,
            "accepted": {"automaton": self.accepted, "rounded network": self.network_accepts},
            "steps": [moment.to_dict() for moment in self.moments],
        }


def divergence(
    pda: PushdownAutomaton,
    model: StackModel[Any],  # the network, not rounded
    word: Word,
    stacks: Sequence[int] | None = None,
    view: StackView | None = None,
) -> Divergence:
    """Return the runs of ``pda`` and of ``model``, rounded, on ``word``.

    They part where they do something else to a stack, put out something else, or one rejects: the automaton by having
    no transition. A recogniser may read on where the automaton has none; that counts if it accepts the word.

    ``stacks``: which of the network's stacks, or of the ``view``'s, are the automaton's, all by default. Raises
    UnknownSymbolError: a symbol of the word is not in the alphabet.
    """
    kept = range((view or model).n_stacks) if stacks is None else stacks
    steps, network_accepts = _both_runs(pda, model, word, kept, view)
    moments = tuple(step.pair for step in steps[: len(word) + (pda.end_marker is not None)])
    accepted = pda.accepts(word) if model.task_kind == "recognition" else not any(moment.cut for moment in moments)
    first = _first_parted(moments, model.task_kind == "recognition", accepted != network_accepts)
    return Divergence(word, moments, first, accepted, network_accepts)


@dataclass(frozen=True, eq=False, repr=False)
class _Moment:
    """What a step depends on: letter number, hidden vector (H,), what is seen of stacks (n_stacks, R), and its pair."""

    letter: int
    hidden: Tensor
    reading: Tensor
    pair: StepPair


@torch.no_grad()
def _both_runs(
    pda: PushdownAutomaton, model: StackModel[Any], word: Word, kept: Sequence[int], view: StackView | None = None
) -> tuple[list[_Moment], bool]:
    """Return what both do at each step, the end symbol included, and whether the rounded network accepts."""
    network: StackModel[Any] = Rounded(model)
    state = network.initial_state(1)
    codes = encode_words([word], model.alphabet)[0][0].tolist()
    heights = np.zeros(max(1, (view or model).n_stacks), np.int64)
    current: Configuration | None = pda.start
    moments: list[_Moment] = []
    for code in [*codes, *([len(model.alphabet)] if model.end is not None else [])]:
        check_time()
        # the network: what it sees, how certain its actions are, and what it does
        symbol, hidden, reading = torch.tensor([code], device=state.hidden.device), state.hidden, state.stack.reading()
        soft = hidden[:, None, :0]
        if view is not None or kept:  # a network that is asked about whole words has no controller
            soft = model.controller(symbol, hidden, reading).actions
            soft = soft if view is not None else soft[:, list(kept)]
        step = network.step(symbol, state)
        state = step.state
        made = RoundedSteps.of(network, step.hidden, step.actions, step.pushed, step.output, state.rejected)
        taken = made.operations if view is None else view.operation_numbers(step.actions)
        done, heights = without_empty_pops(taken[0], heights)
        operations = tuple(str(Operation(done[stack])) for stack in kept)
        margin = float(margins(model.action_kind, soft.cpu().numpy()).min(initial=0.5))
        number = 0 if made.rejected[0] else made.outputs[0]
        output = None if model.task_kind == "recognition" else model.output_name(number)
        does = operations, margin, output, bool(made.rejected[0])
        # the automaton, which may do without an end symbol
        letter = model.letters[code]
        here = current if letter in pda.letters else None
        head: tuple[State | None, Tops] = (None, ()) if here is None else (here.state, here.tops(pda.bottom))
        move = None if here is None else pda.transitions.get((here.state, letter, head[1]))
        current = current if here is None else pda.step(here, letter)
        pair = StepPair(letter, head[0], head[1], (), None, None, *does)
        if move is not None:
            pair = replace(pair, operations=move.operations, target=move.target, output=move.output)
        # a view of the reading would keep its whole stack in memory
        moments.append(_Moment(code, hidden[0], reading[0].clone(), pair))
    if model.task_kind == "recognition":
        return moments, bool(network.decide(state) & ~state.rejected)
    return moments, not bool(state.rejected)


def _first_parted(moments: Sequence[StepPair], recogniser: bool, contrary: bool) -> int | None:
    """Return the first step at which the runs part, None if it is not to be seen before the verdict."""
    for t, moment in enumerate(moments):
        if moment.rejected or moment.cut:
            both = moment.rejected and moment.cut
            return None if both or (recogniser and not contrary) else t
        made = tuple(operation.name for operation in moment.operations)
        if moment.network_operations and made != moment.network_operations:
            return t
        if not recogniser and moment.output != moment.network_output:
            return t
    return None


# ---- Why a word that goes round breaks a rounded network: which number moves at every cycle, and what it crosses.
#
# At the step where the network parts from the automaton, one decision is wrong. The same decision was right in earlier
# cycles, or in words with fewer of them. What differs are hidden units and what is seen of the stack; each of these is
# put back to what it was in the first cycle, and the one that saves the decision best is the one that drifted.

_FEWEST = 3  # cycles that make a drift
_MOST = 60  # cycles that are looked at one by one
_HALVINGS = 40
_BOTTOM = PushdownAutomaton.bottom  # as every automaton that is extracted calls it
_HALF = 0.5  # where signed actions, strengths and sets are rounded


@dataclass(frozen=True)
class Drift:
    """What a rounded network accumulates over the cycles of a word, until a decision of it tips over."""

    word: Word  # the word that breaks it
    cycle: Word  # what is repeated in it
    symbol: str  # what is read at the step that goes wrong
    decision: str  # the automaton's operation or output there
    quantity: str  # the number that drifts, of those that the step depends on
    cycles: tuple[int, ...]  # after how many cycles each of the values and margins was taken
    values: tuple[float, ...]  # the number at that step
    margins: tuple[float, ...]  # how far the decision is from another; below 0 where it is another
    # where the number tips the decision, all others as in the last cycle; None if it does not alone
    threshold: float | None
    first_broken: int  # the first of ``cycles`` with a margin that is not above 0

    @property
    def per_cycle(self) -> float:
        """Return by how much the number moves a cycle: the median of its steps but the first."""
        gaps = np.diff(self.values[1:]) / np.diff(self.cycles[1:])
        return float(np.median(gaps))

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Drift:
        """Return what `to_dict` gave, its words as text."""
        kept: dict[str, Any] = {one.name: entry[one.name] for one in fields(cls)}
        kept |= {name: tuple(value) for name, value in kept.items() if isinstance(value, list)}
        return cls(**kept)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        words = {name: format_word(getattr(self, name)) for name in ("word", "cycle")}
        return {**plain, **words, "per_cycle": self.per_cycle}

    def __str__(self) -> str:
        return drift_claim(self.to_dict())


def drift(
    pda: PushdownAutomaton, model: StackModel[Any], word: Word, stacks: Sequence[int] | None = None
) -> Drift | None:
    """Return why the rounded ``model`` parts from ``pda`` on ``word``, which repeats a part at least three times.

    None where it does not part, or only in its verdict, nothing is repeated, or the decision was as near in the first
    cycle. ``stacks``: as for `divergence`.
    """
    kept = tuple(range(model.n_stacks) if stacks is None else stacks)
    parted = divergence(pda, model, word, kept)
    if parted.first is None or parted.moments[parted.first].cut or parted.moments[parted.first].rejected:
        return None
    found = _over_cycles(pda, model, word, kept, parted.first)
    if found is None:
        return None
    cycle, cycles, moments = found

    def least(moment: _Moment, hidden: Tensor, reading: Tensor) -> np.ndarray:
        margins = (margin for margin, _ in _margins(model, kept, moment, hidden, reading))
        return np.asarray(np.min([np.full(len(hidden), np.inf), *margins], axis=0))

    margins = [float(least(one, one.hidden[None], one.reading[None])[0]) for one in moments]
    broken = next((n for n, margin in zip(cycles, margins, strict=True) if not margin > 0), None)
    if broken is None or len(cycles) < _FEWEST or not margins[0] > 0:
        return None

    # each number of the last moment is put back to that of the first: which of them saves the decision best?
    last, size = moments[-1], len(moments[0].hidden)
    rows = [torch.cat([one.hidden, one.reading.flatten()]) for one in moments]
    swapped = rows[-1].repeat(len(rows[0]), 1)
    swapped.fill_diagonal_(0.0)
    swapped += torch.diag(rows[0])

    def judged(some: Tensor) -> np.ndarray:
        reading = some[:, size:].view(len(some), *last.reading.shape)
        return least(last, some[:, :size], reading)

    place = int(judged(swapped).argmax())

    def holds(value: float) -> bool:
        other = rows[-1].clone()
        other[place] = value
        return bool(judged(other[None])[0] > 0)

    # where between both values the decision is gone, if this number alone decides
    threshold = None
    safe, gone = float(rows[0][place]), float(rows[-1][place])
    if holds(safe) and not holds(gone):
        for _ in range(_HALVINGS):
            middle = (safe + gone) / 2
            safe, gone = (middle, gone) if holds(middle) else (safe, middle)
        threshold = gone
    # the decision of the automaton from which the network is farthest
    gone_by = _margins(model, kept, last, last.hidden[None], last.reading[None])
    return Drift(
        word,
        cycle,
        model.letters[last.letter],
        min((float(margin[0]), decision) for margin, decision in gone_by)[1],
        _quantity_name(model, place, size),
        tuple(cycles),
        tuple(float(row[place]) for row in rows),
        tuple(margins),
        threshold,
        broken,
    )


def _over_cycles(
    pda: PushdownAutomaton, model: StackModel[Any], word: Word, kept: tuple[int, ...], step: int
) -> tuple[Word, list[int], list[_Moment]] | None:
    """Return what is repeated, after how many cycles something is known, and what the step depends on then."""
    # the part of the word that the step is in
    parts = repeated_parts(word)
    ends = np.cumsum([len(part) * n for part, n in parts])
    mine = min(int(np.searchsorted(ends, step, side="right")), len(parts) - 1)
    begin = int(ends[mine]) - len(parts[mine][0]) * parts[mine][1]
    cycle, times = parts[mine]
    turn = (step - begin) // len(cycle)
    if times > 1 and _FEWEST <= turn + 1 <= times:  # it goes wrong on its way round
        rounds = _evenly(turn + 1)
        seen, _ = _both_runs(pda, model, word, kept)
        return cycle, rounds, [seen[step - (turn + 1 - n) * len(cycle)] for n in rounds]
    # else what is repeated most before it: words with fewer rounds of that part, as far from the end of the step's own
    before = [(n, place) for place, (_, n) in enumerate(parts[: mine + 1]) if n >= _FEWEST]
    if not before:
        return None
    times, place = max(before)
    rounds, moments = [], []
    for n in _evenly(times):
        counts = [n if count == times else count for _, count in parts]
        at = sum(len(part) * count for (part, _), count in zip(parts[:mine], counts, strict=False)) + step - begin
        at -= (parts[mine][1] - counts[mine]) * len(parts[mine][0])
        shorter = [x for (part, _), count in zip(parts, counts, strict=True) for _ in range(count) for x in part]
        if 0 <= at <= len(shorter):
            moments.append(_both_runs(pda, model, make_word(shorter, model.alphabet), kept)[0][at])
            rounds.append(n)
    return parts[place][0], rounds, moments


def _evenly(most: int) -> list[int]:
    return sorted({int(n) for n in np.linspace(1, most, min(most, _MOST))})


@torch.no_grad()
def _margins(
    model: StackModel[Any], kept: tuple[int, ...], moment: _Moment, hidden: Tensor, reading: Tensor
) -> list[tuple[np.ndarray, str]]:
    """Return how far the network, at ``hidden`` (N, H) and ``reading`` (N, S, R), is from another decision than each of
    the automaton's, (N,), and what that one is called; of a set of symbols the one that is nearest at the first.
    """
    answer, pair = model.whole_answer(torch.full((len(hidden),), moment.letter), hidden, reading), moment.pair
    found = []
    for place, stack in enumerate(kept):
        actions = answer.actions.expand(len(hidden), -1, -1)[:, stack].double().cpu().numpy()
        wanted = pair.operations[place]
        margin = _action_margin(model, actions, Operation.of(wanted), pair.tops[place] == _BOTTOM)
        found.append((margin, f"operation {wanted}"))
    if model.task_kind == "recognition" or pair.output is None:
        return found
    outputs, symbols = answer.output.double().cpu().numpy(), model.output_alphabet
    if model.task_kind == "next set":
        foreseen = np.array([symbol in pair.output for symbol in symbols])
        margins = np.where(foreseen, outputs - _HALF, _HALF - outputs)
        place = int(margins[0].argmin())
        return [*found, (margins.min(1), f"{'output' if foreseen[place] else 'no output'} {symbols[place]}")]
    place = symbols.index(str(pair.output))
    others = np.delete(outputs, place, axis=1).max(1, initial=-np.inf)
    return [*found, (outputs[:, place] - others, f"output {pair.output}")]


def _action_margin(model: StackModel[Any], actions: np.ndarray, wanted: Operation, empty: bool) -> np.ndarray:
    """Return how far ``actions`` (N, A) are from another operation than the one wanted, (N,), on an ``empty`` stack."""
    if model.action_kind == "softmax":
        numbers = [Operation(n) if n >= 0 else None for n in named_operations(model.operations)]
        right = np.array([n is not None and (n.on_empty if empty else n) == wanted for n in numbers])
        if not right.any():
            return np.full(len(actions), -1.0)
        return np.asarray(actions[:, right].max(1) - actions[:, ~right].max(1, initial=-np.inf))
    if model.action_kind == "strengths":
        pop, push = actions[:, 0] - _HALF, actions[:, 1] - _HALF
        pushes = push if wanted.pushes else -push
        return pushes if empty else np.minimum(pushes, pop if wanted.pops else -pop)
    force: np.ndarray = actions[:, 0]
    if wanted == Operation.NONE:
        return _HALF - (force if empty else np.abs(force))
    return force - _HALF if wanted.pushes else -_HALF - force


def _quantity_name(model: StackModel[Any], place: int, size: int) -> str:
    """Return what one of the numbers is called that a step depends on: ``size`` hidden units, then the reading."""
    if place < size:
        return f"hidden unit {place + 1}"
    stack, number = divmod(place - size, model.depth * model.cell_size)
    cell, part = divmod(number, model.cell_size)
    whose = "the stack" if model.n_stacks == 1 else f"stack {stack + 1}"
    which = "the top" if cell == 0 else f"cell {cell + 1}"
    return f"{which} of {whose}" if model.cell_size == 1 else f"number {part + 1} of {which} of {whose}"
