"""Words that take every transition, and every two in a row: a run's mistakes mostly show at a step that it never made.

With one stack the shortest way to each is exact, by summaries; with several, they are those that a search over the
first configurations meets. Without a stack there are also words that show every mistake of one with a few more states.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import count, product
from random import Random
from typing import NamedTuple

import numpy as np

from .counting import Completions, StackNode
from .finite import accepting_by_state
from .pda import Configuration, Key, PushdownAutomaton, State, Symbol, Tops, Transition
from .product import is_stackless
from .rewriting import real_time_form
from .summaries import Event, PushdownStep, cells_after, shortest_runs

# ---- Words that an automaton itself suggests: it knows where its transitions are and how deep its stack can get.
# Random words never nest past a few levels, so a check on them says nothing of what lies deeper. Here the automaton is
# walked, rare transitions first, to every height of its stack up to a given one; there every input is tried, also those
# that it rejects, and the word is ended in a shortest way, so that what the step left behind shows in the verdict.

_UPWARDS = 8.0  # how much rather a climb pushes than pops or stays
_PATIENCE = 20  # steps for each cell that a climb wants to lay
_STROLL = 3  # steps from where a climb has ended: not all heads follow a push
_TRIED = 2  # times that the inputs of a head are tried at a height
_TAKEN_FOR = 3  # letters that an undefined one is taken for, at most


class Point(NamedTuple):
    """Where a walk is: the state, and the stacks (one as a pile, several as a configuration holds them)."""

    state: State
    stacks: StackNode | tuple[_Word, ...]


class Option(NamedTuple):
    """A transition that can be taken: its letter, its key, and where it leads."""

    letter: Symbol
    key: Key
    to: Point


class Driver:
    """An automaton to be walked, with the way from each point to the end of a word. With several stacks no ways to the
    end are known, and every beginning is a word. Raises AutomatonError: ε-steps that no other step can take in.
    """

    def __init__(self, pda: PushdownAutomaton) -> None:
        pda = real_time_form(pda, "words that an automaton suggests need")
        self.pda = accepting_by_state(pda) if pda.n_stacks == 1 else pda
        self.ways = Completions(self.pda) if pda.n_stacks == 1 else None
        stacks = self.pda.start.stacks if self.ways is None else self.ways.empty
        self.start = Point(self.pda.initial, stacks)
        self.known: dict[Point, list[Option]] = {}

    def height(self, point: Point) -> int:
        """Return how many cells lie on the stacks."""
        return point.stacks.height if isinstance(point.stacks, StackNode) else sum(map(len, point.stacks))

    def tops(self, point: Point) -> Tops:
        """Return the tops of the stacks."""
        if isinstance(point.stacks, StackNode):
            return ((self.pda.bottom, *self.pda.stack_alphabet)[point.stacks.symbol],)
        return Configuration(point.state, point.stacks).tops(self.pda.bottom)

    def reach(self, point: Point) -> float:
        """Return how high the stack can get from ``point`` without a pop of its top cell; inf if that is not known."""
        if self.ways is None or not isinstance(point.stacks, StackNode):
            return math.inf
        return self.ways.reach(point.state, point.stacks)

    def step(self, point: Point, letter: Symbol) -> Option | None:
        """Return the transition on ``letter``, None where there is none."""
        if self.ways is None or not isinstance(point.stacks, StackNode):
            assert not isinstance(point.stacks, StackNode)
            here = Configuration(point.state, point.stacks)
            after = self.pda.step(here, letter)
            key = point.state, letter, here.tops(self.pda.bottom)
            return None if after is None else Option(letter, key, Point(after.state, after.stacks))
        pile = point.stacks
        key = point.state, letter, self.tops(point)
        move = self.pda.transitions.get(key)
        if move is None:
            return None
        (operation,) = move.operations
        if operation.pop and pile.below is not None:
            pile = pile.below
        if operation.push is not None:
            pile = self.ways.pile(operation.push, pile)
        return Option(letter, key, Point(move.target, pile))

    def walk(self, point: Point, word: _Word) -> Point | None:
        """Return where ``word`` leads from ``point``, None where it cannot be read."""
        for letter in word:
            step = self.step(point, letter)
            if step is None:
                return None
            point = step.to
        return point

    def live(self, point: Point) -> bool:
        """Return whether a word can be ended from ``point``."""
        if self.ways is None or not isinstance(point.stacks, StackNode):
            return True
        return math.isfinite(self.ways.cost(point.state, point.stacks))

    def options(self, point: Point) -> list[Option]:
        """Return the transitions after which a word can still be ended."""
        if point not in self.known:
            steps = (self.step(point, letter) for letter in self.pda.input_alphabet)
            self.known[point] = [option for option in steps if option is not None and self.live(option.to)]
        return self.known[point]

    def ending(self, point: Point) -> _Word:
        """Return a shortest way to end a word, () where none is known."""
        if self.ways is None or not isinstance(point.stacks, StackNode):
            return ()
        return self.ways.word(point.state, point.stacks) or ()

    def probes(self, word: _Word, point: Point, letters: int | None = None) -> Iterator[_Word]:
        """Yield, for every input at ``point``, words that read it after ``word``, and end. A letter without a
        transition rejects, and the run ends there. A network goes on reading, and may have taken it for another letter,
        or for none: the word ends as it would after these, at most ``letters`` of them.
        """
        others = [point, *(option.to for option in self.options(point)[:letters])]
        for letter in self.pda.input_alphabet:
            step = self.step(point, letter)
            if step is not None and self.live(step.to):
                yield (*word, letter, *self.ending(step.to))
            else:
                yield from ((*word, letter, *self.ending(other)) for other in others)


def stack_height_words(
    pda: PushdownAutomaton, height: int, climbs: int, seed: int, *, rejected: bool = True
) -> list[_Word]:
    """Return words that try every input at every height of the stack up to ``height``, as far as ``pda`` gets.

    For each height ``climbs`` random ways up are taken, and some steps more from there; transitions that were taken
    least come first. Every input of the heads met on these steps is tried, each twice at a height. Words are ended in a
    shortest way; those with ``rejected`` inputs are left out if not wanted.

    >>> from stacklens.languages.classic import Dyck
    >>> words = stack_height_words(Dyck(1).automaton, height=7, climbs=2, seed=0)
    >>> "(" * 7 + ")" * 7 in {"".join(word) for word in words}
    True
    """
    driver, rng = Driver(pda), Random(seed)
    taken: Counter[Key] = Counter()
    tried: Counter[tuple[int, State, Tops]] = Counter()
    words: dict[_Word, None] = {}
    for goal in range(height + 1):
        reached = False
        # up to the height by rare transitions, then every input of the heads met on a stroll
        for _ in range(climbs):
            way = _climb(driver, goal, taken, rng)
            reached |= driver.height(way[1]) >= goal
            for word, point in _strolls(driver, *way, taken, rng):
                head = driver.height(point), point.state, driver.tops(point)
                tried[head] += 1
                if tried[head] <= _TRIED and head[0] <= height:
                    if rejected:
                        words |= dict.fromkeys(driver.probes(word, point, _TAKEN_FOR))
                    else:
                        allowed = ((*word, o.letter, *driver.ending(o.to)) for o in driver.options(point))
                        words |= dict.fromkeys(allowed)
        if not reached:  # the automaton's stack gets no higher
            break
    return list(words)


def rare_walks(pda: PushdownAutomaton, n: int, lengths: tuple[int, int], height: int, seed: int) -> list[_Word]:
    """Return ``n`` random walks of ``pda`` that prefer what was taken least, and are ended in a shortest way. A walk
    has a length in ``lengths`` before it is ended, and first climbs to a random height up to ``height``.
    """
    driver, rng = Driver(pda), Random(seed)
    taken: Counter[Key] = Counter()
    words = []
    height = 0 if is_stackless(pda) else height
    for _ in range(n):
        size = rng.randint(*lengths)
        word, point = _climb(driver, rng.randint(0, min(height, size)), taken, rng)
        walked = list(word)
        while len(walked) < size and (option := _choose(driver, point, taken, rng)) is not None:
            walked.append(option.letter)
            point = option.to
        words.append((*walked, *driver.ending(point)))
    return words


def _strolls(
    driver: Driver, word: _Word, point: Point, taken: Counter[Key], rng: Random
) -> Iterator[tuple[_Word, Point]]:
    yield word, point
    for _ in range(_STROLL):
        option = _choose(driver, point, taken, rng)
        if option is None:
            return
        word, point = (*word, option.letter), option.to
        yield word, point


def _climb(driver: Driver, height: int, taken: Counter[Key], rng: Random) -> tuple[_Word, Point]:
    """Return a random way to a point of ``height``, or to where it got to, and that point."""
    point, word = driver.start, list[Symbol]()
    for _ in range(_PATIENCE * height):
        option = _choose(driver, point, taken, rng, height)
        if option is None:
            break
        word.append(option.letter)
        point = option.to
        if driver.height(point) >= height:
            break
    return tuple(word), point


def _choose(driver: Driver, point: Point, taken: Counter[Key], rng: Random, height: int = 0) -> Option | None:
    """Return a random transition, one taken seldom rather than one taken often; None where there is none. With a
    ``height`` to climb to, those from which it can be reached come first, and pushes rather than others.
    """
    options = driver.options(point)
    options = [option for option in options if driver.reach(option.to) >= height] or options
    if not options:
        return None
    now = driver.height(point)
    upwards = _UPWARDS if height else 1.0
    weights = [(upwards if driver.height(o.to) > now else 1.0) / (1 + taken[o.key]) for o in options]
    (option,) = rng.choices(options, weights)
    taken[option.key] += 1
    return option


# ---- Words that take every transition, and every two in a row ----

_LIMIT = 200_000  # derivations, a second or two; an automaton so large that these do not do is covered in part
_CONFIGURATIONS = 5_000  # of several stacks
_LONGEST = 2_000  # symbols of a way to a transition
_REPEATED = 10  # times that a test word may come before words that are the same are left out

_Word = tuple[Symbol, ...]


class _PairControl(NamedTuple):
    state: State
    last: Key | None  # the transition just taken


def transition_pair_words(pda: PushdownAutomaton, *, rejected: bool = True) -> list[_Word]:
    """Return words that together take every reachable transition, and every two that can follow each other.

    Each is a shortest word to the end of the pair, and then a shortest way to acceptance, if there is one. With
    ``rejected`` those are there too from which there is none, and every input of a reachable head is tried, also those
    without a transition (see `Driver.probes`).

    >>> from stacklens.languages.classic import Dyck
    >>> ["".join(word) for word in transition_pair_words(Dyck(1).automaton, rejected=False)]
    ['', '()', '(())', '()()', '((()))', '(()())']
    """
    driver = Driver(pda)
    words: dict[_Word, None] = {}
    probed: set[tuple[State, Tops]] = set()
    for beginning in _pair_beginnings(driver.pda):
        point = driver.walk(driver.start, beginning)
        assert point is not None, "the word was found on a run"
        if rejected or driver.live(point):
            words[(*beginning, *driver.ending(point))] = None
        head = point.state, driver.tops(point)
        if rejected and head not in probed:
            probed.add(head)
            words |= dict.fromkeys(driver.probes(beginning, point))
    return sorted(words, key=len)


def _pair_beginnings(pda: PushdownAutomaton) -> Iterator[_Word]:
    """Yield the empty word, and a shortest word to the end of every pair of transitions (and of every first one)."""
    yield ()
    if pda.n_stacks > 1:
        yield from _met_pairs(pda)
        return
    steps: dict[tuple[State, Symbol], list[tuple[Key, Transition]]] = {}
    for key, step in pda.transitions.items():
        if key[1] != pda.end_marker:
            steps.setdefault((key[0], key[2][0]), []).append((key, step))

    def moves(
        control: _PairControl, top: Symbol | None
    ) -> Iterator[PushdownStep[_PairControl, Symbol] | Event[tuple[object, Key]]]:
        for key, step in steps.get((control.state, top or pda.bottom), ()):
            yield PushdownStep(key[1], _PairControl(step.target, key), cells_after(step.operations[0], top))
            yield Event(key[1], (control.last, key))

    runs = shortest_runs(_PairControl(pda.initial, None), moves, _LIMIT)
    for pair, length in runs.lengths.items():
        if length <= _LONGEST:
            yield runs.word(pair)


def _met_pairs(pda: PushdownAutomaton) -> Iterator[_Word]:
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
    rejection), is equal to it (Chow 1978, "Testing software design modeled by finite-state machines"). They have at
    most ``symbols`` symbols; where those for no state more do not fit, some are drawn, and the number is None.

    >>> from stacklens.languages.catalogue import get_language
    >>> words, more = conformance_words(get_language("parity-check").automaton, 60, seed=0)
    >>> more, "".join(max(words, key=len))
    (1, 'baa')
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
    # cover, all words of letters between, and what tells states apart: that is the W-method
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
    # a shortest word to every state, breadth first
    ways: dict[int, _Word] = {numbers[pda.initial]: ()}
    for at, word in (queue := list(ways.items())):  # the list grows while it is walked
        for letter, target in zip(pda.input_alphabet, map(int, targets[at]), strict=True):
            if target not in ways:
                ways[target] = (*word, letter)
                queue.append((target, ways[target]))
    # The last output after a word tells two states apart, or what follows a letter does: from short words to longer.
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
