"""Certificates: the rounded network follows an automaton on words of every length, proved by boxes.

For each state of the automaton there are boxes of hidden vectors, for each stack symbol boxes of values. If from
everywhere in the boxes each step does what the automaton does, and leads into the boxes again, then so it goes on for
ever. The argument is written out at `stacklens.extract.certificate.check.check`.

What is certified is the network as torch computes it in its own floating-point numbers with operations that round once
each (no reduced precision such as TF32), in evaluation mode, with rounded actions, on words that need at most
`Certified.stack_limit` cells of a stack. Nothing overflows on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklens.automata.intersection import FiniteAutomaton
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
from stacklens.extract.certificate.arguments import check_arguments, check_network
from stacklens.extract.certificate.box_controller import BoxController
from stacklens.extract.certificate.check import check
from stacklens.extract.certificate.grow import grow
from stacklens.extract.certificate.heads import Bounds
from stacklens.extract.certificate.judge import Unproved
from stacklens.extract.certificate.layout import Layout
from stacklens.extract.certificate.marnn_boxes import MarnnBoxes
from stacklens.extract.certificate.neural_stack_boxes import NeuralStackBoxes
from stacklens.extract.certificate.nnpda_boxes import NNPDABoxes
from stacklens.extract.certificate.reach import TooMany
from stacklens.extract.certificate.result import Certificate, Certified, Fault, NotCertified
from stacklens.extract.certificate.stack_rnn_boxes import StackRNNBoxes
from stacklens.extract.certificate.system import System
from stacklens.models.base import StackModel
from stacklens.models.marnn import MarnnStackLSTM, MarnnStackRNN
from stacklens.models.marnn_joulin import MarnnJoulin
from stacklens.models.neural_stack import NeuralStack
from stacklens.models.nnpda import NNPDA
from stacklens.models.stack_rnn import StackRNN

__all__ = ["LAYOUTS", "Proof", "boxes_of", "certify", "prove"]

MARGIN = 1e-6
# tried in this order; the grid is for what an automaton merges although the network keeps it apart for ever
LAYOUTS = (Layout(), Layout(tops=True), Layout(tops=True, hidden=0.1, values=0.1))
_MOST = 3_000  # evaluations of a head in one attempt
# by the class itself: what a subclass computes is not known
_FAMILIES: dict[type[StackModel[Any]], Callable[[Any], BoxController]] = {
    NNPDA: NNPDABoxes,
    StackRNN: StackRNNBoxes,
    MarnnStackRNN: MarnnBoxes,
    MarnnStackLSTM: MarnnBoxes,
    MarnnJoulin: MarnnBoxes,
    NeuralStack: NeuralStackBoxes,
}


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

    Raises:
        StacklensError: the network is of a kind that cannot be certified, or has weights that are not numbers, other
            letters, outputs or stacks than the automaton, or no end symbol where it has a marker, or gives verdicts
            where it accepts by output; the domain has other letters; or ``margin`` is negative.
    """
    found = prove(model, automaton, domain, stacks=stacks, margin=margin)
    return found.certificate if isinstance(found, Proof) else found


def prove(
    model: StackModel[Any],
    automaton: PushdownAutomaton,
    domain: FiniteAutomaton | None = None,
    *,
    stacks: Sequence[int] | None = None,
    margin: float = MARGIN,
) -> Proof | NotCertified:
    """Return what `certify` returns, a certificate with its boxes."""
    if not margin >= 0:
        raise StacklensError(f"the margin is {margin}; expected a number of at least 0")
    kept = tuple(range(model.n_stacks) if stacks is None else stacks)
    check_arguments(model, automaton, domain, kept)
    last = Fault(automaton.initial, None, (), "", "there are too many heads or pieces of boxes to look at")
    controller, words = boxes_of(model), None if domain is None else domain.trimmed()
    for layout in LAYOUTS:
        system = System(model, controller, automaton, kept, layout, words, margin)
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # bounds that overflow decide nothing
                bounds = grow(system, _MOST)
                return Proof(system, bounds, check(system, bounds))
        except Unproved as unproved:
            last = unproved.fault
        except TooMany:
            continue
    return NotCertified(last, len(LAYOUTS))


def boxes_of(model: StackModel[Any]) -> BoxController:
    """Return the controller of ``model`` on boxes.

    Raises:
        StacklensError: there is none for this kind of network, or ``model`` is several networks on a leading axis, or
            it draws noise, or its weights are not numbers of one format that is known.
    """
    family = _FAMILIES.get(type(model))
    if family is None:
        names = ", ".join(kind.name for kind in _FAMILIES)
        if isinstance(model, tuple(_FAMILIES)):
            kind = type(model).__name__
            raise StacklensError(f"a {kind} may compute something else than a {model.name}; expected one of {names}")
        raise StacklensError(f"a {model.name} cannot be certified; expected one of {names}")
    check_network(model)
    return family(model)
