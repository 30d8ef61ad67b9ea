"""Accuracy on long regular words beside that on long random ones: a block repeated, and its twin of length and depth.

A network may leave a little behind at every round of a block, which adds up, or just at every step. To tell these apart
each pumped word u v^n x y^n w of a task (see `automata.pumping`) has a control: a random word of the same task, length
and depth. What the network gets wrong of the one and not of the other is due to the repetition. Of bracket languages a
second control is drawn among all words of the length, as deep as comes: a block on the spot makes shallow words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from stacklens.automata.pda import Word
from stacklens.automata.pumping import Pump
from stacklens.automata.simulation import greatest_heights
from stacklens.errors import StacklensError
from stacklens.languages.bounded_dyck import BoundedDyck
from stacklens.languages.dyck import Dyck
from stacklens.languages.tasks.task import Task
from stacklens.languages.words import make_word

if TYPE_CHECKING:
    from stacklens.models.base import StackModel

__all__ = ["LENGTHS", "LongWords", "accuracy_by_length", "draw_long_words", "first_wrong"]

LENGTHS = (24, 48, 96, 192, 384, 768)  # symbols at most; the papers test on up to about 100
_FAMILIES, _MOST = 160, 32  # blocks that are looked for, and how many are taken
_ROOM = 4  # cells of a finite stack that are left free
_SEED = 1_993
_TRIES = 200  # for a random word of a given depth


@dataclass(frozen=True)
class LongWords:
    """Pumped words and their controls.

    Attributes:
        lengths: how long the words are at most, one for each group of words.
        groups: which of ``lengths`` each word is of, a place each.
        pumped: the words that repeat a block.
        control: random words, each as long and as deep as the pumped one at its place.
        drawn: random words of bracket languages, each as long as the pumped one at its place and of any depth, all
            words of the length being equally likely; none of other tasks.
    """

    lengths: tuple[int, ...]
    groups: tuple[int, ...]
    pumped: tuple[Word, ...]
    control: tuple[Word, ...]
    drawn: tuple[Word, ...] = ()


@lru_cache(maxsize=8)  # the networks of a table are asked the same words
def draw_long_words(task: Task, cells: int | None = None) -> LongWords | None:
    """Return long words of ``task`` whose stacks need no more than ``cells``; None where it has no such words.

    A block is repeated on the spot where the task allows that, else with what takes it back: v^n # y^n. Streams have no
    controls, since their pieces have no depth to be kept, and tasks without a reference automaton no blocks.

    >>> from stacklens.languages.catalogue import get_task
    >>> words = draw_long_words(get_task("dyck-2"))
    >>> words.pumped[0], len(words.control[0]), words.lengths[-1]
    ('()()()()()()()()()()()()', 24, 768)
    """
    from stacklens.automata.pumping import pumps

    if task.reference is None or task.kind == "next symbol":
        return None
    families = pumps(task.reference, _FAMILIES, _SEED, rejected=False)
    flat = [family for family in families if not family.climb and not family.back]
    chosen = flat or families
    chosen = chosen[:: -(-len(chosen) // _MOST)] if chosen else []
    found: list[tuple[int, Word, Word]] = []
    for place, length in enumerate(LENGTHS):
        for word in _pumped(task, chosen, length, cells):
            control = _control(task, word, bool(flat), len(found))
            if control is not None:
                found.append((place, word, control))
    if not found:
        return None
    groups, pumped, control = zip(*found, strict=True)
    kept = sorted(set(groups))
    language = getattr(task, "language", None)
    drawn = _members(language, [len(word) for word in pumped]) if isinstance(language, Dyck) else ()
    return LongWords(
        tuple(LENGTHS[i] for i in kept), tuple(map(kept.index, groups)), tuple(pumped), tuple(control), drawn
    )


def _members(language: Dyck, lengths: list[int]) -> tuple[Word, ...]:
    seeds = range(_SEED, _SEED + len(lengths))
    return tuple(language.sample(1, (n, n), seed=seed)[0] for n, seed in zip(lengths, seeds, strict=True))


def _pumped(task: Task, families: list[Pump], length: int, cells: int | None) -> list[Word]:
    """Return the longest word of each family that is no longer than ``length``, none twice."""
    words: dict[Word, None] = {}
    for family in families:
        one = len(family.cycle) + len(family.back)
        rounds = (length - len(family.word(0))) // one
        depth = family.height + max(0, rounds - 1) * family.climb
        if rounds > 2 and (cells is None or depth <= cells - _ROOM):
            words[make_word(family.word(rounds), task.alphabet)] = None
    return list(words)


def _control(task: Task, pumped: Word, flat: bool, number: int) -> Word | None:
    """Return a random word as long as ``pumped`` and, of bracket languages, as deep; None where there is none.

    Where words climb and come down again, depth follows from length; other ``flat`` words need no stack.
    """
    language, length = getattr(task, "language", None), len(pumped)
    if isinstance(language, Dyck):
        return _of_depth(language, length, _depth(language, pumped), number)
    if flat and task.reference is not None and greatest_heights(task.reference, [pumped])[0]:
        return None
    for size in (length, length // 2):  # what a task calls the size of a word: its length, or that of its first half
        try:
            (word,) = task.sample(1, (size, size), seed=_SEED + number).words
        except StacklensError:
            continue
        if len(word) == length:
            return word
    return None


def _of_depth(language: Dyck, length: int, depth: int, number: int) -> Word | None:
    """Return a word of ``length`` that gets just so deep, all such words being equally likely."""
    try:
        bounded = BoundedDyck(language.n, depth)
    except StacklensError:  # its automaton would be too large
        return None
    for attempt in range(_TRIES):
        (word,) = bounded.sample(1, (length, length), True, _SEED + _TRIES * number + attempt)
        if _depth(language, word) == depth:
            return word
    return None


def _depth(language: Dyck, word: Word) -> int:
    openers = {opener for opener, _ in language.pairs}
    return int(max(np.cumsum([1 if symbol in openers else -1 for symbol in word])))


def first_wrong(model: StackModel[Any], task: Task, words: tuple[Word, ...]) -> np.ndarray:
    """Return after how many symbols ``model`` first says something wrong that counts, (N,) int; 0 for never."""
    from stacklens.extract.task_specification import TaskSpecification
    from stacklens.models.inference import outputs_on

    asked = TaskSpecification(task)
    wrong = outputs_on(model, words) != asked.answers(model, words)
    scored = asked.scored(words)
    wrong = wrong if scored is None else wrong & scored
    steps: np.ndarray = np.where(wrong.any(1), wrong.argmax(1) + 1, 0)
    return steps


def accuracy_by_length(model: StackModel[Any], task: Task, words: LongWords) -> dict[str, dict[str, Any]]:
    """Return how ``model`` does on pumped words and on their controls, by "pumped", "control" and, if any, "drawn".

    "accuracy" has the share of words of each length that it gets right as a whole; "horizon" the least number of
    symbols after which it was wrong, None where it never was.
    """
    groups = np.array(words.groups)
    kinds = {"pumped": words.pumped, "control": words.control} | ({"drawn": words.drawn} if words.drawn else {})
    together = first_wrong(model, task, sum(kinds.values(), ()))  # side by side, which costs little more than one set
    found = {}
    for name, steps in zip(kinds, np.split(together, len(kinds)), strict=True):
        shares = [round(float((steps[groups == group] == 0).mean()), 4) for group in range(len(words.lengths))]
        found[name] = {"accuracy": shares, "horizon": int(steps[steps > 0].min()) if steps.any() else None}
    return found
