"""Words that take every transition, and every two in a row: a run's mistakes mostly show at a step that it never made.

With one stack the shortest way to each is exact, by summaries; with several, they are those that a search over the
first configurations meets. Without a stack there are also words that find every mistake of a machine with few states
more.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, product
from random import Random
from typing import NamedTuple

import numpy as np

from stacklens.automata.height_coverage import Driver, Point
from stacklens.automata.pda import Configuration, Key, PushdownAutomaton, State, Symbol, Tops, Transition
from stacklens.automata.summaries import Event, PushdownStep, shortest_runs

__all__ = ["conformance_words", "transition_pair_words"]

_LIMIT = 200_000  # derivations, a second or two; an automaton so large that these do not do is covered in part
_CONFIGURATIONS = 5_000  # of several stacks
_LONGEST = 2_000  # symbols of a way to a transition
_REPEATED = 10  # times that a test word may come before words that are the same are left out

_Word = tuple[Symbol, ...]


class _Control(NamedTuple):
    state: State
    last: Key | None  # the transition just taken


def transition_pair_words(pda: PushdownAutomaton, *, rejected: bool = True) -> list[_Word]:
    """Return words that together take every reachable transition, and every two that can follow each other.

    Each is a shortest word to the end of the pair, and then a shortest way to acceptance, if there is one. With
    ``rejected`` those are there too from which there is none, and every input of a reachable head is tried, also those
    without a transition (see `Driver.probes`).

    >>> from stacklens.automata.pda import POP, push
    >>> dyck = PushdownAutomaton(("q",), ("(", ")"), ("A",), {
    ...     ("q", "(", ("⊥",)): Transition("q", (push("A"),)), ("q", "(", ("A",)): Transition("q", (push("A"),)),
    ...     ("q", ")", ("A",)): Transition("q", (POP,))}, "q", acceptance="empty stack")
    >>> ["".join(word) for word in transition_pair_words(dyck, rejected=False)]
    ['', '()', '(())', '()()', '((()))', '(()())']
    """
    driver = Driver(pda)
    words: dict[_Word, None] = {}
    probed: set[tuple[State, Tops]] = set()
    for beginning in _beginnings(driver.pda):
        point = _reach(driver, beginning)
        if rejected or driver.live(point):
            words[(*beginning, *driver.ending(point))] = None
        head = point.state, driver.tops(point)
        if rejected and head not in probed:
            probed.add(head)
            words |= dict.fromkeys(driver.probes(beginning, point))
    return sorted(words, key=len)


def _reach(driver: Driver, word: _Word) -> Point:
    point = driver.start
    for letter in word:
        step = driver.step(point, letter)
        assert step is not None, "the word was found on a run"
        point = step.to
    return point


def _beginnings(pda: PushdownAutomaton) -> Iterator[_Word]:
    """Yield the empty word, and a shortest word to the end of every pair of transitions (and of every first one)."""
    yield ()
    if pda.n_stacks > 1:
        yield from _met(pda)
        return
    steps: dict[tuple[State, Symbol], list[tuple[Key, Transition]]] = {}
    for key, step in pda.transitions.items():
        if key[1] != pda.end_marker:
            steps.setdefault((key[0], key[2][0]), []).append((key, step))

    def moves(
        control: _Control, top: Symbol | None
    ) -> Iterator[PushdownStep[_Control, Symbol] | Event[tuple[object, Key]]]:
        for key, step in steps.get((control.state, top or pda.bottom), ()):
            (operation,) = step.operations
            kept = () if operation.pop or top is None else (top,)
            cells = kept if operation.push is None else (*kept, operation.push)
            yield PushdownStep(key[1], _Control(step.target, key), cells)
            yield Event(key[1], (control.last, key))

    runs = shortest_runs(_Control(pda.initial, None), moves, _LIMIT)
    for pair, length in runs.lengths.items():
        if length <= _LONGEST:
            yield runs.word(pair)


def _met(pda: PushdownAutomaton) -> Iterator[_Word]:
    """Yield the words to the pairs that a search over configurations meets, nearest first."""
    seen: set[tuple[Key | None, Key]] = set()
    queue: list[tuple[Configuration, Key | None, _Word]] = [(pda.start, None, ())]
    known: set[tuple[State, tuple[_Word, ...], Key | None]] = set()
    for here, last, word in queue:  # the list grows while it is walked
        for letter in pda.input_alphabet:
            after = pda.step(here, letter)
            if after is None:
                continue
            key = here.state, letter, here.tops(pda.bottom)
            longer = (*word, letter)
            if (last, key) not in seen:
                seen.add((last, key))
                yield longer
            if len(queue) < _CONFIGURATIONS and (after.state, after.stacks, key) not in known:
                known.add((after.state, after.stacks, key))
                queue.append((after, key, longer))


def conformance_words(pda: PushdownAutomaton, symbols: int, seed: int) -> tuple[list[_Word], int | None]:
    """Return the test words of the W-method for a stackless automaton, and for how many states more they do.

    A machine that answers them as ``pda`` does, and has no more than so many states more than it (with the one after a
    rejection), is equal to it (Chow 1978, "Testing software design modeled by finite-state machines"). Together they
    have at most ``symbols`` symbols; where all do not fit even for no state more, some are drawn, and the number is
    None.

    >>> from stacklens.automata.pda import NONE
    >>> after = {("0", "a"): "1", ("1", "a"): "0", ("0", "b"): "0", ("1", "b"): "1"}
    >>> rules = {(q, x, ("⊥",)): Transition(to, (NONE,)) for (q, x), to in after.items()}
    >>> even = PushdownAutomaton(("0", "1"), ("a", "b"), (), rules, "0", frozenset("0"))
    >>> words, more = conformance_words(even, 60, seed=0)
    >>> more, "".join(max(words, key=len))
    (1, 'aaa')
    """
    letters = [(letter,) for letter in pda.input_alphabet]
    cover, telling = _cover_and_telling(pda)
    words: dict[_Word, None] = {}
    for between in count():  # letters between a way to a state and a word that tells which state that is
        each = (sum(map(len, cover)) / len(cover)) + between + sum(map(len, telling)) / len(telling)
        number = len(letters) ** between * len(cover) * len(telling)
        if number * each > _REPEATED * symbols:
            break
        middles = [sum(some, ()) for some in product(letters, repeat=between)]
        longer = dict.fromkeys((*p, *m, *w) for m, p, w in product(middles, cover, telling)) | words
        if sum(map(len, longer)) > symbols:
            break
        words = longer
    if between > 1:
        return list(words), between - 2
    rng = Random(seed)
    drawn = (rng.choice(cover) + rng.choice(letters) + rng.choice(telling) for _ in range(int(symbols / (1 + each))))
    return list(dict.fromkeys(drawn)), None


def _cover_and_telling(pda: PushdownAutomaton) -> tuple[list[_Word], list[_Word]]:
    """Return a shortest word to every state of a stackless automaton, and words whose answers tell all states apart."""
    numbers = {state: i for i, state in enumerate(pda.states)}
    targets = np.full((len(numbers) + 1, len(pda.input_alphabet)), len(numbers))  # the last is after a rejection
    outputs = np.full(targets.shape, -1)
    known: dict[object, int] = {}
    for (state, letter, _), step in pda.transitions.items():
        cell = numbers[state], pda.input_alphabet.index(letter)
        targets[cell], outputs[cell] = numbers[step.target], known.setdefault(step.output, len(known))
    ways: dict[int, _Word] = {numbers[pda.initial]: ()}
    for at, word in (queue := list(ways.items())):  # the list grows while it is walked
        for letter, target in zip(pda.input_alphabet, map(int, targets[at]), strict=True):
            if target not in ways:
                ways[target] = (*word, letter)
                queue.append((target, ways[target]))
    # What is said last after a word tells two states apart, or what follows a letter does: from short words to longer.
    columns: list[tuple[_Word, np.ndarray]]
    columns = [((letter,), outputs[:, x]) for x, letter in enumerate(pda.input_alphabet)]
    if set(known) <= {None}:
        ends = pda.accepting if pda.acceptance in ("final state", "both") else numbers
        columns = [((), np.array([*(state in ends for state in pda.states), False]))]
    rows, classes, telling = np.array(sorted(ways)), np.zeros(len(ways), np.int64), list[_Word]()
    for word, column in columns:  # as above
        _, finer = np.unique(np.stack([classes, column[rows]]), axis=1, return_inverse=True)
        if finer.max() > classes.max() or not telling:
            classes = finer.ravel()
            telling.append(word)
            columns += [((letter, *word), column[targets[:, x]]) for x, letter in enumerate(pda.input_alphabet)]
    return list(ways.values()), telling
