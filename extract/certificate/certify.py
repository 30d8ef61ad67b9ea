"""Certificates: the rounded network follows an automaton on words of every length, proved by boxes.

`certification` asks for the certificate of an extracted automaton: which claim was tried, and what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from stacklens.automata.finite import FiniteAutomaton, regular_domain
from stacklens.automata.pda import Output, PushdownAutomaton, Symbol
from stacklens.errors import StacklensError
from stacklens.extract.certificate.abstraction import Bounds, Layout, System, TooMany
from stacklens.extract.certificate.claim import Certificate, Certified, Fault, NotCertified
from stacklens.extract.certificate.controllers import (
    BoxController,
    MarnnBoxes,
    NeuralStackBoxes,
    NNPDABoxes,
    StackRNNBoxes,
)
from stacklens.extract.certificate.invariant import check_invariant, find_invariant
from stacklens.extract.certificate.step_check import Unproved
from stacklens.extract.specification import Specification
from stacklens.extract.stack_ablation import StackUse
from stacklens.extract.wording import certificate_claim
from stacklens.models.base import StackModel
from stacklens.models.networks.joulin import StackRNN
from stacklens.models.networks.neural_stack import NeuralStack
from stacklens.models.networks.nnpda import NNPDA
from stacklens.models.networks.suzgun import MarnnJoulin, MarnnStackLSTM, MarnnStackRNN

__all__ = [
    "CERTIFICATE_NOT_TRIED",
    "LAYOUTS",
    "Certification",
    "Proof",
    "boxes_of",
    "certification",
    "certify",
    "check_arguments",
    "check_network",
    "prove",
]

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


def check_arguments(
    model: StackModel[Any], automaton: PushdownAutomaton, domain: FiniteAutomaton | None, stacks: tuple[int, ...]
) -> None:
    """Check that it can be asked whether ``model`` follows ``automaton`` with ``stacks`` on ``domain``.

    Raises:
        StacklensError: it cannot, and why.
    """
    _check_letters(model, "automaton", automaton.input_alphabet)
    if domain is not None:
        _check_letters(model, "domain", domain.alphabet)
    distinct = len(set(stacks)) == len(stacks) and set(stacks) <= set(range(model.n_stacks))
    if not distinct or max(1, len(stacks)) != automaton.n_stacks:
        raise StacklensError(
            f"the automaton has {automaton.n_stacks} stacks, the network {model.n_stacks} of which {list(stacks)} were "
            "named; name as many as the automaton has"
        )
    if model.task_kind == "recognition":
        _check_recogniser(automaton, stacks)
    else:
        for output in {step.output for step in automaton.transitions.values()}:
            _check_output(model, output)
    if automaton.end_marker is not None and model.end is None:
        raise StacklensError(
            f"the automaton reads {automaton.end_marker} after a word, the network nothing; drop that first"
        )


def _check_letters(model: StackModel[Any], what: str, alphabet: tuple[Symbol, ...]) -> None:
    if set(alphabet) != set(model.alphabet):
        ours, theirs = " ".join(model.alphabet), " ".join(alphabet)
        raise StacklensError(f"the network reads {ours}, the {what} {theirs}; certify it for its own {what}")


def _check_recogniser(automaton: PushdownAutomaton, stacks: tuple[int, ...]) -> None:
    if not stacks:
        raise StacklensError("the verdicts of a recogniser depend on its stack; name it among the stacks")
    if automaton.acceptance == "output":
        raise StacklensError(
            "the network gives verdicts, and the automaton accepts by output; nothing says how both agree"
        )


def _check_output(model: StackModel[Any], output: Output) -> None:
    """Check that ``output`` is one that the network can have, or None."""
    if output is None:
        return
    sets, symbols = model.task_kind == "next set", (output,) if isinstance(output, str) else output
    known = len(set(symbols)) == len(symbols) and set(symbols) <= set(model.output_alphabet)
    if sets == isinstance(output, str) or not known:
        says = "a set of" if sets else "one of"
        shown = repr(output) if isinstance(output, str) else "{" + " ".join(output) + "}"
        raise StacklensError(
            f"the automaton outputs {shown}, the network {says} {' '.join(model.output_alphabet)}; certify it for its "
            "own automaton"
        )


def check_network(model: StackModel[Any]) -> None:
    """Check that ``model`` is one network that computes the same every time, with weights that are numbers.

    Raises:
        StacklensError: it is not.
    """
    if leading := getattr(model, "leading", ()):
        raise StacklensError(f"{model.name} holds {leading[0]} networks; certify one at a time")
    if model.training and getattr(getattr(model, "shape", None), "gating", None) == "gumbel-softmax":
        raise StacklensError(f"{model.name} draws noise in training mode; call its eval() first")
    formats = {parameter.dtype for parameter in model.parameters()}
    if len(formats) > 1:
        names = ", ".join(sorted(str(one).removeprefix("torch.") for one in formats))
        raise StacklensError(f"the weights are in {names}; expected one format for all")
    for name, parameter in model.named_parameters():
        if not torch.isfinite(parameter).all():
            raise StacklensError(f"{name} holds NaN or infinite weights; there is nothing to certify")


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
                bounds = find_invariant(system, _MOST)
                return Proof(system, bounds, check_invariant(system, bounds))
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


@dataclass(frozen=True)
class Certification:
    """A certificate, or why there is none.

    Attributes:
        certificate: what `certify` said; None where it could not be asked.
        words: for which words: all, or only those that the task may show the network.
        reason: why it could not be asked, None where it was.
    """

    certificate: Certificate | None
    words: Literal["all", "the task's"] = "all"
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        if self.certificate is None:
            return {"verdict": "not tried", "reason": self.reason}
        return {**self.certificate.to_dict(), "words": self.words}

    def __str__(self) -> str:
        return certificate_claim(self.to_dict())


CERTIFICATE_NOT_TRIED = Certification(None, reason="there is no automaton")


def certification(
    model: StackModel[Any], automaton: PushdownAutomaton, stacks: StackUse, specification: Specification | None
) -> Certification:
    """Return whether the rounded ``model`` is certified to follow ``automaton`` on words of every length.

    Where that fails for all words and the task shows the network only some, it is tried for these.
    """
    try:
        found = Certification(certify(model, automaton, stacks=stacks.stacks))
        task = None if specification is None or not specification.partial_domain else specification.automaton()
        if isinstance(found.certificate, Certified) or task is None:
            return found
        narrower = certify(model, automaton, regular_domain(task), stacks=stacks.stacks)
    except StacklensError as error:
        return Certification(None, reason=str(error))
    return Certification(narrower, "the task's") if isinstance(narrower, Certified) else found
