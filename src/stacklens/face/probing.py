"""Probe a network: replace something inside it, leave parts out, read its hidden vectors, trace decisions back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import StacklensError
from ..core.validation import check_seed
from .opening import automaton_of, network_of, one_word, words_of

if TYPE_CHECKING:
    from ..automata.pda import PushdownAutomaton, Word
    from ..core.progress import Told
    from ..extract.result import Extraction
    from ..extract.specification import Specification
    from ..models.base import StackModel
    from ..probe.attribution import Ablations, Saliency
    from ..probe.geometry import HorizonCurve, LinearProbes
    from ..probe.trace import Trace
    from .opening import Network, Subject


_WORDS, _LENGTHS = 400, (2, 40)  # drawn where none are given


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
            values. From 0 to the word's length for the former, to the last step for the latter. For many words one for
            all, or one a word, (N,).
        set: ``{"hidden" | "actions" | "pushed" | "cells" | "height": value}``, a value being numbers, "zero", "mean",
            "rounded", "centre", or "source"; or only the names of what is taken from a source. Numbers are one for
            all, or of these shapes, with an axis of N words before them where they differ: hidden (units,); actions
            (stacks, A) or (A,): from -1, pop, to 1, push; or shares, none below 0, together 1; or strengths of pop and
            push from 0 to 1; pushed (stacks, D) or (D,); cells (D,); height from 0 to the present one.
        from_word: the source: another run, at ``from_step``, by default its end. For many words one, or one a word.
        automaton: for "centre": whose states the clusters are; a result will do.
        choices: ``from_step``, ``units``, ``stack``, ``cell``, ``from_cell``, ``reference``, ``rounded``, ``stacks``,
            as of `probe.intervene.Choices`.

    Raises:
        StacklensError: there is no such part, step, unit, stack or cell; numbers have another shape, are not finite, or
            actions or a height out of range; a source, or an automaton for "centre", is wanted and not given; or the
            network does not run step by step, or has no stack or hidden vector to set.
        UnknownSymbolError: a word has a symbol outside the network's alphabet.

    >>> same, other = (intervene("nnpda-palindrome", "abcba", at=2, set="hidden", from_word=v) for v in ("ba", "abc"))
    >>> bool(same.verdicts[0]), bool(other.verdicts[0])
    (True, False)
    """
    from ..probe.intervene import intervene as run

    network = network_of(model)
    words = words_of(word, network.alphabet)
    others: Any = None if from_word is None else words_of(from_word, network.alphabet)
    if others is not None and len(others) == 1:
        others = others * len(words)
    pda = None if automaton is None else automaton_of(automaton)
    if choices.get("reference") is not None:
        choices["reference"] = words_of(choices["reference"], network.alphabet)
    return run(network, words, at, set, from_word=others, automaton=pda, **choices)


def ablate(
    model: Network,
    language: Subject | None = None,
    *,
    words: Sequence[Word] | None = None,
    rounded: bool = False,
    seed: int = 0,
) -> Ablations:
    """Return what is left of a network without each of its units, stacks and operations, the most important first.

    Args:
        model: a network, or the name or path of one.
        language: what it should do, as for `extract`; where nothing is known, what it does itself is right.
        words: the words that it is asked; by default drawn ones.
        rounded: take the rounded network.
        seed: of the drawn words.

    Raises:
        StacklensError: the network only answers whole words, or there are no words.
    """
    from ..probe.attribution import ablations

    network, specification = _network_and_specification(model, language)
    given = _words_or_drawn(words, network, specification, seed)
    expected = scored = None
    if specification is not None:
        expected, scored = specification.answers(network, given), specification.scored(given)
    return ablations(network, given, expected, scored, rounded=rounded)


def linear_probes(
    model: Network,
    automaton: PushdownAutomaton | Extraction | None = None,
    *,
    language: Subject | None = None,
    words: Sequence[Word] | None = None,
    rounded: bool = False,
    seed: int = 0,
    **choices: Any,
) -> LinearProbes:
    """Return what linear classifiers read off a network's hidden vectors: state, depth, top, what is below, position.

    They are tested on longer words than they were trained on, beside a control task (Hewitt & Liang 2019).

    Args:
        model: a network, or the name or path of one; one without a stack, too.
        automaton: whose states and stack are asked for, or a result; by default the language's own.
        language: as for `extract`.
        words: of several lengths; by default drawn ones.
        rounded: take the rounded network.
        seed: for all that is drawn.
        choices: ``targets`` and ``longest``, as of `probe.linear.linear_probes`.

    Raises:
        StacklensError: no automaton is known, or the network has no hidden vector.
    """
    from ..probe.geometry import linear_probes as run
    from ..probe.trace import trace

    check_seed(seed)
    network, specification = _network_and_specification(model, language)
    given = _words_or_drawn(words, network, specification, seed)
    pda = _automaton_or_own(automaton, specification)
    if pda is None:
        raise StacklensError("no automaton is known whose states could be asked for: give one, or a result")
    return run(trace(network, given, rounded=rounded, stacks=False).with_automaton(pda), seed=seed, **choices)


def horizon_curve(
    model: Network, words: Word | Sequence[Word] | None = None, *, language: Subject | None = None, seed: int = 0
) -> HorizonCurve:
    """Return from which step on a network parts from its rounded form: distance and agreement, step by step.

    Args:
        model: a network, or the name or path of one.
        words: one or many, as for `trace`; by default 400 drawn ones of 100 to 200 symbols.
        language: which words are drawn, as for `extract`; by default what its file says, else any over the alphabet.
        seed: of these, from 0 to 2^32 - 1.

    Raises:
        StacklensError: there is no such network or language, the network has no actions to round or does not run step
            by step, or there is no step to compare.
        UnknownSymbolError: a word has a symbol outside the network's alphabet.
    """
    from ..probe.geometry import check_actions
    from ..probe.geometry import horizon_curve as run

    network, specification = _network_and_specification(model, language)
    check_actions(network)  # before words are drawn
    given = _words_or_drawn(words, network, specification, seed, (100, 200))
    return run(network, given)


def saliency(
    model: Network,
    word: Word,
    automaton: PushdownAutomaton | Extraction | None = None,
    *,
    progress: Told | None = None,
) -> Saliency:
    """Return on which earlier steps every decision on a word depends, beside where the automaton's top comes from.

    Args:
        model: a network with a stack, or the name or path of one.
        word: one word of one symbol or more, as text or as a list of symbols.
        automaton: an automaton or a result; by default the language's own, where one is known.
        progress: told how many decisions are done.

    Raises:
        StacklensError: the network has no stack or does not run step by step, or it is the empty word, or many words.
        UnknownSymbolError: the word has a symbol outside the network's alphabet.
    """
    from ..probe.attribution import saliency as run

    network, specification = _network_and_specification(model, None)
    pda = _automaton_or_own(automaton, specification)
    return run(network, one_word(word, network.alphabet, "saliency"), pda, progress)


def _network_and_specification(
    model: Network, language: Subject | None
) -> tuple[StackModel[Any], Specification | None]:
    """Return the network, and what it should do, where that is known."""
    from ..extract.by_name import specification_of_network

    network = network_of(model)
    return network, specification_of_network(network, language)


def _words_or_drawn(
    words: Any,
    network: StackModel[Any],
    specification: Specification | None,
    seed: int,
    lengths: tuple[int, int] = _LENGTHS,
) -> list[Word]:
    """Return the words that are given, or else drawn ones that suit the network."""
    from ..extract.specification import random_words

    if words is not None:
        return words_of(words, network.alphabet)
    check_seed(seed)
    if specification is None:
        return list(random_words(network.alphabet, _WORDS, lengths, seed))
    return specification.long_words(_WORDS, lengths, seed)


def _automaton_or_own(
    automaton: PushdownAutomaton | Extraction | None, specification: Specification | None
) -> PushdownAutomaton | None:
    """Return the automaton that is given, or else the language's own, where one is known."""
    if automaton is not None:
        return automaton_of(automaton)
    return None if specification is None else specification.automaton()
