"""Words as they are typed, and what a network does on them; long ones are traced once for all who look."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.errors import StacklensError
from stacklens.languages.words import parse_word
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import Trace, trace
from stacklens.viz.dashboard.extractions import ExtractionSettings, known
from stacklens.viz.dashboard.networks import load
from stacklens.viz.dashboard.turns import LONG

__all__ = [
    "LONGEST_STACKS",
    "LONGEST_WORD",
    "check_length",
    "extracted_automaton",
    "read_word",
    "runner_of",
    "traced",
]

LONGEST_WORD = 10_000  # symbols of a word
LONGEST_STACKS = 1_000  # symbols of a word whose stacks are drawn: there are as many numbers again at every step
_SHARED = 8  # traces of long words


def read_word(text: str, model: StackModel[Any]) -> Word:
    """Return the word that was typed for ``model``.

    Raises:
        StacklensError: it is too long for the page, or has symbols that the network does not read.
    """
    check_length(text)
    return parse_word(text, model.alphabet)


def check_length(text: str) -> None:
    """Check that the word that was typed is not too long for the page.

    Raises:
        StacklensError: it is.
    """
    if len(text) > LONGEST_WORD:
        raise StacklensError(f"this word has {len(text):,} characters; expected at most {LONGEST_WORD:,}")


def runner_of(network: str, rounded: bool) -> StackModel[Any]:
    """Return the network called so, or its rounded one."""
    model = load(network).model
    return Rounded(model) if rounded else model


def traced(network: str, text: str, rounded: bool, stacks: bool = False) -> Trace:
    """Return what a network does on the word ``text``; verdicts, figure and table of a long word share one trace.

    Raises:
        StacklensError: the word cannot be read, or there is no such network.
    """
    if stacks or len(text) <= LONG:
        return _traced(network, text, rounded, stacks)
    return _shared(network, text, rounded)


def _traced(network: str, text: str, rounded: bool, stacks: bool) -> Trace:
    runner = runner_of(network, rounded)
    return trace(runner, [read_word(text, runner)], stacks=stacks)


@lru_cache(maxsize=_SHARED)
def _shared(network: str, text: str, rounded: bool) -> Trace:
    return _traced(network, text, rounded, stacks=False)


def extracted_automaton(network: str, settings: ExtractionSettings | None = None) -> PushdownAutomaton | None:
    """Return the automaton that was read out of the network called so, with ``settings``, if that has been done."""
    found = known(network, settings)
    return None if found is None else found.automaton
