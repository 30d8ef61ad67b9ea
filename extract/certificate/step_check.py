"""Judging steps from boxes: does the network do for sure what the automaton does?

A step is right where whether the network rejects, what it does to its stacks and what it outputs are decided with a
margin and the automaton does the same; a recogniser's verdict on a word that ends there is right likewise. Where the
automaton's run is cut, a recogniser may go on, but must not accept; a predictor of sets must reject; of others nothing
is claimed. Where a number that the network computes may leave its format, nothing is decided at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...automata.pda import State, Symbol, Transition
from ...automata.pda import Tops as Names
from ...models.inference import output_number
from ...models.rounding import Operation
from ..agreement import Fault
from .abstraction import (
    FIRST,
    Bounds,
    Box,
    BoxAnswer,
    BoxHead,
    Control,
    Decision,
    ImagePiece,
    Place,
    Row,
    StepOutcome,
    System,
    Tag,
    Value,
    image_pieces,
    other_stack,
    other_top,
)

Where = tuple[State, Symbol, Names]  # where the automaton has a transition, or none


class Unproved(Exception):  # noqa: N818 - it carries a result
    """A step could not be shown to be right."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class _Sure(NamedTuple):
    """A decision at one head, and its margin."""

    number: int
    margin: float


class CheckedHead(NamedTuple):
    """What was found at a head."""

    head: BoxHead  # the head
    outcomes: list[StepOutcome]  # what happens there, for each letter after which something is to be followed
    margin: float  # the smallest margin of the decisions
    gap: float  # the smallest distance of the actions' sums from a tie (see `BoxAnswer`)
    cuts: list[Where]  # where the automaton's run is cut and nothing is claimed of the network's
    silent: list[Where]  # where nothing is claimed of the network's output, for the automaton's is None


@dataclass(frozen=True, eq=False)
class StepImage:
    """What the controller answers to one letter in all rows at a head (see `BoxAnswer`): unsure where two differ."""

    hidden: Box  # the next hidden vectors
    decided: list[Decision]  # what is done to each stack, row by row
    # operations, output: the operations and the output in all of them
    operations: list[_Sure]
    pushed: list[Box]  # what a push lays on each stack
    output: _Sure
    in_range: bool  # whether all numbers stay in the network's format
    gap: float  # the smallest of all rows

    @classmethod
    def of(cls, answer: BoxAnswer, rows: slice) -> StepImage:
        """Return the image in some rows of an answer."""
        *decided, output = (one.rows(rows) for one in (*answer.operations, answer.output))
        hidden, *pushed = (box.rows(rows) for box in (answer.hidden, *answer.pushed))
        inside, gap = bool(answer.in_range[rows].all()), float(answer.gaps[rows].min())
        return cls(hidden, decided, list(map(_in_all, decided)), pushed, _in_all(output), inside, gap)


def _in_all(decision: Decision) -> _Sure:
    numbers, margins = decision.numbers, decision.margins
    if len(numbers) == 1:
        return _Sure(int(numbers[0]), float(margins[0]))
    return _Sure(int(numbers[0]), float(margins.min()) if (numbers == numbers[0]).all() else np.nan)


def _around(box: Box) -> tuple[Row, Row]:
    return (box.low[0], box.high[0]) if len(box.low) == 1 else (box.low.min(0), box.high.max(0))


def checked_heads(system: System, heads: Sequence[BoxHead], bounds: Bounds) -> Iterator[CheckedHead]:
    """Yield for each of ``heads`` what all letters do there. Raises Unproved: a step is not right; TooMany."""
    answers = list(system.answers(heads, bounds))
    for row, head in enumerate(heads):
        low, high = bounds[head[0].place]
        margin = judge_verdict(system, head, Box(low[None], high[None]))
        cases = [
            StepCase(system, head, letter, StepImage.of(answers[number], slice(row, row + 1)), domain, bounds)
            for number, letter, domain in letters_at(system, head)
        ]
        found = [case.outcome() for case in cases]
        smallest, gap = min([margin, *(case.margin for case in cases)]), min([np.inf, *(case.gap for case in cases)])
        cuts, silent = ([one.where for one in cases if there(one)] for there in (StepCase.is_cut, StepCase.is_silent))
        yield CheckedHead(head, [outcome for outcome in found if outcome is not None], smallest, gap, cuts, silent)


def letters_at(system: System, head: BoxHead) -> Iterator[tuple[int, Symbol, State | None]]:
    """Yield the letters that count at a head, with their numbers and the domain's next state."""
    domain, control = system.domain, head[0]
    for number, letter in enumerate(system.model.letters):
        if control.ended:
            continue
        if domain is None or letter == system.model.end:
            if domain is None or control.domain in domain.accepting:
                yield number, letter, control.domain
        elif (after := domain.step(control.domain, letter)) is not None:
            yield number, letter, after


def judge_verdict(system: System, head: BoxHead, hidden: Box) -> float:
    """Return the margin of the verdict at ``head``, infinite for none. Raises Unproved: it is not sure, or wrong."""
    control, tops = head
    if system.model.task_kind != "recognition" or control.ended != (system.model.end is not None):
        return np.inf
    if system.domain is not None and control.domain not in system.domain.accepting:
        return np.inf
    expected = _automaton_accepts(system, head) if control.accepted is None else control.accepted
    verdict = _Sure(0, np.inf)
    if not control.rejected and not any(tops):
        verdict = _in_all(system.controller.accepts(hidden))
    if not verdict.margin > system.margin:  # so that NaN is not sure
        raise Unproved(fault(system, head, None, "the verdict is not sure", _around(hidden)))
    if bool(verdict.number) != expected:
        does = "accepts" if verdict.number else "rejects"
        raise Unproved(fault(system, head, None, f"the network {does} and the automaton does not"))
    return verdict.margin


def fault(
    system: System,
    head: BoxHead,
    letter: Symbol | None,
    reason: str,
    box: tuple[Row, Row] | None = None,
    what: str = "",
) -> Fault:
    """Return what is wrong at a head on a letter (None: with the verdict), and the bounds that are too wide there."""
    names = _top_names(system, head)
    step = None if letter is None else _transition(system, head, letter)
    operation = "" if letter is None else "no transition" if step is None else ", ".join(map(str, step.operations))
    bounds = () if box is None else tuple(zip(*(side.tolist() for side in box), strict=True))
    return Fault(head[0].state, letter, names, operation, reason, what or "hidden vector", bounds)


def _automaton_accepts(system: System, head: BoxHead) -> bool:
    (control, tops), pda = head, system.automaton
    if control.state is None or control.ended != (pda.end_marker is not None):
        return False
    return pda.accepts_at(control.state, not any(tops))


def _top_names(system: System, head: BoxHead) -> Names:  # of a stack that the network lacks: the bottom
    names = tuple(system.automaton.bottom if top is None else top.symbol or "?" for top in head[1])
    return names or (system.automaton.bottom,) * system.automaton.n_stacks


def _transition(system: System, head: BoxHead, letter: Symbol) -> Transition | None:
    pda, state = system.automaton, head[0].state
    symbol = pda.end_marker if letter == system.model.end else letter  # the end may have another name
    if state is None or symbol is None:
        return None
    return pda.transitions.get((state, symbol, _top_names(system, head)))


class StepCase:
    """One head, one letter, and what the controller answers there."""

    def __init__(
        self,
        system: System,
        head: BoxHead,
        letter: Symbol,
        image: StepImage,
        domain: State | None,
        bounds: Bounds | None = None,
    ) -> None:
        self.system, self.head, self.letter, self.image, self.domain = system, head, letter, image, domain
        self.bounds = bounds if system.layout.others else None
        self.control, self.tops = head
        self.names, self.end = _top_names(system, head), letter == system.model.end
        self.step = _transition(system, head, letter)
        self.margin = np.inf  # the smallest of what was decided so far
        self.gap = np.inf  # of the actions' sums from a tie, where actions count: the network does not reject anyway

    @property
    def where(self) -> Where:
        """Return where the automaton is."""
        return self.control.state or "", self.letter, self.names

    def is_cut(self) -> bool:
        """Return whether the automaton's run is cut and nothing is claimed of the network's."""
        return self.step is None and self.system.model.task_kind in ("next symbol", "transduction")

    def is_silent(self) -> bool:
        """Return whether there is an output of which nothing is claimed."""
        kind = self.system.model.task_kind
        return self.step is not None and self.step.output is None and kind != "recognition"

    def outcome(self) -> StepOutcome | None:
        """Return what happens, or None where nothing more is to be followed."""
        if self.is_cut():
            return None
        rejects, accepted = self._rejects(), None
        if self.end and self.step is None:  # the automaton has its verdict before the end symbol
            accepted = _automaton_accepts(self.system, self.head)
        if not rejects:
            signed = self.system.model.action_kind == "signed"
            self.gap = self._last_gap() if self.end and signed else self.image.gap
            if self.step is None and not self.end and self.system.model.task_kind == "next set":
                raise self._unproved("the network goes on")
            # what is done to the stacks, which has to be what the automaton does
            unsure = "the operation is not sure"
            numbers = [self._decided(self.image.operations[stack], unsure) for stack in self.system.stacks]
            sure = [Operation(number) for number in numbers]
            done = tuple(one.on_empty if top is None else one for one, top in zip(sure, self.tops, strict=True))
            named = done or (Operation.NONE,) * len(self.names)
            if self.step is not None and named != tuple(map(Operation.of, self.step.operations)):
                raise self._unproved(f"the network does {', '.join(map(str, named))}")
            return self._follow(done, accepted)
        if accepted or (self.step is not None and not self.end):
            raise self._unproved("the network rejects")
        if self.step is None:
            return None
        taken = tuple(map(Operation.of, self.step.operations))
        return self._follow(taken[: len(self.tops)], rejected=True)

    def _last_gap(self) -> float:
        """Return the gap of an NNPDA's action on the end symbol, which may be in between: only the verdict follows it.

        An action of size a < 1/2 moves the length L by no more. Above a whole cell the verdict is a rejection all the
        same; on an empty stack it is what S_last > 1/2 says, but for S_last - L > 1/2 where L may be a.
        """
        number, margin = self.image.operations[0]
        if Operation(number) != Operation.NONE:
            return self.image.gap
        if any(self.tops):
            return np.inf
        accepts = _in_all(self.system.controller.accepts(self.image.hidden))
        return np.inf if accepts.margin > (0.5 - margin) * accepts.number else 0.0

    def _follow(
        self, operations: tuple[Operation, ...], accepted: bool | None = None, rejected: bool = False
    ) -> StepOutcome:
        # the network's output has to be the automaton's; a set that it predicts is kept in mind
        model, layout, predicted = self.system.model, self.system.layout, None
        wanted = None if self.step is None else self.step.output
        sets = self.step is not None and model.task_kind == "next set"
        if sets or (wanted is not None and model.task_kind != "recognition"):
            number = self._decided(self.image.output, "the output is not sure")
            if wanted is not None and number != output_number(wanted, model):
                raise self._unproved(f"the network outputs {model.output_name(number)}")
            predicted = number if sets else None
        target = None if self.step is None else self.step.target
        control = Control(target, Place(()), predicted, self.domain, self.end, accepted, rejected)
        symbols = (None,) * len(self.tops) if self.step is None else tuple(op.push for op in self.step.operations)
        # the next hidden vector
        tag: Tag = target, *layout.remembered(self.control.place, self._tag(layout.tops))
        pieces = image_pieces(*_around(self.image.hidden), layout.hidden)
        if not model.recurrent:  # what it keeps is never read
            pieces = image_pieces(*self.system.start_bounds()[FIRST])
            tag = tag if layout.others else FIRST.tag
        hidden = [(Place(tag, piece.cell), piece) for piece in pieces]
        # what may be pushed on stacks that the automaton has not, and what may be on top of them
        pushed, others = list[list[tuple[Value, ImagePiece]]](), list[tuple[Value, ImagePiece]]()
        for stack in self.system.others:
            number, margin = self.image.operations[stack]
            top, sure = _around(self.image.pushed[stack]), margin > self.system.margin
            if Operation(number).pushes or not sure:
                others += [(other_stack(stack), piece) for piece in image_pieces(*top)]
            if self.bounds is not None:
                below = self.bounds[other_stack(stack)]
                if not sure:
                    top = np.minimum(top[0], below[0]), np.maximum(top[1], below[1])
                elif not Operation(number).pushes:
                    top = below if Operation(number).pops else self.bounds[other_top(stack, self.control.place)]
                (piece,) = image_pieces(*top)
                others += [(other_top(stack, place), piece) for place, _ in hidden]
        width = None if model.pushes_input else layout.values
        for stack, operation, symbol in zip(self.system.stacks, operations, symbols, strict=False):
            tag = symbol, *self._tag(layout.value_tops)
            laid = image_pieces(*_around(self.image.pushed[stack]), width) if operation.pushes else []
            pushed.append([(Value(stack, tag, piece.cell), piece) for piece in laid])
        return StepOutcome(self.letter, control, operations, symbols[: len(self.tops)], hidden, tuple(pushed), others)

    def _rejects(self) -> bool:
        """Return whether the network rejects for good at this step (see `StackModel.rejects`)."""
        model, predicted = self.system.model, self.control.said
        if model.task_kind == "next set":  # the letter may not be in the set predicted before it
            foreseen = model.first is None or self.letter in model.first
            if predicted is not None:
                foreseen = bool(predicted >> model.alphabet.index(self.letter) & 1)
            if not foreseen:
                return True
        if not self.image.in_range:
            raise self._unproved(f"what is computed there may overflow {self.system.controller.arithmetic.name}")
        if model.task_kind != "recognition":
            return False
        if self.tops[0] is None:  # a pop of nothing is illegal
            popped = self.image.operations[0]
            if self._decided(popped, "the operation is not sure") == Operation.POP:
                self.gap = self.image.gap
                return True
        trapped = _in_all(self.system.controller.traps(self.image.hidden))
        return self._decided(trapped, "whether the network rejects is not sure") == 1

    def _tag(self, tops: bool) -> Tag:
        return (self.letter, *self.names) if tops else (self.letter,)

    def _decided(self, sure: _Sure, otherwise: str) -> int:
        if not sure.margin > self.system.margin:  # so that NaN is not sure
            raise self._unproved(otherwise, wide=True)
        self.margin = min(self.margin, sure.margin)
        return sure.number

    def _unproved(self, reason: str, wide: bool = False) -> Unproved:
        box = _around(self.image.hidden) if wide else None
        return Unproved(fault(self.system, self.head, self.letter, reason, box))
