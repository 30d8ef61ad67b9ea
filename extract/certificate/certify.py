"""Certificates: the rounded network follows an automaton on words of every length, proved by boxes.

`certification` asks for the certificate of an extracted automaton: which claim was tried, and what came of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from stacklens.automata.finite import FiniteAutomaton, regular_domain
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.certificate.abstraction import Bounds, Layout, System, TooMany
from stacklens.extract.certificate.bounded import LONGEST, certify_length
from stacklens.extract.certificate.certifiable import MARGIN, boxes_of, check_arguments
from stacklens.extract.certificate.claim import BoundedCertificate, Certificate, Certified, Fault, NotCertified
from stacklens.extract.certificate.invariant import check_invariant, find_invariant
from stacklens.extract.certificate.step_check import Unproved
from stacklens.extract.specification import Specification
from stacklens.extract.stack_ablation import StackUse
from stacklens.extract.wording import certificate_claim
from stacklens.models.base import StackModel

__all__ = [
    "CERTIFICATE_NOT_TRIED",
    "LAYOUTS",
    "WITHOUT_GRID",
    "Certification",
    "Proof",
    "certification",
    "certified_length",
    "certify",
    "prove",
]

# tried in this order; the grid is for what an automaton merges although the network keeps it apart for ever
LAYOUTS = (
    Layout(),
    Layout(tops=True),
    Layout(tops=True, steps=2),
    Layout(tops=True, value_tops=True),
    Layout(tops=True, value_tops=True, hidden=0.1, values=0.1),
)
WITHOUT_GRID = tuple(layout for layout in LAYOUTS if layout.hidden is None)
_MOST, _MOST_ON_GRID = 6_000, 1_500  # evaluations of a head in one attempt; in the zoo no grid needed more


@dataclass(frozen=True, eq=False)
class Proof:
    """A certificate and the boxes that prove it."""

    system: System
    bounds: Bounds
    certificate: Certified


def certify(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    domain: FiniteAutomaton | None = None,
    *,
    stacks: Sequence[int] | None = None,
    margin: float = MARGIN,
    layouts: Sequence[Layout] = LAYOUTS,
) -> Certificate:
    """Return whether the rounded ``model`` is proved to follow ``automaton`` on words of every length.

    To follow means: after every prefix the same operations on the stacks and the same output; a recogniser gives the
    same verdicts; a predictor of sets rejects exactly where the automaton's run is cut. Of other networks nothing is
    said from there on, nor of outputs that are None in the automaton; `Certified` counts where. A recogniser may go on
    where the automaton's run is cut, but is proved to accept nothing there.

    Args:
        model: one network, not rounded.
        automaton: what it should follow, as `extract` gives it; in one with an end marker, this stands for the
            network's end symbol.
        domain: where only some words count: the automaton that accepts these. Their prefixes are followed.
        stacks: which of the network's stacks are the automaton's, in this order; all of them unless given. What is on
            others is held in one box a stack.
        margin: every decision has to be farther from another than this, float error counted already; at least 0.
        layouts: which boxes are tried, one after the other.

    Raises:
        StacklensError: the network is of a kind that cannot be certified, or has weights that are not numbers, other
            letters, outputs or stacks than the automaton, or no end symbol where it has a marker, or gives verdicts
            where it accepts by output; the domain has other letters; or ``margin`` is negative.
    """
    found = prove(model, automaton, domain, stacks=stacks, margin=margin, layouts=layouts)
    return found.certificate if isinstance(found, Proof) else found


def prove(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    domain: FiniteAutomaton | None = None,
    *,
    stacks: Sequence[int] | None = None,
    margin: float = MARGIN,
    layouts: Sequence[Layout] = LAYOUTS,
) -> Proof | NotCertified:
    """Return what `certify` returns, a certificate with its boxes."""
    if not margin >= 0:
        raise StacklensError(f"the margin is {margin}; expected a number of at least 0")
    kept = tuple(range(model.n_stacks) if stacks is None else stacks)
    check_arguments(model, automaton, domain, kept)
    last = Fault(automaton.initial, None, (), "", "there are too many heads or pieces of boxes to look at")
    controller, words = boxes_of(model), None if domain is None else domain.trimmed()
    for layout in layouts:
        system = System(model, controller, automaton, kept, layout, words, margin)
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # bounds that overflow decide nothing
                bounds = find_invariant(system, _MOST if layout.hidden is None else _MOST_ON_GRID)
                return Proof(system, bounds, check_invariant(system, bounds))
        except Unproved as unproved:
            last = unproved.fault
        except TooMany:
            continue
    return NotCertified(last, len(layouts))


@dataclass(frozen=True)
class Certification:
    """A certificate, or why there is none.

    Attributes:
        certificate: what `certify` said; None where it could not be asked.
        words: for which words: all, or only those that the task may show the network.
        reason: why it could not be asked, None where it was.
        bounded: up to which length it is proved where it is not for every length; of words of the task, where it may
            show the network only some.
    """

    certificate: Certificate | None
    words: Literal["all", "the task's"] = "all"
    reason: str | None = None
    bounded: BoundedCertificate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        if self.certificate is None:
            return {"verdict": "not tried", "reason": self.reason}
        bounded = {} if self.bounded is None else {"bounded": self.bounded.to_dict()}
        return {**self.certificate.to_dict(), "words": self.words, **bounded}

    def __str__(self) -> str:
        return certificate_claim(self.to_dict())


CERTIFICATE_NOT_TRIED = Certification(None, reason="there is no automaton")


def certification(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    stacks: StackUse,
    specification: Specification | None,
    layouts: Sequence[Layout] = LAYOUTS,
) -> Certification:
    """Return whether the rounded ``model`` is certified to follow ``automaton`` on words of every length.

    Where that fails for all words and the task shows the network only some, it is tried for these. An automaton that
    does without some of the network's stacks cannot be followed step by step.
    """
    if stacks.unseen:
        return Certification(None, reason="the network uses stacks that the automaton does without")
    try:
        found = Certification(certify(model, automaton, stacks=stacks.stacks, layouts=layouts))
        domain = _task_domain(specification)
        if isinstance(found.certificate, Certified) or domain is None:
            return found
        narrower = certify(model, automaton, domain, stacks=stacks.stacks, layouts=layouts)
        return Certification(narrower, "the task's") if isinstance(narrower, Certified) else found
    except StacklensError as error:
        return Certification(None, reason=str(error))


def certified_length(
    found: Certification,
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    stacks: StackUse,
    specification: Specification | None,
    longest: int = LONGEST,
) -> Certification:
    """Return ``found``, which is no certificate for every length, with one up to some length, ``longest`` at most."""
    if not longest:
        return found
    try:
        domain = _task_domain(specification)
        return replace(found, bounded=certify_length(model, automaton, domain, stacks=stacks.stacks, longest=longest))
    except StacklensError as error:
        return Certification(None, reason=str(error))


def _task_domain(specification: Specification | None) -> FiniteAutomaton | None:
    """Return the words that the task may show the network, where these are only some and regular, else None."""
    task = None if specification is None or not specification.partial_domain else specification.automaton()
    return None if task is None else regular_domain(task)
