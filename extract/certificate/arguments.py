"""What a certificate can be asked of: a network, an automaton and a domain that speak of the same things."""

from __future__ import annotations

from typing import Any

import torch

from stacklens.automata.intersection import FiniteAutomaton
from stacklens.automata.pda import Output, PushdownAutomaton, Symbol
from stacklens.errors import StacklensError
from stacklens.models.base import StackModel

__all__ = ["check_arguments", "check_network"]


def check_arguments(
    model: StackModel[Any], automaton: PushdownAutomaton, domain: FiniteAutomaton | None, stacks: tuple[int, ...]
) -> None:
    """Return nothing if it can be asked whether ``model`` follows ``automaton`` with ``stacks`` on ``domain``.

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
    """Return nothing if ``output`` is one that the network can have, or None."""
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
    """Return nothing if ``model`` is one network that computes the same every time, with weights that are numbers.

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
