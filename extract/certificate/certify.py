"""Certificates: the rounded network follows an automaton on words of every length, proved by boxes.

For each state of the automaton there are boxes of hidden vectors, for each stack symbol boxes of values. If from
everywhere in the boxes each step does what the automaton does, and leads into the boxes again, then so it goes on for
ever. The argument is written out at `stacklens.extract.certificate.check.check`.

What is certified is the network as torch computes it in its own floating-point numbers with operations that round once
each (no reduced precision such as TF32), in evaluation mode, with rounded actions and stacks as high as a word needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklens.automata.intersection import FiniteAutomaton
from stacklens.automata.pda import PushdownAutomaton
from stacklens.errors import StacklensError
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

__all__ = ["LAYOUTS", "Proof", "boxes_of", "certify", "prove"]

MARGIN = 1e-6
# tried in this order; the grid is for what an automaton merges although the network keeps it apart for ever
LAYOUTS = (Layout(), Layout(tops=True), Layout(tops=True, hidden=0.1, values=0.1))
_MOST = 3_000  # evaluations of a head in one attempt
_FAMILIES: dict[str, Callable[[Any], BoxController]] = {
    "nnpda": NNPDABoxes,
    "stack-rnn": StackRNNBoxes,
    "marnn-stack-rnn": MarnnBoxes,
    "marnn-stack-lstm": MarnnBoxes,
    "marnn-joulin": MarnnBoxes,
    "neural-stack": NeuralStackBoxes,
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
    said from there on, nor of outputs that are None in the automaton. A recogniser may go on where the automaton's run
    is cut, but is proved to accept nothing there.

    Args:
        model: one network, not rounded.
        automaton: what it should follow, as `extract` gives it; in one with an end marker, this stands for the
            network's end symbol.
        domain: where only some words count: the automaton that accepts these. Their prefixes are followed.
        stacks: which of the network's stacks are the automaton's, in this order; all of them unless given. What is on
            others is held in one box a stack.
        margin: every decision has to be farther from another than this, float error counted already.

    Raises:
        StacklensError: the network is of a kind that cannot be certified, or has other letters or stacks than the
            automaton, or no end symbol where it has a marker, or gives verdicts where it accepts by output.
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
    kept = tuple(range(model.n_stacks) if stacks is None else stacks)
    _check_arguments(model, automaton, kept)
    last = Fault(automaton.initial, None, (), "", "there are too many heads or pieces of boxes to look at")
    controller, words = boxes_of(model), None if domain is None else domain.trimmed()
    for layout in LAYOUTS:
        system = System(model, controller, automaton, kept, layout, words, margin)
        try:
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
        StacklensError: there is none for this kind of network, or ``model`` is several networks on a leading axis.
    """
    if model.name not in _FAMILIES:
        raise StacklensError(f"a {model.name} cannot be certified; expected one of {', '.join(_FAMILIES)}")
    if leading := getattr(model, "leading", ()):
        raise StacklensError(f"{model.name} holds {leading[0]} networks; certify one at a time")
    return _FAMILIES[model.name](model)


def _check_arguments(model: StackModel[Any], automaton: PushdownAutomaton, stacks: tuple[int, ...]) -> None:
    if set(automaton.input_alphabet) != set(model.alphabet):
        ours, theirs = " ".join(model.alphabet), " ".join(automaton.input_alphabet)
        raise StacklensError(f"the network reads {ours}, the automaton {theirs}; certify it for its own automaton")
    if not set(stacks) <= set(range(model.n_stacks)) or max(1, len(stacks)) != automaton.n_stacks:
        raise StacklensError(
            f"the automaton has {automaton.n_stacks} stacks, the network {model.n_stacks} of which {list(stacks)} were "
            "named; name as many as the automaton has"
        )
    if model.task_kind == "recognition" and not stacks:
        raise StacklensError("the verdicts of a recogniser depend on its stack; name it among the stacks")
    if automaton.end_marker is not None and model.end is None:
        raise StacklensError(
            f"the automaton reads {automaton.end_marker} after a word, the network nothing; drop that first"
        )
    if model.task_kind == "recognition" and automaton.acceptance == "output":
        raise StacklensError(
            "the network gives verdicts, and the automaton accepts by output; nothing says how both agree"
        )
