"""Probe a network: replace something inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stacklens.face.arguments import automaton_of, network_of, words_of

if TYPE_CHECKING:
    from stacklens.automata.pda import PushdownAutomaton, Word
    from stacklens.extract.result import Extraction
    from stacklens.face.arguments import Network
    from stacklens.probe.trace import Trace

__all__ = ["intervene"]


def intervene(
    model: Network,
    word: Word | Sequence[Word],
    *,
    at: int | Sequence[int],
    set: str | Sequence[str] | Mapping[str, Any],  # noqa: A002
    from_word: Word | Sequence[Word] | None = None,
    automaton: PushdownAutomaton | Extraction | None = None,
    **choices: Any,
) -> Trace:
    """Return what a network does on a word, or on many, with something inside it replaced at a step.

    Args:
        model: a network, or the name or path of one.
        word: a word as text or as a list of symbols; or a list of words.
        at: the step, as in a trace: before it hidden vector, cells and height are replaced, in it actions and pushed
            values. For many words one for all, or one a word.
        set: ``{"hidden" | "actions" | "pushed" | "cells" | "height": value}``, a value being numbers, "zero", "mean",
            "rounded", "centre", or "source"; or only the names of what is taken from a source.
        from_word: the source: another run, at ``from_step``, by default its end. For many words one, or one a word.
        automaton: for "centre": whose states the clusters are; a result will do.
        choices: ``from_step``, ``units``, ``stack``, ``cell``, ``from_cell``, ``reference``, ``rounded``, ``stacks``,
            as of `probe.intervene.intervene`.

    Raises:
        StacklensError: something of these is not there, or does not fit.

    >>> same, other = (intervene("nnpda-palindrome", "abcba", at=2, set="hidden", from_word=v) for v in ("ba", "abc"))
    >>> bool(same.verdicts[0]), bool(other.verdicts[0])
    (True, False)
    """
    from stacklens.probe.intervene import intervene as run

    network = network_of(model)
    words = words_of(word, network.alphabet)
    others: Any = None if from_word is None else words_of(from_word, network.alphabet)
    if others is not None and len(others) == 1:
        others = others * len(words)
    pda = None if automaton is None else automaton_of(automaton)
    return run(network, words, at, set, from_word=others, automaton=pda, **choices)
