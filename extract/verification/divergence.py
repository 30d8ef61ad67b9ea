"""An automaton's run and the rounded network's on one word, side by side, and the first step at which they part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stacklens.automata.compiled import encode_words
from stacklens.automata.pda import Configuration, Output, PushdownAutomaton, StackOp, State, Symbol, Tops, Word
from stacklens.extract.fidelity import margins
from stacklens.languages.words import format_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Operation, Rounded, RoundedSteps, without_empty_pops
from stacklens.models.views.stack_view import StackView

__all__ = ["Divergence", "StepPair", "divergence"]


@dataclass(frozen=True)
class StepPair:
    """One step of both runs.

    Attributes:
        symbol: what is read, the end symbol included.
        state, tops: the automaton's head before the step; None and () where its run has been cut.
        operations, target, output: its transition; () and None where it has none.
        network_operations: what the rounded network does to each of its stacks, pops of nothing left out.
        margin: how far the least certain of its actions is from being rounded otherwise, in [0, 0.5].
        network_output: what it says after the step; None from a recogniser.
        rejected: whether it rejects for good by the end of the step.
    """

    symbol: Symbol
    state: State | None
    tops: Tops
    operations: tuple[StackOp, ...]
    target: State | None
    output: Output
    network_operations: tuple[str, ...]
    margin: float
    network_output: Output
    rejected: bool

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
    """Both runs on a word.

    Attributes:
        word: the word.
        moments: a step each.
        first: the number of the first step, from 0, at which they part; None if they never do, or only in the verdict.
        accepted: whether the automaton accepts the word.
        network_accepts: whether the rounded network does; who is no recogniser accepts what it does not cut short.
    """

    word: Word
    moments: tuple[StepPair, ...]
    first: int | None
    accepted: bool
    network_accepts: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {
            "word": format_word(self.word),
            "first_step": self.first,
            "accepted": {"automaton": self.accepted, "rounded network": self.network_accepts},
            "steps": [moment.to_dict() for moment in self.moments],
        }


@torch.no_grad()
def divergence(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    word: Word,
    stacks: Sequence[int] | None = None,
    view: StackView | None = None,
) -> Divergence:
    """Return the runs of ``pda`` and of ``model``, rounded, on ``word``.

    They part where they do something else to a stack, say something else, or one rejects: the automaton by having no
    transition. A recogniser may read on where the automaton has none; that counts if it accepts the word.

    Args:
        pda: the automaton.
        model: the network, not rounded.
        word: the word.
        stacks: which of the network's stacks, or of the view's, are the automaton's, all by default.
        view: the network as one on stacks, where its memory is none: what it does to the view's stacks is told.

    Raises:
        UnknownSymbolError: a symbol of the word is not in the alphabet.
    """
    kept = range((view or model).n_stacks) if stacks is None else stacks
    letters = [*word, *([model.end] if model.end is not None else [])]
    steps, network_accepts = _network_steps(model, word, kept, view)
    moments = []
    current: Configuration | None = pda.start
    for letter, (operations, margin, output, rejected) in zip(letters, steps, strict=True):
        state, move = None, None
        tops: Tops = ()
        if current is not None and letter in pda.letters:  # the automaton may do without an end symbol
            state, tops = current.state, current.tops(pda.bottom)
            move = pda.transitions.get((state, letter, tops))
            current = pda.step(current, letter)
        made = () if move is None else move.operations
        target, said = (None, None) if move is None else (move.target, move.output)
        moments.append(StepPair(letter, state, tops, made, target, said, operations, margin, output, rejected))
    moments = moments[: len(word) + (pda.end_marker is not None)]
    accepted = pda.accepts(word) if model.task_kind == "recognition" else not any(moment.cut for moment in moments)
    first = _first(moments, model.task_kind == "recognition", accepted != network_accepts)
    return Divergence(word, tuple(moments), first, accepted, network_accepts)


_NetworkStep = tuple[tuple[str, ...], float, Output, bool]


def _network_steps(
    model: StackModel[Any], word: Word, kept: Sequence[int], view: StackView | None
) -> tuple[list[_NetworkStep], bool]:
    """Return what the rounded network does at each step, the end symbol included, and whether it accepts."""
    network: StackModel[Any] = Rounded(model)
    state = network.initial_state(1)
    codes = encode_words([word], model.alphabet)[0][0].tolist()
    heights = np.zeros(max(1, (view or model).n_stacks), np.int64)
    steps: list[_NetworkStep] = []
    for code in [*codes, *([len(model.alphabet)] if model.end is not None else [])]:
        symbol = torch.tensor([code], device=state.hidden.device)
        soft = state.hidden[:, None, :0]
        if view is not None or kept:  # who is asked about whole words has no controller to ask
            soft = model.controller(symbol, state.hidden, state.stack.reading()).actions
            soft = soft if view is not None else soft[:, list(kept)]
        step = network.step(symbol, state)
        state = step.state
        made = RoundedSteps.of(network, step.hidden, step.actions, step.pushed, step.output, state.rejected)
        taken = made.operations if view is None else view.operation_numbers(step.actions)
        done, heights = without_empty_pops(taken[0], heights)
        operations = tuple(str(Operation(done[stack])) for stack in kept)
        least = margins(model.action_kind, soft.cpu().numpy())
        number = 0 if made.rejected[0] else made.outputs[0]
        output = None if model.task_kind == "recognition" else model.output_name(number)
        steps.append((operations, float(least.min(initial=0.5)), output, bool(made.rejected[0])))
    if model.task_kind == "recognition":
        return steps, bool(network.decide(state) & ~state.rejected)
    return steps, not bool(state.rejected)


def _first(moments: Sequence[StepPair], recogniser: bool, contrary: bool) -> int | None:
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
