"""The induction that a certificate is: boxes hold the start and the images of all steps, and every step is right."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stacklens.extract.certificate.heads import Bounds, Head, Key, Move, Outcome, Place, Value
from stacklens.extract.certificate.judge import Unproved, Where, fault, judge
from stacklens.extract.certificate.reach import reached
from stacklens.extract.certificate.result import Certified
from stacklens.extract.certificate.system import System

__all__ = ["check"]

_WHAT = {Place: "hidden vector", Value: "stack value"}


def check(system: System, bounds: Bounds) -> Certified:
    """Return the certificate that ``bounds`` prove.

    By induction over the length of words. What a run has at its start lies in the boxes. Let what it has now lie in
    those that its head names. The step is judged for all that these boxes hold, so the network does what the automaton
    does, and what it has then lies in the images; these are checked to lie in the boxes that the next heads name. What
    a pop uncovers has been in its box since it was laid there. Which heads runs show is found out anew. Stacks that add
    up their length in floats do so exactly as long as all whole numbers up to it are there (`System.stack_limit`).

    Raises:
        Unproved: a step is not shown to be right, or an image leaves its box.
        TooMany: there are too many heads.
    """
    for key, (low, high) in system.start_bounds().items():
        if not _holds(bounds, key, low, high):
            raise Unproved(fault(system, system.start, None, "the start is not in its box", (low, high)))
    moves: dict[Head, list[Move]] = {}
    steps, smallest = 0, np.inf
    cuts: dict[Where, None] = {}
    silent: dict[Where, None] = {}
    fresh = [system.start]
    while fresh:
        for found in judge(system, fresh, bounds):
            head, outcomes = found.head, found.outcomes
            _check_images(system, head, outcomes, bounds)
            steps, smallest = steps + len(outcomes), min(smallest, found.margin)
            cuts |= dict.fromkeys(found.cuts)
            silent |= dict.fromkeys(found.silent)
            moves[head] = [move for outcome in outcomes for move in outcome.moves(head[1], system.model.depth)]
        fresh = [head for head in reached(system.start, moves) if head not in moves]
    if cuts and not steps:
        raise Unproved(fault(system, system.start, next(iter(cuts))[1], "nothing would be said of any word"))
    used = {key for head in moves for key in system.keys(head)}
    return Certified(
        boxes=len(used),
        steps=steps,
        margin=smallest,
        stack_limit=system.stack_limit,
        number_format=system.controller.arithmetic.name,
        cuts=len(cuts),
        first_cut=next(iter(cuts), None),
        silent=len(silent),
    )


def _check_images(system: System, head: Head, found: Iterable[Outcome], bounds: Bounds) -> None:
    for outcome in found:
        for key, piece in outcome.targets:
            if not _holds(bounds, key, piece.low, piece.high):
                box = piece.low, piece.high
                raise Unproved(fault(system, head, outcome.letter, "an image leaves its box", box, _WHAT[type(key)]))


def _holds(bounds: Bounds, key: Key, low: np.ndarray, high: np.ndarray) -> bool:
    if key not in bounds:
        return False
    floor, ceiling = bounds[key]
    return bool((floor <= low).all() and (high <= ceiling).all())
