"""Stacks that are none: those that never matter, found by ablation, and those that are only ever pushed to.

They are left out, so that an automaton has no more stacks than it needs. All that is ever seen of a stack that is only
pushed to are the last values pushed: they are state and no stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..automata.coverage import transition_pair_words
from ..automata.enumeration import encode_words
from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError
from ..core.progress import check_time
from ..languages.language import format_word, make_word
from ..models.base import ControllerOutput, NetworkState, S, StackModel
from ..models.inference import differences, network_answers
from ..models.rounding import Operation, Rounded, Wrapper, operation_numbers
from ..models.views import StackView, views_of
from ..probe.trace import trace
from .samples import Samples, rounding_fidelity


@dataclass(frozen=True)
class DroppedStack:
    """A stack that does not matter."""

    stack: int  # its number, from 0
    # "never filled" (it shows an empty stack at every step), "constant" (it shows one and the same reading at every
    # step but the first ones), or "ignored" (it changes, and nothing else changes with it)
    reason: str
    shown: tuple[float, ...]  # the reading that the controller may be shown in its place, (R,)


@dataclass(frozen=True)
class StackUse:
    """Which stacks matter."""

    kept: tuple[int, ...]  # the numbers of those that do
    dropped: tuple[DroppedStack, ...]  # the others, and why
    # words, steps: on how much this was found out
    words: int
    steps: int
    # those of the kept ones that push at every step: what is seen of them is state, and no stack
    push_only: tuple[int, ...] = ()
    # stacks that the network uses and the automaton does without: it tells what the network does, and not how. They are
    # none of the kept ones
    unseen: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return asdict(self)

    def without(self, model: StackModel[S]) -> StackModel[S]:
        """Return ``model`` without the dropped stacks and with its push-only stacks as state, or ``model`` itself."""
        return FewerStacks(model, self.shown, self.push_only) if self.dropped or self.push_only else model

    def seeing(self, seen: tuple[int, ...] | None) -> StackUse:
        """Return this for an automaton that sees only the stacks numbered ``seen``; None for all of `stacks`."""
        if seen is None or set(seen) == set(self.stacks):
            return self
        dropped = tuple(one for one in self.dropped if one.stack not in seen)
        unseen = tuple(stack for stack in self.stacks if stack not in seen)
        return replace(self, kept=tuple(sorted(seen)), dropped=dropped, push_only=(), unseen=unseen)

    @property
    def stacks(self) -> tuple[int, ...]:
        """Return the numbers of the stacks that are an automaton's stacks: those kept, but for the push-only ones."""
        return tuple(stack for stack in self.kept if stack not in self.push_only)

    @property
    def shown(self) -> dict[int, tuple[float, ...]]:
        """Return what the controller is shown in place of each dropped stack."""
        return {dropped.stack: dropped.shown for dropped in self.dropped}


class FewerStacks(Wrapper[S]):
    """A network with only some stacks left: ``shown`` (R,) for each one dropped, and ``memories``, which only push.

    A memory's last values pushed stand behind the hidden vector. The network does as it did for as long as these stacks
    push: what is extracted from it is to be checked against the network itself.
    """

    name = "fewer stacks"

    def __init__(self, model: StackModel[S], shown: dict[int, tuple[float, ...]], memories: Sequence[int] = ()) -> None:
        super().__init__(model)
        gone = {*shown, *memories}
        if not gone <= set(range(model.n_stacks)):
            raise StacklensError(f"cannot leave out stacks {sorted(gone)}: there are {model.n_stacks}, counted from 0")
        self.memories, self.left = list(memories), [stack for stack in range(model.n_stacks) if stack not in gone]
        self.n_stacks, self.recurrent = len(self.left), model.recurrent or bool(memories)
        if not self.left:
            self.action_kind = "none"
        start = model.initial_state(1)
        # a controller that never looks at its own hidden vector has no need of it between steps
        self.own = start.hidden.shape[-1] if model.recurrent or not memories else 0
        reading = start.stack.reading()[0].clone()  # (n_stacks, R), of empty stacks
        for stack, values in shown.items():
            reading[stack] = torch.tensor(values, dtype=reading.dtype)
        self.register_buffer("shown", reading, persistent=False)
        self.shown: Tensor

    def initial_state(self, batch: int) -> NetworkState[S]:
        """Return the wrapped network's own state with the stacks that are left, and what its memories show."""
        state = self.model.initial_state(batch)
        seen = state.stack.reading()[:, self.memories].flatten(1)
        nothing = self.shown.new_full((batch, self.n_stacks, self.depth, self.cell_size), torch.nan)
        hidden = torch.cat([state.hidden[:, : self.own], seen], -1)
        return NetworkState(hidden, self.model.stack_of(nothing), state.rejected, state.output)

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return the wrapped controller's answer, with the memories after their push behind its hidden vector."""
        whole, left = self._whole(hidden, reading), self.left
        answer = self.model.controller(symbols, hidden[:, : self.own], whole)
        before = whole[:, self.memories, : whole.shape[-1] - self.cell_size]
        after = torch.cat([answer.pushed[:, self.memories], before], -1).flatten(1)
        return ControllerOutput(
            torch.cat([answer.hidden[:, : self.own], after], -1),
            answer.actions[:, left],
            answer.pushed[:, left],
            answer.output,
        )

    def finish(self, answer: ControllerOutput, after: Tensor) -> ControllerOutput:
        own, behind = answer.hidden[:, : self.own], answer.hidden[:, self.own :]
        made = self.model.finish(replace(answer, hidden=own), self._whole(answer.hidden, after))
        return replace(made, hidden=torch.cat([made.hidden, behind], -1))

    def decide(self, state: NetworkState[S]) -> Tensor:
        return self.model.decide(replace(state, hidden=state.hidden[..., : self.own] if self.own else state.hidden))

    def _whole(self, hidden: Tensor, reading: Tensor) -> Tensor:
        """Return what all stacks show, of dropped ones what is fixed and of memories what stands behind the vector."""
        whole = self.shown.expand(len(reading), *self.shown.shape).clone()
        whole[:, self.left] = reading
        if self.memories:
            whole[:, self.memories] = hidden[:, self.own :].reshape(len(hidden), len(self.memories), -1)
        return whole


def relevant_stacks(model: StackModel[Any], words: Sequence[Word], scored: np.ndarray | None = None) -> StackUse:
    """Return which stacks of a single ``model`` matter on ``words``, some hundred, where outputs are ``scored`` (N, T).

    They are tried in the order in which they change least alone; one that was dropped stays dropped.
    """
    everything = tuple(range(model.n_stacks))
    if model.n_stacks < 2:  # then the stack is the network's only memory
        return StackUse(everything, (), len(words), sum(map(len, words)))
    # ablation: the stack that changes least alone goes first, and stays away while others are tried
    runs = _Runs(model, words, scored)
    dropped: dict[int, DroppedStack] = {}
    alone = [runs.first_difference({stack: tuple(runs.empty[stack].tolist())}) for stack in everything]
    for stack in sorted(everything, key=lambda stack: (-alone[stack], stack)):
        found = runs.dropped({number: one.shown for number, one in dropped.items()}, stack)
        if found is not None:
            dropped[stack] = found
    kept = tuple(stack for stack in everything if stack not in dropped)
    left_out = tuple(dropped[stack] for stack in sorted(dropped))
    push_only: tuple[int, ...] = ()
    if model.task_kind != "recognition" and runs.operations:  # a recogniser's verdict may depend on what lies there
        pushes = (torch.stack(runs.operations, 1)[runs.real] == Operation.PUSH).all(0).tolist()
        push_only = tuple(stack for stack in kept if pushes[stack])
    return StackUse(kept, left_out, len(words), int(runs.real.sum()), push_only)


class _Runs:
    """What the whole rounded network does on the words, with which smaller networks are compared."""

    @torch.no_grad()
    def __init__(self, model: StackModel[Any], words: Sequence[Word], scored: np.ndarray | None) -> None:
        self.model = model
        codes, lengths = encode_words(words, model.alphabet)
        self.symbols = torch.from_numpy(np.maximum(codes, 0).astype(np.int64))
        self.real = torch.arange(codes.shape[1]) < torch.from_numpy(lengths.astype(np.int64)).unsqueeze(1)
        self.scored = self.real if scored is None else self.real & torch.from_numpy(scored)
        # what is read (B, n_stacks, R), done (B, n_stacks) and answered (B,) at every step
        readings, operations, answers = [], [], []
        network: StackModel[Any] = Rounded(model)
        state = network.initial_state(len(words))
        for t in range(self.symbols.shape[1]):
            check_time()
            step = network.step(self.symbols[:, t], state)
            state = step.state
            readings.append(step.reading.clone())  # a view would keep its whole stack in memory
            operations.append(operation_numbers(model.action_kind, model.operations, step.actions))
            answers.append(network.answer(state))
        self.operations, self.answers = operations, answers
        self.empty = model.initial_state(1).stack.reading()[0]
        self.readings = torch.stack(readings, 1)[self.real] if readings else self.empty[None]  # (M, n_stacks, R)
        self.filled: list[bool] = (self.readings != self.empty).any(2).any(0).tolist()  # whether ever, of each stack

    def dropped(self, shown: dict[int, tuple[float, ...]], stack: int) -> DroppedStack | None:
        """Return why ``stack`` does not matter where others are ``shown`` as they are; None if it does."""
        seen = self.readings[:, stack]
        distinct, counts = seen.round(decimals=6).unique(dim=0, return_counts=True)
        common = distinct[counts.argmax()]
        # shown as empty at every step, or else as what it shows most often
        for reading in (self.empty[stack], common):
            values = tuple(reading.tolist())
            if self.first_difference({**shown, stack: values}) == len(self.answers):
                steady = bool(counts.max() * 20 > counts.sum() * 19)
                reason = ("constant" if steady else "ignored") if self.filled[stack] else "never filled"
                return DroppedStack(stack, reason, values)
        return None

    @torch.no_grad()
    def first_difference(self, shown: dict[int, tuple[float, ...]]) -> int:
        """Return the first step at which an output that counts, or another stack's operation, is not the same where
        these stacks are ``shown`` so; the number of steps if none is.
        """
        empty = (
            not self.filled[stack] and values == tuple(self.empty[stack].tolist()) for stack, values in shown.items()
        )
        if all(empty):
            return len(self.answers)  # they show that themselves
        kept = [stack for stack in range(self.model.n_stacks) if stack not in shown]
        network = Rounded(FewerStacks(self.model, shown))
        state = network.initial_state(len(self.symbols))
        for t, (operations, answers) in enumerate(zip(self.operations, self.answers, strict=True)):
            check_time()
            step = network.step(self.symbols[:, t], state)
            state = step.state
            here = operation_numbers(self.model.action_kind, self.model.operations, step.actions)
            moved = (here != operations[:, kept]).any(-1) & self.real[:, t]
            changed = torch.from_numpy(np.asarray(network.answer(state) != answers))
            if (moved | (changed & self.scored[:, t])).any():
                return t
        return len(self.answers)


# ---- Networks whose memory is no stack, seen as networks on stacks: which view holds, and what it takes for granted.
#
# What is found on a view is about the network as far as the view is right. So every view is held against the rounded
# network first, on all checking words, and whatever is found on it is checked against the rounded network again.

_LARGEST_MISMATCH = 0.1  # a view may give another verdict on this share of the accepted words, not on more
_COVERING = 5_000  # words that take the transitions of an automaton, the shortest
_DRIFT = 0.01  # on so few, and no short ones, it differs by what adds up on long words


@dataclass(frozen=True)
class TriedView:
    """How a view of a network compares with the rounded network."""

    name: str  # which view
    # words, differences: on how many words they were compared, and on how many they differ
    words: int
    differences: int
    mismatch: float  # the share of the words accepted by either on which they differ, in [0, 1]
    first: Word | None = None  # a shortest word on which they differ, None for none
    candidates: int = 0  # how many candidates were tried on it

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        first = None if self.first is None else format_word(self.first)
        return {name: value for name, value in vars(self).items() if name != "mismatch"} | {"first": first}


@dataclass(frozen=True)
class ViewUse:
    """On which view of the network an automaton was looked for."""

    name: str  # which view, in words that go on after "the network with"
    assumes: str | None  # what it takes for granted of the network's memory; None where it is exact
    shown: str | None  # why part of that holds; None where it was not shown
    cells: int | None  # up to which height of each stack it holds; None for any
    stacks: tuple[str, ...]  # what each of its stacks is in the network's memory
    memories: tuple[int, ...]  # the numbers of the network's memories that the automaton's stacks are part of
    tried: tuple[TriedView, ...]  # every view that was held against the rounded network, in turn
    # whether, on the word that contradicts the automaton, it is the view that is not the rounded network
    wrong: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        tried = [one.to_dict() for one in self.tried]
        plain = {name: getattr(self, name) for name in ("name", "assumes", "shown", "cells")}
        return {**plain, "memories": list(self.memories), "tried": tried}


@dataclass(frozen=True)
class SeenAs:
    """A view of a network, and what it says of the checking words."""

    view: StackView  # the view on the network where it runs on words
    on_cpu: StackView  # the same on the network that is asked head by head
    samples: Samples  # the checking words, with the view's answers in place of the rounded network's
    tried: TriedView = field(compare=False)  # how these compare

    def right_on(self, word: Word, scored: np.ndarray | None = None) -> bool:
        """Return whether the view says of ``word`` what the rounded network does, where it is ``scored`` (T,)."""
        one, other = (network_answers(network, [word]) for network in (self.view, Rounded(self.view.model)))
        return not differences(one, other, None if scored is None else scored[None]).any()

    @property
    def holds(self) -> bool:
        """Return whether it is near enough to the rounded network for something to be looked for."""
        return self.tried.mismatch <= _LARGEST_MISMATCH

    @property
    def drifts(self) -> bool:
        """Return whether it is the rounded network on all short words, and nearly so on longer ones."""
        first = self.tried.first
        longest = max((len(word) for word in self.samples.words[: self.samples.n_short]), default=0)
        return first is None or (len(first) > longest and self.tried.mismatch <= _DRIFT)


def seen_in_turn(model: StackModel[Any], runner: StackModel[Any], samples: Samples) -> list[SeenAs]:
    """Return the views of ``model``, and of its copy ``runner``, in the order to try them: exact ones first."""
    seen = []
    for view, on_cpu in zip(views_of(runner), views_of(model), strict=True):
        answers = network_answers(view, samples.words)
        wrong = np.flatnonzero(differences(answers, samples.rounded, samples.scored).any(1)).tolist()
        mismatch = rounding_fidelity(answers, samples.rounded, samples.scored).mismatch
        first = min((samples.words[i] for i in wrong), key=len, default=None)
        tried = TriedView(view.title, len(samples.words), len(wrong), mismatch, first)
        seen.append(SeenAs(view, on_cpu, replace(samples, rounded=answers), tried))
    return sorted(seen, key=lambda one: not one.drifts)


def reason_no_view_holds(seen: Sequence[SeenAs]) -> str:
    """Return in one sentence why nothing was looked for on any of the views ``seen``."""
    parts = [
        f"with {one.tried.name} it differs on {one.tried.differences:,} of {one.tried.words:,} words"
        + ("" if one.tried.first is None else f", first on {format_word(one.tried.first)!r}")
        for one in seen
    ]
    return f"the network does not use its memory as stacks: {'; '.join(parts)}"


def view_use(
    one: SeenAs, stacks: Sequence[int], tried: Sequence[TriedView], automaton: PushdownAutomaton | None
) -> ViewUse:
    """Return what is known of the view ``one``, of which an automaton has the ``stacks``; ``tried`` are all in turn."""
    view, shown = one.view, None
    if automaton is not None:
        # why nothing that the view leaves out is read, from what the network does wherever the automaton goes
        covering = [make_word(word, automaton.input_alphabet) for word in transition_pair_words(automaton)[:_COVERING]]
        seen = trace(view.model, [*covering, *one.samples.traced], rounded=True, stacks=False)
        real = seen.valid & ~seen.rejected
        done = np.unique(seen.actions[real].argmax(-1)).tolist()
        why = view.unused([view.model.operations[place] for place in done])
        steps = f"in {int(real.sum()):,} steps, with every transition of the automaton among them"
        shown = None if why is None else f"{steps}, {why}"
    memories = tuple(sorted({view.memories[stack] for stack in stacks}))
    return ViewUse(view.title, view.assumes, shown, view.cells_for(stacks), view.stack_names, memories, tuple(tried))
