"""What can be certified: the networks whose controllers are known on boxes, and automata that fit them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.pda import Output, PushdownAutomaton, Symbol
from stacklens.errors import StacklensError
from stacklens.extract.certificate.controllers import (
    BoxController,
    MarnnBoxes,
    NeuralStackBoxes,
    NNPDABoxes,
    StackRNNBoxes,
)
from stacklens.models.base import StackModel
from stacklens.models.networks.joulin import StackRNN
from stacklens.models.networks.neural_stack import NeuralStack
from stacklens.models.networks.nnpda import NNPDA
from stacklens.models.networks.suzgun import MarnnJoulin, MarnnStackLSTM, MarnnStackRNN

__all__ = ["MARGIN", "boxes_of", "check_arguments", "check_network"]

MARGIN = 1e-6
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
