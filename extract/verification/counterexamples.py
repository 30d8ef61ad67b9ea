"""The search for a word that breaks an automaton: words that automata suggest, and shorter ones in their place.

Words come from the extracted automaton, and from the specification's where there is one: each knows of places that the
other may not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from stacklens.automata.height_coverage import rare_walks, stack_height_words
from stacklens.automata.pda import PushdownAutomaton, Symbol, Word
from stacklens.automata.transition_coverage import transition_pair_words
from stacklens.extract.specification import Specification
from stacklens.languages.words import make_word

__all__ = ["BUDGET", "Effort", "search_words", "shorten"]

_SYMBOLS = 250_000  # of all words of a kind together, a second or so for a network
_PAIRS = 2_500  # cuts of two factors that are tried together
_TRIED = 100_000  # symbols of the words that are tried together where one thing is nested in another
BUDGET = 400_000  # symbols that are run to shorten one word


class Effort(NamedTuple):
    """How far to search: up to which height of a stack, how many ways up to each, and how many walks."""

    height: int
    climbs: int
    walks: int


def search_words(
    pda: PushdownAutomaton, specification: Specification | None, effort: Effort, seed: int
) -> list[tuple[str, list[Word]]]:
    """Return words that cover every transition, and words driven to every height, of ``pda`` and of the specification.

    Where only some words are meant (see `Specification.restricted`), they all come from the specification's automaton,
    none if it has none.
    """
    meant = None if specification is None else specification.automaton()
    partial_domain = specification is not None and specification.partial_domain
    sources = [source for source in ([meant] if partial_domain else [pda, meant]) if source is not None]
    covering: dict[Word, None] = {}
    driven: dict[Word, None] = {}
    lengths = effort.height // 2, 2 * effort.height
    for source in sources:
        covering |= _words(transition_pair_words(source, rejected=not partial_domain), pda, seed)
        ways_up = stack_height_words(source, effort.height, effort.climbs, seed, rejected=not partial_domain)
        driven |= _words(ways_up + rare_walks(source, effort.walks, lengths, effort.height, seed), pda, seed)
    found = (("covering", list(covering)), ("driven", [word for word in driven if word not in covering]))
    return [(kind, words) for kind, words in found if words]


def _words(words: list[tuple[Symbol, ...]], pda: PushdownAutomaton, seed: int) -> dict[Word, None]:
    """Return ``words`` as words, as many of them as there is time for."""
    if sum(map(len, words)) > _SYMBOLS:
        order = np.random.default_rng(seed).permutation(len(words))
        fit = np.cumsum([len(words[i]) for i in order]) <= _SYMBOLS
        words = [words[i] for i in sorted(order[fit].tolist())]
    return {make_word(word, pda.input_alphabet): None for word in words}


def shorten(
    word: Word, differ: Callable[[list[Word]], np.ndarray], pda: PushdownAutomaton | None = None, budget: int = BUDGET
) -> Word:
    """Return ``word``, or a shorter one like it on which two things still differ.

    Factors are cut out, large ones first, one or two at a time: what is nested has to go on both sides (Zeller &
    Hildebrandt 2002, "Simplifying and isolating failure-inducing input", who cut out one). It ends where no cut of one
    symbol helps, or ``budget`` symbols were run.

    Args:
        word: a word on which they differ.
        differ: ``differ(words)`` says on which of these words they do, (N,) bool.
        pda: an automaton whose stack says what is nested in what; it may reject the word.
        budget: how many symbols may be given to ``differ``.
    """
    size = max(1, len(word) // 2)
    while len(word):
        for cuts in _cuts(word, size, pda):
            budget -= sum(map(len, cuts))
            if budget < 0:
                return word
            hits = np.flatnonzero(differ(cuts)) if cuts else ()
            if len(hits):
                word = min((cuts[i] for i in hits), key=len)
                break
        else:
            if size == 1:
                return word
            size = max(1, size // 2)
            continue
        size = min(size, max(1, len(word) // 2))
    return word


def _cuts(word: Word, size: int, pda: PushdownAutomaton | None) -> Iterator[list[Word]]:
    """Yield words without what is nested, without one factor of ``size``, and, if these are not too many, without two.

    How ``pda`` nests them is looked at once for a word: at the largest and at the least size.
    """
    if pda is not None and (size == 1 or size >= len(word) // 2):
        yield _unnested(word, pda)
    places = range(0, len(word), size)
    yield _distinct([_join(word[:a], word[a + size :]) for a in places])
    if len(places) ** 2 // 2 <= _PAIRS:
        yield _distinct(
            [_join(word[:a], word[a + size : b], word[b + size :]) for a in places for b in places if a < b]
        )


def _unnested(word: Word, pda: PushdownAutomaton) -> list[Word]:
    """Return words without what lies between a push and its pop, or between two pushes and between their pops."""
    frames = _frames(word, pda)
    shorter = [_join(word[:i], word[j + 1 :]) for i, j in frames]
    open_frames: list[tuple[int, int]] = []
    for i, j in sorted(frames):
        open_frames = [frame for frame in open_frames if frame[1] > j]
        levels = [1 << k for k in range(len(open_frames).bit_length())]
        for a, b in (open_frames[-level] for level in levels if level <= len(open_frames)):
            shorter.append(_join(word[:a], word[i : j + 1], word[b + 1 :]))
        open_frames.append((i, j))
    shorter += [_join(word[:i], word[i + 1 : j], word[j + 1 :]) for i, j in frames]
    ordered = sorted(set(shorter), key=lambda one: (len(one), one))
    fit = max(20, _TRIED // (1 + len(word)))  # of all sizes: the shortest may have lost what counts
    return ordered[:: max(1, len(ordered) // fit)]


def _frames(word: Word, pda: PushdownAutomaton) -> list[tuple[int, int]]:
    """Return where each cell of the first stack is pushed and popped.

    Behind the end of a run that is cut, symbols are taken to pop what is left, one cell each.
    """
    run = list(pda.run(word))
    pushed: list[int] = []
    frames = []
    for t, (before, after) in enumerate(pairwise(run)):
        change = len(after.stacks[0]) - len(before.stacks[0])
        if change > 0:
            pushed.append(t)
        elif change < 0:
            frames.append((pushed.pop(), t))
    return frames + list(zip(reversed(pushed), range(len(run) - 1, len(word)), strict=False))


def _join(*parts: Word) -> Word:
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)  # type: ignore[arg-type]
    return tuple(symbol for part in parts for symbol in part)


def _distinct(words: list[Word]) -> list[Word]:
    return list(dict.fromkeys(words))
