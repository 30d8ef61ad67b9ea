"""Words that take every transition, and every two in a row: a run's mistakes mostly show at a step that it never made.

With one stack the shortest way to each is exact, by summaries; with several, they are those that a search over the
first configurations meets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stacklens.automata.height_coverage import Driver, Point
from stacklens.automata.pda import Configuration, Key, PushdownAutomaton, State, Symbol, Tops, Transition
from stacklens.automata.summaries import Event, PushdownStep, shortest_runs

__all__ = ["transition_pair_words"]

_LIMIT = 200_000  # derivations, a second or two; an automaton so large that these do not do is covered in part
_CONFIGURATIONS = 5_000  # of several stacks
_LONGEST = 2_000  # symbols of a way to a transition

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
