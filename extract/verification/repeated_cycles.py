"""The check on words that go round: every short cycle of an automaton, repeated up to a thousand times.

A network that leaves a little behind at every round is right on all short words, and on all drawn ones, which do not
repeat; and yet a word that anyone would type breaks it: `[()]` twelve times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from stacklens.automata.epsilon import has_real_time_form
from stacklens.automata.pda import PushdownAutomaton, Word
from stacklens.automata.pumping import Pump, pumps
from stacklens.automata.stackless import is_stackless
from stacklens.automata.transition_coverage import conformance_words
from stacklens.extract.specification import Specification
from stacklens.extract.verification.agreement import Agreement, differing, side_name
from stacklens.extract.verification.cycle_lines import pump_lines
from stacklens.extract.verification.cycle_walk import Parting, partings
from stacklens.languages.repeats import named_parts
from stacklens.languages.words import make_word
from stacklens.models.base import StackModel

__all__ = [
    "Broken",
    "agree_on_pumps",
    "box_words",
    "conformance_test",
    "is_asked",
    "pumped_families",
    "shortest_break",
]

_ROUNDS = 1_000
_STEPS = 1_000  # of all rounds of a cycle, if it is longer than two symbols
_STEPS_OF_TWO = 480  # of two cycles together: the second is run anew wherever the first is left; deep words go deeper
_FEW = 2
_ROUNDS_OF_A_LANGUAGE = (1, 2, 3, 10, 50)  # a proof says more; these are for languages that none is found for
_ROUNDS_OF_A_BOX, _LONGEST_ASKED = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 400), 400  # and symbols of a word
_CYCLES_OF_A_BOX, _SYMBOLS_A_WORD = 40, 4  # of a test, for each word that a box may be asked
_ROOM = 4  # cells of a finite stack that are left free
_SYMBOLS = 250_000  # of all words that are compared with a language
_LOOKED_AT = 3  # families at least of which the shortest word is looked for
_SYMBOLS_OF_BREAKS = 60_000  # of the words that are run for it, as soon as one is known
_AT_ONCE = 64  # numbers of rounds that are tried together
_LONGEST = 1_000  # symbols of a word for which fewer rounds are looked for

_Differ = Callable[[list[Word]], np.ndarray]


@dataclass(frozen=True)
class Broken:
    """A word on which an automaton and something else differ, and how it is made: its parts, and how often each comes.

    >>> str(Broken("[()[()[()]", (("", 1), ("[()", 3), ("]", 1))))
    "'[()' 3 times, then ']'"
    """

    word: Word
    parts: tuple[tuple[Word, int], ...]

    def __str__(self) -> str:
        return named_parts(self.parts)


def pumped_families(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    specification: Specification | None,
    most: int,
    seed: int,
    cells: int | None = None,
) -> list[tuple[Pump, int]]:
    """Return families of words that repeat cycles of ``pda``, and how often each can be repeated on ``model``.

    No stack gets higher than ``cells``, by default as many as the model has.

    Where only some words are meant (see `Specification.restricted`), they come from the specification. There are none
    of an automaton whose ε-steps cannot be put into other steps.
    """
    if specification is not None and specification.partial_domain:
        families = specification.pumps(most, seed)
    elif has_real_time_form(pda):
        families = pumps(pda, most, seed, rejected=model.task_kind == "recognition")
    else:
        families = []
    cells = model.stack_limit if cells is None else cells
    return [(family, _most_rounds(family, cells)) for family in families]


def _most_rounds(pump: Pump, cells: int | None) -> int:
    most = _ROUNDS if len(pump.cycle) <= _FEW else _STEPS // len(pump.cycle)
    if pump.back:
        most = min(most, _STEPS_OF_TWO // (len(pump.cycle) + len(pump.back)))
    if cells is not None and pump.climb:
        most = min(most, (cells - _ROOM - pump.height) // pump.climb)
    return max(0, most)


def agree_on_pumps(
    pda: PushdownAutomaton,
    model: StackModel[Any],
    other: Specification | None,
    families: Sequence[tuple[Pump, int]],
    domain: Specification | None = None,
) -> Agreement:
    """Return the agreement on ``families`` with ``other``, or with ``model`` itself where that is None.

    What is counted are families: those in which a word was found on which they differ. Buffered networks and black
    boxes are compared as a language is, on some numbers of rounds: they answer to whole words.
    """

    def differ(words: list[Word]) -> np.ndarray:
        return differing(pda, model, other, words, domain)

    if other is None and model.real_time and not is_asked(model):
        lines = pump_lines(pda, model, families, domain)
        found, longest = partings(model, lines)
        broken = shortest_break(found, differ)
        count, wrong = len(lines), len(found) if broken is not None else 0
    else:
        count, wrong, longest, broken = _on_words(model, families, differ)
    name = side_name(model, other)
    word, made_of = (None, None) if broken is None else (broken.word, str(broken))
    return Agreement("pumped", name, longest, count, count, wrong, word, made_of=made_of)


def _on_words(
    model: StackModel[Any], families: Sequence[tuple[Pump, int]], differ: _Differ
) -> tuple[int, int, int, Broken | None]:
    """Return how many families are compared on some words, on how many they differ, the longest and a broken word."""
    rows = _rows(model, families)
    wrong = np.flatnonzero(differ([word.word for _, word in rows])).tolist() if rows else []
    broken = min((rows[i][1] for i in wrong), key=lambda found: len(found.word), default=None)
    longest = max((len(word.word) for _, word in rows), default=0)
    return len({number for number, _ in rows}), len({rows[i][0] for i in wrong}), longest, broken


def _rows(model: StackModel[Any], families: Sequence[tuple[Pump, int]]) -> list[tuple[int, Broken]]:
    """Return words of some rounds with the numbers of their families, as many as there is time for."""
    asked, rows, left = is_asked(model), list[tuple[int, Broken]](), _SYMBOLS
    dear = asked and model.task_kind != "recognition"  # which is asked for all beginnings, too
    for n in _ROUNDS_OF_A_BOX if asked else _ROUNDS_OF_A_LANGUAGE:
        for number, (pump, most) in enumerate(families):
            for after in range(len(pump.afters) if n <= most else 0):
                word = _broken(pump, model.alphabet, n, after)
                fits = not asked or len(word.word) <= (model.longest or _LONGEST_ASKED)
                left -= len(word.word) * (len(word.word) if dear else 1) if fits else 0
                rows += [(number, word)] if fits and left >= 0 else []
    return rows


def is_asked(model: StackModel[Any]) -> bool:
    """Return whether ``model`` is a function, of which every beginning of a word is asked as a word of its own."""
    return model.affordable is not None and model.answers_to(()) is not None


def box_words(
    pda: PushdownAutomaton, model: StackModel[Any], specification: Specification | None, seed: int
) -> list[Word]:
    """Return the words on which an automaton of answers is tested: those of the W-method, and its cycles repeated."""
    families = pumped_families(pda, model, specification, _CYCLES_OF_A_BOX, seed) if is_asked(model) else []
    words, _ = conformance_test(pda, model, specification, seed)
    return [*words, *(row.word for _, row in _rows(model, families))]


def conformance_test(
    pda: PushdownAutomaton, model: StackModel[Any], specification: Specification | None, seed: int
) -> tuple[list[Word], int | None]:
    """Return the words of the W-method for ``pda``, and for how many states more they are complete.

    There are none of an automaton with a stack, nor where only some words are meant.
    """
    partial_domain = specification is not None and specification.partial_domain
    if partial_domain or not is_stackless(pda) or not pda.real_time or pda.end_marker is not None:
        return [], None
    most = _SYMBOLS if model.affordable is None else min(_SYMBOLS, _SYMBOLS_A_WORD * model.affordable)
    found, more = conformance_words(pda, most, seed)
    kept = [word for word in found if model.longest is None or len(word) <= model.longest]
    return [make_word(word, model.alphabet) for word in kept], more if len(kept) == len(found) else None


def shortest_break(found: Sequence[Parting], differ: _Differ) -> Broken | None:
    """Return a shortest word of those that were ``found`` to break an automaton, with as few rounds as do it.

    ``differ(words)`` says on which of some words automaton and network differ, (N,) bool; what it does not confirm, as
    where rounding errors fall otherwise in other batches, does not count.
    """
    words = [_broken(parting.line.pump, parting.line.alphabet, parting.rounds, parting.after) for parting in found]
    order = sorted(range(len(found)), key=lambda i: _size(words[i]))
    best: Broken | None = None
    symbols = 0
    for place, i in enumerate(order):
        if best is not None and place >= _LOOKED_AT and symbols > _SYMBOLS_OF_BREAKS:
            break
        if best is not None and not _may_be_shorter(found[i], best, differ):
            continue
        symbols += min(_AT_ONCE, found[i].rounds - found[i].before) * len(words[i].word)
        fewer = _fewest(found[i], words[i], differ)
        if fewer is not None and (best is None or _size(fewer) < _size(best)):
            best = fewer
    return best


def _may_be_shorter(parting: Parting, best: Broken, differ: _Differ) -> bool:
    """Return whether one of the longest words of a family that are shorter than the ``best`` breaks it, too."""
    tried: list[Word] = []
    for after in dict.fromkeys((parting.after, 0)):
        rounds = range(parting.rounds, parting.before, -1)
        words = (_broken(parting.line.pump, parting.line.alphabet, n, after).word for n in rounds)
        tried += islice((word for word in words if len(word) < len(best.word)), _LOOKED_AT)
    return bool(tried) and bool(differ(tried).any())


def _size(broken: Broken) -> tuple[int, int]:
    """Return what makes one word shorter than another; of two of a length the one that is sooner said."""
    return len(broken.word), len(str(broken))


def _fewest(parting: Parting, known: Broken, differ: _Differ) -> Broken | None:
    """Return the word of the fewest rounds on which they differ, as it was found or with its shortest ending."""
    low, high, best = parting.before + 1, parting.rounds, None
    ways = list(dict.fromkeys((parting.after, 0)))
    if len(known.word) > _LONGEST:
        return known if differ([known.word])[0] else None
    while low <= high:
        tried = sorted({int(n) for n in np.linspace(low, high, _AT_ONCE)})
        words = [_broken(parting.line.pump, parting.line.alphabet, n, after) for n in tried for after in ways]
        hits = np.flatnonzero(differ([word.word for word in words]))
        if not len(hits):
            break
        best, place = words[hits[0]], int(hits[0]) // len(ways)
        low, high = (tried[place - 1] + 1 if place else tried[0]), tried[place] - 1
        if place == 0:
            break
    return best


def _broken(pump: Pump, alphabet: Sequence[str], n: int, after: int | None) -> Broken:
    """Return the word of ``n`` rounds with an ending; without one, u v^n."""
    parts: list[tuple[Sequence[str], int]] = [(pump.before, 1), (pump.cycle, n)]
    if after is not None:
        parts += [(pump.between, 1), (pump.back, n), (pump.afters[after], 1)]
    word = make_word([symbol for part, times in parts for symbol in (*part,) * times], alphabet)
    return Broken(word, tuple((make_word(part, alphabet), times) for part, times in parts))
