"""Why an automaton is not faithful, or there is none: how right everybody is, where they part, and the likely cause.

Measured once, when the automaton is looked for, so that a saved result can say why without its network.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torch import Tensor

from stacklens.extract.accuracy_table import accuracy_table
from stacklens.extract.answers import network_answers
from stacklens.extract.causes import cause_of
from stacklens.extract.fidelity import rounding_fidelity
from stacklens.extract.partings import Diagnosis, Said, said_by_all
from stacklens.extract.samples import Samples
from stacklens.models.base import ControllerOutput, StackModel
from stacklens.models.rounding import Rounded, Wrapper

if TYPE_CHECKING:
    from stacklens.extract.result import Extraction

__all__ = ["Blind", "diagnose"]

_BLINDED = 400  # words on which the stacks are taken away
_PAIRS = (("network", "language"), ("rounded network", "network"), ("automaton", "rounded network"))
_PAIRS_OF_A_BOX = (("network", "language"), ("automaton", "network"))  # of which nothing is rounded


class Blind(Wrapper[Any]):
    """A network that is shown empty stacks at every step, whatever it does to them."""

    name = "blind"

    def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> ControllerOutput:
        """Return what the wrapped controller answers to empty stacks."""
        empty = self.model.initial_state(1).stack.reading()
        return self.model.controller(symbols, hidden, empty.expand(reading.shape))


def diagnose(result: Extraction, samples: Samples) -> Diagnosis:
    """Return what is measured on a ``result`` of status 1 or 3, whose checking words were ``samples``."""
    model, language, pda = result.model, result.language, result.minimised
    if pda is None and result.found is not None:
        pda = result.found.automaton
    boxed = result.found is not None and result.found.by_asking
    by_steps = result.view is None and not boxed
    said = said_by_all(model, language, pda, result.stacks.stacks if by_steps else (), samples)
    longer = _on_known_word(result, samples)
    pairs = _PAIRS_OF_A_BOX if boxed else _PAIRS
    partings = (said.parting(*pair) or (longer.parting(*pair) if longer is not None else None) for pair in pairs)
    networks = ("network",) if boxed else ("rounded network", "network")
    others = [other for other in ("language", *networks) if other in said.answers]
    errors = [said.errors(other) for other in others] if result.minimised is None and pda is not None else []
    accuracy = accuracy_table(model, language, pda)
    cause = cause_of(result, accuracy, _blinded(model, samples))
    return Diagnosis(cause, accuracy, tuple(one for one in partings if one is not None), tuple(errors))


def _on_known_word(result: Extraction, samples: Samples) -> Said | None:
    """Return what everybody says of the shortest word known on which the rounded network leaves the automaton."""
    horizon = result.horizon.get("rounded network")
    if horizon is None or horizon.difference is None:
        return None
    model, language, words = result.model, result.language, [horizon.difference.word]
    analog, rounded = (network_answers(runner, words) for runner in (model, Rounded(model)))
    scored = None if language is None else language.scored(words)
    one = replace(samples, words=words, analog=analog, rounded=rounded, scored=scored, n_short=1)
    stacks = result.stacks.stacks if result.view is None else ()
    return said_by_all(model, language, result.minimised, stacks, one)


def _blinded(model: StackModel[Any], samples: Samples) -> float | None:
    """Return the share of acceptances that change where the network is shown empty stacks only, in [0, 1].

    None where there is no stack to take away.
    """
    words = samples.traced[:_BLINDED]
    if model.action_kind == "none" or not model.real_time or not words:
        return None
    return rounding_fidelity(network_answers(model, words), network_answers(Blind(model), words)).mismatch
