"""Words that an automaton suggests: deep ones, those that take every two transitions in a row, and ones that repeat.

A run's mistakes mostly show at a step that it never made. With one stack the shortest way to each is exact, by
summaries; with several, they are those that a search over the first configurations meets. Without a stack there are
also words that show every mistake of one with a few more states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count, product
from operator import sub
from random import Random
from typing import NamedTuple

import numpy as np

from .counting import Driver, Option, Point
from .pda import Key, PushdownAutomaton, State, Symbol, Tops, Transition
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
            word, point = _climb(driver, goal, taken, rng)
            reached |= driver.height(point) >= goal
            for left in reversed(range(_STROLL + 1)):
                head = driver.height(point), point.state, driver.tops(point)
                tried[head] += 1
                if tried[head] <= _TRIED and head[0] <= height:
                    if rejected:
                        words |= dict.fromkeys(driver.probes(word, point, _TAKEN_FOR))
                    else:
                        allowed = ((*word, o.letter, *driver.ending(o.to)) for o in driver.options(point))
                        words |= dict.fromkeys(allowed)
                option = _choose(driver, point, taken, rng) if left else None
                if option is None:
                    break
                word, point = (*word, option.letter), option.to
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
    height = 0 if pda.stackless else height
    for _ in range(n):
        size = rng.randint(*lengths)
        word, point = _climb(driver, rng.randint(0, min(height, size)), taken, rng)
        walked = list(word)
        while len(walked) < size and (option := _choose(driver, point, taken, rng)) is not None:
            walked.append(option.letter)
            point = option.to
        words.append((*walked, *driver.ending(point)))
    return words


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
_PairControl = tuple[State, Key | None]  # and the transition just taken


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
    # last the heads that no pair ends at: a pop may have uncovered another symbol there than where the pair was met
    for beginning, of_pair in sorted(_beginnings(driver), key=lambda one: not one[1]):
        point = driver.walk(driver.start, beginning)
        assert point is not None, "the word was found on a run"
        if of_pair and (rejected or driver.live(point)):
            words[(*beginning, *driver.ending(point))] = None
        head = point.state, driver.tops(point)
        if rejected and head not in probed:
            probed.add(head)
            words |= dict.fromkeys(driver.probes(beginning, point))
    return sorted(words, key=len)


def _beginnings(driver: Driver) -> Iterator[tuple[_Word, bool]]:
    """Yield the empty word, and a shortest word to the end of every pair of transitions (and of every first one), with
    True; and a shortest one to every head, with False.
    """
    yield (), True
    pda = driver.pda
    if pda.n_stacks > 1:
        # the pairs and heads that a search over configurations meets, nearest first
        seen: set[tuple[Key | None, Key]] = set()
        queue: list[tuple[Point, Key | None, _Word]] = [(driver.start, None, ())]
        known, heads = set[tuple[Point, Key]](), set[tuple[State, Tops]]()
        for here, last, word in queue:  # the list grows while it is walked
            if (head := (here.state, driver.tops(here))) not in heads:
                heads.add(head)
                yield word, False
            for letter, key, after in driver.options(here):
                longer = (*word, letter)
                if (last, key) not in seen:
                    seen.add((last, key))
                    yield longer, True
                if len(queue) < _CONFIGURATIONS and (after, key) not in known:
                    known.add((after, key))
                    queue.append((after, key, longer))
        return
    steps: dict[tuple[State, Symbol], list[tuple[Key, Transition]]] = {}
    for key, step in pda.transitions.items():
        if key[1] != pda.end_marker:
            steps.setdefault((key[0], key[2][0]), []).append((key, step))

    def moves(
        control: _PairControl, top: Symbol | None
    ) -> Iterator[PushdownStep[_PairControl, Symbol] | Event[tuple[object, Key | Symbol | None]]]:
        yield Event(None, (control[0], top))
        for key, step in steps.get((control[0], top or pda.bottom), ()):
            yield PushdownStep(key[1], (step.target, key), cells_after(step.operations[0], top))
            yield Event(key[1], (control[1], key))

    start: _PairControl = pda.initial, None
    runs = shortest_runs(start, moves, _LIMIT)
    for met, length in runs.lengths.items():
        if length <= _LONGEST:
            yield runs.word(met), isinstance(met[1], tuple)


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
    # the automaton as arrays; the last state is after a rejection
    numbers = {state: i for i, state in enumerate(pda.states)}
    targets = np.full((len(numbers) + 1, len(pda.input_alphabet)), len(numbers))
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
    # Words whose answers tell all states apart, from short to longer: the last output after a word tells two apart, or
    # what follows a letter does.
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
    cover, letters = list(ways.values()), [(letter,) for letter in pda.input_alphabet]
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


# ---- Words with parts that can be repeated ----
# A run that comes back to its head can go round again, as often as one likes.
#
# A cycle leads from a head (state and tops) back to it without looking below the top that it began on. One that leaves
# the stacks as they were can be repeated alone, u v^n w; one that leaves cells behind needs another to take them away,
# u v^n x y^n w. Those are the words of the pumping lemmas (Bar-Hillel, Perles & Shamir 1961), made of runs and not of
# derivations. What a network leaves behind at a round adds up on them and nowhere else: drawn words do not repeat.

LONGEST_CYCLE = 6  # symbols
_LONGEST_CLIMB = 3  # symbols of a cycle that leaves cells behind
_NODES = 20_000  # letters tried behind prefixes of cycles, over all heads: a tenth of a second
_HEADS = 60  # heads from which cycles are looked for, those nearest to the start
_DERIVATIONS = 50_000  # in the search for ways to heads
_MET = 500  # looked at for heads of automata with several stacks
_LONGEST_WAY = 60  # symbols of a way to a head
_FURTHER = 2  # symbols of a cycle that is repeated after another, or between the pops of one
_FORCED = 40  # symbols of a way on which only one letter can follow
_LETTERS = 2  # letters that an undefined one is taken for, at the end of a word


class Pump(NamedTuple):
    """The words u v^n x y^n w, for each of several w."""

    # before, cycle, between, back: u, v, x and y; x and y are empty where v leaves nothing behind
    before: _Word
    cycle: _Word
    between: _Word
    back: _Word
    afters: tuple[_Word, ...]  # the words w, the first of which ends the word; the others are rejected inputs
    climb: int  # how many cells a round of v leaves on the stacks, at least 0
    height: int  # how many cells there are at most before the first round, and in it

    def word(self, n: int, after: int = 0) -> _Word:
        """Return the word of ``n`` rounds with the ending ``after``."""
        return (*self.before, *self.cycle * n, *self.between, *self.back * n, *self.afters[after])


def pumps(pda: PushdownAutomaton, most: int, seed: int, *, rejected: bool = True) -> list[Pump]:
    """Return at most ``most`` families of words that repeat a cycle of ``pda``: of all cycles of at most six symbols
    from every head, as far as these are not too many, the shorter half of what is wanted and as many drawn from the
    others. With ``rejected`` words that end with an undefined input are there, too.

    >>> from stacklens.languages.classic import Dyck
    >>> sorted({"".join(pump.word(3)) for pump in pumps(Dyck(1).automaton, 4, seed=0)})
    ['(((())))', '((()))((()))((()))', '(()(())()(())()(()))', '()()()']
    """
    driver = Driver(pda)
    # cycles of heads with what may follow their rounds, as far as the automaton can walk that, and where one round ends
    families: list[tuple[Pump, Point]] = []
    for home, rounds in _cycles(driver):
        for pump in _families(driver, home, rounds):
            if (end := driver.walk(home.point, (*pump.cycle, *pump.between, *pump.back))) is not None:
                families.append((pump, end))
    families.sort(key=lambda family: len(family[0].cycle) + len(family[0].back))
    kept, others = families[: most // 2], families[most // 2 :]
    places = sorted(Random(seed).sample(range(len(others)), min(len(others), most - len(kept))))
    found = []
    for pump, end in (*kept, *(others[i] for i in places)):
        probes = driver.probes((), end, _LETTERS) if rejected else ()
        family = pump._replace(afters=tuple(dict.fromkeys((driver.ending(end), *probes))))
        # its end is that of one round; where more rounds come to another verdict by it, these are no family
        if len({pda.accepts(family.word(n)) for n in range(1, 8)}) == 1:
            found.append(family)
    return found


class _Home(NamedTuple):
    """A head, as a shortest way leads to it."""

    word: _Word
    point: Point
    head: tuple[State, Tops]


class _Round(NamedTuple):
    """A cycle: what it reads, how many cells it leaves on each stack, and how high it gets."""

    word: _Word
    left: tuple[int, ...]
    height: int


def _words_to_heads(driver: Driver) -> Iterator[_Word]:
    """Yield a shortest word to every head of an automaton with one stack; of several, those to the first moments."""
    pda = driver.pda
    if driver.ways is None:
        queue: list[tuple[_Word, Point]] = [((), driver.start)]
        known = {driver.start}
        for word, point in queue:  # the list grows while it is walked
            yield word
            for option in driver.options(point):
                if len(queue) < _MET and option.to not in known:
                    known.add(option.to)
                    queue.append(((*word, option.letter), option.to))
        return

    def moves(
        state: State, top: Symbol | None
    ) -> Iterator[PushdownStep[State, Symbol] | Event[tuple[State, Symbol | None]]]:
        yield Event(None, (state, top))
        for letter in pda.input_alphabet:
            step = pda.transitions.get((state, letter, (top or pda.bottom,)))
            if step is not None:
                yield PushdownStep(letter, step.target, cells_after(step.operations[0], top))

    runs = shortest_runs(pda.initial, moves, _DERIVATIONS)
    for head, length in sorted(runs.lengths.items(), key=lambda pair: pair[1]):
        if length <= _LONGEST_WAY:
            yield runs.word(head)


def _heights(point: Point) -> tuple[int, ...]:
    return tuple(pile.height for pile in point.stacks)


def _cycles(driver: Driver) -> list[tuple[_Home, list[_Round]]]:
    """Return the cycles of every head, as far as there is time for them: all of a length, then those longer by one."""
    # the heads from which a word can be ended, nearest first
    homes: dict[tuple[State, Tops], _Home] = {}
    for word in _words_to_heads(driver):
        there = driver.walk(driver.start, word)
        if there is not None and driver.live(there):
            head = there.state, driver.tops(there)
            homes.setdefault(head, _Home(word, there, head))
        if len(homes) == _HEADS:
            break
    # the ways of a length from each head, where they lead, and how high they get
    levels: list[list[tuple[_Word, Point, int]]] = [[((), home.point, 0)] for home in homes.values()]
    found: list[tuple[_Home, list[_Round]]] = [(home, []) for home in homes.values()]
    tried = 0
    # all cycles of a length at every head before longer ones, as long as there is time
    for length in range(1, LONGEST_CYCLE + 1):
        for place, (home, rounds) in enumerate(found):
            tried += len(levels[place]) * len(driver.pda.input_alphabet)
            ways, levels[place] = levels[place] if tried <= _NODES else [], []
            base = _heights(home.point)
            for way, here, highest in ways:
                for letter, _, point in driver.options(here):
                    left = tuple(map(sub, _heights(point), base))
                    if min(left) < 0 or (length > _LONGEST_CLIMB and sum(left) > LONGEST_CYCLE - length):
                        continue
                    word, height = (*way, letter), max(highest, sum(left))
                    levels[place].append((word, point, height))
                    back = (point.state, driver.tops(point)) == home.head
                    # A power of a shorter cycle is there already, as that cycle.
                    power = any(word == word[:size] * (length // size) for size in range(1, length))
                    if back and (length <= _LONGEST_CLIMB or not any(left)) and not power:
                        rounds.append(_Round(word, left, sum(base) + height))
    return found


def _families(driver: Driver, home: _Home, rounds: list[_Round]) -> Iterator[Pump]:
    """Yield the families of a head's cycles, without their ends: alone, before another one, or with those that take
    back what they leave. Between the pops of what a short cycle leaves there is room for other cycles, too.
    """
    short = [other.word for other in rounds if not any(other.left) and len(other.word) <= _FURTHER]
    for round_ in rounds:
        alone = Pump(home.word, round_.word, (), (), (), sum(round_.left), round_.height)
        if not any(round_.left):
            yield alone
            if len(round_.word) <= _FURTHER:
                yield from (alone._replace(back=other) for other in short if other != round_.word)
        elif found := _way_back(driver, home, round_):
            between, back = found
            yield alone._replace(between=between, back=back)
            if len(round_.word) <= _FURTHER:
                below = driver.walk(home.point, (*round_.word * 3, *between, *back))
                there = below is not None and (below.state, driver.tops(below)) == home.head
                yield from (alone._replace(between=between, back=(*back, *other)) for other in short if there)


def _way_back(driver: Driver, home: _Home, round_: _Round) -> tuple[_Word, _Word] | None:
    """Return x and y such that n rounds are taken back by x y^n, read off the shortest endings after some rounds. None
    where these are not of that form, as where a stack is left full.
    """
    if driver.ways is None:
        # x and y for several stacks, whose shortest endings are not known: where only one letter can follow
        for letter in driver.pda.input_alphabet:
            walks = [_forced(driver, driver.walk(home.point, round_.word * n), letter) for n in (4, 5, 6)]
            if all(walks):
                found = _repeated(*walks)
                if found is not None and len(found[1]) <= LONGEST_CYCLE:
                    return found
        return None
    endings = []
    for n in (2, 3, 4):
        point = driver.walk(home.point, round_.word * n)
        if point is None:
            return None
        endings.append(driver.ending(point))
    return _repeated(*endings)


def _forced(driver: Driver, point: Point | None, letter: Symbol) -> _Word:
    """Return ``letter`` and the only ways on from there, () if it cannot be read or there is no end to them."""
    word: list[Symbol] = []
    while point is not None and len(word) < _FORCED:
        options = driver.options(point)
        if word and len(options) != 1:
            return tuple(word)
        option = next((option for option in options if word or option.letter == letter), None)
        if option is None:
            return ()
        word.append(option.letter)
        point = option.to
    return ()


def _repeated(first: _Word, second: _Word, third: _Word) -> tuple[_Word, _Word] | None:
    """Return x and y such that each word is the one before it with a y more behind x, None where that is not so."""
    size = len(second) - len(first)
    if size <= 0 or len(third) - len(second) != size:
        return None
    for place in range(len(first) + 1):
        back = second[place : place + size]
        if second == first[:place] + back + first[place:] and third == first[:place] + back * 2 + first[place:]:
            return first[:place], back
    return None
